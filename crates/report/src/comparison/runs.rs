//! The runs, a row each: what the pictures show, as numbers.

use crate::html::Html;
use crate::model::comparison::{Case, Run};
use crate::numbers::ms;

/// The table of runs.
pub(crate) fn add(html: &mut Html, case: &Case) {
    let is_there = |place: usize| case.runs.iter().any(|run| run.parts.get(place).is_some_and(|part| *part != 0));
    let kinds: Vec<usize> = (0..case.kinds.len()).filter(|place| is_there(*place)).collect();
    html.raw("<div class=\"wide\" tabindex=\"0\" role=\"group\" aria-label=\"Runs\"><table class=\"runs numbers searched\" data-search=\"Search the runs\">");
    html.raw("<caption>The time of each run, ms. The kinds of time add up to the duration; undisturbed is the duration without disturbances.</caption>");
    let has_reported = case.runs.iter().any(|run| run.reported.is_some());
    let mut heads = vec!["Run", "Recording", "Began", "Duration", "Undisturbed"];
    if has_reported {
        heads.push("The test says");
    }
    heads.extend(kinds.iter().map(|place| case.kinds[*place].label.as_str()));
    heads.push("Warnings");
    html.heads(&heads);
    html.raw("<tbody>");
    for (place, run) in case.runs.iter().enumerate() {
        add_run(html, place, run, &kinds, case, has_reported);
    }
    html.raw("</tbody></table></div>");
}

fn add_run(html: &mut Html, place: usize, run: &Run, kinds: &[usize], case: &Case, has_reported: bool) {
    let set = if run.set == 0 { "a" } else { "b" };
    html.open(
        "tr",
        &[("data-run", &place), ("data-set", &set), ("data-window", &run.window), ("data-order", &run.order)],
    );
    html.element("th", &[("scope", &"row")], &run.name);
    html.element("td", &[("class", &"word")], &run.recording);
    html.element("td", &[("class", &"word")], run.date.as_deref().unwrap_or_default());
    let time = |html: &mut Html, ns: i64| html.number(Some(ns), &ms(ns as f64));
    time(html, run.duration);
    time(html, run.undisturbed);
    if has_reported {
        html.number(run.reported, &run.reported.map_or_else(String::new, |ns| ms(ns as f64)));
    }
    for kind in kinds {
        let part = run.parts.get(*kind).copied().unwrap_or(0);
        let word = &case.kinds[*kind];
        let name = if word.is_disturbance { format!("disturbance {}", word.word) } else { word.word.clone() };
        html.element("td", &[("data-v", &part), ("data-kind", &name)], &ms(part as f64));
    }
    html.element("td", &[("class", &"word")], &run.warnings.join("; "));
    html.raw("</tr>");
}
