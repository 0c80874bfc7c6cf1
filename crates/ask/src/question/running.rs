//! Who ran on which CPU, and when: from context switches, else from CPU samples.

use std::collections::BTreeSet;

use rustc_hash::FxHashMap;
use tracesift_analysis::{AccountedSwitch, Accounting, RecordingFacts, Run, Span};
use tracesift_archive::Error;
use tracesift_grammar::TimeRange;
use tracesift_trace::rows::{ContextSwitchRow, CpuSampleRow, ThreadRow};
use tracesift_trace::{ProcessId, ThreadId, view};

use crate::recording::OpenRecording;

/// More CPUs only a forged recording has.
const MOST_CPUS: u32 = 4096;

/// A piece of CPU time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Work {
    /// A thread ran.
    Run(Span),
    /// A sample found it running.
    Sample {
        /// When.
        time: i64,
        /// The CPU time that the sample stands for, ns.
        weight: i64,
    },
}

view! {
    /// A sample with its CPU.
    #[derive(Clone, Copy, Debug)]
    struct Sample of CpuSampleRow { time, cpu, process, weight }
}

view! {
    /// The CPU of a switch.
    #[derive(Clone, Copy, Debug)]
    struct CpuOfSwitch of ContextSwitchRow { cpu }
}

view! {
    /// The CPU of a sample.
    #[derive(Clone, Copy, Debug)]
    struct CpuOfSample of CpuSampleRow { cpu }
}

/// The CPUs of the machine: all that work is seen on, and as many more as the recording tells of, the lowest numbers first.
pub(super) fn cpus(recording: &OpenRecording) -> Result<BTreeSet<i16>, Error> {
    let archive = recording.archive();
    let mut cpus = BTreeSet::new();
    if recording.info().has_switches {
        archive.scan(None, |row: &CpuOfSwitch| cpus.extend(row.cpu))?;
    } else {
        archive.scan(None, |row: &CpuOfSample| _ = cpus.insert(row.cpu))?;
    }
    cpus.retain(|cpu| *cpu >= 0);
    let count = recording.info().cpu_count.min(MOST_CPUS) as usize;
    for cpu in 0..=i16::MAX {
        if cpus.len() >= count {
            break;
        }
        cpus.insert(cpu);
    }
    Ok(cpus)
}

/// Visits all work in a range, with its process and its CPU. `None`: a thread ran all the time on a CPU that never switched.
pub(super) fn each(
    recording: &OpenRecording,
    range: TimeRange,
    visit: &mut dyn FnMut(ProcessId, Option<i16>, Work),
) -> Result<(), Error> {
    let archive = recording.archive();
    let (start, end) = range.bounds();
    if !recording.info().has_switches {
        return archive.scan((!range.is_everything()).then_some(start..end), |row: &Sample| {
            if (start..end).contains(&row.time) {
                visit(row.process, Some(row.cpu), Work::Sample { time: row.time, weight: row.weight });
            }
        });
    }
    let threads: Vec<ThreadRow> = archive.rows()?;
    let process_of: FxHashMap<ThreadId, ProcessId> = threads.iter().map(|row| (row.thread, row.process)).collect();
    let mut run = |run: Run| {
        if let Some(process) = process_of.get(&run.thread) {
            visit(*process, run.cpu, Work::Run(run.span));
        }
    };
    let mut accounting = Accounting::new(&RecordingFacts::from(recording.info()), Span::new(start, end), &threads);
    // Where a thread runs all through the range, rows around it say so.
    let time = (!range.is_everything()).then_some(start..end);
    archive.scan_around(time, |row: &AccountedSwitch| accounting.switch(row, &mut run))?;
    accounting.finish(&mut run);
    Ok(())
}
