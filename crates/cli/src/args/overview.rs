//! Options of `overview`.

use std::sync::Arc;

use clap::Args;
use tracesift_ask::question::overview;
use tracesift_ask::shown::Shown;
use tracesift_ask::tag_cache::TagCache;

use super::{FileArgs, OutputArgs, RunArgs};
use crate::command::tag_files;
use crate::exit::UsageError;
use crate::terminal::Messages;

/// Options of `overview`.
#[derive(Debug, Args)]
pub(crate) struct OverviewArgs {
    #[command(flatten)]
    pub(crate) files: FileArgs,
    #[command(flatten)]
    pub(crate) runs: RunArgs,
    #[command(flatten)]
    pub(crate) output: OutputArgs,
}

impl OverviewArgs {
    /// The question.
    pub(crate) fn question(&self, messages: &Messages) -> Result<overview::Question, UsageError> {
        let tags = tag_files::load(&[], false, messages)?;
        Ok(overview::Question { tags, cache: TagCache::of_user().map(Arc::new), shown: Shown::default() })
    }

    /// Whether the table is asked for in another form than the screen of one recording.
    pub(crate) fn wants_columns(&self) -> bool {
        self.output.details || !self.output.columns.is_empty()
    }
}
