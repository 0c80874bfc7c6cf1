//! The figures of lanes of one kind.

use rustc_hash::{FxHashMap, FxHashSet};
use tracesift_analysis::timeline::Grid;
use tracesift_ask::question::timeline::{Chosen, LaneKind, Measure, Question, STATES, Series, Way, series};
use tracesift_ask::recording::OpenRecording;

use super::columns::Figures;
use super::density::{self, What};
use super::people::People;
use super::{Group, Lane, machine, peaks, regions, top};
use crate::failure::Failure;
use crate::state::State;

/// The figures of lanes, all of one kind.
pub(crate) fn figures(
    state: &State,
    recording: &OpenRecording,
    lanes: &[Lane],
    measure: Option<Measure>,
    grid: Grid,
) -> Result<FxHashMap<Lane, Figures>, Failure> {
    match lanes.first() {
        Some(Lane::Process(_)) => {
            let ids = lanes.iter().filter_map(|lane| if let Lane::Process(id) = lane { Some(*id) } else { None });
            let ids: FxHashSet<_> = ids.collect();
            of_people(recording, &Chosen::Processes(ids), measure, grid)
        }
        Some(Lane::Thread(_)) => {
            let ids = lanes.iter().filter_map(|lane| if let Lane::Thread(id) = lane { Some(*id) } else { None });
            let ids: FxHashSet<_> = ids.collect();
            of_people(recording, &Chosen::Threads(ids), measure, grid)
        }
        Some(Lane::Cpu(_)) if matches!(measure, None | Some(Measure::Run)) && top::is_quick(recording, grid)? => {
            let cpus = lanes.iter().filter_map(|lane| if let Lane::Cpu(cpu) = lane { Some(*cpu) } else { None });
            let figures = top::figures(recording, &cpus.collect(), grid)?;
            let mut all = figures.into_iter().map(|(cpu, figures)| (Lane::Cpu(cpu), figures)).collect();
            let question = Question { lane: LaneKind::Cpu, measure: Some(Measure::Run), ..Question::default() };
            peaks::add(recording, &question, grid, &mut all)?;
            Ok(all)
        }
        Some(Lane::Region(_)) => regions::figures(state, recording, lanes, measure, grid),
        Some(Lane::Rows(what)) => rows(recording, *what, measure, grid),
        Some(Lane::Group(Group::Files)) => group(recording, (Group::Files, What::Files), measure, grid),
        Some(Lane::Group(Group::Network)) => group(recording, (Group::Network, What::Network), measure, grid),
        Some(Lane::Group(Group::Memory)) => group(recording, (Group::Memory, What::Memory), measure, grid),
        _ => machine::figures(state, recording, lanes, measure, grid),
    }
}

/// The figures of rows of a table.
fn rows(
    recording: &OpenRecording,
    what: What,
    measure: Option<Measure>,
    grid: Grid,
) -> Result<FxHashMap<Lane, Figures>, Failure> {
    let people = People::of(recording)?;
    let is_there = match what {
        What::Gc(process) | What::Jit(process) => people.process(process).is_some(),
        _ => true,
    };
    if !is_there || !what.is_in(recording) {
        return Err(Failure::missing(format!("lane: the recording has nothing for `{}`", Lane::Rows(what))));
    }
    let figures = density::figures(recording, &people, what, measure, grid)?;
    Ok(FxHashMap::from_iter([(Lane::Rows(what), figures)]))
}

/// The same under the name of its group.
fn group(
    recording: &OpenRecording,
    (group, what): (Group, What),
    measure: Option<Measure>,
    grid: Grid,
) -> Result<FxHashMap<Lane, Figures>, Failure> {
    let figures = rows(recording, what, measure, grid)?.remove(&Lane::Rows(what));
    Ok(figures.into_iter().map(|figures| (Lane::Group(group), figures)).collect())
}

/// What is shown of processes and threads: the states of one reading, or one measure.
fn shown(recording: &OpenRecording, measure: Option<Measure>) -> Vec<Measure> {
    let has_switches = recording.info().has_switches;
    match measure {
        None if has_switches => STATES.to_vec(),
        None => vec![Measure::Cpu],
        Some(measure) if STATES.contains(&measure) => STATES.to_vec(),
        Some(measure) => vec![measure],
    }
}

fn of_people(
    recording: &OpenRecording,
    chosen: &Chosen,
    measure: Option<Measure>,
    grid: Grid,
) -> Result<FxHashMap<Lane, Figures>, Failure> {
    let people = People::of(recording)?;
    let measures = shown(recording, measure);
    let lane = match chosen {
        Chosen::Processes(_) => LaneKind::Process,
        Chosen::Threads(_) => LaneKind::Thread,
    };
    // A clock rate is no sum, and each counter has a row of its own: such figures are no series of a process.
    let is_series =
        |measure: &Measure| !matches!(measure, Measure::Frequency | Measure::Counter) && measure.is_of(lane);
    if let Some(wrong) = measures.iter().find(|measure| !is_series(measure)) {
        return Err(Failure::bad(format!("measure: such lanes have no `{}`", wrong.word())));
    }
    let found = series(recording, chosen, &measures, grid, Way::Usual)?;
    let found = found.ok_or_else(|| Failure::bad("columns: too many for so many lanes"))?;
    if let Some(measure) = found.absent.first().and_then(|place| measures.get(*place)) {
        return Err(Failure::missing(format!("measure: the recording has nothing for `{}`", measure.word())));
    }
    let mut all = FxHashMap::default();
    match chosen {
        Chosen::Processes(ids) => {
            for process in ids.iter().filter_map(|id| people.process(*id)) {
                let pid = pid_word(process.pid);
                let figures = figures_of(&found, process.process.0, &measures, grid, |measure| {
                    machine::words("process", measure, grid, &["-p", &pid])
                });
                all.insert(Lane::Process(process.process), figures);
            }
            if let Some(measure) = measures.iter().find(|measure| matches!(measure, Measure::Run | Measure::Cpu)) {
                let question = Question { measure: Some(*measure), ..Question::default() };
                peaks::add(recording, &question, grid, &mut all)?;
            }
        }
        Chosen::Threads(ids) => {
            for thread in ids.iter().filter_map(|id| people.thread(*id)) {
                let pid = people.process(thread.process).map(|process| pid_word(process.pid)).unwrap_or_default();
                let figures = figures_of(&found, thread.thread.0, &measures, grid, |measure| {
                    machine::words("thread", measure, grid, &["-p", &pid])
                });
                all.insert(Lane::Thread(thread.thread), figures);
            }
        }
    }
    Ok(all)
}

/// A process id as `-p` takes it: a number below 0 would be an option.
pub(crate) fn pid_word(pid: i64) -> String {
    if pid < 0 { format!("*({pid})") } else { pid.to_string() }
}

fn figures_of(
    found: &Series,
    lane: i32,
    measures: &[Measure],
    grid: Grid,
    words: impl Fn(Measure) -> Vec<String>,
) -> Figures {
    let nothing = || vec![0; grid.buckets()];
    let values = |place: usize| found.lanes.get(&(lane, place)).cloned().unwrap_or_else(nothing);
    Figures {
        is_from_tables: found.is_from_tables,
        at_once: found.at_once,
        unit: measures.first().map_or("value", |measure| machine::unit(*measure)),
        series: measures.iter().enumerate().map(|(place, measure)| (measure.word(), values(place))).collect(),
        words: measures.iter().map(|measure| (measure.word(), words(*measure))).collect(),
        peak: None,
    }
}
