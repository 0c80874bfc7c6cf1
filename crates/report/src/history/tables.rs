//! The tables of a history.

use crate::figures::name_of;
use crate::html::Html;
use crate::model::history::{Case, Event, FIGURES, Run};
use crate::numbers::{ms, percent, probability, signed};

/// Longer lists of parts are cut.
const PARTS: usize = 5;

/// `1 run`, `3 runs`.
pub(super) fn counted(count: usize, what: &str) -> String {
    if count == 1 { format!("1 {what}") } else { format!("{count} {what}s") }
}

/// When a run began, without parts of a second.
pub(super) fn date(run: &Run) -> String {
    let date = run.date.as_deref().unwrap_or("unknown time");
    date.split('.').next().unwrap_or(date).to_owned()
}

/// Opens a table in a box that can be moved sideways.
fn open(html: &mut Html, class: &str, caption: &str, search: Option<&str>) {
    html.open("div", &[("class", &"wide"), ("tabindex", &0), ("role", &"group"), ("aria-label", &caption)]);
    match search {
        Some(search) => html.open("table", &[("class", &format!("{class} searched")), ("data-search", &search)]),
        None => html.open("table", &[("class", &class)]),
    }
    html.element("caption", &[], caption);
}

fn close(html: &mut Html) {
    html.raw("</tbody></table></div>");
}

/// The figures that some run has, by place and name.
fn shown(case: &Case) -> Vec<usize> {
    (0..FIGURES.len()).filter(|figure| case.has(*figure)).collect()
}

/// A row for each segment.
pub(super) fn add_segments(html: &mut Html, case: &Case) {
    open(html, "segments numbers", "The runs between changes, and their medians, ms", None);
    let figures = shown(case);
    let mut heads = vec!["Runs", "From"];
    heads.extend(figures.iter().map(|figure| name_of(FIGURES[*figure])));
    html.heads(&heads);
    html.raw("<tbody>");
    for segment in &case.segments {
        html.open("tr", &[("data-first", &segment.first), ("data-end", &segment.end)]);
        html.element("th", &[("scope", &"row")], &format!("{}–{}", segment.first + 1, segment.end));
        let from = case.runs.get(segment.first).map_or_else(String::new, date);
        html.element("td", &[("class", &"word")], &from);
        for figure in &figures {
            let median = segment.medians[*figure];
            html.number(median, &median.map_or_else(String::new, ms));
        }
        html.raw("</tr>");
    }
    close(html);
}

/// Builds and facts that changed.
pub(super) fn add_events(html: &mut Html, events: &[Event], caption: &str) {
    if events.is_empty() {
        html.raw("<p>No build and no fact of the machine changed.</p>");
        return;
    }
    open(html, "changes events", caption, None);
    html.heads(&["Kind", "Name", "From run", "Before", "After"]);
    html.raw("<tbody>");
    for event in events {
        html.raw("<tr>");
        html.element("td", &[], if event.is_module { "Module" } else { "Fact" });
        html.element("th", &[("scope", &"row")], &event.name);
        html.number(Some(event.run), &(event.run + 1).to_string());
        for value in &event.values {
            html.element("td", &[], value.as_deref().unwrap_or("none"));
        }
        html.raw("</tr>");
    }
    close(html);
}

/// The runs that stand apart.
pub(super) fn add_outliers(html: &mut Html, case: &Case) {
    open(html, "outliers numbers", "Durations against the median of the segment", None);
    html.heads(&["Run", "Began", "Recording", "Change", "Most in"]);
    html.raw("<tbody>");
    for outlier in &case.outliers {
        html.open("tr", &[("data-run", &outlier.run)]);
        html.element("th", &[("scope", &"row")], &(outlier.run + 1).to_string());
        let run = case.runs.get(outlier.run);
        html.element("td", &[("class", &"word")], &run.map_or_else(String::new, date));
        html.element("td", &[("class", &"word")], run.map_or("", |run| run.recording.as_str()));
        html.number(Some(1.0 + outlier.change), &percent(outlier.change));
        let parts: Vec<&str> = outlier.parts.iter().take(PARTS).map(String::as_str).collect();
        html.element("td", &[("class", &"word")], &parts.join(", "));
        html.raw("</tr>");
    }
    close(html);
}

/// All series, with the places at which they change.
pub(super) fn add_series(html: &mut Html, case: &Case) {
    let caption = "Figures in which changes were looked for. p of a row is that of no change anywhere, corrected for their number.";
    open(html, "all-series numbers", caption, Some("Search the series"));
    html.heads(&["Series", "Median ms", "p", "Changes"]);
    html.raw("<tbody>");
    for series in &case.series {
        html.raw("<tr>");
        html.element("th", &[("scope", &"row")], &series.text);
        html.number(Some(series.median), &ms(series.median));
        html.number(series.p_corrected, &series.p_corrected.map_or_else(String::new, probability));
        let is_row = series.p_corrected.is_some();
        let points = series.points.iter().map(|point| {
            let change = if is_row { format!("{} ms", signed(point.change)) } else { percent(point.change) };
            format!("run {}: {change}, p {}", point.run + 1, probability(point.p))
        });
        html.element("td", &[("class", &"word")], &points.collect::<Vec<_>>().join("; "));
        html.raw("</tr>");
    }
    close(html);
}

/// The runs, a row each: what the pictures show, as numbers.
pub(super) fn add_runs(html: &mut Html, case: &Case) {
    open(html, "runs numbers", "The time of each run, ms", Some("Search the runs"));
    let figures = shown(case);
    let mut heads = vec!["Run", "Recording", "Began"];
    heads.extend(figures.iter().map(|figure| name_of(FIGURES[*figure])));
    html.heads(&heads);
    html.raw("<tbody>");
    for (place, run) in case.runs.iter().enumerate() {
        html.open("tr", &[("data-run", &place)]);
        html.element("th", &[("scope", &"row")], &(place + 1).to_string());
        html.element("td", &[("class", &"word")], &run.recording);
        html.element("td", &[("class", &"word")], run.date.as_deref().unwrap_or_default());
        for figure in &figures {
            let value = run.values[*figure];
            html.number(value, &value.map_or_else(String::new, |ns| ms(ns as f64)));
        }
        html.raw("</tr>");
    }
    close(html);
}
