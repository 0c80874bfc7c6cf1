//! `extract` when it is interrupted, meets itself, or may not do what it has to: an archive is complete or absent, and what
//! fails is said in one line.

use std::fs;
use std::io::Cursor;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

use tempfile::TempDir;
use tracesift_archive::Archive;
use tracesift_fixtures::skipped;
use tracesift_scenario::{SplitMix64, scale};

/// Enough for an extract to be killed in every one of its phases.
const BYTES: u64 = 6 << 20;

/// A place with a recording, a directory for archives and one for temporary files.
struct Place {
    root: TempDir,
}

impl Place {
    fn new(bytes: u64) -> Self {
        let root = TempDir::new().unwrap();
        for name in ["in", "out", "temp"] {
            fs::create_dir(root.path().join(name)).unwrap();
        }
        let mut recording = Cursor::new(Vec::new());
        scale(&mut recording, bytes, 1).unwrap();
        fs::write(root.path().join("in/Big.etl"), recording.into_inner()).unwrap();
        Self { root }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.root.path().join(name)
    }

    /// The program in this place, about to extract.
    fn extract(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_tracesift"));
        command.current_dir(self.root.path()).args(["extract", "--temp", "temp"]).args(arguments);
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command
    }

    fn spawn(&self) -> Child {
        self.extract(&["in/Big.etl", "--out", "out", "--overwrite"]).spawn().unwrap()
    }

    /// The archive, checked to the last byte; `None` when there is none.
    fn archive(&self) -> Option<Archive> {
        let path = self.path("out/Big.sift");
        path.exists().then(|| {
            let archive = Archive::open(&path).unwrap();
            archive.verify().unwrap();
            archive
        })
    }
}

