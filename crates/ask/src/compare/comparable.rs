//! Whether runs can be compared: what speaks against it is said before any number.

use std::collections::{BTreeMap, BTreeSet};

use tracesift_trace::info::TraceInfo;

use super::run::Run;
use crate::path::account::Level;
use crate::path::rows::too_little_is_known;
use crate::recording::OpenRecording;

/// Beginnings of the keys of facts that differ between any two recordings, or tell nothing of a machine.
const PASSING: [&str; 9] = [
    "format",
    "recording.",
    "processes.",
    "descriptors.",
    "memory.",
    "process_memory.",
    "energy.",
    "vdso",
    "utc_offset",
];

/// Those of the recorder that do tell something: with what, what, and how was recorded.
const OF_RECORDER: [&str; 4] = ["recording.profiles.", "recording.recorder", "recording.tool_version", COMMAND];

/// Sessions of recorders that ran at the time.
const SESSIONS: &str = "trace_sessions.";

/// The words of the command that was recorded: what differs here is what somebody wanted to compare.
const COMMAND: &str = "recording.command.";

/// Whether a fact differs between any two recordings.
fn is_passing(key: &str) -> bool {
    let starts = |list: &[&str]| list.iter().any(|start| key.starts_with(start));
    starts(&PASSING) && !starts(&OF_RECORDER)
}

/// `perf` of `perf(7990)`.
fn without_number(name: &str) -> &str {
    let number = name.strip_suffix(')').and_then(|name| name.rsplit_once('('));
    number
        .filter(|(_, id)| !id.is_empty() && id.bytes().all(|byte| byte.is_ascii_digit()))
        .map_or(name, |(name, _)| name)
}

/// How much a reason weighs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Severity {
    /// It is said.
    Notes,
    /// The sets differ in it, so that it may be the cause of a difference.
    Confounds,
    /// The runs measure different things.
    Stops,
}

impl Severity {
    /// The word for it.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Notes => "notes",
            Self::Confounds => "confounds",
            Self::Stops => "stops",
        }
    }
}

/// What speaks against a comparison.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reason {
    /// How much it weighs.
    pub severity: Severity,
    /// What it is about: `cpu.model`, `kind`, `order`.
    pub key: String,
    /// The value in the first set, where there is one.
    pub a: String,
    /// The value in the second set.
    pub b: String,
    /// A sentence.
    pub text: String,
}

impl Reason {
    /// A reason that is said and changes nothing.
    pub(super) fn note(key: &str, text: impl Into<String>) -> Self {
        Self { severity: Severity::Notes, key: key.to_owned(), a: String::new(), b: String::new(), text: text.into() }
    }

    fn differs(severity: Severity, key: &str, a: &str, b: &str) -> Self {
        let quoted = |value: &str| if value.is_empty() { "unknown".to_owned() } else { format!("\"{value}\"") };
        let text = format!("{key} {} → {}", quoted(a), quoted(b));
        Self { severity, key: key.to_owned(), a: a.to_owned(), b: b.to_owned(), text }
    }
}

/// Whether runs can be compared.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Comparability {
    /// What speaks against it, the weightiest first.
    pub reasons: Vec<Reason>,
}

impl Comparability {
    /// Looks at the runs of two sets; those before `split` are the first.
    pub(super) fn of(runs: &[Run], split: usize) -> Self {
        let (a, b) = runs.split_at(split.min(runs.len()));
        let mut found = Self::default();
        found.kinds(runs);
        found.levels(runs, a, b);
        found.same_recording(runs);
        found.facts(a, b);
        found.losses(runs);
        found.reported(runs);
        if a.len().min(b.len()) < 4 {
            let text = match (a.len(), b.len()) {
                (1, 1) => "one run each: nothing is known of the noise".to_owned(),
                (1, _) | (_, 1) => "one set has one run: the spread of the other stands for both".to_owned(),
                _ => "few runs: the noise is taken to be log-normal".to_owned(),
            };
            found.add(Reason::note("runs", text));
        }
        found
    }

