//! The rows that summaries are made of: of an archive, or kept in memory.

use std::borrow::Cow;
use std::ops::Range;

use tracesift_analysis::{SummarySample, SummarySwitch, ThreadLifetime};
use tracesift_archive::{Archive, Error};
use tracesift_trace::rows::{FrameRow, ModuleRow, ProcessRow, SymbolRow};
use tracesift_trace::{FrameId, ProcessId, StackId, view};

view! {
    /// The columns of a frame that name a method where no symbol does.
    #[derive(Clone, Copy, Debug)]
    pub(crate) struct FrameInModule of FrameRow { frame, module, rva }
}

view! {
    /// The columns of a symbol that name a method.
    #[derive(Clone, Debug)]
    pub(crate) struct FunctionOfFrame of SymbolRow { frame, module, function }
}

view! {
    /// The id of a process.
    #[derive(Clone, Copy, Debug)]
    pub(crate) struct ProcessKey of ProcessRow { process }
}

/// A range of times of rows; `None`: all rows.
pub(crate) type Times = Option<Range<i64>>;

/// A source of the rows from which summaries are computed.
pub(crate) trait SummarySource {
    /// Table `modules`.
    fn modules(&self) -> Result<Cow<'_, [ModuleRow]>, Error>;
    /// The ids in table `processes`.
    fn processes(&self) -> Result<Vec<ProcessId>, Error>;
    /// Table `threads`: the process and the life of each thread.
    fn threads(&self, visit: impl FnMut(&ThreadLifetime)) -> Result<(), Error>;
    /// Table `frames`.
    fn frames(&self, visit: impl FnMut(&FrameInModule)) -> Result<(), Error>;
    /// Frame, module and function from table `symbols`: rows of one frame stand together, the function itself first.
    fn symbols(&self, visit: impl FnMut(FrameId, Option<&str>, &str)) -> Result<(), Error>;
    /// Table `stacks`.
    fn stacks(&self, visit: impl FnMut(StackId, &[FrameId])) -> Result<(), Error>;
    /// Table `cpu_samples`, at least its rows of these times.
    fn samples(&self, times: Times, visit: impl FnMut(&SummarySample)) -> Result<(), Error>;
    /// Table `context_switches`, from its end, at least its rows of these times.
    fn switches_newest_first(&self, times: Times, visit: impl FnMut(&SummarySwitch)) -> Result<(), Error>;
}

impl SummarySource for Archive {
    fn modules(&self) -> Result<Cow<'_, [ModuleRow]>, Error> {
        self.rows().map(Cow::Owned)
    }

    fn processes(&self) -> Result<Vec<ProcessId>, Error> {
        let mut ids = Vec::new();
        self.scan(None, |row: &ProcessKey| ids.push(row.process))?;
        Ok(ids)
    }

    fn threads(&self, visit: impl FnMut(&ThreadLifetime)) -> Result<(), Error> {
        self.scan(None, visit)
    }

    fn frames(&self, visit: impl FnMut(&FrameInModule)) -> Result<(), Error> {
        self.scan(None, visit)
    }

    fn symbols(&self, mut visit: impl FnMut(FrameId, Option<&str>, &str)) -> Result<(), Error> {
        self.scan(None, |row: &FunctionOfFrame| visit(row.frame, row.module.as_deref(), &row.function))
    }

    fn stacks(&self, visit: impl FnMut(StackId, &[FrameId])) -> Result<(), Error> {
        self.scan_stacks(visit)
    }

    fn samples(&self, times: Times, visit: impl FnMut(&SummarySample)) -> Result<(), Error> {
        self.scan(times, visit)
    }

    fn switches_newest_first(&self, times: Times, visit: impl FnMut(&SummarySwitch)) -> Result<(), Error> {
        self.scan_backwards(times, visit)
    }
}
