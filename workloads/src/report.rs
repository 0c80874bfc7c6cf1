//! What a program tells of itself.

use serde_json::{Map, Value, json};

use crate::measure::ThreadTold;
use crate::phase::Phase;
use crate::system;

/// The report as it grows; printed as one JSON document when the program ends.
#[derive(Debug)]
pub struct Report {
    begin: i64,
    cpu: i64,
    stolen: Option<i64>,
    marks: bool,
    phases: Vec<Value>,
    threads: Vec<Value>,
    truth: Map<String, Value>,
}

/// The keys that every report has, with what they mean.
pub(crate) const KEYS: &[(&str, &str)] = &[
    ("workload", "name of the program"),
    ("problem", "what is wrong with it"),
    ("pid", "id of the process"),
    (
        "clock",
        "the clock of all *_begin_ns, *_end_ns, begin_ns and end_ns: `perf record -k CLOCK_MONOTONIC` has the same",
    ),
    ("begin_ns, end_ns", "when the work began and ended on that clock"),
    ("duration_ms", "from begin to end, ms"),
    ("duration_ns", "the same, ns"),
    ("cpu_ns", "CPU time of all threads of the process from begin to end"),
    (
        "stolen_ns",
        "what a hypervisor took from all CPUs meanwhile, in steps of 10 ms; null where the system does not say",
    ),
    ("marks", "whether a mark was written at both ends of each phase"),
    ("arguments", "what the program was started with, defaults included; times in ns"),
    (
        "phases",
        "name, begin_ns, end_ns, duration_ns, and cpu_ns of the whole process meanwhile. A thread `phase:NAME` waits as long",
    ),
    (
        "threads",
        "name, tid, begin_ns, end_ns, cpu_ns, and ready_ns: how long it could have run and had no CPU; waits and preemptions: how often it left the CPU because it waited, and because others wanted it. null where the system does not say",
    ),
];

impl Report {
    pub(crate) fn begin() -> Self {
        Self {
            begin: system::time_ns(),
            cpu: system::process_cpu_ns(),
            stolen: system::stolen_ns(),
            marks: true,
            phases: Vec::new(),
            threads: Vec::new(),
            truth: Map::new(),
        }
    }

    /// Does a part of the work: a mark stands at both ends of it, and a thread `phase:NAME` waits as long, of which Linux shows 15 bytes.
    pub fn phase<T>(&mut self, name: &str, work: impl FnOnce() -> T) -> T {
        debug_assert!(name.len() <= 9, "{name} is cut");
        let phase = Phase::begin(name);
        let result = work();
        let told = phase.end();
        self.marks &= told.marked;
        self.phases.push(json!({
            "name": name,
            "begin_ns": told.begin,
            "end_ns": told.end,
            "duration_ns": told.end - told.begin,
            "cpu_ns": told.cpu,
        }));
        result
    }

    /// What a thread tells of itself.
    pub fn thread(&mut self, told: &ThreadTold, more: &[(&str, Value)]) {
        let mut object = told.report();
        object.extend(more.iter().map(|(key, value)| ((*key).to_owned(), value.clone())));
        self.threads.push(Value::Object(object));
    }

    /// A figure of this program.
    pub fn tell(&mut self, key: &str, value: impl Into<Value>) {
        let earlier = self.truth.insert(key.to_owned(), value.into());
        debug_assert!(earlier.is_none(), "{key} is told twice");
    }

    pub(crate) fn end(self, workload: &str, problem: &str, arguments: Map<String, Value>) -> Value {
        let (end, cpu, stolen) = (system::time_ns(), system::process_cpu_ns(), system::stolen_ns());
        json!({
            "workload": workload,
            "problem": problem,
            "pid": std::process::id(),
            "clock": system::CLOCK,
            "begin_ns": self.begin,
            "end_ns": end,
            "duration_ms": (end - self.begin) / 1_000_000,
            "duration_ns": end - self.begin,
            "cpu_ns": cpu - self.cpu,
            "stolen_ns": stolen.zip(self.stolen).map(|(after, before)| after - before),
            "marks": self.marks && !self.phases.is_empty(),
            "arguments": arguments,
            "phases": self.phases,
            "threads": self.threads,
            "truth": self.truth,
        })
    }
}

/// `path: value` per line, for those who read no JSON.
pub(crate) fn as_text(value: &Value, path: &str, lines: &mut Vec<String>) {
    let below = |key: &str| if path.is_empty() { key.to_owned() } else { format!("{path}.{key}") };
    match value {
        Value::Object(object) => object.iter().for_each(|(key, value)| as_text(value, &below(key), lines)),
        Value::Array(array) => {
            (0..).zip(array).for_each(|(index, value): (usize, _)| as_text(value, &below(&index.to_string()), lines));
        }
        Value::String(text) => lines.push(format!("{path}: {text}")),
        other => lines.push(format!("{path}: {other}")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[test]
    fn a_report_has_what_the_keys_say() {
        let mut report = Report::begin();
        report.phase("rest", || std::thread::sleep(Duration::from_millis(20)));
        report.tell("files", 3);
        let value = report.end("a", "b", Map::new());
        let keys: Vec<&str> = KEYS.iter().flat_map(|(keys, _)| keys.split(", ")).collect();
        for key in value.as_object().unwrap().keys() {
            assert!(keys.contains(&key.as_str()) || key == "truth", "{key}");
        }
        let phase = &value["phases"][0];
        assert!((20_000_000..2_000_000_000).contains(&phase["duration_ns"].as_i64().unwrap()), "{phase}");
        assert!(phase["cpu_ns"].as_i64().unwrap() < phase["duration_ns"].as_i64().unwrap());
        assert!(value["duration_ns"].as_i64() >= phase["duration_ns"].as_i64());
        assert_eq!(value["truth"]["files"], 3);
    }

    #[test]
    fn text_has_a_line_per_value() {
        let mut lines = Vec::new();
        as_text(&json!({"a": 1, "b": [{"c": "d"}, null], "e": {"f": true}}), "", &mut lines);
        assert_eq!(lines, ["a: 1", "b.0.c: d", "b.1: null", "e.f: true"]);
    }
}