    /// Adds a reason.
    pub(super) fn add(&mut self, reason: Reason) {
        self.reasons.push(reason);
        self.reasons.sort_by_key(|reason| std::cmp::Reverse(reason.severity));
    }

    /// The weightiest severity.
    #[must_use]
    pub fn worst(&self) -> Option<Severity> {
        self.reasons.iter().map(|reason| reason.severity).max()
    }

    /// `yes`, `reservations` or `no`.
    #[must_use]
    pub fn state(&self) -> &'static str {
        match self.worst() {
            Some(Severity::Stops) => "no",
            Some(_) => "reservations",
            None => "yes",
        }
    }

    /// The first line of an answer.
    #[must_use]
    pub fn text(&self) -> String {
        let texts = |least: Severity| {
            let texts =
                self.reasons.iter().filter(|reason| reason.severity >= least).map(|reason| reason.text.as_str());
            texts.collect::<Vec<_>>().join("; ")
        };
        match self.worst() {
            Some(Severity::Stops) => format!("not comparable, because {}", texts(Severity::Stops)),
            Some(_) => format!("comparable with reservations: {}", texts(Severity::Notes)),
            None => "comparable".to_owned(),
        }
    }

    fn kinds(&mut self, runs: &[Run]) {
        let kinds: BTreeSet<&str> = runs.iter().map(|run| run.kind.as_str()).collect();
        if kinds.len() > 1 {
            let kinds: Vec<&str> = kinds.into_iter().collect();
            let text = format!("the recordings are of different kinds: {}", kinds.join(" and "));
            self.add(Reason { severity: Severity::Stops, ..Reason::note("kind", text) });
        }
    }

    /// The weakest level of all runs decides what rows mean: with others among them rows would mean different things.
    fn levels(&mut self, runs: &[Run], a: &[Run], b: &[Run]) {
        let of = |set: &[Run]| set.iter().map(|run| run.level).collect::<BTreeSet<Level>>();
        let (of_a, of_b) = (of(a), of(b));
        let all: BTreeSet<Level> = of_a.union(&of_b).copied().collect();
        let (Some(weakest), true) = (all.first(), all.len() > 1) else { return };
        let example = runs.iter().find(|run| run.level == *weakest).map_or("", |run| run.name.as_str());
        let lacks = match weakest {
            Level::Samples => "context switches",
            Level::Switches | Level::Full => "ready events",
        };
        let text = format!("some runs have no {lacks}, such as {example}");
        self.add(Reason { severity: Severity::Stops, ..Reason::note("level", text) });
    }

    fn same_recording(&mut self, runs: &[Run]) {
        let mut ids: BTreeMap<&str, usize> = BTreeMap::new();
        runs.iter().for_each(|run| *ids.entry(run.id.as_str()).or_default() += 1);
        if let Some(run) = runs.iter().find(|run| ids.get(run.id.as_str()).is_some_and(|count| *count > 1)) {
            let text = format!("the recording {} stands in them twice", run.name);
            self.add(Reason { severity: Severity::Stops, ..Reason::note("recording", text) });
        }
    }

    /// A window that is not what the test measured.
    fn reported(&mut self, runs: &[Run]) {
        let is_other = |run: &&Run| {
            run.reported.is_some_and(|reported| {
                reported > 0 && (run.window - reported).saturating_abs().saturating_mul(50) > reported
            })
        };
        let Some(run) = runs.iter().find(is_other) else { return };
        let seconds = |ns: i64| ns as f64 / 1e9;
        let text = format!(
            "the window is {:.3} s, the test says {:.3} s, in {}",
            seconds(run.window),
            seconds(run.reported.unwrap_or_default()),
            match runs.iter().filter(is_other).count() {
                1 => run.name.clone(),
                count => format!("{} and {} more", run.name, count - 1),
            },
        );
        self.add(Reason::note("reported", text));
    }

    /// Facts of which all of one set have a value, and all of the other set another one.
    fn facts(&mut self, a: &[Run], b: &[Run]) {
        let keys: BTreeSet<&String> = a.iter().chain(b).flat_map(|run| run.facts.keys()).collect();
        for key in keys.into_iter().filter(|key| !key.starts_with(COMMAND)) {
            let values = |set: &[Run]| -> BTreeSet<String> {
                set.iter().map(|run| run.facts.get(key).cloned().unwrap_or_default()).collect()
            };
            let (of_a, of_b) = (values(a), values(b));
            match (of_a.first(), of_b.first()) {
                (Some(x), Some(y)) if of_a.len() == 1 && of_b.len() == 1 => {
                    if x != y {
                        self.add(Reason::differs(Severity::Confounds, key, x, y));
                    }
                }
                _ => {
                    let named = |value: &String| if value.is_empty() { "(none)".to_owned() } else { value.clone() };
                    let all: Vec<String> = of_a.union(&of_b).map(named).collect();
                    self.add(Reason::note(key, format!("{key} varies: {}", all.join(", "))));
                }
            }
        }
    }

    fn losses(&mut self, runs: &[Run]) {
        let warned = runs.iter().filter(|run| !run.warnings.is_empty()).count();
        if let Some(warning) = runs.iter().find_map(|run| run.warnings.first()) {
            let runs = if warned == 1 { "1 run".to_owned() } else { format!("{warned} runs") };
            self.add(Reason::note("warnings", format!("{runs} with warnings, such as: {warning}")));
        }
        let count = runs.iter().filter(|run| too_little_is_known(run.unknown(), run.window)).count();
        if count > 0 {
            let runs = if count == 1 { "1 run".to_owned() } else { format!("{count} runs") };
            self.add(Reason::note("unknown", format!("more than 2 % of the window is unknown in {runs}")));
        }
    }
}

