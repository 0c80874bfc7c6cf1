//! A history as text for people. Every line fits 100 columns where names do; how the last runs stand is told last, next to the prompt.

use std::fmt::Write as _;

use tracesift_ask::compare::difference::{Difference, ShownRow};
use tracesift_ask::compare::figures::ComparedFigure;
use tracesift_ask::compare::run::Run;
use tracesift_ask::history::case::NEAR;
use tracesift_ask::history::{CaseHistory, Event, History, Latest, Outlier, Turn};

use super::cell::clean;
use super::comparison::{figure_cells, is_flagged, ms, percent, probability, signed};
use super::wrap::add_wrapped;

/// Where the text of a row goes on in the next line.
const ROW_INDENT: usize = 26;

/// More of a list are counted only, unless all are asked for.
const SHOWN: usize = 6;

/// Longer values are cut.
const LONGEST: usize = 40;

/// The text.
pub(crate) fn text(history: &History, details: bool) -> String {
    let mut text = String::new();
    for (place, case) in history.cases.iter().enumerate() {
        if place > 0 {
            text.push('\n');
        }
        add_case(&mut text, case, details);
    }
    text
}

fn add_case(text: &mut String, case: &CaseHistory, details: bool) {
    let runs = counted(case.runs.len(), "run");
    let time = match (case.runs.first(), case.runs.last()) {
        (Some(first), Some(last)) if case.runs.len() > 1 => format!(", {} to {}", date(first), date(last)),
        (Some(only), _) => format!(", {}", date(only)),
        _ => String::new(),
    };
    let _ = writeln!(text, "{}  {runs}{time}, {}", clean(&case.name), counted(case.turns.len(), "change"));
    text.push('\n');
    add_segments(text, case);
    for turn in &case.turns {
        text.push('\n');
        add_turn(text, case, turn, details);
    }
    if !case.outliers.is_empty() {
        text.push('\n');
        add_outliers(text, case, details);
    }
    if details {
        text.push('\n');
        add_series(text, case);
    }
    text.push('\n');
    add_latest(text, case);
}

fn add_segments(text: &mut String, case: &CaseHistory) {
    let has_cpu = case.segments.iter().any(|segment| segment.cpu.is_some());
    let cpu = if has_cpu { "       CPU ms" } else { "" };
    let _ = writeln!(text, "  {:>11}  {:19}  {:>11}  {:>14}{cpu}", "Runs", "From", "Duration ms", "Undisturbed ms");
    for segment in &case.segments {
        let numbers = format!("{}–{}", segment.first + 1, segment.end);
        let from = case.runs.get(segment.first).map_or_else(String::new, date);
        let [duration, undisturbed] = [segment.duration, segment.undisturbed].map(ms);
        let cpu = segment.cpu.map(|cpu| format!("  {:>11}", ms(cpu))).unwrap_or_default();
        let _ = writeln!(text, "  {numbers:>11}  {from:19}  {duration:>11}  {undisturbed:>14}{cpu}");
    }
}

fn add_turn(text: &mut String, case: &CaseHistory, turn: &Turn, details: bool) {
    let Some(run) = case.runs.get(turn.place) else { return };
    let (first, last) = (turn.between.0 + 1, turn.between.1 + 1);
    let between = if first == last { String::new() } else { format!(", by the figures from run {first} to {last}") };
    add_wrapped(text, 4, &format!("From run {} on, {}, {}{between}:", turn.place + 1, date(run), run.name));
    add_figures(text, &turn.figures);
    let events: Vec<String> = turn.events.iter().map(|event| event_text(event, turn.place)).collect();
    if events.is_empty() {
        add_wrapped(text, 4, "  No build and no fact of the machine changed there.");
    } else {
        add_list(text, "  What changed there", &events, details);
    }
    add_list(text, "  Seen in", &seen(case, turn), details);
    add_rows(text, turn);
}

fn add_figures(text: &mut String, figures: &[ComparedFigure]) {
    let level = figures.first().map_or(0.95, |figure| figure.comparison.confidence.level());
    let interval = format!("{:.0} % interval", 100.0 * level);
    let _ = writeln!(
        text,
        "  {:13}{:>9}  {:>9}  {:>8}  {interval:>19}  {:>7}",
        "Medians", "Before ms", "After ms", "Change", "p"
    );
    for figure in figures {
        let name = match figure.name {
            "duration" => "Duration",
            "undisturbed" => "Undisturbed",
            _ => "CPU time",
        };
        let [before, after, change, interval, p, verdict] = figure_cells(figure);
        let _ = writeln!(text, "  {name:13}{before:>9}  {after:>9}  {change:>8}  {interval:>19}  {p:>7}  {verdict}");
    }
}

/// The series that tell of a change.
pub(super) fn seen(case: &CaseHistory, turn: &Turn) -> Vec<String> {
    let mut texts: Vec<String> = Vec::new();
    for (series, _) in &turn.seen {
        let Some(series) = case.series.get(*series) else { continue };
        if !texts.contains(&series.text) {
            texts.push(series.text.clone());
        }
    }
    texts
}

