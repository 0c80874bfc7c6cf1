//! The figures of two sets of runs: a row each, with what so few runs cannot show.

use crate::html::Html;
use crate::model::difference::Figure;
use crate::numbers::{bound, digits, ms, percent, probability};

/// The table: medians of both sets, and the change.
pub(crate) fn add(html: &mut Html, labels: &[String; 2], confidence: f64, figures: &[Figure]) {
    let interval = format!("{} % interval", digits(100.0 * confidence));
    let interval = interval.replace(".0 %", " %");
    let [a, b] = labels.each_ref().map(|label| format!("{label} ms"));
    html.raw("<div class=\"wide\" tabindex=\"0\" role=\"group\" aria-label=\"Figures\">");
    html.raw("<table class=\"figures numbers\"><caption>Medians of both sets, and the change</caption>");
    html.heads(&["Figure", &a, &b, "Change", &interval, "p", "Verdict"]);
    html.raw("<tbody>");
    for figure in figures {
        html.open("tr", &[("data-figure", &figure.word)]);
        html.element("th", &[("scope", &"row")], name(figure));
        figure.medians.iter().for_each(|median| html.number(Some(median), &ms(*median)));
        html.number(Some(1.0 + figure.change), &percent(figure.change));
        match figure.interval {
            Some([low, high]) => {
                let (from, to) = (1.0 + low, 1.0 + high);
                let text = format!("{} … {} %", bound(low), bound(high));
                html.element("td", &[("data-v", &from), ("data-high", &to)], &text);
            }
            None => html.raw("<td></td>"),
        }
        html.number(figure.p, &figure.p.map_or_else(String::new, probability));
        html.element("td", &[("class", &"word")], &figure.verdict);
        html.raw("</tr>");
    }
    html.raw("</tbody></table></div>");
    add_detectable(html, figures);
}

fn add_detectable(html: &mut Html, figures: &[Figure]) {
    let is_undecided = figures.iter().any(|figure| figure.verdict == "undecided");
    let tests: Vec<String> = figures.iter().filter_map(detectable).collect();
    if is_undecided && !tests.is_empty() {
        html.element("p", &[("class", &"remark")], &tests.join(" "));
    }
}

/// Which changes so many runs show.
fn detectable(figure: &Figure) -> Option<String> {
    let least = figure.detectable?;
    Some(format!(
        "{}: so many runs show increases from {} % on, in four of five cases.",
        name(figure),
        digits(100.0 * least)
    ))
}

/// The name of a figure.
pub(crate) fn name(figure: &Figure) -> &'static str {
    name_of(figure.word)
}

/// The name of the figure of a word.
pub(crate) fn name_of(word: &str) -> &'static str {
    match word {
        "duration" => "Duration",
        "undisturbed" => "Undisturbed",
        _ => "CPU time",
    }
}
