//! The options of two questions under one name: `--by` and filters choose between counts of threads and samples of code.

use clap::builder::{PossibleValue, PossibleValuesParser, StyledStr};
use clap::error::ErrorKind;
use clap::parser::ValueSource;
use clap::{Arg, ArgMatches, Args, Command, FromArgMatches};

use super::{Question, SampledQuestion, Samples, Threads};
use crate::ask::When;
use crate::etwanalyzer::{Legacy, To, switch};
use crate::options::{Form, Plan, QuestionOptions, only_in};
use crate::table_question::{self, TableQuestion as _};
use crate::usage_error::UsageError;

type OfThreads = table_question::Options<Threads>;
type OfSamples = table_question::Options<Samples>;

/// The options.
#[derive(Debug)]
pub enum Options {
    /// Counts of threads.
    Threads(OfThreads),
    /// Samples, by the code that they hit.
    Samples(OfSamples),
}

fn of_threads() -> Command {
    OfThreads::augment_args(Command::new("threads"))
}

fn of_samples() -> Command {
    OfSamples::augment_args(Command::new("samples"))
}

/// The words of `--by` that ask for samples.
fn words_of_samples() -> impl Iterator<Item = &'static str> {
    SampledQuestion::dimensions().filter(|word| Question::dimensions().all(|known| known != *word))
}

/// All words of `--sort`.
fn orders() -> Vec<PossibleValue> {
    let mut orders: Vec<&'static [&'static str]> = Question::orders().collect();
    orders.extend(SampledQuestion::orders().filter(|words| Question::orders().all(|known| known[0] != words[0])));
    let value = |words: &[&'static str]| PossibleValue::new(words[0]).aliases(words[1..].iter().copied());
    orders.into_iter().map(value).collect()
}

impl Args for Options {
    fn augment_args(command: Command) -> Command {
        let by = PossibleValuesParser::new(Question::dimensions().chain(words_of_samples()));
        let help = "Add up: a row per value of this, or, separated by `,`, of several; code, CPUs and tags are those of samples";
        OfThreads::augment_args(command)
            .args(only_in(&of_samples(), &of_threads()))
            .mut_arg("by", |arg| arg.value_parser(by).help(StyledStr::from(help)))
            .mut_arg("sort", |arg| arg.value_parser(PossibleValuesParser::new(orders())))
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

impl FromArgMatches for Options {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        let is_given = |arg: &Arg| matches.value_source(arg.get_id().as_str()) == Some(ValueSource::CommandLine);
        let given = |args: Vec<Arg>| args.into_iter().find(is_given).map(|arg| arg.get_id().to_string());
        let by = matches.get_many::<String>("by").into_iter().flatten();
        let word = by.into_iter().find(|word| words_of_samples().any(|known| known == word.as_str()));
        let option = given(only_in(&of_samples(), &of_threads())).map(|option| format!("--{option}"));
        let Some(samples) = word.map(|word| format!("--by {word}")).or(option) else {
            return OfThreads::from_arg_matches(matches).map(Self::Threads);
        };
        if let Some(threads) = given(only_in(&of_threads(), &of_samples())) {
            let message =
                format!("{samples} is about samples of code, --{threads} about counts of threads: one of both\n");
            return Err(clap::Error::raw(ErrorKind::ArgumentConflict, message));
        }
        OfSamples::from_arg_matches(matches).map(Self::Samples)
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}

impl QuestionOptions for Options {
    const FORMS: &'static [Form] = &[
        Form::usual("pmc", Question::all_columns),
        Form {
            with: &[&["--list"]],
            title: "With `--list` a row is what one counter counted for one thread on the cores of a kind:\n\n",
            ..Form::usual("pmc", Question::list_columns)
        },
        Form {
            with: &[&["--by=method"]],
            title: "With `--by` `cpu`, `method`, `module`, `stack` or `tag` the counts are those of samples:\n\n",
            ..Form::usual("pmc", SampledQuestion::all_columns)
        },
        Form {
            with: &[&["--by=method", "--list"]],
            title: "With `--list` as well a row is a single sample:\n\n",
            ..Form::usual("pmc", SampledQuestion::list_columns)
        },
    ];
    const SHORT: &'static [&'static str] = Threads::SHORT;
    const EXAMPLES: &'static [(&'static str, &'static str)] = Threads::EXAMPLES;
    const VARIANTS: &'static [&'static [&'static str]] = Threads::VARIANTS;
    const LEGACY: Option<Legacy> = Some(Legacy {
        name: "pmc",
        switches: &[switch(
            &["nocounters"],
            To::Columns("!instructions;!cycles;!branches;!branch_mispredicts;!cache_misses;!llc_references", ""),
        )],
    });

    fn when(&self) -> When {
        match self {
            Self::Threads(options) => options.when(),
            Self::Samples(options) => options.when(),
        }
    }

    fn plan(&self, warn: &mut dyn FnMut(&str)) -> Result<Plan, UsageError> {
        match self {
            Self::Threads(options) => options.plan(warn),
            Self::Samples(options) => options.plan(warn),
        }
    }

    #[cfg(test)]
    fn check_rows() {
        OfThreads::check_rows();
        OfSamples::check_rows();
    }
}