fn listing(path: &Path) -> Vec<String> {
    let entries = fs::read_dir(path).unwrap();
    let mut names: Vec<String> = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

/// Exit code, standard output and standard error.
fn said(output: &Output) -> (Option<i32>, String, String) {
    let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
    (output.status.code(), text(&output.stdout), text(&output.stderr))
}

/// Nothing usable, nothing written, and one line that says why and what to do.
fn assert_one_line(output: &Output, expected: &str) {
    assert_eq!(said(output), (Some(1), String::new(), format!("error: {expected}\n")));
}

#[test]
fn a_killed_extract_leaves_no_archive_or_a_complete_one() {
    let place = Place::new(BYTES);
    let started = Instant::now();
    assert!(place.spawn().wait().unwrap().success());
    let whole = started.elapsed();
    let complete = place.archive().unwrap().info().tables.clone();
    fs::remove_dir_all(place.path("out/Big.sift")).unwrap();

    let mut random = SplitMix64::new(u64::from(std::process::id()));
    let (mut killed, mut replaced) = (0, false);
    for _ in 0..16 {
        let mut child = place.spawn();
        std::thread::sleep(whole.mul_f64(random.below(1_100) as f64 / 1_000.0));
        child.kill().unwrap();
        killed += usize::from(child.wait().unwrap().code().is_none());
        match place.archive() {
            Some(archive) => {
                assert_eq!(archive.info().tables, complete);
                replaced = true;
            }
            None => assert!(!replaced, "the old archive was lost"),
        }
        let others = listing(&place.path("out"));
        assert!(others.iter().all(|name| name == "Big.sift" || name.starts_with(".Big.sift.")), "{others:?}");
    }
    assert!(killed > 4, "only {killed} of 16 were killed before their end");

    let output = place.extract(&["in/Big.etl", "--out", "out", "--overwrite"]).output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{:?}", said(&output));
    assert_eq!(place.archive().unwrap().info().tables, complete);
    assert_eq!(listing(&place.path("out")), ["Big.sift"], "what the others left behind is gone");
    if cfg!(unix) {
        assert_eq!(listing(&place.path("temp")), [""; 0], "temporary files have no names that could stay");
    }
}

#[test]
fn two_extracts_of_one_recording_take_turns() {
    let place = Place::new(BYTES);
    let children = [(); 2].map(|()| place.extract(&["in/Big.etl", "--out", "out"]).spawn().unwrap());
    let mut lines = children.map(|child| {
        let (code, out, err) = said(&child.wait_with_output().unwrap());
        assert!(code == Some(0) && err == "next: tracesift overview out/Big.sift\n", "{code:?}: {err}");
        out
    });
    // One of them did the work; the other one waited for it, or came when it was done.
    lines.sort_by_key(|line| line.ends_with(" is up to date\n"));
    assert!(lines[0].ends_with(" -> out/Big.sift\n"), "{lines:?}");
    assert_eq!(lines[1], "in/Big.etl: out/Big.sift is up to date\n");
    place.archive().unwrap();
    assert_eq!(listing(&place.path("out")), ["Big.sift"]);
}

#[test]
fn what_stands_in_the_way_is_left_alone() {
    let place = Place::new(200_000);
    fs::write(place.path("out/Big.sift"), "a file").unwrap();
    fs::create_dir(place.path("in/Big.sift")).unwrap();
    fs::write(place.path("in/Big.sift/thesis.txt"), "years of work").unwrap();
    fs::write(place.path("file"), "a file").unwrap();
    for (options, expected) in [
        (
            &["in/Big.etl", "--out", "out"][..],
            "out/Big.sift exists and is not an archive; move it away or choose another name",
        ),
        (&["in/Big.etl"], "in/Big.sift exists and is not an archive; move it away or choose another name"),
        (&["in/Big.etl", "--out", "file"], "file: is not a directory; name another directory with --out"),
        (
            &["in/Big.etl", "--out", "file/deeper"],
            "file/deeper: Not a directory (os error 20); name another directory with --out",
        ),
    ] {
        if cfg!(unix) || !expected.contains("os error") {
            assert_one_line(&place.extract(options).output().unwrap(), expected);
        }
    }
    assert_eq!(fs::read_to_string(place.path("out/Big.sift")).unwrap(), "a file");
    assert_eq!(listing(&place.path("in")), ["Big.etl", "Big.sift"]);
    assert_eq!(listing(&place.path("in/Big.sift")), ["thesis.txt"]);
    assert_eq!(listing(&place.path("out")), ["Big.sift"]);
}

#[test]
fn an_input_that_vanishes_is_named_and_the_others_are_extracted() {
    let place = Place::new(BYTES);
    fs::copy(place.path("in/Big.etl"), place.path("in/Small.etl")).unwrap();
    let child = place.extract(&["in/Big.etl", "in/Small.etl", "--out", "out", "--jobs", "1"]).spawn().unwrap();
    // When the first one is being extracted, the second one is known but not open.
    let limit = Instant::now() + Duration::from_secs(60);
    while listing(&place.path("out")).is_empty() && Instant::now() < limit {
        std::thread::sleep(Duration::from_millis(1));
    }
    fs::remove_file(place.path("in/Small.etl")).unwrap();
    let (code, out, err) = said(&child.wait_with_output().unwrap());
    assert_eq!(code, Some(2));
    assert!(out.starts_with("in/Big.etl: ") && out.ends_with(" -> out/Big.sift\n"), "{out}");
    let vanished = "error: in/Small.etl: not found; check the path, or give a wildcard such as '*.etl'\n";
    assert_eq!(err, format!("{vanished}next: tracesift overview out/Big.sift\n"));
    assert_eq!(listing(&place.path("out")), ["Big.sift"]);
}

#[cfg(unix)]
#[cfg(unix)]
mod unix {
    use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
    use std::os::unix::process::CommandExt as _;

    use super::*;

    /// `nobody`.
    const NOBODY: u32 = 65_534;

    /// Runs the program as a user whom permissions bind; `None`, with a printed reason, where that cannot be.
    fn as_nobody(place: &Place, command: &mut Command) -> Option<Output> {
        if fs::metadata(place.root.path()).unwrap().uid() == 0 {
            command.uid(NOBODY).gid(NOBODY);
        }
        let run = command.output();
        if let Err(error) = &run {
            skipped(&format!("the program cannot be run as another user than root: {error}"));
        }
        run.ok()
    }

    fn permit(path: &Path, mode: u32) {
        fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
    }

    #[test]
    fn permissions_that_are_missing_are_named() {
        let place = Place::new(200_000);
        permit(place.root.path(), 0o755);
        permit(&place.path("temp"), 0o777);
        permit(&place.path("out"), 0o555);
        let Some(output) = as_nobody(&place, &mut place.extract(&["in/Big.etl", "--out", "out"])) else { return };
        assert_one_line(
            &output,
            "cannot write out/Big.sift: Permission denied (os error 13); choose a directory that can be written",
        );
        let output = as_nobody(&place, &mut place.extract(&["in/Big.etl", "--out", "out/deeper"])).unwrap();
        assert_one_line(&output, "out/deeper: Permission denied (os error 13); name another directory with --out");
        assert_eq!(listing(&place.path("out")), [""; 0]);

        permit(&place.path("out"), 0o777);
        permit(&place.path("in/Big.etl"), 0o000);
        let output = as_nobody(&place, &mut place.extract(&["in/Big.etl", "--out", "out"])).unwrap();
        assert_one_line(&output, "in/Big.etl: cannot be read: Permission denied (os error 13); check its permissions");
        assert_eq!(listing(&place.path("out")), [""; 0]);
    }
}

#[cfg(target_os = "linux")]
mod linux {
    use std::io::Write as _;

    use flate2::Compression;
    use flate2::write::GzEncoder;

    use super::*;

    /// A small file system of its own, gone with this value.
    struct SmallDisk(PathBuf);

    impl SmallDisk {
        /// `None`, with a printed reason, where mounting is not permitted.
        fn mount(at: PathBuf, size: &str) -> Option<Self> {
            let options = format!("size={size}");
            let run = Command::new("mount").args(["-t", "tmpfs", "-o", &options, "tmpfs"]).arg(&at).output();
            match run {
                Ok(output) if output.status.success() => Some(Self(at)),
                Ok(output) => {
                    skipped(String::from_utf8_lossy(&output.stderr).trim());
                    None
                }
                Err(error) => {
                    skipped(&format!("mount: {error}"));
                    None
                }
            }
        }
    }

    impl Drop for SmallDisk {
        fn drop(&mut self) {
            // A disk that stays mounted would keep the test's directory; the next lines of the test would say so.
            let _ = Command::new("umount").arg(&self.0).status();
        }
    }

    #[test]
    fn a_full_disk_is_named_and_nothing_stays_on_it() {
        let place = Place::new(BYTES);
        let Some(_disk) = SmallDisk::mount(place.path("out"), "256k") else { return };
        let (code, out, err) = said(&place.extract(&["in/Big.etl", "--out", "out"]).output().unwrap());
        assert_eq!((code, out.as_str()), (Some(1), ""), "{err}");
        // Which table is the first that does not fit is a matter of the encoder.
        let reason = "No space left on device (os error 28); free space there or choose another directory\n";
        assert!(err.starts_with("error: cannot write out/") && err.ends_with(reason), "{err}");
        assert_eq!(err.lines().count(), 1, "{err}");
        assert_eq!(listing(&place.path("out")), [""; 0]);
    }

    #[test]
    fn a_full_disk_for_temporary_files_is_named() {
        let place = Place::new(BYTES);
        let Some(_disk) = SmallDisk::mount(place.path("temp"), "64k") else { return };
        let mut packed = GzEncoder::new(Vec::new(), Compression::fast());
        packed.write_all(&fs::read(place.path("in/Big.etl")).unwrap()).unwrap();
        fs::remove_file(place.path("in/Big.etl")).unwrap();
        fs::write(place.path("in/Big.etl.gz"), packed.finish().unwrap()).unwrap();
        assert_one_line(
            &place.extract(&["in/Big.etl.gz", "--out", "out"]).output().unwrap(),
            "in/Big.etl.gz: no space left in temp to unpack it; free some, or choose another directory with --temp or TMPDIR",
        );
        assert_eq!(listing(&place.path("out")), [""; 0]);
    }
}
