//! Filters that every question takes, in the same words.

use std::fmt;

use clap::{Args, ValueEnum};
use tracesift_grammar::Patterns;
use tracesift_grammar::patterns::{Item, split};
use tracesift_trace::rows::ProcessRow;

use crate::processes::ProcessLife;
use crate::user;

/// Which processes of a recording by when they started and ended: in words, or in ETWAnalyzer's numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Lifetime {
    /// Alive all the time
    #[value(alias = "0")]
    Whole,
    /// Started, may have ended
    #[value(alias = "1")]
    Started,
    /// Ended, may have started
    #[value(alias = "-1")]
    Ended,
    /// Started and did not end
    #[value(alias = "2")]
    StartedOnly,
    /// Ended and was there before
    #[value(alias = "-2")]
    EndedOnly,
}

impl Lifetime {
    fn accepts(self, process: &ProcessRow) -> bool {
        let life = ProcessLife::from(process);
        // It is in none of the words: it did not live in the recording.
        !life.had_ended_at(0) && self.accepts_ends(life.start.is_some(), life.end.is_some())
    }

    /// Whether a process passes of which it is known whether its start and its end were seen.
    pub(crate) fn accepts_ends(self, started: bool, ended: bool) -> bool {
        match (self, started, ended) {
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
pub struct ProcessPatterns {
    patterns: Patterns,
    /// Whether one of the patterns includes.
    includes: bool,
    /// The list as it was given.
    text: String,
}

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
        let includes = split(list).any(|item| matches!(item, Item::Include(_)));
        let patterns = Patterns::parse(&list.split(';').map(by_pid).collect::<Vec<_>>().join(";"));
        Self { patterns, includes, text: list.to_owned() }
    }

    /// Whether every process passes because no pattern was given.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.patterns.is_empty()
    }

    /// Whether processes are asked for: who only excludes some asks for no other.
    #[must_use]
    pub fn includes(&self) -> bool {
        self.includes
    }

    /// Whether a process passes.
    #[must_use]
    pub fn matches(&self, name: &str, pid: i64) -> bool {
        let stem = match name.len().checked_sub(4).and_then(|at| name.split_at_checked(at)) {
            Some((stem, extension)) if extension.eq_ignore_ascii_case(".exe") => stem,
            _ => name,
        };
        self.patterns.matches_any(&[name, stem, &format!("{name}({pid})"), &format!("{stem}({pid})")])
    }
}

/// Every text is a list of patterns.
impl From<&str> for ProcessPatterns {
    fn from(list: &str) -> Self {
        Self::parse(list)
    }
}

impl fmt::Display for ProcessPatterns {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

/// Filter of processes; everything in it must hold. Each field is an option of every question, and has an entry in `PARTS`.
#[derive(Args, Clone, Debug, Default, PartialEq, Eq)]
#[command(next_help_heading = "Processes")]
pub struct ProcessFilter {
    /// Only these processes: name, name.exe, name(pid) or pid; `;` separates, `!` excludes, `*` and `?` are wildcards
    #[arg(short, long, value_name = "PATTERNS", default_value = "", hide_default_value = true)]
    pub process: ProcessPatterns,

    /// Only children of these processes
    #[arg(long, value_name = "PATTERNS", default_value = "", hide_default_value = true)]
    pub parent: ProcessPatterns,

    /// Only processes with such a command line
    #[arg(
        id = "cmdline",
        long = "cmdline",
        value_name = "PATTERNS",
        default_value = "",
        hide_default_value = true,
        allow_hyphen_values = true
    )]
    pub command_line: Patterns,

    /// Only processes of these users: account or security identifier
    #[arg(long, value_name = "PATTERNS", default_value = "", hide_default_value = true)]
    pub user: Patterns,

    /// Only processes of these terminal-services sessions
    #[arg(long, value_name = "PATTERNS", default_value = "", hide_default_value = true, allow_hyphen_values = true)]
    pub session: Patterns,

    /// Only processes of these containers: id, short id or control group
    #[arg(long, value_name = "IDS", default_value = "", hide_default_value = true)]
    pub container: Patterns,

    /// Only processes with such a lifetime inside the recording
    #[arg(id = "new_process", long = "new-process", value_name = "WHICH", allow_hyphen_values = true)]
    pub lifetime: Option<Lifetime>,
}

