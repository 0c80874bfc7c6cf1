//! Every kind of container gives its recordings, byte by byte.

use std::ops::ControlFlow;

use cab::CompressionType;
use tracesift_etl::ReadAt;
use tracesift_extract::input::container::{Limits, open_file};
use tracesift_extract::input::file_kind::Format;
use tracesift_extract::input::{
    InputError, InputRecording, Note, OpenOptions, Progress, open as open_recording, source_file,
};
use zip::CompressionMethod;

use super::fixtures::*;

#[test]
fn a_plain_file_is_read_where_it_lies() {
    let placed = place("x.etl", &content(1, 10_000));
    let opened = open(&placed.path).expect("opens");
    assert_eq!(contents(&opened), [(None, content(1, 10_000))]);
    let mut middle = [0; 100];
    opened.members[0].read_at(5_000, &mut middle).expect("read in the middle");
    assert_eq!(middle, content(1, 10_000)[5_000..5_100]);
    assert!(opened.members[0].read_at(9_950, &mut middle).is_err(), "reading past the end is an error");
}

#[test]
fn every_archive_kind_gives_the_same_members() {
    let (a, b) = (content(1, 700_000), content(2, 33_000));
    let files: Files<'_> = &[("logs/a.etl", &a), ("readme.txt", b"not wanted"), ("b.ETL", &b)];
    for (name, archive) in [
        ("x.zip", zip(files)),
        ("x.etl.zip", zip_with(files, CompressionMethod::Stored)),
        ("x.diagsession", zip(files)),
        ("x.7z", solid_7z(files)),
        ("x.cab", cabinet(files, CompressionType::MsZip)),
        ("stored.cab", cabinet(files, CompressionType::None)),
        // What the bytes are beats what the name says.
        ("x.etl", zip(files)),
        ("x.zip", solid_7z(files)),
    ] {
        let placed = place(name, &archive);
        let opened = open(&placed.path).unwrap_or_else(|error| panic!("{error}"));
        assert_eq!(contents(&opened), [(Some("logs/a.etl"), a.clone()), (Some("b.ETL"), b.clone())], "{name}");
        assert_eq!(opened.notes, []);
    }
}

#[test]
fn single_streams_have_no_member_name() {
    let a = content(3, 400_000);
    let mut two_streams = gzip(&a[..1000]);
    two_streams.extend(gzip(&a[1000..]));
    for (name, archive) in [("x.etl.gz", gzip(&a)), ("two.gz", two_streams), ("x.etl.xz", xz(&a))] {
        let placed = place(name, &archive);
        assert_eq!(contents(&open(&placed.path).expect("opens")), [(None, a.clone())], "{name}");
    }
}

#[test]
fn a_solid_7z_is_decoded_up_to_what_is_wanted() {
    let (large, a) = (content(1, 300_000), content(2, 50_000));
    let archive = solid_7z(&[("first.bin", &large), ("a.etl", &a), ("last.bin", &large), ("empty.etl", b"")]);
    let placed = place("x.7z", &archive);
    let opened = open(&placed.path).expect("opens");
    assert_eq!(contents(&opened), [(Some("a.etl"), a)]);
    assert_eq!(opened.notes, [Note::EmptyLeftOut { path: placed.path.clone(), member: Some("empty.etl".into()) }]);
    // What is decoded on the way counts too.
    let limits = Limits { max_unpacked: 340_000, ..Limits::default() };
    let options = OpenOptions { limits, ..OpenOptions::default() };
    assert!(matches!(open_with(&placed.path, &options), Err(InputError::TooLarge { .. })));
}

#[test]
fn one_level_of_archives_inside_archives() {
    let (a, b) = (content(1, 5_000), content(2, 6_000));
    let inner_zip = zip(&[("a.etl", &a)]);
    let inner_session = zip(&[("s/b.etl", &b)]);
    let packed = gzip(&b);
    let outer = zip(&[("one/a.etl.zip", &inner_zip), ("b.diagsession", &inner_session), ("c.etl.gz", &packed)]);
    let placed = place("outer.zip", &outer);
    assert_eq!(
        contents(&open(&placed.path).expect("opens")),
        [(Some("one/a.etl.zip/a.etl"), a), (Some("b.diagsession/s/b.etl"), b.clone()), (Some("c.etl.gz"), b),]
    );

    let twice = place("twice.zip", &zip(&[("outer.zip", &outer)]));
    assert_eq!(
        failure(&twice, &OpenOptions::default()),
        "twice.zip: holds no recording, only outer.zip, one/a.etl.zip, b.diagsession, c.etl.gz; give the file that holds the recording"
    );
}

