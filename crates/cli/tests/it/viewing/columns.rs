//! Figures of lanes by columns: those of the command that a frame names, those of the timeline tables, and plain sums of the rows.

use std::collections::BTreeMap;
use std::path::Path;

use serde_json::{Value, json};
use tempfile::TempDir;
use tracesift_analysis::timeline::{OffCpuKind, Watched};
use tracesift_analysis::{Accounting, RecordingFacts, Run, Span, SwitchWithoutPriorities};
use tracesift_archive::Archive;
use tracesift_extract::Options;
use tracesift_scenario::SplitMix64;
use tracesift_trace::ThreadId;
use tracesift_trace::rows::{ContextSwitchRow, CpuSampleRow, DiskIoRow, DiskOperation, ThreadRow};

use super::{Server, below};
use crate::recordings::{Raw, extracted, of_this_machine, scenarios, shared, variable};
use crate::support::program;

/// Ranges of each recording, and of each shared recording; `TRACESIFT_RANGES` names another number.
const RANGES: usize = 8;
const RANGES_OF_SHARED: usize = 1;

/// A frame.
struct Frame {
    head: Value,
    series: Vec<(String, Vec<f64>)>,
}

/// The frames of a response.
fn frames(bytes: &[u8]) -> Vec<Frame> {
    let of_names = |frame: tracesift_testing::frames::Frame| {
        let (head, columns) = (frame.head, frame.columns);
        let names = |key: &str| head[key].as_array().unwrap().clone();
        // The peaks behind the series are compared with their commands in the tests of the server.
        let all = names("series").len() + names("peaks").len();
        assert!(columns.len() == all || head["columns"] == 0, "{head}");
        let names = names("series").into_iter().map(|name| name.as_str().unwrap().to_owned());
        let series = names.zip(columns).collect();
        Frame { head, series }
    };
    tracesift_testing::frames::frames(bytes).into_iter().map(of_names).collect()
}

/// An HTTP body in pieces, or whole.
fn whole(head: &str, body: Vec<u8>) -> Vec<u8> {
    if !head.to_lowercase().contains("transfer-encoding: chunked") {
        return body;
    }
    let (mut rest, mut all) = (&body[..], Vec::new());
    loop {
        let end = rest.windows(2).position(|window| window == b"\r\n").unwrap();
        let length = usize::from_str_radix(std::str::from_utf8(&rest[..end]).unwrap(), 16).unwrap();
        if length == 0 {
            return all;
        }
        all.extend_from_slice(&rest[end + 2..end + 2 + length]);
        rest = &rest[end + 4 + length..];
    }
}

/// A lane with its name, and what lies around it.
#[derive(Clone, Debug)]
struct Lane {
    id: String,
    name: String,
    measures: Vec<String>,
}

/// All lanes of a recording.
fn lanes(server: &Server) -> Vec<Lane> {
    let mut all = Vec::new();
    let mut open: Vec<Value> = match server.send("GET /api/1/lanes?of=r0", "") {
        (200, _, body) => serde_json::from_slice::<Value>(&body).unwrap()["lanes"].as_array().unwrap().clone(),
        (_, _, body) => panic!("{}", String::from_utf8_lossy(&body)),
    };
    while let Some(lane) = open.pop() {
        let text = |key: &str| lane[key].as_str().unwrap_or_default().to_owned();
        if lane["children"] == true {
            open.extend(below(server, &text("id")));
        }
        let measures = lane["measures"].as_array().into_iter().flatten();
        let measures = measures.map(|measure| measure.as_str().unwrap().to_owned()).collect();
        all.push(Lane { id: text("id"), name: text("name"), measures });
    }
    // The figures of a part of a disk are those of the disk's row.
    let names: BTreeMap<String, String> = all.iter().map(|lane| (lane.id.clone(), lane.name.clone())).collect();
    for lane in all.iter_mut().filter(|lane| lane.id.starts_with("disk:")) {
        let disk = lane.id.splitn(3, ':').take(2).collect::<Vec<_>>().join(":");
        lane.name.clone_from(&names[&disk]);
    }
    all
}

/// What is asked.
#[derive(Clone, Copy, Debug)]
struct Asked {
    from: i64,
    to: i64,
    columns: i64,
}

impl Asked {
    /// Ranges as the page asks for them, whole columns from a multiple of their length, and any others.
    fn random(random: &mut SplitMix64, end: i64) -> Self {
        let columns = 1 + random.between(0, 60);
        let mut edge = || random.between(-end / 10, end + end / 10 + 2);
        let (one, other) = (edge(), edge());
        let (from, to) = (one.min(other), one.max(other).max(one.min(other) + 1));
        let width = (to - from) / columns;
        if width == 0 || random.chance(40) {
            return Self { from, to, columns };
        }
        let from = from.div_euclid(width) * width;
        Self { from, to: from + width * columns, columns }
    }
}

