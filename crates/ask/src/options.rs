//! The options of a question, and the facts about it that the command line, its help and its documents show.
//!
//! A question declares its options in its own file: a struct that derives `clap::Args`, with the shared groups flattened into
//! it ([`ProcessFilter`](crate::filter::ProcessFilter), [`WhenOptions`](crate::ask::WhenOptions), [`Top`](crate::order::Top)).
//! It implements [`QuestionOptions`]. The list in [`crate::question`] makes commands of them.

use std::fmt::Debug;

use clap::{Arg, Args, Command};

use crate::answer::{Answer, Column};
use crate::ask::{Ask, When};
use crate::etwanalyzer::Legacy;
use crate::recording::Source;
use crate::runs::{Run, Selection};
use crate::time_format::TimeFormat;
use crate::usage_error::UsageError;
use tracesift_extract::input::InputRecording;

/// The options of a question.
pub trait QuestionOptions: Args + Debug {
    /// The tables with which the question can answer.
    const FORMS: &'static [Form];

    /// The options on the short page of help, by their ids.
    const SHORT: &'static [&'static str];

    /// At least three command lines, each with its purpose.
    const EXAMPLES: &'static [(&'static str, &'static str)];

    /// The line below the examples.
    const NOTE: &'static str = EVERY_QUESTION;

    /// Arguments with which the question reads other tables, or reads them in another way, beside those of the forms: the
    /// fuzz target asks with them, too.
    const VARIANTS: &'static [&'static [&'static str]] = &[];

    /// The same question of ETWAnalyzer.
    const LEGACY: Option<Legacy> = None;

    /// The part of the recordings, and the instant from which times are counted.
    fn when(&self) -> When {
        When::default()
    }

    /// The format of instants in a table, where an option of the question says it.
    fn time_format(&self) -> Option<TimeFormat> {
        None
    }

    /// The question itself. `warn` takes warnings about the options.
    ///
    /// # Errors
    /// When the options contradict each other, or name a file that cannot be read.
    fn plan(&self, warn: &mut dyn FnMut(&str)) -> Result<Plan, UsageError>;

    /// Checks a question over the rows of a table with random rows. All others have tests of their own.
    #[cfg(test)]
    fn check_rows() {}
}

/// The line below the examples of most questions.
pub const EVERY_QUESTION: &str = "Options that every question takes: tracesift help filters";

/// The way to the answer.
#[expect(missing_debug_implementations, reason = "questions are closures in part")]
pub enum Plan {
    /// Each archive answers by itself.
    Archives(Asking),
    /// The names of the files answer: no file is opened.
    Names(Box<dyn AskNames>),
    /// Recordings answer without an extract, and so do archives.
    Files(Box<dyn AskFiles>),
    /// The answer depends on no file.
    Answer(Answer),
}

/// What happens to the answer before it is shown.
pub type Then = Box<dyn FnOnce(&mut Answer, &Selection)>;

/// A question to archives.
#[expect(missing_debug_implementations, reason = "questions are closures in part")]
pub struct Asking {
    /// The question.
    pub question: Box<dyn Ask>,
    /// The columns of the answer, where `then` makes others than those of the question.
    pub columns: Option<Vec<Column>>,
    /// What happens to the answer before it is shown.
    pub then: Then,
}

impl Asking {
    /// A question whose answer is shown as it is.
    pub fn plain(question: impl Ask + 'static) -> Self {
        Self { question: Box::new(question), columns: None, then: Box::new(|_, _| ()) }
    }
}

impl<Q: Ask + 'static> From<Q> for Plan {
    fn from(question: Q) -> Self {
        Self::Archives(Asking::plain(question))
    }
}

/// A question that the names of files answer.
pub trait AskNames {
    /// The answer.
    fn answer(&self, runs: &[Run]) -> Answer;
}

/// A question that recordings answer without an extract.
pub trait AskFiles {
    /// The answer of all files.
    fn answer(&self, recordings: &[InputRecording], archives: &[Source]) -> OfFiles;
}

/// The answer of files that were read as they are.
#[derive(Debug)]
pub struct OfFiles {
    /// The answer; `None` where no file has one.
    pub answer: Option<Answer>,
    /// Number of recordings and archives in the answer.
    pub usable: usize,
    /// The reason for each file without an answer.
    pub failures: Vec<String>,
    /// The reasons why an answer is empty; `None` where it is not.
    pub why_empty: Option<Vec<String>>,
}