#[test]
fn archives_that_hide_what_they_hold_are_opened_only_for_want_of_better() {
    let a = content(1, 5_000);
    let inner = zip(&[("a.etl", &a)]);
    let alone = place("outer.zip", &zip(&[("pack.zip", &inner), ("readme.txt", b"")]));
    assert_eq!(contents(&open(&alone.path).expect("opens")), [(Some("pack.zip/a.etl"), a.clone())]);
    let beside = place("outer.zip", &zip(&[("pack.zip", &inner), ("x.etl", &a)]));
    assert_eq!(contents(&open(&beside.path).expect("opens")), [(Some("x.etl"), a)]);
}

#[test]
fn a_name_that_would_escape_is_only_a_name() {
    let a = content(1, 2_000);
    let placed = place("x.zip", &zip(&[("../../evil.etl", &a), ("/abs/evil2.etl", &a)]));
    let opened = open(&placed.path).expect("opens");
    assert_eq!(contents(&opened), [(Some("evil.etl"), a.clone()), (Some("abs/evil2.etl"), a)]);
    let beside: Vec<_> = std::fs::read_dir(placed.directory.path()).expect("list").collect();
    assert_eq!(beside.len(), 1, "nothing was written beside the archive");
}

#[test]
fn nothing_is_left_in_the_temporary_directory() {
    let temporary = tempfile::tempdir().expect("temporary directory");
    let options = OpenOptions { temp_dir: Some(temporary.path().to_owned()), ..OpenOptions::default() };
    let placed = place("x.zip", &zip(&[("a.etl", &content(1, 100_000))]));
    let opened = open_with(&placed.path, &options).expect("opens");
    let count = || std::fs::read_dir(temporary.path()).expect("list").count();
    if cfg!(unix) {
        assert_eq!(count(), 0, "the file has no name even while it is open");
    }
    drop(opened);
    assert_eq!(count(), 0);
}

#[test]
fn progress_grows_to_the_size_of_the_file_and_a_break_stops() {
    let noise: Vec<u8> = {
        let mut state = 1u32;
        std::iter::repeat_with(|| {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            (state >> 24) as u8
        })
        .take(3 << 20)
        .collect()
    };
    let placed = place("x.zip", &zip(&[("a.etl", &noise)]));
    let mut seen = Vec::new();
    let mut watch = |progress: Progress| {
        seen.push(progress);
        ControlFlow::Continue(())
    };
    open_file(&placed.path, &OpenOptions::default(), &mut watch).expect("opens");
    assert!(seen.len() > 10, "{}", seen.len());
    assert!(seen.is_sorted_by_key(|progress| progress.read));
    let size = std::fs::metadata(&placed.path).expect("size").len();
    assert!(seen.iter().all(|progress| progress.total == size && progress.read <= size));
    assert!(seen.last().is_some_and(|last| last.read > size * 9 / 10));

    let mut left = 3;
    let mut stop = |_: Progress| {
        left -= 1;
        if left == 0 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    };
    let error = open_file(&placed.path, &OpenOptions::default(), &mut stop).expect_err("stops");
    assert!(matches!(error, InputError::Cancelled { .. }), "{error}");
}

#[test]
fn an_archive_without_recording_gives_way_to_the_file_beside_it() {
    let placed = place("x.zip", &zip(&[("shot.png", b"picture")]));
    let loose = placed.directory.path().join("x.etl");
    std::fs::write(&loose, content(1, 100)).expect("write");
    let recording = InputRecording {
        name: "x".into(),
        files: vec![placed.path.clone()],
        stands_for: vec![loose.clone()],
        forced: false,
        named: false,
    };
    let opened =
        open_recording(&recording, &OpenOptions::default(), &mut |_| ControlFlow::Continue(())).expect("opens");
    assert_eq!(contents(&opened), [(None, content(1, 100))]);
    assert_eq!(opened.notes, [Note::ArchiveWithoutRecording { archive: placed.path.clone(), used: loose }]);
}

