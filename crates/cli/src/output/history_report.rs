//! A history as what a report is made of.

use tracesift_ask::compare::Verdict;
use tracesift_ask::compare::figures::ComparedFigure;
use tracesift_ask::history::series::Kind;
use tracesift_ask::history::{CaseHistory, Event, History, Latest, Series, Turn};
use tracesift_report::model::difference::Figure;
use tracesift_report::model::history as model;

use super::comparison::{percent, verdict_word};
use super::comparison_report::{of_figure, of_shown};
use super::history::{counted, date, is_told};

/// The page.
pub(crate) fn text(history: &History) -> String {
    tracesift_report::history_page(&report(history))
}

fn report(history: &History) -> model::History {
    let mut notes = Vec::new();
    notes.extend(history.failed.iter().map(|name| format!("Left out, because the test failed: {name}.")));
    let nowhere = |name| format!("Left out, because nothing tells its place in the order: {name}.");
    notes.extend(history.without_place.iter().map(nowhere));
    notes.extend(history.failures.iter().map(|failure| format!("Left out: {}.", failure.reason)));
    model::History {
        tool_version: env!("CARGO_PKG_VERSION").to_owned(),
        cases: history.cases.iter().map(of_case).collect(),
        notes,
    }
}

fn of_case(case: &CaseHistory) -> model::Case {
    let figures = || case.turns.iter().flat_map(|turn| &turn.figures);
    let figures = figures().chain(case.latest.iter().flat_map(|latest| &latest.figures));
    let level = figures.map(|figure| figure.comparison.confidence.level()).next();
    model::Case {
        name: case.name.clone(),
        sentence: sentence(case),
        verdict: case
            .turns
            .last()
            .map_or("same", |turn| verdict_word(leading(turn).map_or(Verdict::Same, |of| of.verdict))),
        confidence: level.unwrap_or(0.95),
        runs: of_runs(case),
        segments: case
            .segments
            .iter()
            .map(|of| model::Segment {
                first: of.first,
                end: of.end,
                medians: [Some(of.duration), Some(of.undisturbed), of.cpu],
            })
            .collect(),
        changes: case.turns.iter().map(|turn| of_turn(case, turn)).collect(),
        events: case.events.iter().map(of_event).collect(),
        outliers: case
            .outliers
            .iter()
            .map(|of| model::Outlier { run: of.place, change: of.change, parts: of.parts.clone() })
            .collect(),
        latest: case.latest.as_ref().map(|Latest { place, before, figures }| model::Latest {
            run: *place,
            before: *before,
            figures: of_figures(figures),
        }),
        series: case.series.iter().map(of_series).collect(),
    }
}

/// How many changes there are, and the last one.
fn sentence(case: &CaseHistory) -> String {
    let runs = counted(case.runs.len(), "run");
    let Some(last) = case.turns.last() else { return format!("No change in {runs}.") };
    let changes = counted(case.turns.len(), "change");
    let when = case.runs.get(last.place).map_or_else(String::new, |run| format!(", {}", date(run)));
    let figure = leading(last).map_or_else(String::new, |figure| {
        let name = if figure.name == "duration" { "duration" } else { "time without disturbances" };
        format!(": {name} {}", percent(figure.change()))
    });
    let modules: Vec<&str> = last.events.iter().filter(|of| of.is_module).map(|of| of.name.as_str()).collect();
    let because = match modules.as_slice() {
        [] => "No build changed there.".to_owned(),
        [only] => format!("{only} is another build there."),
        [first, more @ ..] => format!("{first} and {} are other builds there.", counted(more.len(), "other module")),
    };
    format!("{changes} in {runs}. The last one is from run {} on{when}{figure}. {because}", last.place + 1)
}

/// The figure that tells of a change: the undisturbed time, else the duration.
fn leading(turn: &Turn) -> Option<&ComparedFigure> {
    let is_change = |figure: &&ComparedFigure| matches!(figure.verdict, Verdict::Slower | Verdict::Faster);
    let named = |name: &str| turn.figures.iter().find(|figure| figure.name == name);
    let [undisturbed, duration] = ["undisturbed", "duration"].map(named);
    [undisturbed, duration].into_iter().flatten().find(is_change).or(undisturbed).or(duration)
}

fn of_runs(case: &CaseHistory) -> Vec<model::Run> {
    let cpu = case.series.iter().find(|series| series.kind == Kind::Cpu);
    let runs = case.runs.iter().enumerate().map(|(place, run)| model::Run {
        recording: run.name.clone(),
        date: run.date.clone(),
        values: [
            Some(run.duration()),
            Some(run.undisturbed()),
            cpu.and_then(|series| series.values.get(place)).copied(),
        ],
    });
    runs.collect()
}

fn of_figures(figures: &[ComparedFigure]) -> Vec<Figure> {
    figures.iter().map(|figure| of_figure(figure, Vec::new())).collect()
}

fn of_turn(case: &CaseHistory, turn: &Turn) -> model::Change {
    let near = &turn.near;
    let counts = [near.split, near.runs.len().saturating_sub(near.split)];
    let notes = near.comparable.reasons.iter().filter(|reason| is_told(turn, &reason.key));
    model::Change {
        run: turn.place,
        between: turn.between,
        figures: of_figures(&turn.figures),
        events: turn.events.iter().map(of_event).collect(),
        seen: super::history::seen(case, turn),
        notes: notes.map(|reason| format!("{}.", reason.text)).collect(),
        difference: near.result.as_ref().map(|result| model::Difference {
            runs: counts,
            means: result.duration.means,
            total: result.difference.total,
            steps: result.difference.shown.iter().map(|shown| of_shown(shown, near)).collect(),
        }),
    }
}

fn of_event(event: &Event) -> model::Event {
    model::Event {
        run: event.place,
        is_module: event.is_module,
        name: event.name.clone(),
        values: [event.before.clone(), event.after.clone()],
    }
}

fn of_series(series: &Series) -> model::Series {
    model::Series {
        text: series.text.clone(),
        median: series.median(),
        p_corrected: series.p_corrected,
        points: series
            .points
            .iter()
            .map(|point| model::Point { run: point.likeliest, change: point.change, p: point.p })
            .collect(),
    }
}
