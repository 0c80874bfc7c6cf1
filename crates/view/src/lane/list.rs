//! `lanes`: the tree of lanes with their totals.

use std::sync::Arc;

use axum::extract::State as Shared;
use axum::http::{HeaderMap, StatusCode, Uri};
use axum::response::Response;
use serde_json::{Value, json};
use tracesift_analysis::Span;
use tracesift_analysis::timeline::Grid;
use tracesift_archive::Watch;
use tracesift_ask::question::timeline::{self, LaneKind, Measure, Question};
use tracesift_ask::recording::OpenRecording;
use tracesift_extract::counters::are_there;
use tracesift_trace::rows::{
    CpuFrequencyRow, CpuSampleRow, DiskIoRow, EventRow, GcCollectionRow, JitMethodRow, MarkRow,
};

use super::columns::recorded;
use super::density::{self, What};
use super::people::People;
use super::totals::{self, Entry, Order, Totals, of_processes};
use super::{Group, Lane, disks, machine, regions};
use crate::failure::{self, Failure};
use crate::query::Parameters;
use crate::recording::{Opened, place};
use crate::state::State;
use crate::work;

/// Lanes of an answer, at most.
const MOST: usize = 500;

/// Samples that are read for what each CPU has in all, at most, where its run time says as much.
const MOST_SAMPLES: u64 = 4_000_000;

pub(crate) async fn respond(
    Shared(state): Shared<Arc<State>>,
    headers: HeaderMap,
    uri: Uri,
) -> Result<Response, Failure> {
    let query = Parameters::of(&uri, &["of", "parent", "ids", "sort", "from", "time"])?;
    let at = place(query.needed("of")?, &state.recordings)?;
    let parent = query.get("parent").map(Lane::parse).transpose()?;
    let ids = query.get("ids").map(|ids| ids.split(',').map(Lane::parse).collect::<Result<Vec<_>, _>>()).transpose()?;
    if ids.as_ref().is_some_and(|ids| parent.is_some() || ids.len() > MOST) {
        return Err(Failure::bad(format!("ids: without a parent, and at most {MOST}")));
    }
    let order = query.get("sort").map(Order::parse).transpose()?;
    let from: usize = match query.get("from") {
        Some(from) => from.parse().map_err(|_| Failure::bad("from: it is no number"))?,
        None => 0,
    };
    let time = query.get("time").map(time).transpose()?;
    let turn = work::turn(&state, &headers).await?;
    let (answer, _) = work::done(turn, move |watch| {
        let opened = state.opened(at)?;
        let mut entries = match &ids {
            Some(ids) => chosen(&state, opened, watch, (ids, time))?,
            None => entries(&state, opened, watch, (parent, time))?,
        };
        if let Some(order) = order {
            order.sort(&mut entries);
        }
        let total = entries.len();
        let shown: Vec<Value> = entries.iter().skip(from).take(MOST).map(Entry::json).collect();
        Ok(json!({ "total": total, "from": from, "lanes": shown }))
    })
    .await?;
    Ok(failure::json(StatusCode::OK, &answer))
}

/// `a..b`, ns.
fn time(text: &str) -> Result<Span, Failure> {
    let wrong = || Failure::bad("time: it is no range of ns such as 1000..2000");
    let (start, end) = text.split_once("..").ok_or_else(wrong)?;
    let (start, end) = (start.parse().map_err(|_| wrong())?, end.parse().map_err(|_| wrong())?);
    if start < end { Ok(Span::new(start, end)) } else { Err(wrong()) }
}

/// The lanes below another, or the groups.
pub(crate) fn entries(
    state: &State,
    opened: &Opened,
    watch: &Watch,
    (parent, time): (Option<Lane>, Option<Span>),
) -> Result<Vec<Entry>, Failure> {
    let recording = opened.watched_by(watch)?;
    let make = || made(state, opened, &recording, (parent.as_ref(), time));
    match (&parent, time) {
        (Some(of @ Lane::Group(Group::Processes | Group::Cpus)), None) => opened.lists.get(of, make),
        _ => make(),
    }
}

