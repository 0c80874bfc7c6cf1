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

/// Fields of `power:pstate_sample`.
#[derive(Clone, Debug)]
pub(crate) struct MeasuredFields {
    /// The mean clock rate since the event of the CPU before, kHz.
    pub(crate) khz: Number,
}

impl MeasuredFields {
    pub(super) fn of(fields: &Fields<'_>) -> Option<Self> {
        Some(Self { khz: fields.number("freq")? })
    }
}

/// Fields of `power:cpu_frequency_limits`.
#[derive(Clone, Debug)]
pub(crate) struct LimitFields {
    pub(crate) least: Number,
    pub(crate) most: Number,
    pub(crate) cpu: Number,
}

impl LimitFields {
    pub(super) fn of(fields: &Fields<'_>) -> Option<Self> {
        let (least, most) = (fields.number("min_freq")?, fields.number("max_freq")?);
        Some(Self { least, most, cpu: fields.number("cpu_id")? })
    }
}
