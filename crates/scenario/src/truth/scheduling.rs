//! Run, wait, ready, open and unknown time per thread, from the switch and ready records that are in the recording.

use super::{Builder, OffCause, OffSpan, SwitchTruth};
use crate::record::{Event, Ready, Record, Switch, Walk};

use tracesift_etl::write::payload::thread_state;

/// What is known of a thread.
#[derive(Clone, Copy, Debug)]
enum State {
    /// No switch yet. `readied`: the first ready event.
    Unseen { readied: Option<Readied> },
    /// On a CPU since its switch-in there. `readied`: a ready event since then.
    Running { since: i64, cpu: usize, readied: Option<Readied> },
    /// Off the CPU since an intact or broken switch-out, in a known state.
    Off { since: i64, state: i8, readied: Option<Readied> },
    /// A broken chain: nothing is known since then.
    Unknown { since: i64 },
}

/// A ready event.
#[derive(Clone, Copy, Debug)]
struct Readied {
    time: i64,
    by: Option<usize>,
    walk: Option<Walk>,
}

/// Who runs on a CPU.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Current {
    /// No switch yet.
    Untouched,
    /// This thread since the last switch.
    Thread(usize),
    /// The thread of the last switch was seen elsewhere since.
    Lost,
}

struct Scheduling<'a, 'b> {
    builder: &'a mut Builder<'b>,
    states: Vec<State>,
    current: Vec<Current>,
}

pub(super) fn account(builder: &mut Builder<'_>, order: &[&Record]) {
    let machine = &builder.scenario.machine;
    let (threads, cpus) = (machine.threads.len(), usize::from(machine.cpus));
    let mut scheduling = Scheduling {
        builder,
        states: vec![State::Unseen { readied: None }; threads],
        current: vec![Current::Untouched; cpus],
    };
    for record in order {
        let time = scheduling.builder.ns(record.ticks);
        match &record.event {
            Event::Switch(switch) => scheduling.switch(time, record.cpu, switch),
            Event::Ready(ready) => scheduling.ready(time, record.cpu, ready),
            _ => {}
        }
    }
    scheduling.close();
}

fn is_runnable(state: i8) -> bool {
    [thread_state::READY, thread_state::STANDBY, thread_state::DEFERRED_READY].contains(&state)
}

impl Scheduling<'_, '_> {
    fn lifetime_start(&self, thread: usize) -> i64 {
        let machine = &self.builder.scenario.machine;
        machine.threads[thread].start.map_or(0, |ticks| machine.ns(ticks))
    }

    fn switch(&mut self, time: i64, cpu: u16, switch: &Switch) {
        let index = usize::from(cpu);
        let readied = self.leave(time, index, switch.old);
        if switch.old_state == thread_state::TERMINATED {
            let old = self.builder.thread(switch.old);
            let thread = &mut self.builder.truth.threads[old];
            thread.end = Some(thread.end.unwrap_or(time).max(time));
            thread.life.1 = thread.end.unwrap_or(time);
        }
        let runnable = is_runnable(switch.old_state);
        self.builder.truth.has_preemption |= runnable;
        let readied = readied.filter(|_| !runnable).map(|readied| Readied { time, ..readied });
        self.states[switch.old] = State::Off { since: time, state: switch.old_state, readied };
        self.enter(time, cpu, switch);
    }

    /// The old thread's time up to now. Returns the ready event that came while it ran, where the chain is intact.
    fn leave(&mut self, time: i64, cpu: usize, old: usize) -> Option<Readied> {
        match (self.current[cpu], self.states[old]) {
            // Only what has never been seen can have run since the recording began.
            (Current::Untouched, State::Unseen { readied }) => {
                let start = self.lifetime_start(old);
                self.truth(old).run += time - start;
                return readied;
            }
            (Current::Thread(tracked), State::Running { since, readied, .. }) if tracked == old => {
                self.truth(old).run += time - since;
                return readied;
            }
            _ => {}
        }
        self.builder.truth.broken_chains += 1;
        if let Current::Thread(tracked) = self.current[cpu]
            && let State::Running { since, .. } = self.states[tracked]
        {
            self.states[tracked] = State::Unknown { since };
        }
        self.lose(time, cpu, old);
        None
    }

