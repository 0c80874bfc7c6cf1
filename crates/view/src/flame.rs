//! `flame`: the boxes of a flame graph, from the lines of `dump stacks`.

use std::sync::Arc;

use axum::body::Body;
use axum::extract::State as Shared;
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse, Response};
use rustc_hash::FxHashMap;
use serde::Deserialize;
use serde_json::json;

use crate::ask::{encoded, places};
use crate::body::parsed;
use crate::failure::Failure;
use crate::frame::{frame, number};
use crate::state::State;
use crate::work;

/// Boxes, at most: the largest ones.
const MOST: usize = 50_000;

/// Lines of `dump stacks` below this share are one box, unless the words say otherwise.
const MIN_SHARE: &str = "0.1%";

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Asked {
    recordings: Vec<String>,
    words: Vec<String>,
    #[serde(default)]
    by: Option<By>,
}

/// What the boxes are of.
#[derive(Clone, Copy, Deserialize)]
#[serde(rename_all = "lowercase")]
enum By {
    Cpu,
    Wait,
    Ready,
}

/// A line of `dump stacks`.
#[derive(Deserialize)]
struct Line {
    row: usize,
    parent: Option<usize>,
    process: Option<String>,
    pid: Option<i64>,
    start_ns: Option<i64>,
    tid: Option<i64>,
    total_ns: Option<i64>,
    self_ns: Option<i64>,
    total_bytes: Option<i64>,
    self_bytes: Option<i64>,
    total: Option<i64>,
    #[serde(rename = "self")]
    own: Option<i64>,
    kind: String,
    more: Option<i64>,
    module: Option<String>,
    method: Option<String>,
}

/// A box.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Drawn {
    depth: usize,
    start: i64,
    weight: i64,
    own: i64,
    name: String,
    module: Option<String>,
    parent: Option<usize>,
}

pub(crate) async fn respond(
    Shared(state): Shared<Arc<State>>,
    headers: HeaderMap,
    body: Body,
) -> Result<Response, Failure> {
    let asked: Asked = parsed(&headers, body).await?;
    let recordings = places(&asked.recordings, &state)?;
    let [recording] = recordings[..] else { return Err(Failure::bad("recordings: a flame graph is of one")) };
    let words = words(asked.words, asked.by)?;
    let turn = work::turn(&state, &headers).await?;
    let ((bytes, command), rows) = work::done(turn, move |watch| {
        let answered = state.answers.ask(&[recording], &words, watch)?;
        let lines: Vec<Line> = serde_json::from_slice(&answered.body)
            .map_err(|error| Failure::new(StatusCode::INTERNAL_SERVER_ERROR, format!("stacks: {error}")))?;
        Ok((framed(&lines, &words)?, answered.command))
    })
    .await?;
    let headers = [
        (header::CONTENT_TYPE.as_str(), "application/octet-stream".to_owned()),
        ("tracesift-command", encoded(&command)),
        ("tracesift-rows", rows.to_string()),
    ];
    Ok((headers, bytes).into_response())
}

/// The words with the measure and the share that a flame graph has without others.
fn words(mut words: Vec<String>, by: Option<By>) -> Result<Vec<String>, Failure> {
    if words.first().map(String::as_str) != Some("dump") || words.get(1).map(String::as_str) != Some("stacks") {
        return Err(Failure::bad("words: a flame graph is of `dump stacks`"));
    }
    let has = |words: &[String], name: &str| {
        words.iter().any(|word| word.strip_prefix(name).is_some_and(|rest| rest.is_empty() || rest.starts_with('=')))
    };
    if let Some(by) = by.filter(|_| !has(&words, "--measure")) {
        let measure = match by {
            By::Cpu => "cpu",
            By::Wait => "wait",
            By::Ready => "ready",
        };
        words.extend(["--measure".to_owned(), measure.to_owned()]);
    }
    if !has(&words, "--min-share") {
        words.extend(["--min-share".to_owned(), MIN_SHARE.to_owned()]);
    }
    Ok(words)
}

impl Line {
    fn weight(&self) -> i64 {
        self.total_ns.or(self.total_bytes).or(self.total).unwrap_or(0)
    }

    fn own(&self) -> i64 {
        self.self_ns.or(self.self_bytes).or(self.own).unwrap_or(0)
    }

    fn name(&self) -> String {
        match (&self.method, &self.module, self.kind.as_str()) {
            (_, _, "more") => format!("… {} more", self.more.unwrap_or(0)),
            (_, _, "no stack") => "[no stack]".to_owned(),
            (Some(method), ..) => method.clone(),
            (None, Some(module), _) => module.clone(),
            (None, None, kind) => kind.to_owned(),
        }
    }
}

/// The boxes in the order of the lines. Those of each process, or of each thread, stand on a box of it.
fn boxes(lines: &[Line]) -> Vec<Drawn> {
    let mut all: Vec<Drawn> = Vec::with_capacity(lines.len() + 8);
    // The end of the last box on each box, and where lines became boxes.
    let mut ends: Vec<i64> = Vec::new();
    let mut at: FxHashMap<usize, usize> = FxHashMap::default();
    let (mut root, mut of) = (None, None);
    let mut end = 0_i64;
    for line in lines {
        let owner = (line.pid, line.start_ns, line.tid);
        let parent = line.parent.and_then(|parent| at.get(&parent).copied());
        if parent.is_none() && (root.is_none() || of != Some(owner)) {
            let name = match (&line.process, line.pid) {
                (Some(process), Some(pid)) => format!("{process}({pid})"),
                (Some(process), None) => process.clone(),
                _ => "unknown process".to_owned(),
            };
            let name = line.tid.map_or(name.clone(), |tid| format!("{name} {tid}"));
            (root, of) = (Some(all.len()), Some(owner));
            all.push(Drawn { depth: 0, start: end, weight: 0, own: 0, name, module: None, parent: None });
            ends.push(end);
        }
        let Some(below) = parent.or(root) else { continue };
        let (Some(start), Some(depth)) = (ends.get(below).copied(), all.get(below).map(|below| below.depth + 1)) else {
            continue;
        };
        let weight = line.weight();
        ends[below] = start.saturating_add(weight);
        if parent.is_none() {
            all[below].weight = all[below].weight.saturating_add(weight);
            end = end.saturating_add(weight);
        }
        at.insert(line.row, all.len());
        let (name, own, module) = (line.name(), line.own(), line.module.clone());
        all.push(Drawn { depth, start, weight, own, name, module, parent: Some(below) });
        ends.push(start);
    }
    all
}

