//! A figure of all runs in their order: a mark for each run, a line for the median of each segment, the places of changes, and a tick
//! where a build changed.

use std::collections::BTreeMap;

use crate::figures::name_of;
use crate::html::{Html, at};
use crate::model::history::{Case, Event, FIGURES};
use crate::numbers::ms;
use crate::picture::{line, text};
use crate::scale::Scale;

const WIDTH: f64 = 960.0;
const LEFT: f64 = 70.0;
const RIGHT: f64 = 945.0;
const TOP: f64 = 34.0;
const BOTTOM: f64 = 250.0;

/// Ends of the ticks of builds, and where numbers of runs stand.
const BUILDS: [f64; 2] = [BOTTOM + 4.0, BOTTOM + 14.0];
const NUMBERS: f64 = BOTTOM + 30.0;
const HEIGHT: f64 = NUMBERS + 10.0;

/// More names of one place are counted.
const NAMES: usize = 12;

/// The picture.
pub(super) fn add(html: &mut Html, case: &Case, figure: usize) {
    let title = format!("{} of each run, ms", name_of(FIGURES[figure]));
    html.open("figure", &[("class", &"series"), ("data-figure", &FIGURES[figure])]);
    html.element("figcaption", &[], &title);
    html.open(
        "div",
        &[("class", &"wide"), ("tabindex", &0), ("role", &"group"), ("aria-label", &format!("{title}, picture"))],
    );
    let label = described(case, figure);
    html.open("svg", &[("viewBox", &format!("0 0 {WIDTH} {HEIGHT}")), ("role", &"img"), ("aria-label", &label)]);
    let scale = scale(case, figure);
    for (value, label) in scale.ticks(6) {
        let y = scale.at(value);
        line(html, "grid", [LEFT, y, RIGHT, y]);
        text(html, "tick end", [LEFT - 6.0, y + 4.0], &label);
    }
    add_places(html, case);
    add_builds(html, case);
    for run in 0..case.runs.len() {
        add_mark(html, case, figure, run, &scale);
    }
    add_medians(html, case, figure, &scale);
    html.raw("</svg></div></figure>");
}

fn described(case: &Case, figure: usize) -> String {
    let medians = case.segments.iter().filter_map(|segment| {
        let median = segment.medians[figure]?;
        Some(format!("runs {} to {} {} ms", segment.first + 1, segment.end, ms(median)))
    });
    format!("Medians: {}. The table of runs has each value.", medians.collect::<Vec<_>>().join(", "))
}

/// Runs that stand apart leave the others no room, so that they are not looked at; those that have no place are at its edge.
fn scale(case: &Case, figure: usize) -> Scale {
    let is_apart = |run: usize| case.outliers.iter().any(|outlier| outlier.run == run);
    let runs = case.runs.iter().enumerate().filter(|(run, _)| !is_apart(*run));
    let values = runs.filter_map(|(_, run)| run.values[figure].map(|value| value as f64));
    let medians = case.segments.iter().filter_map(|segment| segment.medians[figure]);
    Scale::around(values.chain(medians), BOTTOM, TOP)
}

/// The middle of a run.
fn x_of(case: &Case, run: usize) -> f64 {
    LEFT + 8.0 + (run as f64 + 0.5) * (RIGHT - LEFT - 16.0) / case.runs.len().max(1) as f64
}

/// Half the way between a run and the one before it.
fn x_before(case: &Case, run: usize) -> f64 {
    let half = 0.5 * (RIGHT - LEFT - 16.0) / case.runs.len().max(1) as f64;
    x_of(case, run) - half
}

/// The changes: a line, and a band for the places that are possible.
fn add_places(html: &mut Html, case: &Case) {
    let mut free = f64::NEG_INFINITY;
    for change in &case.changes {
        let x = x_before(case, change.run);
        let [low, high] = [change.between.0, change.between.1].map(|run| x_before(case, run));
        if high > low {
            let [left, top, width, height] = [low, TOP, high - low, BOTTOM - TOP].map(at);
            html.shape(
                "rect",
                &[("class", &"between"), ("x", &left), ("y", &top), ("width", &width), ("height", &height)],
            );
        }
        line(html, "turn-line", [x, TOP - 8.0, x, BOTTOM]);
        let label = format!("run {}", change.run + 1);
        // A name that would lie on the one before it is left out: the headings have it.
        if x - free > 56.0 {
            text(html, "says", [x, TOP - 14.0], &label);
            free = x;
        }
    }
}

