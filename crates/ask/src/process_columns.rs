//! What rows of many questions say about the process that they are of. A question takes the columns that it needs, in its
//! own order, and may show them elsewhere or give them a narrower meaning.

use tracesift_trace::rows::ProcessRow;
use tracesift_trace::schema::ColumnSet;

use crate::answer::{ColumnOf, Kind, Value};
use crate::needs::Needs;
use crate::processes::ProcessLife;
use crate::user;

/// A row that is of one process, or of none when the recording does not say.
pub trait OfProcess {
    /// The process.
    fn process(&self) -> Option<&ProcessRow>;
}

/// A column of a process. Its value sees those stored columns alone that stand before it, and these are what the column needs.
macro_rules! column {
    (
        $(#[$doc:meta])* $name:ident, $view:ident($key:expr, $title:literal, $kind:expr),
        { $($stored:ident),+ } => $value:expr, $help:literal
    ) => {
        $(#[$doc])*
        #[must_use]
        pub const fn $name<R: OfProcess>() -> ColumnOf<R> {
            ColumnOf::$view(
                $key,
                $title,
                $kind,
                |row: &R| row.process().map_or(Value::None, |ProcessRow { $($stored,)+ .. }| Value::from($value)),
                $help,
            )
            .made_of(Needs { processes: ColumnSet::of(&[$(stringify!($stored)),+]), ..Needs::NOTHING })
        }
    };
}

column!(
    /// Name of the image.
    name, machine("process", "Process", Kind::Text), { name } => name, "File name of the process' image."
);
column!(
    /// Process id.
    pid, machine("pid", "Pid", Kind::Id), { pid } => *pid, "Process id."
);
column!(
    /// Name and pid with marks for start and end.
    label, people("process_label", "Process", Kind::Text),
    { name, pid, start, end, origin } => {
        marked(name, *pid, ProcessLife { start: *start, end: *end, origin: *origin })
    },
    "Name and pid; `+` it started, `-` it ended inside the recording."
);
column!(
    /// Start.
    start, details("start_ns", "Start", Kind::Time), { start } => *start,
    "Start inside the recording; empty: it ran before."
);
column!(
    /// End.
    end, details("end_ns", "Stop", Kind::Time), { end } => *end, "End inside the recording; empty: it runs on."
);
column!(
    /// Process id of the creator.
    parent_pid, machine("parent_pid", "Parent", Kind::Id), { parent_pid } => *parent_pid, "Process id of the creator."
);
column!(
    /// Session.
    session, details("session", "Session", Kind::Id), { session } => *session, "Terminal-services session."
);
column!(
    /// Container.
    container, details("container", "Container", Kind::Text), { container } => container.as_ref(),
    "Id of its container (Linux)."
);
column!(
    /// Control group.
    cgroup, machine("cgroup", "Control group", Kind::Text), { cgroup } => cgroup.as_ref(),
    "Path of its control group (Linux)."
);
column!(
    /// Security identifier of the owner.
    user, machine("user", "User id", Kind::Text), { user } => user.as_ref(), "Security identifier of the owner."
);
column!(
    /// Name of the owner.
    account, details("account", "User", Kind::Text), { user } => user.as_deref().map(user::account),
    "Account of the owner; the security identifier where it is not a well-known one."
);
column!(
    /// Command line.
    command_line, always(COMMAND_LINE, "Command line", Kind::LongText), { command_line } => command_line.as_ref(),
    "Command line."
);

/// Key of the column with the command line.
pub const COMMAND_LINE: &str = "command_line";

/// `name(pid)`, and ` +` for a start, ` -` for an end, ` +-` for both inside the recording.
#[must_use]
pub fn name_with_marks(process: &ProcessRow) -> String {
    marked(&process.name, process.pid, ProcessLife::from(process))
}

fn marked(name: &str, pid: i64, life: ProcessLife) -> String {
    let [start, end] = life.seen();
    let mark = match (start.is_some(), end.is_some()) {
        (false, false) => "",
        (true, false) => " +",
        (false, true) => " -",
        (true, true) => " +-",
    };
    format!("{name}({pid}){mark}")
}
