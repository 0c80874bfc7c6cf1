//! Kinds of events of a Linux recording: names, and whether they are chosen. One per recorded event, and one per kind of the
//! kernel's other records.

use std::sync::Arc;

use rustc_hash::FxHashMap;
use tracesift_etl::schema::Origin;
use tracesift_perf::{Attr, Kind, Metadata, Payload, Record};

use super::fields::{FieldSink, Rest, malformed};
use super::record_fields::read_record;
use super::sample_fields::read_sample;
use super::tracepoint::{Tracepoint, USER_EVENTS, free};
use crate::event_kinds::{EventChoice, EventKind};
use crate::event_selection::EventSelection;
use crate::perf::event_types::{BREAKPOINT, CPU_CLOCK, DUMMY, SOFTWARE, TASK_CLOCK, counts_faults};
use crate::perf::tracepoint::{DNS_GROUP, HEAP_GROUP, PATH_GROUP};

/// Provider of everything that is no tracepoint.
pub const PERF: &str = "perf";

/// Tracepoints whose content is in a table of their own, which `default` leaves out.
const IN_TABLES: [(&str, &[&str]); 6] = [
    ("sched", &["sched_switch", "sched_waking", "sched_wakeup", "sched_wakeup_new"]),
    ("block", &["block_bio_queue", "block_rq_insert", "block_rq_issue", "block_rq_requeue", "block_rq_complete"]),
    ("exceptions", &["page_fault_user", "page_fault_kernel"]),
    ("power", &["cpu_frequency", "cpu_idle"]),
    ("sock", &["sock_send_length", "sock_recv_length"]),
    ("tcp", &["tcp_probe"]),
];
/// Systems of system calls, which have a table, too.
const SYSTEM_CALLS: [&str; 2] = ["syscalls", "raw_syscalls"];

/// Records of the kernel have numbers below that; the others are perf's own and say nothing of the machine.
const KERNEL_RECORDS: usize = 64;

/// One kind of event.
#[derive(Debug)]
pub struct LinuxKind {
    /// Its names, and whether the choice accepts it. The number of records that are no tracepoints is their type.
    pub names: EventKind,
    /// Where its description comes from; `None` where nobody describes it.
    pub origin: Option<Origin>,
    /// Somebody wrote it into the recording to be found again.
    pub(crate) is_mark: bool,
    shape: Shape,
}

/// How a kind's records are read.
#[derive(Clone, Copy, Debug)]
enum Shape {
    /// By this [`Tracepoint`].
    Tracepoint(usize),
    /// A sample of a counter.
    Counter,
    /// Another record of the kernel.
    Record,
    /// Not at all.
    Unknown,
}

/// The kinds met so far.
pub struct LinuxKinds {
    metadata: Arc<Metadata>,
    selection: EventSelection,
    /// The selection's own choice; what `default` keeps is decided here.
    choice: Option<EventChoice>,
    kinds: Vec<LinuxKind>,
    /// Index by event.
    by_event: Vec<Option<usize>>,
    /// Index by type of record, of those that are no samples of a known event.
    by_type: [Option<usize>; KERNEL_RECORDS],
    tracepoints: Vec<Tracepoint>,
    /// Index by the number of the format.
    by_format: FxHashMap<u64, usize>,
    /// Names of all events, each another one: members of a group.
    event_names: Vec<String>,
}

impl LinuxKinds {
    /// None yet, of a recording whose metadata is known to its end.
    #[must_use]
    pub fn new(metadata: Arc<Metadata>, selection: EventSelection) -> Self {
        let mut taken = FxHashMap::default();
        let event_names =
            (0..metadata.events.len()).map(|event| free(metadata.event_name(event), &mut taken)).collect();
        Self {
            choice: selection.choice(),
            selection,
            kinds: Vec::new(),
            by_event: vec![None; metadata.events.len()],
            by_type: [None; KERNEL_RECORDS],
            tracepoints: Vec::new(),
            by_format: FxHashMap::default(),
            event_names,
            metadata,
        }
    }

