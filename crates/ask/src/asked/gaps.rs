//! Commands with gaps: `dump gc {file} {process} {window}`. What is asked for a figure and what shows it to people come from here.
//!
//! `{life}` in place of `{window}` stands for the time, too, unless the window has the whole lives of the processes.

use tracesift_analysis::Span;
use tracesift_grammar::TimeRange;
use tracesift_trace::ProcessId;
use tracesift_trace::rows::ProcessRow;

use crate::command_line::{line, short_name};
use crate::filter::PARTS;
use crate::path::{AccountQuery, Follow, WindowKind};
use crate::recording_label::{RecordingLabel, path_text};
use crate::time_format::seconds;

/// What stands in the gaps of commands.
#[derive(Clone, Debug, Default)]
pub(crate) struct Gaps {
    file: String,
    /// A pattern for the file, where its name is long.
    short: String,
    process: Vec<String>,
    window: Vec<String>,
    /// The window, or nothing where it has the whole lives of the processes.
    life: Vec<String>,
    account: Vec<String>,
}

impl Gaps {
    /// Those of a recording. Of processes the ids are given.
    pub(crate) fn new(file: &RecordingLabel, pids: &[i64], time: TimeRange, query: &AccountQuery) -> Self {
        let process = if pids.is_empty() { Vec::new() } else { option("-p", &list(pids)) };
        let edge = |time: Option<i64>| {
            let text = time.map(|time| seconds(time, 9));
            text.map(|text| format!("{}s", text.trim_end_matches('0').trim_end_matches('.'))).unwrap_or_default()
        };
        let window = if time.is_everything() {
            Vec::new()
        } else {
            // A time can be negative: as one word it is no option of its own.
            vec![format!("--time={}..{}", edge(time.start), edge(time.end))]
        };
        let (file, short) = (path_text(&file.path), short_name(&file.path));
        Self { file, short, process, life: window.clone(), window, account: account(query) }
    }

    /// The same where the window has the whole lives of the processes, and no other process has their ids. What processes do only
    /// while they live needs no time then, and is there without a look at single rows. Other things go on when a process has
    /// ended, such as the writes that the system does later for it, so their commands have `{window}`.
    pub(crate) fn with_whole_lives(self, is_so: bool) -> Self {
        if is_so { Self { life: Vec::new(), ..self } } else { self }
    }

    /// The words of a command behind the program's name.
    pub(crate) fn fill(&self, words: &[String]) -> Vec<String> {
        let mut filled = Vec::with_capacity(words.len() + 4);
        for word in words {
            match word.as_str() {
                "{file}" => filled.push(self.file.clone()),
                "{process}" => filled.extend(self.process.iter().cloned()),
                "{window}" => filled.extend(self.window.iter().cloned()),
                "{life}" => filled.extend(self.life.iter().cloned()),
                "{account}" => filled.extend(self.account.iter().cloned()),
                _ => filled.push(word.clone()),
            }
        }
        filled
    }

    /// A command line that a shell takes.
    pub(crate) fn command(&self, words: &[String]) -> String {
        let filled = self.fill(words);
        line(std::iter::once("tracesift").chain(filled.iter().map(String::as_str)))
    }

    /// The same with a pattern in place of a long name.
    pub(crate) fn short_command(&self, words: &[String]) -> String {
        Self { file: self.short.clone(), ..self.clone() }.command(words)
    }

    /// The same gaps for figures of all processes.
    pub(crate) fn of_machine(&self) -> Self {
        Self { process: Vec::new(), life: self.window.clone(), ..self.clone() }
    }
}

/// The ids of processes, each once.
pub(crate) fn pids(processes: &[ProcessRow], among: impl Fn(ProcessId) -> bool) -> Vec<i64> {
    let mut pids: Vec<i64> = processes.iter().filter(|row| among(row.process)).map(|row| row.pid).collect();
    pids.sort_unstable();
    pids.dedup();
    pids
}

/// Whether a window has the whole lives of some processes, and no other process has one of their ids.
pub(crate) fn has_whole_lives(
    processes: &[ProcessRow],
    among: impl Fn(ProcessId) -> bool,
    file: &RecordingLabel,
    window: Span,
) -> bool {
    let ids = pids(processes, &among);
    let lives_inside = |row: &ProcessRow| {
        let (start, end) = (row.start.unwrap_or(file.start), row.end.unwrap_or(file.end));
        window.start <= start && end <= window.end
    };
    let with_ids = processes.iter().filter(|row| ids.binary_search(&row.pid).is_ok());
    with_ids.into_iter().all(|row| among(row.process) && lives_inside(row))
}

