//! When and in which threads methods were seen: in samples, and in waits.

use std::sync::Arc;

use rustc_hash::FxHashMap;
use tracesift_analysis::spans::is_switch_in;
use tracesift_analysis::{AttributedSwitch, MethodId, MethodSource as _, Span, pieces};
use tracesift_archive::Error;
use tracesift_extract::stack_methods::{Granularity, NamedStacks};
use tracesift_trace::rows::{CpuSampleRow, ThreadRow};
use tracesift_trace::{FrameId, ProcessId, StackId, ThreadId, view};

use crate::method_patterns::MethodPatterns;
use crate::recording::OpenRecording;

view! {
    /// The place and the time of a sample.
    #[derive(Clone, Copy, Debug)]
    struct SampledPlace of CpuSampleRow { time, process, thread, stack, frame }
}

/// A method on the stack of a thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Sighting {
    /// The process of the sample, or of the thread that waited.
    pub(crate) process: ProcessId,
    /// The thread.
    pub(crate) thread: ThreadId,
    /// The instant of the sample, or the time off the CPU with the instant of the switch-in: both ends were seen.
    pub(crate) from: i64,
    /// See [`Self::from`].
    pub(crate) to: i64,
}

/// Shows all sightings of such methods in these processes: first those in samples, then those in waits, each by time.
///
/// # Errors
/// When a table cannot be read.
pub(crate) fn each(
    recording: &OpenRecording,
    patterns: &MethodPatterns,
    is_of: impl Fn(ProcessId) -> bool,
    mut see: impl FnMut(Sighting),
) -> Result<(), Error> {
    let archive = recording.archive();
    let mut stacks = WantedStacks::new(recording.named_stacks(Granularity::default())?, patterns);
    archive.scan(None, |row: &SampledPlace| {
        if is_of(row.process) && stacks.has(row.stack, row.frame) {
            see(Sighting { process: row.process, thread: row.thread, from: row.time, to: row.time });
        }
    })?;
    let threads: FxHashMap<ThreadId, ProcessId> =
        archive.rows::<ThreadRow>()?.into_iter().map(|row| (row.thread, row.process)).collect();
    let has_ready = recording.info().has_ready;
    archive.scan(None, |row: &AttributedSwitch| {
        let Some(&process) = threads.get(&row.thread) else { return };
        if !is_of(process) || !stacks.has(row.wait_stack, None) {
            return;
        }
        // What counts as a sighting is what the figures of methods are made of.
        let parts = pieces(row, has_ready);
        let spans = [parts.wait, parts.ready].into_iter().flatten();
        let switch_in = is_switch_in(row.flags).then_some(Span { start: row.time, end: row.time });
        if let Some(all) = spans.chain(switch_in).reduce(|a, b| Span::new(a.start.min(b.start), a.end.max(b.end))) {
            see(Sighting { process, thread: row.thread, from: all.start, to: all.end });
        }
    })
}

/// Which stacks have such a method.
pub(crate) struct WantedStacks<'a> {
    named: Arc<NamedStacks>,
    patterns: &'a MethodPatterns,
    methods: FxHashMap<MethodId, bool>,
    stacks: FxHashMap<(Option<StackId>, Option<FrameId>), bool>,
}

impl<'a> WantedStacks<'a> {
    pub(crate) fn new(named: Arc<NamedStacks>, patterns: &'a MethodPatterns) -> Self {
        Self { named, patterns, methods: FxHashMap::default(), stacks: FxHashMap::default() }
    }

    /// Whether the stack has one; the frame counts where there is no stack.
    pub(crate) fn has(&mut self, stack: Option<StackId>, frame: Option<FrameId>) -> bool {
        let frame = frame.filter(|_| stack.is_none());
        if let Some(known) = self.stacks.get(&(stack, frame)) {
            return *known;
        }
        let mut methods = Vec::new();
        let mut stacks = &self.named.stacks;
        stack.into_iter().for_each(|stack| stacks.stack(stack, &mut methods));
        frame.into_iter().for_each(|frame| stacks.frame(frame, &mut methods));
        let has = methods.into_iter().any(|method| {
            *self.methods.entry(method).or_insert_with(|| {
                let name = self.named.names.name(method);
                self.patterns.matches(name.module.as_deref(), &name.function)
            })
        });
        self.stacks.insert((stack, frame), has);
        has
    }
}
