//! The note for inclusive figures that are too small because stacks lack callers.

use rustc_hash::{FxHashMap, FxHashSet};
use tracesift_archive::Error;
use tracesift_trace::ProcessId;
use tracesift_trace::rows::{ProcessRow, StackEndRow, stack_ends};

use crate::recording::OpenRecording;

/// Shares below this are not worth a word, percent.
const WORTH: f64 = 5.0;
/// Samples of a process below which shares say little.
const MIN_SAMPLES: i64 = 20;
/// Processes that are named.
const NAMED: usize = 3;

/// How the stacks of a process end.
#[derive(Clone, Copy, Debug, Default)]
struct Ends {
    all: i64,
    early: i64,
    /// The most frequent kind of early ends.
    worst: (i64, i8),
}

/// One line about those of the processes whose stacks end early, for answers with inclusive figures: how many, of whom, and what helps.
pub(crate) fn note<'a>(
    recording: &OpenRecording,
    processes: impl IntoIterator<Item = &'a ProcessRow>,
) -> Result<Option<String>, Error> {
    let rows: Vec<StackEndRow> = recording.archive().rows()?;
    if rows.is_empty() {
        return Ok(None);
    }
    let mut ends: FxHashMap<ProcessId, Ends> = FxHashMap::default();
    for row in rows {
        ends.entry(row.process).or_default().add(&row);
    }
    let mut seen = FxHashSet::default();
    let mut found: Vec<(&ProcessRow, Ends)> = processes
        .into_iter()
        .filter(|row| seen.insert(row.process))
        .filter_map(|row| Some((row, *ends.get(&row.process)?)))
        .filter(|(_, ends)| ends.all >= MIN_SAMPLES && ends.share() > WORTH)
        .collect();
    found.sort_by_key(|(row, ends)| (std::cmp::Reverse(ends.early), row.process));
    let Some((_, largest)) = found.first() else { return Ok(None) };
    let named =
        found.iter().take(NAMED).map(|(row, ends)| format!("{:.0} % of {}({})", ends.share(), row.name, row.pid));
    let mut text = format!("stacks that end early: {}", named.collect::<Vec<_>>().join(", "));
    if found.len() > NAMED {
        text.push_str(&format!(" and {} more", found.len() - NAMED));
    }
    text.push_str(&format!("; their callers have too little time. {}", cure(largest.worst.1)));
    Ok(Some(text))
}

/// What helps against most of the early ends.
fn cure(end: i8) -> &'static str {
    match end {
        stack_ends::CUT => "Most go beyond the copy of the stack: record with --call-graph dwarf,65528",
        stack_ends::WITHOUT_FILE => "Most files were not here: extract with --sysroot, `dump stats` names them",
        stack_ends::JIT_CODE => {
            "Most end in code made at run time: let the program keep frame pointers; perf-PID.map names its functions"
        }
        stack_ends::NO_FRAME_POINTERS => "The program keeps no frame pointers: record with --call-graph dwarf",
        stack_ends::TOO_LONG => "Most are deeper than 512 frames",
        _ => "Most end in code without unwind information: `dump stats` has an example",
    }
}

/// The share of the sampled stacks that end early, of these processes or of all, in percent; `None` where the recording does not tell how
/// stacks end, or has too few.
pub(crate) fn early_share(recording: &OpenRecording, of: Option<&[ProcessId]>) -> Result<Option<f64>, Error> {
    let rows: Vec<StackEndRow> = recording.archive().rows()?;
    let mut ends = Ends::default();
    rows.iter().filter(|row| of.is_none_or(|of| of.contains(&row.process))).for_each(|row| ends.add(row));
    Ok((ends.all >= MIN_SAMPLES).then(|| ends.share()))
}

impl Ends {
    fn add(&mut self, row: &StackEndRow) {
        self.all = self.all.saturating_add(row.samples);
        if row.end != stack_ends::WHOLE {
            self.early = self.early.saturating_add(row.samples);
            self.worst = self.worst.max((row.samples, row.end));
        }
    }

    /// Early ends in percent.
    fn share(&self) -> f64 {
        self.early as f64 / self.all.max(1) as f64 * 100.0
    }
}
