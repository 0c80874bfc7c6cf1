//! Lines of managed code, from rows and a PDB whose every point is known: the one that fuzzing starts from, which the tests of its reader write.

use std::path::Path;

use tracesift_extract::symbols::Assembly;
use tracesift_extract::symbols::managed::{MissingLines, lines};
use tracesift_symbols::{PdbId, PortablePdb, Table, portable};
use tracesift_trace::FrameId;
use tracesift_trace::rows::ManagedCodeRow;

const GUID: &str = "33323130-3534-3736-3839-616263646566";

fn table() -> Table {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/corpus/portable_pdb/lines");
    let bytes = std::fs::read(path).expect("the PDB");
    let pdb = PortablePdb::read(bytes, Some(GUID.parse().expect("a GUID"))).expect("sound");
    portable::table(&pdb, "").expect("lines")
}

fn row(frame: i32, guid: &str, method: i32, il_offset: Option<i32>, call_il_offset: Option<i32>) -> ManagedCodeRow {
    ManagedCodeRow {
        frame: FrameId(frame),
        path: r"C:\app\lib.dll".to_owned(),
        pdb_name: Some(r"D:\build\obj\lib.pdb".to_owned()),
        pdb_guid: Some(guid.to_owned()),
        pdb_age: Some(1),
        token: 0x0600_0000 | method,
        il_offset,
        call_il_offset,
    }
}

/// Lines by frame, what is missing, and the PDBs that were asked for.
fn found(rows: &[ManagedCodeRow], callers: &[i32]) -> (Vec<String>, Vec<MissingLines>, Vec<PdbId>) {
    let (mut lines_found, mut asked) = (Vec::new(), Vec::new());
    let find = |assemblies: &[Assembly]| {
        asked.extend(assemblies.iter().map(|one| one.pdb.clone()));
        assert!(assemblies.iter().all(|one| one.path == r"C:\app\lib.dll"), "{assemblies:?}");
        assemblies.iter().map(|one| (one.pdb.guid.to_string() == GUID).then(table)).collect()
    };
    let missing = lines(
        rows.to_vec(),
        |frame| callers.contains(&frame.0),
        find,
        |line| {
            lines_found.push(format!("{} {}:{}", line.frame.0, line.file, line.line));
        },
    );
    lines_found.sort();
    (lines_found, missing, asked)
}

#[test]
fn a_caller_is_at_its_call_and_a_leaf_where_it_is() {
    let rows = [
        row(0, GUID, 1, Some(1), Some(0)),
        row(1, GUID, 1, Some(1), Some(0)),
        row(2, GUID, 1, Some(1), Some(0)),
        row(3, GUID, 2, None, Some(4)),
        row(4, GUID, 2, Some(5), None),
    ];
    let (lines, missing, _) = found(&rows, &[1, 2, 3]);
    assert_eq!(
        lines,
        [r"0 C:\src\Größe.cs:11", r"1 C:\src\Größe.cs:10", r"2 C:\src\Größe.cs:10", "3 c.cs:3", "4 /_/src/b.cs:701"]
    );
    assert_eq!(missing, []);
    let (lines, ..) = found(&rows, &[]);
    assert_eq!(lines, [r"0 C:\src\Größe.cs:11", r"1 C:\src\Größe.cs:11", r"2 C:\src\Größe.cs:11", "4 /_/src/b.cs:701"]);
}

#[test]
fn each_pdb_is_asked_for_once_and_what_is_missing_is_told() {
    const OTHER: &str = "00000000-0000-0000-0000-00000000000a";
    let rows = [
        row(0, GUID, 1, Some(0), None),
        row(1, OTHER, 1, Some(0), None),
        row(2, OTHER, 2, Some(0), None),
        // Hidden code, a method without points, and one that is not there.
        row(3, GUID, 1, Some(8), None),
        row(4, GUID, 3, Some(8), None),
        row(5, GUID, 0xff_ffff, Some(8), None),
        // Nothing to look for.
        row(6, GUID, 1, None, None),
        row(7, "no GUID", 1, Some(0), None),
        ManagedCodeRow { pdb_guid: None, ..row(8, GUID, 1, Some(0), None) },
    ];
    let (lines, missing, asked) = found(&rows, &[]);
    assert_eq!(lines, [r"0 C:\src\Größe.cs:10"]);
    let id = |guid: &str| PdbId { name: "lib.pdb".to_owned(), guid: guid.parse().expect("a GUID"), age: 1 };
    assert_eq!(asked, [id(OTHER), id(GUID)]);
    let expected = [(OTHER, false, 2), (GUID, true, 3)];
    assert_eq!(missing, expected.map(|(guid, found, frames)| MissingLines { pdb: id(guid), found, frames }));
}

#[test]
fn forged_rows_are_harmless() {
    let rows = [row(-1, GUID, -1, Some(-1), Some(i32::MIN)), row(i32::MAX, GUID, 1, Some(i32::MIN), Some(-1))];
    let (lines, missing, _) = found(&rows, &[-7, i32::MIN]);
    // Read as unsigned they are large offsets: the last line of the method.
    assert_eq!(lines, [r"2147483647 C:\src\Größe.cs:9"]);
    assert_eq!(missing.len(), 1);
}