/// The frames of lanes.
fn ask(server: &Server, asked: Asked, lanes: &[&Lane], measure: Option<&str>) -> Option<Vec<Frame>> {
    let lanes: Vec<&str> = lanes.iter().map(|lane| lane.id.as_str()).collect();
    let Asked { from, to, columns } = asked;
    let body =
        json!({ "recording": "r0", "from": from, "to": to, "columns": columns, "lanes": lanes, "measure": measure });
    let (status, head, body) = server.send("POST /api/1/columns", &body.to_string());
    (status == 200).then(|| frames(&whole(&head, body)))
}

/// Whether a row of `dump timeline` counts for a series of a lane.
fn is_of(row: &Value, lane: &Lane, series: &str) -> bool {
    let (kind, rest) = lane.id.split_once(':').unwrap_or((&lane.id, ""));
    match kind {
        "process" => row["lane"].as_str() == Some(&lane.name),
        "thread" => row["lane"].as_str() == Some(&lane.name),
        // Where a recording does not tell the CPU, the page's lane has the number −1.
        "cpu" | "frequency" => row["cpu"].as_i64() == rest.parse().ok().filter(|cpu| *cpu >= 0),
        "disk" | "event" => row["lane"].as_str() == Some(&lane.name),
        "counter" => row["counter"].as_str() == Some(rest),
        "network" | "memory" => row["kind"].as_str() == Some(series),
        "region" => row["kind"].as_str() == Some(rest),
        "tag" => row["stack_tag"].as_str() == Some(&lane.name),
        _ => true,
    }
}

/// The rows that a command prints.
fn printed(directory: &Path, words: &[&str], file: &str) -> (Vec<Value>, Vec<String>) {
    let mut arguments = words.to_vec();
    arguments.insert(2, file);
    arguments.extend(["--format", "json"]);
    let output = program(directory, &arguments).output().unwrap();
    let rows = serde_json::from_slice(&output.stdout)
        .unwrap_or_else(|_| panic!("{words:?}: {}", String::from_utf8_lossy(&output.stderr)));
    (rows, arguments.iter().map(|word| (*word).to_owned()).collect())
}

/// Holds a series against the command that a frame names. Whether it named one of timelines.
fn compare_with_command(
    directory: &Path,
    file: &str,
    frame: &Frame,
    lane: &Lane,
    is_alone: bool,
    name: &str,
    values: &[f64],
) -> bool {
    // A range outside of the recorded time has no figures, and so no command.
    let Some(words) = frame.head["words"][name].as_array().filter(|_| !values.iter().all(|value| value.is_nan()))
    else {
        return false;
    };
    let words: Vec<&str> = words.iter().map(|word| word.as_str().unwrap()).collect();
    if words[..2] != ["dump", "timeline"] {
        return false;
    }
    let (rows, said) = printed(directory, &words, file);
    let integer = |value: &Value| value.as_i64().unwrap();
    let (first, width) = (integer(&frame.head["first_ns"]), integer(&frame.head["bucket_ns"]));
    let mut candidates: Vec<BTreeMap<i64, i64>> = Vec::new();
    for row in rows.iter().filter(|row| is_of(row, lane, name)) {
        assert_eq!(integer(&row["bucket_ns"]), width, "{lane:?}: {said:?}");
        let place = |at: usize| integer(&row["from_ns"]) + width * at as i64;
        candidates.push(
            row["values"]
                .as_array()
                .unwrap()
                .iter()
                .enumerate()
                .map(|(at, value)| (place(at), integer(value)))
                .collect(),
        );
    }
    let figure = |sums: &BTreeMap<i64, i64>, start: i64| sums.get(&start).copied().unwrap_or(0);
    let agrees = |of: &[BTreeMap<i64, i64>]| {
        let known = of.iter().flat_map(BTreeMap::keys).all(|start| *start >= first && (*start - first) % width == 0);
        let mut all = values.iter().enumerate().filter(|(_, value)| !value.is_nan());
        known
            && all.all(|(at, value)| {
                of.iter().map(|sums| figure(sums, first + width * at as i64)).sum::<i64>() as f64 == *value
            })
    };
    // Two processes or threads with the same number and name have a row each.
    let found = match is_alone {
        true => agrees(&candidates),
        false => agrees(&[]) || candidates.iter().any(|one| agrees(std::slice::from_ref(one))),
    };
    assert!(found, "{lane:?}, {name}: {said:?}\n{values:?}\n{candidates:?}");
    true
}

