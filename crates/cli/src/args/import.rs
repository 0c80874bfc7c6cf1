//! Options of `import`.

use std::path::PathBuf;

use clap::Args;

/// Options of `import`.
#[derive(Debug, Args)]
pub(crate) struct ImportArgs {
    /// Extracts of ETWAnalyzer: X.json, with the X_Derived_*.json beside it, or X.json7z
    #[arg(value_name = "FILES", required = true)]
    pub(crate) files: Vec<PathBuf>,

    /// Directory for the archives [default: beside each extract]
    #[arg(short, long, value_name = "DIR")]
    pub(crate) out: Option<PathBuf>,

    /// Import again what is up to date
    #[arg(long)]
    pub(crate) overwrite: bool,
}
