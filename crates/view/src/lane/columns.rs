//! `columns`: the figures of lanes by buckets, as frames in the order in which they were asked for.

use std::sync::Arc;

use axum::body::Body;
use axum::extract::State as Shared;
use axum::http::{HeaderMap, header};
use axum::response::{IntoResponse, Response};
use rustc_hash::{FxHashMap, FxHashSet};
use serde::Deserialize;
use serde_json::{Value, json};
use tracesift_analysis::Span;
use tracesift_analysis::timeline::Grid;
use tracesift_ask::question::timeline::Measure;
use tracesift_ask::recording::OpenRecording;

use super::{Lane, MOST_LANES, machine};
use crate::body::parsed;
use crate::failure::Failure;
use crate::frame::{frame, number, numbers};
use crate::lane::groups;
use crate::lane::peaks::Peak;
use crate::recording::place;
use crate::state::State;
use crate::work::{self, Pieces};

/// Columns of a lane, at most.
const MOST_COLUMNS: usize = 8_192;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Asked {
    recording: String,
    from: i64,
    to: i64,
    columns: usize,
    lanes: Vec<String>,
    #[serde(default)]
    measure: Option<String>,
}

/// The figures of one lane.
#[derive(Clone, Debug, Default)]
pub(crate) struct Figures {
    /// Whether the timeline tables have whole buckets of it.
    pub(crate) is_from_tables: bool,
    pub(crate) at_once: Option<i64>,
    pub(crate) unit: &'static str,
    /// Name and figure of each bucket.
    pub(crate) series: Vec<(&'static str, Vec<i64>)>,
    /// The command that has the numbers, by the name of the series.
    pub(crate) words: Vec<(&'static str, Vec<String>)>,
    /// The largest base buckets of the columns.
    pub(crate) peak: Option<Peak>,
}

pub(crate) async fn respond(
    Shared(state): Shared<Arc<State>>,
    headers: HeaderMap,
    body: Body,
) -> Result<Response, Failure> {
    let asked: Asked = parsed(&headers, body).await?;
    let at = place(&asked.recording, &state.recordings)?;
    if asked.columns == 0 || asked.columns > MOST_COLUMNS {
        return Err(Failure::bad(format!("columns: from 1 to {MOST_COLUMNS}")));
    }
    if asked.lanes.is_empty() || asked.lanes.len() > MOST_LANES {
        return Err(Failure::bad(format!("lanes: from 1 to {MOST_LANES}")));
    }
    if asked.from >= asked.to {
        return Err(Failure::bad("range: it ends before it begins"));
    }
    let lanes = asked.lanes.iter().map(|id| Lane::parse(id)).collect::<Result<Vec<_>, _>>()?;
    let measure = asked.measure.as_deref().map(measure).transpose()?;
    let turn = work::turn(&state, &headers).await?;
    let streamed = work::streamed(turn, move |watch, pieces| {
        let recording = state.watched(at, watch)?;
        let wanted = Columns::of(Span::new(asked.from, asked.to), asked.columns);
        frames(&state, &recording, &lanes, measure, wanted, pieces)
    });
    let body = Body::new(streamed.await?);
    Ok(([(header::CONTENT_TYPE, "application/octet-stream")], body).into_response())
}

/// The recorded time, with the instant of the last event.
pub(crate) fn recorded(recording: &OpenRecording) -> Span {
    Span::new(recording.file.start, recording.file.end.saturating_add(1))
}

/// The measure of a word of the command line.
pub(crate) fn measure(word: &str) -> Result<Measure, Failure> {
    Measure::of_word(word).ok_or_else(|| Failure::bad("measure: there is none of this name"))
}

/// Columns of one width, some of which may lie outside of the recorded time.
#[derive(Clone, Copy)]
struct Columns {
    range: Span,
    width: i64,
    count: usize,
}

impl Columns {
    /// As many as are asked for, or fewer of a short range.
    fn of(range: Span, columns: usize) -> Self {
        let whole = Grid::columns(range, columns);
        Self { range, width: whole.width(), count: whole.buckets() }
    }

    /// Those that have some recorded time, and how many lie before them.
    fn recorded(&self, recorded: Span) -> Option<(Grid, usize)> {
        let range = self.range.intersect(recorded);
        let grid = Grid::aligned(range, self.width, self.range.start, MOST_COLUMNS)?;
        let before = grid.first().checked_sub(self.range.start)? / self.width;
        Some((grid, usize::try_from(before).ok()?))
    }

    /// The figures of all columns: those outside of the recorded time have none.
    fn figures(&self, values: impl IntoIterator<Item = f64>, before: usize) -> Vec<f64> {
        let mut all = vec![f64::NAN; before];
        all.extend(values);
        all.resize(self.count, f64::NAN);
        all
    }
}

/// Sends the frames. Lanes of one kind come from one reading, when the first of them has its turn.
fn frames(
    state: &State,
    recording: &OpenRecording,
    lanes: &[Lane],
    measure: Option<Measure>,
    wanted: Columns,
    pieces: &mut Pieces,
) -> Result<(), Failure> {
    let missing = |lane: &Lane| Failure::missing(format!("lane: the recording has no `{lane}`"));
    let outside = || Failure::bad("range: it is too long, or it lies outside of the recorded time");
    let (grid, before) = wanted.recorded(recorded(recording)).ok_or_else(outside)?;
    let figures = |kind: &[Lane]| groups::figures(state, recording, kind, measure, grid);
    let mut kinds = kinds(lanes).into_iter();
    let mut made: FxHashMap<Lane, Result<Figures, Failure>> = FxHashMap::default();
    for lane in lanes {
        while !made.contains_key(lane) {
            // Two at a time: one alone mostly waits for one thread.
            let Some(one) = kinds.next() else { break };
            let other = kinds.next().unwrap_or_default();
            let (of_one, of_other) = rayon::join(|| figures(&one), || figures(&other));
            // What a lane does not have is no failure of the others.
            recording.archive().watch().check()?;
            for (kind, figures) in [(one, of_one), (other, of_other)] {
                for lane in kind {
                    let figures = figures.as_ref().map(|all| all.get(&lane).cloned()).map_err(Clone::clone);
                    let figures = figures.and_then(|figures| figures.ok_or_else(|| missing(&lane)));
                    made.insert(lane, figures);
                }
            }
        }
        let piece = match made.get(lane) {
            Some(Ok(figures)) if has_command(grid) => framed(lane, figures, &wanted, before)?,
            Some(Ok(figures)) => framed(lane, &Figures { words: Vec::new(), ..figures.clone() }, &wanted, before)?,
            Some(Err(failure)) => empty(lane, failure)?,
            None => empty(lane, &missing(lane))?,
        };
        pieces.add(piece)?;
    }
    Ok(())
}

/// The lanes of each kind, in the order of the first of them; one that is there twice once.
fn kinds(lanes: &[Lane]) -> Vec<Vec<Lane>> {
    let mut kinds: Vec<Vec<Lane>> = Vec::new();
    let mut met = FxHashSet::default();
    for lane in lanes.iter().filter(|lane| met.insert((*lane).clone())) {
        let is_same = |kind: &&mut Vec<Lane>| kind.first().is_some_and(|first| machine::is_same_kind(first, lane));
        match kinds.iter_mut().find(is_same) {
            Some(kind) => kind.push(lane.clone()),
            None => kinds.push(vec![lane.clone()]),
        }
    }
    kinds
}

/// Whether a command has these buckets: they start at a multiple of their length, or a number of them is the time range. A range that the
/// recorded time cuts has other ones, and one outside of it has none.
fn has_command(grid: Grid) -> bool {
    let (first, width, buckets) = (grid.first(), grid.width(), grid.buckets());
    let divided = Grid::columns(grid.range(), buckets);
    buckets > 0
        && (first % width == 0 || (divided.first(), divided.width(), divided.buckets()) == (first, width, buckets))
}

/// The frame of a lane without columns.
fn empty(lane: &Lane, failure: &Failure) -> Result<Vec<u8>, Failure> {
    let head = json!({ "lane": lane.to_string(), "error": failure.error, "columns": 0, "series": [], "peaks": [] });
    frame(head, &[])
}

fn framed(lane: &Lane, figures: &Figures, wanted: &Columns, before: usize) -> Result<Vec<u8>, Failure> {
    let names: Vec<&str> = figures.series.iter().map(|(name, _)| *name).collect();
    let words: serde_json::Map<String, Value> =
        figures.words.iter().map(|(name, words)| ((*name).to_owned(), words.clone().into())).collect();
    let peak_words: serde_json::Map<String, Value> =
        figures.peak.iter().map(|peak| (peak.name.to_owned(), peak.words.clone().into())).collect();
    let head = json!({
        "lane": lane.to_string(),
        "way": if figures.is_from_tables { "tiles" } else { "rows" },
        "first_ns": wanted.range.start,
        "bucket_ns": wanted.width,
        "columns": wanted.count,
        "at_once": figures.at_once,
        "unit": figures.unit,
        "series": names,
        "peaks": figures.peak.iter().map(|peak| peak.name).collect::<Vec<_>>(),
        "peak_ns": figures.peak.as_ref().map(|peak| peak.base),
        "words": words,
        "peak_words": peak_words,
    });
    let series = figures.series.iter().map(|(_, values)| wanted.figures(numbers(values), before));
    let known = |value: &Option<i64>| value.map_or(f64::NAN, number);
    let peaks = figures.peak.iter().map(|peak| wanted.figures(peak.values.iter().map(known), before));
    frame(head, &series.chain(peaks).collect::<Vec<_>>())
}
