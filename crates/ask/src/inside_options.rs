//! The options of questions whose times regions and the focus can choose.

use std::fmt;
use std::path::PathBuf;

use clap::Args;
use tracesift_grammar::Patterns;

use crate::inside::Inside;
use crate::regions::source;
use crate::usage_error::UsageError;

/// What chooses the times that an answer is about, beside the time range.
#[derive(Args, Clone, Debug, Default)]
#[command(next_help_heading = "Time")]
pub struct InsideOptions {
    /// Only while there is a region with such a name: 'GC*'; `dump regions` lists them
    #[arg(long, value_name = "PATTERNS")]
    in_region: Option<Patterns>,
    /// Regions of this file for --in-region, as Windows Performance Analyzer reads it; several add up, `builtin` stands for our own
    #[arg(long, value_name = "FILE", requires = "in_region")]
    region_file: Vec<PathBuf>,
    /// Only while the process of a row has the focus
    #[arg(long)]
    in_focus: bool,
}

impl InsideOptions {
    /// What chooses times; nothing where no option was given.
    ///
    /// # Errors
    /// When a file of regions cannot be read.
    pub fn inside(&self) -> Result<Vec<Inside>, UsageError> {
        let mut inside = Vec::new();
        if let Some(names) = &self.in_region {
            inside.push(Inside::Regions(source::load(&self.region_file, &[], &[])?, names.clone()));
        }
        inside.extend(self.in_focus.then_some(Inside::Focus));
        Ok(inside)
    }
}

impl fmt::Display for InsideOptions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let regions = self.in_region.as_ref().map(|names| format!("in region {names}"));
        let focus = self.in_focus.then(|| "in focus".to_owned());
        f.write_str(&regions.into_iter().chain(focus).collect::<Vec<_>>().join(", "))
    }
}