/// A tick for each run that had another build of some module than the run before it.
fn add_builds(html: &mut Html, case: &Case) {
    let mut by_run: BTreeMap<usize, Vec<&Event>> = BTreeMap::new();
    for event in case.events.iter().filter(|event| event.is_module) {
        by_run.entry(event.run).or_default().push(event);
    }
    let [from, to] = BUILDS;
    for (run, events) in &by_run {
        let x = at(x_before(case, *run));
        let tip = tip(*run, events);
        html.shape(
            "line",
            &[
                ("class", &"build"),
                ("data-build", run),
                ("data-tip", &tip),
                ("x1", &x),
                ("x2", &x),
                ("y1", &from),
                ("y2", &to),
            ],
        );
    }
    let last = case.runs.len();
    text(html, "tick", [x_of(case, 0), NUMBERS], "run 1");
    if last > 1 {
        text(html, "tick", [x_of(case, last - 1), NUMBERS], &last.to_string());
    }
    let note = match by_run.len() {
        0 => "no build changed",
        _ => "ticks: other builds",
    };
    text(html, "tick", [0.5 * (LEFT + RIGHT), NUMBERS], note);
}

fn tip(run: usize, events: &[&Event]) -> String {
    let value = |value: &Option<String>| value.clone().unwrap_or_else(|| "none".to_owned());
    let mut lines = vec![format!("From run {} on", run + 1)];
    lines.extend(events.iter().take(NAMES).map(|event| {
        let [before, after] = event.values.each_ref().map(value);
        format!("{} {before} → {after}", event.name)
    }));
    if events.len() > NAMES {
        lines.push(format!("and {} more", events.len() - NAMES));
    }
    lines.join("\n")
}

fn add_mark(html: &mut Html, case: &Case, figure: usize, run: usize, scale: &Scale) {
    let Some(value) = case.runs[run].values[figure] else { return };
    let (x, y) = (x_of(case, run), scale.at(value as f64));
    let size = (300.0 / case.runs.len().max(1) as f64).clamp(2.0, 4.5);
    if scale.has(value as f64) {
        let attributes: [(&str, &dyn std::fmt::Display); 6] = [
            ("class", &"dot a"),
            ("data-run", &run),
            ("data-v", &value),
            ("cx", &at(x)),
            ("cy", &at(y)),
            ("r", &at(size)),
        ];
        html.shape("circle", &attributes);
    } else {
        // It lies outside of the picture: an arrow shows where.
        let sign = if y < 0.5 * (TOP + BOTTOM) { -1.0 } else { 1.0 };
        let points = format!("{},{} {},{} {},{}", at(x - 5.0), at(y), at(x + 5.0), at(y), at(x), at(y + 8.0 * sign));
        html.shape("polygon", &[("class", &"dot b"), ("data-run", &run), ("data-v", &value), ("points", &points)]);
    }
    if case.runs.len() <= 100 && case.outliers.iter().any(|outlier| outlier.run == run) {
        let below = if y < 0.5 * (TOP + BOTTOM) { 18.0 } else { -6.0 };
        text(html, "outlier", [x, y + below], &(run + 1).to_string());
    }
}

fn add_medians(html: &mut Html, case: &Case, figure: usize, scale: &Scale) {
    for segment in &case.segments {
        let Some(median) = segment.medians[figure] else { continue };
        let (from, to) = (x_before(case, segment.first) + 1.0, x_before(case, segment.end) - 1.0);
        let y = at(scale.at(median));
        html.shape(
            "line",
            &[
                ("class", &"median b"),
                ("data-first", &segment.first),
                ("data-v", &median),
                ("x1", &at(from)),
                ("x2", &at(to)),
                ("y1", &y),
                ("y2", &y),
            ],
        );
        if to - from > 44.0 {
            text(html, "says", [0.5 * (from + to), scale.at(median) - 9.0], &ms(median));
        }
    }
}
