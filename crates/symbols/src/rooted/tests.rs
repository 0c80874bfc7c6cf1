use std::fs;
use std::io::Read as _;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use tempfile::TempDir;

use super::{Listings, open_below};

fn text(root: &Path, path: &str, listings: Option<&Listings>) -> Result<String, String> {
    let mut text = String::new();
    open_below(root, path.split('/'), listings)
        .and_then(|mut file| file.read_to_string(&mut text))
        .map_err(|error| error.to_string())?;
    Ok(text)
}

/// A root with files, and one beside it that must not be reached.
fn roots() -> (TempDir, PathBuf) {
    let directory = TempDir::new().expect("a directory");
    let root = directory.path().join("root");
    for (folder, file) in [("usr/lib", "libc.so"), ("Windows/System32", "ntdll.dll"), ("dev", "file")] {
        fs::create_dir_all(root.join(folder)).expect("directories");
        fs::write(root.join(folder).join(file), "inside").expect("a file");
    }
    fs::write(directory.path().join("secret"), "outside").expect("a file");
    (directory, root)
}

#[test]
fn links_lead_where_they_lead_on_the_recorded_machine() {
    let (_directory, root) = roots();
    symlink("usr/lib", root.join("lib")).expect("a link");
    symlink("/usr/lib", root.join("lib64")).expect("a link");
    symlink("../lib64/libc.so", root.join("usr/absolute.so")).expect("a link");
    for path in ["/usr/lib/libc.so", "/lib/libc.so", "/lib64//./libc.so", "/usr/absolute.so", "/../usr/lib/libc.so"] {
        assert_eq!(text(&root, path, None).as_deref(), Ok("inside"), "{path}");
    }
    assert!(text(&root, "/USR/lib/libc.so", None).is_err(), "letters count");
}

#[test]
fn letters_may_differ() {
    let (_directory, root) = roots();
    symlink("/windows/SYSTEM32", root.join("absolute")).expect("a link");
    symlink("../../absolute/ntdll.dll", root.join("Windows/up")).expect("a link");
    let listings = Listings::default();
    for path in ["WINDOWS/system32/NTDLL.dll", "absolute/ntdll.dll", "windows/UP"] {
        assert_eq!(text(&root, path, Some(&listings)).as_deref(), Ok("inside"), "{path}");
    }
}

#[test]
fn nothing_leads_out() {
    let (directory, root) = roots();
    let secret = directory.path().join("secret");
    symlink(&secret, root.join("absolute")).expect("a link");
    symlink("../secret", root.join("relative")).expect("a link");
    symlink("../..", root.join("usr/up")).expect("a link");
    symlink("loop", root.join("loop")).expect("a link");
    let secret = secret.to_str().expect("a path");
    let listings = Listings::default();
    for path in [
        "/../secret",
        "/usr/../../secret",
        "/absolute",
        "/relative",
        "/usr/up/secret",
        "/loop",
        secret,
        "secret",
        "",
        "/",
        "/usr",
        "/usr/lib/libc.so/more",
        "/dev/file",
        "/usr/../dev/file",
        "/none",
    ] {
        for listings in [None, Some(&listings)] {
            assert!(text(&root, path, listings).is_err(), "{path:?}");
        }
    }
    assert!(open_below(Path::new("/"), ["proc", "self", "maps"], None).is_err());
}

#[test]
fn a_pipe_is_refused_and_not_waited_for() {
    let (_directory, root) = roots();
    let made = std::process::Command::new("mkfifo").arg(root.join("pipe")).status();
    if made.is_ok_and(|status| status.success()) {
        assert!(text(&root, "/pipe", None).is_err());
    }
}
