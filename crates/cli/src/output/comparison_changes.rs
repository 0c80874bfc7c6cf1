//! What differs between two sets beside their time, as text for people.

use std::fmt::Write as _;

use tracesift_ask::compare::changes::{Change, Changes};

use super::cell::clean;

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
        let _ = writeln!(text, "{title} that differ: {}{more}.", parts[..parts.len().min(most)].join(", "));
    }
    if changes.unknown_modules > 0 && all {
        let _ = writeln!(text, "Modules of which no build is known: {}.", changes.unknown_modules);
    }
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
