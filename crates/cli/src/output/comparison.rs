//! A comparison as text for people. Every line fits 100 columns where names do; the verdict stands last, next to the prompt.

use std::fmt::Write as _;

use tracesift_ask::compare::difference::{Difference, Part, ShownRow};
use tracesift_ask::compare::figures::ComparedFigure;
use tracesift_ask::compare::gates::GateState;
use tracesift_ask::compare::run::Run;
use tracesift_ask::compare::{Case, CaseResult, Compared, RunOrder, Side, Verdict};

use super::cell::clean;
use super::comparison_changes as changes;
use super::wrap::add_wrapped;

use tracesift_report::numbers::{bound, digits};
pub(super) use tracesift_report::numbers::{ms, percent, probability, signed};

/// Where the text of a row goes on in the next line.
const ROW_INDENT: usize = 26;

/// The text.
pub(crate) fn text(compared: &Compared, details: bool) -> String {
    let mut text = String::new();
    for (place, case) in compared.cases.iter().enumerate() {
        if place > 0 {
            text.push('\n');
        }
        add_case(&mut text, case, details);
    }
    if compared.cases.len() > 1 {
        text.push('\n');
        add_summary(&mut text, compared);
    }
    text
}

/// A line per case, and the mean over all.
fn add_summary(text: &mut String, compared: &Compared) {
    let name = |case: &Case| format!("{} ({} → {})", clean(&case.name), case.labels[0], case.labels[1]);
    let names: Vec<String> = compared.cases.iter().map(name).collect();
    let width = names.iter().map(|name| name.chars().count()).max().unwrap_or(0).clamp("Geometric mean".len(), 50);
    let _ =
        writeln!(text, "{:width$}  {:>8}  {:>11}  {:>6}  {:>9}", "Case", "Duration", "Undisturbed", "p", "corrected");
    for ((case, name), corrected) in compared.cases.iter().zip(&names).zip(compared.corrected()) {
        let Some(result) = &case.result else {
            let _ = writeln!(text, "{name:width$}  not comparable");
            continue;
        };
        let [duration, own] = [&result.duration, &result.undisturbed].map(|figure| percent(figure.change()));
        let [p, corrected] = [result.undisturbed.p(), corrected].map(|p| p.map_or_else(String::new, probability));
        let verdict = verdict(&result.undisturbed);
        let _ = writeln!(text, "{name:width$}  {duration:>8}  {own:>11}  {p:>6}  {corrected:>9}  {verdict}");
    }
    if let Some(means) = compared.mean_ratios() {
        let [duration, own] = means.map(|ratio| percent(ratio - 1.0));
        let _ = writeln!(text, "{:width$}  {duration:>8}  {own:>11}", "Geometric mean");
    }
    add_gates(text, compared);
}

fn add_case(text: &mut String, case: &Case, details: bool) {
    let labels = &case.labels;
    let [a, b] = [Side::A, Side::B].map(|side| case.set(side).len());
    let runs = |count: usize| if count == 1 { "1 run".to_owned() } else { format!("{count} runs") };
    let order = order_words(case.order);
    let _ = writeln!(text, "{}  {} in {}, {b} in {}, {order}", clean(&case.name), runs(a), labels[0], labels[1]);
    add_wrapped(text, 4, &case.comparable.text());
    if let Some(result) = &case.result {
        text.push('\n');
        add_figures(text, result, labels, [a, b]);
        text.push('\n');
        add_rows(text, case, result);
        if details {
            text.push('\n');
            add_runs(text, case, labels);
            text.push('\n');
            add_all_rows(text, &result.difference, labels);
        }
        changes::add_metrics(text, &result.metrics, labels, details);
        changes::add(text, &case.changes, details);
    }
    for gate in &case.gates {
        add_wrapped(text, 2, &format!("Gate {} {}: {}.", gate.text, gate.state.word(), gate.reason));
    }
    if let Some(result) = &case.result {
        add_wrapped(text, 2, &result.sentence);
    }
}

/// In which order the sets were recorded.
pub(super) fn order_words(order: RunOrder) -> &'static str {
    match order {
        RunOrder::Interleaved => "interleaved",
        RunOrder::Mixed => "in turn",
        RunOrder::Sessions => "in sessions of one set each",
        RunOrder::OneAfterOther => "one set after the other",
        RunOrder::Unknown => "in an unknown order",
    }
}

