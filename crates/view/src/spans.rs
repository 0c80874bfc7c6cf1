//! `spans`: the single spans of a lane as a frame.

use std::sync::Arc;

use axum::body::Body;
use axum::extract::State as Shared;
use axum::http::{HeaderMap, header};
use axum::response::{IntoResponse, Response};
use rustc_hash::{FxHashMap, FxHashSet};
use serde::Deserialize;
use serde_json::json;
use tracesift_analysis::Span;
use tracesift_analysis::timeline::Grid;
use tracesift_ask::question::timeline::Measure;
use tracesift_ask::question::waits::{WaitKind, kinds_of_threads};
use tracesift_ask::recording::OpenRecording;
use tracesift_trace::{ProcessId, ThreadId};

use crate::body::parsed;
use crate::failure::Failure;
use crate::frame::{frame, number};
use crate::lane::columns::recorded;
use crate::lane::density::What;
use crate::lane::disks::DiskPart;
use crate::lane::list::kinds;
use crate::lane::machine::{time_option, words};
use crate::lane::people::People;
use crate::lane::regions;
use crate::lane::spans::{self, Piece, Pieces, STATES};
use crate::lane::top;
use crate::lane::{Lane, MOST_LANES};
use crate::recording::place;
use crate::search::exact;
use crate::state::State;
use crate::work;

/// Spans of an answer, at most.
const MOST: usize = 20_000;

/// Spans of all lanes of an answer, at most.
const MOST_OF_ALL: usize = 100_000;

/// Kinds of waits by thread and start.
type Kinds = FxHashMap<(ThreadId, i64), WaitKind>;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Asked {
    recording: String,
    #[serde(default)]
    lane: Option<String>,
    /// Several lanes, in place of one.
    #[serde(default)]
    lanes: Vec<String>,
    from: i64,
    to: i64,
    #[serde(default = "most")]
    most: usize,
}

fn most() -> usize {
    MOST
}

pub(crate) async fn respond(
    Shared(state): Shared<Arc<State>>,
    headers: HeaderMap,
    body: Body,
) -> Result<Response, Failure> {
    let asked: Asked = parsed(&headers, body).await?;
    let at = place(&asked.recording, &state.recordings)?;
    let lanes = asked.lane.iter().chain(&asked.lanes).map(|id| Lane::parse(id)).collect::<Result<Vec<_>, _>>()?;
    if lanes.is_empty() || lanes.len() > MOST_LANES {
        return Err(Failure::bad(format!("lanes: from 1 to {MOST_LANES}")));
    }
    if asked.from >= asked.to {
        return Err(Failure::bad("range: it ends before it begins"));
    }
    if asked.most == 0 || asked.most > MOST {
        return Err(Failure::bad(format!("most: from 1 to {MOST}")));
    }
    let most = asked.most.min(MOST_OF_ALL / lanes.len());
    let turn = work::turn(&state, &headers).await?;
    let (bytes, _) = work::done(turn, move |watch| {
        let recording = state.watched(at, watch)?;
        let range = Span::new(asked.from, asked.to).intersect(recorded(&recording));
        let people = People::of(&recording)?;
        let is_one = asked.lane.is_some();
        frames(&Reading { state: &state, recording: &recording, people: &people, range }, &lanes, most, is_one)
    })
    .await?;
    Ok(([(header::CONTENT_TYPE, "application/octet-stream")], bytes).into_response())
}

/// What spans are read of.
struct Reading<'a> {
    state: &'a State,
    recording: &'a OpenRecording,
    people: &'a People,
    range: Span,
}

/// The frames of lanes in the order in which they were asked for. Threads come from one reading. `is_one`: it is read however long it takes.
fn frames(of: &Reading<'_>, lanes: &[Lane], most: usize, is_one: bool) -> Result<Vec<u8>, Failure> {
    let (recording, range) = (of.recording, of.range);
    let threads: FxHashSet<ThreadId> =
        lanes.iter().filter_map(|lane| if let Lane::Thread(thread) = lane { Some(*thread) } else { None }).collect();
    let are_few = is_one || top::is_quick(recording, Grid::columns(range, 1))?;
    let of_threads = match are_few && !threads.is_empty() {
        true => spans::of_threads(recording, of.people, &threads, range, most)?,
        false => FxHashMap::default(),
    };
    let waiting = |pieces: &Pieces| !pieces.is_full && pieces.all.iter().any(|piece| piece.state == spans::WAIT);
    let waiting = of_threads.iter().filter(|(_, pieces)| waiting(pieces)).map(|(thread, _)| *thread).collect();
    let kinds = kinds_of_threads(recording, &waiting, range)?;
    let too_many = Pieces::full();
    let mut bytes = Vec::new();
    for lane in lanes {
        let own;
        let found = match lane {
            Lane::Thread(thread) if of.people.thread(*thread).is_some() => of_threads.get(thread).unwrap_or(&too_many),
            _ => {
                own = of_lane(of.state, recording, of.people, lane, (range, most))?;
                &own
            }
        };
        bytes.extend(framed(lane, found, &kinds, of.people, range)?);
    }
    Ok(bytes)
}

