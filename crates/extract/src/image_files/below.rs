//! Opens a file that a recording names below a directory that the user named, and nothing else.

use std::ffi::OsString;
use std::fs::{self, File, OpenOptions};
use std::io;
use std::path::{Component, Path, PathBuf};

/// Symbolic links that are followed, as many as Linux follows.
const MAX_LINKS: usize = 40;
/// Bytes of a path, as many as Linux accepts.
const MAX_PATH: usize = 4096;

/// Directories of a Linux machine whose files are no files: reading may wait, or do something.
const NOT_FILES: [&str; 3] = ["dev", "proc", "sys"];

/// Opens the regular file at a Linux `path`, as if `root` were the root of the file system: symbolic links are followed as they
/// would be there, and `..` does not lead out.
pub(super) fn open_below(root: &Path, path: &str) -> io::Result<File> {
    let place = resolve(root, path)?;
    let mut options = OpenOptions::new();
    options.read(true);
    #[cfg(unix)]
    {
        use rustix::fs::OFlags;
        use std::os::unix::fs::OpenOptionsExt as _;
        // Should it have been replaced just now: no link is followed, and a pipe does not make us wait.
        let flags = OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::NOCTTY;
        options.custom_flags(flags.bits().cast_signed());
    }
    let file = options.open(&place)?;
    if !file.metadata()?.is_file() {
        return Err(refused("it is no regular file"));
    }
    Ok(file)
}

fn refused(why: &'static str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidInput, why)
}

/// Where the file is, with no link left in the path below `root`.
fn resolve(root: &Path, path: &str) -> io::Result<PathBuf> {
    if !path.starts_with('/') || path.starts_with("//") || path.len() > MAX_PATH || path.contains('\0') {
        return Err(refused("its name is no absolute path"));
    }
    // What is still to be walked, last part first, and the way so far.
    let mut pending: Vec<OsString> = path.rsplit('/').map(OsString::from).collect();
    let mut place: Vec<OsString> = Vec::new();
    let mut links = 0;
    while let Some(part) = pending.pop() {
        if part.is_empty() || part == "." {
            continue;
        }
        if part == ".." {
            place.pop();
            continue;
        }
        if !is_plain(&part) {
            return Err(refused("its name means something else here"));
        }
        if place.is_empty() && NOT_FILES.iter().any(|name| part == *name) {
            return Err(refused("it is no regular file"));
        }
        let here = joined(root, &place).join(&part);
        let kind = fs::symlink_metadata(&here)?.file_type();
        if kind.is_symlink() {
            links += 1;
            if links > MAX_LINKS {
                return Err(refused("too many symbolic links"));
            }
            follow(&fs::read_link(&here)?, &mut pending, &mut place)?;
            continue;
        }
        let is_last = pending.iter().all(|part| part.is_empty() || part == ".");
        if is_last && !kind.is_file() || !is_last && !kind.is_dir() {
            return Err(refused("it is no regular file"));
        }
        place.push(part);
    }
    if place.is_empty() {
        return Err(refused("it is no regular file"));
    }
    Ok(joined(root, &place))
}

fn joined(root: &Path, place: &[OsString]) -> PathBuf {
    place.iter().fold(root.to_owned(), |path, part| path.join(part))
}

/// Goes on at the target of a link, which below the root is where it would be there.
fn follow(target: &Path, pending: &mut Vec<OsString>, place: &mut Vec<OsString>) -> io::Result<()> {
    let mut parts = Vec::new();
    for component in target.components() {
        match component {
            Component::RootDir => place.clear(),
            Component::CurDir => {}
            Component::ParentDir => parts.push(OsString::from("..")),
            Component::Normal(part) => parts.push(part.to_owned()),
            Component::Prefix(_) => return Err(refused("a symbolic link leads out")),
        }
    }
    pending.extend(parts.into_iter().rev());
    Ok(())
}

/// Whether a part of a Linux path is one name here too: Windows knows other separators, drives, streams and devices.
fn is_plain(part: &OsString) -> bool {
    if !cfg!(windows) {
        return true;
    }
    let Some(text) = part.to_str() else { return false };
    let stem = text.split('.').next().unwrap_or(text).trim_end().to_ascii_uppercase();
    let numbered = |name: &str| stem.strip_prefix(name).is_some_and(|rest| rest.chars().count() == 1);
    let is_device = ["CON", "PRN", "AUX", "NUL", "CONIN$", "CONOUT$"].contains(&stem.as_str());
    !text.contains(['\\', ':', '*', '?', '"', '<', '>', '|']) && !is_device && !numbered("COM") && !numbered("LPT")
}

#[cfg(all(test, unix))]
mod tests {
    use std::io::Read as _;
    use std::os::unix::fs::symlink;

    use tempfile::TempDir;

    use super::*;

    fn text(root: &Path, path: &str) -> Result<String, String> {
        let mut text = String::new();
        open_below(root, path)
            .and_then(|mut file| file.read_to_string(&mut text))
            .map_err(|error| error.to_string())?;
        Ok(text)
    }

    /// A root with a file, and one beside it that must not be reached.
    #[expect(clippy::unwrap_used, reason = "the helpers of a test fail as the test does: by panicking")]
    fn roots() -> (TempDir, PathBuf) {
        let directory = TempDir::new().unwrap();
        let root = directory.path().join("root");
        fs::create_dir_all(root.join("usr/lib")).unwrap();
        fs::create_dir_all(root.join("dev")).unwrap();
        fs::write(root.join("usr/lib/libc.so"), "inside").unwrap();
        fs::write(root.join("dev/file"), "device").unwrap();
        fs::write(directory.path().join("secret"), "outside").unwrap();
        (directory, root)
    }

    #[test]
    fn links_lead_where_they_lead_on_the_recorded_machine() {
        let (_directory, root) = roots();
        symlink("usr/lib", root.join("lib")).unwrap();
        symlink("/usr/lib", root.join("lib64")).unwrap();
        symlink("../lib64/libc.so", root.join("usr/absolute.so")).unwrap();
        for path in ["/usr/lib/libc.so", "/lib/libc.so", "/lib64//./libc.so", "/usr/absolute.so", "/../usr/lib/libc.so"]
        {
            assert_eq!(text(&root, path).as_deref(), Ok("inside"), "{path}");
        }
    }

    #[test]
    fn nothing_leads_out() {
        let (directory, root) = roots();
        let secret = directory.path().join("secret");
        symlink(&secret, root.join("absolute")).unwrap();
        symlink("../secret", root.join("relative")).unwrap();
        symlink("../..", root.join("usr/up")).unwrap();
        symlink("loop", root.join("loop")).unwrap();
        let absolute = secret.to_str().unwrap();
        for path in [
            "/../secret",
            "/usr/../../secret",
            "/absolute",
            "/relative",
            "/usr/up/secret",
            "/loop",
            absolute,
            "secret",
            "//server/share/secret",
            "\\\\server\\share\\secret",
            "",
            "/",
            "/usr",
            "/usr/lib/libc.so/more",
            "/dev/file",
            "/usr/../dev/file",
            "/usr/lib/libc.so\0",
        ] {
            assert!(text(&root, path).is_err(), "{path:?}");
        }
        assert!(open_below(Path::new("/"), "/proc/self/maps").is_err());
    }

    #[test]
    fn a_pipe_is_refused_and_not_waited_for() {
        let (_directory, root) = roots();
        let pipe = root.join("pipe");
        let made = std::process::Command::new("mkfifo").arg(&pipe).status();
        if made.is_ok_and(|status| status.success()) {
            assert!(text(&root, "/pipe").is_err());
        }
    }
}
