//! Opens a file that a recording names below a directory that the user named, and nothing else.

use std::fs::File;
use std::io;
use std::path::Path;

/// Bytes of a path, as many as Linux accepts.
const MAX_PATH: usize = 4096;

/// Opens the regular file at a Linux `path`, as if `root` were the root of the file system.
pub(super) fn open_below(root: &Path, path: &str) -> io::Result<File> {
    if !path.starts_with('/') || path.starts_with("//") || path.len() > MAX_PATH || path.contains('\0') {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "its name is no absolute path"));
    }
    tracesift_symbols::rooted::open_below(root, path.split('/'), None)
}

#[cfg(all(test, unix))]
mod tests {
    use std::io::Read as _;

    use super::*;

    #[test]
    fn only_absolute_paths_name_files() {
        let directory = tempfile::TempDir::new().unwrap();
        std::fs::create_dir(directory.path().join("lib")).unwrap();
        std::fs::write(directory.path().join("lib/libc.so"), "inside").unwrap();
        let mut text = String::new();
        open_below(directory.path(), "/lib/./libc.so").unwrap().read_to_string(&mut text).unwrap();
        assert_eq!(text, "inside");
        for path in ["lib/libc.so", "//lib/libc.so", "\\\\lib\\libc.so", "", "/", "/lib/libc.so\0", "/../etc/passwd"] {
            assert!(open_below(directory.path(), path).is_err(), "{path:?}");
        }
        let long = format!("/{}lib/libc.so", "./".repeat(MAX_PATH));
        assert!(open_below(directory.path(), &long).is_err());
    }
}
