//! `dump timeline` of the shared recordings: from the timeline tables, from rows, and by plain sums over all rows.

use std::collections::BTreeMap;

use tracesift_analysis::timeline::{OffCpuKind, Watched};
use tracesift_analysis::{Accounting, RecordingFacts, Run, Span, SwitchWithoutPriorities};
use tracesift_archive::Archive;
use tracesift_ask::Ask;
use tracesift_ask::answer::{Section, Value};
use tracesift_ask::processes::is_idle;
use tracesift_ask::question::timeline::{Buckets, LaneKind, Measure, Question, Sort, Way};
use tracesift_ask::recording::{OpenRecording, Source};
use tracesift_extract::{Options, Outcome, extract, unwatched};
use tracesift_grammar::TimeRange;
use tracesift_testing::archive::Random;
use tracesift_testing::recording::input_of;
use tracesift_trace::rows::{
    ContextSwitchRow, CpuSampleRow, DiskIoRow, DiskOperation, EventRow, ProcessRow, ThreadRow, TimelineCpuRow,
    TimelineDiskRow, TimelineEventRow, TimelineProcessRow, TimelineThreadRow,
};
use tracesift_trace::{ProcessId, ThreadId};

use super::{linux_recordings, recordings};
use crate::cells::{integer, text, value};

/// Time ranges of each recording; `TRACESIFT_RANGES` names another number.
const RANGES: usize = 20;

/// What is asked: measures that come from tables.
const ASKED: [(LaneKind, Measure); 24] = [
    (LaneKind::Process, Measure::Cpu),
    (LaneKind::Process, Measure::Samples),
    (LaneKind::Process, Measure::Run),
    (LaneKind::Process, Measure::Wait),
    (LaneKind::Process, Measure::Ready),
    (LaneKind::Process, Measure::Open),
    (LaneKind::Process, Measure::Unknown),
    (LaneKind::Process, Measure::Switches),
    (LaneKind::Thread, Measure::Run),
    (LaneKind::Thread, Measure::Wait),
    (LaneKind::Thread, Measure::Ready),
    (LaneKind::Thread, Measure::Open),
    (LaneKind::Thread, Measure::Unknown),
    (LaneKind::Thread, Measure::Switches),
    (LaneKind::Cpu, Measure::Run),
    (LaneKind::Disk, Measure::Bytes),
    (LaneKind::Disk, Measure::ReadBytes),
    (LaneKind::Disk, Measure::WriteBytes),
    (LaneKind::Disk, Measure::Operations),
    (LaneKind::Disk, Measure::Reads),
    (LaneKind::Disk, Measure::Writes),
    (LaneKind::Disk, Measure::Busy),
    (LaneKind::Disk, Measure::Queue),
    (LaneKind::Event, Measure::Count),
];

/// A lane: its kind, its number, and the name of an event.
type Lane = (i64, String);

/// A piece of time or an amount at an instant, of a thread.
#[derive(Clone, Copy)]
struct Piece {
    measure: Measure,
    thread: ThreadId,
    cpu: Option<i16>,
    span: Span,
    amount: i64,
}

/// All that threads do in a recording.
#[derive(Default)]
struct Pieces(Vec<Piece>);

impl Watched for Pieces {
    fn run(&mut self, run: Run) {
        let piece = Piece { measure: Measure::Run, thread: run.thread, cpu: run.cpu, span: run.span, amount: 0 };
        self.0.push(piece);
    }

    fn off(&mut self, thread: ThreadId, kind: OffCpuKind, span: Span) {
        let measure = match kind {
            OffCpuKind::Wait => Measure::Wait,
            OffCpuKind::Ready => Measure::Ready,
            OffCpuKind::Open => Measure::Open,
            OffCpuKind::Unknown => Measure::Unknown,
        };
        self.0.push(Piece { measure, thread, cpu: None, span, amount: 0 });
    }

    fn switch_in(&mut self, thread: ThreadId, time: i64) {
        let span = Span::new(time, time);
        self.0.push(Piece { measure: Measure::Switches, thread, cpu: None, span, amount: 1 });
    }
}

