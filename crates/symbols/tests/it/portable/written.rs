//! What is written comes back.

use proptest::prelude::*;
use tracesift_symbols::portable::{DocumentId, Place, read_embedded};
use tracesift_symbols::{Error, Guid, PortablePdb};

use crate::portable::writer::{Method, Pdb, Record, compressed, compressed_signed, embedded};

pub(crate) fn document(path: &str) -> (char, Vec<String>) {
    let separator = if path.contains('\\') { '\\' } else { '/' };
    (separator, path.split(separator).map(str::to_owned).collect())
}

/// Three methods of two documents: one with hidden code, one of both, one without lines.
pub(crate) fn example() -> Pdb {
    use Record::{Document, Hidden, Point};
    Pdb {
        id: *b"0123456789abcdefTIME",
        documents: vec![
            document(r"C:\src\Größe.cs"),
            document("/_/src/b.cs"),
            ('\0', vec!["c".to_owned(), ".cs".to_owned()]),
        ],
        methods: vec![
            Method {
                document: 1,
                records: vec![Point(0, 10, 9, 0, 1), Point(1, 11, 13, 0, 20), Hidden(8), Point(0x90, 9, 5, 2, -3)],
                ..Method::default()
            },
            Method {
                first_document: 2,
                records: vec![
                    Hidden(0),
                    Point(2, 700, 1, 0, 4),
                    Document(3),
                    Point(3, 3, 1, 0, 9),
                    Document(2),
                    Point(5, 701, 1, 0, 1),
                ],
                ..Method::default()
            },
            Method::default(),
        ],
        source_link: Some(
            r#"{"documents":{"/_/src/*":"https://example.com/raw/*?v=1","C:\\src\\*":"https://example.com/win/*"}}"#
                .to_owned(),
        ),
        ..Pdb::default()
    }
}

fn read(pdb: &Pdb) -> PortablePdb {
    PortablePdb::read(pdb.bytes(), None).unwrap()
}

fn line(pdb: &PortablePdb, token: u32, il_offset: u32) -> Option<String> {
    let place = pdb.place(token, il_offset)?;
    Some(format!("{}:{}", pdb.document(place.document)?, place.line))
}

#[test]
fn lines_of_methods() {
    let pdb = read(&example());
    let at = |token, offset| line(&pdb, token, offset);
    assert_eq!(at(0x0600_0001, 0).as_deref(), Some(r"C:\src\Größe.cs:10"));
    assert_eq!(at(0x0600_0001, 7).as_deref(), Some(r"C:\src\Größe.cs:11"));
    assert_eq!(at(0x0600_0001, 8), None, "hidden");
    assert_eq!(at(0x0600_0001, 0x8f), None, "hidden");
    assert_eq!(at(0x0600_0001, 0x1fff_ffff).as_deref(), Some(r"C:\src\Größe.cs:9"));
    assert_eq!(at(0x0600_0002, 1), None, "hidden");
    assert_eq!(at(0x0600_0002, 2).as_deref(), Some("/_/src/b.cs:700"));
    assert_eq!(at(0x0600_0002, 4).as_deref(), Some("c.cs:3"));
    assert_eq!(at(0x0600_0002, 5).as_deref(), Some("/_/src/b.cs:701"));
    for (token, what) in
        [(0x0600_0003, "no lines"), (0x0600_0004, "no method"), (0x0600_0000, "nil"), (0x0a00_0001, "of another table")]
    {
        assert_eq!(pdb.points(token).count(), 0, "{what}");
        assert_eq!(at(token, 0), None, "{what}");
    }
    assert_eq!((pdb.documents().count(), pdb.methods()), (3, 3));
}

