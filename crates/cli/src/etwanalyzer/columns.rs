//! ETWAnalyzer's names of columns on the console, for `-column`, with ours.

use tracesift_grammar::Pattern;

use super::verbs::Command;
use crate::exit::UsageError;

/// The columns of `-dump Process`.
const PROCESS: &[(&str, &str)] = &[
    ("ProcessId", "pid"),
    ("StartTime", "start_ns"),
    ("StopTime", "end_ns"),
    ("Duration", "duration_ns"),
    ("ReturnCode", "exit"),
    ("ParentPid", "parent_pid"),
    ("Session", "session"),
    ("User", "account"),
    ("Process", "process_label"),
    ("CommandLine", "command_line"),
    ("FileName", "file"),
];

/// Translates a list such as `Process;Return*` or `!User;+Session`. Of commands whose columns cannot be chosen there, the names are ours.
pub(super) fn translate(command: Command, list: &str) -> Result<String, UsageError> {
    if command != Command::Process {
        return Ok(list.to_owned());
    }
    let mut ours: Vec<String> = Vec::new();
    for item in list.split([';', ',']).map(str::trim).filter(|item| !item.is_empty()) {
        let (sign, name) = match item.strip_prefix(['!', '+']) {
            Some(name) => (item.get(..1).unwrap_or_default(), name),
            None => ("", item),
        };
        let pattern = Pattern::new(name);
        let found: Vec<String> = PROCESS
            .iter()
            .filter(|(theirs, _)| pattern.matches(theirs))
            .map(|(_, ours)| format!("{sign}{ours}"))
            .collect();
        if found.is_empty() {
            let known: Vec<&str> = PROCESS.iter().map(|(theirs, _)| *theirs).collect();
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
    use tracesift_ask::question::process::COLUMNS;

    use super::{Command, PROCESS, translate};

    #[test]
    fn names_with_wildcards_and_signs() {
        let process = |list: &str| translate(Command::Process, list);
        assert_eq!(process("processid; Return*").unwrap(), "pid;exit");
        assert_eq!(process("!user;+session").unwrap(), "!account;+session");
        assert_eq!(process("*time").unwrap(), "start_ns;end_ns");
        assert_eq!(process("x").unwrap_err().message, "-column: there is no column `x`");
        assert_eq!(translate(Command::Cpu, "+wait_ns").unwrap(), "+wait_ns");
    }

    #[test]
    fn ours_exist() {
        let known = COLUMNS.descriptions();
        for (theirs, ours) in PROCESS {
            assert!(known.iter().any(|column| column.key == *ours), "{theirs}: {ours}");
        }
    }
}
