//! What profiles of paths are put into: sums or single pieces, and the threads that they stand below.

use rustc_hash::FxHashMap;
use tracesift_export::{
    About, Catalog, Folded, FrameId as ExportedFrame, Listed, Process, ProcessId as ExportedProcess, Profile, Sample,
    StackId as ExportedStack, Thread, ThreadId as ExportedThread, Weight,
};
use tracesift_trace::{ProcessId, ThreadId};

use crate::path::parties::Parties;

/// A profile that pieces are put into.
pub(super) trait Target {
    /// Whether it has single pieces with their times, else sums.
    const HAS_TIMES: bool = false;

    fn about(&mut self) -> &mut About;

    fn catalog(&mut self) -> &mut Catalog;

    /// Stores a stack, outermost frame first.
    fn stack(&mut self, frames: &[ExportedFrame]) -> ExportedStack;

    fn sum(&mut self, _: Weight) {}

    fn sample(&mut self, _: Sample) {}
}

impl Target for Folded {
    fn about(&mut self) -> &mut About {
        &mut self.about
    }

    fn catalog(&mut self) -> &mut Catalog {
        &mut self.catalog
    }

    fn stack(&mut self, frames: &[ExportedFrame]) -> ExportedStack {
        self.catalog.stack(frames.iter().copied())
    }

    fn sum(&mut self, weight: Weight) {
        self.weights.push(weight);
    }
}

impl Target for Listed {
    fn about(&mut self) -> &mut About {
        &mut self.about
    }

    fn catalog(&mut self) -> &mut Catalog {
        &mut self.catalog
    }

    fn stack(&mut self, frames: &[ExportedFrame]) -> ExportedStack {
        self.stacks.push(frames.iter().copied())
    }

    fn sum(&mut self, weight: Weight) {
        self.weights.push(weight);
    }
}

impl Target for Profile {
    const HAS_TIMES: bool = true;

    fn about(&mut self) -> &mut About {
        &mut self.about
    }

    fn catalog(&mut self) -> &mut Catalog {
        &mut self.catalog
    }

    fn stack(&mut self, frames: &[ExportedFrame]) -> ExportedStack {
        self.catalog.stack(frames.iter().copied())
    }

    fn sample(&mut self, sample: Sample) {
        self.samples.push(sample);
    }
}

/// The first threads of windows, in the catalog.
#[derive(Default)]
pub(super) struct Threads {
    pub(super) origin: i64,
    pub(super) processes: FxHashMap<Option<ProcessId>, ExportedProcess>,
    pub(super) threads: FxHashMap<ThreadId, ExportedThread>,
}

impl Threads {
    /// The thread in the catalog.
    pub(super) fn get(&mut self, thread: ThreadId, parties: &Parties<'_>, catalog: &mut Catalog) -> ExportedThread {
        if let Some(known) = self.threads.get(&thread) {
            return *known;
        }
        let (row, process) = parties.rows_of(thread);
        let time = |time: Option<i64>| time.map(|time| time.saturating_sub(self.origin));
        let exported = *self.processes.entry(process.map(|row| row.process)).or_insert_with(|| {
            let name = catalog.string(process.map_or("", |row| row.name.as_str()));
            catalog.process(Process {
                name,
                pid: process.and_then(|row| u32::try_from(row.pid).ok()).unwrap_or(0),
                start: time(process.and_then(|row| row.start)),
                end: time(process.and_then(|row| row.end)),
            })
        });
        let name = catalog.string(row.and_then(|row| row.name.as_deref()).unwrap_or_default());
        let new = catalog.thread(Thread {
            process: exported,
            name,
            tid: row.and_then(|row| u32::try_from(row.tid).ok()).unwrap_or(0),
            start: time(row.and_then(|row| row.start)),
            end: time(row.and_then(|row| row.end)),
        });
        self.threads.insert(thread, new);
        new
    }
}
