//! What differs between two sets beside their time, as text for people.

use std::fmt::Write as _;

use tracesift_ask::compare::changes::{Change, Changes};
use tracesift_ask::compare::metrics::{ComparedMetric, Metrics};

use super::cell::clean;
use super::comparison::{percent, probability, signed};
use super::wrap::add_wrapped;

/// More changes of a kind are counted only, unless all are asked for.
const SHOWN: usize = 6;

/// Longer values are cut.
const LONGEST: usize = 40;

/// Adds the changes, a line for each kind that has some.
pub(super) fn add(text: &mut String, changes: &Changes, all: bool) {
    let most = if all { usize::MAX } else { SHOWN };
    // What varies inside of a set does not tell the sets apart.
    let tells = |change: Change| all || change != Change::Varies;
    let facts = changes.facts.iter().filter(|fact| tells(fact.change));
    let facts = facts.map(|fact| changed(&fact.key, fact.change, &fact.a, &fact.b)).collect();
    let modules = changes.modules.iter().filter(|module| tells(module.change));
    let modules = modules.map(|module| changed(&module.module, module.change, &module.a, &module.b));
    let mut processes: Vec<String> = Vec::new();
    for (process, place) in &changes.processes {
        processes.push(format!("{} {}", clean(process), if *place == 0 { "gone" } else { "new" }));
    }
    for (title, parts) in [("Facts", facts), ("Modules", modules.collect()), ("Processes", processes)] {
        let parts: Vec<String> = parts;
        if parts.is_empty() {
            continue;
        }
        let more = match parts.len().saturating_sub(most) {
            0 => String::new(),
            more => format!(", and {more} more (--details)"),
        };
        add_wrapped(text, 4, &format!("{title} that differ: {}{more}.", parts[..parts.len().min(most)].join(", ")));
    }
    if changes.unknown_modules > 0 && all {
        let _ = writeln!(text, "Modules of which no build is known: {}.", changes.unknown_modules);
    }
}

/// Adds the metrics that differ by more than chance, or all of them.
pub(super) fn add_metrics(text: &mut String, metrics: &Metrics, labels: &[String; 2], all: bool) {
    let has_other_cpu = metrics.compared.iter().any(|metric| metric.is_flagged && metric.name == "counted-cpu");
    if let Some(parts) = metrics.by_counters.filter(|_| all || has_other_cpu) {
        let [more, slower, clock] = [parts.instructions, parts.cycles, parts.clock].map(signed);
        let sum = signed(parts.instructions + parts.cycles + parts.clock);
        let parts = format!("more instructions {more} ms, slower ones {slower} ms, a lower clock {clock} ms");
        add_wrapped(text, 4, &format!("CPU time with counters {sum} ms: {parts}."));
    }
    if all {
        let _ = writeln!(text);
        let width = metrics.compared.iter().map(|metric| metric.text.len()).max().unwrap_or(0);
        if !metrics.compared.is_empty() {
            let [a, b] = labels;
            let _ = writeln!(text, "  {:width$}  {a:>16}  {b:>16}  {:>9}  {:>6}", "Metric", "Change", "p");
        }
        for metric in &metrics.compared {
            let [a, b] = metric.means.map(|mean| mean.to_string());
            let p = metric.p.map_or_else(String::new, probability);
            let mark = if metric.is_flagged { "*" } else { " " };
            let change = metric.change().map_or_else(|| "new".to_owned(), percent);
            let line = format!("  {:width$}  {a:>16}  {b:>16}  {change:>9}  {p:>6} {mark}", metric.text);
            let _ = writeln!(text, "{}", line.trim_end());
        }
        let missing: Vec<&str> = metrics.missing.iter().map(|metric| metric.text).collect();
        if !missing.is_empty() {
            add_wrapped(text, 4, &format!("Not known of all runs: {}.", missing.join(", ")));
        }
        return;
    }
    let differ: Vec<String> = metrics.compared.iter().filter(|metric| metric.is_flagged).map(metric_text).collect();
    if !differ.is_empty() {
        add_wrapped(text, 4, &format!("Metrics that differ: {}.", differ.join(", ")));
    }
}

/// `page faults 1,200 → 2,400 (+100 %)`.
fn metric_text(metric: &ComparedMetric) -> String {
    let [a, b] = metric.means;
    let change = metric.change().map(|change| format!(" ({})", percent(change))).unwrap_or_default();
    format!("{} {a} → {b}{change}", metric.text)
}

fn changed(name: &str, change: Change, a: &[String], b: &[String]) -> String {
    let name = clean(name);
    match change {
        Change::New => format!("{name} new"),
        Change::Gone => format!("{name} gone"),
        Change::Changed => format!("{name} {} → {}", quoted(a), quoted(b)),
        Change::Varies => format!("{name} varies"),
    }
}

fn quoted(values: &[String]) -> String {
    let values: Vec<String> = values.iter().map(|value| format!("\"{}\"", cut(&clean(value)))).collect();
    if values.is_empty() { "unknown".to_owned() } else { values.join(", ") }
}

fn cut(value: &str) -> String {
    if value.chars().count() <= LONGEST {
        return value.to_owned();
    }
    value.chars().take(LONGEST - 1).chain(['…']).collect()
}
