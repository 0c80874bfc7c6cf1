//! A table has the lines that the PDB has.

use proptest::prelude::*;
use tracesift_symbols::{Error, PortablePdb, portable};

use crate::portable::writer::{Method, Pdb, Record};
use crate::portable::written::example;

/// Compares every IL offset of every method, and some behind the last point.
pub(crate) fn assert_a_table_says_the_same(pdb: &PortablePdb) {
    let table = match portable::table(pdb, "some identity") {
        Ok(table) => table,
        Err(Error::Empty) => {
            let points = (1..=pdb.methods()).map(|row| pdb.points(0x0600_0000 | row).count());
            assert_eq!(points.sum::<usize>(), 0);
            return;
        }
        Err(error) => panic!("{error}"),
    };
    assert_eq!(table.identity(), "some identity");
    for token in (0..=pdb.methods() + 1).map(|row| 0x0600_0000 | row) {
        let last = pdb.points(token).map_while(Result::ok).map(|point| point.il_offset).max().unwrap_or(0);
        for il_offset in (0..last.min(5_000) + 10).chain(last.saturating_sub(5)..last + 5) {
            let expected = pdb.place(token, il_offset).map(|place| (pdb.document(place.document), place.line));
            let address = portable::address(&table, token, il_offset);
            let found = address.and_then(|address| table.frames(address).next());
            let found = found.map(|frame| (frame.file.map(str::to_owned), frame.line.expect("a line")));
            assert_eq!(found, expected, "{token:#x} {il_offset:#x}");
        }
    }
    assert_eq!(portable::address(&table, 0x0a00_0001, 0), None, "a token of another table");
}

#[test]
fn of_methods_with_and_without_lines() {
    assert_a_table_says_the_same(&PortablePdb::read(example().bytes(), None).unwrap());
}

#[test]
fn a_table_of_something_else_has_no_lines() {
    let table = tracesift_symbols::TableBuilder::new().finish("");
    assert_eq!(portable::address(&table, 0x0600_0001, 0), None);
}

proptest! {
    #[test]
    fn of_any_methods(
        methods in prop::collection::vec(prop::collection::vec((0_u32..3000, 1_u32..4, any::<bool>()), 0..12), 0..8),
    ) {
        let method = |points: Vec<(u32, u32, bool)>| {
            let (mut records, mut offset) = (Vec::new(), 0);
            for (delta, line, hidden) in points {
                // Two points never stand at one offset.
                offset += delta + u32::from(!records.is_empty());
                records.push(if hidden { Record::Hidden(offset) } else { Record::Point(offset, line, 1, 0, 5) });
            }
            Method { document: 1, records, ..Method::default() }
        };
        let pdb = Pdb { methods: methods.into_iter().map(method).collect(), ..example() };
        assert_a_table_says_the_same(&PortablePdb::read(pdb.bytes(), None).unwrap());
    }
}