    /// The kind of a record, as a number; `None` for what perf wrote of its own accord. What is chosen can be read then.
    pub fn of(&mut self, record: &Record<'_>) -> Option<usize> {
        let kind = record.kind();
        let number = usize::try_from(kind.number()).ok().filter(|number| *number < KERNEL_RECORDS)?;
        if matches!(kind, Kind::OldFeature(_)) {
            return None;
        }
        let event = record.event().filter(|event| kind == Kind::Sample && *event < self.by_event.len());
        let known = match event {
            Some(event) => self.by_event.get(event),
            None => self.by_type.get(number),
        };
        let index = match known.copied().flatten() {
            Some(index) => index,
            None => {
                let new = match event {
                    Some(event) => self.kind_of_event(event),
                    None => self.kind_of_record(kind, number),
                };
                let new = new?;
                self.kinds.push(new);
                let index = self.kinds.len() - 1;
                let slot = match event {
                    Some(event) => self.by_event.get_mut(event),
                    None => self.by_type.get_mut(number),
                };
                slot.into_iter().for_each(|slot| *slot = Some(index));
                index
            }
        };
        if let Some(LinuxKind { names, is_mark, shape: Shape::Tracepoint(at), .. }) = self.kinds.get(index)
            && (names.chosen || *is_mark)
            && let Some(tracepoint) = self.tracepoints.get_mut(*at).filter(|tracepoint| tracepoint.has_flags())
            && let Ok(sample) = record.sample()
        {
            tracepoint.learn(sample.raw.unwrap_or_default());
        }
        Some(index)
    }

    /// A kind by the number that [`Self::of`] gave.
    ///
    /// # Panics
    /// For another number.
    #[must_use]
    pub fn kind(&self, index: usize) -> &LinuxKind {
        &self.kinds[index]
    }

    /// Hands out the fields of a record of that kind.
    pub fn read<'a>(&'a self, index: usize, record: &Record<'a>, sink: &mut impl FieldSink<'a>) -> Rest<'a> {
        let undescribed = |bytes| Rest { bytes, stopped: None };
        match self.kind(index).shape {
            Shape::Unknown if record.kind() != Kind::Sample => undescribed(record.fields()),
            Shape::Record => read_record(record, &self.metadata.events, &self.event_names, sink),
            shape => {
                let sample = match record.sample() {
                    Ok(sample) => sample,
                    Err(error) => return malformed(&error, record.body()),
                };
                let raw = sample.raw.unwrap_or_default();
                match shape {
                    // Recorded without its data, it tells that it happened.
                    Shape::Tracepoint(_) if sample.raw.is_none() => Rest::default(),
                    Shape::Tracepoint(at) => self.tracepoints[at].read(raw, sink),
                    Shape::Counter => {
                        let format = record.layout().sample_format();
                        read_sample(&sample, format, &self.metadata.events, &self.event_names, sink);
                        undescribed(raw)
                    }
                    _ if sample.raw.is_some() => undescribed(raw),
                    _ => undescribed(record.body()),
                }
            }
        }
    }

    fn kind_of_event(&mut self, event: usize) -> Option<LinuxKind> {
        let metadata = Arc::clone(&self.metadata);
        let attr = &metadata.events.get(event)?.attr;
        let (system, name) = names_of_event(&metadata, event)?;
        if !attr.is_tracepoint() {
            let names = new_names(&system, &name, None, Kind::Sample.number());
            return Some(self.add(names, Some(Origin::BuiltIn), Shape::Counter, is_beside_tables(attr)));
        }
        let names = new_names(&system, &name, u16::try_from(attr.config).ok(), attr.config as u32);
        let beside = !has_a_table(&system, &name);
        let tracing = metadata.tracing.as_deref();
        let Some((tracing, format)) = tracing.and_then(|tracing| Some((tracing, tracing.by_id(attr.config)?))) else {
            return Some(self.add(names, None, Shape::Unknown, beside));
        };
        let at = *self.by_format.entry(format.id).or_insert_with(|| {
            self.tracepoints.push(Tracepoint::new(format, tracing));
            self.tracepoints.len() - 1
        });
        Some(self.add(names, Some(Origin::Metadata), Shape::Tracepoint(at), beside))
    }

    fn kind_of_record(&self, kind: Kind, number: usize) -> Option<LinuxKind> {
        let names = new_names(PERF, &name_of_record(kind), None, number as u32);
        let is_known = kind != Kind::Sample && kind.name().is_some();
        let (origin, shape) = if is_known { (Some(Origin::BuiltIn), Shape::Record) } else { (None, Shape::Unknown) };
        Some(self.add(names, origin, shape, false))
    }

    /// A kind, chosen or not. `beside`: what it says is in no other table.
    fn add(&self, mut names: EventKind, origin: Option<Origin>, shape: Shape, beside: bool) -> LinuxKind {
        names.chosen = match &self.selection {
            EventSelection::Default => beside,
            _ => self.choice.as_ref().is_some_and(|choice| choice.accepts(&names)),
        };
        let is_mark = names.provider == USER_EVENTS || names.provider == "ftrace" && names.event == "print";
        LinuxKind { names, origin, is_mark, shape }
    }
}

