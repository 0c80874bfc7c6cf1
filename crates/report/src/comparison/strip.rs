//! Strip plots: each run is a mark, so that spread, modes and outliers are seen. Below stands the same in the order of time.

use crate::figures::name;
use crate::html::{Html, at};
use crate::model::comparison::Case;
use crate::model::difference::Figure;
use crate::numbers::{bound, ms};
use crate::picture::{line, text};
use crate::scale::Scale;

const WIDTH: f64 = 960.0;
const LEFT: f64 = 120.0;
const RIGHT: f64 = 940.0;

/// Middles of the strips of both sets, and of the interval.
const STRIPS: [f64; 2] = [46.0, 116.0];
const INTERVAL: f64 = 166.0;
const AXIS: f64 = 190.0;

/// The picture in the order of time.
const TIME_TOP: f64 = 244.0;
const TIME_BOTTOM: f64 = 334.0;
const HEIGHT: f64 = 356.0;

/// Half a mark, and lanes of marks on either side of the middle of a strip.
const HALF: f64 = 4.5;
const LANES: i32 = 3;

/// The plot of a figure.
pub(crate) fn add(html: &mut Html, case: &Case, figure: &Figure) {
    html.open("figure", &[("class", &"strip"), ("data-figure", &figure.word)]);
    html.element("figcaption", &[], &format!("{} of each run, ms", name(figure)));
    html.raw("<div class=\"wide\" tabindex=\"0\" role=\"group\" ");
    html.raw(&format!("aria-label=\"{} of each run, picture\">", name(figure)));
    let label = described(case, figure);
    html.open("svg", &[("viewBox", &format!("0 0 {WIDTH} {HEIGHT}")), ("role", &"img"), ("aria-label", &label)]);
    let ends = [1.0, 1.0 + figure.change];
    let medians = figure.medians.into_iter().chain(ends.map(|ratio| ratio * figure.medians[0]));
    let values = figure.values.iter().map(|value| *value as f64);
    let scale = Scale::around(values.chain(medians), LEFT, RIGHT);
    add_axis(html, &scale);
    for set in [0, 1] {
        add_strip(html, case, figure, &scale, set);
    }
    add_interval(html, figure, &scale);
    add_in_time(html, case, figure);
    html.raw("</svg></div></figure>");
}

fn described(case: &Case, figure: &Figure) -> String {
    let [a, b] = figure.medians.map(ms);
    let [first, second] = &case.labels;
    format!("{}: {first} median {a} ms, {second} median {b} ms. The table of runs has each value.", name(figure))
}

fn add_axis(html: &mut Html, scale: &Scale) {
    for (value, label) in scale.ticks(8) {
        let x = scale.at(value);
        line(html, "grid", [x, 16.0, x, AXIS]);
        text(html, "tick", [x, AXIS + 14.0], &label);
    }
}

/// A mark of a run: circles of the first set, diamonds of the second.
fn mark(html: &mut Html, case: &Case, figure: &Figure, place: usize, [x, y]: [f64; 2]) {
    let (Some(run), Some(value)) = (case.runs.get(place), figure.values.get(place)) else { return };
    let class = if run.set == 0 { "dot a" } else { "dot b" };
    if run.set == 0 {
        let attributes: [(&str, &dyn std::fmt::Display); 6] =
            [("class", &class), ("data-run", &place), ("data-v", value), ("cx", &at(x)), ("cy", &at(y)), ("r", &HALF)];
        html.shape("circle", &attributes);
    } else {
        let half = HALF + 1.0;
        let [left, right, top, bottom] = [x - half, x + half, y - half, y + half].map(at);
        let (x, y) = (at(x), at(y));
        let points = format!("{x},{top} {right},{y} {x},{bottom} {left},{y}");
        html.shape("polygon", &[("class", &class), ("data-run", &place), ("data-v", value), ("points", &points)]);
    }
}

