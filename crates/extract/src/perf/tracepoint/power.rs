//! Fields of power management's tracepoints.

use super::fields::{Fields, Number};

/// Fields of `power:cpu_frequency` and `power:cpu_idle`.
#[derive(Clone, Debug)]
pub(crate) struct PowerFields {
    pub(crate) state: Number,
    pub(crate) cpu: Number,
}

impl PowerFields {
    pub(super) fn of(fields: &Fields<'_>) -> Option<Self> {
        Some(Self { state: fields.number("state")?, cpu: fields.number("cpu_id")? })
    }
}