/// Pieces of threads, by plain accounting over all rows.
#[derive(Default)]
struct Pieces(Vec<(&'static str, ThreadId, Span)>);

impl Watched for Pieces {
    fn run(&mut self, run: Run) {
        self.0.push(("run", run.thread, run.span));
    }

    fn off(&mut self, thread: ThreadId, kind: OffCpuKind, span: Span) {
        let name = match kind {
            OffCpuKind::Wait => "wait",
            OffCpuKind::Ready => "ready",
            OffCpuKind::Open => "open",
            OffCpuKind::Unknown => "unknown",
        };
        self.0.push((name, thread, span));
    }
}

/// What a recording has of threads and disks.
struct Rows {
    pieces: Pieces,
    threads: BTreeMap<ThreadId, i32>,
    samples: Vec<CpuSampleRow>,
    disk: Vec<DiskIoRow>,
    recorded: Span,
}

impl Rows {
    fn of(archive: &Archive, end: i64) -> Self {
        let threads: Vec<ThreadRow> = archive.rows().unwrap();
        let mut pieces = Pieces::default();
        if archive.info().has_switches && archive.row_count::<ContextSwitchRow>() > 0 {
            let mut accounting = Accounting::new(&RecordingFacts::from(archive.info()), Span::ALL, &threads);
            let rows: Vec<SwitchWithoutPriorities> = archive.rows().unwrap();
            rows.iter().for_each(|row| accounting.switch_watched(*row, &mut pieces));
            accounting.finish_watched(&mut pieces);
        }
        Self {
            pieces,
            threads: threads.iter().map(|row| (row.thread, row.process.0)).collect(),
            samples: archive.rows().unwrap(),
            disk: archive.rows().unwrap(),
            recorded: Span::new(archive.info().start_ns, end + 1),
        }
    }

    /// The figure of a lane in a column, where it is one of rows.
    fn sum(&self, lane: &Lane, name: &str, column: Span) -> Option<i64> {
        let (kind, rest) = lane.id.split_once(':')?;
        // A lane of a disk may have a figure behind its number.
        let number: i32 = rest.split(':').next()?.parse().ok()?;
        let is_thread = |thread: ThreadId| match kind {
            "process" => self.threads.get(&thread) == Some(&number),
            _ => thread.0 == number,
        };
        match (kind, name) {
            ("process" | "thread", "run" | "wait" | "ready" | "open" | "unknown") => {
                let of = self.pieces.0.iter().filter(|(of, thread, _)| *of == name && is_thread(*thread));
                Some(of.map(|(.., span)| span.intersect(column).length()).sum())
            }
            ("process" | "thread", "cpu") => {
                let is_it = |row: &&CpuSampleRow| match kind {
                    "process" => row.process.0 == number,
                    _ => row.thread.0 == number,
                };
                let of = self.samples.iter().filter(is_it).filter(|row| column.contains(row.time));
                Some(of.map(|row| row.weight).sum())
            }
            ("disk", "bytes" | "operations" | "read-bytes" | "write-bytes") => {
                let is_it = |row: &&DiskIoRow| match name {
                    "read-bytes" => row.operation == DiskOperation::Read,
                    "write-bytes" => row.operation == DiskOperation::Write,
                    _ => true,
                };
                let of = self.disk.iter().filter(|row| row.disk == number && column.contains(row.time)).filter(is_it);
                Some(of.map(|row| if name == "operations" { 1 } else { row.size }).sum())
            }
            _ => None,
        }
    }
}

/// How often figures were compared: with commands, with tables, with rows.
type Counts = [usize; 3];

/// Compares the figures of a recording.
fn check(directory: &Path, raw: &Raw, ranges: usize, seed: u64) -> Counts {
    let mut counts = [0; 3];
    let mut tables = Options::default();
    tables.budget.group_rows = Some(500);
    (tables.budget.long_from, tables.budget.rows_of_bucket, tables.budget.rows_of_tile) = (0, 5, 0);
    let by_rows = extracted(raw, &directory.join("rows"), &Options::default());
    let by_tables = extracted(raw, &directory.join("tables"), &tables);
    for (plain, tiled) in by_rows.iter().zip(&by_tables) {
        let path = |path: &Path| path.strip_prefix(directory).unwrap().to_str().unwrap().to_owned();
        let (file, other) = (path(plain), path(tiled));
        let (server, with_tables) = (Server::start(directory, &[&file]), Server::start(directory, &[&other]));
        let session: Value = serde_json::from_slice(&server.send("GET /api/1/session", "").2).unwrap();
        let end = session["recordings"][0]["end_ns"].as_i64().unwrap();
        let rows = Rows::of(&Archive::open(plain).unwrap(), end);
        let lanes = lanes(&server);
        let mut random = SplitMix64::new(seed);
        for _ in 0..ranges {
            let asked = Asked::random(&mut random, end);
            let chosen: Vec<&Lane> = (0..4).map(|_| &lanes[random.index(lanes.len())]).collect();
            let measures = &chosen[0].measures;
            let measure = random.chance(40).then(|| measures.get(random.index(measures.len()))).flatten();
            let found = ask(&server, asked, &chosen, measure.map(String::as_str));
            let tiles = ask(&with_tables, asked, &chosen, measure.map(String::as_str));
            assert_eq!(found.is_some(), tiles.is_some(), "{asked:?}");
            for ((frame, tile), lane) in found.iter().flatten().zip(tiles.iter().flatten()).zip(&chosen) {
                assert_eq!(frame.head["lane"], lane.id, "lanes come in the order asked for");
                counts[1] += usize::from(tile.head["way"] == "tiles");
                for ((name, values), (_, others)) in frame.series.iter().zip(&tile.series) {
                    let bits = |values: &[f64]| values.iter().map(|value| value.to_bits()).collect::<Vec<_>>();
                    assert_eq!(bits(values), bits(others), "{}, {lane:?}, {name}, {asked:?}", raw.file.display());
                    let is_alone = lanes.iter().filter(|other| other.name == lane.name).count() == 1
                        || !["process:", "thread:", "gc:", "jit:"].iter().any(|kind| lane.id.starts_with(kind));
                    counts[0] +=
                        usize::from(compare_with_command(directory, &file, frame, lane, is_alone, name, values));
                    counts[2] += usize::from(compare_with_rows(&rows, asked, frame, lane, name, values));
                }
            }
        }
    }
    counts
}

/// Holds the columns against sums over the rows.
fn compare_with_rows(rows: &Rows, asked: Asked, frame: &Frame, lane: &Lane, name: &str, values: &[f64]) -> bool {
    let integer = |key: &str| frame.head[key].as_i64().unwrap();
    let mut is_compared = false;
    for (at, value) in values.iter().enumerate() {
        let start = integer("first_ns") + integer("bucket_ns") * at as i64;
        let column = Span::new(start, (start + integer("bucket_ns")).min(asked.to)).intersect(rows.recorded);
        assert_eq!(value.is_nan(), column.is_empty(), "{lane:?}, {name}: {column:?}");
        if let Some(sum) = rows.sum(lane, name, column).filter(|_| !value.is_nan()) {
            assert!(sum as f64 == *value, "{lane:?}, {name}, {column:?}: {value} is {sum} by the rows");
            is_compared = true;
        }
    }
    is_compared
}

#[expect(clippy::print_stdout, reason = "a failure needs the seed; how much was compared is shown")]
fn all(raw: &[Raw], ranges: usize) -> Counts {
    let seed = variable("TRACESIFT_SEED", 1) as u64;
    let mut counts = [0; 3];
    for raw in raw {
        let directory = TempDir::new().unwrap();
        let found = check(directory.path(), raw, ranges, seed);
        counts.iter_mut().zip(found).for_each(|(sum, found)| *sum += found);
    }
    println!("seed {seed}, {ranges} ranges of {} recordings: {counts:?} by command, from tables, by rows", raw.len());
    counts
}

#[test]
fn columns_of_scenarios_are_those_of_commands_tables_and_rows() {
    let directory = TempDir::new().unwrap();
    let raw = scenarios(directory.path(), 10..12);
    let counts = all(&raw, variable("TRACESIFT_RANGES", RANGES));
    assert!(counts[0] > 100 && counts[2] > 100, "{counts:?}");
}

#[test]
fn columns_of_shared_recordings_are_those_of_commands_tables_and_rows() {
    let raw = shared();
    if !raw.is_empty() {
        let counts = all(&raw, variable("TRACESIFT_RANGES", RANGES_OF_SHARED));
        assert!(counts[0] > 20, "{counts:?}");
    }
}

#[test]
fn columns_of_this_machine_are_those_of_commands_tables_and_rows() {
    let directory = TempDir::new().unwrap();
    let Some(raw) = of_this_machine(directory.path()) else { return };
    let counts = all(&[raw], variable("TRACESIFT_RANGES", RANGES));
    assert!(counts[0] > 5, "{counts:?}");
}