/// Provider and name of an event of a recording: system and name of a tracepoint, [`PERF`] and perf's own name of all others;
/// `None` when there is no such event.
#[must_use]
pub fn names_of_event(metadata: &Metadata, event: usize) -> Option<(String, String)> {
    let attr = &metadata.events.get(event)?.attr;
    let name = metadata.event_name(event);
    if !attr.is_tracepoint() {
        return Some((PERF.to_owned(), name));
    }
    if let Some(format) = metadata.tracing.as_deref().and_then(|tracing| tracing.by_id(attr.config)) {
        // The group of our own probes has the number of the recorder behind it.
        let own = [(DNS_GROUP, "tracesift_dns"), (PATH_GROUP, "tracesift_open"), (HEAP_GROUP, "tracesift_heap")];
        let own = own.iter().find(|(group, _)| format.system.starts_with(group)).map(|(_, system)| *system);
        let system = own.unwrap_or(&format.system);
        return Some((system.to_owned(), format.name.to_string()));
    }
    let (system, name) = name.split_once(':').unwrap_or((PERF, &name));
    Some((system.to_owned(), name.to_owned()))
}

/// Name of a kind of records, the number of one that has none.
#[must_use]
pub fn name_of_record(kind: Kind) -> String {
    kind.name().map_or_else(|| format!("record {}", kind.number()), str::to_owned)
}

/// Whether the content of a tracepoint is in a table of its own.
fn has_a_table(system: &str, name: &str) -> bool {
    SYSTEM_CALLS.contains(&system)
        || system.starts_with(PATH_GROUP)
        || system.starts_with(HEAP_GROUP)
        || IN_TABLES.iter().any(|(known, names)| *known == system && names.contains(&name))
}

/// Samples of clocks and counters have tables of their own, the other events of the kernel's software do not.
fn is_beside_tables(attr: &Attr) -> bool {
    match attr.kind {
        SOFTWARE => !matches!(attr.config, CPU_CLOCK | TASK_CLOCK | DUMMY) && !counts_faults(attr),
        kind => kind == BREAKPOINT,
    }
}

fn new_names(provider: &str, event: &str, id: Option<u16>, number: u32) -> EventKind {
    EventKind {
        provider: provider.to_owned(),
        guid: None,
        guid_text: String::new(),
        event: event.to_owned(),
        id,
        number: id.unwrap_or(u16::try_from(number).unwrap_or(u16::MAX)),
        is_kernel: false,
        schema: None,
        chosen: false,
    }
}

/// Process and thread that a record is about: a name, a start or a mapping says so itself, everything else happened to whom it
/// interrupted.
#[must_use]
pub fn subject(record: &Record<'_>) -> (Option<u32>, Option<u32>) {
    let id = |id: i32| u32::try_from(id).ok();
    let own = match record.kind() {
        Kind::Mmap | Kind::Mmap2 | Kind::Comm | Kind::Fork | Kind::Exit | Kind::Namespaces => match record.payload() {
            Ok(Payload::Mapping(mapping)) => Some((mapping.pid, mapping.tid)),
            Ok(Payload::Comm(comm)) => Some((comm.pid, comm.tid)),
            Ok(Payload::Fork(task) | Payload::Exit(task)) => Some((task.pid, task.tid)),
            Ok(Payload::Namespaces(namespaces)) => Some((namespaces.pid, namespaces.tid)),
            _ => None,
        },
        Kind::Read | Kind::ItraceStart => match record.payload() {
            Ok(Payload::Read(pid, tid, _) | Payload::ItraceStart(pid, tid)) => Some((pid, tid)),
            _ => None,
        },
        _ => None,
    };
    // What perf tells of the time before the recording has zeros where others have the thread.
    let logged = || record.thread().filter(|_| record.time().is_some() || record.kind() == Kind::Sample);
    match own.or_else(logged) {
        // The kernel's mappings belong to nobody.
        Some((pid, _)) if pid < 0 => (None, None),
        Some((pid, tid)) => (id(pid), id(tid)),
        None => (None, None),
    }
}
