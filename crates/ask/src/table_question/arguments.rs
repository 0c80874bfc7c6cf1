//! The command-line options of a table question, made from its dimensions, measures and limits.

use std::path::PathBuf;

use clap::builder::{PossibleValue, PossibleValuesParser};
use clap::{Arg, ArgAction, Args as _, Command, value_parser};
use tracesift_grammar::{milliseconds, parse_size};

use super::BY_NAME;
use super::measure::GroupLimits;
use super::stated::Stated;
use crate::answer::Kind;
use crate::inside_options::InsideOptions;
use crate::usual_options::UsualOptions;

pub(super) const DIR_LEVEL: &str = "--dir-level";
pub(super) const LEVEL: &str = "--level";
pub(super) const REVERSE_PATH: &str = "--reverse-path";
pub(super) const TAG_FILE: &str = "--tag-file";

/// The name of an option, and of its argument: without the dashes.
pub(super) fn id(option: &'static str) -> &'static str {
    option.trim_start_matches('-')
}

/// The option that asks for single rows.
pub(super) const LIST: &str = "--list";
/// The option that asks for the single rows of groups.
pub(super) const TOP_DETAILS: &str = "--top-details";

/// The options with the number of the stacks below each row, and of the largest ones that are left out.
pub(super) const TOP_STACKS: [&str; 2] = ["--top-stacks", "--skip-stacks"];

/// The option that makes the groups a tree.
pub(super) const TREE: &str = "--tree";

/// The option that makes one answer of those about several files.
pub(super) const MERGE: &str = "--merge";

/// The option that takes rows for open that the end of their process ended.
pub(super) const INCLUDE_EXITED: &str = "--include-exited";

/// The options that keep rows by their growth over files.
pub(super) const GROWTH_LIMITS: [&str; 2] = ["--min-growth", "--max-growth"];

/// The option that compares files.
pub(super) const GROWTH: &str = "--growth";

/// The number of rows of each group.
fn top_details(text: &str) -> Result<usize, String> {
    match text {
        "all" => Ok(usize::MAX),
        _ => text.parse().map_err(|_| "it must be a number, or `all`".to_owned()),
    }
}

fn flag(name: &'static str, help: &'static str) -> Arg {
    Arg::new(id(name)).long(id(name)).action(ArgAction::SetTrue).help(help).help_heading("Rows")
}

/// Options with the limits of a figure of this kind.
fn limits(kind: Kind, options: [&'static str; 2], help: [&'static str; 2]) -> [Arg; 2] {
    [0, 1].map(|limit| match kind {
        Kind::Bytes => option(options[limit], "SIZE", help[limit]).value_parser(parse_size),
        Kind::Milliseconds | Kind::Microseconds | Kind::Seconds | Kind::Time => {
            option(options[limit], "TIME", help[limit]).value_parser(milliseconds)
        }
        _ => option(options[limit], "N", help[limit]).value_parser(clap::value_parser!(i64)),
    })
}

fn option(name: &'static str, value: &'static str, help: impl Into<clap::builder::StyledStr>) -> Arg {
    Arg::new(id(name)).long(id(name)).value_name(value).help(help).help_heading("Rows")
}

/// The options of the stacks below each row.
fn stack_options(stated: &Stated) -> Vec<Arg> {
    if stated.stacks_below.is_none() {
        return Vec::new();
    }
    let help =
        ["Below each row the N stacks with most in it, as --details has 10", "Leave out the N largest stacks first"];
    let others = [id(LIST), id(TOP_DETAILS), "bucket"].into_iter().chain(stated.grows.then_some(id(GROWTH)));
    let others: Vec<&str> = others.collect();
    let one = |(name, help)| option(name, "N", help).value_parser(value_parser!(usize)).conflicts_with_all(&others);
    TOP_STACKS.into_iter().zip(help).map(one).collect()
}

/// The options of the growth over files.
fn growth_options(stated: &Stated) -> Vec<Arg> {
    if !stated.grows {
        return Vec::new();
    }
    let help = "How the figure of --sort grows from file to file: a row per name, over all files";
    let others = [id(LIST), id(TOP_DETAILS), "bucket"];
    let growth = flag(GROWTH, help).conflicts_with_all(others);
    let help = [
        "With --growth: only rows that grew or shrank by this much, a number or a size such as 10MiB",
        "With --growth: only rows that grew or shrank by no more than this",
    ];
    let one = |(name, help)| option(name, "SIZE", help).value_parser(parse_size).conflicts_with_all(others);
    [growth].into_iter().chain(GROWTH_LIMITS.into_iter().zip(help).map(one)).collect()
}

/// The options that keep rows and groups.
fn filter_options(stated: &Stated) -> Vec<Arg> {
    let mut args = Vec::new();
    for filter in stated.dimensions.iter().filter_map(|dimension| dimension.filter) {
        args.push(option(filter.option, "PATTERNS", filter.help));
    }
    for limit in &stated.limits {
        args.extend(limits(limit.kind, limit.options, limit.help));
    }
    for measure in &stated.measures {
        if let Some(GroupLimits { options, help }) = measure.limits {
            args.extend(limits(measure.column.kind, options, help));
        }
    }
    args.extend(stated.conditions.iter().map(|condition| flag(condition.option, condition.help)));
    args.extend(stated.exited.map(|help| flag(INCLUDE_EXITED, help)));
    args
}

/// The options that change the values of dimensions.
fn dimension_options(stated: &Stated) -> Vec<Arg> {
    let mut args = Vec::new();
    if stated.has_paths() {
        let help = "How many parts of the path a directory has: 0 the drive, 100 and more the file \
            [default: all but the file's name]";
        args.push(option(DIR_LEVEL, "N", help).value_parser(value_parser!(usize)));
        let reverse = flag(REVERSE_PATH, "Paths with the name of the file first and the drive last");
        args.push(if stated.tree.is_some() { reverse.conflicts_with(id(TREE)) } else { reverse });
    }
    if stated.part_of_texts().is_some() {
        let help = "How many parts the names of `--by branch` have [default: 2]";
        args.push(option(LEVEL, "N", help).value_parser(value_parser!(usize)));
    }
    if stated.has_tags() {
        let help = "Rules of `--by tag` from this file; several files add up, `builtin` stands for our own";
        args.push(option(TAG_FILE, "FILE", help).action(ArgAction::Append).value_parser(value_parser!(PathBuf)));
    }
    args
}

/// A command with the options of a question.
pub(super) fn of(stated: &Stated, command: Command) -> Command {
    let shorthands = stated.shorthands.iter().map(|shorthand| flag(shorthand.option, shorthand.help));
    let command = UsualOptions::augment_args(command);
    let command = if stated.has_times() { InsideOptions::augment_args(command) } else { command };
    let mut command =
        command.next_help_heading(None).args(filter_options(stated)).args(dimension_options(stated)).args(shorthands);
    let dimensions = PossibleValuesParser::new(stated.words_of_dimensions());
    let by = option("by", "WHAT", "Add up: a row per value of this, or, separated by `,`, of several")
        .value_delimiter(',')
        .value_parser(dimensions)
        .conflicts_with_all(stated.shorthands.iter().map(|shorthand| id(shorthand.option)));
    let orders = stated.orders().map(|words| {
        let (first, others) = words.split_first().unwrap_or((&BY_NAME, &[]));
        PossibleValue::new(*first).aliases(others.iter().copied())
    });
    let sort = option("sort", "KEY", "Order of the rows; the largest stands last")
        .value_parser(PossibleValuesParser::new(orders))
        .default_value(stated.sort);
    let list = flag(LIST, "Single rows, without adding up; --top says how many").conflicts_with("bucket");
    let details = option(TOP_DETAILS, "N", "Below each row the N largest single rows in it, or `all`")
        .value_parser(top_details)
        .conflicts_with_all([id(LIST), "bucket"]);
    command = command.args(stack_options(stated)).args(growth_options(stated));
    if stated.merges {
        let help = "One answer about all files: a row per name, with the sums over the files";
        command = command.arg(flag(MERGE, help).conflicts_with_all([id(LIST), id(TOP_DETAILS), "bucket"]));
    }
    if stated.tree.is_some() {
        let help = "Paths as a tree: a row has all below it; --dir-level sets the depth, --top is of each directory";
        let others = ["by", id(LIST), id(TOP_DETAILS)].into_iter();
        let others = others.chain(stated.shorthands.iter().map(|shorthand| id(shorthand.option)));
        let others = others.chain(stated.grows.then_some(id(GROWTH))).chain(stated.merges.then_some(id(MERGE)));
        command = command.arg(flag(TREE, help).conflicts_with_all(others));
    }
    command.arg(by).arg(sort).arg(list).arg(details)
}
