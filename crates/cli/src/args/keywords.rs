//! `keywords` and its options.

use std::path::PathBuf;

use clap::Args;
use tracesift_ask::keywords::Keywords;

/// Options of `keywords`.
#[derive(Debug, Args)]
pub(crate) struct KeywordsArgs {
    /// Provider, by name or GUID; wildcards are fine [default: all]
    #[arg(value_name = "PROVIDER", default_value = "", hide_default_value = true)]
    pub(crate) provider: String,

    /// A mask to be told in names, or names to be put into a mask: 0x8001, GC+Exception [default: all keywords]
    #[arg(value_name = "MASK|NAMES")]
    pub(crate) keywords: Option<Keywords>,

    /// Take the keywords from a manifest in place of the built-in tables
    #[arg(long, value_name = "FILE")]
    pub(crate) manifest: Option<PathBuf>,
}
