//! CPU that collections took: samples of the runtime while they ran.

use rustc_hash::{FxHashMap, FxHashSet};
use tracesift_archive::{Archive, Error};
use tracesift_trace::rows::{CpuSampleRow, FrameRow, GcCollectionRow, ModuleRow, gc_kinds};
use tracesift_trace::{FrameId, ModuleId, ProcessId, StackId, view};

/// The modules that collect.
const RUNTIMES: [&str; 6] = ["clr.dll", "coreclr.dll", "clrgc.dll", "clrgcexp.dll", "mscorwks.dll", "libcoreclr.so"];

/// The modules below a thread that belongs to the runtime, and those in which it waits.
const SYSTEM: [&str; 7] =
    ["ntdll.dll", "kernel32.dll", "kernelbase.dll", "ntoskrnl.exe", "hal.dll", "wow64.dll", "wow64cpu.dll"];

view! {
    /// When a collection ran.
    #[derive(Clone, Debug)]
    struct Times of GcCollectionRow { time, start, process, kind, pauses, open }
}

view! {
    /// A sample of a process.
    #[derive(Clone, Copy, Debug)]
    struct Sample of CpuSampleRow { time, process, weight, stack, frame }
}

view! {
    /// The module of a frame.
    #[derive(Clone, Copy, Debug)]
    struct OfModule of FrameRow { frame, module }
}

/// A time in which a collection runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Running {
    from: i64,
    to: i64,
    collection: usize,
    /// Whether the threads of the program stand.
    stands: bool,
}

/// The CPU of each collection, in the order of the table. Empty: the recording has no samples. `None`: the end of the collection is
/// not known.
pub(super) fn of_collections(archive: &Archive) -> Result<Vec<Option<i64>>, Error> {
    if archive.row_count::<CpuSampleRow>() == 0 {
        return Ok(Vec::new());
    }
    let mut cpu = Vec::new();
    let mut running: FxHashMap<ProcessId, Vec<Running>> = FxHashMap::default();
    archive.scan(None, |row: &Times| {
        let is_known = row.open != Some(true);
        if is_known {
            add(running.entry(row.process).or_default(), cpu.len(), row);
        }
        cpu.push(is_known.then_some(0));
    })?;
    running.values_mut().for_each(|spans| *spans = apart(std::mem::take(spans)));
    let spans = || running.values().flatten();
    let (Some(from), Some(to)) = (spans().map(|span| span.from).min(), spans().map(|span| span.to).max()) else {
        return Ok(cpu);
    };
    let code = Code::read(archive)?;
    archive.scan(Some(from..to), |row: &Sample| {
        let Some(spans) = running.get(&row.process) else { return };
        let after = spans.partition_point(|span| span.from <= row.time);
        let span = after.checked_sub(1).and_then(|place| spans.get(place)).filter(|span| row.time < span.to);
        if let Some(span) = span
            && code.collects(row, span.stands)
            && let Some(Some(cpu)) = cpu.get_mut(span.collection)
        {
            *cpu = cpu.saturating_add(row.weight);
        }
    })?;
    Ok(cpu)
}

/// Adds the times of a collection. Threads of the program run during one in the background, except in its pauses.
fn add(spans: &mut Vec<Running>, collection: usize, row: &Times) {
    let is_background = row.kind == gc_kinds::BACKGROUND;
    spans.push(Running { from: row.start, to: row.time, collection, stands: !is_background });
    if is_background {
        let pauses = row.pauses.as_deref().unwrap_or_default().chunks_exact(2);
        let pauses = pauses.map(|pause| (pause[0].max(row.start), pause[1].min(row.time)));
        spans.extend(pauses.map(|(from, to)| Running { from, to, collection, stands: true }));
    }
}

/// The same times, none of which overlaps another one: where several collections run, the one that began last counts.
fn apart(mut spans: Vec<Running>) -> Vec<Running> {
    spans.sort_by_key(|span| (span.from, span.stands));
    let mut apart = Vec::new();
    let mut open: Vec<Running> = Vec::new();
    let mut at = i64::MIN;
    // What the open ones have up to a time.
    let mut up_to = |limit: i64, open: &mut Vec<Running>| {
        while let Some(last) = open.last() {
            let to = last.to.min(limit);
            if to > at {
                apart.push(Running { from: at, to, ..*last });
                at = to;
            }
            if last.to > limit {
                break;
            }
            open.pop();
        }
        at = at.max(limit);
    };
    for span in spans {
        up_to(span.from, &mut open);
        open.push(span);
    }
    up_to(i64::MAX, &mut open);
    apart
}

/// Which code is of a runtime.
struct Code {
    /// Frames of runtimes: true; of the system: false.
    frames: FxHashMap<FrameId, bool>,
    /// Stacks with a frame of a runtime, and whether all of their frames are of it or of the system.
    stacks: FxHashMap<StackId, bool>,
}

impl Code {
    fn read(archive: &Archive) -> Result<Self, Error> {
        let mut modules: [FxHashSet<ModuleId>; 2] = Default::default();
        for row in archive.rows::<ModuleRow>()? {
            let is_in = |names: &[&str]| names.iter().any(|name| row.name.eq_ignore_ascii_case(name));
            if is_in(&RUNTIMES) {
                modules[1].insert(row.module);
            } else if is_in(&SYSTEM) {
                modules[0].insert(row.module);
            }
        }
        let mut code = Self { frames: FxHashMap::default(), stacks: FxHashMap::default() };
        archive.scan(None, |row: &OfModule| {
            let of = row.module.and_then(|module| (0..2).find(|of| modules[*of].contains(&module)));
            code.frames.extend(of.map(|of| (row.frame, of == 1)));
        })?;
        archive.scan_stacks(|stack, frames| {
            let of = |frame: &FrameId| code.frames.get(frame).copied();
            if frames.iter().any(|frame| of(frame) == Some(true)) {
                code.stacks.insert(stack, frames.iter().all(|frame| of(frame).is_some()));
            }
        })?;
        Ok(code)
    }

    /// Whether a sample is of a thread that collects. While the threads of the program run, those that belong to the runtime do.
    fn collects(&self, row: &Sample, stands: bool) -> bool {
        match row.stack {
            Some(stack) => self.stacks.get(&stack).is_some_and(|is_own| stands || *is_own),
            // Without a stack nobody knows whose thread it is.
            None => stands && row.frame.is_some_and(|frame| self.frames.get(&frame) == Some(&true)),
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn spans() -> impl Strategy<Value = Vec<Running>> {
        let span = (0_i64..60, 0_i64..30, any::<bool>());
        prop::collection::vec(span, 0..12).prop_map(|spans| {
            let running = |(collection, (from, length, stands)): (usize, (i64, i64, bool))| Running {
                from,
                to: from + length,
                collection,
                stands,
            };
            spans.into_iter().enumerate().map(running).collect()
        })
    }

    proptest! {
        /// At each instant the one that began last, if it has not ended.
        #[test]
        fn the_latest_one_counts(spans in spans()) {
            let apart = apart(spans.clone());
            for pair in apart.windows(2) {
                prop_assert!(pair[0].to <= pair[1].from);
            }
            for time in -1..100 {
                let runs = |span: &&Running| span.from <= time && time < span.to;
                let last = spans.iter().filter(runs).max_by_key(|span| (span.from, span.stands, span.collection));
                let found: Vec<_> = apart.iter().filter(runs).collect();
                prop_assert_eq!(found.len(), usize::from(last.is_some()));
                if let (Some(last), Some(found)) = (last, found.first()) {
                    prop_assert_eq!((found.collection, found.stands), (last.collection, last.stands));
                }
            }
        }
    }
}
