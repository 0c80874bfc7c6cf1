//! An archive is complete or absent, whatever happens to its writer.

use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use tracesift_archive::{Archive, ArchiveUpdate, ArchiveWriter, Error, TargetLock, WhenBusy, WriterOptions};
use tracesift_testing::archive::{
    Random, create, finish, listing, sample_rows, small_archive, try_create, write_switches,
};
use tracesift_trace::info::{SourceFile, TraceInfo};
use tracesift_trace::rows::*;
use tracesift_trace::{Clock, Health, RowSink as _};

#[test]
fn a_dropped_writer_leaves_nothing() {
    let root = tempfile::tempdir().expect("temporary directory");
    let mut writer = create(&root.path().join("x.sift"));
    for row in sample_rows::<CpuSampleRow>(1, 200_000) {
        writer.cpu_sample(&row);
    }
    drop(writer);
    assert_eq!(listing(root.path()), [] as [&str; 0]);
}

#[test]
fn a_dropped_writer_leaves_the_old_archive() {
    let root = tempfile::tempdir().expect("temporary directory");
    let target = root.path().join("x.sift");
    write_switches(&target, 10);
    drop(create(&target));
    let archive = Archive::open(&target).expect("still there");
    archive.verify().expect("intact");
    assert_eq!(archive.row_count::<ContextSwitchRow>(), 10);
    assert_eq!(listing(root.path()), ["x.sift"]);
}

#[test]
fn a_second_extract_replaces_the_first() {
    let root = tempfile::tempdir().expect("temporary directory");
    let target = root.path().join("x.sift");
    for count in [1_000, 10, 2_000] {
        assert_eq!(write_switches(&target, count), target);
        let archive = Archive::open(&target).expect("opened");
        archive.verify().expect("intact");
        assert_eq!(archive.rows::<ContextSwitchRow>().expect("rows").len() as i64, count);
        assert_eq!(listing(root.path()), ["x.sift"]);
    }
}

#[test]
fn two_writers_of_one_target_do_not_harm_each_other() {
    let root = tempfile::tempdir().expect("temporary directory");
    let target = root.path().join("x.sift");
    let first = create(&target);
    let busy = WriterOptions { when_busy: WhenBusy::Fail, ..Default::default() };
    assert!(matches!(ArchiveWriter::create(&target, busy), Err(Error::Busy { .. })));
    drop(first);
    std::thread::scope(|scope| {
        for count in [100, 200, 300] {
            scope.spawn({
                let target = &target;
                move || {
                    for _ in 0..5 {
                        write_switches(target, count);
                        let archive = Archive::open(target).expect("an archive is always there");
                        assert!([100, 200, 300].contains(&archive.row_count::<ContextSwitchRow>()));
                    }
                }
            });
        }
    });
    Archive::open(&target).expect("opened").verify().expect("intact");
    assert_eq!(listing(root.path()), ["x.sift"]);
}

#[test]
fn an_interrupted_replacement_is_put_right_by_the_next_reader() {
    let root = tempfile::tempdir().expect("temporary directory");
    let target = root.path().join("x.sift");
    write_switches(&target, 10);
    // Between the two renames: the old archive stands aside, the new one is not yet in place.
    std::fs::rename(&target, root.path().join(".x.sift.4711-0.old")).expect("renamed");
    write_switches(&root.path().join("y"), 20);
    std::fs::rename(root.path().join("y"), root.path().join(".x.sift.4711-1.tmp")).expect("renamed");
    let archive = Archive::open(&target).expect("recovered");
    archive.verify().expect("intact");
    assert_eq!(archive.row_count::<ContextSwitchRow>(), 10);
    assert_eq!(listing(root.path()), ["x.sift"]);
}

#[test]
fn leftovers_of_dead_writers_go_with_the_next_one() {
    let root = tempfile::tempdir().expect("temporary directory");
    let target = root.path().join("x.sift");
    std::fs::create_dir(root.path().join(".x.sift.4711-0.tmp")).expect("directory");
    std::fs::write(root.path().join(".x.sift.4711-0.tmp/stacks.parquet"), "half").expect("file");
    std::fs::write(root.path().join(".x.sift.lock"), "").expect("file");
    write_switches(&target, 10);
    assert_eq!(listing(root.path()), ["x.sift"]);
}

