//! Exceptions of .NET, with their stacks as text.

use serde::Deserialize;
use tracesift_trace::rows::{ExceptionRow, exception_kinds};
use tracesift_trace::{ProcessId, RowSink, StackId, ThreadId};

use super::code::NamedCode;
use super::stacks::NamedStacks;
use super::who::Who;
use crate::bounded::{Entries, List};
use crate::document::Moment;
use crate::limits::{EXCEPTIONS, STACKS, TextBudget};
use crate::values::Integer;

/// `Exceptions`.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "PascalCase", default)]
pub struct Exceptions {
    /// The exceptions by stack.
    pub stacks: ExceptionStacks,
    /// Number of exceptions in the recording, those included that the extract leaves out.
    pub count: Integer,
}

/// `Stacks`.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "PascalCase", default)]
pub struct ExceptionStacks {
    /// By the text of the stack, a function per line, the leaf first.
    #[serde(rename = "Stack2Messages")]
    pub messages: Entries<List<Thrown, EXCEPTIONS>, STACKS>,
}

/// Exceptions with the same stack, message and type. Lists that belong together have the same order.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "PascalCase", default)]
pub struct Thrown {
    /// The message.
    pub message: Option<String>,
    /// Type with its namespace.
    #[serde(rename = "Type")]
    pub exception_type: Option<String>,
    /// Processes, by their place in the list of processes.
    pub processes: List<Integer, EXCEPTIONS>,
    /// Ids of the threads.
    pub threads: List<Integer, EXCEPTIONS>,
    /// Times of the throws.
    pub times: List<Moment, EXCEPTIONS>,
}

/// An exception, as much of it as a row needs. `of`: place of what all exceptions of an element have.
#[derive(Clone, Copy, Debug)]
struct Single {
    time: i64,
    process: Option<ProcessId>,
    thread: Option<ThreadId>,
    of: u32,
}

/// What all exceptions of an element have.
#[derive(Clone, Debug)]
struct Shared {
    exception_type: Option<String>,
    message: Option<String>,
    stack: Option<StackId>,
}

/// The exceptions that can be rows, in the order of time.
#[derive(Debug, Default)]
pub(crate) struct ExceptionRows {
    singles: Vec<Single>,
    shared: Vec<Shared>,
}

impl ExceptionRows {
    /// `None` when the texts of all rows exceed the budget.
    pub(super) fn read(
        part: Exceptions,
        zero: Moment,
        code: &mut NamedCode,
        stacks: &mut NamedStacks,
        who: &mut Who<'_>,
        budget: &mut TextBudget,
    ) -> Option<Self> {
        let mut rows = Self::default();
        for (stack, thrown) in part.stacks.messages.0 {
            let stack = stacks.of(&stack, code);
            for thrown in thrown.0 {
                let Thrown { message, exception_type, processes, threads: tids, times } = thrown;
                let of = u32::try_from(rows.shared.len()).ok()?;
                for (place, time) in times.0.into_iter().enumerate() {
                    if !time.is_known() {
                        super::unreadable(who.health, || "an exception without a time".to_owned());
                        continue;
                    }
                    [&message, &exception_type].into_iter().flatten().try_for_each(|text| budget.spend(text))?;
                    let process = who.process(processes.0.get(place).copied().unwrap_or_default());
                    let thread = who.thread(process, tids.0.get(place).copied().unwrap_or_default());
                    rows.singles.push(Single { time: time.ns_since(zero), process, thread, of });
                }
                rows.shared.push(Shared { exception_type, message, stack });
            }
        }
        rows.singles.sort_by_key(|single| single.time);
        Some(rows)
    }

    pub(super) fn write(&self, sink: &mut impl RowSink) {
        for Single { time, process, thread, of } in &self.singles {
            let Some(shared) = self.shared.get(*of as usize) else { continue };
            sink.exception(&ExceptionRow {
                time: *time,
                cpu: -1,
                process: *process,
                thread: *thread,
                stack: shared.stack,
                kind: exception_kinds::DOT_NET,
                exception_type: shared.exception_type.clone(),
                message: shared.message.clone(),
                ..ExceptionRow::default()
            });
        }
    }
}