/// What a recording tells of the machine and the recorder, as far as it should be the same in runs that are compared.
pub(super) fn facts_of(recording: &OpenRecording) -> BTreeMap<String, String> {
    let info: &TraceInfo = recording.info();
    let mut facts: BTreeMap<String, String> = BTreeMap::new();
    let mut add = |key: &str, value: Option<String>| {
        if let Some(value) = value.filter(|value| !value.is_empty()) {
            facts.insert(key.to_owned(), value);
        }
    };
    add("machine", info.machine.clone());
    add("os", info.os_name.clone());
    add("os.build", info.os_build.clone());
    add("cpu.name", info.cpu_name.clone());
    add("cpu.count", Some(info.cpu_count.to_string()));
    add("memory", info.memory_mib.map(|mib| format!("{mib} MiB")));
    add("clock", Some(info.clock.clone()));
    add("cpu.event", info.cpu_event.clone());
    let sources = info.sample_sources.iter().filter(|source| source.interval_ns > 0);
    add(
        "sampling",
        Some(sources.map(|source| format!("{} {} ns", source.name, source.interval_ns)).collect::<Vec<_>>().join(", ")),
    );
    for (key, value) in &info.facts {
        if !is_passing(key) {
            // Sessions beside the recorder's have names such as `perf(7990)`: the number differs between any two recordings.
            let value = if key.starts_with(SESSIONS) { without_number(value) } else { value };
            facts.entry(key.clone()).or_insert_with(|| value.to_owned());
        }
    }
    facts
}

#[cfg(test)]
mod tests {
    use super::{Comparability, Run};
    use crate::path::account::Level;

    fn run(id: &str, facts: &[(&str, &str)]) -> Run {
        let facts = facts.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect();
        Run { facts, ..Run::plain(id) }
    }

    fn eight(of: impl Fn(usize) -> Run) -> Comparability {
        Comparability::of(&(0..8).map(of).collect::<Vec<_>>(), 4)
    }

