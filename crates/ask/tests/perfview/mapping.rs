//! Where names or values differ from PerfView's for a reason.

use super::baseline::Event;
use super::value::Shown;

/// PerfView's name of a kind of event.
pub(crate) fn kind(provider: &str, event: &str) -> String {
    format!("{provider}/{event}")
}

/// Our name of a field; `None` for those that PerfView computes from other events.
pub(crate) fn field<'f>(kind: &str, field: &'f str) -> Option<&'f str> {
    let _ = kind;
    Some(field)
}

/// Kinds that PerfView turns into tables or attaches to other events in place of listing them.
pub(crate) fn is_not_listed(kind: &str) -> bool {
    let _ = kind;
    false
}

/// Whether the numbers of events differ for a known reason.
pub(crate) fn count_differs(recording: &str, kind: &str, ours: usize, theirs: usize) -> bool {
    let _ = (recording, kind, ours, theirs);
    false
}

/// Whether process and thread are the same.
pub(crate) fn same_ids(event: &Event, pid: Option<u32>, tid: Option<u32>) -> bool {
    let same = |theirs: i64, ours: Option<u32>| theirs == ours.map_or(-1, i64::from);
    same(event.pid, pid) && same(event.tid, tid)
}

/// PerfView's process names have no extension and are "Process(pid)" where it knows none.
pub(crate) fn same_process(theirs: &str, ours: &str) -> bool {
    let stem = ours.strip_suffix(".exe").unwrap_or(ours);
    theirs.eq_ignore_ascii_case(stem) || theirs.eq_ignore_ascii_case(ours) || theirs.is_empty()
}

/// Fields that PerfView shows for versions that do not have them.
pub(crate) fn may_be_absent(kind: &str, field: &str, text: &str) -> bool {
    let _ = (kind, field);
    matches!(text, "0" | "0x00000000" | "-1")
}

/// Whether a value differs for a known reason.
pub(crate) fn value_differs(kind: &str, field: &str, theirs: &str, ours: &Shown) -> bool {
    let _ = (kind, field, theirs, ours.number());
    false
}
