//! `dump events` over real recordings: figures of fields that a separate program made of `events --format jsonl`, or that other
//! tools have.

use tempfile::TempDir;
use tracesift_ask::answer::{Answer, Value};
use tracesift_ask::ask;
use tracesift_ask::options::{Plan, Registered};
use tracesift_ask::question::events::Options;
use tracesift_ask::recording::Source;
use tracesift_extract::EventSelection;
use tracesift_fixtures::cases;

use crate::tracelog::{archives, values};

fn asked(sources: &[Source], arguments: &[&str]) -> Answer {
    let (when, plan) = Registered::of::<Options>("dump events").plan(arguments).expect("a question");
    let Plan::Archives(asking) = plan else { panic!("archives answer") };
    let outcome = ask(sources, &*asking.question, &when);
    assert!(outcome.failures.is_empty(), "{:?}", outcome.failures);
    outcome.answer
}

fn text(text: &str) -> Value {
    Value::Text(text.to_owned())
}

fn all_events(name: &str) -> Option<(TempDir, Vec<Source>)> {
    let cases = cases("etl")?;
    let out = tempfile::tempdir().expect("a directory");
    let sources = archives(&cases.join(name), &out, EventSelection::All);
    Some((out, sources))
}

/// Counts and sums of bytes as an independent reader of the file has them.
#[test]
fn packets_of_kernel_network_add_up() {
    let Some((_out, sources)) = all_events("KernelNetwork.etl") else { return };
    let answer =
        asked(&sources, &["--provider=Microsoft-Windows-Kernel-Network", "--sum=size", "--by=id", "--sort=name"]);
    let expected = [
        (10, 575, 60_019),
        (11, 7_968, 15_315_588),
        (26, 26, 8_632),
        (27, 134, 8_580),
        (29, 2, 0),
        (42, 8, 2_912),
        (43, 149, 5_874),
        (59, 61, 3_918),
    ];
    let expected = expected.map(|(id, count, sum)| [Value::Int(id), Value::Int(count), Value::Int(sum)]);
    assert_eq!(values(&answer, ["id", "count", "sum"]), expected);
}

/// Reads and writes of 1,208 and 21 operations, 19,564,544 and 286,720 bytes, are also those of `dump disk`.
#[test]
fn numbers_texts_and_elements_of_a_recording_of_windows() {
    let Some((_out, sources)) = all_events("net.4.5.2.x64.etl.zip") else { return };
    let figures = ["count", "numbers", "sum", "min", "max", "mean", "p50", "p95", "p99"];
    let of = |arguments: &[&str]| values(&asked(&sources, arguments), figures);
    let row = |count: i64, [sum, min, max]: [i64; 3], fractions: [f64; 4]| -> [Value; 9] {
        let whole = [count, count, sum, min, max].map(Value::Int);
        let mut all = whole.into_iter().chain(fractions.map(Value::Float));
        std::array::from_fn(|_| all.next().expect("nine values"))
    };
    let near = |found: &[Value; 9], expected: &[Value; 9]| {
        found.iter().zip(expected).all(|pair| match pair {
            (Value::Float(found), Value::Float(expected)) => (found - expected).abs() < 1e-6,
            (found, expected) => found == expected,
        })
    };
    for (arguments, expected) in [
        (
            ["--name=DiskIO/Read", "--sum=TransferSize"],
            row(1208, [19_564_544, 1024, 32_768], [16_195.814_569_536_424, 16_384.0, 16_384.0, 32_768.0]),
        ),
        (
            ["--name=DiskIO/Write", "--sum=TransferSize"],
            row(21, [286_720, 4096, 57_344], [13_653.333_333_333_334, 4096.0, 53_248.0, 56_524.8]),
        ),
        (
            ["--name=GC/Start", "--sum=Count"],
            row(528, [69_456, 1, 263], [131.545_454_545_454_53, 131.5, 250.0, 260.73]),
        ),
        // Numbers that are shown in hexadecimal.
        (
            ["--name=GC/AllocationTick", "--sum=AllocationAmount64"],
            row(10_382, [1_108_915_440, 102_760, 123_304], [106_811.350_414_178_39, 106_808.0, 106_808.0, 106_856.0]),
        ),
    ] {
        let found = of(&[&arguments[..], &["--by=event"]].concat());
        assert!(found.len() == 1 && near(&found[0], &expected), "{arguments:?}: {found:?}");
    }
    let elements = ["field", "with_field", "numbers", "sum", "min", "max", "p50"];
    let sizes =
        asked(&sources, &["--name=GC/PerHeapHistory", "--sum=Values[0].SizeBefore,Values.SizeBefore", "--by=event"]);
    assert_eq!(
        values(&sizes, elements),
        [
            [
                text("Values[0].SizeBefore"),
                264.into(),
                264.into(),
                1_107_376_172.into(),
                4_194_328.into(),
                4_267_884.into(),
                4_194_328.0.into()
            ],
            [
                text("Values.SizeBefore"),
                264.into(),
                1320.into(),
                1_148_097_044.into(),
                0.into(),
                11_943_764.into(),
                21_984.0.into()
            ],
        ]
    );
    let types = asked(&sources, &["--name=Type/BulkType", "--sum=Values[0].Name,Values.Name", "--by=event"]);
    let most = |value: &Value| if let Value::Map(texts) = value { texts.first().cloned() } else { None };
    let table = "System.Runtime.CompilerServices.ConditionalWeakTable`2[System.Object,System.Object]";
    let found: Vec<_> = values(&types, ["count", "distinct", "texts"])
        .into_iter()
        .map(|[count, distinct, texts]| (count, distinct, most(&texts)))
        .collect();
    let expected = |distinct, name: &str, count| {
        (Value::Int(54), Value::Int(distinct), Some((name.to_owned(), Value::Int(count))))
    };
    assert_eq!(found, [expected(19, table, 15), expected(20, "System.Object", 30)]);
}