/// A recording, whole in memory.
struct Whole {
    recording: OpenRecording,
    pieces: Pieces,
    process_of: BTreeMap<ThreadId, ProcessId>,
    names: BTreeMap<ProcessId, (String, i64, bool)>,
    tids: BTreeMap<ThreadId, i64>,
    samples: Vec<CpuSampleRow>,
    disk: Vec<DiskIoRow>,
    events: Vec<EventRow>,
}

impl Whole {
    fn of(archive: &Archive) -> Self {
        let recording = OpenRecording::open(&Source::archive(archive.path().to_owned())).expect("opened");
        let threads: Vec<ThreadRow> = archive.rows().expect("threads");
        let processes: Vec<ProcessRow> = archive.rows().expect("processes");
        let mut pieces = Pieces::default();
        if archive.info().has_switches && archive.row_count::<ContextSwitchRow>() > 0 {
            let mut accounting = Accounting::new(&RecordingFacts::from(archive.info()), Span::ALL, &threads);
            let rows: Vec<SwitchWithoutPriorities> = archive.rows().expect("switches");
            rows.iter().for_each(|row| accounting.switch_watched(*row, &mut pieces));
            accounting.finish_watched(&mut pieces);
        }
        Self {
            pieces,
            process_of: threads.iter().map(|row| (row.thread, row.process)).collect(),
            tids: threads.iter().map(|row| (row.thread, row.tid)).collect(),
            names: processes.iter().map(|row| (row.process, (row.name.clone(), row.pid, is_idle(row)))).collect(),
            samples: archive.rows().expect("samples"),
            disk: archive.rows().expect("disk operations"),
            events: archive.rows().expect("events"),
            recording,
        }
    }

    /// The lane of a process; `None`: the idle loop.
    fn process(&self, process: ProcessId) -> Option<Lane> {
        let (name, pid, is_idle) = self.names.get(&process)?;
        (!is_idle).then(|| (*pid, name.clone()))
    }

    /// Adds the time in which disks had an operation under way.
    fn busy(&self, sums: &mut Sums) {
        let mut by_disk: BTreeMap<i32, Vec<Span>> = BTreeMap::new();
        for row in &self.disk {
            by_disk.entry(row.disk).or_default().push(Span::new(row.start, row.time));
        }
        for (disk, mut spans) in by_disk {
            spans.sort_by_key(|span| span.start);
            let mut until = i64::MIN;
            for span in spans {
                let from = span.start.max(until);
                if from < span.end {
                    sums.span(&(disk.into(), String::new()), Span::new(from, span.end));
                    until = span.end;
                }
            }
        }
    }

    /// Figures of the buckets of all lanes, by plain sums over all pieces.
    fn sums(&self, lane: LaneKind, measure: Measure, range: Span, (from, width): (i64, i64), count: usize) -> Sums {
        let mut sums = Sums { lanes: BTreeMap::new(), range, from, width, count };
        for piece in self.pieces.0.iter().filter(|piece| piece.measure == measure) {
            let Some(process) = self.process_of.get(&piece.thread) else { continue };
            let Some((pid, name)) = self.process(*process) else { continue };
            let lane = match lane {
                LaneKind::Process => Some((pid, name)),
                LaneKind::Thread => self.tids.get(&piece.thread).map(|tid| (*tid, name)),
                _ => piece.cpu.map(|cpu| (i64::from(cpu), String::new())),
            };
            let Some(lane) = lane else { continue };
            if measure == Measure::Switches {
                sums.at(lane, piece.span.start, piece.amount);
            } else {
                sums.span(&lane, piece.span);
            }
        }
        for row in &self.samples {
            let amount = if measure == Measure::Cpu { row.weight } else { 1 };
            if let Some(lane) = self.process(row.process).filter(|_| matches!(measure, Measure::Cpu | Measure::Samples))
            {
                sums.at(lane, row.time, amount);
            }
        }
        for row in self.disk.iter().filter(|_| lane == LaneKind::Disk) {
            let lane = (i64::from(row.disk), String::new());
            let (is_read, is_write) = (row.operation == DiskOperation::Read, row.operation == DiskOperation::Write);
            match measure {
                Measure::Bytes => sums.at(lane, row.time, row.size),
                Measure::Operations => sums.at(lane, row.time, 1),
                Measure::ReadBytes if is_read => sums.at(lane, row.time, row.size),
                Measure::WriteBytes if is_write => sums.at(lane, row.time, row.size),
                Measure::Reads if is_read => sums.at(lane, row.time, 1),
                Measure::Writes if is_write => sums.at(lane, row.time, 1),
                Measure::Queue => sums.span(&lane, Span::new(row.start, row.time)),
                _ => {}
            }
        }
        if measure == Measure::Busy {
            self.busy(&mut sums);
        }
        for row in self.events.iter().filter(|_| lane == LaneKind::Event) {
            sums.at((0, format!("{} {}", row.provider, row.event)), row.time, 1);
        }
        sums
    }
}

