//! What rows of many questions say about the process that they are of. A question takes the columns that it needs, in its
//! own order, and may show them elsewhere or give them a narrower meaning.

use tracesift_trace::rows::ProcessRow;

use crate::answer::{ColumnOf, Kind};
use crate::user;

/// A row that is of one process, or of none when the recording does not say.
pub trait OfProcess {
    /// The process.
    fn process(&self) -> Option<&ProcessRow>;
}

/// Name of the image.
#[must_use]
pub const fn name<R: OfProcess>() -> ColumnOf<R> {
    ColumnOf::machine(
        "process",
        "Process",
        Kind::Text,
        |row| row.process().map(|process| &process.name).into(),
        "File name of the process' image.",
    )
}

/// Process id.
#[must_use]
pub const fn pid<R: OfProcess>() -> ColumnOf<R> {
    ColumnOf::machine("pid", "Pid", Kind::Id, |row| row.process().map(|process| process.pid).into(), "Process id.")
}

/// Name and pid with marks for start and end.
#[must_use]
pub const fn label<R: OfProcess>() -> ColumnOf<R> {
    ColumnOf::people(
        "process_label",
        "Process",
        Kind::Text,
        |row| row.process().map(name_with_marks).into(),
        "Name and pid; `+` it started, `-` it ended inside the recording.",
    )
}

/// Start.
#[must_use]
pub const fn start<R: OfProcess>() -> ColumnOf<R> {
    ColumnOf::details(
        "start_ns",
        "Start",
        Kind::Time,
        |row| row.process().and_then(|process| process.start).into(),
        "Start inside the recording; empty: it ran before.",
    )
}

/// End.
#[must_use]
pub const fn end<R: OfProcess>() -> ColumnOf<R> {
    ColumnOf::details(
        "end_ns",
        "Stop",
        Kind::Time,
        |row| row.process().and_then(|process| process.end).into(),
        "End inside the recording; empty: it runs on.",
    )
}

/// Process id of the creator.
#[must_use]
pub const fn parent_pid<R: OfProcess>() -> ColumnOf<R> {
    ColumnOf::machine(
        "parent_pid",
        "Parent",
        Kind::Id,
        |row| row.process().and_then(|process| process.parent_pid).into(),
        "Process id of the creator.",
    )
}

/// Session.
#[must_use]
pub const fn session<R: OfProcess>() -> ColumnOf<R> {
    ColumnOf::details(
        "session",
        "Session",
        Kind::Id,
        |row| row.process().and_then(|process| process.session).into(),
        "Terminal-services session.",
    )
}

/// Container.
#[must_use]
pub const fn container<R: OfProcess>() -> ColumnOf<R> {
    ColumnOf::details(
        "container",
        "Container",
        Kind::Text,
        |row| row.process().and_then(|process| process.container.as_ref()).into(),
        "Id of its container (Linux).",
    )
}

/// Control group.
#[must_use]
pub const fn cgroup<R: OfProcess>() -> ColumnOf<R> {
    ColumnOf::machine(
        "cgroup",
        "Control group",
        Kind::Text,
        |row| row.process().and_then(|process| process.cgroup.as_ref()).into(),
        "Path of its control group (Linux).",
    )
}

/// Security identifier of the owner.
#[must_use]
pub const fn user<R: OfProcess>() -> ColumnOf<R> {
    ColumnOf::machine(
        "user",
        "User id",
        Kind::Text,
        |row| row.process().and_then(|process| process.user.as_ref()).into(),
        "Security identifier of the owner.",
    )
}

/// Name of the owner.
#[must_use]
pub const fn account<R: OfProcess>() -> ColumnOf<R> {
    ColumnOf::details(
        "account",
        "User",
        Kind::Text,
        |row| row.process().and_then(|process| process.user.as_deref()).map(user::account).into(),
        "Account of the owner; the security identifier where it is not a well-known one.",
    )
}

/// Key of the column with the command line.
pub const COMMAND_LINE: &str = "command_line";

/// Command line.
#[must_use]
pub const fn command_line<R: OfProcess>() -> ColumnOf<R> {
    ColumnOf::always(
        COMMAND_LINE,
        "Command line",
        Kind::LongText,
        |row| row.process().and_then(|process| process.command_line.as_ref()).into(),
        "Command line.",
    )
}

/// `name(pid)`, and ` +` for a start, ` -` for an end, ` +-` for both inside the recording.
#[must_use]
pub fn name_with_marks(process: &ProcessRow) -> String {
    let mark = match (process.start.is_some(), process.end.is_some()) {
        (false, false) => "",
        (true, false) => " +",
        (false, true) => " -",
        (true, true) => " +-",
    };
    format!("{}({}){mark}", process.name, process.pid)
}