#[test]
fn conditions_groups_series_and_pivots_of_a_recording() {
    let Some((_out, sources)) = all_events("net.4.5.2.x64.etl.zip") else { return };
    let reads = |condition: &str, more: &[&str]| {
        let condition = format!("--where={condition}");
        let of_reads = ["--name=DiskIO/Read", "--sum=TransferSize", "--by=event", condition.as_str()];
        let arguments = [&of_reads[..], more].concat();
        values(&asked(&sources, &arguments), ["count", "sum"])
    };
    assert_eq!(reads("TransferSize > 4096", &["--process=MsMpEng"])[0][0], 1037.into());
    assert_eq!(reads("TransferSize > 16384", &[])[0][0], 38.into());
    let joined = reads("TransferSize > 16384 or IrpFlags ~ *Verylow*", &[]);
    assert_eq!(joined, [[1096.into(), 18_083_840.into()]]);
    let complement = reads("not (TransferSize > 16384 or IrpFlags ~ *Verylow*)", &[]);
    assert_eq!(complement, [[(1208 - 1096).into(), (19_564_544 - 18_083_840).into()]]);
    // The archive keeps the name of the type, not its number, and says so.
    let by_number = asked(&sources, &["--name=GC/Start", "--where=Type = 0"]);
    let notes: Vec<&String> = by_number.sections.iter().flat_map(|section| &section.notes).collect();
    assert_eq!(by_number.rows().count(), 0);
    assert!(notes.iter().any(|note| note.contains("NonConcurrentGC")), "{notes:?}");

    let by_process = asked(&sources, &["--name=DiskIO/Read", "--by=process"]);
    let counts = values(&by_process, ["process", "count"]);
    assert_eq!(counts.last(), Some(&[text("MsMpEng.exe"), 1060.into()]));
    assert!(counts.contains(&[text("Test.x64.exe"), 100.into()]), "{counts:?}");
    let pivot = asked(&sources, &["--name=DiskIO/Read;DiskIO/ReadInit", "--by=process", "--pivot=event"]);
    let cells = values(&pivot, ["process", "cells"]);
    let both = [("DiskIO/Read", 1060), ("DiskIO/ReadInit", 1060)].map(|(name, count)| (name.to_owned(), count.into()));
    assert_eq!(cells.last(), Some(&[text("MsMpEng.exe"), Value::Map(both.to_vec())]));

    let series = asked(&sources, &["--name=GC/Start", "--sum=Count", "--by=event", "--bucket=1s"]);
    let seconds = |from: i64| Value::Int(from * 1_000_000_000);
    let expected = [(3, 82, 1722), (4, 104, 6858), (5, 106, 12_614), (6, 106, 18_232), (7, 108, 24_354), (8, 22, 5676)];
    let expected = expected.map(|(from, count, sum)| [seconds(from), Value::Int(count), Value::Int(sum)]);
    assert_eq!(values(&series, ["bucket_ns", "count", "sum"]), expected);
}