/// The largest boxes with what they stand on; the others are left out.
fn largest(all: Vec<Drawn>, most: usize) -> Vec<Drawn> {
    if all.len() <= most {
        return all;
    }
    let mut weights: Vec<i64> = all.iter().map(|one| one.weight).collect();
    let (_, least, _) = weights.select_nth_unstable_by(most, |a, b| b.cmp(a));
    let least = *least;
    // What a box stands on is at least as large, and stands before it.
    let mut kept: Vec<Drawn> = Vec::with_capacity(most);
    let mut at: Vec<Option<usize>> = Vec::with_capacity(all.len());
    for one in all {
        let parent = one.parent.map(|parent| at.get(parent).copied().flatten());
        let is_kept = one.weight > least && parent != Some(None);
        at.push(is_kept.then_some(kept.len()));
        if is_kept {
            kept.push(Drawn { parent: parent.flatten(), ..one });
        }
    }
    kept
}

fn framed(lines: &[Line], words: &[String]) -> Result<Vec<u8>, Failure> {
    let boxes = boxes(lines);
    let total = boxes.iter().filter(|one| one.parent.is_none()).fold(0_i64, |sum, one| sum.saturating_add(one.weight));
    let boxes = largest(boxes, MOST);
    let unit = match lines.first() {
        Some(Line { total_bytes: Some(_), .. }) => "bytes",
        Some(Line { total: Some(_), .. }) => "count",
        _ => "ns",
    };
    let (mut names, mut modules) = (Numbered::default(), Numbered::default());
    let name: Vec<f64> = boxes.iter().map(|one| names.place(&one.name)).collect();
    let module: Vec<f64> =
        boxes.iter().map(|one| one.module.as_ref().map_or(f64::NAN, |module| modules.place(module))).collect();
    let column = |of: &dyn Fn(&Drawn) -> f64| boxes.iter().map(of).collect::<Vec<f64>>();
    let columns = vec![
        column(&|one| one.depth as f64),
        column(&|one| number(one.start)),
        column(&|one| number(one.weight)),
        column(&|one| number(one.own)),
        name,
        module,
        column(&|one| one.parent.map_or(-1.0, |parent| parent as f64)),
    ];
    let head = json!({
        "frames": boxes.len(),
        "total": total,
        "unit": unit,
        "series": ["depth", "start", "weight", "self", "name", "module", "parent"],
        "names": names.all,
        "modules": modules.all,
        "words": words,
    });
    frame(&head, &columns)
}

/// Texts, each once.
#[derive(Default)]
struct Numbered {
    all: Vec<String>,
    places: FxHashMap<String, usize>,
}

impl Numbered {
    fn place(&mut self, text: &str) -> f64 {
        if let Some(place) = self.places.get(text) {
            return *place as f64;
        }
        self.places.insert(text.to_owned(), self.all.len());
        self.all.push(text.to_owned());
        (self.all.len() - 1) as f64
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{Drawn, Line, boxes, largest};

    fn lines() -> Vec<Line> {
        let line = |row: usize, parent: Option<usize>, pid: i64, total: i64, own: i64| {
            json!({ "row": row, "parent": parent, "process": "App", "pid": pid, "start_ns": null, "total_ns": total,
                "self_ns": own, "kind": "method", "more": null, "module": "m", "method": format!("f{row}") })
        };
        let all = json!([
            line(0, None, 1, 50, 10),
            line(1, Some(0), 1, 30, 30),
            line(2, Some(0), 1, 10, 10),
            line(3, None, 1, 5, 5),
            line(4, None, 2, 7, 0),
            line(5, Some(4), 2, 7, 7),
        ]);
        serde_json::from_value(all).unwrap()
    }

    #[test]
    fn boxes_stand_side_by_side_on_those_that_called() {
        let found = boxes(&lines());
        let places: Vec<_> = found.iter().map(|one| (one.name.as_str(), one.depth, one.start, one.weight)).collect();
        let expected = [
            ("App(1)", 0, 0, 55),
            ("f0", 1, 0, 50),
            ("f1", 2, 0, 30),
            ("f2", 2, 30, 10),
            ("f3", 1, 50, 5),
            ("App(2)", 0, 55, 7),
            ("f4", 1, 55, 7),
            ("f5", 2, 55, 7),
        ];
        assert_eq!(places, expected);
        assert_eq!(found.iter().map(|one| one.own).sum::<i64>(), 62);
    }

    #[test]
    fn the_largest_boxes_keep_what_they_stand_on() {
        let kept = largest(boxes(&lines()), 4);
        let names: Vec<_> = kept.iter().map(|one| (one.name.as_str(), one.parent)).collect();
        assert_eq!(names, [("App(1)", None), ("f0", Some(0)), ("f1", Some(1)), ("f2", Some(1))]);
        let all: Vec<Drawn> = largest(boxes(&lines()), 8);
        assert_eq!(all, boxes(&lines()));
    }
}
