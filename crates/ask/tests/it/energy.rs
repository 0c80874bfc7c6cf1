//! `dump energy`: counters and processes of a machine whose every use of energy is known, from recordings of both systems.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use tracesift_archive::Archive;
use tracesift_ask::answer::{Answer, Value};
use tracesift_ask::filter::{ProcessFilter, ProcessPatterns};
use tracesift_ask::question::energy::{By, Question};
use tracesift_ask::recording::Source;
use tracesift_ask::time_spec::TimeSpec;
use tracesift_ask::{Ask, When, ask};
use tracesift_etl::write::{PointerSize, SessionOptions};
use tracesift_fixtures::perf_data::{Bytes, Endianness};
use tracesift_fixtures::perf_tracepoints::{FREQUENCY, Recording as Tracepoints, SWITCH, USE_CLOCKID};
use tracesift_grammar::Patterns;
use tracesift_scenario::energy::Machine;
use tracesift_scenario::providers::write_with_kernel;
use tracesift_testing::archive::{create, finish_as};
use tracesift_testing::recording::{Extracted, Recording};
use tracesift_testing::rows::{process, thread};
use tracesift_trace::info::TraceInfo;
use tracesift_trace::rows::{CpuRow, CpuSampleRow, EnergyRow};
use tracesift_trace::{ProcessId, RowSink as _, ThreadId};

const MS: i64 = 1_000_000;

fn windows(machine: &Machine, pointer_size: PointerSize) -> Extracted {
    let mut events = machine.windows_readings(u64::MAX - 1_000_000, pointer_size);
    events.extend(machine.windows_rates(pointer_size));
    let mut kernel = machine.windows_threads(pointer_size);
    kernel.extend(machine.windows_switches(pointer_size));
    let processes = [(4, "System"), (700, "a.exe"), (800, "b.exe")];
    let options = SessionOptions { pointer_size, ..SessionOptions::default() };
    let bytes = write_with_kernel(options, 4, &processes, events, kernel).expect("a recording");
    Recording::of("energy.etl", &bytes).extract()
}

/// Clock of a Linux recording at its start.
const ZERO: i64 = 1_000_000_000;

/// A machine of which each thread is a process: so simple are the records.
fn of_linux() -> Machine {
    let mut machine = Machine::of_two_cpus();
    machine.runs.iter_mut().for_each(|run| run.thread.0 = run.thread.1);
    machine
}

fn linux(machine: &Machine) -> Extracted {
    let mut tracepoints = Tracepoints::new(Endianness::LittleEndian, vec![SWITCH, FREQUENCY]);
    tracepoints.flags |= USE_CLOCKID;
    let clock = |ms: i64| (ZERO + ms * MS).cast_unsigned();
    for (pid, tid) in machine.threads() {
        tracepoints.comm(pid, tid, clock(0), &format!("p{pid}"));
    }
    let mut records: Vec<(i64, u64, u32, u32, Vec<u32>)> = Vec::new();
    for (time, cpu, mhz) in &machine.rates {
        let khz = u32::try_from(mhz * 1000).expect("a rate");
        records.push((*time, 1, 0, u32::from(*cpu), vec![khz, u32::from(*cpu)]));
    }
    for turn in machine.switches() {
        let (old, new) = (turn.old.1, turn.new.1);
        records.push((turn.time, 0, old, u32::from(turn.cpu), vec![old, 0, 1, 0, new, 0]));
    }
    records.sort_by_key(|(time, ..)| *time);
    for (time, format, tid, cpu, fields) in records {
        tracepoints.sample(format, tid, clock(time), cpu, |raw: &mut Bytes| {
            fields.iter().for_each(|field| _ = raw.u32(*field));
        });
    }
    // Something is in the recording up to its end.
    tracepoints.comm(900, 900, clock(4_000), "end");
    let recording = Recording::of("energy.data", &tracepoints.file());
    let beside = recording.directory().join("energy.machine.json");
    std::fs::write(beside, machine.linux_readings(ZERO, 18_000_000, 19_999_999)).expect("written");
    recording.extract()
}

