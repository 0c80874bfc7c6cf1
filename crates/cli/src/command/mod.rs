//! One module per command.

mod compare;
pub(crate) mod demo;
pub(crate) mod dump;
pub(crate) mod events;
mod explain;
pub(crate) mod extract;
mod found;
mod history;
pub(crate) mod import;
pub(crate) mod keywords;
mod manual;
mod overview;
mod printer;
mod profile;
pub(crate) mod record;
pub(crate) mod run;
mod sources;
mod symbols;
mod temporary;
mod view;

use crate::args::{Cli, Command};
use crate::etwanalyzer::csv::Layout;
use crate::exit::Exit;
use crate::terminal::Messages;

/// Runs the command. With `csv` a CSV file of an answer has ETWAnalyzer's columns.
pub(crate) fn run(cli: &Cli, csv: Option<&Layout>) -> anyhow::Result<Exit> {
    let messages = Messages::new(cli.no_color, cli.quiet);
    match &cli.command {
        Command::Record(args) => record::run(args, &messages),
        Command::Run(args) => run::run(args, cli.no_color, &messages),
        Command::Extract(args) => extract::run(args, &messages),
        Command::Import(args) => import::run(args, &messages),
        Command::Overview(args) => overview::run(args, cli.no_color, &messages),
        Command::Dump(args) => dump::run(&args.question, cli.no_color, csv, &messages),
        Command::Explain(args) => explain::run(args, &messages),
        Command::Compare(args) => compare::run(args, &messages),
        Command::History(args) => history::run(args, &messages),
        Command::View(args) => view::run(args, &messages),
        Command::Events(args) => events::run(args, &messages),
        Command::Flame(args) => profile::flame(args, &messages),
        Command::Export(args) => profile::export(args, &messages),
        Command::Time(args) => dump::answer(args, cli.no_color, None, &messages),
        Command::Symbols(args) => symbols::run(&args.action, cli.no_color, &messages),
        Command::Keywords(args) => keywords::run(args),
        Command::Demo(args) => demo::run(args, cli.no_color),
        Command::Completions { shell } => manual::completions(*shell),
        Command::Man { out } => manual::pages(out.as_deref()),
        Command::Help { words } => manual::help(words),
    }
}