#[test]
fn a_loose_part_that_the_archive_holds_too_is_read_once() {
    let (main, kernel) = (content(1, 900), content(2, 800));
    let placed = place("x.etl.zip", &zip(&[("in/x.etl", &main), ("in/X.kernel.etl", &kernel)]));
    let loose = placed.directory.path().join("x.kernel.etl");
    let other = placed.directory.path().join("x.clrRundown.etl");
    std::fs::write(&loose, &kernel).expect("write");
    std::fs::write(&other, &main).expect("write");
    let recording = InputRecording {
        name: "x".into(),
        files: vec![placed.path.clone(), loose.clone(), other],
        stands_for: Vec::new(),
        forced: false,
        named: true,
    };
    let opened =
        open_recording(&recording, &OpenOptions::default(), &mut |_| ControlFlow::Continue(())).expect("opens");
    assert_eq!(contents(&opened), [(Some("in/x.etl"), main.clone()), (Some("in/X.kernel.etl"), kernel), (None, main)]);
    assert_eq!(opened.notes, [Note::PartInArchive { part: loose, archive: placed.path.clone() }]);
}

#[test]
fn facts_of_a_source() {
    let placed = place("x.etl", b"foobar");
    let time = std::time::UNIX_EPOCH + std::time::Duration::from_millis(1_600_000_000_900);
    let file = std::fs::File::options().write(true).open(&placed.path).expect("open");
    file.set_modified(time).expect("set the time");
    let facts = source_file(&placed.path, Some("a.etl")).expect("facts");
    assert_eq!(facts.path, placed.path.to_string_lossy());
    assert_eq!(facts.member.as_deref(), Some("a.etl"));
    assert_eq!((facts.size, facts.modified, facts.head_hash.as_str()), (6, 1_600_000_000, "85944171f73967e8"));
    file.set_modified(std::time::UNIX_EPOCH - std::time::Duration::from_millis(100)).expect("set the time");
    assert_eq!(source_file(&placed.path, None).expect("facts").modified, -1);
    let missing = source_file(&placed.directory.path().join("none.etl"), None);
    assert!(matches!(missing, Err(InputError::NotFound { .. })));
    assert!(matches!(source_file(placed.directory.path(), None), Err(InputError::NotAFile { .. })));
}

/// The beginning of a Linux recording; nothing here reads further.
fn perf(seed: u8) -> Vec<u8> {
    [b"PERFILE2".to_vec(), content(seed, 300_000)].concat()
}

#[test]
fn linux_recordings_are_unpacked_as_windows_ones_are() {
    let (a, b, etl) = (perf(1), perf(2), content(3, 70_000));
    // The second but one only looks like a recording by its name, and stands before one in a solid archive.
    let files: Files<'_> = &[
        ("logs/perf.data", &a),
        ("tables.data", &etl),
        ("x.etl", &etl),
        ("run/old.perf", &b),
        ("short.data", b"PERF"),
    ];
    for (name, archive) in
        [("x.zip", zip(files)), ("x.7z", solid_7z(files)), ("x.cab", cabinet(files, CompressionType::MsZip))]
    {
        let placed = place(name, &archive);
        let opened = open(&placed.path).unwrap_or_else(|error| panic!("{error}"));
        let expected =
            [(Some("logs/perf.data"), a.clone()), (Some("x.etl"), etl.clone()), (Some("run/old.perf"), b.clone())];
        assert_eq!(contents(&opened), expected, "{name}");
        let formats: Vec<Format> = opened.members.iter().map(|member| member.format().expect("readable")).collect();
        assert_eq!(formats, [Format::Perf, Format::Etl, Format::Perf]);
    }
    for (name, archive) in [("x.perf.data.gz", gzip(&a)), ("perf.data.xz", xz(&a)), ("x.etl.gz", gzip(&a))] {
        let placed = place(name, &archive);
        let opened = open(&placed.path).expect("opens");
        assert_eq!(contents(&opened), [(None, a.clone())], "{name}");
        assert_eq!(opened.members[0].format().expect("readable"), Format::Perf, "{name}");
    }
    let nested = place("outer.zip", &zip(&[("perf.data.gz", &gzip(&a))]));
    assert_eq!(contents(&open(&nested.path).expect("opens")), [(Some("perf.data.gz"), a)]);
}

#[test]
fn a_reader_of_linux_recordings_gets_what_is_there() {
    let placed = place("x.data", b"PERFILE2");
    let opened = open(&placed.path).expect("opens");
    let source: &dyn tracesift_perf::ReadAt = &opened.members[0];
    let mut into = [0; 16];
    assert_eq!((source.read_at(4, &mut into).expect("read"), &into[..4]), (4, &b"ILE2"[..]));
    assert_eq!(source.read_at(8, &mut into).expect("read"), 0);
    assert_eq!(source.read_at(u64::MAX, &mut into).expect("read"), 0);
}