/// The spans of a lane in a range.
pub(crate) fn of_lane(
    state: &State,
    recording: &OpenRecording,
    people: &People,
    lane: &Lane,
    (range, most): (Span, usize),
) -> Result<Pieces, Failure> {
    let missing = || Failure::missing(format!("lane: the recording has no `{lane}`"));
    Ok(match lane {
        Lane::Thread(thread) => {
            people.thread(*thread).ok_or_else(missing)?;
            let found = spans::of_threads(recording, people, &FxHashSet::from_iter([*thread]), range, most)?;
            found.into_values().next().unwrap_or_default()
        }
        Lane::Cpu(cpu) => spans::of_cpu(recording, people, *cpu, range, most)?,
        Lane::Disk(disk) => spans::of_disk(recording, (*disk, None), range, most)?,
        Lane::DiskPart(disk, part) => spans::of_disk(recording, (*disk, Some(*part)), range, most)?,
        Lane::Event(number) => {
            let (provider, event) = kinds(state, recording)?.get(*number).ok_or_else(missing)?;
            spans::of_event(recording, (provider, event), range, most)?
        }
        Lane::Rows(What::Gc(process)) => spans::of_collections(recording, *process, range, most)?,
        Lane::Rows(What::Jit(process)) => spans::of_compilations(recording, *process, range, most)?,
        Lane::Marks => spans::of_marks(recording, range, most)?,
        Lane::Region(path) => regions::pieces(state, recording, path, (range, most))?,
        _ => return Err(Failure::bad(format!("lane: `{lane}` has no single spans"))),
    })
}

/// The names of spans, each once.
#[derive(Default)]
struct Names {
    all: Vec<String>,
    places: rustc_hash::FxHashMap<String, usize>,
}

impl Names {
    fn place(&mut self, name: String) -> f64 {
        let next = self.all.len();
        let place = *self.places.entry(name).or_insert_with_key(|name| {
            self.all.push(name.clone());
            next
        });
        place as f64
    }
}

fn framed(lane: &Lane, found: &Pieces, kinds: &Kinds, people: &People, range: Span) -> Result<Vec<u8>, Failure> {
    let series = ["start", "end", "state", "cpu", "thread", "process", "bytes", "name", "kind"];
    let words = command(lane, people, range);
    let kind_words = WaitKind::ALL.map(WaitKind::word);
    if found.is_full {
        let head = json!({ "lane": lane.to_string(), "count": null, "more": true, "series": series, "states": STATES,
            "kinds": kind_words, "names": [], "words": words });
        return frame(head, &[]);
    }
    let mut names = Names::default();
    let known = |value: Option<i64>| value.map_or(f64::NAN, number);
    let column = |of: &dyn Fn(&Piece) -> f64| found.all.iter().map(of).collect::<Vec<f64>>();
    let mut columns = vec![
        column(&|piece| number(piece.span.start)),
        column(&|piece| number(piece.span.end)),
        column(&|piece| piece.state as f64),
        column(&|piece| known(piece.cpu.map(i64::from))),
        column(&|piece| known(piece.thread.map(|id| id.0.into()))),
        column(&|piece| known(piece.process.map(|id| id.0.into()))),
        column(&|piece| known(piece.bytes)),
    ];
    let name = |piece: &Piece| {
        let thread = || people.thread_name(piece.thread?);
        let process = || people.process_name(piece.process?);
        let name = piece.text.clone().or_else(thread).or_else(process);
        name.map_or(f64::NAN, |name| names.place(name))
    };
    columns.push(found.all.iter().map(name).collect());
    let kind = |piece: &Piece| {
        let kind = kinds.get(&(piece.thread.filter(|_| piece.state == spans::WAIT)?, piece.span.start))?;
        WaitKind::ALL.iter().position(|known| known == kind)
    };
    columns.push(found.all.iter().map(|piece| kind(piece).map_or(f64::NAN, |place| place as f64)).collect());
    let head = json!({ "lane": lane.to_string(), "count": found.all.len(), "more": false, "series": series,
        "states": STATES, "kinds": kind_words, "names": names.all, "words": words });
    frame(head, &columns)
}

/// The command that shows such spans one by one, or adds them up.
fn command(lane: &Lane, people: &People, range: Span) -> Vec<String> {
    let all = Grid::columns(range, 1);
    let time = time_option(range.start, range.end);
    match lane {
        Lane::Thread(thread) => {
            let pid = people.thread(*thread).and_then(|row| people.process(row.process)).map(|process| process.pid);
            waits(pid.unwrap_or_default(), range)
        }
        Lane::Cpu(_) => words("cpu", Measure::Run, all, &[]),
        Lane::Disk(_) => words("disk", Measure::Operations, all, &[]),
        Lane::DiskPart(_, DiskPart::Read) => words("disk", Measure::Reads, all, &[]),
        Lane::DiskPart(_, DiskPart::Write) => words("disk", Measure::Writes, all, &[]),
        Lane::DiskPart(..) => words("disk", Measure::Operations, all, &[]),
        Lane::Event(_) => words("event", Measure::Count, all, &[]),
        Lane::Region(path) => {
            ["dump", "regions", "--list", "--region", &exact(path), &time].map(str::to_owned).to_vec()
        }
        Lane::Rows(What::Gc(process)) => of_process("gc", *process, people, &time),
        Lane::Rows(What::Jit(process)) => of_process("jit", *process, people, &time),
        _ => ["dump", "mark", &time].map(str::to_owned).to_vec(),
    }
}

/// A question about a process.
fn of_process(question: &str, process: ProcessId, people: &People, time: &str) -> Vec<String> {
    let pid = people.process(process).map(|process| process.pid.to_string()).unwrap_or_default();
    ["dump", question, "-p", &pid, time].map(str::to_owned).to_vec()
}

/// The command that has the waits of a process in a range.
pub(crate) fn waits(pid: i64, range: Span) -> Vec<String> {
    let (pid, time) = (pid.to_string(), time_option(range.start, range.end));
    ["dump", "waits", "-p", &pid, &time, "--top", "1000"].map(str::to_owned).to_vec()
}
