//! The options that say which windows are taken apart, and how.

use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;

use clap::Args;
use tracesift_analysis::disturbances::Disturbances;
use tracesift_grammar::Patterns;

use super::spec::{WindowKind, WindowSpec};
use super::window::WindowQuery;
use super::{AccountQuery, Follow};
use crate::filter::ProcessFilter;
use crate::tag_files;
use crate::usage_error::UsageError;

/// The windows of an account, and how they are taken apart.
#[derive(Args, Clone, Debug)]
#[command(next_help_heading = "Window")]
pub struct AccountOptions {
    /// The time that is taken apart: process:PATTERN, method:PATTERN, wait:PATTERN, mark:A..B, or a range such as 3.2s..7.9s; `#2` behind
    /// it chooses the second that fits; `auto` is the life of the program that was recorded, or of the processes of -p
    #[arg(long, value_name = "WINDOW", default_value = "auto", allow_hyphen_values = true)]
    window: WindowSpec,
    /// Start with this thread at the end of the window, by name or id
    #[arg(long, value_name = "PATTERNS", default_value = "", hide_default_value = true)]
    anchor: Patterns,
    /// What a wait for work means: a wait, or that the request came from the thread that ended it [default: requests where a window of a
    /// method ends in another thread than it began in, else waits]
    #[arg(long, value_name = "WHAT")]
    follow: Option<Follow>,
    /// What counts as a disturbance: `default`, `none`, or kinds such as `antivirus,cpu-taken`
    #[arg(long, value_name = "KINDS", default_value = "default", hide_default_value = true)]
    disturbances: String,
    /// Take the tags from this file; several add up, `builtin` stands for our own
    #[arg(long, value_name = "FILE")]
    tag_file: Vec<PathBuf>,
}

/// What nobody has to say of disturbances.
const DEFAULT: &str = "default";

impl AccountOptions {
    /// The window, if one was given.
    #[must_use]
    pub fn window(&self) -> Option<&WindowSpec> {
        Some(&self.window).filter(|window| window.kind != WindowKind::Auto || window.number.is_some())
    }

    /// An option beside the window that was given, for commands in which they mean nothing without another one.
    #[must_use]
    pub fn given(&self) -> Option<&'static str> {
        let given = [
            ("--anchor", !self.anchor.is_empty()),
            ("--follow", self.follow.is_some()),
            ("--disturbances", self.disturbances != DEFAULT),
            ("--tag-file", !self.tag_file.is_empty()),
        ];
        given.into_iter().find(|(_, is_given)| *is_given).map(|(option, _)| option)
    }

    /// What is asked of each recording. `warn` takes what is wrong in files of tags and does no harm.
    ///
    /// # Errors
    /// When nothing says which program a range of time is about, a kind of disturbance does not exist, or a file of tags cannot
    /// be read.
    pub fn query(&self, filter: &ProcessFilter, warn: &mut dyn FnMut(&str)) -> Result<AccountQuery, UsageError> {
        if matches!(self.window.kind, WindowKind::Time(_)) && filter.is_empty() && self.anchor.is_empty() {
            return Err(UsageError::new(
                "a range of time does not say which program is tested",
                "name its process with -p, or the thread to start with with --anchor",
            ));
        }
        let tags = if self.tag_file.is_empty() { None } else { Some(tag_files::load(&self.tag_file, false, warn)?) };
        let disturbances = Disturbances::choose(&self.disturbances)
            .map_err(|error| UsageError { message: error.to_string(), hint: None })?;
        Ok(AccountQuery {
            windows: WindowQuery { spec: self.window.clone(), filter: filter.clone(), anchor: self.anchor.clone() },
            follow: self.follow,
            disturbances: Arc::new(disturbances),
            tags,
            repetitions: false,
        })
    }
}

impl fmt::Display for AccountOptions {
    /// The windows in words, with what changes them; nothing where nothing was given.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let is_auto = self.window.kind == WindowKind::Auto && self.window.number.is_none();
        let follow = self.follow.map(|follow| match follow {
            Follow::Waits => "following waits",
            Follow::Requests => "following requests",
        });
        let parts = [
            (!is_auto).then(|| format!("window {}", self.window)),
            (!self.anchor.is_empty()).then(|| format!("from thread {}", self.anchor)),
            follow.map(str::to_owned),
            (self.disturbances != DEFAULT).then(|| format!("disturbances {}", self.disturbances)),
        ];
        f.write_str(&parts.into_iter().flatten().collect::<Vec<_>>().join(", "))
    }
}