/// The time of a window; open where it is as long as the recording.
pub(crate) fn time_of(file: &RecordingLabel, window: Span) -> TimeRange {
    TimeRange {
        start: Some(window.start).filter(|start| *start > file.start),
        end: Some(window.end).filter(|end| *end < file.end),
    }
}

fn list(pids: &[i64]) -> String {
    pids.iter().map(i64::to_string).collect::<Vec<_>>().join(";")
}

/// The options that lead to the same account.
fn account(query: &AccountQuery) -> Vec<String> {
    let windows = &query.windows;
    let given = |name: &str, value: String| if value.is_empty() { Vec::new() } else { option(name, &value) };
    let is_usual = windows.spec.kind == WindowKind::Auto && windows.spec.number.is_none();
    let mut words = if is_usual { Vec::new() } else { given("--window", windows.spec.to_string()) };
    for part in PARTS {
        let name = if part.option == "--process" { "-p" } else { part.option };
        words.extend(given(name, (part.value)(&windows.filter)));
    }
    words.extend(given("--anchor", windows.anchor.to_string()));
    words.extend(
        query
            .follow
            .into_iter()
            .flat_map(|follow| option("--follow", if follow == Follow::Waits { "waits" } else { "requests" })),
    );
    words
}

/// An option with its value. A value that begins with a hyphen is no option of its own.
fn option(name: &str, value: &str) -> Vec<String> {
    if value.starts_with('-') { vec![format!("{name}={value}")] } else { vec![name.to_owned(), value.to_owned()] }
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use tracesift_grammar::TimeRange;

    use super::Gaps;
    use crate::filter::{ProcessFilter, ProcessPatterns};
    use crate::path::{AccountQuery, WindowQuery};
    use crate::recording_label::RecordingLabel;

    fn words(text: &str) -> Vec<String> {
        text.split(' ').map(str::to_owned).collect()
    }

    fn label() -> RecordingLabel {
        let info = tracesift_trace::info::TraceInfo::default();
        RecordingLabel::new(&PathBuf::from("a b.sift"), "a b".to_owned(), &info, &[])
    }

    #[test]
    fn gaps_are_filled_with_words_of_a_shell() {
        let filter = ProcessFilter { process: ProcessPatterns::parse("my app"), ..ProcessFilter::default() };
        let spec = "mark:a*..b*".parse().expect("a window");
        let query =
            AccountQuery { windows: WindowQuery { spec, filter, ..WindowQuery::default() }, ..AccountQuery::default() };
        let time = TimeRange { start: Some(1_500_000_000), end: Some(2_000_000_001) };
        let gaps = Gaps::new(&label(), &[7, 12], time, &query);
        let command = gaps.command(&words("dump gc {file} {process} {window} --top 5"));
        assert_eq!(command, r#"tracesift dump gc "a b.sift" -p "7;12" --time=1.5s..2.000000001s --top 5"#);
        let command = gaps.command(&words("dump path {file} {account}"));
        assert_eq!(command, r#"tracesift dump path "a b.sift" --window "mark:a*..b*" -p "my app""#);
        assert_eq!(gaps.of_machine().fill(&words("dump dns {process}")), ["dump", "dns"]);
        let time = "--time=1.5s..2.000000001s";
        assert_eq!(gaps.fill(&words("dump gc {process} {life}")), ["dump", "gc", "-p", "7;12", time]);
        let whole = gaps.with_whole_lives(true);
        assert_eq!(whole.fill(&words("dump gc {process} {life}")), ["dump", "gc", "-p", "7;12"]);
        assert_eq!(whole.fill(&words("dump disk {process} {window}")), ["dump", "disk", "-p", "7;12", time]);
        assert_eq!(whole.of_machine().fill(&words("{window} {life}")), [time, time]);
    }

    #[test]
    fn a_whole_recording_needs_no_time() {
        let gaps = Gaps::new(&label(), &[], TimeRange::default(), &AccountQuery::default());
        assert_eq!(gaps.fill(&words("dump gc {process} {window} {account}")), ["dump", "gc"]);
        let open = Gaps::new(&label(), &[], TimeRange { start: None, end: Some(-5) }, &AccountQuery::default());
        assert_eq!(open.fill(&words("{window}")), ["--time=..-0.000000005s"]);
    }
}
