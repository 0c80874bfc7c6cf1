//! The options that say how fine a method is: the same wherever there are rows or lines of methods.

use clap::Args;
use tracesift_extract::stack_methods::{By, Granularity};

use crate::words::{Word, one_of};

const BY: &[Word<By>] = &[
    ("function", "Module and function", By::Function),
    ("line", "Source line, where the symbols tell it", By::Line),
    ("address", "Instruction", By::Address),
];

/// How fine a method is.
#[derive(Args, Debug)]
pub struct GranularityOptions {
    /// Functions with other arguments are other methods, shown and matched with them
    #[arg(long)]
    include_args: bool,
    /// What is one method
    #[arg(long, value_name = "WHAT", default_value = "function", value_parser = one_of(BY))]
    by: By,
    /// One row per module for all its functions without symbols
    #[arg(long)]
    fold_unresolved: bool,
}

impl GranularityOptions {
    /// What is one method.
    #[must_use]
    pub fn granularity(&self) -> Granularity {
        Granularity { by: self.by, fold_unresolved: self.fold_unresolved, arguments: self.include_args }
    }
}