/// `Gates: 3 passed, 1 failed, 0 undecided.`
fn add_gates(text: &mut String, compared: &Compared) {
    let states = [GateState::Passed, GateState::Failed, GateState::Undecided];
    let counts = states.map(|state| (compared.gates_in(state), state.word()));
    if counts.iter().any(|(count, _)| *count > 0) {
        let counts = counts.map(|(count, word)| format!("{count} {word}"));
        let _ = writeln!(text, "Gates: {}.", counts.join(", "));
    }
}

fn add_figures(text: &mut String, result: &CaseResult, labels: &[String; 2], runs: [usize; 2]) {
    let heads = labels.each_ref().map(|label| format!("{label} ms"));
    let width = |place: usize| heads[place].chars().count().max(9);
    let (first, second) = (width(0), width(1));
    let level = 100.0 * result.duration.comparison.confidence.level();
    let interval = format!("{level:.0} % interval");
    let _ = writeln!(
        text,
        "{:13}{:>first$}  {:>second$}  {:>8}  {interval:>19}  {:>6}",
        "  Medians", heads[0], heads[1], "Change", "p"
    );
    for figure in [&result.duration, &result.undisturbed] {
        let name = if figure.name == "duration" { "Duration" } else { "Undisturbed" };
        let [a, b, change, interval, p, verdict] = figure_cells(figure);
        let line = format!("  {name:11}{a:>first$}  {b:>second$}  {change:>8}  {interval:>19}  {p:>6}  {verdict}");
        let _ = writeln!(text, "{}", line.trim_end());
    }
    add_detectable(text, result, runs);
}

/// Medians of both sets, change, interval, p and verdict.
pub(super) fn figure_cells(figure: &ComparedFigure) -> [String; 6] {
    let [a, b] = figure.medians.map(ms);
    let interval =
        figure.interval().map_or_else(String::new, |(low, high)| format!("{} … {} %", bound(low), bound(high)));
    let p = figure.p().map_or_else(String::new, probability);
    [a, b, percent(figure.change()), interval, p, verdict(figure).to_owned()]
}

/// Which changes so many runs show, where something is undecided.
fn add_detectable(text: &mut String, result: &CaseResult, [a, b]: [usize; 2]) {
    let is_undecided = |figure: &ComparedFigure| figure.verdict == Verdict::Undecided && !figure.is_chosen;
    let least = |figure: &ComparedFigure| figure.detectable.map(|least| digits(100.0 * least));
    let CaseResult { duration, undisturbed, .. } = result;
    if !is_undecided(duration) && !is_undecided(undisturbed) {
        return;
    }
    if let (Some(least), Some(own)) = (least(duration), least(undisturbed)) {
        let _ = writeln!(text, "{a} + {b} runs show changes from {least} % on (undisturbed: from {own} % on).");
    }
}

/// What a figure says.
pub(super) fn verdict(figure: &ComparedFigure) -> &'static str {
    if figure.is_chosen { "chose the sets" } else { verdict_word(figure.verdict) }
}

/// The word for a verdict.
pub(crate) fn verdict_word(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Slower => "slower",
        Verdict::Faster => "faster",
        Verdict::Same => "same",
        Verdict::Undecided => "undecided",
    }
}

fn add_rows(text: &mut String, case: &Case, result: &CaseResult) {
    let CaseResult { difference, duration, .. } = result;
    let total = difference.total as f64;
    let [a, b] = duration.means.map(ms);
    let _ = writeln!(text, "The means differ by {} ms: {a} → {b}.", signed(total));
    let _ = writeln!(text, "  {:>10}  {:>8}", "ms", "±");
    for shown in &difference.shown {
        let delta = signed(shown.delta as f64);
        let half = shown.row().and_then(|row| row.half_width).map(ms);
        let mark = if is_flagged(shown) { "*" } else { " " };
        let numbers = format!("  {delta:>10}  {:>8} {mark}  ", half.unwrap_or_default());
        add_wrapped(text, ROW_INDENT, &format!("{numbers}{}", shown_text(shown, case)));
    }
    let _ = writeln!(text, "  {:>10}  {:>8}    sum", signed(total), "");
}

