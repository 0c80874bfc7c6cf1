//! Options that are defined when their command is asked for: a start of the program defines one command and not all of them.

use std::cell::Cell;

use clap::builder::{Resettable, StyledStr};
use clap::{ArgMatches, Args, Command, Error, FromArgMatches};

thread_local! {
    static DEFERS: Cell<bool> = const { Cell::new(true) };
}

/// The definition that `make` makes, with the options of all commands, for pages of help and documents. The parser would define them
/// later, behind the options that all commands have, and pages would begin with those.
pub(super) fn with_all_options(make: fn() -> Command) -> Command {
    DEFERS.set(false);
    let command = make();
    DEFERS.set(true);
    command
}

/// The options of a command.
#[derive(Debug)]
pub(crate) struct Deferred<T>(Box<T>);

impl<T> std::ops::Deref for Deferred<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.0
    }
}

impl<T: Args> Args for Deferred<T> {
    fn augment_args(command: Command) -> Command {
        if DEFERS.get() { command.defer(define::<T>) } else { define::<T>(command) }
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

/// Adds the options. The sentence about the command stays: the documentation of the type is not meant for users.
fn define<T: Args>(command: Command) -> Command {
    let text = |text: Option<StyledStr>| text.map_or(Resettable::Reset, Resettable::Value);
    let (about, long_about) = (text(command.get_about().cloned()), text(command.get_long_about().cloned()));
    T::augment_args(command).about(about).long_about(long_about)
}

impl<T: FromArgMatches> FromArgMatches for Deferred<T> {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, Error> {
        T::from_arg_matches(matches).map(|options| Self(Box::new(options)))
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), Error> {
        self.0.update_from_arg_matches(matches)
    }
}