#[test]
fn identity_comes_first() {
    let mut pdb = example();
    let guid = Guid::from_bytes(*b"0123456789abcdef");
    let read = PortablePdb::read(pdb.bytes(), Some(guid)).unwrap();
    assert_eq!((read.guid(), read.stamp()), (guid, u32::from_le_bytes(*b"TIME")));
    pdb.id[0] = b'1';
    let mut other = pdb.bytes();
    // What comes behind the id does not matter then.
    let tables = other.windows(8).position(|bytes| bytes == [0, 0, 0, 0, 2, 0, 0, 1]).unwrap();
    other[tables + 8..tables + 16].fill(0xff);
    assert!(matches!(PortablePdb::read(other.clone(), None), Err(Error::Malformed(_))));
    let error = PortablePdb::read(other, Some(guid)).unwrap_err();
    let Error::OtherBinary { wanted, found } = error else { panic!("{error}") };
    assert_eq!((wanted, found), (guid.to_string(), Guid::from_bytes(*b"1123456789abcdef").to_string()));
}

#[test]
fn an_embedded_pdb_is_the_same() {
    let pdb = example().bytes();
    let guid = Guid::from_bytes(*b"0123456789abcdef");
    assert_eq!(
        line(&read_embedded(&embedded(&pdb), Some(guid)).unwrap(), 0x0600_0001, 1).unwrap(),
        r"C:\src\Größe.cs:11"
    );
    assert!(matches!(read_embedded(&pdb, None), Err(Error::OtherFormat(_))));
    assert!(matches!(read_embedded(&embedded(&pdb)[..20], None), Err(Error::Malformed(_))));
    for said in [0, pdb.len() as u32 - 1, pdb.len() as u32 + 1, u32::MAX] {
        let mut data = embedded(&pdb);
        data[4..8].copy_from_slice(&said.to_le_bytes());
        assert!(matches!(read_embedded(&data, None), Err(Error::Malformed(_))), "{said} bytes said");
    }
}

#[test]
fn documents_have_addresses() {
    let pdb = read(&example());
    let link = pdb.source_link().unwrap();
    let address = |path: &str| link.address(path);
    assert_eq!(address("/_/src/dir/b.cs").as_deref(), Some("https://example.com/raw/dir/b.cs?v=1"));
    assert_eq!(address(r"c:\SRC\dir\a.cs").as_deref(), Some("https://example.com/win/dir/a.cs"));
    assert_eq!(address("/elsewhere/b.cs"), None);
    let rules = r#"{"documents":{"/a/*":"u/*","/a/b/*":"v/*","/a/b/c.cs":"w","/x*/":"y*","/n":1}}"#;
    let link = read(&Pdb { source_link: Some(rules.to_owned()), ..example() }).source_link().unwrap();
    let addresses = ["/a/b/c.cs", "/a/b/d.cs", "/a/d.cs", "/a/b/c.cs2", "/x", "/n"].map(|path| link.address(path));
    let expected = [Some("w"), Some("v/d.cs"), Some("u/d.cs"), Some("v/c.cs2"), None, None];
    assert_eq!(addresses.each_ref().map(Option::as_deref), expected);
    for nonsense in ["", "[]", r#"{"documents":[]}"#, &"[".repeat(100_000)] {
        assert_eq!(read(&Pdb { source_link: Some(nonsense.to_owned()), ..example() }).source_link(), None);
    }
}

#[test]
fn references_are_as_wide_as_tables_and_heaps_are_long() {
    for (wide, documents, method_rows) in [(true, 3, 0), (false, 3, 3000), (false, 3, 70_000), (true, 70_000, 70_000)] {
        let mut pdb = Pdb { wide, method_rows, ..example() };
        pdb.documents.resize(documents, pdb.documents[1].clone());
        let read = read(&pdb);
        assert_eq!(read.documents().count(), documents);
        assert_eq!(line(&read, 0x0600_0002, 4).as_deref(), Some("c.cs:3"), "{wide} {documents} {method_rows}");
        assert!(read.source_link().is_some(), "{wide} {documents} {method_rows}");
    }
}

