//! The command-line options of a table question, made from its dimensions, measures and limits.

use std::path::PathBuf;

use clap::builder::{PossibleValue, PossibleValuesParser};
use clap::parser::ValueSource;
use clap::{Arg, ArgAction, ArgMatches, Args, Command, FromArgMatches, value_parser};
use tracesift_analysis::tags::TagSet;
use tracesift_grammar::{milliseconds, parse_size};

use super::dimension::{Dimension, Names, Of};
use super::list::Listing;
use super::measure::GroupLimits;
use super::{Question, TableQuestion, UnknownName, Wanted, merged, stacks_below};
use crate::answer::{Column, Kind};
use crate::ask::When;
use crate::etwanalyzer::Legacy;
use crate::growth::Growth;
use crate::options::{Asking, Form, Plan, QuestionOptions};
use crate::order::{Between, Top};
use crate::tag_files;
use crate::usage_error::UsageError;
use crate::usual_options::UsualOptions;

/// The options of a table question.
#[derive(Debug)]
pub struct Options<Q: TableQuestion> {
    when: When,
    question: Question<Q>,
    tag_files: Vec<PathBuf>,
    /// Which growth is shown, with `--growth`.
    growth: Option<Between>,
    merge: bool,
    /// Whether `--sort` was given.
    is_sorted: bool,
}

const DIR_LEVEL: &str = "--dir-level";
const LEVEL: &str = "--level";
const REVERSE_PATH: &str = "--reverse-path";
const TAG_FILE: &str = "--tag-file";

/// Whether a dimension is made of paths.
fn has_paths<Q: TableQuestion>() -> bool {
    Q::DIMENSIONS.iter().any(|dimension| matches!(dimension.of, Of::Number { names: Names::Paths(_), .. }))
}

/// The dimension that is a part of texts, by its word.
fn part<Q: TableQuestion>() -> Option<&'static str> {
    let is_part = |dimension: &&Dimension<Q::Row>| matches!(dimension.of, Of::Text { cut: Some(_), .. });
    Q::DIMENSIONS.iter().find(is_part).map(|dimension| dimension.name)
}

/// Whether rows have tags.
fn has_tags<Q: TableQuestion>() -> bool {
    Q::DIMENSIONS.iter().any(|dimension| matches!(dimension.of, Of::Tag { .. }))
}

impl<Q: TableQuestion> Options<Q> {
    /// The question that the options ask.
    pub(crate) fn question(&self) -> &Question<Q> {
        &self.question
    }

    /// The word of `--sort`, where it was given: the first of those that mean the same.
    pub(crate) fn sorted_by(&self) -> Option<&'static str> {
        let word = |measure: usize| Q::MEASURES[measure].words.first().copied();
        self.is_sorted.then(|| self.question.sort.and_then(word).unwrap_or(super::BY_NAME))
    }

    /// The rules of `--tag-file`, where there are some.
    pub(crate) fn load_tags(&self, warn: &mut dyn FnMut(&str)) -> Result<Option<std::sync::Arc<TagSet>>, UsageError> {
        if self.tag_files.is_empty() { Ok(None) } else { tag_files::load(&self.tag_files, false, warn).map(Some) }
    }
}

