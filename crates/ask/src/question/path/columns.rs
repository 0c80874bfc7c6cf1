//! The columns of `dump path`.

use super::chains::{self, Chain};
use crate::answer::{ColumnOf, Kind};
use crate::columns::Columns;
use crate::path::account::{Account, Level};
use crate::path::rows;
use crate::path::window::Window;

/// A row of the answer.
#[derive(Clone, Debug)]
pub struct Row {
    /// The window's place among those that fit.
    pub(super) window: usize,
    /// Start of the window, ns.
    pub(super) window_start: i64,
    /// Its length, ns.
    pub(super) window_length: i64,
    /// How much the recording tells.
    pub(super) level: Level,
    /// Part of an account.
    pub(super) part: rows::Row,
    /// The chains of threads that lead to it, the largest first.
    pub(super) chains: Vec<Chain>,
}

impl Row {
    pub(super) fn new(account: &Account, part: rows::Row, chains: Vec<Chain>) -> Self {
        let Window { number, span, .. } = account.window;
        let (window_start, window_length) = (span.start, span.length());
        Self { window: number, window_start, window_length, level: account.level, part, chains }
    }
}

/// The columns.
pub const COLUMNS: Columns<Row> = Columns(&[
    ColumnOf::machine(
        "window",
        "Window",
        Kind::Count,
        |r| r.window.into(),
        "Number of the window among those that fit, by time; the first is 1.",
    ),
    ColumnOf::machine("window_from_ns", "Window from", Kind::Time, |r| r.window_start.into(), "Start of the window."),
    ColumnOf::machine(
        "window_ns",
        "Window length",
        Kind::Milliseconds,
        |r| r.window_length.into(),
        "Length of the window. The path times of its rows add up to it.",
    ),
    ColumnOf::machine(
        "level",
        "Level",
        Kind::Text,
        |r| r.level.word().into(),
        "What the account is made of: `full`, `switches` (no ready events: waits have no cause), or `samples` (of the anchor only).",
    ),
    ColumnOf::always(
        "path_ns",
        "Path",
        Kind::Milliseconds,
        |r| r.part.time.into(),
        "Time of the window that belongs to the row.",
    ),
    ColumnOf::always(
        "share",
        "Share",
        Kind::Number(3),
        |r| share(r).into(),
        "Path time as a part of the window, from 0 to 1.",
    ),
    ColumnOf::details(
        "leaves",
        "Stretches",
        Kind::Count,
        |r| r.part.leaves.into(),
        "Number of stretches of time that the path time consists of; empty where samples divide the stretches.",
    ),
    ColumnOf::details(
        "longest_ns",
        "Longest",
        Kind::Milliseconds,
        |r| r.part.longest.into(),
        "The longest of these stretches.",
    ),
    ColumnOf::machine("samples", "Samples", Kind::Count, |r| r.part.samples.into(), "CPU samples of the row."),
    ColumnOf::always(
        "disturbance",
        "Disturbance",
        Kind::Text,
        |r| r.part.name.disturbance.map(|kind| kind.to_string()).into(),
        "The kind of disturbance: time that the test lost to others, and to which its own code gives no cause. Empty for the test's own time.",
    ),
    ColumnOf::always(
        "process",
        "Process",
        Kind::Text,
        |r| r.part.name.process.as_ref().into(),
        "Role of the process that the time belongs to: its name without what differs between two runs, such as ids.",
    ),
    ColumnOf::always(
        "thread",
        "Thread",
        Kind::Text,
        |r| r.part.name.thread.as_ref().into(),
        "Role of the thread in this process: `main`, or the name of the thread with `#` for digits.",
    ),
    ColumnOf::always("state", "Did", Kind::Text, |r| r.part.name.state.into(), "`run`, `ready`, `wait` or `unknown`."),
    ColumnOf::always(
        "ended_by",
        "Ended by",
        Kind::Text,
        |r| r.part.name.ended_by.as_ref().into(),
        "Of a wait: `timer`, `disk` with the operation that ended it (`disk 0 read`) where the recording has that, `network` or `interrupt`; `(nobody)` if the recording has no end of the wait, `(not followed)` if the path cannot follow the thread that ended it.",
    ),
    ColumnOf::always(
        "tag",
        "Tag",
        Kind::Text,
        |r| r.part.name.tag.as_ref().into(),
        "Stack tag of the code that ran or waited; of ready time the kind of process that had the CPU; of unknown time the reason.",
    ),
    ColumnOf::always(
        "site",
        "In",
        Kind::Text,
        |r| r.part.name.site.as_ref().into(),
        "Method that ran or waited, by the rules of `dump waits`; of ready time the process that had the CPU.",
    ),
    ColumnOf::machine(
        "for_tag",
        "For tag",
        Kind::Text,
        |r| r.part.name.for_tag.as_ref().into(),
        "Stack tag of the wait of the first thread of the account that the time was spent for; empty for time of this thread itself.",
    ),
    ColumnOf::always("for_site", "For", Kind::Text, |r| r.part.name.for_site.as_ref().into(), "Method of that wait."),
    ColumnOf::details(
        "chains",
        "Chains",
        Kind::Table,
        |r| chains::table(&r.chains),
        "The ten largest chains of threads that lead to the row, largest first, and all others together: who waited in which method for whom. Time of the first thread itself has no chain.",
    ),
]);

fn share(row: &Row) -> Option<f64> {
    (row.window_length > 0).then(|| row.part.time as f64 / row.window_length as f64)
}