fn answer(archive: &Path, question: &dyn Ask, time: &str, bucket: Option<i64>) -> Answer {
    let when = When { time: time.parse::<TimeSpec>().expect("a time range"), bucket, ..When::default() };
    let outcome = ask(&[Source::archive(archive.to_owned())], question, &when);
    assert!(outcome.failures.is_empty(), "{:?}", outcome.failures);
    outcome.answer
}

fn values<'a>(answer: &'a Answer, key: &str) -> Vec<&'a Value> {
    let place = answer.columns.iter().position(|column| column.key == key).expect("a column");
    answer.rows().map(|row| &row[place]).collect()
}

fn integers(answer: &Answer, key: &str) -> Vec<Option<i64>> {
    let integer = |value: &&Value| if let Value::Int(value) = value { Some(*value) } else { None };
    values(answer, key).iter().map(integer).collect()
}

fn texts(answer: &Answer, key: &str) -> Vec<String> {
    values(answer, key)
        .iter()
        .map(|value| match value {
            Value::Text(text) => text.clone(),
            other => panic!("{other:?}"),
        })
        .collect()
}

/// A figure of each row by two texts.
fn figures(answer: &Answer, keys: [&str; 2], figure: &str) -> BTreeMap<(String, String), i64> {
    let names = texts(answer, keys[0]).into_iter().zip(texts(answer, keys[1]));
    names.zip(integers(answer, figure)).map(|(names, figure)| (names, figure.unwrap_or(-1))).collect()
}

fn by_process() -> Question {
    Question { by: By::Process, ..Question::default() }
}

fn question_of(counter: &str) -> Question {
    Question { counter: Patterns::from(counter), ..by_process() }
}

#[test]
fn processes_add_up_to_the_counters_of_windows() {
    let machine = Machine::of_two_cpus();
    let all = (0, 3_700);
    for pointer_size in [PointerSize::Four, PointerSize::Eight] {
        let extracted = windows(&machine, pointer_size);
        let archive = &extracted.report.archive;
        let counters = answer(archive, &Question::default(), "..", None);
        assert_eq!(texts(&counters, "counter"), ["package 0", "processor 3", "processor 3"]);
        assert_eq!(integers(&counters, "cpu"), [None, Some(0), Some(1)]);
        let used = [machine.used_by_all(all), machine.used(0, all), machine.used(1, all)].map(Some);
        assert_eq!(integers(&counters, "counts"), used);
        assert_eq!(integers(&counters, "energy_uj"), [None, None, None], "their unit is not known");
        assert_eq!(integers(&counters, "readings"), [Some(4); 3]);
        assert_eq!(integers(&counters, "span_ns"), [Some(3_700 * MS); 3]);

        for (pattern, counter) in [("", "package 0"), ("processor*", "processor 3")] {
            let processes = answer(archive, &question_of(pattern), "..", None);
            let found = figures(&processes, ["counter", "process"], "counts");
            let whole = machine.used_by_all(all);
            let (a, b) = (machine.used_by(700, None, all), machine.used_by(800, None, all));
            let row = |process: &str, counts: i64| ((counter.to_owned(), process.to_owned()), counts);
            let expected = [row("a.exe", a), row("b.exe", b), row("(idle)", whole - a - b)];
            assert_eq!(found, BTreeMap::from(expected), "{pattern}");
            let run = figures(&processes, ["counter", "process"], "run_ns");
            let busy = |pid: u32| {
                machine.runs.iter().filter(|run| run.thread.0 == pid).map(|run| run.span.1 - run.span.0).sum::<i64>()
            };
            let (a, b) = (busy(700) * MS, busy(800) * MS);
            let expected = [row("a.exe", a), row("b.exe", b), row("(idle)", 2 * 3_700 * MS - a - b)];
            assert_eq!(run, BTreeMap::from(expected), "{pattern}");
        }
    }
}

