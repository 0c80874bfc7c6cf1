//! The figures of lanes that are of the machine: CPUs, disks, events, clock rates, counters, stack tags.

use std::mem::discriminant;

use rustc_hash::FxHashMap;
use tracesift_analysis::timeline::Grid;
use tracesift_ask::question::timeline::{self, LaneKind, Measure, Question, Row};
use tracesift_ask::recording::OpenRecording;
use tracesift_ask::time_format::seconds;
use tracesift_grammar::TimeRange;

use super::columns::Figures;
use super::{Group, Lane, disks, peaks};
use crate::failure::Failure;
use crate::lane::list::kinds;
use crate::state::State;

/// Whether the figures of two lanes come from one reading.
pub(crate) fn is_same_kind(a: &Lane, b: &Lane) -> bool {
    match (a, b) {
        (Lane::Tag(a, _), Lane::Tag(b, _)) => a == b,
        (Lane::Group(a), Lane::Group(b)) => a == b,
        (Lane::Rows(a), Lane::Rows(b)) => a == b,
        (Lane::DiskPart(_, a), Lane::DiskPart(_, b)) => a == b,
        _ => discriminant(a) == discriminant(b),
    }
}

/// The unit of a measure.
pub(crate) fn unit(measure: Measure) -> &'static str {
    match measure {
        Measure::Cpu | Measure::Run | Measure::Wait | Measure::Ready | Measure::Open | Measure::Unknown => "ns",
        Measure::Busy | Measure::Queue | Measure::Time => "ns",
        Measure::Bytes | Measure::ReadBytes | Measure::WriteBytes => "bytes",
        Measure::Frequency => "khz",
        Measure::Samples | Measure::Switches | Measure::Count | Measure::Counter => "count",
        Measure::Operations | Measure::Reads | Measure::Writes => "count",
    }
}

/// The command line that has the figures of some buckets. Those that start at a multiple of their length are named by it: then it does
/// not matter where the recorded time cuts them.
pub(crate) fn words(lane: &str, measure: Measure, grid: Grid, more: &[&str]) -> Vec<String> {
    let buckets = match grid.first() % grid.width() {
        0 => ["--bucket".to_owned(), format!("{}ns", grid.width())],
        _ => ["--buckets".to_owned(), grid.buckets().to_string()],
    };
    let time = time_option(grid.range().start, grid.range().end);
    let all = ["dump", "timeline", "--lane", lane, "--measure", measure.word(), &time];
    let all = all.iter().map(|word| (*word).to_owned()).chain(buckets);
    all.chain(more.iter().map(|word| (*word).to_owned())).collect()
}

/// `--time` of a range, to the nanosecond.
pub(crate) fn time_option(start: i64, end: i64) -> String {
    let edge = |time: i64| {
        let text = seconds(time, 9);
        format!("{}s", text.trim_end_matches('0').trim_end_matches('.'))
    };
    format!("--time={}..{}", edge(start), edge(end))
}

/// What has the figures of lanes of a kind.
fn source(
    state: &State,
    recording: &OpenRecording,
    lane: &Lane,
    measure: Option<Measure>,
) -> Result<(Question, Vec<Measure>), Failure> {
    let of_cpus = if recording.info().has_switches { Measure::Run } else { Measure::Cpu };
    let (kind, usual) = match lane {
        Lane::Cpu(_) | Lane::Group(Group::Cpus) => (LaneKind::Cpu, vec![of_cpus]),
        // The timeline tables have samples by process alone.
        Lane::Group(Group::Processes) if recording.file.has_samples => (LaneKind::Process, vec![Measure::Cpu]),
        Lane::Group(Group::Processes) => (LaneKind::Cpu, vec![of_cpus]),
        Lane::Disk(_) | Lane::Group(Group::Disks) => (LaneKind::Disk, disks::USUAL.to_vec()),
        Lane::DiskPart(_, part) => (LaneKind::Disk, part.measures().iter().take(1).copied().collect()),
        Lane::Event(_) | Lane::Group(Group::Events) => (LaneKind::Event, vec![Measure::Count]),
        Lane::Frequency(_) => (LaneKind::Cpu, vec![Measure::Frequency]),
        Lane::Counter(_) => (LaneKind::Process, vec![Measure::Counter]),
        Lane::Tag(..) => (LaneKind::Tag, vec![Measure::Cpu]),
        _ => return Err(Failure::bad(format!("lane: `{lane}` has no figures by buckets"))),
    };
    let can_show = |measure: &Measure| match lane {
        // The lane is of this measure.
        Lane::Frequency(_) | Lane::Counter(_) => false,
        Lane::DiskPart(_, part) => part.measures().contains(measure),
        // A group shows a sum, and these have none.
        Lane::Group(_) if matches!(measure, Measure::Frequency | Measure::Counter) => false,
        _ => measure.is_of(kind),
    };
    // A request is about lanes of many kinds: those that do not have the measure show what they have.
    let measures = measure.filter(can_show).map_or(usual, |measure| vec![measure]);
    let tags = match lane {
        Lane::Tag(file, _) => Some(tags(state, file)?.tags.clone()),
        _ => None,
    };
    Ok((Question { lane: kind, tags, ..Question::default() }, measures))
}

