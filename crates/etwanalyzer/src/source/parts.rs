//! The documents of an extract beside the main one.

use std::io::Read;

use super::{Budget, read_json};
use crate::document::Parts;
use crate::error::Error;

/// One of these documents.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Part {
    Modules,
    FileIo,
    VirtualAlloc,
    VirtualAllocStacks,
    TraceLogging,
    TraceLogStacks,
    Handles,
    HandleStacks,
}

impl Part {
    /// All of them, in the order in which they are read: events of handles can be many.
    pub(crate) const ALL: [Self; 8] = [
        Self::Modules,
        Self::FileIo,
        Self::VirtualAlloc,
        Self::VirtualAllocStacks,
        Self::TraceLogging,
        Self::TraceLogStacks,
        Self::Handles,
        Self::HandleStacks,
    ];

    /// What stands behind `_Derived_` in the name of its file.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Modules => "Modules",
            Self::FileIo => "FileIO",
            Self::VirtualAlloc => "VirtualAlloc",
            Self::VirtualAllocStacks => "VirtualAllocStacks",
            Self::TraceLogging => "TraceLogging",
            Self::TraceLogStacks => "TraceLogStacks",
            Self::Handles => "Handle",
            Self::HandleStacks => "HandleStacks",
        }
    }

    /// Reads it from a stream. A part that is too large is left out, unless no extract is without it: versions of ETWAnalyzer write some of
    /// them for each event.
    pub(crate) fn read(
        self,
        document: &str,
        stream: impl Read,
        budget: &mut Budget,
        into: &mut Parts,
    ) -> Result<(), Error> {
        let before = *budget;
        let read = match self {
            Self::Modules => read_json(document, stream, budget).map(|part| into.modules = Some(part)),
            Self::FileIo => read_json(document, stream, budget).map(|part| into.file_io = Some(part)),
            Self::VirtualAlloc => read_json(document, stream, budget).map(|part| into.virtual_alloc = Some(part)),
            Self::VirtualAllocStacks => {
                read_json(document, stream, budget).map(|part| into.virtual_alloc_stacks = Some(part))
            }
            Self::TraceLogging => read_json(document, stream, budget).map(|part| into.trace_logging = Some(part)),
            Self::TraceLogStacks => {
                read_json(document, stream, budget).map(|part| into.trace_logging_stacks = Some(part))
            }
            Self::Handles => read_json(document, stream, budget).map(|part| into.handles = Some(part)),
            Self::HandleStacks => read_json(document, stream, budget).map(|part| into.handle_stacks = Some(part)),
        };
        match read {
            Err(Error::TooLarge { .. } | Error::TooManyRows { .. }) if self != Self::Modules => {
                // What was read of it is gone.
                *budget = before;
                into.too_large.push(self.name());
                Ok(())
            }
            read => read,
        }
    }
}