#[test]
fn processes_add_up_to_the_counters_of_linux() {
    let machine = of_linux();
    let extracted = linux(&machine);
    let archive = &extracted.report.archive;
    let all = (0, 3_700);
    let whole = machine.used_by_all(all);
    let counters = answer(archive, &Question::default(), "..", None);
    assert_eq!(texts(&counters, "counter"), ["cores", "package"]);
    assert_eq!(integers(&counters, "package"), [Some(0), Some(0)]);
    assert_eq!(integers(&counters, "energy_uj"), [Some(whole / 2), Some(whole)]);
    assert_eq!(integers(&counters, "counts"), [None, None]);
    let watts = values(&counters, "watts");
    let expected = whole as f64 / 1e6 / 3.7;
    assert!(matches!(watts[1], Value::Float(watts) if (watts - expected).abs() < 1e-9), "{watts:?} {expected}");

    let processes = answer(archive, &by_process(), "..", None);
    let found = figures(&processes, ["counter", "process"], "energy_uj");
    let row = |process: String, energy: i64| (("package".to_owned(), process), energy);
    let mut expected: BTreeMap<_, _> =
        machine.threads().into_iter().map(|(pid, _)| row(format!("p{pid}"), machine.used_by(pid, None, all))).collect();
    let busy: i64 = expected.values().sum();
    expected.extend([row("(idle)".to_owned(), whole - busy)]);
    assert_eq!(found, expected);
    // The largest stands last, and the shares are all.
    let percents: Vec<f64> = values(&processes, "percent")
        .into_iter()
        .map(|value| if let Value::Float(percent) = value { *percent } else { panic!("{value:?}") })
        .collect();
    assert!(percents.is_sorted() && (percents.iter().sum::<f64>() - 100.0).abs() < 1e-9, "{percents:?}");
    let notes = &processes.sections[0].notes;
    let is_weighed =
        "estimate: what a counter counted between two readings is shared by run time, weighted with the clock rates";
    assert_eq!(notes, &[is_weighed.to_owned()]);

    assert!(values(&processes, "is_estimate").iter().all(|value| **value == Value::Bool(true)));

    // A single process keeps its share; nobody's time is not asked for.
    let filter = ProcessFilter { process: ProcessPatterns::parse("p804"), ..ProcessFilter::default() };
    let one = answer(archive, &Question { filter, ..question_of("*") }, "..", None);
    let found = figures(&one, ["counter", "process"], "energy_uj");
    let energy = machine.used_by(804, None, all);
    assert_eq!(found.get(&("package".to_owned(), "p804".to_owned())), Some(&energy));
    assert_eq!(found.len(), 2, "of both counters: {found:?}");
}

#[test]
fn parts_of_the_time_add_up() {
    let machine = of_linux();
    let extracted = linux(&machine);
    let archive = &extracted.report.archive;
    for time in ["500ms..2500ms", "..2.2s", "1200ms..1201ms", "3s..", ".."] {
        let counters = figures(&answer(archive, &Question::default(), time, None), ["counter", "counter"], "energy_uj");
        let processes = answer(archive, &question_of("*"), time, None);
        let names = texts(&processes, "counter");
        let shares = integers(&processes, "energy_uj");
        for ((counter, _), energy) in &counters {
            let own = names.iter().zip(&shares).filter(|(name, _)| *name == counter);
            assert_eq!(own.map(|(_, share)| share.expect("a share")).sum::<i64>(), *energy, "{time} {counter}");
        }
    }
    // Between two readings the counter counts evenly: half of the first second, all of the next one, half of the third one.
    let time = "500ms..2500ms";
    let found = figures(&answer(archive, &by_process(), time, None), ["process", "process"], "energy_uj");
    let spans =
        [((500, 1_000), (0, 1_000), 2), ((1_000, 2_000), (1_000, 2_000), 1), ((2_000, 2_500), (2_000, 3_000), 2)];
    for (pid, _) in machine.threads() {
        let share = |(span, whole, parts): &((i64, i64), (i64, i64), i64)| {
            let counted = machine.used_by_all(*whole) as f64 / *parts as f64;
            counted * machine.used_by(pid, None, *span) as f64 / machine.used_by_all(*span) as f64
        };
        let expected: f64 = spans.iter().map(share).sum();
        let name = format!("p{pid}");
        let energy = found.get(&(name.clone(), name)).copied().unwrap_or(0);
        assert!((energy as f64 - expected).abs() <= 1.5, "{pid}: {energy} {expected}");
    }
    // A series has the same figures as the whole.
    let whole = figures(&answer(archive, &Question::default(), "..", None), ["counter", "counter"], "energy_uj");
    let series = answer(archive, &Question::default(), "..", Some(300 * MS));
    let mut sums: BTreeMap<String, i64> = BTreeMap::new();
    for (counter, energy) in texts(&series, "counter").into_iter().zip(integers(&series, "energy_uj")) {
        *sums.entry(counter).or_default() += energy.unwrap_or(0);
    }
    assert!(series.rows().count() > 20);
    assert_eq!(sums, whole.into_iter().map(|((counter, _), energy)| (counter, energy)).collect());
}

