//! `search`: names that contain a text, kind by kind, as lines of JSON; then how much there is of them, and when.

mod code;
mod files;
mod lines;
mod marks;

use std::sync::Arc;

use axum::body::Body;
use axum::extract::State as Shared;
use axum::http::{HeaderMap, header};
use axum::response::{IntoResponse, Response};
use serde::Deserialize;
use serde_json::Value;
use tracesift_analysis::Span;
use tracesift_analysis::timeline::Grid;
use tracesift_ask::recording::OpenRecording;

use crate::body::parsed;
use crate::failure::Failure;
use crate::lane::Lane;
use crate::lane::columns::recorded;
use crate::lane::list::kinds;
use crate::lane::machine::time_option;
use crate::lane::people::People;
use crate::lane::totals::shown;
use crate::recording::place;
pub(crate) use crate::search::lines::exact;
use crate::search::lines::{hit, send};
use crate::state::State;
use crate::work::{self, Pieces};

/// Hits of a kind, at most.
const MOST: usize = 200;

/// Letters of a text, at most.
const LONGEST: usize = 200;

/// Buckets of a density.
const BUCKETS: usize = 512;

const KINDS: [&str; 9] = ["process", "thread", "module", "method", "tag", "file", "mark", "event", "command"];

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
        // Names come first: they need no pass over samples and operations.
        let mut sought = Sought::default();
        for kind in KINDS.into_iter().filter(|kind| is_wanted(kind)) {
            search.kind(kind, &mut sought, pieces)?;
        }
        search.code(sought.code, pieces)?;
        search.operations(&sought.files, pieces)
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

/// Hits whose figures come behind all hits.
#[derive(Default)]
struct Sought {
    code: code::Sought,
    files: Vec<String>,
}

impl Search<'_> {
    fn has(&self, name: &str) -> bool {
        name.to_lowercase().contains(self.text)
    }

    /// The buckets of densities.
    fn grid(&self) -> Grid {
        Grid::columns(self.range, BUCKETS)
    }

    /// Words with the time range, unless that is all of the recording.
    fn words(&self, words: &[&str]) -> Vec<String> {
        let mut words: Vec<String> = words.iter().map(|word| (*word).to_owned()).collect();
        if self.range != recorded(self.recording) {
            words.push(time_option(self.range.start, self.range.end));
        }
        words
    }

    /// Sends the hits of a kind, of marks with their figures.
    fn kind(&self, kind: &str, sought: &mut Sought, pieces: &mut Pieces) -> Result<(), Failure> {
        let mut hits = match kind {
            "process" | "command" => self.processes(kind),
            "thread" => self.threads(),
            "module" => self.modules(&mut sought.code)?,
            "method" => self.methods(&mut sought.code)?,
            "tag" => self.tags(),
            "file" => self.files(&mut sought.files)?,
            "event" => self.events()?,
            _ => return self.marks(pieces),
        };
        hits.truncate(MOST);
        send(hits, pieces)
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
}