/// A file of stack tags of the session.
pub(crate) fn tags<'a>(state: &'a State, id: &str) -> Result<&'a crate::recording::TagFile, Failure> {
    state
        .tag_files
        .iter()
        .find(|file| file.id == id)
        .ok_or_else(|| Failure::missing("tag file: there is none of this name"))
}

/// The lanes that a question has in a grid; `None`: the recording has nothing of the kind.
pub(crate) fn rows(question: Question, recording: &OpenRecording, grid: Grid) -> Result<Option<Vec<Row>>, Failure> {
    Ok(Question { time: of_grid(grid), ..question }.lanes(recording, grid)?)
}

fn of_grid(grid: Grid) -> TimeRange {
    let range = grid.range();
    TimeRange { start: Some(range.start), end: Some(range.end) }
}

/// The figures of lanes, all of one kind.
pub(crate) fn figures(
    state: &State,
    recording: &OpenRecording,
    lanes: &[Lane],
    measure: Option<Measure>,
    grid: Grid,
) -> Result<FxHashMap<Lane, Figures>, Failure> {
    let Some(first) = lanes.first() else { return Ok(FxHashMap::default()) };
    let (question, measures) = source(state, recording, first, measure)?;
    let kinds = match first {
        Lane::Event(_) => kinds(state, recording)?,
        _ => &[],
    };
    let (mut all, mut shown): (FxHashMap<Lane, Figures>, Vec<Measure>) = (FxHashMap::default(), Vec::new());
    for measure in measures {
        let question = Question { measure: Some(measure), ..question.clone() };
        let is_from_tables = question.is_from_tables(recording, grid)?;
        let lane_word = question.lane.word();
        let question = Question { time: of_grid(grid), ..question };
        let found = match first {
            Lane::Group(_) => question.together(recording, grid)?.map(Found::Together),
            _ => question.lanes(recording, grid)?.map(Found::Rows),
        };
        let found = found.ok_or_else(|| {
            Failure::missing(format!("lane: the recording has nothing for `{first}`, or too much for so many columns"))
        })?;
        for lane in lanes {
            let values = found.values(lane, kinds, grid);
            let figures = all.entry(lane.clone()).or_insert_with(|| Figures {
                at_once: at_once(recording, lane, measure),
                unit: unit(measure),
                ..Figures::default()
            });
            figures.is_from_tables |= is_from_tables;
            figures.series.push((measure.word(), values));
            figures.words.push((measure.word(), words(lane_word, measure, grid, &more_words(lane))));
        }
        shown.push(measure);
    }
    // Of what is drawn one above the other the sum has a peak.
    if let Some(measure) = if shown == disks::USUAL { Some(Measure::Bytes) } else { shown.first().copied() } {
        peaks::add(recording, &Question { measure: Some(measure), ..question }, grid, &mut all)?;
    }
    Ok(all)
}

/// What a question has.
enum Found {
    /// Of all of its lanes: a group shows their sum.
    Together(Vec<i64>),
    Rows(Vec<Row>),
}

impl Found {
    /// The figures of a lane.
    fn values(&self, lane: &Lane, kinds: &[(String, String)], grid: Grid) -> Vec<i64> {
        let rows = match self {
            Self::Together(values) => return values.clone(),
            Self::Rows(rows) => rows,
        };
        let mut values = vec![0_i64; grid.buckets()];
        for row in rows.iter().filter(|row| is_of(lane, row, kinds)) {
            for (value, figure) in values.iter_mut().zip(row.values()) {
                *value = value.saturating_add(*figure);
            }
        }
        values
    }
}

/// Words of a command that are of one lane alone.
fn more_words(lane: &Lane) -> Vec<&str> {
    match lane {
        Lane::Tag(file, _) => vec!["--tag-file", file.as_str()],
        Lane::Counter(name) => vec!["--counter", name.as_str()],
        _ => Vec::new(),
    }
}

/// How many CPUs or disks can work for a lane at a time; `None`: its figures have no share.
fn at_once(recording: &OpenRecording, lane: &Lane, measure: Measure) -> Option<i64> {
    match lane {
        Lane::Group(Group::Cpus | Group::Processes) | Lane::Tag(..) => Some(i64::from(recording.info().cpu_count)),
        Lane::Cpu(_) => Some(1),
        Lane::Disk(_) | Lane::DiskPart(..) if measure == Measure::Busy => Some(1),
        _ => None,
    }
}

/// Whether a row of an answer counts for a lane.
fn is_of(lane: &Lane, row: &Row, kinds: &[(String, String)]) -> bool {
    match (lane, row.lane()) {
        (Lane::Cpu(cpu) | Lane::Frequency(cpu), timeline::Lane::Cpu(of)) => cpu == of,
        (Lane::Disk(disk) | Lane::DiskPart(disk, _), timeline::Lane::Disk(of)) => disk == of,
        (Lane::Event(number), timeline::Lane::Event(provider, event)) => {
            kinds.get(*number).is_some_and(|(of, name)| of == provider && name == event)
        }
        (Lane::Counter(name), _) => row.counter() == Some(name),
        (Lane::Tag(_, tag), timeline::Lane::Tag(of)) => tag == of,
        _ => false,
    }
}
