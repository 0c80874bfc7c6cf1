//! The history of a test case: its segments, what changed between them, and how the last runs stand.

use tracesift_statistics::outliers::outliers;
use tracesift_statistics::robust::median;
use tracesift_statistics::{Problem, Verdict, seed_of};

use super::events::{self, Event};
use super::place::{self, Change};
use super::series::{self, Kind, Series};
use crate::compare::Settings;
use crate::compare::apart::parts_apart;
use crate::compare::case::{Case, is_hardly_known};
use crate::compare::figures::ComparedFigure;
use crate::compare::run::Run;
use crate::compare::units::Units;

/// The rows of a change compare at most so many runs on either side, those nearest to it: more tell nothing more of it.
pub const NEAR: usize = 20;

/// The last runs, which are compared with those of their segment before them.
pub const LATEST: usize = 5;

/// With fewer runs before them they are not.
const FEWEST_BEFORE: usize = 4;

/// The history of a test case.
#[derive(Debug)]
pub struct CaseHistory {
    /// Its name.
    pub name: String,
    /// Its runs in their order.
    pub runs: Vec<Run>,
    /// The figures in which changes were looked for.
    pub series: Vec<Series>,
    /// The runs between changes, in their order. There is one at least.
    pub segments: Vec<Segment>,
    /// The changes, each between two segments.
    pub turns: Vec<Turn>,
    /// Builds and facts that changed from any run to the next.
    pub events: Vec<Event>,
    /// Runs that stand apart from the others of their segment.
    pub outliers: Vec<Outlier>,
    /// How the last runs stand; `None`: there are too few since the last change.
    pub latest: Option<Latest>,
}

/// Runs between two changes.
#[derive(Clone, Debug, PartialEq)]
pub struct Segment {
    /// Its first run, by place.
    pub first: usize,
    /// The run behind its last one.
    pub end: usize,
    /// The median duration, ns.
    pub duration: f64,
    /// The median of the undisturbed time, ns.
    pub undisturbed: f64,
    /// The median CPU time of the test, ns, where all runs of the case tell it.
    pub cpu: Option<f64>,
}

/// A change.
#[derive(Debug)]
pub struct Turn {
    /// The first run after it, by place.
    pub place: usize,
    /// The earliest and the latest possible place, as the figures tell it.
    pub between: (usize, usize),
    /// Whether the place is that of the only build or fact that changed between these.
    pub is_at_event: bool,
    /// The series that tell of it, each with its change point, by their places.
    pub seen: Vec<(usize, usize)>,
    /// Duration, undisturbed time and CPU time (where all runs tell it) of the segments before and after.
    pub figures: Vec<ComparedFigure>,
    /// Builds and facts that changed at one of the possible places.
    pub events: Vec<Event>,
    /// The runs next to it, compared: whether they can be, and the rows of the difference.
    pub near: Case,
}

/// A run that stands apart from its segment.
#[derive(Clone, Debug, PartialEq)]
pub struct Outlier {
    /// The run, by place.
    pub place: usize,
    /// Its duration against the median of its segment, as a ratio: 0.3 is 30 % longer.
    pub change: f64,
    /// The rows in which it exceeds the others most.
    pub parts: Vec<String>,
}

/// The last runs against those of their segment before them.
#[derive(Debug)]
pub struct Latest {
    /// The first of the last runs, by place.
    pub place: usize,
    /// Runs of the segment before them.
    pub before: usize,
    /// Duration, undisturbed time and CPU time (where all runs tell it).
    pub figures: Vec<ComparedFigure>,
}

impl CaseHistory {
    /// That of runs in their order.
    ///
    /// # Errors
    /// The numbers cannot be compared: see [`Problem`].
    pub fn of(name: String, runs: Vec<Run>, settings: &Settings) -> Result<Self, Problem> {
        let ids: Vec<&str> = runs.iter().map(|run| run.id.as_str()).collect();
        let seed = settings.seed.unwrap_or_else(|| seed_of(&ids));
        let series = series::of(&runs, settings.least, seed)?;
        let placed = placed(&runs, place::changes(&series));
        let mut ends: Vec<usize> = placed.iter().map(|(change, ..)| change.place).collect();
        ends.push(runs.len());
        let mut first = 0;
        let mut segments = Vec::new();
        for end in ends {
            segments.push(segment(&runs, &series, first, end));
            first = end;
        }
        let mut turns = Vec::new();
        for ((change, is_at_event, events), pair) in placed.into_iter().zip(segments.windows(2)) {
            turns.push(turn(&runs, change, is_at_event, events, [&pair[0], &pair[1]], settings)?);
        }
        let events = events::between(&runs, (1, runs.len()));
        let outliers = segments.iter().flat_map(|segment| apart(&runs, segment)).collect();
        let latest = segments.last().map(|segment| latest(&runs, segment, settings)).transpose()?.flatten();
        Ok(Self { name, runs, series, segments, turns, events, outliers, latest })
    }
}

