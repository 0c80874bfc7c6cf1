//! Fields of the block layer's tracepoints.

use super::fields::{Fields, Number, Text};

/// How far a request has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stage {
    /// `block_bio_queue`: somebody asks.
    Queue,
    /// `block_rq_insert`: in the queue of the driver.
    Insert,
    /// `block_rq_issue`: given to the device.
    Issue,
    /// `block_rq_requeue`: the device did not take it, it will be issued again.
    Requeue,
    /// `block_rq_complete`.
    Complete,
    /// `block_rq_error`: it failed. Where completions are recorded, one of them told so just before.
    Error,
}

/// Fields of these tracepoints.
#[derive(Clone, Debug)]
pub(crate) struct BlockFields {
    pub(crate) stage: Stage,
    pub(crate) device: Number,
    pub(crate) sector: Number,
    pub(crate) sectors: Number,
    /// Letters for what is done.
    pub(crate) kind: Text,
    /// Not 0 for a request that failed.
    pub(crate) error: Option<Number>,
    /// Whether that is the number of the error. Kernels before 4.13 count errors.
    pub(crate) has_error_number: bool,
    /// The class of priority in the upper three bits. Older kernels do not tell.
    pub(crate) priority: Option<Number>,
}

impl BlockFields {
    pub(super) fn of(fields: &Fields<'_>, stage: Stage) -> Option<Self> {
        Some(Self {
            stage,
            device: fields.number("dev")?,
            sector: fields.number("sector")?,
            sectors: fields.number("nr_sector")?,
            kind: fields.text("rwbs")?,
            has_error_number: fields.number("error").is_some(),
            error: fields.number("error").or_else(|| fields.number("errors")),
            priority: fields.number("ioprio"),
        })
    }

    /// Whether the tracepoint tells of requests that the device did not take.
    pub(crate) fn is_refusal(&self) -> bool {
        self.stage == Stage::Requeue
    }

    /// Whether the tracepoint tells of requests that came to their end.
    pub(crate) fn is_completion(&self) -> bool {
        self.stage == Stage::Complete
    }
}
