//! Filters that every question takes, in the same words.

use std::fmt;

use tracesift_grammar::Patterns;
use tracesift_trace::rows::ProcessRow;

use crate::user;

/// Which processes of a recording by when they started and ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Life {
    /// Alive during the whole recording.
    Whole,
    /// Started in the recording; may have ended.
    Started,
    /// Ended in the recording; may have started.
    Ended,
    /// Started in the recording and did not end.
    StartedOnly,
    /// Ended in the recording and was there before.
    EndedOnly,
}

impl Life {
    fn accepts(self, process: &ProcessRow) -> bool {
        match (self, process.start.is_some(), process.end.is_some()) {
            (Self::Whole, started, ended) => !started && !ended,
            (Self::Started, started, _) => started,
            (Self::Ended, _, ended) => ended,
            (Self::StartedOnly, started, ended) => started && !ended,
            (Self::EndedOnly, started, ended) => !started && ended,
        }
    }
}

/// Patterns of processes: `name`, `name.exe`, either with `(pid)`, or a bare pid.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ProcessPatterns(Patterns);

impl ProcessPatterns {
    /// Reads a list such as `cmd;explorer.exe;!4711`.
    #[must_use]
    pub fn parse(list: &str) -> Self {
        // A bare number is a pid and nothing else: `7` must find neither `7.exe` nor the process 77.
        let by_pid = |item: &str| {
            let item = item.trim();
            let (exclusion, text) = item.strip_prefix('!').map_or(("", item), |text| ("!", text.trim()));
            let is_pid = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
            if is_pid { format!("{exclusion}*({text})") } else { item.to_owned() }
        };
        Self(Patterns::parse(&list.split(';').map(by_pid).collect::<Vec<_>>().join(";")))
    }

    /// Whether every process passes because no pattern was given.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Whether a process passes.
    #[must_use]
    pub fn matches(&self, name: &str, pid: i64) -> bool {
        let stem = match name.len().checked_sub(4).and_then(|at| name.split_at_checked(at)) {
            Some((stem, extension)) if extension.eq_ignore_ascii_case(".exe") => stem,
            _ => name,
        };
        self.0.matches_any(&[name, stem, &format!("{name}({pid})"), &format!("{stem}({pid})")])
    }
}

impl fmt::Display for ProcessPatterns {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// Filter of processes; everything in it must hold.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ProcessFilter {
    /// The process.
    pub process: ProcessPatterns,
    /// Its parent.
    pub parent: ProcessPatterns,
    /// The command line.
    pub command_line: Patterns,
    /// Security identifier or account name.
    pub user: Patterns,
    /// Terminal-services session.
    pub session: Patterns,
    /// Id of the container, whole or its first twelve digits, or path of the control group.
    pub container: Patterns,
    /// Start and end.
    pub life: Option<Life>,
}

impl ProcessFilter {
    /// Whether everything passes.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self == &Self::default()
    }

    /// Whether a process passes. `parent` is the row of its parent, where there is one.
    #[must_use]
    pub fn accepts(&self, process: &ProcessRow, parent: Option<&ProcessRow>) -> bool {
        let parent_passes = || match (parent, process.parent_pid) {
            (Some(parent), _) => self.parent.matches(&parent.name, parent.pid),
            // A parent that was gone before the recording began has a pid and no name.
            (None, Some(pid)) => self.parent.matches("", pid),
            (None, None) => false,
        };
        self.life.is_none_or(|life| life.accepts(process))
            && (self.process.is_empty() || self.process.matches(&process.name, process.pid))
            && (self.parent.is_empty() || parent_passes())
            && (self.command_line.is_empty()
                || self.command_line.matches(process.command_line.as_deref().unwrap_or_default()))
            && (self.user.is_empty() || matches_user(&self.user, process.user.as_deref().unwrap_or_default()))
            && (self.session.is_empty()
                || self.session.matches(&process.session.map(|session| session.to_string()).unwrap_or_default()))
            && (self.container.is_empty() || matches_container(&self.container, process))
    }
}

