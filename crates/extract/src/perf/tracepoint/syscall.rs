//! Fields of the tracepoints of system calls.

use super::fields::{Arguments, Fields, Number};

/// Fields of a tracepoint of system calls.
#[derive(Clone, Debug)]
pub(crate) struct SyscallFields {
    /// `raw_syscalls`: one tracepoint for all calls.
    pub(crate) raw: bool,
    pub(crate) number: Number,
    pub(crate) edge: Edge,
    /// The kernel's function that a tracepoint of a single call is named after.
    pub(crate) name: Option<Box<str>>,
}

/// Whether a call begins or returns.
#[derive(Clone, Debug)]
pub(crate) enum Edge {
    Enter(Arguments),
    Exit(Number),
}

impl SyscallFields {
    /// Reads `raw_syscalls:sys_enter`, `sys_exit`, `syscalls:sys_enter_read` and so on; `None` for other names.
    pub(super) fn of(fields: &Fields<'_>, name: &str) -> Option<Self> {
        let (raw, name) = match (name.strip_prefix("raw_syscalls:sys_"), name.strip_prefix("syscalls:sys_")) {
            (Some(name), _) => (true, name),
            (None, name) => (false, name?),
        };
        let number = fields.number("id").or_else(|| fields.number("__syscall_nr")).or_else(|| fields.number("nr"))?;
        let (edge, name) = match name.split_once('_').unwrap_or((name, "")) {
            ("enter", name) => (Edge::Enter(fields.arguments()), name),
            ("exit", name) => (Edge::Exit(fields.number("ret")?), name),
            _ => return None,
        };
        let name = (!raw && !name.is_empty()).then(|| name.into());
        Some(Self { raw, number, edge, name })
    }
}
