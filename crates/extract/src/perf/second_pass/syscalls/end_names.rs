//! What descriptors stood for that were open when the recorder looked at the end: known only behind all rows that name them.
//!
//! A walk over the recording before the second pass follows the descriptors. Where one is open at the end, the look tells what the call
//! stood for that made it, or that made the one which it is a duplicate of.

use rustc_hash::FxHashMap;
use tracesift_perf::{Kind, MergeOptions, Metadata, Payload, PerfFile, Record, is_of_a_guest};
use tracesift_trace::Health;
use tracesift_trace::descriptors::{Change, Descriptors};

use super::descriptor_call::{DescriptorCall, Effect};
use super::names::{Names, of_tracepoint};
use super::object::Object;
use crate::error::Error;
use crate::perf::time::ticks;
use crate::perf::tracepoint::{Edge, SyscallFields, Tracepoint, tracepoints};
use crate::progress::WATCH_EVERY;
use crate::recorder_facts::ProcessDescriptors;

/// The return of the call that made a descriptor.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Made {
    pub(super) pid: u32,
    pub(super) number: i32,
    /// Ticks of the recording's clock.
    pub(super) ticks: i64,
}

/// Targets of links by the calls that made them.
#[derive(Debug, Default)]
pub(crate) struct EndNames {
    targets: FxHashMap<Made, Box<str>>,
}

impl EndNames {
    /// Walks over a recording, if there was a look at its end. `watch` is asked whether to go on.
    ///
    /// # Errors
    /// Those of `watch`.
    pub(crate) fn of(
        file: &PerfFile,
        metadata: &Metadata,
        options: MergeOptions,
        end: &[ProcessDescriptors],
        mut watch: impl FnMut() -> Result<(), Error>,
    ) -> Result<Self, Error> {
        let mut walk = Walk::new(metadata);
        if end.is_empty() || !walk.has_calls() {
            return Ok(Self::default());
        }
        let mut merged = file.merged(options);
        let mut records = 0_u64;
        while let Some(record) = merged.next() {
            records += 1;
            if records.is_multiple_of(WATCH_EVERY) {
                watch()?;
            }
            walk.record(&record);
        }
        Ok(Self { targets: walk.targets(end) })
    }

    /// Target of the link of a descriptor.
    pub(super) fn get(&self, made: Made) -> Option<&str> {
        self.targets.get(&made).map(|target| &**target)
    }
}

/// What made a descriptor, and what it made.
#[derive(Clone, Copy)]
struct Life {
    made: Made,
    /// Type of the object, where the call tells it.
    object: Option<&'static str>,
}

struct Walk {
    /// By event; `None` for what says nothing of descriptors.
    calls: Vec<Option<(SyscallFields, Option<DescriptorCall>)>>,
    names: Names,
    pending: FxHashMap<u32, (i32, [u64; 6])>,
    /// By pid.
    open: Descriptors<u32, Life>,
    now: i64,
}

impl Walk {
    fn new(metadata: &Metadata) -> Self {
        // The second pass counts what is not as it should be.
        let tracepoints = tracepoints(metadata, &mut Health::new());
        let is_raw =
            |tracepoint: &Option<Tracepoint>| matches!(tracepoint, Some(Tracepoint::Syscall(fields)) if fields.raw);
        let only_raw = tracepoints.iter().any(is_raw);
        let call = |tracepoint| match tracepoint {
            Some(Tracepoint::Syscall(fields)) if fields.raw => Some((fields, None)),
            Some(Tracepoint::Syscall(fields)) if !only_raw => {
                let call = DescriptorCall::of(of_tracepoint(fields.name.as_deref()?))?;
                Some((fields, Some(call)))
            }
            _ => None,
        };
        Self {
            calls: tracepoints.into_iter().map(call).collect(),
            names: Names::of(metadata.features.arch.as_deref()),
            pending: FxHashMap::default(),
            open: Descriptors::default(),
            now: i64::MIN,
        }
    }