/// The name of an option, and of its argument: without the dashes.
fn id(option: &'static str) -> &'static str {
    option.trim_start_matches('-')
}

/// The option that asks for single rows.
const LIST: &str = "--list";
/// The option that asks for the single rows of groups.
const TOP_DETAILS: &str = "--top-details";

/// The options with the number of the stacks below each row, and of the largest ones that are left out.
const TOP_STACKS: [&str; 2] = ["--top-stacks", "--skip-stacks"];

/// The option that makes the groups a tree.
const TREE: &str = "--tree";

/// The option that makes one answer of those about several files.
const MERGE: &str = "--merge";

/// The option that takes rows for open that the end of their process ended.
pub(super) const INCLUDE_EXITED: &str = "--include-exited";

/// The options that keep rows by their growth over files.
const GROWTH_LIMITS: [&str; 2] = ["--min-growth", "--max-growth"];

/// The option that compares files.
const GROWTH: &str = "--growth";

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
fn stack_options<Q: TableQuestion>() -> Vec<Arg> {
    if Q::STACKS_BELOW.is_none() {
        return Vec::new();
    }
    let help =
        ["Below each row the N stacks with most in it, as --details has 10", "Leave out the N largest stacks first"];
    let others = [id(LIST), id(TOP_DETAILS), "bucket"].into_iter().chain(Q::GROWS.then_some(id(GROWTH)));
    let others: Vec<&str> = others.collect();
    let one = |(name, help)| option(name, "N", help).value_parser(value_parser!(usize)).conflicts_with_all(&others);
    TOP_STACKS.into_iter().zip(help).map(one).collect()
}

/// The options of the growth over files.
fn growth_options<Q: TableQuestion>() -> Vec<Arg> {
    if !Q::GROWS {
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

impl<Q: TableQuestion> Args for Options<Q> {
    fn augment_args(command: Command) -> Command {
        let mut command = UsualOptions::augment_args(command);
        for filter in Q::DIMENSIONS.iter().filter_map(|dimension| dimension.filter) {
            command = command.arg(option(filter.option, "PATTERNS", filter.help));
        }
        for limit in Q::LIMITS {
            command = command.args(limits(limit.kind, limit.options, limit.help));
        }
        for measure in Q::MEASURES {
            if let Some(GroupLimits { options, help }) = measure.limits {
                command = command.args(limits(measure.column.kind, options, help));
            }
        }
        for condition in Q::CONDITIONS {
            command = command.arg(flag(condition.option, condition.help));
        }
        if let Some(exited) = Q::EXITED {
            command = command.arg(flag(INCLUDE_EXITED, exited.help));
        }
        if has_paths::<Q>() {
            let help = "How many parts of the path a directory has: 0 the drive, 100 and more the file \
                [default: all but the file's name]";
            command = command.arg(option(DIR_LEVEL, "N", help).value_parser(value_parser!(usize)));
            let reverse = flag(REVERSE_PATH, "Paths with the name of the file first and the drive last");
            command = command.arg(if Q::TREE.is_some() { reverse.conflicts_with(id(TREE)) } else { reverse });
        }
        if part::<Q>().is_some() {
            let help = "How many parts the names of `--by branch` have [default: 2]";
            command = command.arg(option(LEVEL, "N", help).value_parser(value_parser!(usize)));
        }
        if has_tags::<Q>() {
            let help = "Rules of `--by tag` from this file; several files add up, `builtin` stands for our own";
            let arg = option(TAG_FILE, "FILE", help).action(ArgAction::Append).value_parser(value_parser!(PathBuf));
            command = command.arg(arg);
        }
        for shorthand in Q::SHORTHANDS {
            command = command.arg(flag(shorthand.option, shorthand.help));
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
        let list = flag(LIST, "Single rows, without adding up; --top says how many").conflicts_with("bucket");
        let details = option(TOP_DETAILS, "N", "Below each row the N largest single rows in it, or `all`")
            .value_parser(top_details)
            .conflicts_with_all([id(LIST), "bucket"]);
        command = command.args(stack_options::<Q>()).args(growth_options::<Q>());
        if Q::MERGES {
            let help = "One answer about all files: a row per name, with the sums over the files";
            command = command.arg(flag(MERGE, help).conflicts_with_all([id(LIST), id(TOP_DETAILS), "bucket"]));
        }
        if Q::TREE.is_some() {
            let help =
                "Paths as a tree: a row has all below it; --dir-level sets the depth, --top is of each directory";
            let others = ["by", id(LIST), id(TOP_DETAILS)].into_iter();
            let others = others.chain(Q::SHORTHANDS.iter().map(|shorthand| id(shorthand.option)));
            let others = others.chain(Q::GROWS.then_some(id(GROWTH))).chain(Q::MERGES.then_some(id(MERGE)));
            command = command.arg(flag(TREE, help).conflicts_with_all(others));
        }
        command.arg(by).arg(sort).arg(list).arg(details)
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

impl<Q: TableQuestion> FromArgMatches for Options<Q> {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        let usual = UsualOptions::from_arg_matches(matches)?;
        let when = usual.when();
        let question = Question::<Q> { filter: usual.filter, top: usual.top, ..Question::default() };
        // The parser has seen to it that names are known.
        let unknown = |error: UnknownName| clap::Error::raw(clap::error::ErrorKind::InvalidValue, error);
        let tag_files = if has_tags::<Q>() { matches.get_many::<PathBuf>(id(TAG_FILE)) } else { None };
        let tag_files = tag_files.into_iter().flatten().cloned().collect();
        let limits = GROWTH_LIMITS.map(|option| if Q::GROWS { matches.get_one(id(option)).copied() } else { None });
        let limits = Between { min: limits[0], max: limits[1] };
        let growth = (has_growth::<Q>(matches)).then_some(limits);
        let merge = Q::MERGES && matches.get_flag(id(MERGE));
        let is_sorted = matches.value_source("sort") == Some(ValueSource::CommandLine);
        Ok(Self { when, question: asked(question, matches).map_err(unknown)?, tag_files, growth, merge, is_sorted })
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
    for GroupLimits { options, .. } in Q::MEASURES.iter().filter_map(|measure| measure.limits) {
        let [min, max] = options.map(|option| matches.get_one(id(option)).copied());
        question = question.groups_between(options[0], Between { min, max })?;
    }
    for condition in Q::CONDITIONS.iter().filter(|condition| matches.get_flag(id(condition.option))) {
        question = question.on_condition(condition.option)?;
    }
    question.include_exited = Q::EXITED.is_some() && matches.get_flag(id(INCLUDE_EXITED));
    if has_paths::<Q>() {
        question.dir_level = matches.get_one(id(DIR_LEVEL)).copied();
        question.reverse_paths = matches.get_flag(id(REVERSE_PATH));
    }
    if part::<Q>().is_some() {
        question.dir_level = matches.get_one(id(LEVEL)).copied();
    }
    if matches.get_flag(id(LIST)) {
        question = question.listed(Listing::Flat);
    }
    if let Some(most) = matches.get_one::<usize>(id(TOP_DETAILS)) {
        question = question.listed(Listing::OfGroups(*most));
    } else if Q::DETAILS_ARE_ROWS && has_details(matches) {
        question = question.listed(Listing::OfGroups(usize::MAX));
    } else if let Some(top) = stacks_below::<Q>(matches) {
        question = question.listed(Listing::Stacks(top));
    }
    if let Some(shorthand) = Q::SHORTHANDS.iter().find(|shorthand| matches.get_flag(id(shorthand.option))) {
        question = question.by(shorthand.by)?;
    }
    if Q::TREE.is_some() && matches.get_flag(id(TREE)) {
        question = question.as_tree();
    }
    let has_grouping = question.tree
        || matches.contains_id("by")
        || Q::SHORTHANDS.iter().any(|shorthand| matches.get_flag(id(shorthand.option)));
    if question.dir_level.is_some() && !has_grouping {
        question = question.by(&[part::<Q>().unwrap_or("dir")])?;
    }
    if let Some(names) = matches.get_many::<String>("by") {
        question = question.by(&names.map(String::as_str).collect::<Vec<_>>())?;
    }
    // A row per stack has no stacks below it.
    let is_by_stack = stacks_below::dimension::<Q>().is_some_and(|place| question.by.contains(&place));
    if is_by_stack && matches!(question.listing, Some(Listing::Stacks(_))) {
        question.listing = None;
    }
    let has_number = question.patterns.iter().any(|(_, wanted)| matches!(wanted, Wanted::Stacks(_)));
    let is_alone = question.listing.is_none() && !matches.contains_id("bucket") && !has_growth::<Q>(matches);
    if has_number && is_alone && !has_grouping {
        question = question.listed(Listing::Flat);
    }
    let is_sorted = matches.value_source("sort") == Some(ValueSource::CommandLine);
    let shorthand = Q::SHORTHANDS.iter().find(|shorthand| matches.get_flag(id(shorthand.option)));
    if let Some(word) = shorthand.and_then(|shorthand| shorthand.sort).filter(|_| !is_sorted) {
        return question.sorted_by_word(word);
    }
    match matches.get_one::<String>("sort") {
        Some(word) => question.sorted_by_word(word),
        None => Ok(question),
    }
}

/// The stacks below each row, where they are asked for.
fn stacks_below<Q: TableQuestion>(matches: &ArgMatches) -> Option<Top> {
    Q::STACKS_BELOW?;
    let [take, skip] = TOP_STACKS.map(|option| matches.get_one::<usize>(id(option)).copied());
    let is_asked = take.is_some() || skip.is_some() || (has_details(matches) && !has_growth::<Q>(matches));
    let usual = stacks_below::USUAL;
    is_asked.then(|| Top { take: take.or(usual.take), skip: skip.unwrap_or(usual.skip) })
}

/// Whether files are compared: limits of the growth ask for it, too.
fn has_growth<Q: TableQuestion>(matches: &ArgMatches) -> bool {
    Q::GROWS && (has_flag(matches, id(GROWTH)) || GROWTH_LIMITS.iter().any(|option| matches.contains_id(id(option))))
}

/// Whether a flag was given; no question has all of them.
fn has_flag(matches: &ArgMatches, id: &str) -> bool {
    matches.try_get_one::<bool>(id).ok().flatten().is_some_and(|flag| *flag)
}

/// Whether `--details` was given, and nothing that single rows do not go with. The option belongs to the output of all questions.
fn has_details(matches: &ArgMatches) -> bool {
    has_flag(matches, "details") && !has_flag(matches, id(LIST)) && !matches.contains_id("bucket")
}

/// The table of single rows.
const fn list_form<Q: TableQuestion>() -> Form {
    Form {
        with: &[&["--list"]],
        title: "With `--list` a row is a single row of the table:\n\n",
        ..Form::usual(Q::NAME, Question::<Q>::list_columns)
    }
}

fn growth_columns<Q: TableQuestion>() -> Vec<Column> {
    Question::<Q>::default().growth().map(|growth| growth.columns()).unwrap_or_default()
}

/// The answer about all files.
const fn merged_form<Q: TableQuestion>() -> Form {
    Form {
        with: &[&[MERGE]],
        title: "With `--merge`:\n\n",
        ..Form::usual(Q::NAME, || {
            // Whatever the grouping.
            let all: Vec<usize> = (0..Q::DIMENSIONS.len()).collect();
            let mut columns = merged::columns::<Q>(&[]);
            let names = merged::columns::<Q>(&all).into_iter();
            let known: Vec<&str> = columns.iter().map(|column| column.key).collect();
            let names: Vec<Column> = names.filter(|name| !known.contains(&name.key)).collect();
            columns.extend(names);
            columns
        })
    }
}

impl<Q: TableQuestion> QuestionOptions for Options<Q> {
    const FORMS: &'static [Form] = if Q::MERGES {
        &[Form::usual(Q::NAME, Question::<Q>::all_columns), list_form::<Q>(), merged_form::<Q>()]
    } else if Q::GROWS {
        &[
            Form::usual(Q::NAME, Question::<Q>::all_columns),
            list_form::<Q>(),
            Form { with: &[&[GROWTH]], title: "With `--growth`:\n\n", ..Form::usual(Q::NAME, growth_columns::<Q>) },
        ]
    } else {
        &[Form::usual(Q::NAME, Question::<Q>::all_columns), list_form::<Q>()]
    };
    const SHORT: &'static [&'static str] = Q::SHORT;
    const EXAMPLES: &'static [(&'static str, &'static str)] = Q::EXAMPLES;
    const VARIANTS: &'static [&'static [&'static str]] = Q::VARIANTS;
    const LEGACY: Option<Legacy> = Q::LEGACY;

    fn when(&self) -> When {
        self.when.clone()
    }

    fn plan(&self, warn: &mut dyn FnMut(&str)) -> Result<Plan, UsageError> {
        let mut question = self.question.clone();
        question.tags = self.load_tags(warn)?;
        if self.merge {
            return Ok(Plan::Archives(Asking {
                columns: Some(merged::columns::<Q>(&question.by)),
                then: Box::new({
                    let question = question.clone();
                    move |answer, _| *answer = merged::over_files(&question, answer)
                }),
                ..Asking::plain(merged::of_single_files(&question))
            }));
        }
        let Some(limits) = self.growth else { return Ok(Plan::from(question)) };
        let growth = question.growth().ok_or_else(|| {
            UsageError::new("--growth compares a whole number over the files", "sort by another key".to_owned())
        })?;
        let question = Question { top: Top::default(), ..question };
        Ok(Growth { limits, ..growth }.plan(question))
    }

    #[cfg(test)]
    fn check_rows() {
        super::tests::check::<Q>();
    }
}
