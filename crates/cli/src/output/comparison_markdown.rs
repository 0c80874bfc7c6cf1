//! A comparison as Markdown, for the summary of a build: tables of gates and figures, and a waterfall of text.

use std::fmt::Write as _;

use tracesift_ask::compare::difference::ShownRow;
use tracesift_ask::compare::{Case, CaseResult, Compared};

use super::comparison::{figure_cells, is_flagged, ms, shown_text, signed};
use super::report_text::{line, markdown, markdown_code};

/// GitHub refuses longer summaries of a step at 1 MiB, and other services longer comments at 64 KiB.
const LARGEST: usize = 64 << 10;

/// Room for the line that says that something is missing.
const ROOM: usize = 200;

/// Columns of the waterfall.
const WIDTH: usize = 40;

/// The text, at most 64 KiB.
pub(crate) fn text(compared: &Compared) -> String {
    let mut parts: Vec<String> = Vec::new();
    if compared.cases.iter().any(|case| !case.gates.is_empty()) {
        parts.push("| Test case | Gate | State | Reason |\n|---|---|---|---|\n".to_owned());
        for case in &compared.cases {
            let row = |gate: &tracesift_ask::compare::gates::GateOutcome| {
                let state = gate.state.word();
                format!(
                    "| {} | {} | {state} | {} |\n",
                    markdown(&case.name),
                    markdown(&gate.text),
                    markdown(&gate.reason)
                )
            };
            parts.extend(case.gates.iter().map(row));
        }
    }
    parts.extend(compared.cases.iter().map(case_text));
    let alone = |(case, label): &(String, String)| format!("\n{} is in {} only.\n", markdown(case), markdown(label));
    parts.extend(compared.unpaired.iter().map(alone));
    let mut text = String::new();
    for (place, part) in parts.iter().enumerate() {
        if text.len() + part.len() + ROOM > LARGEST {
            let _ = writeln!(text, "\n{} more parts do not fit.", parts.len() - place);
            break;
        }
        text.push_str(part);
    }
    text
}

fn case_text(case: &Case) -> String {
    let [a, b] = case.labels.each_ref().map(|label| markdown(label));
    let mut text = format!("\n### {}\n\n", markdown(&case.name));
    let runs = [case.split, case.runs.len() - case.split.min(case.runs.len())];
    let _ = writeln!(text, "{} + {} runs, {}\n", runs[0], runs[1], markdown(&case.comparable.text()));
    let Some(result) = &case.result else { return text };
    let _ = writeln!(
        text,
        "| Medians | {a} ms | {b} ms | Change | Interval | p | Verdict |\n|---|--:|--:|--:|--:|--:|---|"
    );
    for (name, figure) in [("Duration", &result.duration), ("Undisturbed", &result.undisturbed)] {
        let cells = figure_cells(figure).map(|cell| markdown(&cell));
        let _ = writeln!(text, "| {name} | {} |", cells.join(" | "));
    }
    text.push('\n');
    text.push_str(&markdown_code(&waterfall(case, result)));
    let _ = writeln!(text, "\n{}", markdown(&result.sentence));
    text
}

/// From the mean of the first set to that of the second, row by row.
fn waterfall(case: &Case, result: &CaseResult) -> Vec<String> {
    let [from, to] = result.duration.means;
    let mut at = from;
    let mut steps: Vec<(f64, f64, &ShownRow)> = Vec::new();
    for shown in &result.difference.shown {
        let next = at + shown.delta as f64;
        steps.push((at, next, shown));
        at = next;
    }
    let points = || steps.iter().flat_map(|(start, end, _)| [*start, *end]).chain([from, to]);
    let (low, high) = (points().fold(f64::INFINITY, f64::min), points().fold(f64::NEG_INFINITY, f64::max));
    let column = |value: f64| {
        let share = if high > low { (value - low) / (high - low) } else { 1.0 };
        (share * WIDTH as f64).round() as usize
    };
    let whole =
        |value: f64, label: &str| format!("{:>11}  {:<WIDTH$}  {label}", ms(value), "█".repeat(column(value).max(1)));
    let mut lines = vec![whole(from, &case.labels[0])];
    for (start, end, shown) in steps {
        let (left, right) = (column(start.min(end)), column(start.max(end)));
        let sign = if end < start { "░" } else { "█" };
        let bar = format!("{}{}", " ".repeat(left.min(WIDTH - 1)), sign.repeat((right - left).max(1)));
        let mark = if is_flagged(shown) { " *" } else { "" };
        lines.push(format!(
            "{:>11}  {bar:<WIDTH$}  {}{mark}",
            signed(shown.delta as f64),
            line(&shown_text(shown, case))
        ));
    }
    lines.push(whole(to, &case.labels[1]));
    lines
}