/// The line above the columns of objects on a page, and these columns.
pub type Objects = (&'static str, fn() -> Vec<Column>);

/// A table with which a question answers.
#[derive(Clone, Copy, Debug)]
pub struct Form {
    /// The options that lead to it, with an example of their values: one of each list. Without lists it is the usual answer.
    pub with: &'static [&'static [&'static str]],
    /// The page in `docs/questions/` that has its columns.
    pub page: &'static str,
    /// The line above the columns on this page.
    pub title: &'static str,
    /// The columns.
    pub columns: fn() -> Vec<Column>,
    /// The objects of columns whose values are lists.
    pub objects: &'static [Objects],
}

impl Form {
    /// The usual answer of a question.
    #[must_use]
    pub const fn usual(page: &'static str, columns: fn() -> Vec<Column>) -> Self {
        Self { with: &[], page, title: "", columns, objects: &[] }
    }

    /// Whether the words of a command line lead to this form.
    #[must_use]
    pub fn is_asked(&self, words: &[String]) -> bool {
        let name = |word: &'_ str| word.split('=').next().unwrap_or_default().to_owned();
        let has = |option: &str| words.iter().any(|word| name(word) == name(option));
        self.with.iter().all(|options| options.iter().any(|option| has(option)))
    }
}

type Parse = fn(&[&str]) -> Result<(When, Plan), UsageError>;

/// A question with its place on the command line, whatever its options are.
#[derive(Clone, Copy, Debug)]
pub struct Registered {
    /// The words behind `tracesift`.
    pub command: &'static str,
    /// See [`QuestionOptions::FORMS`].
    pub forms: &'static [Form],
    /// See [`QuestionOptions::SHORT`].
    pub short: &'static [&'static str],
    /// See [`QuestionOptions::EXAMPLES`].
    pub examples: &'static [(&'static str, &'static str)],
    /// See [`QuestionOptions::NOTE`].
    pub note: &'static str,
    /// See [`QuestionOptions::VARIANTS`].
    pub variants: &'static [&'static [&'static str]],
    /// See [`QuestionOptions::LEGACY`].
    pub legacy: Option<Legacy>,
    parse: Parse,
    define: fn(Command) -> Command,
}

impl Registered {
    /// The question of these options.
    #[must_use]
    pub const fn of<O: QuestionOptions>(command: &'static str) -> Self {
        Self {
            command,
            forms: O::FORMS,
            short: O::SHORT,
            examples: O::EXAMPLES,
            note: O::NOTE,
            variants: O::VARIANTS,
            legacy: O::LEGACY,
            parse: parse::<O>,
            define: O::augment_args,
        }
    }

    /// The options of the question, as a command that has nothing else.
    #[must_use]
    pub fn definition(&self) -> Command {
        (self.define)(Command::new("question"))
    }

    /// Whether the question has an option of this id.
    #[must_use]
    pub fn has_option(&self, id: &str) -> bool {
        self.definition().get_arguments().any(|option| option.get_id() == id)
    }

    /// The columns of the form that the words of a command line lead to. The last form of the list goes before those above it.
    #[must_use]
    pub fn columns(&self, words: &[String]) -> Vec<Column> {
        let form = self.forms.iter().rev().find(|form| form.is_asked(words));
        form.map_or_else(Vec::new, |form| (form.columns)())
    }

    /// The question that these arguments ask, without those that name files.
    ///
    /// # Errors
    /// When the question does not have such options, or see [`QuestionOptions::plan`].
    pub fn plan(&self, arguments: &[&str]) -> Result<(When, Plan), UsageError> {
        (self.parse)(arguments)
    }

    /// All forms and variants of the question, as arguments.
    pub fn ways(&self) -> impl Iterator<Item = Vec<&'static str>> {
        let of_forms =
            self.forms.iter().map(|form| form.with.iter().filter_map(|options| options.first()).copied().collect());
        of_forms.chain(self.variants.iter().map(|variant| variant.to_vec()))
    }
}

fn parse<O: QuestionOptions>(arguments: &[&str]) -> Result<(When, Plan), UsageError> {
    let command = O::augment_args(Command::new("question").no_binary_name(true));
    let wrong = |error: clap::Error| UsageError { message: error.to_string(), hint: None };
    let matches = command.try_get_matches_from(arguments).map_err(wrong)?;
    let options = O::from_arg_matches(&matches).map_err(wrong)?;
    Ok((options.when(), options.plan(&mut |_| ())?))
}

/// The options that one of two questions under one name has alone.
pub(crate) fn only_in(all: &Command, other: &Command) -> Vec<Arg> {
    let is_there = |arg: &&Arg| other.get_arguments().any(|known| known.get_id() == arg.get_id());
    all.get_arguments().filter(|arg| !is_there(arg)).cloned().collect()
}
