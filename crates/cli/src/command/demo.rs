//! `demo`: from nothing to the first answers.

use crate::args::DemoArgs;
use crate::exit::{Exit, UsageError};
use crate::terminal::Messages;

/// Writes example recordings, extracts them and shows the first answers.
pub(crate) fn run(_: &DemoArgs, _: bool, _: &Messages) -> anyhow::Result<Exit> {
    Err(UsageError::new("not here yet", "").into())
}
