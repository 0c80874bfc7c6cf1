//! Fields of the tracepoints of interrupts, softirqs, tasklets, timers and work items.

use tracesift_trace::rows::interrupt_kinds as kind;

use super::fields::{Fields, Number, Text};

/// What a tracepoint tells of something that the kernel runs beside threads.
#[derive(Clone, Debug)]
pub(crate) struct InterruptFields {
    /// A value of `interrupt_kinds`.
    pub(crate) kind: i8,
    /// Number or address of what runs.
    pub(crate) id: Number,
    pub(crate) edge: InterruptEdge,
    /// Whether the number is the one that people know it by.
    pub(crate) has_number: bool,
}

/// Whether something is asked for, begins or ends.
#[derive(Clone, Debug)]
pub(crate) enum InterruptEdge {
    /// It is to run; with the name of its queue.
    Requested(Option<Text>),
    /// It begins.
    Begins { function: Option<Number>, name: Name },
    /// It ends, and tells whether it had something to do.
    Ends(Option<Number>),
    /// It is over, and took so long, ns.
    Took { time: Number, claimed: Option<Number> },
}

/// Where the name is.
#[derive(Clone, Debug)]
pub(crate) enum Name {
    /// In a field.
    Field(Text),
    /// It is that of the softirq with the number.
    OfSoftirq,
    /// It is known beforehand.
    Known(Box<str>),
    /// In the request.
    OfRequest,
    /// Nowhere.
    Nowhere,
}

/// Names of softirqs, by their numbers.
const SOFTIRQS: [&str; 10] =
    ["HI", "TIMER", "NET_TX", "NET_RX", "BLOCK", "IRQ_POLL", "TASKLET", "SCHED", "HRTIMER", "RCU"];

/// The name of the softirq with a number.
pub(crate) fn softirq(number: i64) -> Option<&'static str> {
    usize::try_from(number).ok().and_then(|number| SOFTIRQS.get(number)).copied()
}

const NMI: &str = "nmi:nmi_handler";

/// Kind and edge of a tracepoint.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Edge {
    Request,
    Begin,
    End,
}

impl InterruptFields {
    /// Whether [`of`](Self::of) may know a tracepoint.
    pub(crate) fn is_read_from(name: &str) -> bool {
        name == NMI || edge(name).is_some()
    }

    pub(super) fn of(fields: &Fields<'_>, name: &str) -> Option<Self> {
        if name == NMI {
            let edge = InterruptEdge::Took { time: fields.number("delta_ns")?, claimed: fields.number("handled") };
            return Some(Self { kind: kind::NMI, id: fields.number("handler")?, edge, has_number: false });
        }
        let (kind, edge) = edge(name)?;
        let id = ["irq", "vec", "vector", "work", "hrtimer", "timer", "tasklet", "func", "reason"];
        let id = id.iter().find_map(|field| fields.number(field))?;
        let edge = match edge {
            Edge::Request => InterruptEdge::Requested(fields.text("workqueue")),
            Edge::Begin => InterruptEdge::Begins {
                function: fields.number("function").or_else(|| fields.number("func")),
                name: match kind {
                    kind::ISR => fields.text("name").map_or(Name::Nowhere, Name::Field),
                    kind::SOFTIRQ => Name::OfSoftirq,
                    kind::WORK_ITEM => Name::OfRequest,
                    kind::TIMER | kind::LOCAL => Name::Known(known_name(name).into()),
                    _ => Name::Nowhere,
                },
            },
            Edge::End => InterruptEdge::Ends(fields.number("ret").filter(|_| kind == kind::ISR)),
        };
        let has_number = matches!(kind, kind::ISR | kind::SOFTIRQ | kind::LOCAL) && !name.starts_with("ipi:");
        Some(Self { kind, id, edge, has_number })
    }

    /// Whether it means something only together with others.
    pub(crate) fn is_one_of_a_pair(&self) -> bool {
        !matches!(self.edge, InterruptEdge::Took { .. })
    }
}

/// The name of a timer or an interrupt of the CPU's own: that of the tracepoint without its ends.
fn known_name(name: &str) -> &str {
    let event = name.split_once(':').map_or(name, |(_, event)| event);
    let event = event.strip_suffix("_entry").unwrap_or(event);
    event.strip_suffix("_expire").unwrap_or(event)
}

fn edge(name: &str) -> Option<(i8, Edge)> {
    Some(match name {
        "irq:irq_handler_entry" => (kind::ISR, Edge::Begin),
        "irq:irq_handler_exit" => (kind::ISR, Edge::End),
        "irq:softirq_raise" => (kind::SOFTIRQ, Edge::Request),
        "irq:softirq_entry" => (kind::SOFTIRQ, Edge::Begin),
        "irq:softirq_exit" => (kind::SOFTIRQ, Edge::End),
        "irq:tasklet_entry" | "irq:tasklet_hi_entry" => (kind::TASKLET, Edge::Begin),
        "irq:tasklet_exit" | "irq:tasklet_hi_exit" => (kind::TASKLET, Edge::End),
        "workqueue:workqueue_queue_work" => (kind::WORK_ITEM, Edge::Request),
        "workqueue:workqueue_execute_start" => (kind::WORK_ITEM, Edge::Begin),
        "workqueue:workqueue_execute_end" => (kind::WORK_ITEM, Edge::End),
        "timer:hrtimer_expire_entry" | "timer:timer_expire_entry" => (kind::TIMER, Edge::Begin),
        "timer:hrtimer_expire_exit" | "timer:timer_expire_exit" => (kind::TIMER, Edge::End),
        "ipi:ipi_entry" => (kind::LOCAL, Edge::Begin),
        "ipi:ipi_exit" => (kind::LOCAL, Edge::End),
        name => {
            let event = name.strip_prefix("irq_vectors:")?;
            if event.ends_with("_entry") {
                (kind::LOCAL, Edge::Begin)
            } else if event.ends_with("_exit") {
                (kind::LOCAL, Edge::End)
            } else {
                return None;
            }
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tracepoints_have_their_kinds_and_edges() {
        assert_eq!(edge("irq:irq_handler_exit"), Some((kind::ISR, Edge::End)));
        assert_eq!(edge("irq_vectors:local_timer_entry"), Some((kind::LOCAL, Edge::Begin)));
        assert_eq!(edge("irq_vectors:vector_setup"), None);
        assert_eq!(edge("workqueue:workqueue_activate_work"), None);
        assert_eq!(known_name("irq_vectors:call_function_single_entry"), "call_function_single");
        assert_eq!(known_name("timer:hrtimer_expire_entry"), "hrtimer");
        assert_eq!((softirq(3), softirq(9), softirq(10), softirq(-1)), (Some("NET_RX"), Some("RCU"), None, None));
        assert!(InterruptFields::is_read_from(NMI) && !InterruptFields::is_read_from("irq:irq_handler"));
    }
}
