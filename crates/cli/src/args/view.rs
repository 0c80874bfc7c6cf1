//! `view` and its options.

use std::path::PathBuf;

use clap::Args;
use tracesift_ask::TimeOptions;

use super::FileArgs;

/// Options of `view`.
#[derive(Debug, Args)]
pub(crate) struct ViewArgs {
    #[command(flatten)]
    pub(crate) files: FileArgs,

    #[command(flatten)]
    pub(crate) time: TimeOptions,

    /// Show these processes first: a pattern, or a pid
    #[arg(short, long, value_name = "PATTERN", help_heading = "Page")]
    pub(crate) process: Option<String>,

    /// Show this panel first: processes, threads, stacks, waits …
    #[arg(long, value_name = "PANEL", help_heading = "Page")]
    pub(crate) panel: Option<String>,

    /// Show this view first: the name of a built-in one, or a file that the page has saved
    #[arg(long, value_name = "NAME|FILE", help_heading = "Page")]
    pub(crate) view: Option<String>,

    /// Offer the stack tags of this file, too; may be given several times
    #[arg(long, value_name = "FILE", help_heading = "Page")]
    pub(crate) tag_file: Vec<PathBuf>,

    /// Port on 127.0.0.1 [default: a free one]
    #[arg(long, value_name = "N", default_value_t = 0, hide_default_value = true, help_heading = "Server")]
    pub(crate) port: u16,

    /// Only print the URL, and open no browser
    #[arg(long, help_heading = "Server")]
    pub(crate) no_open: bool,
}
