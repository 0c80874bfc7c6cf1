//! The place of a file below a directory that the user gave.

use std::fmt;
use std::path::{Path, PathBuf};

use super::file_name::FileName;

/// A relative path of plain names: it leads down and nowhere else.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Below(Vec<FileName>);

/// Parts of a path; recorded ones are never as deep.
const MAX_DEPTH: usize = 64;

impl Below {
    /// A path of these names.
    pub fn new<'a>(parts: impl IntoIterator<Item = &'a FileName>) -> Self {
        Self(parts.into_iter().cloned().collect())
    }

    /// The path of a file on the machine of a recording, below the root of its file system: without drive or volume. `None` for
    /// paths of the network and whatever does not simply lead down.
    #[must_use]
    pub fn of_recorded(path: &str) -> Option<Self> {
        if is_network(path) {
            return None;
        }
        let mut rest = path;
        for prefix in [r"\??\", r"\\?\"] {
            rest = rest.strip_prefix(prefix).unwrap_or(rest);
        }
        let mut parts: Vec<&str> = Vec::new();
        if let Some(below) = strip_prefix_ignoring_case(rest, r"\SystemRoot\") {
            parts.push("Windows");
            rest = below;
        } else if let Some(below) = strip_prefix_ignoring_case(rest, r"\Device\") {
            // A volume; what other devices hold is not known.
            let (device, below) = below.split_once('\\')?;
            strip_prefix_ignoring_case(device, "HarddiskVolume")?;
            rest = below;
        } else if let Some((drive, below)) = rest.split_once(':') {
            (drive.len() == 1 && drive.starts_with(|c: char| c.is_ascii_alphabetic())).then_some(())?;
            rest = below;
        }
        // A path of Linux may hold backslashes, but no such name is a plain one.
        parts.extend(rest.split(['/', '\\']).filter(|part| !part.is_empty() && *part != "."));
        Self::of_parts(parts)
    }

    /// Of parts that come from strangers.
    pub(super) fn of_parts<'a>(parts: impl IntoIterator<Item = &'a str>) -> Option<Self> {
        let parts: Vec<FileName> = parts.into_iter().take(MAX_DEPTH + 1).map(FileName::new).collect::<Option<_>>()?;
        (1..=MAX_DEPTH).contains(&parts.len()).then_some(Self(parts))
    }

    /// The names on the way.
    #[must_use]
    pub fn parts(&self) -> &[FileName] {
        &self.0
    }

    /// The file's own name.
    #[must_use]
    pub fn name(&self) -> Option<&FileName> {
        self.0.last()
    }

    /// Another file in the same directory.
    #[must_use]
    pub fn beside(&self, name: &FileName) -> Self {
        let mut parts = self.0.clone();
        parts.pop();
        parts.push(name.clone());
        Self(parts)
    }

    /// The same path with names in front.
    #[must_use]
    pub fn under(&self, parts: &[&FileName]) -> Self {
        Self(parts.iter().copied().chain(&self.0).cloned().collect())
    }

    /// The path below a directory.
    #[must_use]
    pub fn at(&self, root: &Path) -> PathBuf {
        self.0.iter().fold(root.to_owned(), |path, part| path.join(part.as_str()))
    }

    /// The path behind the address of a server: whatever means something in an address is escaped.
    #[must_use]
    pub fn at_server(&self, address: &str) -> String {
        let mut url = address.to_owned();
        for part in &self.0 {
            url.push('/');
            for byte in part.as_str().bytes() {
                match byte {
                    b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' => url.push(char::from(byte)),
                    _ => url.push_str(&format!("%{byte:02X}")),
                }
            }
        }
        url
    }
}

impl fmt::Display for Below {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (at, part) in self.0.iter().enumerate() {
            write!(f, "{}{part}", if at == 0 { "" } else { "/" })?;
        }
        Ok(())
    }
}

/// Whether a path leads to another machine, as Windows reads it.
pub(super) fn is_network(path: &str) -> bool {
    let slashed = path.replace('\\', "/");
    let local_prefix =
        strip_prefix_ignoring_case(&slashed, "//?/").filter(|rest| strip_prefix_ignoring_case(rest, "UNC/").is_none());
    let device = strip_prefix_ignoring_case(&slashed, "/Device/");
    slashed.starts_with("//") && local_prefix.is_none()
        || strip_prefix_ignoring_case(&slashed, "/??/UNC/").is_some()
        || device.is_some_and(|rest| strip_prefix_ignoring_case(rest, "Mup/").is_some())
        || device.is_some_and(|rest| strip_prefix_ignoring_case(rest, "LanmanRedirector/").is_some())
}

pub(super) fn strip_prefix_ignoring_case<'a>(text: &'a str, prefix: &str) -> Option<&'a str> {
    let (start, rest) = text.split_at_checked(prefix.len())?;
    start.eq_ignore_ascii_case(prefix).then_some(rest)
}

#[cfg(test)]
mod tests {
    use std::path::{Component, Path};

    use proptest::prelude::*;

    use super::{Below, is_network};

    #[test]
    fn recorded_paths_lead_down() {
        for (path, expected) in [
            (r"C:\Windows\System32\ntdll.dll", Some("Windows/System32/ntdll.dll")),
            (r"\??\C:\x.exe", Some("x.exe")),
            (r"\\?\C:\x.exe", Some("x.exe")),
            (r"\SystemRoot\System32\drivers\a.sys", Some("Windows/System32/drivers/a.sys")),
            (r"\Device\HarddiskVolume3\Windows\a.dll", Some("Windows/a.dll")),
            (r"\Device\Mup\server\share\a.dll", None),
            (r"\Device\CdRom0\a.dll", None),
            (r"\\server\share\a.dll", None),
            (r"\\?\UNC\server\share\a.dll", None),
            (r"\??\UNC\server\share\a.dll", None),
            ("//server/share/a.dll", None),
            (r"C:\Windows\..\secret", None),
            ("/usr/lib/libc.so.6", Some("usr/lib/libc.so.6")),
            ("/usr/../etc/shadow", None),
            ("/tmp/a:b", None),
            ("[vdso]", Some("[vdso]")),
            ("", None),
            ("/", None),
        ] {
            assert_eq!(Below::of_recorded(path).map(|below| below.to_string()).as_deref(), expected, "{path}");
        }
    }

    #[test]
    fn names_are_escaped_in_addresses() {
        let below = Below::of_parts(["a b.pdb", "1?".trim_end_matches('?'), "%2e%2e", "é#"]).expect("a path");
        assert_eq!(below.at_server("http://h/s"), "http://h/s/a%20b.pdb/1/%252e%252e/%C3%A9%23");
    }

    proptest! {
        /// Whatever a recording says, the path stays below the directory.
        #[test]
        fn nothing_leads_out(path in r"[a-z./\\:~% \x00*A-Z?-]{0,40}|(\.\./|\.\.\\|[a-z]+/|\\\\|C:|nul){0,8}[a-z]*") {
            if let Some(below) = Below::of_recorded(&path) {
                prop_assert!(!is_network(&path));
                let joined = below.at(Path::new("/store"));
                let below = joined.strip_prefix("/store").expect("below");
                prop_assert!(below.components().count() > 0);
                prop_assert!(below.components().all(|part| matches!(part, Component::Normal(_))), "{:?}", joined);
                prop_assert!(!joined.to_string_lossy().contains(['\\', '\0', ':']));
            }
        }
    }
}
