//! Parts of the paths of files, as questions group by them.

use rustc_hash::FxHashMap;
use tracesift_archive::Error;
use tracesift_trace::rows::{FileRow, ModuleRow};

use crate::recording::OpenRecording;

/// From so many parts on a directory is the file itself.
const WHOLE: usize = 100;

/// The path of each file.
pub(super) fn files(recording: &OpenRecording, _: Option<usize>) -> Result<Vec<(i64, String)>, Error> {
    let files = recording.archive().rows::<FileRow>()?.into_iter();
    Ok(files.map(|row| (row.file.0.into(), row.path)).collect())
}

/// The directory of each file, or as many parts of its path as are asked for.
pub(super) fn directories(recording: &OpenRecording, level: Option<usize>) -> Result<Vec<(i64, String)>, Error> {
    let files = recording.archive().rows::<FileRow>()?.into_iter();
    Ok(files.map(|row| (row.file.0.into(), directory(&row.path, level).to_owned())).collect())
}

/// The drive of each file.
pub(super) fn drives(recording: &OpenRecording, _: Option<usize>) -> Result<Vec<(i64, String)>, Error> {
    let files = recording.archive().rows::<FileRow>()?.into_iter();
    Ok(files.map(|row| (row.file.0.into(), drive(&row.path).to_owned())).collect())
}

/// The module of each file that is one.
pub(super) fn modules(recording: &OpenRecording, _: Option<usize>) -> Result<Vec<(i64, String)>, Error> {
    let modules = recording.archive().rows::<ModuleRow>()?.into_iter();
    let names: FxHashMap<String, String> = modules.map(|row| (row.path.to_lowercase(), row.name)).collect();
    let files = recording.archive().rows::<FileRow>()?.into_iter();
    let name = |path: &str| names.get(&path.to_lowercase()).map_or("(no module)", |name| name).to_owned();
    Ok(files.map(|row| (row.file.0.into(), name(&row.path))).collect())
}

/// What the name of each file ends in, in lower case.
pub(super) fn extensions(recording: &OpenRecording, _: Option<usize>) -> Result<Vec<(i64, String)>, Error> {
    let files = recording.archive().rows::<FileRow>()?.into_iter();
    Ok(files.map(|row| (row.file.0.into(), extension(&row.path))).collect())
}

/// `.dll`; `(none)` of a name without a dot behind its first character.
fn extension(path: &str) -> String {
    let name = path.rsplit(['\\', '/']).next().unwrap_or(path);
    match name.rfind('.') {
        Some(dot) if dot > 0 && dot + 1 < name.len() => name[dot..].to_lowercase(),
        _ => "(none)".to_owned(),
    }
}

/// The drive of a path: `C:`, `\\server\share`, `\Device\HarddiskVolume2`, or the root of Linux.
fn drive(path: &str) -> &str {
    let separators = |path: &str| path.match_indices(['\\', '/']).map(|(place, _)| place).collect::<Vec<_>>();
    if path.starts_with('/') {
        return "/";
    }
    let places = separators(path);
    // A path that begins with a separator has its second part in front of the drive's own.
    let end = if path.starts_with("\\\\") {
        places.get(3)
    } else if path.starts_with('\\') {
        places.get(2)
    } else {
        places.first()
    };
    end.map_or(path, |end| &path[..*end])
}

/// The drive, each directory below it on the way to the file, and the file itself: the nodes of a tree, the root first.
pub(crate) fn steps(path: &str) -> Vec<&str> {
    let is_separator = |character| matches!(character, '\\' | '/');
    let trimmed = path.trim_end_matches(is_separator);
    let path = if trimmed.is_empty() { path } else { trimmed };
    let drive = drive(path);
    let below = path.get(drive.len()..).unwrap_or_default();
    let ends = below.match_indices(is_separator).map(|(place, _)| drive.len() + place);
    // Where two separators follow each other there is no name between.
    let is_name = |end: &usize| !path[..*end].ends_with(is_separator);
    let directories = ends.filter(|end| *end > drive.len()).filter(is_name).map(|end| &path[..end]);
    let file = Some(path).filter(|path| path.len() > drive.len());
    [drive].into_iter().chain(directories).chain(file).collect()
}

/// The parts of a path in reverse order, the name of the file first: `ntdll.dll\Windows\C:`.
pub(crate) fn reversed(path: &str) -> String {
    let separator = if path.contains('\\') { "\\" } else { "/" };
    path.rsplit(['\\', '/']).collect::<Vec<_>>().join(separator)
}