/// Two packages of two CPUs each; a process on each. Samples tell who ran.
fn of_two_packages(directory: &Path, tells_packages: bool) -> PathBuf {
    let mut writer = create(&directory.join("packages.sift"));
    writer.write_table(&[process(0, 0, "Idle"), process(1, 10, "left"), process(2, 20, "right")]);
    writer.write_table(&[thread(0, 1, 100), thread(1, 2, 200)]);
    if tells_packages {
        let rows: Vec<CpuRow> =
            (0..4).map(|cpu| CpuRow { cpu, package: Some(i32::from(cpu / 2)), ..CpuRow::default() }).collect();
        writer.write_table(&rows);
    }
    for (cpu, process) in [(0, 1), (2, 2), (3, 2)] {
        writer.cpu_sample(&CpuSampleRow {
            time: 5 * MS,
            cpu,
            process: ProcessId(process),
            thread: ThreadId(process - 1),
            weight: 5 * MS,
            ..CpuSampleRow::default()
        });
    }
    for (package, energy) in [(0, 1_000), (1, 3_000)] {
        writer.energy(&EnergyRow {
            time: 10 * MS,
            package: Some(package),
            counter: "package".to_owned(),
            value: Some(energy),
            span: 10 * MS,
            ..EnergyRow::default()
        });
    }
    let info = TraceInfo {
        name: "packages".to_owned(),
        kind: "perf".to_owned(),
        end_ns: 20 * MS,
        cpu_count: 4,
        ..TraceInfo::default()
    };
    finish_as(writer, info)
}

#[test]
fn a_counter_is_shared_by_the_cpus_of_its_package() {
    let directory = tempfile::tempdir().expect("temporary directory");
    let archive = of_two_packages(directory.path(), true);
    let found = |answer: &Answer| {
        let shares = figures(answer, ["process", "process"], "energy_uj").into_iter();
        shares.map(|((process, _), energy)| (process, energy)).collect::<Vec<_>>()
    };
    let row = |process: &str, energy: i64| (process.to_owned(), energy);
    // 5 of 20 ms of the first package, 10 of 20 ms of the second one.
    let known = answer(&archive, &by_process(), "..", None);
    assert_eq!(found(&known), [row("(idle)", 2_250), row("left", 250), row("right", 1_500)]);
    let notes = known.sections[0].notes.join("\n");
    assert!(notes.contains("by run time alone") && notes.contains("sampled CPU time stands for run time"), "{notes}");

    let directory = tempfile::tempdir().expect("temporary directory");
    let unknown = answer(&of_two_packages(directory.path(), false), &by_process(), "..", None);
    assert_eq!(found(&unknown), [row("(idle)", 2_500), row("left", 500), row("right", 1_000)]);
    assert!(
        unknown.sections[0].notes.join("\n").contains("does not tell which CPUs"),
        "{:?}",
        unknown.sections[0].notes
    );
}

#[test]
fn an_archive_without_counters_names_the_cure() {
    let directory = tempfile::tempdir().expect("temporary directory");
    let writer = create(&directory.path().join("none.sift"));
    let info = TraceInfo { name: "none".to_owned(), kind: "perf".to_owned(), end_ns: 5, ..TraceInfo::default() };
    let archive = finish_as(writer, info);
    assert_eq!(Archive::open(&archive).expect("an archive").row_count::<EnergyRow>(), 0);
    let section = &answer(&archive, &Question::default(), "..", None).sections[0];
    assert!(section.is_absent);
    let Value::Text(why) = &section.facts[0].value else { panic!("{:?}", section.facts) };
    assert_eq!(why, "not recorded; record with: tracesift record --profile Power");
}
