//! Damage: an error or fewer lines, never a panic, and no more memory than the file has.

use proptest::prelude::*;
use tracesift_fixtures::cases;
use tracesift_symbols::portable::read_embedded;
use tracesift_symbols::{Error, PortablePdb};

use crate::portable::writer::{Method, Pdb, Record, container, embedded};
use crate::portable::written::example;

/// Asks for everything.
fn exhaust(bytes: &[u8]) {
    let Ok(pdb) = PortablePdb::read(bytes.to_vec(), None) else { return };
    for document in pdb.documents().take(100) {
        let path = pdb.document(document).unwrap_or_default();
        let _ = pdb.source_link().map(|link| link.address(&path));
    }
    for row in 0..=pdb.methods().min(100) {
        let token = 0x0600_0000 | row;
        assert!(pdb.points(token).filter(Result::is_err).count() <= 1);
        let _ = pdb.place(token, 5);
    }
}

#[test]
fn every_cut_and_every_flipped_bit() {
    let bytes = example().bytes();
    for length in 0..bytes.len() {
        exhaust(&bytes[..length]);
        let mut damaged = bytes.clone();
        for bit in 0..8 {
            damaged[length] ^= 1 << bit;
            exhaust(&damaged);
            damaged[length] ^= 1 << bit;
        }
    }
}

#[test]
fn other_files_are_told_apart() {
    for other in [&b""[..], b"BSJ", b"MZ\x90", b"Microsoft C/C++ MSF 7.00\r\n\x1aDS"] {
        assert!(matches!(PortablePdb::read(other.to_vec(), None), Err(Error::OtherFormat(_))), "{other:?}");
        assert!(!PortablePdb::is_one(other));
    }
    // The metadata of an assembly.
    let assembly = container(&[("#~", &[0; 32]), ("#Blob", &[0; 4])]);
    assert!(matches!(PortablePdb::read(assembly, None), Err(Error::OtherFormat(_))));
}

#[test]
fn forged_counts_are_errors() {
    let bytes = example().bytes();
    let tables = bytes.windows(8).position(|bytes| bytes == [0, 0, 0, 0, 2, 0, 0, 1]).unwrap();
    for count in 0..5 {
        let mut forged = bytes.clone();
        forged[tables + 24 + count * 4..][..4].fill(0xff);
        assert!(matches!(PortablePdb::read(forged, None), Err(Error::Malformed(_))), "table {count}");
    }
    let mut types = bytes;
    types[tables + 8] |= 2;
    assert!(matches!(PortablePdb::read(types, None), Err(Error::Malformed(_))));
}

#[test]
fn damaged_points_place_nothing_behind_the_damage() {
    let records = vec![Record::Point(0, 5, 1, 0, 1), Record::Point(9, 6, 1, 0, 1), Record::Point(12, 7, 1, 0, 1)];
    let pdb = Pdb {
        documents: example().documents,
        methods: vec![Method { document: 1, first_document: 0, records }],
        ..Pdb::default()
    };
    let mut bytes = pdb.bytes();
    let blob = bytes.windows(4).rposition(|bytes| bytes == [3, 0, 1, 2]).unwrap();
    bytes[blob] = 0xff;
    let read = PortablePdb::read(bytes, None).unwrap();
    assert_eq!(read.place(0x0600_0001, 8).map(|place| place.line), Some(5));
    assert_eq!(read.place(0x0600_0001, 10), None);
    let all: Vec<_> = read.points(0x0600_0001).collect();
    assert!(matches!(all[..], [Ok(_), Ok(_), Err(Error::Malformed(_))]), "{all:?}");
}

#[test]
fn names_that_grow_on_and_on_are_not_put_together() {
    let part = "x".repeat(1000);
    let mut pdb = example();
    pdb.documents[0] = ('/', vec![part.clone(); 60]);
    pdb.documents[1] = ('/', vec![part; 70]);
    let read = PortablePdb::read(Pdb { wide: true, ..pdb }.bytes(), None).unwrap();
    let names: Vec<_> = read.documents().map(|document| read.document(document).map(|name| name.len())).collect();
    assert_eq!(names, [Some(60 * 1001 - 1), None, Some(4)]);
}

#[test]
fn a_bomb_ends_at_the_size_that_it_says() {
    let mut bomb = embedded(&vec![0; 64 << 20]);
    bomb[4..8].copy_from_slice(&100_u32.to_le_bytes());
    assert!(matches!(read_embedded(&bomb, None), Err(Error::Malformed(_))));
}

proptest! {
    #[test]
    fn damage_in_real_ones(file in 0..3_usize, at in any::<prop::sample::Index>(), bytes in prop::collection::vec(any::<u8>(), 1..9)) {
        let Some(folder) = cases("symbols") else { return Ok(()) };
        let name = ["portable.pdb", "ppdb-sourcelink-sample.pdb", "source-links-only.pdb"][file];
        let mut damaged = std::fs::read(folder.join(name)).unwrap();
        // Nearly everything is decided in the first bytes.
        let at = at.index(damaged.len().min(1024) - bytes.len());
        damaged[at..at + bytes.len()].copy_from_slice(&bytes);
        exhaust(&damaged);
    }

    #[test]
    fn noise(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
        exhaust(&[b"BSJB\x01\0\x01\0\0\0\0\0\x04\0\0\0PDB\0\0\0\x02\0".as_slice(), &bytes].concat());
        prop_assert!(read_embedded(&[b"MPDB".as_slice(), &bytes].concat(), None).is_err());
    }
}
