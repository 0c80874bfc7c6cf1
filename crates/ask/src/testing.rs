//! Rows for the tests of this crate.

use tracesift_trace::ProcessId;
use tracesift_trace::rows::{Origin, ProcessRow};

/// A process that lives from end to end and of which nothing but name and pid is known.
pub(crate) fn process(id: i32, pid: i64, name: &str) -> ProcessRow {
    ProcessRow {
        process: ProcessId(id),
        pid,
        name: name.to_owned(),
        command_line: None,
        parent_pid: None,
        parent: None,
        session: None,
        user: None,
        package: None,
        application: None,
        start: None,
        end: None,
        exit_code: None,
        wow64: None,
        origin: Origin::Rundown,
        cgroup: None,
        container: None,
        pid_namespace: None,
    }
}
