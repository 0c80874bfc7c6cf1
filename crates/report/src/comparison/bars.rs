//! The time of each run by kind, in the order of time: who was disturbed when.

use crate::colours::{area, class, legend};
use crate::html::{Html, at};
use crate::model::comparison::Case;
use crate::scale::Scale;

const WIDTH: f64 = 960.0;
const LEFT: f64 = 70.0;
const RIGHT: f64 = 950.0;
const TOP: f64 = 12.0;
const BOTTOM: f64 = 240.0;
const HEIGHT: f64 = 276.0;

/// The picture with its legend.
pub(crate) fn add(html: &mut Html, case: &Case) {
    html.open("figure", &[("class", &"bars")]);
    html.element("figcaption", &[], "Time of each run by kind, ms, in the order of time");
    let is_there = |place: usize| case.runs.iter().any(|run| run.parts.get(place).is_some_and(|part| *part != 0));
    let kinds: Vec<usize> = (0..case.kinds.len()).filter(|place| is_there(*place)).collect();
    legend(
        html,
        kinds
            .iter()
            .map(|place| &case.kinds[*place])
            .map(|kind| (class(kind), kind.label.as_str(), kind.is_disturbance)),
    );
    html.raw("<div class=\"wide\" tabindex=\"0\" role=\"group\" aria-label=\"Time of each run, picture\">");
    let label = "A bar for each run, divided by kind of time. The table of runs has each value.";
    html.open("svg", &[("viewBox", &format!("0 0 {WIDTH} {HEIGHT}")), ("role", &"img"), ("aria-label", &label)]);
    let sum = |parts: &[i64]| parts.iter().filter(|part| **part > 0).map(|part| *part as f64).sum::<f64>();
    let scale = Scale::from_zero(case.runs.iter().map(|run| sum(&run.parts)), BOTTOM, TOP);
    for (value, text) in scale.ticks(5) {
        let y = at(scale.at(value));
        html.shape("line", &[("class", &"grid"), ("x1", &LEFT), ("x2", &RIGHT), ("y1", &y), ("y2", &y)]);
        html.element("text", &[("class", &"tick end"), ("x", &(LEFT - 6.0)), ("y", &at(scale.at(value) + 4.0))], &text);
    }
    let step = (RIGHT - LEFT) / case.runs.len().max(1) as f64;
    let width = (step * 0.8).min(56.0);
    for (number, run) in case.runs.iter().enumerate() {
        let middle = LEFT + (run.order as f64 + 0.5) * step;
        html.open("g", &[("class", &"bar"), ("data-run", &number)]);
        let mut from = 0.0;
        for place in &kinds {
            let Some(part) = run.parts.get(*place).filter(|part| **part > 0) else { continue };
            let to = from + *part as f64;
            let (top, bottom) = (scale.at(to), scale.at(from));
            let kind = &case.kinds[*place];
            area(html, &class(kind), [middle - width / 2.0, top, width, bottom - top], kind.is_disturbance);
            from = to;
        }
        html.close("g");
        let set = if run.set == 0 { "dot a" } else { "dot b" };
        let size = (width * 0.7).clamp(2.0, 9.0);
        if run.set == 0 {
            html.shape(
                "circle",
                &[("class", &set), ("cx", &at(middle)), ("cy", &(BOTTOM + 10.0)), ("r", &at(size / 2.0))],
            );
        } else {
            let [left, right] = [middle - size / 1.7, middle + size / 1.7].map(at);
            let [top, bottom] = [BOTTOM + 10.0 - size / 1.7, BOTTOM + 10.0 + size / 1.7].map(at);
            let (x, y) = (at(middle), BOTTOM + 10.0);
            let points = format!("{x},{top} {right},{y} {x},{bottom} {left},{y}");
            html.shape("polygon", &[("class", &set), ("points", &points)]);
        }
        if step >= 26.0 && run.name.chars().count() <= (step / 7.0) as usize {
            html.element("text", &[("class", &"tick"), ("x", &at(middle)), ("y", &(BOTTOM + 30.0))], &run.name);
        }
    }
    html.raw("</svg></div></figure>");
}