#[test]
fn errors_name_the_path_and_leave_nothing() {
    let root = tempfile::tempdir().expect("temporary directory");
    let file = root.path().join("file");
    std::fs::write(&file, "text").expect("file");
    for (target, expected) in [
        (root.path().join("absent/x.sift"), "create the directory or choose another one"),
        (file.join("x.sift"), "create the directory or choose another one"),
        (file, "exists and is not an archive; move it away or choose another name"),
    ] {
        let error = try_create(&target).err().expect("not possible").to_string();
        assert!(error.contains(&root.path().display().to_string()) && error.ends_with(expected), "{error}");
    }
    assert_eq!(listing(root.path()), ["file"]);
    let error = Archive::open(&root.path().join("absent.sift")).expect_err("absent").to_string();
    assert!(error.ends_with("absent.sift does not exist; extract the recording first"), "{error}");
    let error = Archive::open(root.path()).expect_err("other").to_string();
    assert!(error.ends_with("is not an archive: it has no trace.json; give a directory made by extract"), "{error}");
    std::fs::write(root.path().join("stacks.parquet"), "PAR1").expect("file");
    assert!(matches!(Archive::open(root.path()), Err(Error::Unfinished { .. })));
}

/// A file of the archive that cannot be made stands for a full disk: the error comes at the end and nothing stays.
#[test]
fn an_error_on_the_way_is_reported_at_the_end() {
    let root = tempfile::tempdir().expect("temporary directory");
    let mut writer = create(&root.path().join("x.sift"));
    let staging = listing(root.path()).into_iter().find(|name| name.ends_with(".tmp")).expect("staged");
    std::fs::create_dir(root.path().join(&staging).join("cpu_samples.parquet")).expect("directory");
    let started = Instant::now();
    while !writer.has_failed() && started.elapsed() < Duration::from_secs(60) {
        for row in sample_rows::<CpuSampleRow>(1, 70_000) {
            writer.cpu_sample(&row);
        }
    }
    assert!(writer.has_failed());
    let error = writer.finish(TraceInfo::default(), &Health::new(), &Clock::new(0, 1)).expect_err("failed");
    assert!(matches!(&error, Error::Write { path, .. } if path.ends_with("cpu_samples.parquet")), "{error}");
    assert_eq!(listing(root.path()), [] as [&str; 0]);
}

#[cfg(unix)]
#[test]
fn a_symbolic_link_to_an_archive_stays_one() {
    let root = tempfile::tempdir().expect("temporary directory");
    let real = root.path().join("disk");
    std::fs::create_dir(&real).expect("directory");
    write_switches(&real.join("x.sift"), 10);
    let link = root.path().join("link.sift");
    std::os::unix::fs::symlink(real.join("x.sift"), &link).expect("link");
    write_switches(&link, 20);
    assert_eq!(Archive::open(&real.join("x.sift")).expect("opened").row_count::<ContextSwitchRow>(), 20);
    assert_eq!(listing(root.path()), ["disk", "link.sift"]);
}

#[test]
fn an_update_replaces_its_tables_and_links_the_others() {
    let root = tempfile::tempdir().expect("temporary directory");
    let target = root.path().join("x.sift");
    let before = small_archive(&target);
    let symbols = sample_rows::<SymbolRow>(99, 500);
    let mut update = ArchiveUpdate::begin(TargetLock::acquire(&target, WhenBusy::Fail).expect("free")).expect("begun");
    assert_eq!(update.old().row_count::<SymbolRow>(), 50);
    update.write_table(&symbols);
    update.write_table::<MarkRow>(&[]);
    update.info_mut().method_summary_cut = 7;
    update.finish().expect("updated");
    let after = Archive::open(&target).expect("opened");
    after.verify().expect("intact");
    assert_eq!(after.rows::<SymbolRow>().expect("rows"), symbols);
    assert_eq!(after.rows::<MarkRow>().expect("none"), []);
    assert_eq!(after.rows::<StackRow>().expect("rows"), sample_rows::<StackRow>(8, 50));
    assert_eq!((after.info().method_summary_cut, &after.info().id), (7, &before.info().id));
    let names = |archive: &Archive| archive.info().tables.iter().map(|table| table.name.clone()).collect::<Vec<_>>();
    let expected: Vec<String> = names(&before).into_iter().filter(|name| name != "marks").collect();
    assert_eq!(names(&after), expected);
    assert_eq!(listing(root.path()), ["x.sift"]);

    let mut update = ArchiveUpdate::begin(TargetLock::acquire(&target, WhenBusy::Fail).expect("free")).expect("begun");
    update.write_table::<SymbolRow>(&[]);
    drop(update);
    assert_eq!(Archive::open(&target).expect("opened").row_count::<SymbolRow>(), 500);
    assert_eq!(listing(root.path()), ["x.sift"]);
}

