//! Fields of the tracepoints of page faults.

use super::fields::{Fields, Number};

/// Fields of `exceptions:page_fault_user` and `page_fault_kernel`.
#[derive(Clone, Debug)]
pub(crate) struct TrapFields {
    pub(crate) kernel: bool,
    pub(crate) address: Number,
}

impl TrapFields {
    pub(super) fn of(fields: &Fields<'_>, kernel: bool) -> Option<Self> {
        Some(Self { kernel, address: fields.number("address")? })
    }
}
