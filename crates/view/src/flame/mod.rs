//! `flame`: the boxes of a flame graph, from the lines of `dump stacks`.

mod boxes;
mod tags;

use std::sync::Arc;

use axum::body::Body;
use axum::extract::State as Shared;
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse, Response};
use rustc_hash::FxHashMap;
use serde::Deserialize;
use serde_json::json;
use tracesift_analysis::tags::TagSet;

use crate::ask::{encoded, places};
use crate::body::parsed;
use crate::failure::Failure;
use crate::flame::boxes::{Drawn, Line, boxes, largest};
use crate::frame::{frame, number};
use crate::lane::machine::tags;
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
    /// A file of stack tags of the session.
    #[serde(default)]
    tag_file: Option<String>,
}

/// What the boxes are of.
#[derive(Clone, Copy, Deserialize)]
#[serde(rename_all = "lowercase")]
enum By {
    Cpu,
    Wait,
    Ready,
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
    let tags = asked.tag_file.as_deref().map(|id| tags(&state, id)).transpose()?.map(|file| file.tags.clone());
    let turn = work::turn(&state, &headers).await?;
    let ((bytes, command), rows) = work::done(turn, move |watch| {
        let answered = state.answers.ask(&[recording], &words, watch)?;
        let lines: Vec<Line> = serde_json::from_slice(&answered.body)
            .map_err(|error| Failure::new(StatusCode::INTERNAL_SERVER_ERROR, format!("stacks: {error}")))?;
        Ok((framed(&lines, &words, tags.as_deref())?, answered.command))
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

fn framed(lines: &[Line], words: &[String], tags: Option<&TagSet>) -> Result<Vec<u8>, Failure> {
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
    let tags = tags.filter(|_| tags::are_known(words)).map(|tags| tags::of_lines(lines, tags)).unwrap_or_default();
    let mut tag_names = Numbered::default();
    let tag_of = |line: Option<usize>| line.and_then(|line| tags.get(line)?.as_ref());
    let tag: Vec<f64> = boxes.iter().map(|one| tag_of(one.line).map_or(f64::NAN, |tag| tag_names.place(tag))).collect();
    let column = |of: &dyn Fn(&Drawn) -> f64| boxes.iter().map(of).collect::<Vec<f64>>();
    let columns = vec![
        column(&|one| one.depth as f64),
        column(&|one| number(one.start)),
        column(&|one| number(one.weight)),
        column(&|one| number(one.own)),
        name,
        module,
        column(&|one| one.parent.map_or(-1.0, |parent| parent as f64)),
        tag,
    ];
    let head = json!({
        "frames": boxes.len(),
        "total": total,
        "unit": unit,
        "series": ["depth", "start", "weight", "self", "name", "module", "parent", "tag"],
        "names": names.all,
        "modules": modules.all,
        "tags": tag_names.all,
        "words": words,
    });
    frame(head, &columns)
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
