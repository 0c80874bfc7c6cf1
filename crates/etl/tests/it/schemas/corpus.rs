//! The inputs that fuzzing of schemas starts from, in `fuzz/corpus/schemas`: records, each behind its length. With `WRITE_CORPUS=1`
//! they are written.

use std::path::PathBuf;

use crate::schemas::build::{Property, classic, described, event, manifest_events, map, metadata, wide};
use crate::schemas::manifest::{XML, work_payload};
use crate::schemas::shown;

fn inputs() -> Vec<(&'static str, Vec<Vec<u8>>)> {
    let properties = [
        Property { map: "Kind", ..Property::new("Kind", 8, 0) },
        Property { flags: 1, count: 2, ..Property::new("Both", 3, 2) },
        Property { flags: 2, length: 0, ..Property::new("Blob", 14, 15) },
        Property::new("Name", 1, 0),
        Property { flags: 4, count: 0, ..Property::new("Items", 6, 17) },
    ];
    let payload = [&[1, 0, 0, 0][..], &wide("a"), &[2, 0], &wide("b"), &[3, 0], &[4]].concat();
    let both = map("Kind", true, &[(1, "One"), (2, "Two")]);
    let fields = b"Text\0\x01Pairs\0\xd8\x82\x01Key\0\x04Value\0\x26\x02\0Bytes\0\x0e";
    let traced = [&wide("x")[..], &[1, 0, 5, 1, 0, 2, 0, 2, 0, 9, 9]].concat();
    vec![
        ("metadata", vec![both, metadata(9, 3, &properties), event(9, 0, &[], &payload)]),
        ("tracelogging", vec![event(0, 0, &described("Happened", fields), &traced)]),
        ("manifest", [manifest_events(XML, 2), vec![event(1, 0, &[], &work_payload())]].concat()),
        (
            "class",
            vec![classic(
                0x3d6fa8d1_fe05_11d0_9dda_00c04fd7ba7c,
                72,
                2,
                &[&[5, 0, 0, 0, 7, 0, 0, 0][..], &wide("n")].concat(),
            )],
        ),
    ]
}

#[test]
fn the_corpus_is_what_its_names_say() {
    let directory = PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../fuzz/corpus/schemas"));
    for (name, records) in inputs() {
        let bytes: Vec<u8> =
            records.iter().flat_map(|record| [&(record.len() as u16).to_le_bytes()[..], record].concat()).collect();
        if name != "class" {
            assert_ne!(shown(&records), "raw", "{name}");
        }
        let path = directory.join(name);
        if std::env::var_os("WRITE_CORPUS").is_some() {
            std::fs::create_dir_all(&directory).expect("a directory for the corpus");
            std::fs::write(&path, &bytes).expect("the corpus can be written");
        }
        assert_eq!(std::fs::read(&path).expect("the corpus is there; WRITE_CORPUS=1 writes it"), bytes, "{name}");
    }
}
