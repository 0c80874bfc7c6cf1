//! An explanation as text for people: the answer in a sentence, the account, the largest rows, and the findings with their commands. Lines
//! fit 100 columns, but for commands: they stay whole, so that they can be copied.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use tracesift_ask::explain::account::Share;
use tracesift_ask::explain::findings::shown_share;
use tracesift_ask::explain::{ExplainedAccount, Explanation, Finding, Unlooked};
use tracesift_ask::time_format::decimal;

use super::cell::{clean, grouped};
use super::wrap::add_wrapped;

/// The text.
pub(crate) fn text(explanations: &[Explanation]) -> String {
    let mut text = String::new();
    for (place, explanation) in explanations.iter().enumerate() {
        if place > 0 {
            text.push('\n');
        }
        if explanations.len() > 1 {
            add(&mut text, 0, &explanation.name);
        }
        add_one(&mut text, explanation);
    }
    text
}

fn add_one(text: &mut String, explanation: &Explanation) {
    add(text, 0, &explanation.sentence);
    text.push('\n');
    match &explanation.account {
        Ok(account) => add_account(text, account),
        Err(why) => add(text, 0, &format!("No account: {why}")),
    }
    text.push('\n');
    if explanation.findings.is_empty() {
        add(text, 0, "No rule fits.");
    }
    for (number, finding) in (1..).zip(&explanation.findings) {
        add_finding(text, number, finding);
    }
    add_unlooked(text, &explanation.unlooked);
    for warning in &explanation.warnings {
        add(text, 2, &format!("Warning: {warning}"));
    }
}

fn add_account(text: &mut String, account: &ExplainedAccount) {
    let _ = writeln!(text, "  {:>12}  {:>6}", "ms", "%");
    let mut line = |time: i64, name: &str| {
        let _ = writeln!(text, "  {:>12}  {:>6}  {}", ms(time), percent(time, account.length), clean(name));
    };
    account.shares.iter().for_each(|share| line(share.time, &share_name(share)));
    line(account.length, "window");
    if account.largest.is_empty() {
        return;
    }
    let shown = account.largest.len();
    let rows = if account.rows == shown {
        "The rows:".to_owned()
    } else {
        format!("The {shown} largest of {} rows:", account.rows)
    };
    let _ = writeln!(text, "{rows}");
    for row in &account.largest {
        let line =
            format!("  {:>12}  {:>6}  {}", ms(row.time()), percent(row.time(), account.length), clean(&row.text));
        add_wrapped(text, 24, &line);
    }
}

/// What a share is called.
pub(super) fn share_name(share: &Share) -> String {
    match (share.disturbance, share.state) {
        (Some(kind), _) => format!("disturbed: {kind}"),
        (None, Some("wait")) => "waits".to_owned(),
        (None, Some("run")) => "runs".to_owned(),
        (None, state) => state.unwrap_or_default().to_owned(),
    }
}

fn add_finding(text: &mut String, number: usize, finding: &Finding) {
    let figures: Vec<String> = finding
        .figures
        .iter()
        .map(|figure| {
            let share = figure.share.map(|share| format!(", {}", shown_share(share))).unwrap_or_default();
            format!("{}{share} ({})", figure.amount, figure.threshold)
        })
        .collect();
    let time = match finding.time {
        Some(_) if finding.is_on_path => " of the path",
        _ => "",
    };
    add_wrapped(text, 3, &format!("{number}. {}: {}{time}", finding.rule, figures.join("; ")));
    add(text, 3, &finding.sentence);
    let _ = writeln!(text, "     {}", clean(&finding.short));
}

/// The rules that could not be looked at, with equal reasons together.
pub(super) fn by_reason(unlooked: &[Unlooked]) -> BTreeMap<&str, Vec<&str>> {
    let mut by_reason: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for rule in unlooked {
        by_reason.entry(&rule.why).or_default().push(&rule.rule);
    }
    by_reason
}

fn add_unlooked(text: &mut String, unlooked: &[Unlooked]) {
    let by_reason = by_reason(unlooked);
    if by_reason.is_empty() {
        return;
    }
    let _ = writeln!(text, "Not looked at:");
    for (why, rules) in by_reason {
        add_wrapped(text, 4, &format!("  {}: {why}", rules.join(", ")));
    }
}

/// Adds a text in lines that begin with blanks.
fn add(text: &mut String, indent: usize, more: &str) {
    add_wrapped(text, indent, &format!("{}{more}", " ".repeat(indent)));
}

/// Milliseconds of nanoseconds, with a tenth.
fn ms(ns: i64) -> String {
    grouped(&decimal(ns, 6, 1))
}

fn percent(part: i64, whole: i64) -> String {
    format!("{:.1}", part as f64 / whole.max(1) as f64 * 100.0)
}
