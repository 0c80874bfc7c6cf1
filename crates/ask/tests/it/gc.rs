//! `dump gc` over collections that are known: a pause counts with its part in a time range, a collection where its last pause ends.

use std::path::{Path, PathBuf};

use clap::{Args as _, FromArgMatches as _};
use tracesift_archive::ArchiveWriter;
use tracesift_ask::answer::{Answer, Value};
use tracesift_ask::options::{Plan, QuestionOptions as _};
use tracesift_ask::question::gc;
use tracesift_ask::recording::Source;
use tracesift_ask::time_spec::TimeSpec;
use tracesift_ask::{When, ask};
use tracesift_testing::archive::{create, finish_as};
use tracesift_testing::rows::process;
use tracesift_trace::info::TraceInfo;
use tracesift_trace::rows::{
    CpuSampleRow, FrameRow, GcCollectionRow, GcFinalizedRow, GcSuspensionRow, ModuleRow, ProcessRow, StackRow,
};
use tracesift_trace::{FrameId, ModuleId, ProcessId, RowSink as _, StackId};

/// Number, process, generation, kind, reason, end, parts of the pause, allocated bytes.
type Known = (i32, i32, i8, i8, i8, i64, &'static [i64], Option<i64>);

/// The second one is in the background: the third one runs in its first pause, the fourth while threads run. The last one has no
/// suspension.
const COLLECTIONS: [Known; 6] = [
    (1, 1, 0, 0, 0, 48, &[40, 50], Some(1_000)),
    (3, 1, 0, 0, 0, 120, &[115, 125], Some(0)),
    (4, 1, 1, 2, 1, 210, &[200, 216], Some(500)),
    (2, 1, 2, 1, 0, 430, &[100, 115, 125, 130, 400, 420], Some(2_000)),
    (1, 2, 2, 0, 1, 460, &[405, 465], None),
    (2, 2, 0, 0, 4, 490, &[], None),
];

/// Process, name of the type, number of objects, first and last time.
type Type = (i32, Option<&'static str>, i64, i64, i64);

const FINALIZED: [Type; 4] = [
    (1, Some("A.Stream"), 3, 10, 20),
    (1, None, 2, 15, 15),
    (2, Some("A.Timer"), 7, 10, 20),
    (2, Some("B"), 1, 12, 12),
];

/// Frames of the runtime, of the program, of the system, and compiled code; stacks of them, the leaf first.
fn code(writer: &mut ArchiveWriter) {
    let module =
        |(id, name): (i32, &&str)| ModuleRow { module: ModuleId(id), name: (*name).to_owned(), ..ModuleRow::default() };
    writer.write_table(&(0..).zip(&["CLR.dll", "app.exe", "ntdll.dll"]).map(module).collect::<Vec<_>>());
    let frame =
        |id: i32| FrameRow { frame: FrameId(id), module: (id < 3).then_some(ModuleId(id)), ..FrameRow::default() };
    writer.write_table(&(0..4).map(frame).collect::<Vec<_>>());
    let stack = |(id, frames): (i32, &&[i32])| StackRow {
        stack: StackId(id),
        frames: frames.iter().copied().map(FrameId).collect(),
    };
    let stacks: [&[i32]; 4] = [&[0, 3, 0, 2], &[0, 0, 2], &[1, 2], &[2, 1]];
    writer.write_table(&(0..).zip(&stacks).map(stack).collect::<Vec<_>>());
}

/// A sample each nanosecond of both processes: stack 0 is of the program and the runtime, 1 of a thread of the runtime, 2 and 3 of the
/// program alone; some have a lone frame.
fn samples() -> Vec<CpuSampleRow> {
    let sample = |(time, process): (i64, i32)| CpuSampleRow {
        time,
        process: ProcessId(process),
        weight: 1_000 + time % 7,
        stack: (time % 5 < 4).then_some(StackId((time % 5) as i32)),
        frame: (time % 5 == 4).then_some(FrameId((time % 3) as i32)),
        ..CpuSampleRow::default()
    };
    (0..500).flat_map(|time| [(time, 1), (time, 2)]).map(sample).collect()
}

fn archive() -> (tempfile::TempDir, PathBuf) {
    let directory = tempfile::tempdir().expect("a directory");
    let mut writer = create(&directory.path().join("gc.sift"));
    let server = ProcessRow { start: Some(30), end: Some(450), ..process(1, 100, "server") };
    writer.write_table(&[server, process(2, 200, "tool")]);
    code(&mut writer);
    writer.write_table(&samples());
    for (number, process, generation, kind, reason, time, pauses, allocated) in COLLECTIONS {
        let pause: i64 = pauses.chunks(2).map(|part| part[1] - part[0]).sum();
        writer.gc_collection(&GcCollectionRow {
            time,
            start: pauses.first().copied().unwrap_or(time - 5),
            process: ProcessId(process),
            runtime: 9,
            number,
            generation,
            kind,
            reason,
            pause: (!pauses.is_empty()).then_some(pause),
            pauses: (!pauses.is_empty()).then(|| pauses.to_vec()),
            since_pause: allocated.and(Some(100)),
            allocated,
            allocated_large: allocated.and(Some(0)),
            size_before: Some(vec![1_000, i64::from(number) * 100]),
            peak_size: Some(1_000 + i64::from(number) * 100),
            size_after: Some(vec![100, 300]),
            free: Some(vec![0, 40]),
            promoted: Some(vec![50, 1]),
            heap_size: Some(400),
            roots: allocated.and(Some(vec![10, 20, 30, 40, 50, 60, 1, 2])),
            ..GcCollectionRow::default()
        });
    }
    for (start, time, process, collection) in [(40, 50, 1, Some(1)), (480, 490, 1, None), (492, 494, 2, None)] {
        writer.gc_suspension(&GcSuspensionRow {
            start,
            time,
            process: ProcessId(process),
            reason: if collection.is_some() { 1 } else { 4 },
            collection,
            ..GcSuspensionRow::default()
        });
    }
    for (process, name, count, first, last) in FINALIZED {
        writer.gc_finalized(&GcFinalizedRow {
            process: ProcessId(process),
            type_name: name.map(str::to_owned),
            count,
            first,
            last,
        });
    }
    let info = TraceInfo { kind: "etl".to_owned(), end_ns: 500, ..TraceInfo::default() };
    let archive = finish_as(writer, info);
    (directory, archive)
}

fn options(words: &[&str]) -> Result<gc::Options, clap::Error> {
    let command = gc::Options::augment_args(clap::Command::new("gc").no_binary_name(true));
    let command = command.arg(clap::Arg::new("details").long("details").action(clap::ArgAction::SetTrue));
    gc::Options::from_arg_matches(&command.try_get_matches_from(words)?)
}

fn answer(archive: &Path, words: &[&str], time: Option<(i64, i64)>) -> Answer {
    let options = options(words).expect("options");
    let Plan::Archives(asking) = options.plan(&mut |warning| panic!("{warning}")).expect("a plan") else {
        panic!("archives answer");
    };
    let mut when = When::default();
    if let Some((start, end)) = time {
        when.time = format!("{start}ns..{end}ns").parse::<TimeSpec>().expect("a time range");
    }
    ask(&[Source::archive(archive.to_owned())], asking.question.as_ref(), &when).answer
}

/// The figures of each row by its keys.
fn figures(answer: &Answer, keys: &[&str]) -> Vec<Vec<Option<i64>>> {
    let at =
        |key: &&str| answer.columns.iter().position(|column| column.key == *key).unwrap_or_else(|| panic!("{key}"));
    let int = |value: &Value| match value {
        Value::Int(number) => Some(*number),
        Value::None => None,
        other => panic!("{other:?}"),
    };
    answer.rows().map(|row| keys.iter().map(|key| int(&row[at(key)])).collect()).collect()
}

const KEYS: [&str; 6] = ["pid", "collections", "pause_sum_ns", "pause_max_ns", "gen2", "induced"];

#[test]
fn a_row_is_a_process() {
    let (_directory, archive) = archive();
    let answer = answer(&archive, &[], None);
    let tool = [200, 2, 60, 60, 1, 1].map(Some).to_vec();
    let server = [100, 4, 10 + 10 + 16 + 40, 20, 1, 1].map(Some).to_vec();
    assert_eq!(figures(&answer, &KEYS), [tool, server]);
    let more = ["allocated_bytes", "ran_ns", "peak_bytes", "after_max_bytes", "promoted_bytes", "without_pause"];
    let tool = vec![None, None, Some(1_200), Some(400), Some(102), Some(1)];
    let server = [3_500, 400, 1_400, 400, 204, 0].map(Some).to_vec();
    assert_eq!(figures(&answer, &more), [tool, server]);
    // Both processes stood from 405 to 420.
    let by_kind = self::answer(&archive, &["--by", "reason"], None);
    let union: Vec<_> = figures(&by_kind, &["pause_sum_ns", "pause_union_ns"]);
    assert_eq!(union, [vec![None, None], vec![Some(60), Some(60)], vec![Some(76), Some(76)]].map(|row| row));
}

/// Of the first collection nobody knows for how long its bytes were allocated.
#[test]
fn a_rate_is_of_bytes_whose_time_is_known() {
    let directory = tempfile::tempdir().expect("a directory");
    let mut writer = create(&directory.path().join("rate.sift"));
    writer.write_table(&[process(1, 100, "app")]);
    for (number, allocated, since_pause) in [(1, 900, None), (2, 40, Some(20)), (3, 60, Some(30))] {
        let time = 100 * i64::from(number);
        writer.gc_collection(&GcCollectionRow {
            time,
            start: time - 10,
            process: ProcessId(1),
            number,
            pause: Some(10),
            pauses: Some(vec![time - 10, time]),
            since_pause,
            allocated: Some(allocated),
            ..GcCollectionRow::default()
        });
    }
    let info = TraceInfo { kind: "etl".to_owned(), end_ns: 500, ..TraceInfo::default() };
    let archive = finish_as(writer, info);
    let answer = answer(&archive, &["--details"], None);
    let keys = ["allocated_bytes", "ran_bytes", "ran_ns", "allocation_rate"];
    assert_eq!(texts(&answer, &keys), [["1000", "100", "50", "2000.000"]]);
}

#[test]
fn a_pause_counts_with_its_part() {
    let (_directory, archive) = archive();
    // The first pause in the background is cut, with the collection in it, and is the longest one as a whole; the collection in the
    // background ends later.
    let server = |time| figures(&answer(&archive, &["-p", "server"], Some(time)), &KEYS[1..4]);
    assert_eq!(server((110, 210)), [[1, 5 + 10 + 5 + 10, 15].map(Some).to_vec()]);
    assert_eq!(server((410, 500)), [[1, 10, 20].map(Some).to_vec()]);
    assert_eq!(server((300, 405)), [[Some(0), Some(5), None].to_vec()]);
    // Parts of a recording add up to the whole.
    let parts = [(0, 47), (47, 118), (118, 207), (207, 411), (411, 500)];
    let parts = parts.iter().flat_map(|time| server(*time));
    let sums = parts.fold((0, 0), |sums, row| (sums.0 + row[0].unwrap_or(0), sums.1 + row[1].unwrap_or(0)));
    assert_eq!(sums, (4, 76));
}

#[test]
fn filters_keep_collections() {
    let (_directory, archive) = archive();
    let many = |words: &[&str]| figures(&answer(&archive, words, None), &["collections"]);
    assert_eq!(many(&["--induced", "--by", "kind"]), [[Some(1)], [Some(1)]]);
    assert_eq!(many(&["--kind", "background", "--by", "kind"]), [[Some(1)]]);
    assert_eq!(many(&["--generation", "0", "-p", "server"]), [[Some(2)]]);
    assert_eq!(many(&["--reason", "large*"]), [[Some(1)]]);
    assert_eq!(many(&["--min-pause", "40ns", "--by", "generation"]), [[Some(2)]]);
}

#[test]
fn a_list_has_each_pause() {
    let (_directory, archive) = archive();
    let list = answer(&archive, &["--list"], None);
    let found = figures(&list, &["number", "duration_ns", "collection_pause_ns", "peak_bytes"]);
    assert_eq!(found.len(), 8);
    let background: Vec<_> = found.iter().filter(|row| row[0] == Some(2) && row[2] == Some(40)).collect();
    assert_eq!(background.iter().map(|row| row[1]).collect::<Vec<_>>(), [5, 15, 20].map(Some));
    assert!(found.iter().any(|row| *row == [Some(2), None, None, Some(1_200)]), "{found:?}");
}

#[test]
fn notes_tell_of_other_suspensions_and_finalizers() {
    let (_directory, archive) = archive();
    let notes = |words: &[&str]| answer(&archive, words, None).sections[0].notes.join("\n");
    assert!(notes(&[]).contains("2 times without a collection"), "{}", notes(&[]));
    let all = "finalizers of 13 objects ran: A.Timer 7, A.Stream 3, (unknown) 2, B 1";
    assert!(notes(&[]).contains(all), "{}", notes(&[]));
    let server = notes(&["-p", "server"]);
    assert!(server.contains("once without a collection") && server.contains("5 objects"), "{server}");
}

/// A text or a number of each row by key.
fn texts(answer: &Answer, keys: &[&str]) -> Vec<Vec<String>> {
    let at =
        |key: &&str| answer.columns.iter().position(|column| column.key == *key).unwrap_or_else(|| panic!("{key}"));
    let text = |value: &Value| match value {
        Value::Int(number) => number.to_string(),
        Value::Float(number) => format!("{number:.3}"),
        Value::Text(text) => text.clone(),
        Value::None => "-".to_owned(),
        other => panic!("{other:?}"),
    };
    answer.rows().map(|row| keys.iter().map(|key| text(&row[at(key)])).collect()).collect()
}

#[test]
fn types_have_the_objects_whose_finalizers_ran() {
    let (_directory, archive) = archive();
    let found = |words: &[&str], time| {
        let words = [&["--finalized"], words].concat();
        texts(&answer(&archive, &words, time), &["pid", "type", "objects", "first_ns", "last_ns"])
    };
    let timer = ["200", "A.Timer", "7", "10", "20"];
    let stream = ["100", "A.Stream", "3", "10", "20"];
    let unknown = ["100", "-", "2", "15", "15"];
    let of_b = ["200", "B", "1", "12", "12"];
    assert_eq!(found(&[], None), [of_b, unknown, stream, timer]);
    assert_eq!(found(&["--top", "2"], None), [stream, timer]);
    assert_eq!(found(&["-p", "server"], None), [unknown, stream]);
    assert_eq!(found(&["--type", "a.*"], None), [stream, timer]);
    assert_eq!(found(&["--sort", "name", "-p", "tool"], None), [timer, of_b]);
    // The archive does not tell when the objects of a type were finalized between the first and the last one.
    let part = [["100", "A.Stream", "-", "10", "20"], ["200", "A.Timer", "-", "10", "20"], of_b];
    assert_eq!(found(&[], Some((5, 13))), part);
    assert_eq!(found(&[], Some((10, 21))), [of_b, unknown, stream, timer]);
    assert_eq!(found(&[], Some((21, 30))), Vec::<[&str; 5]>::new());
    assert_eq!(found(&[], Some((20, 30))), [["100", "A.Stream", "-", "10", "20"], ["200", "A.Timer", "-", "10", "20"]]);
    let by_process = answer(&archive, &["--finalized", "--by", "process"], Some((5, 13)));
    assert_eq!(
        texts(&by_process, &["pid", "types", "objects", "partly"]),
        [["100", "1", "-", "1"], ["200", "2", "1", "1"]]
    );
    let total = &answer(&archive, &["--finalized"], None).sections[0].facts;
    assert!(total.iter().any(|fact| (fact.label, &fact.value) == ("finalizers", &Value::Int(13))), "{total:?}");
}

#[test]
fn types_and_collections_do_not_mix() {
    let refused = |words: &[&str]| options(words).expect_err("a contradiction").to_string();
    assert!(refused(&["--by", "type"]).contains("--by type is about finalized objects: add --finalized"));
    assert!(refused(&["--finalized", "--generation", "1"]).contains("--generation is about collections"));
    assert!(refused(&["--finalized", "--by", "process,reason"]).contains("--by reason is about collections"));
    assert!(refused(&["--finalized", "--sort", "pause"]).contains("pause"));
    assert!(refused(&["--finalized", "--list"]).contains("--list"));
    assert!(refused(&["--type", "A"]).contains("--finalized"));
}

#[test]
fn pauses_are_shares_of_lives_and_of_active_times() {
    let (_directory, archive) = archive();
    let keys = ["pid", "life_ns", "life_share", "active_ns", "active_share", "pause_share"];
    let found = |words: &[&str], time| texts(&answer(&archive, words, time), &keys);
    let server = ["100", "420", "18.095", "380", "20.000", "15.200"];
    assert_eq!(found(&[], None), [["200", "500", "12.000", "60", "100.000", "12.000"], server]);
    let server = |time| found(&["-p", "server"], Some(time));
    assert_eq!(server((110, 210)), [["100", "100", "30.000", "100", "30.000", "30.000"]]);
    assert_eq!(server((410, 500)), [["100", "40", "25.000", "10", "100.000", "11.111"]]);
    // Two processes: the sum of their lives, and the time from the first pause of one to the last of the other.
    let by_reason = texts(&answer(&archive, &["--by", "reason"], None), &keys[1..5]);
    let induced = ["920", "8.261", "265", "28.679"];
    assert!(by_reason.contains(&induced.map(str::to_owned).to_vec()), "{by_reason:?}");
    // Its only collection has no known pause.
    assert!(by_reason.contains(&["500", "-", "-", "-"].map(str::to_owned).to_vec()), "{by_reason:?}");
}

/// The CPU of a collection: each sample by itself, in the collection that began last.
fn cpu_of(number: usize) -> i64 {
    let spans: Vec<_> =
        COLLECTIONS.iter().map(|row| (row.1, row.6.first().copied().unwrap_or(row.5 - 5), row.5)).collect();
    let mut sum = 0;
    for sample in samples() {
        let runs = |place: &usize| {
            let (process, start, end) = spans[*place];
            process == sample.process.0 && (start..end).contains(&sample.time)
        };
        let last = (0..spans.len()).filter(runs).max_by_key(|place| spans[*place].1);
        let row = &COLLECTIONS[number];
        let stands = row.3 != 1 || row.6.chunks(2).any(|pause| (pause[0]..pause[1]).contains(&sample.time));
        let is_of_runtime = match (sample.stack, sample.frame) {
            (Some(stack), _) => stack.0 == 1 || (stands && stack.0 == 0),
            (None, frame) => stands && frame == Some(FrameId(0)),
        };
        if last == Some(number) && is_of_runtime {
            sum += sample.weight;
        }
    }
    sum
}

#[test]
fn samples_of_the_runtime_are_cpu_of_collections() {
    let (_directory, archive) = archive();
    let of = |places: &[usize]| places.iter().map(|place| cpu_of(*place)).sum::<i64>();
    let processes = figures(&answer(&archive, &[], None), &["pid", "gc_cpu_ns"]);
    assert_eq!(processes, [[Some(200), Some(of(&[4, 5]))], [Some(100), Some(of(&[0, 1, 2, 3]))]]);
    assert!(cpu_of(3) > 0, "{}", cpu_of(3));
    // A collection counts whole where its last pause ends.
    let part = figures(&answer(&archive, &["-p", "server"], Some((410, 500))), &["gc_cpu_ns"]);
    assert_eq!(part, [[Some(cpu_of(3))]]);
    let list = figures(&answer(&archive, &["--list", "-p", "server"], None), &["number", "gc_cpu_ns"]);
    for (number, place) in [(1, 0), (3, 1), (4, 2), (2, 3)] {
        assert!(list.contains(&vec![Some(number), Some(cpu_of(place))]), "{number}: {list:?}");
    }
    let sorted = figures(&answer(&archive, &["--sort", "cpu", "--by", "kind"], None), &["gc_cpu_ns"]);
    assert!(sorted.is_sorted(), "{sorted:?}");
}

#[test]
fn roots_led_to_objects() {
    let (_directory, archive) = archive();
    let keys =
        ["roots_stack_bytes", "roots_finalizer_bytes", "roots_handles_bytes", "roots_older_bytes", "roots_other_bytes"];
    let server = [40, 88, 124, 160, 440].map(Some).to_vec();
    assert_eq!(figures(&answer(&archive, &[], None), &keys), [vec![None; 5], server]);
    let list = figures(&answer(&archive, &["--list", "--kind", "foreground"], None), &keys);
    assert_eq!(list, [[10, 22, 31, 40, 110].map(Some)]);
}