    fn has_calls(&self) -> bool {
        self.calls.iter().any(Option::is_some)
    }

    fn record(&mut self, record: &Record<'_>) {
        self.now = ticks(record).map_or(self.now, |ticks| ticks.max(self.now));
        match record.kind() {
            Kind::Sample => drop(self.sample(record)),
            // What is known may have changed since.
            Kind::Lost => {
                self.open.forget();
                self.pending.clear();
            }
            Kind::Fork | Kind::Comm => match record.payload() {
                Ok(Payload::Fork(task)) if ticks(record).is_some() && task.pid != task.parent_pid => {
                    if let (Ok(parent), Ok(child)) = (u32::try_from(task.parent_pid), u32::try_from(task.pid)) {
                        self.open.fork(parent, child, self.now, |_, life| *life);
                    }
                }
                Ok(Payload::Comm(comm)) if comm.exec => {
                    if let Ok(pid) = u32::try_from(comm.pid) {
                        drop(self.open.exec(pid, self.now));
                    }
                }
                _ => {}
            },
            _ => {}
        }
    }

    fn sample(&mut self, record: &Record<'_>) -> Option<()> {
        let (fields, call) = self.calls.get(record.event()?)?.as_ref()?;
        if is_of_a_guest(record.cpu_mode()) {
            return None;
        }
        let sample = record.sample().ok()?;
        let (raw, tid) = (sample.raw?, u32::try_from(sample.tid?).ok()?);
        let number = i32::try_from(fields.number.get(raw)?).ok()?;
        let call = call.or_else(|| self.names.get(number)?.descriptor);
        match &fields.edge {
            Edge::Enter(arguments) if call.is_some() => {
                self.pending.insert(tid, (number, arguments.get(raw)));
            }
            Edge::Enter(_) => {}
            Edge::Exit(result) => {
                let (_, arguments) = self.pending.remove(&tid).filter(|(entered, _)| *entered == number)?;
                let effect = call?.effect(&arguments, result.get(raw)?)?;
                self.change(u32::try_from(sample.pid?).ok()?, effect, call?.object());
            }
        }
        Some(())
    }

    fn change(&mut self, pid: u32, effect: Effect, object: Option<&'static str>) {
        let Effect::On(change) = effect else { return };
        let (open, ticks) = (&mut self.open, self.now);
        match change {
            Change::Made { number, close_on_exec } => {
                open.set(pid, number, close_on_exec, Life { made: Made { pid, number, ticks }, object }, ticks);
            }
            Change::Duplicated { from, to, close_on_exec } => {
                let unknown = Life { made: Made { pid, number: to, ticks }, object: None };
                let life = open.get(pid, from).copied().unwrap_or(unknown);
                open.set(pid, to, close_on_exec, life, ticks);
            }
            Change::Closed { number } => drop(open.take(pid, number, ticks)),
            Change::ClosedRange { first, last } => drop(open.take_range(pid, first, last, ticks)),
            Change::Marked { first, last, close_on_exec } => open.mark(pid, first, last, close_on_exec),
        }
    }

    fn targets(&self, end: &[ProcessDescriptors]) -> FxHashMap<Made, Box<str>> {
        let mut targets = FxHashMap::default();
        for process in end {
            for (number, target) in &process.open {
                // What was made while the process was looked at may not be what the look found.
                let life = self.open.get_since(process.pid, *number).filter(|(since, _)| *since < process.from);
                let Some((_, Life { made, object })) = life else { continue };
                // The number may have been closed and used for something else without calls that are recorded.
                let is_path = target.starts_with('/');
                let is_same = object.is_none_or(|kind| Object::of_link(target).can_be(kind, None, false));
                if is_same && (is_path || *object != Some("file")) {
                    targets.entry(*made).or_insert_with(|| target.as_str().into());
                }
            }
        }
        targets
    }
}