fn made(
    state: &State,
    opened: &Opened,
    recording: &OpenRecording,
    (parent, time): (Option<&Lane>, Option<Span>),
) -> Result<Vec<Entry>, Failure> {
    let range = time.map_or(recorded(recording), |time| time.intersect(recorded(recording)));
    let all = Grid::columns(range, 1);
    Ok(match parent {
        None => groups(opened, recording),
        Some(Lane::Group(Group::Processes)) => of_processes(recording, &People::of(recording)?, all)?,
        Some(Lane::Process(process)) => {
            let people = People::of(recording)?;
            let found = match time {
                None => opened.threads.get(|| totals::of_all_threads(recording, &people, all))?,
                Some(_) => totals::of_threads(recording, &people, *process, all)?,
            };
            let mut entries = totals::threads(recording, &people, *process, &found)?;
            for what in [What::Gc(*process), What::Jit(*process)] {
                let is_there = density::processes(recording, what == What::Gc(*process))?.contains(process);
                entries.extend(is_there.then(|| of_rows(what)));
            }
            entries
        }
        Some(Lane::Group(group @ (Group::Files | Group::Network | Group::Memory))) => tables(recording, *group),
        Some(Lane::Group(group @ (Group::Gc | Group::Jit))) => managed(recording, *group == Group::Gc)?,
        Some(Lane::Group(Group::Regions)) => regions::list(state, recording, all)?,
        Some(Lane::Group(Group::Cpus)) => cpus(recording, all)?,
        Some(Lane::Group(Group::Disks)) => disks::list(recording, all)?,
        Some(Lane::Disk(disk)) => disks::parts(recording, *disk, all)?,
        Some(Lane::Group(Group::Events)) => events(state, recording, all)?,
        Some(Lane::Group(Group::Marks)) => {
            let count = i64::try_from(recording.archive().row_count::<MarkRow>()).unwrap_or(i64::MAX);
            vec![Entry::new(Lane::Marks, "mark", "Marks").with(Totals { count: Some(count), ..Totals::default() })]
        }
        Some(Lane::Group(Group::Frequencies)) => frequencies(recording, all)?,
        Some(Lane::Group(Group::Counters)) => counters(recording, all)?,
        Some(Lane::Group(Group::Tags)) => state
            .tag_files
            .iter()
            .map(|file| Entry::new(Lane::TagFile(file.id.clone()), "group", &file.name).with_children())
            .collect(),
        Some(Lane::TagFile(file)) => tags(state, recording, file, all)?,
        Some(_) => Vec::new(),
    })
}

/// These lanes, each with the lanes above it.
fn chosen(
    state: &State,
    opened: &Opened,
    watch: &Watch,
    (ids, time): (&[Lane], Option<Span>),
) -> Result<Vec<Entry>, Failure> {
    let people = People::of(&opened.watched_by(watch)?)?;
    let mut known: Vec<(Option<Lane>, Vec<Entry>)> = Vec::new();
    let mut found = Vec::new();
    for id in ids {
        let path = id.path(&people);
        let parent = path.last().cloned();
        if !known.iter().any(|(of, _)| *of == parent) {
            known.push((parent.clone(), entries(state, opened, watch, (parent.clone(), time))?));
        }
        let below = known.iter().find(|(of, _)| *of == parent).map(|(_, below)| below);
        let entry = below.and_then(|below| below.iter().find(|entry| entry.lane == *id));
        found.extend(entry.map(|entry| entry.clone().with_path(path)));
    }
    Ok(found)
}

