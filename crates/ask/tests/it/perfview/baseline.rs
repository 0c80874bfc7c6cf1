//! The golden texts: `EVENT time: kind PID=…; TID=…; PName=…; ProceNum=…; DataLen=…; field=value; …`, then `COUNT kind:number`.

use std::collections::BTreeMap;

/// One golden text.
pub(crate) struct Baseline {
    pub(crate) events: Vec<Event>,
    pub(crate) counts: BTreeMap<String, usize>,
}

/// One event of it.
pub(crate) struct Event {
    pub(crate) time_ms: f64,
    pub(crate) kind: String,
    pub(crate) pid: i64,
    pub(crate) tid: i64,
    pub(crate) process: String,
    pub(crate) cpu: i64,
    pub(crate) data_bytes: usize,
    pub(crate) fields: Vec<(String, String)>,
}

impl Baseline {
    pub(crate) fn parse(text: &str) -> Self {
        let mut baseline = Self { events: Vec::new(), counts: BTreeMap::new() };
        for line in text.trim_start_matches('\u{feff}').lines() {
            if let Some(rest) = line.strip_prefix("EVENT ") {
                baseline.events.push(event(rest));
            } else if let Some(rest) = line.strip_prefix("COUNT ") {
                let (kind, count) = rest.rsplit_once(':').expect("a count");
                baseline.counts.insert(kind.to_owned(), number(count) as usize);
            }
        }
        assert!(!baseline.events.is_empty() && !baseline.counts.is_empty(), "an empty baseline");
        baseline
    }
}

fn event(text: &str) -> Event {
    let (time, rest) = text.split_once(": ").expect("a time");
    let (kind, rest) = rest.split_once(" PID=").expect("a kind");
    let mut parts: Vec<(String, String)> = Vec::new();
    for part in format!("PID={rest}").split("; ") {
        match (part.split_once('='), parts.last_mut()) {
            (Some((name, value)), _) if name.chars().all(|c| c.is_alphanumeric() || c == '_') => {
                parts.push((name.to_owned(), value.to_owned()));
            }
            // A semicolon inside a value.
            (_, Some((_, value))) if !part.trim().is_empty() => {
                value.push_str("; ");
                value.push_str(part);
            }
            _ => {}
        }
    }
    let mut fields = parts.into_iter();
    let mut next = || fields.next().expect("a head").1;
    let (pid, tid, process, cpu, data) = (next(), next(), next(), next(), next());
    Event {
        time_ms: time.replace(',', "").parse().expect("a time"),
        kind: kind.to_owned(),
        pid: number(&pid),
        tid: number(&tid),
        process,
        cpu: number(&cpu),
        data_bytes: number(&data) as usize,
        fields: fields.map(|(name, value)| (name, value.trim_end_matches(';').to_owned())).collect(),
    }
}

fn number(text: &str) -> i64 {
    text.trim().replace(',', "").parse().expect("a number")
}
