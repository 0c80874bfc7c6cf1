//! `search`: names that contain a text, kind by kind, as lines of JSON.

use std::sync::Arc;

use axum::body::Body;
use axum::extract::State as Shared;
use axum::http::{HeaderMap, header};
use axum::response::{IntoResponse, Response};
use rustc_hash::FxHashMap;
use serde::Deserialize;
use serde_json::{Value, json};
use tracesift_analysis::Span;
use tracesift_archive::Error;
use tracesift_ask::recording::OpenRecording;
use tracesift_trace::rows::{FileRow, MarkRow, MethodSummaryRow, ModuleRow};
use tracesift_trace::view;

use crate::body::parsed;
use crate::failure::Failure;
use crate::lane::Lane;
use crate::lane::columns::recorded;
use crate::lane::list::kinds;
use crate::lane::people::People;
use crate::lane::totals::shown;
use crate::recording::place;
use crate::state::State;
use crate::work::{self, Pieces};

/// Hits of a kind, at most.
const MOST: usize = 200;

/// Letters of a text, at most.
const LONGEST: usize = 200;

/// Buckets of a density.
const BUCKETS: usize = 512;

const KINDS: [&str; 9] = ["process", "thread", "module", "method", "tag", "file", "mark", "event", "command"];

view! {
    /// A file that was used.
    #[derive(Clone, Debug)]
    struct FileName of FileRow { path }
}

view! {
    /// A module.
    #[derive(Clone, Debug)]
    struct ModuleName of ModuleRow { name, path }
}

view! {
    /// A method with its figures.
    #[derive(Clone, Debug)]
    struct Method of MethodSummaryRow { module, function, samples, cpu, first, last }
}

view! {
    /// A mark.
    #[derive(Clone, Debug)]
    struct Mark of MarkRow { time, text }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Asked {
    recording: String,
    text: String,
    #[serde(default)]
    kinds: Vec<String>,
    #[serde(default)]
    from: Option<i64>,
    #[serde(default)]
    to: Option<i64>,
}

pub(crate) async fn respond(
    Shared(state): Shared<Arc<State>>,
    headers: HeaderMap,
    body: Body,
) -> Result<Response, Failure> {
    let asked: Asked = parsed(&headers, body).await?;
    let at = place(&asked.recording, &state.recordings)?;
    if asked.text.trim().is_empty() || asked.text.chars().count() > LONGEST {
        return Err(Failure::bad(format!("text: from 1 to {LONGEST} letters")));
    }
    if let Some(unknown) = asked.kinds.iter().find(|kind| !KINDS.contains(&kind.as_str())) {
        return Err(Failure::bad(format!("kinds: there is no `{unknown}`")));
    }
    let turn = work::turn(&state, &headers).await?;
    let streamed = work::streamed(turn, move |watch, pieces| {
        let recording = state.watched(at, watch)?;
        let all = recorded(&recording);
        let range = Span::new(asked.from.unwrap_or(all.start), asked.to.unwrap_or(all.end)).intersect(all);
        let people = People::of(&recording)?;
        let text = asked.text.trim().to_lowercase();
        let search = Search { state: &state, recording: &recording, people: &people, text: &text, range };
        let is_wanted = |kind: &str| asked.kinds.is_empty() || asked.kinds.iter().any(|known| known == kind);
        for kind in KINDS.into_iter().filter(|kind| is_wanted(kind)) {
            search.kind(kind, pieces)?;
        }
        Ok(())
    });
    let body = Body::new(streamed.await?);
    Ok(([(header::CONTENT_TYPE, "application/x-ndjson")], body).into_response())
}

/// What is searched.
struct Search<'a> {
    state: &'a State,
    recording: &'a OpenRecording,
    people: &'a People,
    /// In small letters.
    text: &'a str,
    range: Span,
}