    /// Everything since the last thing known of a thread is unknown up to now.
    fn lose(&mut self, time: i64, cpu: usize, thread: usize) -> i64 {
        let since = match self.states[thread] {
            State::Unseen { .. } => self.lifetime_start(thread),
            State::Running { since, cpu: other, .. } => {
                if other != cpu {
                    self.current[other] = Current::Lost;
                }
                since
            }
            State::Off { since, .. } | State::Unknown { since } => since,
        };
        self.truth(thread).unknown += time - since;
        since
    }

    fn enter(&mut self, time: i64, cpu: u16, switch: &Switch) {
        let new = switch.new;
        let index = usize::from(cpu);
        let mut off_state = None;
        let mut ready_event = None;
        let span = |cause, from, ready_from| OffSpan { cause, from, to: time, ready_from };
        let off = match self.states[new] {
            State::Unseen { readied } => {
                // Who was there before the recording may have been readied before it.
                ready_event = readied.filter(|_| self.builder.scenario.machine.threads[new].start.is_some());
                span(OffCause::Open, self.lifetime_start(new), ready_event.map(|ready| ready.time))
            }
            State::Off { since, state, readied } => {
                off_state = Some(state);
                if is_runnable(state) {
                    span(OffCause::Preempted, since, Some(since))
                } else {
                    ready_event = readied;
                    span(OffCause::Blocked, since, readied.map(|ready| ready.time))
                }
            }
            State::Running { .. } | State::Unknown { .. } => {
                let since = self.lose(time, index, new);
                span(OffCause::Unknown, since, None)
            }
        };
        self.charge(new, &off);
        self.truth(new).switches += 1;
        self.states[new] = State::Running { since: time, cpu: index, readied: None };
        self.current[index] = Current::Thread(new);
        let row = SwitchTruth {
            time,
            cpu,
            thread: self.builder.thread(new),
            previous: self.builder.thread(switch.old),
            off,
            off_state,
            wait_stack: self.builder.stack(switch.walk),
            ready_stack: ready_event.and_then(|ready| self.builder.stack(ready.walk)),
            readier: ready_event.and_then(|ready| ready.by),
            counters: switch.counters.clone(),
        };
        self.builder.truth.switches.push(row);
    }

    /// Charges a span to the parts of its thread; unknown spans are charged where they are found.
    fn charge(&mut self, thread: usize, span: &OffSpan) {
        let truth = self.truth(thread);
        truth.wait += span.wait();
        truth.ready += span.ready();
        if span.cause == OffCause::Open {
            truth.open += span.ready_from.unwrap_or(span.to) - span.from;
        }
    }

    fn ready(&mut self, time: i64, cpu: u16, ready: &Ready) {
        self.builder.truth.has_ready_events = true;
        let by = match self.current[usize::from(cpu)] {
            Current::Thread(thread) => Some(self.builder.thread(thread)),
            Current::Untouched | Current::Lost => None,
        };
        let event = Readied { time, by, walk: ready.walk };
        match &mut self.states[ready.thread] {
            State::Unseen { readied } | State::Running { readied, .. } | State::Off { readied, .. } => {
                readied.get_or_insert(event);
            }
            State::Unknown { .. } => {}
        }
    }

    /// What is left at the end of each thread's life.
    fn close(&mut self) {
        for thread in 0..self.states.len() {
            if self.builder.threads[thread].is_none() {
                continue;
            }
            let end = self.truth(thread).life.1;
            match self.states[thread] {
                State::Unseen { .. } => {
                    let start = self.lifetime_start(thread);
                    self.truth(thread).unknown += end - start;
                }
                State::Running { since, .. } => self.truth(thread).run += end - since,
                State::Unknown { since } => self.truth(thread).unknown += end - since,
                State::Off { since, .. } if since == end => {}
                State::Off { since, state, readied } => {
                    let runnable = is_runnable(state);
                    let span = OffSpan {
                        cause: if runnable { OffCause::Preempted } else { OffCause::Blocked },
                        from: since,
                        to: end,
                        ready_from: if runnable { Some(since) } else { readied.map(|ready| ready.time) },
                    };
                    self.charge(thread, &span);
                    self.truth(thread).closing = Some(span);
                }
            }
        }
    }

    fn truth(&mut self, thread: usize) -> &mut super::ThreadTruth {
        let index = self.builder.thread(thread);
        &mut self.builder.truth.threads[index]
    }
}
