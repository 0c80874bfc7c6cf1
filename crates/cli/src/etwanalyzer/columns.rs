//! ETWAnalyzer's names of columns on the console, for `-column`, with ours.

use tracesift_ask::etwanalyzer::Words;
use tracesift_grammar::Pattern;

use crate::exit::UsageError;

/// Translates a list such as `Process;Return*` or `!User;+Session`. Where columns cannot be chosen there, no names are known, and those of the
/// list are ours.
pub(super) fn translate(names: Words, list: &str) -> Result<String, UsageError> {
    if names.is_empty() {
        return Ok(list.to_owned());
    }
    let mut ours: Vec<String> = Vec::new();
    for item in list.split([';', ',']).map(str::trim).filter(|item| !item.is_empty()) {
        let (sign, name) = match item.strip_prefix(['!', '+']) {
            Some(name) => (item.get(..1).unwrap_or_default(), name),
            None => ("", item),
        };
        let pattern = Pattern::new(name);
        let found: Vec<String> = names
            .iter()
            .filter(|(theirs, _)| pattern.matches(theirs))
            .map(|(_, ours)| format!("{sign}{ours}"))
            .collect();
        if found.is_empty() {
            let known: Vec<&str> = names.iter().map(|(theirs, _)| *theirs).collect();
            return Err(UsageError::new(
                format!("-column: there is no column `{name}`"),
                format!("there are {}", known.join(", ")),
            ));
        }
        ours.extend(found);
    }
    Ok(ours.join(";"))
}

#[cfg(test)]
mod tests {
    use tracesift_ask::etwanalyzer::{To, Words};

    use super::super::verbs::questions;
    use super::translate;

    /// The names of each question whose columns can be chosen there, with the keys that it has.
    fn chosen() -> Vec<(Words, Vec<&'static str>)> {
        let names = |to: To| if let To::ChosenColumns(names) = to { Some(names) } else { None };
        let of_question =
            |(question, legacy): (&tracesift_ask::options::Registered, tracesift_ask::etwanalyzer::Legacy)| {
                let names = legacy.switches.iter().find_map(|switch| names(switch.to))?;
                let columns = question.forms.iter().flat_map(|form| (form.columns)());
                Some((names, columns.map(|column| column.key).collect()))
            };
        questions().filter_map(of_question).collect()
    }

    #[test]
    fn names_with_wildcards_and_signs() {
        let of_processes =
            |(names, _): &(Words, Vec<&str>)| names.iter().any(|(theirs, _)| theirs.eq_ignore_ascii_case("processid"));
        let (names, _) = chosen().into_iter().find(of_processes).unwrap();
        let process = |list: &str| translate(names, list);
        assert_eq!(process("processid; Return*").unwrap(), "pid;exit");
        assert_eq!(process("!user;+session").unwrap(), "!account;+session");
        assert_eq!(process("*time").unwrap(), "start_ns;end_ns");
        assert_eq!(process("x").unwrap_err().message, "-column: there is no column `x`");
        assert_eq!(translate(&[], "+wait_ns").unwrap(), "+wait_ns");
    }

    #[test]
    fn ours_exist() {
        for (names, known) in chosen() {
            for (theirs, ours) in names {
                assert!(known.contains(ours), "{theirs}: {ours}");
            }
        }
    }
}
