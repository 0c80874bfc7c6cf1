//! The gates of a comparison as workflow commands of GitHub: an annotation for each that was not kept.

use std::fmt::Write as _;
use std::hash::{BuildHasher as _, RandomState};

use tracesift_ask::compare::Compared;
use tracesift_ask::compare::gates::GateState;

use super::report_text::{github_message, github_property};

/// The lines, each with its end.
pub(crate) fn lines(compared: &Compared) -> String {
    let mut text = String::new();
    for case in &compared.cases {
        for gate in &case.gates {
            let (command, said) = match gate.state {
                GateState::Passed => continue,
                GateState::Failed => ("error", "failed"),
                GateState::Undecided => ("warning", "undecided"),
            };
            let title = github_property(&format!("{}: {} {said}", case.name, gate.text));
            let sentence = case.result.as_ref().map(|result| format!(". {}", result.sentence)).unwrap_or_default();
            let _ =
                writeln!(text, "::{command} title={title}::{}", github_message(&format!("{}{sentence}", gate.reason)));
        }
    }
    text
}

/// A text that a runner shows and does not obey: names in it can begin a line.
pub(crate) fn shown(text: &str) -> String {
    // Nobody who names a file or a method can know it.
    let token = format!("tracesift-{:016x}", RandomState::new().hash_one(text));
    format!("::stop-commands::{token}\n{text}::{token}::\n")
}
