//! The commands that go on from an overview.

use super::{Overview, ProcessPart, pids};
use crate::answer::{ColumnOf, Kind};
use crate::command_line::{line, short_name};
use crate::recording_label::path_text;

/// A command, and what it says more of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NextPart {
    /// The part of the overview that the command continues.
    pub of: &'static str,
    /// The command with the file's whole path.
    pub command: String,
    /// The same command; a long name is shortened to a pattern.
    pub short: String,
}

/// The columns of the objects in `next`.
pub(super) const COLUMNS: &[ColumnOf<NextPart>] = &[
    ColumnOf::always("of", "Of", Kind::Text, |n| n.of.into(), "The part of the overview that the command continues."),
    ColumnOf::always(
        "command",
        "Command",
        Kind::LongText,
        |n| (&n.command).into(),
        "The command, as a shell takes it.",
    ),
];

/// The processes whose waits are looked at, as a filter: all but the idle loop's id, which is that of interrupts, too.
pub(super) fn waiting(processes: &[ProcessPart]) -> String {
    pids(processes.iter().map(|process| process.pid).filter(|pid| *pid != 0))
}

/// The commands, in the order of the blocks.
pub(super) fn of(overview: &Overview) -> Vec<NextPart> {
    let file = &overview.file;
    let (whole, short) = (path_text(&file.path), short_name(&file.path));
    let mut next = Vec::new();
    let part = |of: &'static str, before: &[&str], after: &[&str]| {
        let with = |name: &str| {
            line(["tracesift"].into_iter().chain(before.iter().copied()).chain([name]).chain(after.iter().copied()))
        };
        NextPart { of, command: with(&whole), short: with(&short) }
    };
    if !file.is_imported {
        next.push(part("complete", &["dump", "stats"], &[]));
    }
    if overview.finding.is_some() {
        next.push(part("finding", &["explain"], &[]));
    }
    if overview.frames_without_name.is_some_and(|frames| frames > 0) {
        next.push(part("names", &["symbols", "missing"], &["--top", "10"]));
    }
    if overview.cpu.is_some() {
        next.push(part("processes", &["dump", "cpu"], &["--top", "5", "--details"]));
    } else if overview.run.is_some() {
        next.push(part("processes", &["dump", "cpu"], &["--top", "5", "--sort", "run", "--details"]));
    }
    let largest = overview.processes.iter().rev().find(|process| process.pid != 0);
    if let Some(process) = largest.filter(|process| !process.tags.is_empty()) {
        next.push(part(
            "tags",
            &["dump", "cpu"],
            &["-p", &process.pid.to_string(), "--stacktags", "*", "--top-methods", "10"],
        ));
    }
    if !overview.waits.is_empty() {
        next.push(part("waits", &["dump", "waits"], &["-p", &waiting(&overview.processes)]));
    }
    if !overview.disks.is_empty() {
        next.push(part("disks", &["dump", "disk"], &["--by", "process,file", "--top", "10"]));
    }
    if !overview.failing.is_empty() {
        next.push(part("failing_calls", &["dump", "syscalls"], &["--errors", "*", "--sort", "failed"]));
    }
    next.extend(overview.classes.iter().map(|class| {
        let options: &[&str] = if class.option.is_empty() { &[] } else { &[class.option] };
        part("classes", &["dump", class.question], options)
    }));
    next
}
