//! What the recorder left beside its recording: facts of the machine that no event tells, and marks (`X.machine.json`).

use std::fs::File;
use std::io::Read as _;
use std::path::Path;

use serde_json::Value;
use tracesift_trace::info::{SourceFile, TraceInfo};

/// Larger documents are nobody's facts.
const LARGEST: u64 = 1 << 20;
/// Facts and marks kept at most.
const MOST: usize = 10_000;

/// The document beside a recording, as far as it is of use.
#[derive(Debug, Default)]
pub(crate) struct RecorderFacts {
    /// Paths in the document, `cpu.model`, with their values.
    facts: Vec<(String, String)>,
    /// Minutes to add to UTC to get the recorder's local time.
    utc_offset_minutes: Option<i32>,
    marks: Vec<Mark>,
}

/// What the user wrote down.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Mark {
    /// Ticks of the recording's clock.
    pub(crate) ticks: i64,
    pub(crate) text: String,
}

impl RecorderFacts {
    /// Reads the document; without one, or with one that is none, there are no facts.
    pub(crate) fn beside(sources: &[SourceFile]) -> Self {
        let source = sources.first().filter(|source| source.member.is_none());
        let document = source.and_then(|source| read(&Path::new(&source.path).with_extension("machine.json")));
        document.map(|document| Self::of(&document)).unwrap_or_default()
    }

    fn of(document: &Value) -> Self {
        if document["format"] != 1 {
            return Self::default();
        }
        let mut facts = Vec::new();
        collect(document, String::new(), &mut facts);
        facts.retain(|(path, _)| path != "format" && !path.starts_with("recording.marks"));
        let offset = document["utc_offset_minutes"].as_i64().and_then(|minutes| i32::try_from(minutes).ok());
        let all = document["recording"]["marks"].as_array();
        let monotonic = |mark: &&Value| mark["at"]["clock"] == "CLOCK_MONOTONIC";
        let mark = |mark: &Value| {
            Some(Mark { ticks: mark["at"]["clock_ns"].as_i64()?, text: mark["text"].as_str()?.to_owned() })
        };
        let mut marks: Vec<Mark> = all.into_iter().flatten().filter(monotonic).filter_map(mark).take(MOST).collect();
        marks.sort_by_key(|mark| mark.ticks);
        Self { facts, utc_offset_minutes: offset, marks }
    }

    /// The marks in order, if they were made on the recording's clock.
    pub(crate) fn take_marks(&mut self, clock: &str) -> Vec<Mark> {
        if clock == "CLOCK_MONOTONIC" { std::mem::take(&mut self.marks) } else { Vec::new() }
    }

    /// Adds the facts to what the recording tells.
    pub(crate) fn describe(self, info: &mut TraceInfo) {
        // Of a Windows recording that is in its header.
        if let Some(minutes) = self.utc_offset_minutes.filter(|minutes| info.kind == "perf" && minutes.abs() < 24 * 60)
        {
            info.utc_offset_minutes = -minutes;
        }
        info.facts = self.facts;
    }
}

fn read(path: &Path) -> Option<Value> {
    let file = File::open(path).ok().filter(|file| file.metadata().is_ok_and(|file| file.is_file()))?;
    let mut text = Vec::new();
    let length = file.take(LARGEST + 1).read_to_end(&mut text).ok()?;
    if length as u64 > LARGEST { None } else { serde_json::from_slice(&text).ok() }
}

/// Everything that is neither a list nor an object nor unknown, below its path. The reader of JSON bounds the depth.
fn collect(value: &Value, path: String, facts: &mut Vec<(String, String)>) {
    let below = |name: &str| if path.is_empty() { name.to_owned() } else { format!("{path}.{name}") };
    match value {
        _ if facts.len() >= MOST => {}
        Value::Null => {}
        Value::Object(members) => members.iter().for_each(|(name, value)| collect(value, below(name), facts)),
        Value::Array(items) => {
            items.iter().enumerate().for_each(|(index, value)| collect(value, below(&index.to_string()), facts));
        }
        Value::String(text) => facts.push((path, text.clone())),
        Value::Bool(_) | Value::Number(_) => facts.push((path, value.to_string())),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn facts_are_paths_and_marks_are_in_order() {
        let mark = |ns: i64, text: &str| json!({"at": {"clock": "CLOCK_MONOTONIC", "clock_ns": ns}, "text": text});
        let document = json!({
            "format": 1,
            "cpu": {"model": "X", "threads": 2, "min_mhz": null},
            "disks": [{"name": "sda", "rotational": false}],
            "utc_offset_minutes": 120,
            "recording": {"marks": [mark(7, "late"), mark(3, "early"), {"text": "when?"}], "command": ["a", "b"]},
        });
        let mut facts = RecorderFacts::of(&document);
        assert_eq!(facts.take_marks("scheduler clock"), []);
        let marks: Vec<(i64, String)> =
            facts.take_marks("CLOCK_MONOTONIC").into_iter().map(|mark| (mark.ticks, mark.text)).collect();
        assert_eq!(marks, [(3, "early".to_owned()), (7, "late".to_owned())]);
        let mut info = TraceInfo { kind: "perf".to_owned(), ..TraceInfo::default() };
        facts.describe(&mut info);
        assert_eq!(info.utc_offset_minutes, -120);
        let told: Vec<String> = info.facts.iter().map(|(path, value)| format!("{path}={value}")).collect();
        assert_eq!(
            told,
            [
                "cpu.model=X",
                "cpu.threads=2",
                "disks.0.name=sda",
                "disks.0.rotational=false",
                "utc_offset_minutes=120",
                "recording.command.0=a",
                "recording.command.1=b",
            ]
        );
    }

    #[test]
    fn other_documents_are_no_facts() {
        for document in [json!({}), json!([1]), json!({"format": 2, "cpu": {"model": "X"}}), json!("text")] {
            let mut info = TraceInfo::default();
            RecorderFacts::of(&document).describe(&mut info);
            assert_eq!(info, TraceInfo::default());
        }
    }
}
