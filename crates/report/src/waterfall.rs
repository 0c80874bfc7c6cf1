//! The way from the mean of the first set to that of the second: each row begins where the one before it ended, so that one sees that
//! they add up.

use crate::colours::area;
use crate::html::{Html, at};
use crate::model::difference::Step;
use crate::numbers::{ms, signed};
use crate::scale::Scale;

/// Units of a picture of a row; the page draws it as wide as there is room.
const WIDTH: f64 = 1000.0;
const HEIGHT: f64 = 100.0;

/// Top and height of a bar.
const TOP: f64 = 20.0;
const BAR: f64 = 60.0;

/// A difference of means, and the parts that explain it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Way<'a> {
    /// The names of both sets.
    pub(crate) labels: &'a [String; 2],
    pub(crate) means: [f64; 2],
    /// They add up to the difference.
    pub(crate) steps: &'a [Step],
    pub(crate) difference: i128,
}

/// The table, with a picture in each row.
pub(crate) fn add(html: &mut Html, way: Way<'_>) {
    let [from, to] = way.means;
    let mut at_step = from;
    let mut ends = vec![from, to];
    for step in way.steps {
        at_step += step.delta as f64;
        // A whisker that is far longer than its bar would leave no room for the bars: it goes on outside.
        let half = step.half_width.unwrap_or(0.0).min(step.delta.unsigned_abs() as f64);
        ends.extend([at_step - half, at_step + half]);
    }
    let (low, high) =
        ends.iter().fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), end| (low.min(*end), high.max(*end)));
    // Beside a small difference the whole durations would leave no room: then bars do not begin at 0, and the page says so.
    let is_cut = high > low && (high - low) < 0.3 * high;
    let scale = if is_cut {
        Scale::around(ends.iter().copied(), 0.0, WIDTH)
    } else {
        Scale::from_zero(ends.iter().copied(), 0.0, 0.98 * WIDTH)
    };
    html.raw("<div class=\"wide\" tabindex=\"0\" role=\"group\" aria-label=\"Where the difference went\">");
    html.raw("<table class=\"waterfall numbers\">");
    let [first, second] = way.labels;
    let caption = format!("From the mean of {first} to the mean of {second}, ms");
    html.element("caption", &[], &caption);
    html.heads(&["ms", "±", "", "Part", "Picture"]);
    html.raw("<tbody>");
    whole(html, first, from, &scale, "a");
    let mut start = from;
    for step in way.steps {
        let end = start + step.delta as f64;
        row(html, step, start, end, &scale);
        start = end;
    }
    whole(html, second, to, &scale, "b");
    html.raw("</tbody><tfoot><tr class=\"sum\">");
    html.number(Some(way.difference), &signed(way.difference as f64));
    html.raw("<td></td><td></td><th scope=\"row\">Sum of the parts: the difference of the means</th><td></td></tr>");
    html.raw("</tfoot></table></div>");
    if is_cut {
        html.element(
            "p",
            &[("class", &"remark")],
            "The picture does not begin at 0: its bars show differences, not shares.",
        );
    }
    html.element(
        "p",
        &[("class", &"remark")],
        "A whisker is the interval of a part, ± around its end. * is no chance. Hatched parts are disturbances: others took this time from the test.",
    );
}

fn whole(html: &mut Html, label: &str, value: f64, scale: &Scale, set: &str) {
    html.open("tr", &[("class", &"whole"), ("data-mean", &set)]);
    html.number(Some(value), &ms(value));
    html.raw("<td></td><td></td>");
    html.element("th", &[("scope", &"row")], &format!("Mean of {label}"));
    open_picture(html);
    let (left, right) = (scale.at(f64::MIN), scale.at(value));
    area(html, if set == "a" { "set-a" } else { "set-b" }, [left, TOP, right - left, BAR], false);
    let half = if set == "a" { [TOP + BAR, HEIGHT] } else { [0.0, TOP] };
    upright(html, right, half);
    html.raw("</svg></td></tr>");
}

fn row(html: &mut Html, step: &Step, start: f64, end: f64, scale: &Scale) {
    html.open("tr", &[("class", &"step")]);
    html.number(Some(step.delta), &signed(step.delta as f64));
    html.number(step.half_width, &step.half_width.map_or_else(String::new, ms));
    html.raw(if step.is_flagged { "<td class=\"flag\">*</td>" } else { "<td></td>" });
    html.open("th", &[("scope", &"row")]);
    html.text(&step.text);
    if !step.remark.is_empty() {
        html.raw(" ");
        html.element("span", &[("class", &"aside")], &step.remark);
    }
    html.close("th");
    open_picture(html);
    let [x, next] = [start, end].map(|value| scale.at(value));
    let (left, width) = (x.min(next), (next - x).abs().max(1.5));
    let class = if step.delta > 0 { "more" } else { "less" };
    upright(html, x, [0.0, TOP]);
    if step.delta != 0 {
        area(html, class, [left, TOP, width, BAR], step.is_disturbance);
    }
    upright(html, next, [TOP + BAR, HEIGHT]);
    if let Some(half) = step.half_width {
        let [low, high] = [end - half, end + half].map(|value| scale.at(value));
        let path = format!("M{} 50H{}M{} 36V64M{} 36V64", at(low), at(high), at(low), at(high));
        html.shape("path", &[("class", &"whisker"), ("d", &path)]);
    }
    html.raw("</svg></td></tr>");
}

fn open_picture(html: &mut Html) {
    html.raw("<td class=\"picture\"><svg viewBox=\"0 0 1000 100\" preserveAspectRatio=\"none\" aria-hidden=\"true\">");
}

/// The line that leads from the end of a bar to the beginning of the next one.
fn upright(html: &mut Html, x: f64, [from, to]: [f64; 2]) {
    let path = format!("M{} {}V{}", at(x), at(from), at(to));
    html.shape("path", &[("class", &"link"), ("d", &path)]);
}
