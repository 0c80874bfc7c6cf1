//! Peaks of lanes: the largest base bucket inside of each column.

use rustc_hash::{FxHashMap, FxHashSet};
use tracesift_analysis::timeline::Grid;
use tracesift_ask::question::timeline::{self, Measure, Peaks, PeaksOfLane, Question};
use tracesift_ask::recording::OpenRecording;
use tracesift_grammar::TimeRange;
use tracesift_trace::ProcessId;

use super::columns::Figures;
use super::groups::pid_word;
use super::machine::words;
use super::people::People;
use super::{Group, Lane};
use crate::failure::Failure;

/// The peaks of a lane, of one measure.
#[derive(Clone, Debug)]
pub(crate) struct Peak {
    /// The word of the measure.
    pub(crate) name: &'static str,
    /// Length of a base bucket, ns.
    pub(crate) base: i64,
    pub(crate) values: PeaksOfLane,
    /// The command that has the base buckets.
    pub(crate) words: Vec<String>,
}

/// Gives lanes of processes, CPUs and disks their peaks, of the measure that a question names.
pub(crate) fn add(
    recording: &OpenRecording,
    question: &Question,
    grid: Grid,
    all: &mut FxHashMap<Lane, Figures>,
) -> Result<(), Failure> {
    if !all.keys().any(has_peaks) {
        return Ok(());
    }
    let measure = question.measure.unwrap_or(Measure::Cpu);
    let processes: FxHashSet<ProcessId> =
        all.keys().filter_map(|lane| if let Lane::Process(id) = lane { Some(*id) } else { None }).collect();
    let range = grid.range();
    let time = TimeRange { start: Some(range.start), end: Some(range.end) };
    let asked = Question { time, ..question.clone() };
    let Some(peaks) = asked.peaks(recording, grid, Some(&processes))? else { return Ok(()) };
    let people = if processes.is_empty() { None } else { Some(People::of(recording)?) };
    for (lane, figures) in all {
        let values = of_lane(&peaks, lane);
        if values.is_empty() {
            continue;
        }
        let pid = match lane {
            Lane::Process(process) => people.as_ref().and_then(|people| people.process(*process)).map(|row| row.pid),
            _ => None,
        };
        let pid = pid.map(pid_word);
        let more: Vec<&str> = pid.iter().flat_map(|pid| ["-p", pid.as_str()]).collect();
        figures.peak = Some(Peak {
            name: measure.word(),
            base: peaks.base.width(),
            values,
            words: words(question.lane.word(), measure, peaks.base, &more),
        });
    }
    Ok(())
}

/// Whether a lane is one of loads: of others the average says enough.
fn has_peaks(lane: &Lane) -> bool {
    let of_group = matches!(lane, Lane::Group(Group::Cpus | Group::Processes | Group::Disks));
    of_group || matches!(lane, Lane::Process(_) | Lane::Cpu(_) | Lane::Disk(_) | Lane::DiskPart(..))
}

/// Empty: it has none.
fn of_lane(peaks: &Peaks, lane: &Lane) -> PeaksOfLane {
    let is_it = |of: &timeline::Lane| match (lane, of) {
        (Lane::Process(process), timeline::Lane::Process(row)) => *process == row.process,
        (Lane::Cpu(cpu), timeline::Lane::Cpu(of)) => cpu == of,
        (Lane::Disk(disk) | Lane::DiskPart(disk, _), timeline::Lane::Disk(of)) => disk == of,
        _ => false,
    };
    match lane {
        Lane::Group(_) => peaks.all.clone(),
        _ => {
            peaks.lanes.iter().find(|(of, _)| is_it(of)).map_or_else(|| peaks.none.clone(), |(_, peaks)| peaks.clone())
        }
    }
}
