//! `dump memory --paging`: what was written to and read from the page file. The rows are those of `dump disk`.

use tracesift_archive::Error;
use tracesift_grammar::TimeRange;

use crate::answer::{Column, Section};
use crate::ask::Ask;
use crate::candidates::Candidates;
use crate::filter::ProcessFilter;
use crate::order::Top;
use crate::question::disk;
use crate::recording::OpenRecording;
use crate::table_question::UnknownName;

/// Files of Windows that hold memory.
const PAGE_FILES: &str = r"*\pagefile.sys;*\swapfile.sys";

/// What is asked of the disks.
#[derive(Clone, Debug)]
pub(super) struct Question(disk::Question);

impl Question {
    pub(super) fn new(filter: ProcessFilter, top: Top) -> Result<Self, UnknownName> {
        let question = disk::Question::default().by(&["process", "file"])?;
        let mut question = question.on_condition("--paging")?.matching("--path", PAGE_FILES)?;
        question.filter = filter;
        question.top = top;
        Ok(Self(question))
    }

    pub(super) fn all_columns() -> Vec<Column> {
        Self::new(ProcessFilter::default(), Top::default()).map(|question| question.columns()).unwrap_or_default()
    }
}

impl Ask for Question {
    fn name(&self) -> &'static str {
        "memory"
    }

    fn tables(&self) -> &'static [&'static str] {
        self.0.tables()
    }

    fn processes(&self) -> Option<&ProcessFilter> {
        self.0.processes()
    }

    fn candidates(&self, _: &OpenRecording) -> Result<Vec<Candidates>, Error> {
        // Nobody has given the names of the files.
        Ok(Vec::new())
    }

    fn sorted_by(&self) -> Option<&'static str> {
        self.0.sorted_by()
    }

    fn columns(&self) -> Vec<Column> {
        self.0.columns()
    }

    fn within(&self, time: TimeRange, _: i64) -> Box<dyn Ask> {
        let mut question = self.0.clone();
        question.time = time;
        Box::new(Self(question))
    }

    fn section(&self, recording: &OpenRecording) -> Result<Section, Error> {
        if recording.archive().info().kind == "perf" {
            let why = "operations of swap devices are not told apart on Linux; \
                `tracesift dump memory --total-memory --details` has what the machine swapped";
            return Ok(recording.file.absent("paging", why));
        }
        self.0.section(recording)
    }
}
