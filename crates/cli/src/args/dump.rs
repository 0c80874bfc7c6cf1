//! The questions of `dump`, as `tracesift_ask` lists them.

use clap::Subcommand;
use tracesift_ask::{every_question, question};

use super::{Asked, Deferred};

macro_rules! dump {
    ($($(#[$about:meta])* $variant:ident($module:ident),)*) => {
        /// The question.
        #[derive(Debug, Subcommand)]
        pub(crate) enum Dump {
            $($(#[$about])* $variant(Deferred<Asked<question::$module::Options>>),)*
        }
    };
}

every_question!(dump);