fn add_strip(html: &mut Html, case: &Case, figure: &Figure, scale: &Scale, set: usize) {
    let middle = STRIPS[set];
    text(html, "name", [LEFT - 16.0, middle + 4.0], &cut(&case.labels[set]));
    line(html, "base", [LEFT, middle, RIGHT, middle]);
    let median = scale.at(figure.medians[set]);
    line(html, if set == 0 { "median a" } else { "median b" }, [median, middle - 27.0, median, middle + 27.0]);
    let mut places: Vec<usize> =
        (0..figure.values.len().min(case.runs.len())).filter(|place| case.runs[*place].set == set).collect();
    places.sort_by_key(|place| (figure.values[*place], *place));
    let mut lanes: Vec<(i32, f64)> = (0..=2 * LANES)
        .map(|lane| (if lane % 2 == 0 { -lane / 2 } else { (lane + 1) / 2 }, f64::NEG_INFINITY))
        .collect();
    for place in places {
        let x = scale.at(figure.values[place] as f64);
        let free = lanes.iter().position(|(_, last)| x - last >= 2.0 * HALF + 0.5);
        // Where there is no room, marks lie on each other, in the lane that is free next.
        let nearest = || (0..lanes.len()).min_by(|p, q| lanes[*p].1.total_cmp(&lanes[*q].1));
        let Some((lane, last)) = free.or_else(nearest).and_then(|lane| lanes.get_mut(lane)) else { continue };
        *last = x;
        let y = middle + f64::from(*lane) * 7.5;
        mark(html, case, figure, place, [x, y]);
        if figure.outliers.contains(&place) {
            text(html, "outlier", [x, y - 9.0], &case.runs[place].name);
        }
    }
}

/// The interval of the change, seen from the median of the first set: where it holds that median, nothing is decided.
fn add_interval(html: &mut Html, figure: &Figure, scale: &Scale) {
    let from = figure.medians[0];
    let x = scale.at(from);
    line(html, "from", [x, STRIPS[0], x, INTERVAL + 12.0]);
    let Some([low, high]) = figure.interval else {
        text(html, "name", [LEFT - 16.0, INTERVAL + 4.0], "no interval");
        return;
    };
    text(html, "name", [LEFT - 16.0, INTERVAL + 4.0], "change");
    let ends = [low, high].map(|change| from * (1.0 + change));
    let [left, right] = ends.map(|end| scale.at(end));
    line(html, "interval", [left, INTERVAL, right, INTERVAL]);
    for (end, x, sign) in [(ends[0], left, 1.0), (ends[1], right, -1.0)] {
        if scale.has(end) {
            line(html, "interval", [x, INTERVAL - 6.0, x, INTERVAL + 6.0]);
        } else {
            // It goes on outside of the picture.
            line(html, "interval", [x, INTERVAL, x + 7.0 * sign, INTERVAL - 5.0]);
            line(html, "interval", [x, INTERVAL, x + 7.0 * sign, INTERVAL + 5.0]);
        }
    }
    let middle = scale.at(from * (1.0 + figure.change));
    html.shape("circle", &[("class", &"change"), ("cx", &at(middle)), ("cy", &at(INTERVAL)), ("r", &4)]);
    let label = format!("{} … {} %", bound(low), bound(high));
    let (anchor, x) =
        if right > 0.5 * (LEFT + RIGHT) && left > LEFT + 130.0 { ("end", left - 8.0) } else { ("start", right + 8.0) };
    if x < RIGHT - 100.0 {
        text(html, &format!("says {anchor}"), [x, INTERVAL + 4.0], &label);
    } else {
        text(html, "says end", [RIGHT, INTERVAL - 9.0], &label);
    }
}

fn add_in_time(html: &mut Html, case: &Case, figure: &Figure) {
    text(html, "says start", [LEFT, TIME_TOP - 8.0], "In the order of time");
    let scale = Scale::around(figure.values.iter().map(|value| *value as f64), TIME_BOTTOM, TIME_TOP);
    for (value, label) in scale.ticks(5) {
        let y = scale.at(value);
        line(html, "grid", [LEFT, y, RIGHT, y]);
        text(html, "tick end", [LEFT - 4.0, y + 4.0], &label);
    }
    let step = (RIGHT - LEFT - 20.0) / case.runs.len().max(1) as f64;
    for (place, run) in case.runs.iter().enumerate().take(figure.values.len()) {
        let x = LEFT + 10.0 + (run.order as f64 + 0.5) * step;
        mark(html, case, figure, place, [x, scale.at(figure.values[place] as f64)]);
    }
    text(html, "tick", [LEFT + 30.0, HEIGHT - 4.0], "first run");
    text(html, "tick", [RIGHT - 30.0, HEIGHT - 4.0], "last run");
}

/// A label that fits beside a strip.
fn cut(label: &str) -> String {
    const ROOM: usize = 15;
    if label.chars().count() <= ROOM { label.to_owned() } else { label.chars().take(ROOM - 1).chain(['…']).collect() }
}
