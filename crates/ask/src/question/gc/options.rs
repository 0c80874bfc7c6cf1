//! The options of two questions under one name: `--finalized` asks for types of objects in place of collections.

use clap::builder::{PossibleValuesParser, StyledStr};
use clap::error::ErrorKind;
use clap::parser::ValueSource;
use clap::{Arg, ArgAction, ArgMatches, Args, Command, FromArgMatches};

use super::finalized::{self, Finalized};
use super::{Gc, Question};
use crate::ask::When;
use crate::options::{Form, Plan, QuestionOptions};
use crate::table_question::{self, TableQuestion as _};
use crate::usage_error::UsageError;

type OfCollections = table_question::Options<Gc>;
type OfTypes = table_question::Options<Finalized>;

/// The option that asks for types.
const FINALIZED: &str = "finalized";

/// The options.
#[derive(Debug)]
pub enum Options {
    /// Collections.
    Collections(OfCollections),
    /// Types whose finalizers ran.
    Types(OfTypes),
}

/// The options that one of the questions has alone.
fn only_in(all: &Command, other: &Command) -> Vec<Arg> {
    let is_there = |arg: &&Arg| other.get_arguments().any(|known| known.get_id() == arg.get_id());
    all.get_arguments().filter(|arg| !is_there(arg)).cloned().collect()
}

fn of_collections() -> Command {
    OfCollections::augment_args(Command::new("collections"))
}

fn of_types() -> Command {
    OfTypes::augment_args(Command::new("types"))
}

/// The words of `--by` that only types have.
fn words_of_types() -> impl Iterator<Item = &'static str> {
    finalized::Question::dimensions().filter(|word| Question::dimensions().all(|known| known != *word))
}

impl Args for Options {
    fn augment_args(command: Command) -> Command {
        let by = PossibleValuesParser::new(Question::dimensions().chain(words_of_types()));
        let help = "Add up: a row per value of this, or, separated by `,`, of several; types are those of --finalized";
        let finalized = Arg::new(FINALIZED)
            .long(FINALIZED)
            .action(ArgAction::SetTrue)
            .help("The types whose finalizers ran, in place of collections: a row per process and type")
            .help_heading("Rows")
            .conflicts_with_all(["list", "top-details"]);
        OfCollections::augment_args(command)
            .arg(finalized)
            .args(only_in(&of_types(), &of_collections()).into_iter().map(|arg| arg.requires(FINALIZED)))
            .mut_arg("by", |arg| arg.value_parser(by).help(StyledStr::from(help)))
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

impl FromArgMatches for Options {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        let conflict = |message: String| Err(clap::Error::raw(ErrorKind::ArgumentConflict, message));
        let by = || matches.get_many::<String>("by").into_iter().flatten();
        if !matches.get_flag(FINALIZED) {
            if let Some(word) = by().find(|word| words_of_types().any(|known| known == word.as_str())) {
                return conflict(format!("--by {word} is about finalized objects: add --finalized\n"));
            }
            return OfCollections::from_arg_matches(matches).map(Self::Collections);
        }
        let is_given = |arg: &Arg| matches.value_source(arg.get_id().as_str()) == Some(ValueSource::CommandLine);
        let of_collections = only_in(&of_collections(), &of_types()).into_iter().find(is_given);
        let option = of_collections.map(|arg| format!("--{}", arg.get_id()));
        let is_of_types = |word: &&String| finalized::Question::dimensions().any(|known| known == word.as_str());
        let word = by().find(|word| !is_of_types(word)).map(|word| format!("--by {word}"));
        if let Some(option) = option.or(word) {
            return conflict(format!(
                "{option} is about collections, --finalized about types of objects: one of both\n"
            ));
        }
        OfTypes::from_arg_matches(matches).map(Self::Types)
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}

impl QuestionOptions for Options {
    const FORMS: &'static [Form] = &[
        Form::usual("gc", Question::all_columns),
        Form {
            with: &[&["--list"]],
            title: "With `--list` a row is a single row of the table:\n\n",
            ..Form::usual("gc", Question::list_columns)
        },
        Form {
            with: &[&["--finalized"]],
            title: "With `--finalized` a row is a type of a process:\n\n",
            ..Form::usual("gc", finalized::Question::all_columns)
        },
    ];
    const SHORT: &'static [&'static str] = Gc::SHORT;
    const EXAMPLES: &'static [(&'static str, &'static str)] = Gc::EXAMPLES;
    const VARIANTS: &'static [&'static [&'static str]] = Gc::VARIANTS;

    fn when(&self) -> When {
        match self {
            Self::Collections(options) => options.when(),
            Self::Types(options) => options.when(),
        }
    }

    fn plan(&self, warn: &mut dyn FnMut(&str)) -> Result<Plan, UsageError> {
        match self {
            Self::Collections(options) => options.plan(warn),
            Self::Types(options) => options.plan(warn),
        }
    }

    #[cfg(test)]
    fn check_rows() {
        OfCollections::check_rows();
        OfTypes::check_rows();
    }
}
