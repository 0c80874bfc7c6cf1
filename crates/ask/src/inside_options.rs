//! The options of questions whose times regions, the focus and windows can choose.

use std::fmt;
use std::path::PathBuf;

use clap::Args;
use tracesift_grammar::Patterns;

use crate::inside::Inside;
use crate::path::WindowSpec;
use crate::regions::source;
use crate::usage_error::UsageError;

/// Regions and the focus, which choose the times that an answer is about.
#[derive(Args, Clone, Debug, Default)]
#[command(next_help_heading = "Time")]
pub struct RegionOptions {
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

/// What chooses the times that an answer is about, beside the time range.
#[derive(Args, Clone, Debug, Default)]
#[command(next_help_heading = "Time")]
pub struct InsideOptions {
    #[command(flatten)]
    regions: RegionOptions,
    /// Only in this window: process:PATTERN, method:PATTERN, wait:PATTERN, mark:A..B, with `#2` behind it for the second that fits;
    /// `auto` is the life of the program that was recorded
    #[arg(long, value_name = "WINDOW", allow_hyphen_values = true)]
    window: Option<WindowSpec>,
}

impl RegionOptions {
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

impl InsideOptions {
    /// What chooses times; nothing where no option was given.
    ///
    /// # Errors
    /// When a file of regions cannot be read, or the window is a range of time.
    pub fn inside(&self) -> Result<Vec<Inside>, UsageError> {
        let mut inside = self.regions.inside()?;
        if let Some(spec) = &self.window {
            inside.push(Inside::window(spec)?);
        }
        Ok(inside)
    }
}

impl fmt::Display for RegionOptions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let regions = self.in_region.as_ref().map(|names| format!("in region {names}"));
        let focus = self.in_focus.then(|| "in focus".to_owned());
        f.write_str(&regions.into_iter().chain(focus).collect::<Vec<_>>().join(", "))
    }
}

impl fmt::Display for InsideOptions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let regions = Some(self.regions.to_string()).filter(|text| !text.is_empty());
        let window = self.window.as_ref().map(|window| format!("in window {window}"));
        f.write_str(&regions.into_iter().chain(window).collect::<Vec<_>>().join(", "))
    }
}
