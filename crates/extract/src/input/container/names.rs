//! Names of members: what is shown of them, and which members are wanted.

use crate::input::file_kind::{self, Packing};

/// What to do with a member.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Want {
    /// It is a recording.
    Recording,
    /// It is a recording if it begins like one.
    Perhaps,
    /// It is an archive that may hold one.
    Archive,
    /// Something else.
    Nothing,
}

/// Which members of one archive are wanted.
#[derive(Clone, Copy, Debug)]
pub(super) struct Plan {
    /// Whether archives inside are opened at all.
    archives: bool,
    /// Whether archives that do not say what they hold are opened too, because nothing better is there.
    any_archive: bool,
}

impl Plan {
    /// Looks at all names of an archive; `archives`: whether archives inside it may be opened.
    pub(super) fn new<'n>(names: impl Iterator<Item = &'n str>, archives: bool) -> Plan {
        let plan = Plan { archives, any_archive: false };
        let mut names = names;
        let better = names.any(|name| matches!(plan.want(name), Want::Recording | Want::Archive));
        Plan { archives, any_archive: archives && !better }
    }

    /// What to do with the member of this name.
    pub(super) fn want(&self, name: &str) -> Want {
        let file_name = name.rsplit(['/', '\\']).next().unwrap_or(name);
        // Resource forks that macOS adds beside every file look like the file.
        if file_name.starts_with("._") {
            return Want::Nothing;
        }
        if file_kind::is_plain_recording_name(file_name) {
            return Want::Recording;
        }
        if file_kind::may_be_recording_name(file_name) {
            return Want::Perhaps;
        }
        let is_archive = Packing::by_name(file_name).is_some();
        let says_so = file_kind::is_packed_recording_name(file_name);
        if self.archives && (says_so || self.any_archive && is_archive) { Want::Archive } else { Want::Nothing }
    }
}

/// A member's name as it is shown: `/` separated, without drive, root, `.` and `..`, and without control characters.
pub(super) fn harmless(name: &str) -> String {
    let mut shown = String::with_capacity(name.len());
    for component in name.split(['/', '\\']) {
        let component = component.trim_end_matches(':');
        if matches!(component, "" | "." | "..") {
            continue;
        }
        if !shown.is_empty() {
            shown.push('/');
        }
        shown.extend(component.chars().filter(|c| !c.is_control()));
    }
    if shown.is_empty() { "unnamed".to_owned() } else { shown }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_would_escape_are_only_names() {
        for (name, shown) in [
            ("../../etc/evil.etl", "etc/evil.etl"),
            ("/abs/x.etl", "abs/x.etl"),
            ("C:\\Windows\\x.etl", "C/Windows/x.etl"),
            ("a/./b//c.etl", "a/b/c.etl"),
            ("a\n\u{1b}[2J.etl", "a[2J.etl"),
            ("..", "unnamed"),
            ("", "unnamed"),
        ] {
            assert_eq!(harmless(name), shown, "{name:?}");
        }
    }

    #[test]
    fn recordings_first_and_archives_only_when_they_help() {
        let names = ["logs/x.ETL", "pdbs.zip", "y.etl.zip", "__MACOSX/._x.etl", "readme.txt", "a/perf.data", "x.data"];
        let plan = Plan::new(names.into_iter(), true);
        let wants = names.map(|name| plan.want(name));
        let expected = [Want::Recording, Want::Nothing, Want::Archive, Want::Nothing, Want::Nothing];
        assert_eq!(wants[..5], expected);
        assert_eq!(wants[5..], [Want::Recording, Want::Perhaps]);

        let only_archives = ["a.zip", "readme.txt", "x.data"];
        assert_eq!(Plan::new(only_archives.into_iter(), true).want("a.zip"), Want::Archive);
        assert_eq!(Plan::new(only_archives.into_iter(), false).want("a.zip"), Want::Nothing);
    }
}
