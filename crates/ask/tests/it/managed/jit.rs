//! `dump jit`: figures of real recordings, taken by another program, and compilations made byte by byte.

use tracesift_ask::question::jit::Question;
use tracesift_etl::payload::dotnet::RUNTIME_PROVIDER;
use tracesift_etl::write::PointerSize;
use tracesift_etl::write::payload::Bytes;
use tracesift_extract::{EventSelection, Options};
use tracesift_scenario::providers::{self, Logged};
use tracesift_testing::recording::Recording;
use tracesift_trace::rows::{EventRow, HealthRow, JitMethodRow};

use super::{answer, made, ms, real, row, table};

const COLUMNS: [&str; 7] = ["process", "methods", "sum_ns", "union_ns", "threads", "il_bytes", "native_bytes"];

/// Name of the process, methods, sum and union in ms, threads, bytes of IL and of code.
fn figures(archive: &std::path::Path, process: &str) -> [String; 6] {
    let rows = table(&answer(archive, &Question::default()), &COLUMNS);
    let row = row(&rows, process);
    [row[1].clone(), ms(&row[2]), ms(&row[3]), row[4].clone(), row[5].clone(), row[6].clone()]
}

#[test]
fn sums_and_unions_of_real_recordings() {
    for (file, process, methods, sum, union, threads) in [
        ("net.4.5.2.x64.etl.zip", "Test.x64.exe", "288", "218.008", "218.008", "1"),
        ("net.4.5.2.x86.etl.zip", "PerfView.exe", "124", "29.616", "19.363", "6"),
        ("net.4.5.2.x86.etl.zip", "Test.x86.exe", "271", "59.225", "59.225", "1"),
    ] {
        let Some((_out, archive)) = real(file) else { return };
        let found = figures(&archive, process);
        assert_eq!(found[..4], [methods, sum, union, threads], "{process}");
        if process == "Test.x64.exe" {
            assert_eq!(found[4..], ["23933", "68156"]);
        }
    }
}

#[test]
fn sums_and_unions_of_a_real_recording_of_net_core() {
    let Some((_out, archive)) = real("diaghub-dotnetcore3.1-win-x64-diagsession.zip") else { return };
    let question = Question::default().by(&["trigger"]).expect("a dimension").by(&[]).expect("no dimension");
    let columns = ["methods", "sum_ns", "union_ns", "threads", "il_bytes", "native_bytes"];
    let rows = table(&answer(&archive, &question), &columns);
    let [row] = &rows[..] else { panic!("{rows:?}") };
    let found = [row[0].clone(), ms(&row[1]), ms(&row[2]), row[3].clone(), row[4].clone(), row[5].clone()];
    assert_eq!(found, ["5409", "4103.141", "4084.696", "3", "362341", "1277127"]);
}

fn logged(pid: u32, tid: u32, time: i64, id: u16, version: u8, payload: Bytes) -> Logged {
    let (time, payload) = (time * 1_000_000, payload.into_vec());
    Logged { time, cpu: 0, provider: RUNTIME_PROVIDER, id, version, pid, tid, payload }
}

/// The compiler begins with a method, at a time in ms.
fn begin(size: PointerSize, tid: u32, time: i64, method: u64) -> Logged {
    let mut out = Bytes::new(size);
    out.u64(method);
    out.u64(1);
    out.u32(0x0600_0001);
    out.u32(10 * method as u32);
    ["Shop.Orders.Basket", &format!("Method{method}"), "void ()"].iter().for_each(|text| out.utf16(text));
    out.u16(8);
    logged(7, tid, time, 145, 1, out)
}

/// The code of a method is there.
fn code(size: PointerSize, tid: u32, time: i64, method: u64, (tier, version): (u32, u64)) -> Logged {
    let mut out = Bytes::new(size);
    out.u64(method);
    out.u64(1);
    out.u64(0x7000_0000 + method * 0x1000);
    out.u32(100 * method as u32);
    out.u32(0x0600_0001);
    out.u32(0x8 | tier << 7 | if method == 3 { 0x40 } else { 0 });
    ["Shop.Orders.Basket", &format!("Method{method}"), "void ()"].iter().for_each(|text| out.utf16(text));
    out.u16(8);
    out.u64(version);
    logged(7, tid, time, 143, 2, out)
}

fn batch(size: PointerSize, tid: u32, time: i64, id: u16) -> Logged {
    let mut out = Bytes::new(size);
    out.u16(8);
    out.u32(1);
    if id == 284 {
        out.u32(1);
    }
    logged(7, tid, time, id, 0, out)
}

/// The assembly of the methods.
fn module(size: PointerSize) -> Logged {
    let mut out = Bytes::new(size);
    out.u64(1);
    out.u64(2);
    out.u32(0);
    out.u32(0);
    [r"C:\shop\Shop.dll", ""].iter().for_each(|text| out.utf16(text));
    out.u16(8);
    logged(7, 20, 1, 152, 1, out)
}