/// The drive and so many directories below it; without a number all directories.
fn directory(path: &str, level: Option<usize>) -> &str {
    let drive = drive(path);
    let level = level.unwrap_or(WHOLE - 1);
    if level >= WHOLE {
        return path;
    }
    if level == 0 {
        return drive;
    }
    let below = path.get(drive.len()..).unwrap_or_default();
    // In `\a\b\file` the separators behind the first one end a directory; of Linux the first one is the drive.
    let skipped = usize::from(drive != "/");
    let ends = below.match_indices(['\\', '/']).map(|(place, _)| place).skip(skipped);
    match ends.take(level).last() {
        Some(end) => &path[..drive.len() + end],
        None => drive,
    }
}

#[cfg(test)]
mod tests {
    use super::{directory, drive, extension, reversed, steps};

    #[test]
    fn the_name_of_a_file_comes_first() {
        for (path, expected) in [
            (r"C:\Windows\ntdll.dll", r"ntdll.dll\Windows\C:"),
            ("/usr/lib/libc.so", "libc.so/lib/usr/"),
            (r"\\server\share\x", r"x\share\server\\"),
            ("pagefile.sys", "pagefile.sys"),
            ("", ""),
        ] {
            assert_eq!(reversed(path), expected);
            assert_eq!(reversed(expected), path);
        }
    }

    #[test]
    fn steps_lead_from_the_drive_to_the_file() {
        for (path, expected) in [
            (r"C:\Windows\ntdll.dll", &["C:", r"C:\Windows", r"C:\Windows\ntdll.dll"][..]),
            (r"C:\Windows\", &["C:", r"C:\Windows"]),
            (r"C:\a\\b", &["C:", r"C:\a", r"C:\a\\b"]),
            ("C:", &["C:"]),
            (r"\\server\share\x", &[r"\\server\share", r"\\server\share\x"]),
            (r"\\server\share", &[r"\\server\share"]),
            (r"\Device\HarddiskVolume2\a", &[r"\Device\HarddiskVolume2", r"\Device\HarddiskVolume2\a"]),
            ("/usr/lib/libc.so", &["/", "/usr", "/usr/lib", "/usr/lib/libc.so"]),
            ("/", &["/"]),
            ("/vmlinuz", &["/", "/vmlinuz"]),
            ("pagefile.sys", &["pagefile.sys"]),
            ("", &[""]),
        ] {
            assert_eq!(steps(path), expected, "{path}");
            // A node has the same place in the tree whichever path leads through it.
            for (depth, step) in steps(path).into_iter().enumerate() {
                assert_eq!(steps(step).len(), depth + 1, "{step}");
            }
        }
    }

    #[test]
    fn extensions_are_the_end_of_names() {
        for (path, expected) in [
            (r"C:\Windows\ntdll.DLL", ".dll"),
            (r"C:\a.b\file", "(none)"),
            ("/etc/.profile", "(none)"),
            ("/lib/libc.so.6", ".6"),
            (r"C:\x.", "(none)"),
            ("", "(none)"),
        ] {
            assert_eq!(extension(path), expected, "{path}");
        }
    }

    #[test]
    fn drives_are_the_beginning_of_paths() {
        for (path, expected) in [
            (r"C:\Windows\System32\ntdll.dll", "C:"),
            ("C:", "C:"),
            (r"\\server\share\folder\file", r"\\server\share"),
            (r"\Device\HarddiskVolume2\Windows\file", r"\Device\HarddiskVolume2"),
            (r"\Device", r"\Device"),
            ("/usr/lib/libc.so", "/"),
            ("pagefile.sys", "pagefile.sys"),
            ("", ""),
        ] {
            assert_eq!(drive(path), expected, "{path}");
        }
    }

    #[test]
    fn directories_have_so_many_parts() {
        let path = r"C:\Windows\System32\ntdll.dll";
        let levels = [Some(0), Some(1), Some(2), Some(3), None, Some(99), Some(100)];
        let expected = [
            "C:",
            r"C:\Windows",
            r"C:\Windows\System32",
            r"C:\Windows\System32",
            r"C:\Windows\System32",
            r"C:\Windows\System32",
            path,
        ];
        assert_eq!(levels.map(|level| directory(path, level)), expected);
        assert_eq!(directory(r"C:\$Mft", None), "C:");
        let path = "/usr/lib/libc.so";
        assert_eq!([0, 1, 2, 3].map(|level| directory(path, Some(level))), ["/", "/usr", "/usr/lib", "/usr/lib"]);
        assert_eq!(directory("/vmlinuz", None), "/");
        assert_eq!(directory(r"\Device\HarddiskVolume2\a\b", Some(1)), r"\Device\HarddiskVolume2\a");
    }
}