/// The examples of ECMA-335 II.23.2.
#[test]
fn numbers_are_compressed_as_the_standard_says() {
    let unsigned: [(u32, &[u8]); 7] = [
        (3, &[3]),
        (0x7f, &[0x7f]),
        (0x80, &[0x80, 0x80]),
        (0x2e57, &[0xae, 0x57]),
        (0x3fff, &[0xbf, 0xff]),
        (0x4000, &[0xc0, 0, 0x40, 0]),
        (0x1fff_ffff, &[0xdf, 0xff, 0xff, 0xff]),
    ];
    unsigned.iter().for_each(|(value, bytes)| assert_eq!(compressed(*value), *bytes, "{value}"));
    let signed: [(i32, &[u8]); 10] = [
        (3, &[6]),
        (-3, &[0x7b]),
        (64, &[0x80, 0x80]),
        (-64, &[1]),
        (8192, &[0xc0, 0, 0x40, 0]),
        (-8192, &[0x80, 1]),
        (0xfff_ffff, &[0xdf, 0xff, 0xff, 0xfe]),
        (-0x1000_0000, &[0xc0, 0, 0, 1]),
        (0, &[0]),
        (-1, &[0x7f]),
    ];
    signed.iter().for_each(|(value, bytes)| assert_eq!(compressed_signed(*value), *bytes, "{value}"));
}

/// Numbers on both sides of the boundaries between one, two and four bytes.
fn sizes(most: u32) -> impl Strategy<Value = u32> {
    prop_oneof![0..4_u32, 0x3e..0x42_u32, 0x7e..0x82_u32, 0x1ffe..0x2002_u32, 0x3ffe..0x4002_u32, 0..0x10_0000_u32]
        .prop_map(move |size| size.min(most))
}

fn method() -> impl Strategy<Value = Method> {
    let record = (sizes(u32::MAX), sizes(u32::MAX), sizes(0xffff), 0..3_u32, 1..4000_i32, 0..8_u32);
    (0..3_u32, prop::collection::vec(record, 0..20)).prop_map(|(document, drawn)| {
        let (mut records, mut offset) = (Vec::new(), 0);
        for (step, line, column, lines, columns, kind) in drawn {
            if kind == 0 && !records.is_empty() && document == 0 {
                records.push(Record::Document(step % 2 + 1));
                continue;
            }
            offset += if records.is_empty() { step } else { step + 1 };
            records.push(match kind {
                1 => Record::Hidden(offset),
                _ => Record::Point(offset, line + 1, column, lines, columns),
            });
        }
        Method { document, first_document: 2, records }
    })
}

proptest! {
    /// Every offset is at the place of the last point in front of it.
    #[test]
    fn every_offset_is_where_it_was_written(methods in prop::collection::vec(method(), 1..6), probes in prop::collection::vec(sizes(u32::MAX), 1..30)) {
        let pdb = read(&Pdb { documents: vec![document("/a"), document("/b")], methods: methods.clone(), ..Pdb::default() });
        for (token, method) in (0x0600_0001..).zip(&methods) {
            let (mut expected, mut document) = (Vec::new(), if method.document == 0 { method.first_document } else { method.document });
            for record in &method.records {
                match *record {
                    Record::Document(other) => document = other,
                    Record::Hidden(offset) => expected.push((offset, None)),
                    Record::Point(offset, line, ..) => expected.push((offset, Some(Place { document: DocumentId(document), line }))),
                }
            }
            let points: Vec<_> = pdb.points(token).map(|point| point.map(|point| (point.il_offset, point.place)).unwrap()).collect();
            prop_assert_eq!(&points, &expected);
            let near = expected.iter().flat_map(|(offset, _)| [*offset, offset.wrapping_sub(1), offset + 1]);
            for offset in near.chain(probes.iter().copied()) {
                let last = expected.iter().rfind(|(start, _)| *start <= offset).and_then(|(_, place)| *place);
                prop_assert_eq!(pdb.place(token, offset), last, "at {}", offset);
            }
        }
    }
}