/// A hit as the page gets it.
fn hit(kind: &str, name: &str, lane: Option<&Lane>, words: &[&str]) -> Value {
    json!({ "kind": kind, "name": name, "lane": lane.map(ToString::to_string), "count": null, "time_ns": null,
        "first_ns": null, "last_ns": null, "words": words })
}

impl Search<'_> {
    fn has(&self, name: &str) -> bool {
        name.to_lowercase().contains(self.text)
    }

    /// Sends the hits of a kind, then how dense they are on the axis.
    fn kind(&self, kind: &str, pieces: &mut Pieces) -> Result<(), Failure> {
        let mut hits = match kind {
            "process" | "command" => self.processes(kind),
            "thread" => self.threads(),
            "module" => self.modules()?,
            "method" => self.methods()?,
            "tag" => self.tags(),
            "file" => self.files()?,
            "event" => self.events()?,
            _ => return self.marks(pieces),
        };
        hits.truncate(MOST);
        send(&hits, pieces)
    }

    fn processes(&self, kind: &str) -> Vec<Value> {
        let shown = shown(self.people);
        let rows = self.people.processes.iter().filter(|row| shown.contains(&row.process));
        let hits = rows.filter_map(|row| {
            let name = self.people.process_name(row.process)?;
            let (pid, command) = (row.pid.to_string(), row.command_line.as_deref().unwrap_or_default());
            let is_hit = if kind == "process" { self.has(&name) } else { self.has(command) };
            let lane = Lane::Process(row.process);
            let text = if kind == "process" { &name } else { command };
            let mut hit = hit(kind, text, Some(&lane), &["dump", "process", "-p", &pid]);
            hit["first_ns"] = row.start.into();
            hit["last_ns"] = row.end.into();
            is_hit.then_some(hit)
        });
        hits.collect()
    }

    fn threads(&self) -> Vec<Value> {
        let hits = self.people.threads.iter().filter(|row| row.idle_cpu.is_none()).filter_map(|row| {
            let is_hit = row.name.as_deref().is_some_and(|name| self.has(name)) || row.tid.to_string() == self.text;
            let pid = self.people.process(row.process)?.pid.to_string();
            let name = self.people.thread_name(row.thread)?;
            let lane = Lane::Thread(row.thread);
            let mut hit = hit("thread", &name, Some(&lane), &["dump", "threads", "-p", &pid]);
            hit["first_ns"] = row.start.into();
            hit["last_ns"] = row.end.into();
            is_hit.then_some(hit)
        });
        hits.collect()
    }

    fn modules(&self) -> Result<Vec<Value>, Error> {
        let mut rows: Vec<ModuleName> = self.recording.archive().rows()?;
        rows.retain(|row| self.has(&row.name) || self.has(&row.path));
        rows.sort_by(|a, b| a.path.cmp(&b.path));
        rows.dedup_by(|a, b| a.path == b.path);
        Ok(rows.iter().map(|row| hit("module", &row.path, None, &["dump", "version", "--dll", &row.name])).collect())
    }

    /// The methods of the archive's sums: the largest of each process.
    fn methods(&self) -> Result<Vec<Value>, Error> {
        let mut sums: FxHashMap<String, (i64, i64, i64, i64)> = FxHashMap::default();
        self.recording.archive().scan(None, |row: &Method| {
            let name =
                row.module.as_ref().map_or_else(|| row.function.clone(), |module| format!("{module}!{}", row.function));
            if self.has(&name) {
                let sum = sums.entry(name).or_insert((0, 0, row.first, row.last));
                *sum = (
                    sum.0.saturating_add(row.samples),
                    sum.1.saturating_add(row.cpu),
                    sum.2.min(row.first),
                    sum.3.max(row.last),
                );
            }
        })?;
        let mut all: Vec<_> = sums.into_iter().collect();
        all.sort_by(|(a, of_a), (b, of_b)| of_b.1.cmp(&of_a.1).then_with(|| a.cmp(b)));
        let hits = all.into_iter().map(|(name, (samples, cpu, first, last))| {
            let mut hit = hit("method", &name, None, &["dump", "cpu", "--methods", &name]);
            hit["count"] = samples.into();
            hit["time_ns"] = cpu.into();
            hit["first_ns"] = first.into();
            hit["last_ns"] = last.into();
            hit
        });
        Ok(hits.take(MOST).collect())
    }

    fn tags(&self) -> Vec<Value> {
        let mut hits = Vec::new();
        for file in self.state.tag_files.iter().filter(|_| self.recording.file.has_samples) {
            for tag in file.tags.tags().map(|tag| file.tags.name(tag)).filter(|name| self.has(name)) {
                let lane = Lane::Tag(file.id.clone(), tag.to_owned());
                let words = ["dump", "cpu", "--stacktags", tag, "--tag-file", &file.id];
                hits.push(hit("tag", tag, Some(&lane), &words));
            }
        }
        hits
    }

    fn files(&self) -> Result<Vec<Value>, Error> {
        let mut paths: Vec<String> = Vec::new();
        self.recording.archive().scan(None, |row: &FileName| {
            if self.has(&row.path) {
                paths.push(row.path.clone());
            }
        })?;
        paths.sort();
        paths.dedup();
        Ok(paths.iter().take(MOST).map(|path| hit("file", path, None, &["dump", "file", "--path", path])).collect())
    }

    fn events(&self) -> Result<Vec<Value>, Failure> {
        let kinds = kinds(self.state, self.recording)?.iter().enumerate();
        let names = kinds.map(|(number, (provider, event))| (number, format!("{provider} {event}")));
        let hits = names.filter(|(_, name)| self.has(name));
        Ok(hits
            .map(|(number, name)| {
                hit("event", &name, Some(&Lane::Event(number)), &["dump", "timeline", "--lane", "event"])
            })
            .collect())
    }

    /// Marks, and in which parts of the range they are.
    fn marks(&self, pieces: &mut Pieces) -> Result<(), Failure> {
        let width = (self.range.length() / BUCKETS as i64 + 1).max(1);
        let mut values = vec![0_i64; BUCKETS];
        let mut marks: Vec<(String, i64, i64, i64)> = Vec::new();
        let mut places: FxHashMap<String, usize> = FxHashMap::default();
        self.recording.archive().scan(Some(self.range.start..self.range.end), |row: &Mark| {
            if !self.range.contains(row.time) || !self.has(&row.text) {
                return;
            }
            let place = usize::try_from((row.time - self.range.start) / width).unwrap_or(usize::MAX);
            if let Some(value) = values.get_mut(place) {
                *value += 1;
            }
            let next = marks.len();
            let place = *places.entry(row.text.clone()).or_insert(next);
            match marks.get_mut(place) {
                Some(mark) => (mark.1, mark.3) = (mark.1 + 1, row.time),
                None => marks.push((row.text.clone(), 1, row.time, row.time)),
            }
        })?;
        let hits: Vec<Value> = marks
            .iter()
            .take(MOST)
            .map(|(text, count, first, last)| {
                let mut hit = hit("mark", text, Some(&Lane::Marks), &["dump", "mark"]);
                hit["count"] = (*count).into();
                hit["first_ns"] = (*first).into();
                hit["last_ns"] = (*last).into();
                hit
            })
            .collect();
        send(&hits, pieces)?;
        if hits.is_empty() {
            return Ok(());
        }
        let density = json!({ "density": { "name": null, "kind": "mark", "first_ns": self.range.start,
            "bucket_ns": width, "values": values } });
        pieces.add(format!("{density}\n").into_bytes())
    }
}

fn send(hits: &[Value], pieces: &mut Pieces) -> Result<(), Failure> {
    if hits.is_empty() {
        return Ok(());
    }
    let lines: Vec<String> = hits.iter().map(|hit| format!("{hit}\n")).collect();
    pieces.add(lines.concat().into_bytes())
}
