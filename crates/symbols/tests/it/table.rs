//! Tables: what is added comes back, also through bytes, and damage is noticed.

use proptest::prelude::*;
use tracesift_symbols::{Frame, Table, TableBuilder, TableError};

/// Names at an address, innermost first.
fn names(table: &Table, address: u64) -> Vec<String> {
    table
        .frames(address)
        .map(|frame| match (frame.file, frame.line) {
            (Some(file), Some(line)) => format!("{} {file}:{line}", frame.function),
            _ => frame.function.to_owned(),
        })
        .collect()
}

#[test]
fn inlined_functions_come_innermost_first() {
    let mut builder = TableBuilder::new();
    let outer = builder.function("outer", Some("(int)"), "pdb");
    let inner = builder.function("ns::inner", None, "pdb");
    let file = builder.file("a.cpp");
    let at_call = builder.location(None, outer, Some(file), 7);
    let whole = builder.location(None, outer, Some(file), 5);
    let inlined = builder.location(Some(at_call), inner, Some(file), 90);
    builder.add(0x1000, 0x1040, whole);
    builder.add(0x1010, 0x1020, inlined);
    let table = builder.finish("id");
    assert_eq!(names(&table, 0xfff), Vec::<String>::new());
    assert_eq!(names(&table, 0x1000), ["outer a.cpp:5"]);
    assert_eq!(names(&table, 0x1010), ["ns::inner a.cpp:90", "outer a.cpp:7"]);
    assert_eq!(names(&table, 0x1020), ["outer a.cpp:5"]);
    assert_eq!(names(&table, 0x1040), Vec::<String>::new());
    let opened = Table::open(table.bytes().to_vec().into()).expect("a table");
    assert_eq!(opened.identity(), "id");
    let first = opened.frames(0x1000).next();
    let expected =
        Frame { function: "outer", arguments: Some("(int)"), file: Some("a.cpp"), line: Some(5), source: "pdb" };
    assert_eq!(first, Some(expected));
}

#[test]
fn damage_is_noticed() {
    let mut builder = TableBuilder::new();
    let function = builder.function("f", None, "elf");
    let location = builder.location(None, function, None, 0);
    builder.add(1, 2, location);
    let bytes = builder.finish("id").bytes().to_vec();
    for at in 0..bytes.len() {
        let mut damaged = bytes.clone();
        damaged[at] ^= 0x10;
        let expected = match at {
            0..8 => TableError::NoTable,
            8..12 => TableError::Version(1 ^ 0x10 << (8 * (at - 8))),
            _ => TableError::Damaged,
        };
        assert_eq!(Table::open(damaged.into()).expect_err("damaged"), expected, "byte {at}");
        assert!(Table::open(bytes[..at].to_vec().into()).is_err(), "{at} bytes");
    }
}

proptest! {
    /// Of the ranges that hold an address, the one that was added last counts.
    #[test]
    fn what_was_added_last_lies_on_top(ranges in prop::collection::vec((0_u64..60, 0_u64..20), 0..30)) {
        let mut builder = TableBuilder::new();
        for (number, (start, length)) in ranges.iter().enumerate() {
            let function = builder.function(&format!("f{number}"), None, "elf");
            let location = builder.location(None, function, None, 0);
            builder.add(*start, start + length, location);
        }
        let table = builder.finish("");
        for address in 0..90 {
            let holds = |(start, length): &(u64, u64)| (*start..start + length).contains(&address);
            let expected: Vec<String> = ranges.iter().rposition(holds).map(|number| format!("f{number}")).into_iter().collect();
            prop_assert_eq!(names(&table, address), expected, "at {}", address);
        }
        let starts: Vec<_> = table.code_ranges().collect();
        prop_assert!(starts.is_sorted_by(|a, b| a.0 < b.0), "{:?}", starts);
    }
}
