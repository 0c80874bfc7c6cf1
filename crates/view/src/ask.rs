//! `ask`: the answer of a command line.

use std::sync::Arc;

use axum::body::Body;
use axum::extract::State as Shared;
use axum::http::{HeaderMap, HeaderValue, StatusCode};
use axum::response::Response;
use serde::Deserialize;

use crate::body::parsed;
use crate::failure::{Failure, json_bytes};
use crate::recording::{Opened, place};
use crate::state::State;
use crate::work;

/// Words of a command line, at most.
const MOST_WORDS: usize = 200;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Asked {
    recordings: Vec<String>,
    words: Vec<String>,
}

pub(crate) async fn respond(
    Shared(state): Shared<Arc<State>>,
    headers: HeaderMap,
    body: Body,
) -> Result<Response, Failure> {
    let asked: Asked = parsed(&headers, body).await?;
    if asked.words.len() > MOST_WORDS {
        return Err(Failure::bad("words: too many"));
    }
    let recordings = places(&asked.recordings, &state)?;
    let turn = work::turn(&state, &headers).await?;
    let answers = state.answers.clone();
    let (answered, rows) = work::done(turn, move |watch| Ok(answers.ask(&recordings, &asked.words, watch)?)).await?;
    let mut response = json_bytes(StatusCode::OK, answered.body);
    let notes = serde_json::Value::from(answered.notes).to_string();
    for (name, value) in [
        ("tracesift-command", encoded(&answered.command)),
        ("tracesift-rows", rows.to_string()),
        ("tracesift-notes", encoded(&notes)),
    ] {
        if let Ok(value) = HeaderValue::from_str(&value) {
            response.headers_mut().insert(name, value);
        }
    }
    Ok(response)
}

/// The places of recordings by the names that the page has for them, each once.
pub(crate) fn places(names: &[String], state: &State) -> Result<Vec<usize>, Failure> {
    let places = names.iter().map(|name| place(name, &state.recordings)).collect::<Result<Vec<_>, _>>()?;
    places.iter().filter_map(|place| state.recordings.get(*place)).try_for_each(Opened::check)?;
    let is_twice = places.iter().enumerate().any(|(at, place)| places[..at].contains(place));
    if places.is_empty() || is_twice {
        return Err(Failure::bad("recordings: name at least one, and each once"));
    }
    Ok(places)
}

/// A text for a header: UTF-8 in percent-encoding.
pub(crate) fn encoded(text: &str) -> String {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.~".contains(&byte);
    text.bytes()
        .map(|byte| if is_plain(byte) { char::from(byte).to_string() } else { format!("%{byte:02X}") })
        .collect()
}