/// The groups that a recording has.
fn groups(opened: &Opened, recording: &OpenRecording) -> Vec<Entry> {
    let archive = recording.archive();
    let has = |group: Group| match group {
        Group::Processes => true,
        Group::Cpus => recording.file.has_samples || recording.info().has_switches,
        Group::Disks => archive.row_count::<DiskIoRow>() > 0,
        Group::Events => archive.row_count::<EventRow>() > 0,
        Group::Marks => archive.row_count::<MarkRow>() > 0,
        Group::Frequencies => archive.row_count::<CpuFrequencyRow>() > 0,
        Group::Counters => are_there(archive),
        Group::Tags => recording.file.has_samples,
        Group::Files | Group::Network | Group::Memory => !tables(recording, group).is_empty(),
        Group::Gc => archive.row_count::<GcCollectionRow>() > 0,
        Group::Jit => archive.row_count::<JitMethodRow>() > 0,
        Group::Regions => regions::may_be(opened, recording),
    };
    let shown = Group::ALL.into_iter().filter(|group| has(*group));
    shown.map(|group| Entry::new(Lane::Group(group), "group", group.name()).with_children()).collect()
}

/// A lane of rows of a table.
fn of_rows(what: What) -> Entry {
    let measures = what.measures().iter().map(|measure| measure.word()).collect();
    Entry::new(Lane::Rows(what), what.id().0, what.name()).with_measures(measures)
}

/// The lanes of the machine that a group has.
fn tables(recording: &OpenRecording, group: Group) -> Vec<Entry> {
    let all: &[What] = match group {
        Group::Files => &[What::Files, What::Syscalls],
        Group::Network => &[What::Network],
        _ => &[What::Memory, What::Faults],
    };
    all.iter().filter(|what| what.is_in(recording)).map(|what| of_rows(*what)).collect()
}

/// The lanes of processes with a runtime of .NET.
fn managed(recording: &OpenRecording, is_gc: bool) -> Result<Vec<Entry>, Failure> {
    let people = People::of(recording)?;
    let lane = |process| if is_gc { What::Gc(process) } else { What::Jit(process) };
    let entry = |process| {
        let name = people.process_name(process).unwrap_or_default();
        of_rows(lane(process)).named(name)
    };
    Ok(density::processes(recording, is_gc)?.into_iter().map(entry).collect())
}

/// The lanes of a question, by its rows.
pub(crate) fn rows(
    recording: &OpenRecording,
    lane: LaneKind,
    measure: Measure,
    all: Grid,
) -> Result<Vec<timeline::Row>, Failure> {
    let question = Question { lane, measure: Some(measure), ..Question::default() };
    Ok(machine::rows(question, recording, all)?.unwrap_or_default())
}

fn cpus(recording: &OpenRecording, all: Grid) -> Result<Vec<Entry>, Failure> {
    let measures = [(recording.info().has_switches, Measure::Run), (recording.file.has_samples, Measure::Cpu)];
    let mut cpus: Vec<i16> = (0..i16::try_from(recording.info().cpu_count).unwrap_or(i16::MAX)).collect();
    let mut totals: Vec<(i16, Measure, i64)> = Vec::new();
    // No table has samples by CPU.
    let are_few = recording.archive().row_count::<CpuSampleRow>() <= MOST_SAMPLES;
    let [(switches, _), (has_samples, _)] = measures;
    let samples = has_samples && (are_few || !switches);
    for (_, measure) in measures.iter().filter(|(has, measure)| *has && (*measure == Measure::Run || samples)) {
        for row in rows(recording, LaneKind::Cpu, *measure, all)? {
            if let timeline::Lane::Cpu(cpu) = row.lane() {
                totals.push((*cpu, *measure, row.total()));
            }
        }
    }
    cpus.extend(totals.iter().map(|(cpu, ..)| *cpu));
    cpus.sort_unstable();
    cpus.dedup();
    let total = |cpu: i16, of: Measure, has: bool| {
        let found = totals.iter().find(|(known, measure, _)| *known == cpu && *measure == of);
        has.then(|| found.map_or(0, |(.., total)| *total))
    };
    let entry = |cpu: i16| {
        let totals = Totals {
            run: total(cpu, Measure::Run, switches),
            cpu: total(cpu, Measure::Cpu, samples),
            ..Totals::default()
        };
        let name = if cpu < 0 { "unknown CPU".to_owned() } else { format!("CPU {cpu}") };
        let given = measures.iter().filter(|(has, _)| *has).map(|(_, measure)| measure.word());
        Entry::new(Lane::Cpu(cpu), "cpu", &name).with(totals).with_measures(given.collect())
    };
    Ok(cpus.into_iter().map(entry).collect())
}

