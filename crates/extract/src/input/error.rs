//! Errors of an input. Each is one line: the file, the reason and the cure.

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use thiserror::Error;

/// Where the system looks for the directory of temporary files.
pub(crate) const TEMP_VARIABLE: &str = if cfg!(windows) { "TMP" } else { "TMPDIR" };

/// Why an input cannot be used.
#[derive(Debug, Error)]
pub enum InputError {
    /// There is no such file or directory.
    #[error("{}: not found; check the path, or give a wildcard such as '*.etl'", shown(.path))]
    NotFound {
        /// Path as given.
        path: PathBuf,
    },
    /// A wildcard or name without extension matched no recording.
    #[error("no recording in {} matches '{}'; {}", shown(.directory), one_line(.pattern), hint_below(*.recursive))]
    NothingMatched {
        /// Pattern as given.
        pattern: String,
        /// Directory that was searched.
        directory: PathBuf,
        /// Whether directories below were searched too.
        recursive: bool,
    },
    /// A directory holds no recording.
    #[error("no recording in {}; {}", shown(.directory), hint_below(*.recursive))]
    NothingInDirectory {
        /// Directory that was searched.
        directory: PathBuf,
        /// Whether directories below were searched too.
        recursive: bool,
    },
    /// Everything that was named is also excluded.
    #[error("all {count} inputs are excluded by '{}'; loosen the exclusions", one_line(.exclusions))]
    AllExcluded {
        /// Number of inputs found.
        count: usize,
        /// The exclusions, `;` separated.
        exclusions: String,
    },
    /// The operating system refuses to read it.
    #[error("{}: cannot be read: {}; check its permissions", shown(.path), one_line(&.reason.to_string()))]
    Unreadable {
        /// File or directory.
        path: PathBuf,
        /// What the operating system said.
        reason: io::Error,
    },
    /// A device, pipe or directory stands where a file is needed.
    #[error("{}: is not a regular file; copy its content to a file first", shown(.path))]
    NotAFile {
        /// Path as given.
        path: PathBuf,
    },
    /// The file, or every recording in it, has no bytes.
    #[error("{}: is empty, so the recorder wrote nothing; record again or leave it out", located(.path, .member.as_deref()))]
    Empty {
        /// Input file.
        path: PathBuf,
        /// Member inside an archive file.
        member: Option<String>,
    },
    /// An archive file without a recording.
    #[error("{}: holds {}; give the file that holds the recording", shown(.path), listing(.found, *.count))]
    NoRecording {
        /// Archive file.
        path: PathBuf,
        /// Names of up to five members that it does hold.
        found: Vec<String>,
        /// Number of members.
        count: usize,
    },
    /// An archive file that cannot be unpacked to its end.
    #[error("{}: damaged: {}; get it again from its source", located(.path, .member.as_deref()), one_line(.reason))]
    Damaged {
        /// Archive file.
        path: PathBuf,
        /// Member that failed; absent when the directory of the archive itself did.
        member: Option<String>,
        /// What the decoder said.
        reason: String,
    },
    /// A decoder that no longer gets anywhere.
    #[error(
        "{}: nothing has come out of it for {} s, so it is damaged, or cannot be read; get it again from its source",
        shown(.path),
        .silence.as_secs()
    )]
    Stuck {
        /// Archive file.
        path: PathBuf,
        /// How long it was waited for.
        silence: Duration,
    },
    /// A member or the whole archive is encrypted.
    #[error("{}: is encrypted; unpack it with its password first", located(.path, .member.as_deref()))]
    Encrypted {
        /// Archive file.
        path: PathBuf,
        /// Encrypted member; absent when even the names are encrypted.
        member: Option<String>,
    },
    /// Packed in a way that no decoder here knows.
    #[error(
        "{}: packed with an unknown method ({}); unpack it with the program that made it",
        located(.path, .member.as_deref()),
        one_line(.method)
    )]
    UnknownMethod {
        /// Archive file.
        path: PathBuf,
        /// Member.
        member: Option<String>,
        /// The method's name or number.
        method: String,
    },
    /// Unpacking would need more space than is reasonable for the archive's size.
    #[error(
        "{}: expands to more than {}, which looks like an attack; unpack it by other means if it is genuine",
        located(.path, .member.as_deref()),
        bytes(*.limit)
    )]
    TooLarge {
        /// Archive file.
        path: PathBuf,
        /// Member being unpacked.
        member: Option<String>,
        /// Bytes that were allowed for this archive.
        limit: u64,
    },
    /// More members than a recording ever has.
    #[error(
        "{}: holds {count} members, more than the {limit} that are accepted; unpack the recording by other means",
        shown(.path)
    )]
    TooManyMembers {
        /// Archive file.
        path: PathBuf,
        /// Number of members.
        count: usize,
        /// Number accepted.
        limit: usize,
    },
    /// The decoder's dictionary is larger than allowed.
    #[error(
        "{}: needs more than {} of memory to unpack; unpack it by other means",
        located(.path, .member.as_deref()),
        bytes(*.limit)
    )]
    NeedsMemory {
        /// Archive file.
        path: PathBuf,
        /// Member.
        member: Option<String>,
        /// Bytes accepted.
        limit: u64,
    },
    /// The disk of the temporary directory is full.
    #[error(
        "{}: no space left in {} to unpack it; free some, or choose another directory with --temp or {}",
        shown(.path),
        shown(.directory),
        TEMP_VARIABLE
    )]
    NoSpace {
        /// Archive file.
        path: PathBuf,
        /// Temporary directory.
        directory: PathBuf,
    },
    /// No temporary file can be made or written.
    #[error(
        "{}: cannot write a temporary file in {}: {}; choose another directory with --temp or {}",
        shown(.path),
        shown(.directory),
        one_line(&.reason.to_string()),
        TEMP_VARIABLE
    )]
    Temporary {
        /// Archive file.
        path: PathBuf,
        /// Temporary directory.
        directory: PathBuf,
        /// What the operating system said.
        reason: io::Error,
    },
    /// `--merge` was given without files.
    #[error("nothing to merge into '{}'; name the .etl files after it", one_line(.name))]
    NothingToMerge {
        /// Name of the recording to be.
        name: String,
    },
    /// The caller asked to stop.
    #[error("{}: stopped on request", shown(.path))]
    Cancelled {
        /// File that was being unpacked.
        path: PathBuf,
    },
}

