//! The command-line options of a table question, made from its dimensions, measures and limits.

use clap::builder::{PossibleValue, PossibleValuesParser};
use clap::{Arg, ArgAction, ArgMatches, Args, Command, FromArgMatches};
use tracesift_grammar::milliseconds;

use super::{Question, TableQuestion, UnknownName};
use crate::ask::{SeriesOptions, When, WhenOptions};
use crate::etwanalyzer::Legacy;
use crate::filter::ProcessFilter;
use crate::options::{Form, Plan, QuestionOptions};
use crate::order::{Between, Top};
use crate::usage_error::UsageError;

/// The options of a table question.
#[derive(Debug)]
pub struct Options<Q: TableQuestion> {
    when: When,
    question: Question<Q>,
}

/// The name of an option, and of its argument: without the dashes.
fn id(option: &'static str) -> &'static str {
    option.trim_start_matches('-')
}

fn option(name: &'static str, value: &'static str, help: impl Into<clap::builder::StyledStr>) -> Arg {
    Arg::new(id(name)).long(id(name)).value_name(value).help(help).help_heading("Rows")
}

impl<Q: TableQuestion> Args for Options<Q> {
    fn augment_args(command: Command) -> Command {
        let command = ProcessFilter::augment_args(command);
        let command = SeriesOptions::augment_args(WhenOptions::augment_args(command));
        let mut command = Top::augment_args(command);
        for filter in Q::DIMENSIONS.iter().filter_map(|dimension| dimension.filter) {
            command = command.arg(option(filter.option, "PATTERNS", filter.help));
        }
        for limit in Q::LIMITS {
            for (name, help) in limit.options.into_iter().zip(limit.help) {
                command = command.arg(option(name, "TIME", help).value_parser(milliseconds));
            }
        }
        for shorthand in Q::SHORTHANDS {
            let name = id(shorthand.option);
            let flag = Arg::new(name).long(name).action(ArgAction::SetTrue).help(shorthand.help).help_heading("Rows");
            command = command.arg(flag);
        }
        let dimensions = PossibleValuesParser::new(Question::<Q>::dimensions());
        let by = option("by", "WHAT", "Add up: a row per value of this, or, separated by `,`, of several")
            .value_delimiter(',')
            .value_parser(dimensions)
            .conflicts_with_all(Q::SHORTHANDS.iter().map(|shorthand| id(shorthand.option)));
        let orders = Question::<Q>::orders().map(|words| {
            let (first, others) = words.split_first().unwrap_or((&super::BY_NAME, &[]));
            PossibleValue::new(*first).aliases(others.iter().copied())
        });
        let sort = option("sort", "KEY", "Order of the rows; the largest stands last")
            .value_parser(PossibleValuesParser::new(orders))
            .default_value(Q::SORT);
        command.arg(by).arg(sort)
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

impl<Q: TableQuestion> FromArgMatches for Options<Q> {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        let SeriesOptions { bucket } = SeriesOptions::from_arg_matches(matches)?;
        let when = When { bucket, ..WhenOptions::from_arg_matches(matches)?.when() };
        let question = Question::<Q> {
            filter: ProcessFilter::from_arg_matches(matches)?,
            top: Top::from_arg_matches(matches)?,
            ..Question::default()
        };
        // The parser has seen to it that names are known.
        let unknown = |error: UnknownName| clap::Error::raw(clap::error::ErrorKind::InvalidValue, error);
        Ok(Self { when, question: asked(question, matches).map_err(unknown)? })
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}

fn asked<Q: TableQuestion>(mut question: Question<Q>, matches: &ArgMatches) -> Result<Question<Q>, UnknownName> {
    for filter in Q::DIMENSIONS.iter().filter_map(|dimension| dimension.filter) {
        if let Some(patterns) = matches.get_one::<String>(id(filter.option)) {
            question = question.matching(filter.option, patterns)?;
        }
    }
    for limit in Q::LIMITS {
        let [min, max] = limit.options.map(|option| matches.get_one(id(option)).copied());
        question = question.between(limit.options[0], Between { min, max })?;
    }
    if let Some(shorthand) = Q::SHORTHANDS.iter().find(|shorthand| matches.get_flag(id(shorthand.option))) {
        question = question.by(shorthand.by)?;
    }
    if let Some(names) = matches.get_many::<String>("by") {
        question = question.by(&names.map(String::as_str).collect::<Vec<_>>())?;
    }
    match matches.get_one::<String>("sort") {
        Some(word) => question.sorted_by_word(word),
        None => Ok(question),
    }
}

impl<Q: TableQuestion> QuestionOptions for Options<Q> {
    const FORMS: &'static [Form] = &[Form::usual(Q::NAME, Question::<Q>::all_columns)];
    const SHORT: &'static [&'static str] = Q::SHORT;
    const EXAMPLES: &'static [(&'static str, &'static str)] = Q::EXAMPLES;
    const VARIANTS: &'static [&'static [&'static str]] = Q::VARIANTS;
    const LEGACY: Option<Legacy> = Q::LEGACY;

    fn when(&self) -> When {
        self.when.clone()
    }

    fn plan(&self, _: &mut dyn FnMut(&str)) -> Result<Plan, UsageError> {
        Ok(Plan::from(self.question.clone()))
    }

    #[cfg(test)]
    fn check_rows() {
        super::tests::check::<Q>();
    }
}