fn events(state: &State, recording: &OpenRecording, all: Grid) -> Result<Vec<Entry>, Failure> {
    let rows = rows(recording, LaneKind::Event, Measure::Count, all)?;
    let entry = |(number, (provider, event)): (usize, &(String, String))| {
        let is_it = |row: &&timeline::Row| matches!(row.lane(), timeline::Lane::Event(of, name) if of == provider && name == event);
        let count = rows.iter().find(is_it).map_or(0, timeline::Row::total);
        Entry::new(Lane::Event(number), "event", &format!("{provider} {event}"))
            .with(Totals { count: Some(count), ..Totals::default() })
            .with_measures(vec!["count"])
    };
    Ok(kinds(state, recording)?.iter().enumerate().map(entry).collect())
}

/// The kinds of events of a recording, in the order of provider and name: their places are their numbers.
pub(crate) fn kinds<'a>(state: &'a State, recording: &OpenRecording) -> Result<&'a [(String, String)], Failure> {
    let opened = state.opened_of(recording)?;
    if let Some(kinds) = opened.kinds.get() {
        return Ok(kinds);
    }
    let rows = rows(recording, LaneKind::Event, Measure::Count, Grid::columns(recorded(recording), 1))?;
    let name = |row: &timeline::Row| match row.lane() {
        timeline::Lane::Event(provider, event) => Some((provider.clone(), event.clone())),
        _ => None,
    };
    let mut kinds: Vec<(String, String)> = rows.iter().filter_map(name).collect();
    kinds.sort();
    Ok(opened.kinds.get_or_init(|| kinds))
}

fn frequencies(recording: &OpenRecording, all: Grid) -> Result<Vec<Entry>, Failure> {
    let rows = rows(recording, LaneKind::Cpu, Measure::Frequency, all)?;
    let mut cpus: Vec<i16> = rows
        .iter()
        .filter_map(|row| if let timeline::Lane::Cpu(cpu) = row.lane() { Some(*cpu) } else { None })
        .collect();
    cpus.sort_unstable();
    let entry = |cpu: i16| {
        Entry::new(Lane::Frequency(cpu), "frequency", &format!("CPU {cpu}")).with_measures(vec!["frequency"])
    };
    Ok(cpus.into_iter().map(entry).collect())
}

fn counters(recording: &OpenRecording, all: Grid) -> Result<Vec<Entry>, Failure> {
    let mut sums: std::collections::BTreeMap<String, i64> = std::collections::BTreeMap::new();
    for row in rows(recording, LaneKind::Process, Measure::Counter, all)? {
        if let Some(name) = row.counter() {
            let sum = sums.entry(name.to_owned()).or_default();
            *sum = sum.saturating_add(row.total());
        }
    }
    let entry = |(name, sum): (String, i64)| {
        let totals = Totals { count: Some(sum), ..Totals::default() };
        Entry::new(Lane::Counter(name.clone()), "counter", &name).with(totals).with_measures(vec!["counter"])
    };
    Ok(sums.into_iter().map(entry).collect())
}

fn tags(state: &State, recording: &OpenRecording, file: &str, all: Grid) -> Result<Vec<Entry>, Failure> {
    let tags = machine::tags(state, file)?.tags.clone();
    let question =
        Question { lane: LaneKind::Tag, measure: Some(Measure::Cpu), tags: Some(tags), ..Question::default() };
    let rows = machine::rows(question, recording, all)?.unwrap_or_default();
    let entry = |row: &timeline::Row| {
        let timeline::Lane::Tag(tag) = row.lane() else { return None };
        let totals = Totals { cpu: Some(row.total()), ..Totals::default() };
        let lane = Lane::Tag(file.to_owned(), tag.clone());
        Some(Entry::new(lane, "tag", tag).with(totals).with_measures(vec!["cpu", "samples"]))
    };
    let mut entries: Vec<Entry> = rows.iter().filter_map(entry).collect();
    Order::Cpu.sort(&mut entries);
    Ok(entries)
}