/// Something that the user should know although the work goes on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Note {
    /// An archive file stands beside what it was made from, so only the archive is used.
    ArchiveWins {
        /// The archive file.
        used: PathBuf,
        /// What is left aside.
        instead_of: PathBuf,
    },
    /// The archive file held no recording, so the file beside it is used after all.
    ArchiveWithoutRecording {
        /// The archive file.
        archive: PathBuf,
        /// The file used.
        used: PathBuf,
    },
    /// An extract lies beside a recording and was made from another one, or from what the recording was before.
    OtherExtract {
        /// The extract.
        extract: PathBuf,
        /// The recording, which is read.
        recording: PathBuf,
    },
    /// A file or member without bytes was left out.
    EmptyLeftOut {
        /// Input file.
        path: PathBuf,
        /// Member inside an archive file.
        member: Option<String>,
    },
    /// A loose part stands in the archive too and is read from there.
    PartInArchive {
        /// The loose part.
        part: PathBuf,
        /// The archive file.
        archive: PathBuf,
    },
    /// Something below a searched directory could not be read.
    Unreadable {
        /// Directory or file.
        path: PathBuf,
        /// What the operating system said.
        reason: String,
    },
}

impl fmt::Display for Note {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Note::ArchiveWins { used, instead_of } => {
                write!(f, "{}: used instead of {}, which is the same recording", shown(used), shown(instead_of))
            }
            Note::ArchiveWithoutRecording { archive, used } => {
                write!(f, "{}: holds no recording; {} is used instead", shown(archive), shown(used))
            }
            Note::OtherExtract { extract, recording } => {
                write!(f, "{}: is not the extract of {}, which is read instead", shown(extract), shown(recording))
            }
            Note::EmptyLeftOut { path, member } => {
                write!(f, "{}: is empty and was left out", located(path, member.as_deref()))
            }
            Note::PartInArchive { part, archive } => {
                write!(f, "{}: left out, because {} holds it too", shown(part), shown(archive))
            }
            Note::Unreadable { path, reason } => {
                write!(f, "{}: cannot be read and was left out: {}", shown(path), one_line(reason))
            }
        }
    }
}