/// A part with its marks: what it is, who took it, and the runs that have most of it.
pub(super) fn shown_text(shown: &ShownRow, case: &Case) -> String {
    format!("{}{}", shown.text(), shown_remark(shown, case))
}

/// The marks alone.
pub(super) fn shown_remark(shown: &ShownRow, case: &Case) -> String {
    let mut text = String::new();
    if shown.is_symptom {
        text.push_str("  because of the row above");
    }
    let Some(row) = shown.row() else { return text };
    if let Some(mark) = row.mark {
        let _ = write!(text, "  {}", mark.word());
    }
    if !shown.who.is_empty() {
        let _ = write!(text, "  {}", shown.who.join(", "));
    }
    if !shown.most.is_empty() {
        let runs: Vec<String> = shown.most.iter().map(|place| run_name(case, *place)).collect();
        let _ = write!(text, "; most in {}", runs.join(", "));
    }
    if let Some([often, longer]) = row.often_longer.filter(|_| row.is_flagged) {
        let _ = write!(text, "  more often {} ms, longer {} ms", signed(often as f64), signed(longer as f64));
    }
    text
}

/// A part as a line: `+9.0 ms  w main runs w!burn`.
pub(super) fn row_line(shown: &ShownRow, case: &Case) -> String {
    format!("{} ms  {}", signed(shown.delta as f64), shown_text(shown, case))
}

/// Whether a row of the difference is no chance.
pub(super) fn is_flagged(shown: &ShownRow) -> bool {
    match &shown.part {
        Part::Row(row) => row.is_flagged,
        Part::Speed(_) | Part::Moved(_) => true,
        Part::Others => false,
    }
}

/// A run by its place in its set: `B2`.
pub(super) fn run_name(case: &Case, place: usize) -> String {
    let (label, number) =
        if place < case.split { (&case.labels[0], place + 1) } else { (&case.labels[1], place - case.split + 1) };
    run_number(label, number)
}

/// `B2`; behind a digit the number would be part of the label.
fn run_number(label: &str, number: usize) -> String {
    if label.ends_with(|c: char| c.is_ascii_digit()) {
        format!("{label} #{number}")
    } else {
        format!("{label}{number}")
    }
}

/// All rows of the finest level that are worth a tenth of a millisecond, the largest first.
fn add_all_rows(text: &mut String, difference: &Difference, labels: &[String; 2]) {
    let mut rows: Vec<_> = difference.rows.iter().filter(|row| row.delta.abs() >= 50_000).collect();
    rows.sort_by_key(|row| std::cmp::Reverse(row.delta.abs()));
    let [a, b] = labels.each_ref().map(|label| format!("{label} ms"));
    let _ = writeln!(text, "  {a:>10}  {b:>10}  {:>10}  {:>6}  Row", "ms", "p");
    for row in rows {
        let [a, b] = row.means.map(ms);
        let p = row.p.map_or_else(String::new, probability);
        let mark = row.mark.map(|mark| format!("  {}", mark.word())).unwrap_or_default();
        let delta = signed(row.delta as f64);
        let numbers = format!("  {a:>10}  {b:>10}  {delta:>10}  {p:>6}  ");
        add_wrapped(text, numbers.chars().count(), &format!("{numbers}{}{mark}", row.text()));
    }
}

fn add_runs(text: &mut String, case: &Case, labels: &[String; 2]) {
    let _ = writeln!(text, "  {:>10}  {:>11}  Set  Run", "ms", "undisturbed");
    for (side, label) in [Side::A, Side::B].into_iter().zip(labels) {
        for (number, run) in (1..).zip(case.set(side)) {
            let [duration, own] = [run.duration(), run.undisturbed()].map(|time| ms(time as f64));
            let number = run_number(label, number);
            let numbers = format!("  {duration:>10}  {own:>11}  {number}  ");
            add_wrapped(text, numbers.chars().count(), &format!("{numbers}{}{}", run.name, taken(run)));
        }
    }
}

/// What others took from a run.
fn taken(run: &Run) -> String {
    let kinds: Vec<String> = run
        .disturbances()
        .into_iter()
        .filter(|(_, time)| *time >= 100_000)
        .map(|(kind, time)| format!("{kind} {} ms", ms(time as f64)))
        .collect();
    if kinds.is_empty() { String::new() } else { format!("  ({})", kinds.join(", ")) }
}