/// Two threads, a nested method, one of the background, one that is optimised anew, one without code.
fn story(size: PointerSize) -> Vec<Logged> {
    const FIRST: (u32, u64) = (3, 0);
    vec![
        module(size),
        // 10 ms, of which 4 are nested.
        begin(size, 20, 100, 1),
        begin(size, 20, 102, 2),
        code(size, 20, 106, 2, FIRST),
        code(size, 20, 110, 1, FIRST),
        // At the same time: 5 ms, 3 of them together with the first thread.
        begin(size, 21, 107, 3),
        code(size, 21, 112, 3, FIRST),
        // In a batch: 6 ms. With a version of tier 1: 7 ms. On the stack: 1 ms.
        batch(size, 22, 200, 283),
        begin(size, 22, 201, 4),
        code(size, 22, 207, 4, (2, 0)),
        batch(size, 22, 208, 284),
        begin(size, 22, 210, 1),
        code(size, 22, 217, 1, (4, 1)),
        begin(size, 20, 220, 2),
        code(size, 20, 221, 2, (5, 1)),
        // Nested in one that has code: it has none.
        begin(size, 20, 300, 5),
        begin(size, 20, 301, 6),
        code(size, 20, 302, 5, FIRST),
        // Its begin is not in the recording.
        code(size, 21, 400, 9, FIRST),
        begin(size, 21, 500, 7),
    ]
}

#[test]
fn nested_overlapping_and_open_compilations() {
    for size in [PointerSize::Four, PointerSize::Eight] {
        let extracted = made(size, story(size));
        let ask = |by: &[&str], keys: &[&str]| {
            let question = Question::default().by(by).expect("dimensions");
            let mut rows = table(&answer(&extracted.report.archive, &question), keys);
            rows.sort();
            rows
        };
        let ms = |values: [i64; 4]| values.map(|value| (value * 1_000_000).to_string());
        let rows = ask(&["process"], &["process", "sum_ns", "foreground_ns", "background_ns", "union_ns"]);
        let [app] = &rows[..] else { panic!("{rows:?}") };
        assert_eq!(app[1..], ms([10 + 5 + 6 + 7 + 1 + 2, 10 + 5 + 1 + 2, 13, 12 + 6 + 7 + 1 + 2]));
        let rows = ask(&["process"], &["methods", "open", "threads", "il_bytes", "native_bytes", "r2r_rejected"]);
        assert_eq!(rows, [["7", "2", "3", "180", "1800", "1"]]);
        let rows = ask(&["thread"], &["tid", "methods", "sum_ns"]);
        let expected = [("20", "4", 13), ("21", "1", 5), ("22", "2", 13)];
        let expected =
            expected.map(|(tid, methods, sum)| [tid, methods, &(sum * 1_000_000_i64).to_string()].map(str::to_owned));
        assert_eq!(rows, expected);
        let rows = ask(&["module", "namespace", "type"], &["module", "namespace", "type", "methods"]);
        assert_eq!(rows, [["Shop.dll", "Shop.Orders", "Shop.Orders.Basket", "7"]]);
        let rows = ask(&["tier"], &["tier", "methods"]);
        assert_eq!(rows, [["OSR", "1"], ["open", "0"], ["optimised", "1"], ["tier 0", "4"], ["tier 1", "1"]]);
        let health: Vec<HealthRow> = extracted.archive.rows().expect("health");
        assert!(
            !health.iter().any(|row| row.kind.contains("undecodable") || row.kind.contains("compil")),
            "{health:?}"
        );
    }
}

/// The begin of a method, cut at each byte: its row is there when its last text has begun.
#[test]
fn payloads_are_cut_at_each_byte() {
    // Two ids, token, size; namespace and name with their ends.
    const SIGNATURE: usize = 24 + 2 * (19 + 8);
    for (size, version) in [(PointerSize::Four, 0), (PointerSize::Eight, 1)] {
        let whole = begin(size, 20, 100, 1);
        for length in 0..=whole.payload.len() {
            let cut = Logged { payload: whole.payload[..length].to_vec(), version, ..whole.clone() };
            let extracted = made(size, vec![cut, code(size, 20, 105, 1, (3, 0))]);
            let rows: Vec<JitMethodRow> = extracted.archive.rows().expect("methods");
            assert_eq!(rows.len(), usize::from(length > SIGNATURE), "{length} bytes");
            let Some(row) = rows.first() else { continue };
            assert_eq!((row.start, row.time, row.il_size), (100_000_000, 105_000_000, 10));
            let runtime = (version == 1 && length == whole.payload.len()).then_some(8);
            assert_eq!((row.runtime, row.native_size, row.exclusive), (runtime, Some(100), Some(5_000_000)));
        }
    }
}

/// What the table shows is not kept a second time, unless all events are asked for.
#[test]
fn compilations_are_kept_once() {
    let kept = |selection| {
        let size = PointerSize::Eight;
        let bytes = providers::write(size, 10, &[(7, "app.exe")], story(size)).expect("a recording");
        let options = Options { events: Some(selection), ..Options::default() };
        let extracted = Recording::of("managed.etl", &bytes).extract_with(&options);
        assert_eq!(extracted.archive.row_count::<JitMethodRow>(), 9);
        let rows: Vec<EventRow> = extracted.archive.rows().expect("events");
        let mut ids: Vec<i32> = rows.iter().filter_map(|row| row.id).collect();
        ids.sort_unstable();
        ids.dedup();
        ids
    };
    assert_eq!(kept(EventSelection::Default), [152, 283, 284]);
    assert_eq!(kept(EventSelection::All), [143, 145, 152, 283, 284]);
}
