//! The options of two questions under one name: `--queue` chooses between events of pools and the work that they queue.

use clap::builder::{PossibleValue, PossibleValuesParser, StyledStr};
use clap::{Arg, ArgAction, ArgMatches, Args, Command, FromArgMatches, Id};

use super::{Question, Queue, QueueQuestion, ThreadPool};
use crate::ask::When;
use crate::etwanalyzer::Legacy;
use crate::options::{Form, Plan, QuestionOptions, only_in};
use crate::table_question::{self, TableQuestion as _};
use crate::usage_error::UsageError;

type OfPools = table_question::Options<ThreadPool>;
type OfQueues = table_question::Options<Queue>;

const QUEUE: &str = "queue";

/// The options.
#[derive(Debug)]
pub enum Options {
    /// Events of pools.
    Pools(OfPools),
    /// Work that was queued.
    Queues(OfQueues),
}

fn of_pools() -> Command {
    OfPools::augment_args(Command::new("pools"))
}

fn of_queues() -> Command {
    OfQueues::augment_args(Command::new("queues"))
}

/// All words of `--sort`.
fn orders() -> Vec<PossibleValue> {
    let mut orders: Vec<&'static [&'static str]> = Question::orders().collect();
    for words in QueueQuestion::orders() {
        match orders.iter_mut().find(|known| known[0] == words[0]) {
            Some(known) if known.len() < words.len() => *known = words,
            Some(_) => {}
            None => orders.push(words),
        }
    }
    let value = |words: &[&'static str]| PossibleValue::new(words[0]).aliases(words[1..].iter().copied());
    orders.into_iter().map(value).collect()
}

impl Args for Options {
    fn augment_args(command: Command) -> Command {
        let of_queues_alone =
            QueueQuestion::dimensions().filter(|word| Question::dimensions().all(|known| known != *word));
        let by = PossibleValuesParser::new(Question::dimensions().chain(of_queues_alone));
        let sort = format!(
            "Order of the rows; the largest stands last [default: {}; with --queue {}]",
            ThreadPool::SORT,
            Queue::SORT
        );
        let queue = "How long work waited for a thread of its pool, and how long tasks ran";
        let queue = Arg::new(QUEUE).long(QUEUE).action(ArgAction::SetTrue).help(queue).help_heading("Rows");
        let (pools, queues) = (of_pools(), of_queues());
        let of_pools_alone: Vec<Id> = only_in(&pools, &queues).iter().map(|arg| arg.get_id().clone()).collect();
        let with_queue = only_in(&queues, &pools).into_iter().map(|arg| arg.requires(QUEUE));
        OfPools::augment_args(command)
            .mut_args(|arg| if of_pools_alone.contains(arg.get_id()) { arg.conflicts_with(QUEUE) } else { arg })
            .arg(queue)
            .args(with_queue)
            .mut_arg("by", |arg| arg.value_parser(by))
            .mut_arg("sort", |arg| {
                arg.value_parser(PossibleValuesParser::new(orders()))
                    .default_value(None::<&'static str>)
                    .help(StyledStr::from(sort))
            })
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

impl FromArgMatches for Options {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        if matches.get_flag(QUEUE) {
            OfQueues::from_arg_matches(matches).map(Self::Queues)
        } else {
            OfPools::from_arg_matches(matches).map(Self::Pools)
        }
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}

impl QuestionOptions for Options {
    const FORMS: &'static [Form] = &[
        Form::usual("threadpool", Question::all_columns),
        Form {
            with: &[&["--list"]],
            title: "With `--list` a row is a single row of the table:\n\n",
            ..Form::usual("threadpool", Question::list_columns)
        },
        Form {
            with: &[&["--queue"]],
            title: "With `--queue`:\n\n",
            ..Form::usual("threadpool", QueueQuestion::all_columns)
        },
        Form {
            with: &[&["--queue"], &["--list"]],
            title: "With `--queue --list` a row is a single item of work:\n\n",
            ..Form::usual("threadpool", QueueQuestion::list_columns)
        },
    ];
    const SHORT: &'static [&'static str] = ThreadPool::SHORT;
    const EXAMPLES: &'static [(&'static str, &'static str)] = ThreadPool::EXAMPLES;
    const VARIANTS: &'static [&'static [&'static str]] = ThreadPool::VARIANTS;
    const LEGACY: Option<Legacy> = ThreadPool::LEGACY;

    fn when(&self) -> When {
        match self {
            Self::Pools(options) => options.when(),
            Self::Queues(options) => options.when(),
        }
    }

    fn plan(&self, warn: &mut dyn FnMut(&str)) -> Result<Plan, UsageError> {
        match self {
            Self::Pools(options) => options.plan(warn),
            Self::Queues(options) => options.plan(warn),
        }
    }

    #[cfg(test)]
    fn check_rows() {
        OfPools::check_rows();
        OfQueues::check_rows();
    }
}