fn matches_container(patterns: &Patterns, process: &ProcessRow) -> bool {
    /// What runtimes show of an id.
    const SHORT: usize = 12;
    let id = process.container.as_deref().unwrap_or_default();
    patterns.matches_any(&[id, id.get(..SHORT).unwrap_or(id), process.cgroup.as_deref().unwrap_or_default()])
}

fn matches_user(patterns: &Patterns, sid: &str) -> bool {
    match user::well_known(sid) {
        // `system` as well as `nt authority\system`.
        Some(account) => patterns.matches_any(&[sid, account, account.rsplit('\\').next().unwrap_or(account)]),
        None => patterns.matches(sid),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn passes(list: &str, name: &str, pid: i64) -> bool {
        ProcessPatterns::parse(list).matches(name, pid)
    }

    #[test]
    fn process_patterns() {
        for list in ["cmd", "CMD.exe", "cmd.exe(1234)", "cmd(1234)", "1234", "c*", "*(1234)", "!other", "x;cmd"] {
            assert!(passes(list, "cmd.exe", 1234), "{list}");
        }
        for list in ["cm", "123", "234", "!1234", "!cmd", "cmd;!cmd(1234)", "cmd(12)"] {
            assert!(!passes(list, "cmd.exe", 1234), "{list}");
        }
        assert!(passes("System", "System", 4) && passes("system(4)", "System", 4));
        assert!(passes("7zfm", "7zFM.exe", 77) && !passes("7", "7.exe", 77));
    }

    #[test]
    fn lives() {
        let process = |start, end| {
            let mut row = tracesift_testing::rows::process(1, 10, "a.exe");
            (row.start, row.end) = (start, end);
            row
        };
        let lives = [process(None, None), process(Some(1), None), process(None, Some(2)), process(Some(1), Some(2))];
        let accepted = |life: Life| lives.iter().map(|row| life.accepts(row)).collect::<Vec<_>>();
        assert_eq!(accepted(Life::Whole), [true, false, false, false]);
        assert_eq!(accepted(Life::Started), [false, true, false, true]);
        assert_eq!(accepted(Life::Ended), [false, false, true, true]);
        assert_eq!(accepted(Life::StartedOnly), [false, true, false, false]);
        assert_eq!(accepted(Life::EndedOnly), [false, false, true, false]);
    }

    #[test]
    fn users_by_identifier_and_by_account() {
        let mut row = tracesift_testing::rows::process(1, 10, "a.exe");
        row.user = Some("S-1-5-18".to_owned());
        for user in ["S-1-5-18", "system", "NT AUTHORITY\\*"] {
            let filter = ProcessFilter { user: Patterns::parse(user), ..ProcessFilter::default() };
            assert!(filter.accepts(&row, None), "{user}");
        }
        let filter = ProcessFilter { user: Patterns::parse("!system"), ..ProcessFilter::default() };
        assert!(!filter.accepts(&row, None));
    }

    #[test]
    fn containers_by_whole_and_short_id_and_by_group() {
        let mut row = tracesift_testing::rows::process(1, 10, "a");
        let filter = |list| ProcessFilter { container: Patterns::parse(list), ..ProcessFilter::default() };
        assert!(!filter("*docker*").accepts(&row, None));
        row.container = Some("4f1a2b3c4d5e6f708192".to_owned());
        row.cgroup = Some("/docker/4f1a2b3c4d5e6f708192".to_owned());
        for list in ["4f1a2b3c4d5e6f708192", "4f1a2b3c4d5e", "4f1a*", "/docker/*"] {
            assert!(filter(list).accepts(&row, None), "{list}");
        }
        assert!(!filter("!4f1a*").accepts(&row, None) && !filter("5f1a*").accepts(&row, None));
    }

    #[test]
    fn parents_that_are_gone_are_found_by_pid() {
        let mut row = tracesift_testing::rows::process(1, 10, "a.exe");
        row.parent_pid = Some(77);
        let filter = |list| ProcessFilter { parent: ProcessPatterns::parse(list), ..ProcessFilter::default() };
        assert!(filter("77").accepts(&row, None) && !filter("services").accepts(&row, None));
        let parent = tracesift_testing::rows::process(2, 77, "services.exe");
        assert!(filter("services").accepts(&row, Some(&parent)));
    }
}