/// One part of a filter of processes.
pub(crate) struct Part {
    /// The option.
    pub(crate) option: &'static str,
    /// Its name below the title of a picture.
    pub(crate) title: &'static str,
    /// What it filters: one, and many.
    pub(crate) what: [&'static str; 2],
    /// Its value; empty where it is not given.
    pub(crate) value: fn(&ProcessFilter) -> String,
    /// The text of a process that its patterns are compared with; empty where no name helps.
    pub(crate) name: fn(&ProcessRow, Option<&ProcessRow>) -> String,
    /// Whether a process with this parent passes, if the value is given.
    pub(crate) accepts: fn(&ProcessFilter, &ProcessRow, Option<&ProcessRow>) -> bool,
}

/// The parts of a filter: one for each of its fields.
pub(crate) const PARTS: &[Part] = &[
    Part {
        option: "--process",
        title: "processes",
        what: ["process", "processes"],
        value: |filter| filter.process.to_string(),
        name: |process, _| process.name.clone(),
        accepts: |filter, process, _| filter.process.matches(&process.name, process.pid),
    },
    Part {
        option: "--parent",
        title: "children of",
        what: ["parent", "parents"],
        value: |filter| filter.parent.to_string(),
        name: |_, parent| parent.map(|parent| parent.name.clone()).unwrap_or_default(),
        accepts: |filter, process, parent| match (parent, process.parent_pid) {
            (Some(parent), _) => filter.parent.matches(&parent.name, parent.pid),
            // A parent that was gone before the recording began has a pid and no name.
            (None, Some(pid)) => filter.parent.matches("", pid),
            (None, None) => filter.parent.is_empty(),
        },
    },
    Part {
        option: "--cmdline",
        title: "command lines",
        what: ["command line", "command lines"],
        value: |filter| filter.command_line.to_string(),
        name: |process, _| process.command_line.clone().unwrap_or_default(),
        accepts: |filter, process, _| filter.command_line.matches(process.command_line.as_deref().unwrap_or_default()),
    },
    Part {
        option: "--user",
        title: "users",
        what: ["user", "users"],
        value: |filter| filter.user.to_string(),
        name: |process, _| process.user.as_deref().map(user::account).unwrap_or_default().to_owned(),
        accepts: |filter, process, _| matches_user(&filter.user, process.user.as_deref().unwrap_or_default()),
    },
    Part {
        option: "--session",
        title: "sessions",
        what: ["session", "sessions"],
        value: |filter| filter.session.to_string(),
        name: |process, _| process.session.map(|session| session.to_string()).unwrap_or_default(),
        accepts: |filter, process, _| {
            filter.session.matches(&process.session.map(|session| session.to_string()).unwrap_or_default())
        },
    },
    Part {
        option: "--container",
        title: "containers",
        what: ["container", "containers"],
        value: |filter| filter.container.to_string(),
        name: |process, _| process.container.clone().unwrap_or_default(),
        accepts: |filter, process, _| matches_container(&filter.container, process),
    },
    Part {
        option: "--new-process",
        title: "processes that",
        what: ["process by start and end", "processes by start and end"],
        value: |filter| {
            filter
                .lifetime
                .and_then(|lifetime| lifetime.to_possible_value())
                .map(|lifetime| lifetime.get_name().to_owned())
                .unwrap_or_default()
        },
        name: |_, _| String::new(),
        accepts: |filter, process, _| filter.lifetime.is_none_or(|lifetime| lifetime.accepts(process)),
    },
];

impl ProcessFilter {
    /// Whether everything passes.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self == &Self::default()
    }

    /// Whether a process passes. `parent` is the row of its parent, where there is one.
    #[must_use]
    pub fn accepts(&self, process: &ProcessRow, parent: Option<&ProcessRow>) -> bool {
        PARTS.iter().all(|part| (part.accepts)(self, process, parent))
    }

    /// Whether pid and name of a process are all that it looks at.
    pub(crate) fn has_only_names(&self) -> bool {
        Self { process: ProcessPatterns::default(), ..self.clone() }.is_empty()
    }

    /// The parts that are given, with their values.
    pub(crate) fn parts(&self) -> impl Iterator<Item = (&'static Part, String)> {
        PARTS.iter().map(|part| (part, (part.value)(self))).filter(|(_, value)| !value.is_empty())
    }
}

/// A filter that looks at pid and name alone.
impl From<ProcessPatterns> for ProcessFilter {
    fn from(process: ProcessPatterns) -> Self {
        Self { process, ..Self::default() }
    }
}

/// The filter as a line below a title: `processes a*, users system`. Nothing where everything passes.
impl fmt::Display for ProcessFilter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (number, (part, value)) in self.parts().enumerate() {
            let separator = if number > 0 { ", " } else { "" };
            write!(f, "{separator}{} {value}", part.title)?;
        }
        Ok(())
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
    use clap::FromArgMatches as _;

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
    fn exclusions_ask_for_no_process() {
        for (list, includes) in [("Idle", true), ("*;!python3", true), ("0", true), ("", false), ("!a; !b;", false)] {
            assert_eq!(ProcessPatterns::parse(list).includes(), includes, "{list}");
        }
    }

    #[test]
    fn lives() {
        let process = |start, end| {
            let mut row = tracesift_testing::rows::process(1, 10, "a.exe");
            (row.start, row.end) = (start, end);
            row
        };
        let lives = [process(None, None), process(Some(1), None), process(None, Some(2)), process(Some(1), Some(2))];
        let accepted = |lifetime: Lifetime| lives.iter().map(|row| lifetime.accepts(row)).collect::<Vec<_>>();
        assert_eq!(accepted(Lifetime::Whole), [true, false, false, false]);
        assert_eq!(accepted(Lifetime::Started), [false, true, false, true]);
        assert_eq!(accepted(Lifetime::Ended), [false, false, true, true]);
        assert_eq!(accepted(Lifetime::StartedOnly), [false, true, false, false]);
        assert_eq!(accepted(Lifetime::EndedOnly), [false, false, true, false]);
        let dead = process(None, Some(-5));
        for lifetime in [Lifetime::Whole, Lifetime::Started, Lifetime::Ended, Lifetime::EndedOnly] {
            assert!(!lifetime.accepts(&dead), "it did not live in the recording");
        }
    }

    /// A part that is missing here is missing below the titles of pictures, too.
    #[test]
    fn each_option_is_a_part_that_says_its_value() {
        let options = ProcessFilter::augment_args(clap::Command::new("filter").no_binary_name(true));
        let names: Vec<String> =
            options.get_arguments().filter_map(|option| option.get_long()).map(|name| format!("--{name}")).collect();
        assert_eq!(names, PARTS.iter().map(|part| part.option).collect::<Vec<_>>());
        for part in PARTS {
            let value = if part.option == "--new-process" { "started" } else { "a*;!7" };
            let matches = options.clone().try_get_matches_from([part.option, value]).unwrap();
            let filter = ProcessFilter::from_arg_matches(&matches).unwrap();
            assert_eq!(filter.to_string(), format!("{} {value}", part.title));
            assert!(!filter.is_empty());
        }
        assert_eq!(ProcessFilter::default().to_string(), "");
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
