//! Words of questions that have another name here, or that do not exist yet: one table for our own
//! command lines and ETWAnalyzer's.

use crate::exit::UsageError;

/// Where a question is answered.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Where {
    /// A command of ours answers it: what it is about, with its verb, and the command line.
    Asked(&'static str, &'static str),
}

/// Words, and where they lead to.
type Line = (&'static [&'static str], Where);

use Where::Asked;

/// Words behind `dump` that are no questions of ours. The first word of a line is the one that `-dump` of ETWAnalyzer has, where it has one.
const QUESTIONS: &[Line] = &[
    (
        &["methods", "method", "functions", "function"],
        Asked("methods are", "tracesift dump cpu X.sift --methods '*Name*'"),
    ),
    (
        &["tags", "tag", "stacktags", "stacktag", "stack-tags"],
        Asked("stack tags are", "tracesift dump cpu X.sift --stacktags '*'"),
    ),
    (&["lines", "line", "source"], Asked("source lines are", "tracesift dump cpu X.sift --top-methods 10 --by line")),
    (
        &["ready", "blocked", "offcpu", "off-cpu", "sched"],
        Asked("wait and ready times of threads are", "tracesift dump threads X.sift"),
    ),
    (&["callers", "callees", "calltree", "tree"], Asked("call trees are", "tracesift dump stacks X.sift --callers")),
    (
        &["modules", "module", "dlls", "dll", "drivers", "driver"],
        Asked("modules are", "tracesift dump version X.sift --dll '*Name*'"),
    ),
    (&["event"], Asked("single events are", "tracesift events X.sift")),
    (&["symbols", "missing"], Asked("missing names are", "tracesift symbols missing X.sift")),
    (&["flame", "flamegraph"], Asked("flame graphs are", "tracesift flame X.sift")),
    (&["tests", "runs"], Asked("test runs are", "tracesift dump testrun DIRECTORY")),
    (&["disks", "io", "diskio"], Asked("disk operations are", "tracesift dump disk X.sift")),
    (&["throws", "signals"], Asked("exceptions and signals are", "tracesift dump exceptions X.sift")),
    (&["files", "fileio"], Asked("operations on files are", "tracesift dump file X.sift")),
    (&["compilations", "jitting"], Asked("compilations of .NET are", "tracesift dump jit X.sift")),
    (&["branches", "branch"], Asked("last branch records are", "tracesift dump lbr X.sift")),
    (&["focus", "hang", "hangs", "unresponsive"], Asked("delays of windows are", "tracesift dump ui X.sift")),
    (&["marks", "marker", "markers"], Asked("marks are", "tracesift dump mark X.sift")),
    (&["handle"], Asked("handles are", "tracesift dump handles X.sift")),
    (&["mem", "workingset", "rss"], Asked("the memory of processes is", "tracesift dump memory X.sift")),
    (&["counters", "counter", "cpi", "ipc"], Asked("hardware counters are", "tracesift dump pmc X.sift")),
    (&["cstates", "c-states", "sleep"], Asked("idle states are", "tracesift dump idle X.sift")),
    (&["watts", "joules", "rapl"], Asked("joules and watts are", "tracesift dump energy X.sift")),
    (&["mhz", "clock", "cpufreq"], Asked("clock rates are", "tracesift dump frequency X.sift")),
    (&["socket", "winsock", "afd"], Asked("calls of sockets are", "tracesift dump sockets X.sift")),
    (&["network", "net"], Asked("connections are", "tracesift dump tcp X.sift")),
    (&["eventsource", "user_events"], Asked("events of TraceLogging are", "tracesift dump tracelog X.sift")),
    (&["region", "roi", "spans"], Asked("regions are", "tracesift dump regions X.sift")),
    (&["heap", "malloc"], Asked("allocations of memory are", "tracesift dump virtualalloc X.sift")),
];

/// Words behind `tracesift` that are no commands.
const COMMANDS: &[Line] = &[
    (&["diff", "difference"], Asked("what changed between two sets of runs is", "tracesift compare 'good/*' 'bad/*'")),
    (&["trend", "regressions"], Asked("where a test became slower over time is", "tracesift history recordings/")),
    (&["gui", "open", "show"], Asked("recordings in the browser are", "tracesift view X.sift")),
    (&["report", "top", "annotate"], Asked("who used the CPU is", "tracesift dump cpu X.sift --top-methods 5")),
    (&["script", "list"], Asked("single events are", "tracesift events X.sift")),
    (&["stat", "info", "summary"], Asked("what a recording consists of is", "tracesift dump stats X.sift")),
    (&["convert"], Asked("files for other tools are", "tracesift export X.sift")),
];

/// What becomes of a word behind `dump`.
pub(crate) fn question(word: &str) -> Option<Where> {
    find(QUESTIONS, word).map(|(_, to)| to)
}

/// What becomes of a word behind `tracesift`: some are commands of other tools, some are questions without their `dump`.
pub(crate) fn command(word: &str) -> Option<Where> {
    find(COMMANDS, word).map(|(_, to)| to).or_else(|| question(word))
}

fn find(table: &[Line], word: &str) -> Option<Line> {
    table.iter().find(|(words, _)| words.iter().any(|known| word.eq_ignore_ascii_case(known))).copied()
}

/// The refusal of a word, with the words that asked for it.
pub(crate) fn refused(to: Where, asked: &str) -> UsageError {
    match to {
        Asked(what, line) => UsageError::new(format!("there is no `{asked}`"), format!("{what} asked with `{line}`")),
    }
}

/// The refusal of something that does not exist yet, with the words that asked for it and the command lines that come closest.
pub(crate) fn missing(what: &str, asked: &str, closest: &[&str]) -> UsageError {
    let message = format!("not available yet: {what} ({asked})");
    if closest.is_empty() {
        return UsageError::new(message, "`tracesift dump --help` lists the questions that can be asked");
    }
    let lines: Vec<String> = closest.iter().map(|line| format!("`{line}`")).collect();
    UsageError::new(message, format!("what comes closest: {}", lines.join(", ")))
}

#[cfg(test)]
mod tests {
    use super::{COMMANDS, QUESTIONS, Where};
    use crate::args;
    use crate::args::pages;

    #[test]
    fn what_is_asked_elsewhere_can_be_asked_there() {
        for (words, to) in QUESTIONS.iter().chain(COMMANDS) {
            let Where::Asked(_, line) = to;
            let parsed = args::definition().try_get_matches_from(pages::words(line));
            assert!(parsed.is_ok(), "{words:?}: {line}: {}", parsed.unwrap_err());
        }
    }

    #[test]
    fn no_word_is_a_command() {
        let definition = args::definition();
        for word in COMMANDS.iter().flat_map(|(words, _)| *words) {
            assert!(definition.find_subcommand(word).is_none(), "{word}");
        }
    }
}
