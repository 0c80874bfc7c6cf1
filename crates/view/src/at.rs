//! `at`: the span of a lane at an instant, and if it is a wait, all that `dump waits` tells of it.

use std::sync::Arc;

use axum::body::Body;
use axum::extract::State as Shared;
use axum::http::{HeaderMap, StatusCode};
use axum::response::Response;
use serde::Deserialize;
use serde_json::{Value, json};
use tracesift_analysis::Span;
use tracesift_archive::Watch;

use crate::body::parsed;
use crate::failure::{self, Failure};
use crate::lane::Lane;
use crate::lane::columns::recorded;
use crate::lane::density::What;
use crate::lane::people::People;
use crate::lane::spans::{Piece, REGION, around};
use crate::recording::place;
use crate::spans::{of_lane, waits};
use crate::state::State;
use crate::work;

/// Spans that are looked at for one.
const MOST: usize = 1 << 20;

/// How long before and behind an instant events, marks and disk operations are looked for, ns.
const NEAR: i64 = 1_000_000;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Asked {
    recording: String,
    lane: String,
    ns: i64,
}

pub(crate) async fn respond(
    Shared(state): Shared<Arc<State>>,
    headers: HeaderMap,
    body: Body,
) -> Result<Response, Failure> {
    let asked: Asked = parsed(&headers, body).await?;
    let place = place(&asked.recording, &state.recordings)?;
    let lane = Lane::parse(&asked.lane)?;
    let turn = work::turn(&state, &headers).await?;
    let (answer, _) = work::done(turn, move |watch| at(&state, place, &lane, asked.ns, watch)).await?;
    Ok(failure::json(StatusCode::OK, &answer))
}

fn at(state: &State, place: usize, lane: &Lane, ns: i64, watch: &Watch) -> Result<Value, Failure> {
    let recording = state.watched(place, watch)?;
    let people = People::of(&recording)?;
    let all = recorded(&recording);
    if !all.contains(ns) {
        return Err(Failure::missing("ns: it lies outside of the recorded time"));
    }
    let nothing = json!({ "span": null, "stack": null, "waker": null, "device": null, "chain": [], "words": [] });
    if !has_spans(lane) {
        return Ok(nothing);
    }
    let pieces = |range: Span| of_lane(state, &recording, &people, lane, (range, MOST));
    let found = match lane {
        Lane::Thread(_) | Lane::Cpu(_) => {
            let mut failed = None;
            let found = around(all, ns, |range| {
                pieces(range).map_err(|failure| {
                    failed = Some(failure);
                    tracesift_archive::Error::Cancelled
                })
            });
            if let Some(failure) = failed {
                return Err(failure);
            }
            found?
        }
        _ => {
            let near = Span::new(ns.saturating_sub(NEAR), ns.saturating_add(NEAR)).intersect(all);
            // Of regions in each other the innermost one is meant.
            let size = |piece: &Piece| if piece.state == REGION { piece.span.length() } else { 0 };
            pieces(near)?.all.into_iter().min_by_key(|piece| (distance(piece, ns), size(piece)))
        }
    };
    let Some(piece) = found else { return Ok(nothing) };
    let wait = match (piece.state(), piece.thread) {
        ("wait", Some(thread)) => {
            let row = people.thread(thread);
            let ids = row.and_then(|row| Some((people.process(row.process)?.pid, row.tid)));
            ids.map(|ids| wait(state, place, ids, &piece, watch)).transpose()?
        }
        _ => None,
    };
    let (wait, words) = wait.unwrap_or_default();
    Ok(answer(&piece, &people, &wait, &words))
}

/// Whether a lane has single spans.
fn has_spans(lane: &Lane) -> bool {
    let of_rows = matches!(lane, Lane::Rows(What::Gc(_) | What::Jit(_)));
    let of_disk = matches!(lane, Lane::Disk(_) | Lane::DiskPart(..));
    of_rows
        || of_disk
        || matches!(lane, Lane::Thread(_) | Lane::Cpu(_) | Lane::Event(_) | Lane::Marks | Lane::Region(_))
}

/// How far a piece is from an instant.
fn distance(piece: &Piece, ns: i64) -> i64 {
    let Span { start, end } = piece.span;
    if ns < start { start.saturating_sub(ns) } else { ns.saturating_sub(end).max(0) }
}

/// The row of `dump waits` about a wait of a thread, and the words of this command.
fn wait(
    state: &State,
    place: usize,
    (pid, tid): (i64, i64),
    piece: &Piece,
    watch: &Watch,
) -> Result<(Value, Vec<String>), Failure> {
    let words = waits(pid, piece.span);
    let answered = state.answers.ask(&[place], &words, watch)?;
    let rows: Vec<Value> = serde_json::from_slice(&answered.body)
        .map_err(|error| Failure::new(StatusCode::INTERNAL_SERVER_ERROR, format!("waits: {error}")))?;
    let is_it = |row: &Value| row["tid"] == tid && row["from_ns"] == piece.span.start && row["to_ns"] == piece.span.end;
    Ok((rows.into_iter().find(is_it).unwrap_or_default(), words))
}

fn answer(piece: &Piece, people: &People, wait: &Value, words: &[String]) -> Value {
    let lane = |row: &Value, pid: &str, tid: &str, ns: &Value| {
        let thread = people.thread_at(row[pid].as_i64()?, row[tid].as_i64()?, ns.as_i64()?)?;
        Some((Lane::Thread(thread).to_string(), people.thread_name(thread)))
    };
    let waker = lane(wait, "waker_pid", "waker_tid", &wait["to_ns"]);
    let is_device = !wait["woken_by"].is_null() && wait["waker_tid"].is_null();
    let waker = waker
        .map(|(lane, name)| json!({ "lane": lane, "name": name, "ns": wait["to_ns"], "method": wait["waker_method"], "stack": wait["waker_stack"] }));
    let chain = wait["chain"].as_array().into_iter().flatten().map(|row| {
        let (lane, name) = lane(row, "pid", "tid", &row["to_ns"]).unzip();
        let mut link = row.clone();
        link["lane"] = lane.into();
        link["name"] = name.flatten().into();
        link["start_ns"] = row["from_ns"].clone();
        link["end_ns"] = row["to_ns"].clone();
        link["state"] = largest(row).into();
        link
    });
    let chain: Vec<Value> = chain.collect();
    json!({
        "span": {
            "start_ns": piece.span.start,
            "end_ns": piece.span.end,
            "state": piece.state(),
            "cpu": piece.cpu,
            "reason": wait["reason"],
            "kind": wait["kind"],
            "thread": piece.thread.map(|thread| Lane::Thread(thread).to_string()),
            "process": piece.process.map(|process| Lane::Process(process).to_string()),
            "name": piece.text.clone().or_else(|| people.thread_name(piece.thread?)),
            "bytes": piece.bytes,
        },
        "stack": wait["wait_stack"],
        "method": wait["wait_method"],
        "waker": waker,
        "device": if is_device { wait["woken_by"].clone() } else { Value::Null },
        "chain": chain,
        "words": words,
    })
}

/// What a thread of a chain did for the largest part of the time.
fn largest(row: &Value) -> Option<&'static str> {
    let states = [("run_ns", "run"), ("ready_ns", "ready"), ("wait_ns", "wait"), ("unknown_ns", "unknown")];
    let figures = states.iter().filter_map(|(key, state)| Some((row[*key].as_i64()?, *state)));
    figures.max_by_key(|(figure, _)| *figure).map(|(_, state)| state)
}