/// A path for a terminal: control characters are replaced, so that a file name cannot move the cursor or fake a line.
pub(crate) fn shown(path: &Path) -> String {
    one_line(&path.to_string_lossy())
}

/// Text for one line of a terminal.
pub(crate) fn one_line(text: &str) -> String {
    text.chars().map(|c| if c.is_control() { '\u{fffd}' } else { c }).collect()
}

fn located(path: &Path, member: Option<&str>) -> String {
    match member {
        Some(member) => format!("{} ({})", shown(path), one_line(member)),
        None => shown(path),
    }
}

fn listing(found: &[String], count: usize) -> String {
    if found.is_empty() {
        return "nothing".to_owned();
    }
    let mut text = "no recording, only ".to_owned();
    text.push_str(&found.iter().map(|name| one_line(name)).collect::<Vec<_>>().join(", "));
    if count > found.len() {
        text.push_str(&format!(" and {} more", count - found.len()));
    }
    text
}

fn hint_below(recursive: bool) -> &'static str {
    if recursive {
        "recordings end in .etl, .data, .perf, .zip, .7z, .cab, .etl.gz, .perf.data.xz or .diagsession"
    } else {
        "add --recursive to search the directories below it"
    }
}

/// Bytes in the largest binary unit that divides them without loss of sense.
fn bytes(count: u64) -> String {
    const UNITS: [(u64, &str); 3] = [(1 << 30, "GiB"), (1 << 20, "MiB"), (1 << 10, "KiB")];
    match UNITS.iter().find(|(unit, _)| count >= *unit) {
        Some((unit, name)) if count.is_multiple_of(*unit) => format!("{} {name}", count / unit),
        Some((unit, name)) => format!("{:.1} {name}", count as f64 / *unit as f64),
        None => format!("{count} bytes"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_message_is_one_line_whatever_the_names() {
        let nasty = PathBuf::from("a\nb\u{1b}[2Jc.zip");
        let errors = [
            InputError::NotFound { path: nasty.clone() },
            InputError::NothingMatched { pattern: "x\ny".into(), directory: nasty.clone(), recursive: false },
            InputError::Unreadable { path: nasty.clone(), reason: io::Error::other("first\nsecond") },
            InputError::NoRecording { path: nasty.clone(), found: vec!["u\r\nv".into()], count: 3 },
            InputError::Damaged { path: nasty.clone(), member: Some("m\t".into()), reason: "r\n".into() },
            InputError::TooLarge { path: nasty, member: None, limit: 1 << 31 },
        ];
        for error in errors {
            let text = error.to_string();
            assert!(!text.chars().any(char::is_control), "{text:?}");
            assert!(text.contains(';'), "says what to do: {text}");
        }
    }

    #[test]
    fn up_to_five_names_and_how_many_more() {
        let found = ["a.txt", "b.txt"].map(String::from).to_vec();
        let error = InputError::NoRecording { path: "x.zip".into(), found, count: 7 };
        assert_eq!(
            error.to_string(),
            "x.zip: holds no recording, only a.txt, b.txt and 5 more; give the file that holds the recording"
        );
    }

    #[test]
    fn sizes_in_binary_units() {
        assert_eq!(bytes(256 << 30), "256 GiB");
        assert_eq!(bytes(1536 << 20), "1.5 GiB");
        assert_eq!(bytes(12), "12 bytes");
    }
}