/// Sums by lane and bucket.
struct Sums {
    lanes: BTreeMap<Lane, Vec<i64>>,
    range: Span,
    from: i64,
    width: i64,
    count: usize,
}

impl Sums {
    fn at(&mut self, lane: Lane, time: i64, amount: i64) {
        if self.range.contains(time) && amount != 0 {
            let place = usize::try_from((time - self.from) / self.width).expect("a bucket");
            self.lanes.entry(lane).or_insert_with(|| vec![0; self.count])[place] += amount;
        }
    }

    fn span(&mut self, lane: &Lane, span: Span) {
        let span = span.intersect(self.range);
        let mut at = span.start;
        while at < span.end {
            let place = (at - self.from) / self.width;
            let end = span.end.min(self.from + (place + 1) * self.width);
            self.at(lane.clone(), at, end - at);
            at = end;
        }
    }
}

/// The figures of an answer. Two instances of a process can have the same name and number.
fn figures(question: &Question, section: &Section) -> BTreeMap<Lane, Vec<i64>> {
    let mut lanes: BTreeMap<Lane, Vec<i64>> = BTreeMap::new();
    for row in &section.rows {
        let Value::Integers(values) = value(question, row, "values") else { panic!("no values") };
        let lane = match question.lane {
            LaneKind::Process => (integer(question, row, "pid"), text(question, row, "process")),
            LaneKind::Thread => (integer(question, row, "tid"), text(question, row, "process")),
            LaneKind::Cpu => (integer(question, row, "cpu"), String::new()),
            LaneKind::Disk => {
                let text = text(question, row, "disk");
                let number = text.split_once(':').map_or_else(
                    || text.parse::<i64>(),
                    |(major, minor)| Ok(major.parse::<i64>()? << 20 | minor.parse::<i64>()?),
                );
                (number.expect("a number"), String::new())
            }
            _ => (0, format!("{} {}", text(question, row, "provider"), text(question, row, "event"))),
        };
        let sums = lanes.entry(lane).or_insert_with(|| vec![0; values.len()]);
        sums.iter_mut().zip(values).for_each(|(sum, value)| *sum += value);
    }
    lanes
}

/// Some range of the recording, and some buckets in it.
fn some(random: &mut Random, end: i64) -> (TimeRange, Buckets) {
    let limit = usize::try_from(end).unwrap_or(0) + 20;
    let (one, other) = (random.below(limit) as i64 - 5, random.below(limit) as i64 - 5);
    let time = match random.below(8) {
        0 => TimeRange::default(),
        _ => TimeRange { start: Some(one.min(other)), end: Some(one.max(other) + 1) },
    };
    let buckets = match random.below(3) {
        0 => Buckets::Length(1 << (end.max(1 << 14).ilog2() as usize - random.below(9))),
        1 => Buckets::Length(end / 40 + 1 + random.below(limit / 3 + 1) as i64),
        _ => Buckets::Number(u16::try_from(1 + random.below(40)).expect("small")),
    };
    (time, buckets)
}