#[test]
fn a_sealed_archive_can_be_read_before_it_appears() {
    let root = tempfile::tempdir().expect("temporary directory");
    let target = root.path().join("x.sift");
    let clock = Clock::new(0, 10_000_000);
    let seal = || {
        let mut writer = create(&target);
        sample_rows::<CpuSampleRow>(3, 100).iter().for_each(|row| writer.cpu_sample(row));
        writer.seal(TraceInfo::default(), &clock).wait().expect("sealed")
    };
    let mut sealed = seal();
    assert_eq!(sealed.archive().rows::<CpuSampleRow>().expect("rows"), sample_rows::<CpuSampleRow>(3, 100));
    assert!(!target.exists());
    let summary = sample_rows::<ProcessSummaryRow>(4, 9);
    sealed.write_table(&summary);
    sealed.finish(&Health::new(), &clock).expect("finished");
    let archive = Archive::open(&target).expect("opened");
    archive.verify().expect("intact");
    assert_eq!(archive.rows::<ProcessSummaryRow>().expect("rows"), summary);
    assert_eq!(archive.row_count::<CpuSampleRow>(), 100);
    drop(seal());
    assert_eq!(Archive::open(&target).expect("the first one").row_count::<ProcessSummaryRow>(), 9);
    assert_eq!(listing(root.path()), ["x.sift"]);
}

#[test]
fn an_archive_is_current_while_its_sources_are_the_same() {
    let root = tempfile::tempdir().expect("temporary directory");
    let target = root.path().join("x.sift");
    let source =
        SourceFile { path: "a.etl".to_owned(), size: 7, modified: 9, head_hash: "00".to_owned(), member: None };
    let info = TraceInfo { sources: vec![source.clone()], ..Default::default() };
    assert!(!Archive::is_current(&target, std::slice::from_ref(&source)));
    create(&target).finish(info, &Health::new(), &Clock::new(0, 1)).expect("finished");
    assert!(Archive::is_current(&target, std::slice::from_ref(&source)));
    let moved = SourceFile { path: "b/a.etl".to_owned(), ..source.clone() };
    assert!(Archive::is_current(&target, &[moved]));
    let changes: [fn(&mut SourceFile); 4] = [
        |source| source.size = 8,
        |source| source.modified = 8,
        |source| source.head_hash = "01".to_owned(),
        |source| source.member = Some("b.etl".to_owned()),
    ];
    for change in changes {
        let mut changed = source.clone();
        change(&mut changed);
        assert!(!Archive::is_current(&target, &[changed]));
    }
    assert!(!Archive::is_current(&target, &[]));
    assert!(!Archive::is_current(&target, &[source.clone(), source]));
}

const CHILD_TARGET: &str = "TRACESIFT_TEST_TARGET";

/// Writes archives without end; run by the test below in a process of its own.
#[test]
#[ignore = "runs only as the child of kill_at_any_moment"]
fn child_that_writes_without_end() {
    let Some(target) = std::env::var_os(CHILD_TARGET) else { return };
    for count in 0.. {
        write_switches(Path::new(&target), 20_000 + count % 2);
    }
}

#[test]
fn kill_at_any_moment() {
    let root = tempfile::tempdir().expect("temporary directory");
    let target = root.path().join("x.sift");
    let program = std::env::current_exe().expect("this program");
    let mut random = Random(u64::from(std::process::id()));
    let mut found = 0;
    for round in 0..24 {
        let mut child = Command::new(&program)
            .args(["--exact", "atomicity::child_that_writes_without_end", "--ignored"])
            .env(CHILD_TARGET, &target)
            .stdout(Stdio::null())
            .spawn()
            .expect("started");
        // Round 0 waits for the first archive, so that later ones are replacements.
        let limit = Instant::now() + Duration::from_secs(60);
        while round == 0 && !target.exists() && Instant::now() < limit {
            std::thread::sleep(Duration::from_millis(1));
        }
        std::thread::sleep(Duration::from_millis(random.below(120) as u64));
        child.kill().expect("killed");
        child.wait().expect("reaped");
        match Archive::open(&target) {
            Ok(archive) => {
                archive.verify().expect("complete");
                assert!([20_000, 20_001].contains(&archive.row_count::<ContextSwitchRow>()));
                found += 1;
            }
            Err(error) => panic!("the old archive was lost: {error}"),
        }
        let names = listing(root.path());
        assert!(names.iter().all(|name| name == "x.sift" || name.starts_with(".x.sift.")), "{names:?}");
    }
    assert_eq!(found, 24);
    // Whatever the last one left goes with the next writer.
    drop(create(&target));
    assert_eq!(listing(root.path()), ["x.sift"]);
    Archive::open(&finish(create(&target))).expect("opened").verify().expect("intact");
}