    #[test]
    fn sessions_have_names_without_numbers() {
        for (name, shown) in [
            ("perf(7990)", "perf"),
            ("perf", "perf"),
            ("perf(x)", "perf(x)"),
            ("perf()", "perf()"),
            ("a(1)(2)", "a(1)"),
        ] {
            assert_eq!(super::without_number(name), shown);
        }
    }

    #[test]
    fn equal_runs_are_comparable() {
        assert_eq!(eight(|place| run(&place.to_string(), &[("cpu", "x")])).text(), "comparable");
    }

    #[test]
    fn a_fact_that_tells_the_sets_apart_confounds_and_one_that_varies_is_noted() {
        let by_set = |place: usize| run(&place.to_string(), &[("cpu.name", if place < 4 { "x" } else { "y" })]);
        let found = eight(by_set);
        assert_eq!(found.state(), "reservations");
        assert_eq!(found.text(), "comparable with reservations: cpu.name \"x\" → \"y\"");
        let varying =
            |place: usize| run(&place.to_string(), &[("cpu.name", if place.is_multiple_of(2) { "x" } else { "y" })]);
        assert_eq!(eight(varying).text(), "comparable with reservations: cpu.name varies: x, y");
    }

    #[test]
    fn whatever_tells_the_machines_apart_is_named() {
        for key in [
            "machine",
            "os",
            "os.build",
            "kernel",
            "kernel_command_line",
            "architecture",
            "cpu.name",
            "cpu.count",
            "cpu.hypervisor",
            "memory",
            "power.governors.0",
            "power.boost",
            "power.on_battery",
            "timer_resolution_ns",
            "sampling",
            "recording.profiles.1",
            "recording.tool_version",
        ] {
            assert!(!super::is_passing(key), "{key}");
            let by_set = |place: usize| run(&place.to_string(), &[(key, if place < 4 { "x" } else { "y" })]);
            let found = eight(by_set);
            let reason = found.reasons.first().expect("a reason");
            assert_eq!((reason.severity, reason.key.as_str()), (super::Severity::Confounds, key));
            assert!(found.text().contains(key), "{}", found.text());
        }
        // What differs between any two recordings, and what somebody wanted to compare.
        for key in ["recording.command_pid", "recording.start.utc", "recording.exit_code", "format"] {
            assert!(super::is_passing(key), "{key}");
        }
        let command =
            |place: usize| run(&place.to_string(), &[("recording.command.1", if place < 4 { "old" } else { "new" })]);
        assert_eq!(eight(command).text(), "comparable");
    }

    #[test]
    fn a_window_that_is_not_what_the_test_measured_is_noted() {
        let found = eight(|place| Run { reported: Some(1_030), ..run(&place.to_string(), &[]) });
        let text = "the window is 0.000 s, the test says 0.000 s, in 0 and 7 more";
        assert_eq!(found.text(), format!("comparable with reservations: {text}"));
        assert_eq!(eight(|place| Run { reported: Some(1_010), ..run(&place.to_string(), &[]) }).text(), "comparable");
    }

    #[test]
    fn runs_that_measure_different_things_stop() {
        let mixed = |place: usize| Run {
            kind: if place == 7 { "perf" } else { "etl" }.to_owned(),
            ..run(&place.to_string(), &[])
        };
        assert_eq!(eight(mixed).text(), "not comparable, because the recordings are of different kinds: etl and perf");
        let weaker = |place: usize| Run {
            level: if place == 2 { Level::Switches } else { Level::Full },
            ..run(&place.to_string(), &[])
        };
        assert_eq!(eight(weaker).text(), "not comparable, because some runs have no ready events, such as 2");
        let twice = |place: usize| run(&(place / 2).to_string(), &[]);
        assert_eq!(eight(twice).text(), "not comparable, because the recording 0 stands in them twice");
    }
}