/// Compares answers of a recording. Numbers of lanes, of answers, and of answers that read other rows with tables than without.
fn check(archive: &Archive, name: &str, ranges: usize) -> [usize; 3] {
    let whole = Whole::of(archive);
    let (mut random, mut counts) = (Random(7), [0; 3]);
    let has_any = |(lane, measure): &(LaneKind, Measure)| {
        let question = Question { lane: *lane, measure: Some(*measure), ..Question::default() };
        !question.section(&whole.recording).expect("an answer").rows.is_empty()
    };
    let asked: Vec<(LaneKind, Measure)> = ASKED.into_iter().filter(has_any).collect();
    for (lane, measure) in asked.iter().copied().cycle().take(ranges) {
        let (time, buckets) = some(&mut random, whole.recording.file.end);
        let question =
            Question { time, lane, measure: Some(measure), buckets, sort: Some(Sort::Lane), ..Question::default() };
        let ask = |way: Way| {
            let before = archive_rows(&whole.recording);
            let section = Question { way, ..question.clone() }.section(&whole.recording).expect("an answer");
            (section, archive_rows(&whole.recording) - before)
        };
        let ((by_rows, rows), (by_tables, rows_with_tables)) = (ask(Way::Rows), ask(Way::Tables));
        assert_eq!(by_rows, by_tables, "{name}, {question:?}");
        let found = figures(&question, &by_rows);
        if let (Some(first), Some(row)) = (found.values().next(), by_rows.rows.first()) {
            let grid = (integer(&question, row, "from_ns"), integer(&question, row, "bucket_ns"));
            let (start, end) = time.bounds();
            let file = &whole.recording.file;
            let range = Span::new(start.max(file.start), end.min(file.end + 1));
            let expected = whole.sums(lane, measure, range, grid, first.len());
            assert_eq!(found, expected.lanes, "{name}, {question:?}");
            counts[1] += 1;
        }
        counts[0] += found.len();
        counts[2] += usize::from(rows_with_tables != rows);
    }
    counts
}

fn archive_rows(recording: &OpenRecording) -> u64 {
    recording.archive().rows_read()
}

#[test]
fn timelines_of_shared_recordings_are_plain_sums_of_their_rows() {
    let Some(cases) = tracesift_fixtures::cases("") else { return };
    let ranges = std::env::var("TRACESIFT_RANGES").ok().and_then(|text| text.parse().ok()).unwrap_or(RANGES);
    let mut files = recordings(&cases.join("etl"));
    files.extend(linux_recordings(&cases.join("perf")));
    let (mut counts, mut tables, mut archives) = ([0; 3], [0; 5], 0);
    for file in files {
        let directory = tempfile::tempdir().expect("temporary directory");
        let mut options = Options { out: Some(directory.path().to_owned()), ..Options::default() };
        options.budget.group_rows = Some(500);
        (options.budget.long_from, options.budget.rows_of_bucket, options.budget.rows_of_tile) = (0, 5, 0);
        // Other tests look at what is no recording.
        let Ok(extraction) = extract(&input_of(&file), &options, &mut unwatched) else { continue };
        for outcome in extraction.outcomes {
            let Outcome::Extracted(report) = outcome else { continue };
            let archive = Archive::open(&report.archive).expect("an archive");
            let found = check(&archive, &file.display().to_string(), ranges);
            counts.iter_mut().zip(found).for_each(|(count, found)| *count += found);
            let rows = [
                archive.row_count::<TimelineProcessRow>(),
                archive.row_count::<TimelineThreadRow>(),
                archive.row_count::<TimelineCpuRow>(),
                archive.row_count::<TimelineDiskRow>(),
                archive.row_count::<TimelineEventRow>(),
            ];
            tables.iter_mut().zip(rows).for_each(|(sum, rows)| *sum += rows);
            archives += 1;
        }
    }
    println!("{archives} archives, {counts:?} lanes, answers and answers from tables, {tables:?} rows of tables");
    assert!(archives > 50 && counts[1] > 10 * archives && counts[2] > 5 * archives, "{archives} archives, {counts:?}");
    assert!(tables.iter().all(|rows| *rows > 0), "{tables:?}");
}
