//! The figures of lanes that are of the machine: CPUs, disks, events, clock rates, counters, stack tags.

use std::mem::discriminant;

use rustc_hash::FxHashMap;
use tracesift_analysis::timeline::Grid;
use tracesift_ask::question::timeline::{self, LaneKind, Measure, Question, Row};
use tracesift_ask::recording::OpenRecording;
use tracesift_ask::time_format::seconds;
use tracesift_grammar::TimeRange;

use super::columns::Figures;
use super::{Group, Lane};
use crate::failure::Failure;
use crate::lane::list::kinds;
use crate::state::State;

/// Whether the figures of two lanes come from one reading.
pub(crate) fn is_same_kind(a: &Lane, b: &Lane) -> bool {
    match (a, b) {
        (Lane::Tag(a, _), Lane::Tag(b, _)) => a == b,
        (Lane::Group(a), Lane::Group(b)) => a == b,
        (Lane::Rows(a), Lane::Rows(b)) => a == b,
        _ => discriminant(a) == discriminant(b),
    }
}

/// The unit of a measure.
pub(crate) fn unit(measure: Measure) -> &'static str {
    match measure {
        Measure::Cpu | Measure::Run | Measure::Wait | Measure::Ready | Measure::Open | Measure::Unknown => "ns",
        Measure::Bytes => "bytes",
        Measure::Frequency => "khz",
        Measure::Samples | Measure::Switches | Measure::Operations | Measure::Count | Measure::Counter => "count",
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
) -> Result<Question, Failure> {
    let of_cpus = if recording.info().has_switches { Measure::Run } else { Measure::Cpu };
    let (kind, usual) = match lane {
        Lane::Cpu(_) | Lane::Group(Group::Cpus) => (LaneKind::Cpu, of_cpus),
        Lane::Group(Group::Processes) => {
            (LaneKind::Cpu, if recording.file.has_samples { Measure::Cpu } else { of_cpus })
        }
        Lane::Disk(_) | Lane::Group(Group::Disks) => (LaneKind::Disk, Measure::Bytes),
        Lane::Event(_) | Lane::Group(Group::Events) => (LaneKind::Event, Measure::Count),
        Lane::Frequency(_) => (LaneKind::Cpu, Measure::Frequency),
        Lane::Counter(_) => (LaneKind::Process, Measure::Counter),
        Lane::Tag(..) => (LaneKind::Tag, Measure::Cpu),
        _ => return Err(Failure::bad(format!("lane: `{lane}` has no figures by buckets"))),
    };
    let measure = match lane {
        // The lane is of this measure.
        Lane::Frequency(_) | Lane::Counter(_) => usual,
        _ => measure.unwrap_or(usual),
    };
    if !measure.is_of(kind) {
        return Err(Failure::bad(format!("measure: such lanes have no `{}`", measure.word())));
    }
    let tags = match lane {
        Lane::Tag(file, _) => Some(tags(state, file)?.tags.clone()),
        _ => None,
    };
    Ok(Question { lane: kind, measure: Some(measure), tags, ..Question::default() })
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
    let range = grid.range();
    let time = TimeRange { start: Some(range.start), end: Some(range.end) };
    Ok(Question { time, ..question }.lanes(recording, grid)?)
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
    let question = source(state, recording, first, measure)?;
    let (kind, measure) = (question.lane, question.measure.unwrap_or(Measure::Cpu));
    let is_from_tables = question.is_from_tables(recording, grid)?;
    let nothing =
        || Failure::missing(format!("lane: the recording has nothing for `{first}`, or too much for so many columns"));
    let found = rows(question, recording, grid)?.ok_or_else(nothing)?;
    let kinds = match first {
        Lane::Event(_) => kinds(state, recording)?,
        _ => &[],
    };
    let mut all = FxHashMap::default();
    for lane in lanes {
        let mut values = vec![0; grid.buckets()];
        for row in found.iter().filter(|row| is_of(lane, row, kinds)) {
            add(&mut values, row);
        }
        let more = match lane {
            Lane::Tag(file, _) => vec!["--tag-file", file.as_str()],
            Lane::Counter(name) => vec!["--counter", name.as_str()],
            _ => Vec::new(),
        };
        let words = words(kind_word(kind), measure, grid, &more);
        let at_once = match lane {
            Lane::Group(Group::Cpus | Group::Processes) | Lane::Tag(..) => Some(i64::from(recording.info().cpu_count)),
            Lane::Cpu(_) => Some(1),
            _ => None,
        };
        let figures = Figures {
            is_from_tables,
            at_once,
            unit: unit(measure),
            series: vec![(measure.word(), values)],
            words: vec![(measure.word(), words)],
        };
        all.insert(lane.clone(), figures);
    }
    Ok(all)
}

fn kind_word(kind: LaneKind) -> &'static str {
    match kind {
        LaneKind::Process => "process",
        LaneKind::Thread => "thread",
        LaneKind::Cpu => "cpu",
        LaneKind::Disk => "disk",
        LaneKind::Event => "event",
        LaneKind::Tag => "tag",
    }
}

/// Whether a row of an answer counts for a lane.
fn is_of(lane: &Lane, row: &Row, kinds: &[(String, String)]) -> bool {
    match (lane, row.lane()) {
        (Lane::Cpu(cpu) | Lane::Frequency(cpu), timeline::Lane::Cpu(of)) => cpu == of,
        // The question has rows of one kind alone.
        (Lane::Group(_), _) => true,
        (Lane::Disk(disk), timeline::Lane::Disk(of)) => disk == of,
        (Lane::Event(number), timeline::Lane::Event(provider, event)) => {
            kinds.get(*number).is_some_and(|(of, name)| of == provider && name == event)
        }
        (Lane::Counter(name), _) => row.counter() == Some(name),
        (Lane::Tag(_, tag), timeline::Lane::Tag(of)) => tag == of,
        _ => false,
    }
}

fn add(values: &mut [i64], row: &Row) {
    for (value, figure) in values.iter_mut().zip(row.values()) {
        *value = value.saturating_add(*figure);
    }
}
