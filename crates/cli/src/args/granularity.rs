//! What is one method: options that mean the same wherever there are rows or lines of methods.

use clap::{Args, ValueEnum};
use tracesift_extract::stack_methods::{By, Granularity};

/// What is one method.
#[derive(Debug, Args)]
pub(crate) struct GranularityArgs {
    /// Functions with other arguments are other methods, shown and matched with them
    #[arg(long)]
    include_args: bool,
    /// What is one method
    #[arg(long, value_name = "WHAT", default_value = "function")]
    by: WhichBy,
    /// One row per module for all its functions without symbols
    #[arg(long)]
    fold_unresolved: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum WhichBy {
    /// Module and function
    Function,
    /// Source line, where the symbols tell it
    Line,
    /// Instruction
    Address,
}

impl GranularityArgs {
    /// What is one method.
    pub(crate) fn granularity(&self) -> Granularity {
        let by = match self.by {
            WhichBy::Function => By::Function,
            WhichBy::Line => By::Line,
            WhichBy::Address => By::Address,
        };
        Granularity { by, fold_unresolved: self.fold_unresolved, arguments: self.include_args }
    }
}
