//! The rules that a recording fits, each with its figures, its place in the window, and its command; and those that nobody could
//! look at.

use tracesift_export::escape::shorten;

use super::span::{LEFT, RIGHT, WIDTH, Window};
use super::{SENTENCE, percent};
use crate::html::{Html, at};
use crate::model::explanation::{Explanation, Figure, Finding, Place, Unlooked};
use crate::numbers::ms;

/// The strip of the window, and the picture.
const STRIP: [f64; 2] = [2.0, 20.0];
const HEIGHT: f64 = 42.0;

/// A shorter segment is drawn as wide as this, so that it is seen.
const NARROWEST: f64 = 1.5;

/// The findings.
pub(super) fn add(html: &mut Html, explanation: &Explanation) {
    if explanation.findings.is_empty() {
        html.element("p", &[], "No rule fits.");
    }
    let window = explanation.account.as_ref().ok().map(Window::of);
    for (number, finding) in (1..).zip(&explanation.findings) {
        html.open("div", &[("class", &"finding"), ("data-rule", &finding.rule)]);
        html.open("h4", &[]);
        html.text(&format!("{number}. {}", finding.rule));
        if finding.time.is_some() {
            html.raw(" ");
            let kind = if finding.is_on_path { "path time" } else { "other time" };
            html.element("span", &[("class", &"aside")], kind);
        }
        html.close("h4");
        html.open("p", &[]);
        html.prose(&shorten(&finding.sentence, SENTENCE));
        html.close("p");
        add_figures(html, finding);
        if let (Some(window), Some(place)) = (&window, &finding.place) {
            add_place(html, window, place, &finding.rule);
        }
        // It is whole, so that it can be copied.
        html.raw("<pre><code>");
        html.prose(&finding.command);
        html.raw("</code></pre></div>");
    }
}

fn add_figures(html: &mut Html, finding: &Finding) {
    let label = format!("Figures of {}", finding.rule);
    html.open("div", &[("class", &"wide"), ("tabindex", &0), ("role", &"group"), ("aria-label", &label)]);
    html.raw("<table class=\"found numbers\">");
    html.heads(&["Figure", "%", "Threshold"]);
    html.raw("<tbody>");
    for figure in &finding.figures {
        let Figure { text, number, unit, share, threshold } = figure;
        html.raw("<tr>");
        html.element("td", &[("data-v", number), ("data-unit", unit)], text);
        html.number(*share, &share.map_or_else(String::new, percent));
        html.element("td", &[("class", &"word")], threshold);
        html.raw("</tr>");
    }
    html.raw("</tbody>");
    // Of a finding that is about a time, this is its first figure.
    let is_told =
        |time: i64| finding.figures.first().is_some_and(|first| first.unit == "ns" && first.number == time as f64);
    if let Some(time) = finding.time.filter(|time| !is_told(*time)) {
        html.raw("<tfoot><tr>");
        html.element("td", &[("data-v", &time), ("data-unit", &"ns")], &format!("{} ms", ms(time as f64)));
        html.raw("<td></td><td class=\"word\">the time that the finding explains</td></tr></tfoot>");
    }
    html.raw("</table></div>");
}

/// The window as a strip, in which the span of a finding is pale and its longest segments are full; and the segments as numbers.
fn add_place(html: &mut Html, window: &Window, place: &Place, rule: &str) {
    let [from, to] = window.inside(place.span);
    let count = place.longest.len();
    let segments = match count {
        1 => "its longest segment is marked".to_owned(),
        _ => format!("its {count} longest segments are marked"),
    };
    let span = format!("from {} to {} ms of the window", ms(from as f64), ms(to as f64));
    let caption = if count > 0 { format!("It lies {span}; {segments}") } else { format!("It lies {span}") };
    html.raw("<figure class=\"place\">");
    html.element("figcaption", &[("class", &"remark")], &format!("{caption}."));
    let label = format!("Place of {rule} in the window, picture");
    html.open("div", &[("class", &"wide"), ("tabindex", &0), ("role", &"group"), ("aria-label", &label)]);
    let label = format!("A strip as long as the window: {rule} lies {span}.");
    html.open("svg", &[("viewBox", &format!("0 0 {WIDTH} {HEIGHT}")), ("role", &"img"), ("aria-label", &label)]);
    let [top, bottom] = STRIP;
    let rect = |html: &mut Html, class: &str, [left, right]: [f64; 2]| {
        let [x, width] = [left, right - left].map(at);
        html.shape(
            "rect",
            &[("class", &class), ("x", &x), ("y", &at(top)), ("width", &width), ("height", &at(bottom - top))],
        );
    };
    rect(html, "strip-window", [LEFT, RIGHT]);
    let mut mark = |class: &str, [from, to]: [i64; 2], [start, end]: [i64; 2]| {
        let tip = format!("{} to {} ms of the window: {} ms", ms(from as f64), ms(to as f64), ms((to - from) as f64));
        html.open("g", &[("data-from", &start), ("data-to", &end), ("data-tip", &tip)]);
        let left = window.at(from).min(RIGHT - NARROWEST);
        rect(html, class, [left, window.at(to).max(left + NARROWEST)]);
        html.close("g");
    };
    mark("strip-span", [from, to], place.span);
    place.longest.iter().for_each(|segment| mark("strip-segment", window.inside(*segment), *segment));
    window.add_axis(html, [bottom, bottom + 4.0]);
    html.raw("</svg></div></figure>");
    if count > 0 {
        add_segments(html, window, place, rule);
    }
}

fn add_segments(html: &mut Html, window: &Window, place: &Place, rule: &str) {
    html.raw("<details><summary>Longest segments</summary>");
    let label = format!("Longest segments of {rule}");
    html.open("div", &[("class", &"wide"), ("tabindex", &0), ("role", &"group"), ("aria-label", &label)]);
    html.raw(
        "<table class=\"spans numbers\"><caption>Segments of the path, ms since the start of the window</caption>",
    );
    html.heads(&["From ms", "To ms", "Length ms"]);
    html.raw("<tbody>");
    for segment in &place.longest {
        let [from, to] = window.inside(*segment);
        html.raw("<tr>");
        [from, to, to - from].iter().for_each(|time| html.number(Some(time), &ms(*time as f64)));
        html.raw("</tr>");
    }
    html.raw("</tbody></table></div></details>");
}

/// The rules that could not be looked at, by reason.
pub(super) fn add_unlooked(html: &mut Html, unlooked: &[Unlooked]) {
    let count: usize = unlooked.iter().map(|of| of.rules.len()).sum();
    if count == 0 {
        return;
    }
    html.raw("<details class=\"unlooked\">");
    let summary =
        if count == 1 { "1 rule was not looked at".to_owned() } else { format!("{count} rules were not looked at") };
    html.element("summary", &[], &summary);
    html.raw("<dl>");
    for Unlooked { why, rules } in unlooked {
        html.element("dt", &[], &rules.join(", "));
        html.element("dd", &[], why);
    }
    html.raw("</dl></details>");
}
