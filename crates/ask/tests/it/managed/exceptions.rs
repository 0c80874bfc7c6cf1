//! `dump exceptions`: the exceptions of real recordings, and events made byte by byte.

use tracesift_ask::question::exceptions::Question;
use tracesift_ask::table_question::Listing;
use tracesift_etl::payload::dotnet::RUNTIME_PROVIDER;
use tracesift_etl::write::PointerSize;
use tracesift_etl::write::payload::Bytes;
use tracesift_scenario::providers::Logged;

use super::{answer, made, real, table};

#[test]
fn exceptions_of_real_recordings() {
    for file in ["net.4.5.2.x64.etl.zip", "net.4.5.2.x86.etl.zip"] {
        let Some((_out, archive)) = real(file) else { return };
        let rows = table(&answer(&archive, &Question::default()), &["process", "type", "count", "rethrown", "caught"]);
        assert_eq!(rows, [["PerfView.exe", "System.IO.FileNotFoundException", "1", "0", "0"]], "{file}");
        let list = answer(&archive, &Question::default().listed(Listing::Flat));
        assert_eq!(table(&list, &["hresult", "flags", "handling"]), [["0x80070002", "", "unknown"]], "{file}");
    }
}

fn logged(pid: u32, time: i64, id: u16, payload: Bytes) -> Logged {
    let (time, payload) = (time * 1_000_000, payload.into_vec());
    Logged { time, cpu: 0, provider: RUNTIME_PROVIDER, id, version: u8::from(id == 80), pid, tid: pid * 4, payload }
}

fn thrown(pid: u32, time: i64, (name, message, flags): (&str, &str, u16)) -> Logged {
    let mut out = Bytes::new(PointerSize::Eight);
    out.utf16(name);
    out.utf16(message);
    out.pointer(0x1000);
    out.u32(0x8013_1500);
    out.u16(flags);
    out.u16(9);
    logged(pid, time, 80, out)
}

/// A catch block of a method, from begin to end.
fn caught(pid: u32, time: i64, method: &str) -> [Logged; 2] {
    let mut out = Bytes::new(PointerSize::Eight);
    out.u64(0x7000_0000);
    out.u64(0x77);
    out.utf16(method);
    out.u16(9);
    [logged(pid, time, 250, out), logged(pid, time + 1, 251, Bytes::new(PointerSize::Eight))]
}

fn events() -> Vec<Logged> {
    let mut log = Vec::new();
    // The same message of two types, thrown once more by the first catch block.
    for round in 0..3 {
        let from = 100 * round;
        log.push(thrown(7, from + 10, ("Shop.Failed", "no basket", 0)));
        log.extend(caught(7, from + 14, "Shop.Basket.Find"));
        log.push(thrown(7, from + 20, ("Shop.Missing", "no basket", 0)));
        log.push(caught(7, from + 21, "Shop.Basket.Find").into_iter().next().expect("a begin"));
        log.push(thrown(7, from + 30, ("Shop.Missing", "no basket", 6)));
        log.extend(caught(7, from + 40, "Shop.Main"));
    }
    log.push(thrown(9, 50, ("Shop.Failed", "not caught", 0)));
    log
}

#[test]
fn exceptions_are_told_by_type_and_message() {
    let extracted = made(PointerSize::Eight, events());
    let archive = &extracted.report.archive;
    let keys = ["pid", "type", "message", "count", "rethrown", "nested", "caught", "handling_ns", "handling_max_ns"];
    let mut rows = table(&answer(archive, &Question::default()), &keys);
    rows.sort();
    let expected = [
        ["7", "Shop.Failed", "no basket", "3", "0", "0", "3", "12000000", "4000000"],
        ["7", "Shop.Missing", "no basket", "3", "3", "3", "6", "33000000", "10000000"],
        ["9", "Shop.Failed", "not caught", "1", "0", "0", "0", "-", "-"],
    ];
    assert_eq!(rows, expected);

    let catchers = Question::default().by(&["catcher"]).expect("a dimension");
    let mut rows = table(&answer(archive, &catchers), &["catcher", "count", "rethrown", "first_ns", "last_ns"]);
    rows.sort();
    let expected = [
        ["-", "1", "0", "50000000", "50000000"],
        ["Shop.Basket.Find", "6", "0", "10000000", "220000000"],
        ["Shop.Main", "0", "3", "30000000", "230000000"],
    ];
    assert_eq!(rows, expected);
}

#[test]
fn exceptions_are_chosen_by_type_message_catcher_and_time() {
    let extracted = made(PointerSize::Eight, events());
    let archive = &extracted.report.archive;
    let single = |question: Question| -> Vec<Vec<String>> {
        let listed = question.sorted_by_word("time").expect("a word").listed(Listing::Flat);
        table(&answer(archive, &listed), &["time", "type", "flags", "handling"])
    };
    let matching = |option: &str, patterns: &str| Question::default().matching(option, patterns).expect("an option");
    let expected = [
        ["30000000", "Shop.Missing", "nested, rethrown", "caught"],
        ["130000000", "Shop.Missing", "nested, rethrown", "caught"],
        ["230000000", "Shop.Missing", "nested, rethrown", "caught"],
    ];
    assert_eq!(single(matching("--catcher", "*Main")), expected);
    assert_eq!(single(matching("--message", "not*")), [["50000000", "Shop.Failed", "", "unknown"]]);
    assert_eq!(single(matching("--type", "*Failed")).len(), 4);
    assert_eq!(single(matching("--handling", "caught")).len(), 9);
    let mut late = Question::default();
    late.time = tracesift_grammar::TimeRange { start: Some(200_000_000), end: None };
    assert_eq!(single(late).len(), 3);
}