/// The rows of the difference, and what speaks against comparing the runs.
fn add_rows(text: &mut String, turn: &Turn) {
    let near = &turn.near;
    let [before, after] = [near.split, near.runs.len().saturating_sub(near.split)];
    for reason in &near.comparable.reasons {
        if is_told(turn, &reason.key) {
            add_wrapped(text, 4, &format!("  Note: {}.", reason.text));
        }
    }
    let Some(result) = &near.result else { return };
    let Difference { total, shown, .. } = &result.difference;
    let [a, b] = result.duration.means.map(ms);
    let runs = if before.max(after) >= NEAR { "nearest " } else { "" };
    let delta = signed(*total as f64);
    add_wrapped(
        text,
        4,
        &format!("  The means of the {runs}{before} runs before and {after} after differ by {delta} ms: {a} → {b}."),
    );
    let _ = writeln!(text, "  {:>10}  {:>8}", "ms", "±");
    for row in shown {
        add_row(text, row);
    }
    let _ = writeln!(text, "  {delta:>10}  {:>8}    sum", "");
}

/// Whether a reason against comparing the runs is told: a history is in the order of time, and builds and facts have been named.
pub(super) fn is_told(turn: &Turn, key: &str) -> bool {
    !["order", "runs", "outlier", "dependence"].contains(&key) && !turn.events.iter().any(|event| event.name == key)
}

fn add_row(text: &mut String, shown: &ShownRow) {
    let row = shown.row();
    let half = row.and_then(|row| row.half_width).map_or_else(String::new, ms);
    let mark = if is_flagged(shown) { "*" } else { " " };
    let delta = signed(shown.delta as f64);
    let mut line = format!("  {delta:>10}  {half:>8} {mark}  {}", shown.text());
    if shown.is_symptom {
        line.push_str("  because of the row above");
    }
    if let Some(mark) = row.and_then(|row| row.mark) {
        let _ = write!(line, "  {}", mark.word());
    }
    if !shown.who.is_empty() {
        let _ = write!(line, "  {}", shown.who.join(", "));
    }
    add_wrapped(text, ROW_INDENT, &line);
}

/// `app.dll "1.2" → "1.3"`; where it is not the place of the change, with its run.
fn event_text(event: &Event, place: usize) -> String {
    let name = clean(&event.name);
    let what = match (&event.before, &event.after) {
        (Some(before), Some(after)) => format!("{name} {} → {}", quoted(before), quoted(after)),
        (None, Some(after)) => format!("{name} {} new", quoted(after)),
        (Some(before), None) => format!("{name} {} gone", quoted(before)),
        (None, None) => name.into_owned(),
    };
    if event.place == place { what } else { format!("{what} (run {})", event.place + 1) }
}

fn quoted(value: &str) -> String {
    let value = clean(value);
    if value.chars().count() <= LONGEST {
        return format!("\"{value}\"");
    }
    format!("\"{}…\"", value.chars().take(LONGEST - 1).collect::<String>())
}

fn add_list(text: &mut String, title: &str, parts: &[String], all: bool) {
    if parts.is_empty() {
        return;
    }
    let most = if all { parts.len() } else { SHOWN.min(parts.len()) };
    let more = match parts.len() - most {
        0 => String::new(),
        more => format!(", and {more} more (--details)"),
    };
    add_wrapped(text, 4, &format!("{title}: {}{more}.", parts[..most].join(", ")));
}

fn add_outliers(text: &mut String, case: &CaseHistory, details: bool) {
    let runs = case.outliers.len();
    let stand = if runs == 1 { "stands" } else { "stand" };
    let _ = writeln!(text, "{} {stand} apart from the segment:", counted(runs, "run"));
    let most = if details { runs } else { SHOWN.min(runs) };
    for Outlier { place, change, parts } in &case.outliers[..most] {
        let Some(run) = case.runs.get(*place) else { continue };
        let parts = if parts.is_empty() { String::new() } else { format!(": {}", parts.join(", ")) };
        let line = format!("  {:>5}  {}  {}  {}{parts}", place + 1, date(run), percent(*change), run.name);
        add_wrapped(text, 9, &line);
    }
    if runs > most {
        let _ = writeln!(text, "  and {} more (--details)", runs - most);
    }
}

/// All series with the places at which they change.
fn add_series(text: &mut String, case: &CaseHistory) {
    let _ = writeln!(text, "  {:>8}  {:>8}  Figure: from run, change, p", "median", "p");
    for series in &case.series {
        let p = series.p_corrected.map_or_else(String::new, probability);
        let points = series.points.iter().map(|point| {
            let change = if series.p_corrected.is_some() {
                format!("{} ms", signed(point.change))
            } else {
                percent(point.change)
            };
            format!("{} ({change}, {})", point.likeliest + 1, probability(point.p))
        });
        let points: Vec<String> = points.collect();
        let points = if points.is_empty() { "no change".to_owned() } else { points.join(", ") };
        let line = format!("  {:>8}  {p:>8}  {}: {points}", ms(series.median()), series.text);
        add_wrapped(text, ROW_INDENT, &line);
    }
}

fn add_latest(text: &mut String, case: &CaseHistory) {
    let Some(Latest { place, before, figures }) = &case.latest else {
        text.push_str("Too few runs since the last change to compare the last ones with those before them.\n");
        return;
    };
    let last = case.runs.len() - place;
    let _ = writeln!(text, "The last {last} runs against the {before} before them:");
    add_figures(text, figures);
}

/// `no run`, `1 run`, `3 runs`.
pub(super) fn counted(count: usize, what: &str) -> String {
    match count {
        0 => format!("no {what}"),
        1 => format!("1 {what}"),
        count => format!("{count} {what}s"),
    }
}

/// The time of a run, without parts of a second.
pub(super) fn date(run: &Run) -> String {
    let date = run.date.as_deref().unwrap_or("unknown time");
    date.split('.').next().unwrap_or(date).to_owned()
}