/// The changes with the builds and facts that changed there. A change is put where the only one of these is.
fn placed(runs: &[Run], changes: Vec<Change>) -> Vec<(Change, bool, Vec<Event>)> {
    let mut placed: Vec<(Change, bool, Vec<Event>)> = Vec::new();
    for mut change in changes {
        let events = events::between(runs, change.between);
        let before = placed.last().map_or(0, |(change, ..)| change.place);
        let only = events::only_place(&events).filter(|place| *place > before && *place < runs.len());
        change.place = only.unwrap_or(change.place);
        // Two changes that one build explains are one.
        match placed.last_mut().filter(|(last, ..)| last.place >= change.place) {
            Some((last, ..)) => last.seen.extend(change.seen),
            None => placed.push((change, only.is_some(), events)),
        }
    }
    placed
}

fn segment(runs: &[Run], series: &[Series], first: usize, end: usize) -> Segment {
    let of = |value: &dyn Fn(usize) -> i64| {
        median(&(first..end).map(|place| value(place) as f64).collect::<Vec<_>>()).unwrap_or(0.0)
    };
    let cpu = series.iter().find(|series| series.kind == Kind::Cpu);
    Segment {
        first,
        end,
        duration: of(&|place| runs[place].duration()),
        undisturbed: of(&|place| runs[place].undisturbed()),
        cpu: cpu.map(|series| of(&|place| series.values[place])),
    }
}

/// The figures of the runs before `split` and of the others.
fn figures(runs: &[Run], split: usize, settings: &Settings) -> Result<Vec<ComparedFigure>, Problem> {
    let units = Units::of(runs, split, settings)?;
    let figure = |name, values: Vec<i64>| ComparedFigure::of(name, &units, &values, split, settings);
    let mut figures = vec![
        figure("duration", runs.iter().map(Run::duration).collect())?,
        figure("undisturbed", runs.iter().map(Run::undisturbed).collect())?,
    ];
    if is_hardly_known(runs) {
        figures[1].verdict = Verdict::Undecided;
    }
    if let Some(values) = series::cpu(runs) {
        figures.push(figure("cpu", values)?);
    }
    Ok(figures)
}

fn turn(
    runs: &[Run],
    change: Change,
    is_at_event: bool,
    events: Vec<Event>,
    segments: [&Segment; 2],
    settings: &Settings,
) -> Result<Turn, Problem> {
    let Change { place, between, seen } = change;
    let [before, after] = segments;
    let figures = figures(&runs[before.first..after.end], place - before.first, settings)?;
    let near = [
        runs[before.first.max(place.saturating_sub(NEAR))..place].to_vec(),
        runs[place..after.end.min(place + NEAR)].to_vec(),
    ];
    let labels = ["before".to_owned(), "after".to_owned()];
    // What changed is the machine as often as the test: the runs are compared all the same, and the answer says it.
    let near = Case::of(String::new(), near, labels, &Settings { force: true, ..settings.clone() })?;
    Ok(Turn { place, between, is_at_event, seen, figures, events, near })
}

fn apart(runs: &[Run], segment: &Segment) -> Vec<Outlier> {
    let of_segment = &runs[segment.first..segment.end];
    let values: Vec<f64> = of_segment.iter().map(|run| run.duration() as f64).collect();
    let outlier = |place: usize| Outlier {
        place: segment.first + place,
        change: if segment.duration > 0.0 { values[place] / segment.duration - 1.0 } else { 0.0 },
        parts: parts_apart(&of_segment[place], of_segment),
    };
    outliers(&values).into_iter().map(outlier).collect()
}

fn latest(runs: &[Run], segment: &Segment, settings: &Settings) -> Result<Option<Latest>, Problem> {
    let count = segment.end - segment.first;
    if count < FEWEST_BEFORE + LATEST {
        return Ok(None);
    }
    let before = count - LATEST;
    let figures = figures(&runs[segment.first..segment.end], before, settings)?;
    Ok(Some(Latest { place: segment.end - LATEST, before, figures }))
}
