//! What a command line asks of a table question.

use std::marker::PhantomData;
use std::path::PathBuf;
use std::sync::Arc;

use clap::parser::ValueSource;
use clap::{ArgMatches, Args, Command, FromArgMatches};
use tracesift_analysis::tags::TagSet;

pub(super) use super::arguments::INCLUDE_EXITED;
use super::arguments::{
    self, DIR_LEVEL, GROWTH, GROWTH_LIMITS, LEVEL, LIST, MERGE, REVERSE_PATH, TAG_FILE, TOP_DETAILS, TOP_STACKS, TREE,
    id,
};
use super::asked::{Asked, UnknownName};
use super::list::Listing;
use super::measure::GroupLimits;
use super::stated::Stated;
use super::wanted::Wanted;
use super::{BY_NAME, Question, TableQuestion, merged, stacks_below};
use crate::answer::Column;
use crate::ask::When;
use crate::etwanalyzer::Legacy;
use crate::growth::Growth;
use crate::inside::Inside;
use crate::inside_options::InsideOptions;
use crate::options::{Asking, Form, Plan, QuestionOptions};
use crate::order::{Between, Top};
use crate::tag_files;
use crate::usage_error::UsageError;
use crate::usual_options::UsualOptions;

/// The options of a table question.
#[derive(Debug)]
pub struct Options<Q: TableQuestion> {
    given: Given,
    of: PhantomData<fn() -> Q>,
}

/// The options that were given, whatever the question.
#[derive(Debug)]
struct Given {
    when: When,
    asked: Asked,
    tag_files: Vec<PathBuf>,
    /// What chooses times.
    inside: InsideOptions,
    /// Which growth is shown, with `--growth`.
    growth: Option<Between>,
    merge: bool,
    /// Whether `--sort` was given.
    is_sorted: bool,
}

impl<Q: TableQuestion> Options<Q> {
    /// The question that the options ask.
    pub(crate) fn question(&self) -> Question<Q> {
        self.given.asked.clone().into()
    }

    /// The word of `--sort`, where it was given: the first of those that mean the same.
    pub(crate) fn sorted_by(&self) -> Option<&'static str> {
        let Given { asked, is_sorted, .. } = &self.given;
        let word = |measure: usize| asked.stated.measures[measure].words.first().copied();
        is_sorted.then(|| asked.sort.and_then(word).unwrap_or(BY_NAME))
    }

    /// What chooses times.
    pub(crate) fn inside(&self) -> Result<Vec<Inside>, UsageError> {
        self.given.inside.inside()
    }

    /// The rules of `--tag-file`, where there are some.
    pub(crate) fn load_tags(&self, warn: &mut dyn FnMut(&str)) -> Result<Option<Arc<TagSet>>, UsageError> {
        self.given.load_tags(warn)
    }
}

impl<Q: TableQuestion> Args for Options<Q> {
    fn augment_args(command: Command) -> Command {
        arguments::of(&Stated::of::<Q>(), command)
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

impl<Q: TableQuestion> FromArgMatches for Options<Q> {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        Ok(Self { given: Given::of(Stated::of::<Q>(), matches)?, of: PhantomData })
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}

impl Given {
    /// The options of a question that a command line has.
    fn of(stated: Arc<Stated>, matches: &ArgMatches) -> Result<Self, clap::Error> {
        let usual = UsualOptions::from_arg_matches(matches)?;
        let when = usual.when();
        let usual = Asked { filter: usual.filter, top: usual.top, ..Asked::usual(Arc::clone(&stated)) };
        // The parser has seen to it that names are known.
        let unknown = |error: UnknownName| clap::Error::raw(clap::error::ErrorKind::InvalidValue, error);
        let tag_files = if stated.has_tags() { matches.get_many::<PathBuf>(id(TAG_FILE)) } else { None };
        let tag_files = tag_files.into_iter().flatten().cloned().collect();
        let has_times = stated.has_times();
        let inside = if has_times { InsideOptions::from_arg_matches(matches)? } else { InsideOptions::default() };
        let limits = GROWTH_LIMITS.map(|option| if stated.grows { matches.get_one(id(option)).copied() } else { None });
        let limits = Between { min: limits[0], max: limits[1] };
        let growth = has_growth(&stated, matches).then_some(limits);
        let merge = stated.merges && matches.get_flag(id(MERGE));
        let is_sorted = matches.value_source("sort") == Some(ValueSource::CommandLine);
        let asked = asked(usual, matches).map_err(unknown)?;
        Ok(Self { when, asked, tag_files, inside, growth, merge, is_sorted })
    }

    fn load_tags(&self, warn: &mut dyn FnMut(&str)) -> Result<Option<Arc<TagSet>>, UsageError> {
        if self.tag_files.is_empty() { Ok(None) } else { tag_files::load(&self.tag_files, false, warn).map(Some) }
    }

    fn plan(&self, warn: &mut dyn FnMut(&str)) -> Result<Plan, UsageError> {
        let asked = Asked { tags: self.load_tags(warn)?, inside: self.inside.inside()?, ..self.asked.clone() };
        if self.merge {
            return Ok(Plan::Archives(Asking {
                columns: Some(merged::columns(&asked.stated, &asked.by)),
                then: Box::new({
                    let asked = asked.clone();
                    move |answer, _| *answer = merged::over_files(&asked, answer)
                }),
                ..Asking::plain(merged::of_single_files(&asked))
            }));
        }
        let Some(limits) = self.growth else { return Ok(Plan::from(asked)) };
        let growth = asked.growth().ok_or_else(|| {
            UsageError::new("--growth compares a whole number over the files", "sort by another key".to_owned())
        })?;
        let asked = Asked { top: Top::default(), ..asked };
        Ok(Growth { limits, ..growth }.plan(asked))
    }
}

/// What a command line asks of rows and groups, whatever the grouping.
fn filtered(mut asked: Asked, matches: &ArgMatches) -> Result<Asked, UnknownName> {
    let stated = Arc::clone(&asked.stated);
    for filter in stated.dimensions.iter().filter_map(|dimension| dimension.filter) {
        if let Some(patterns) = matches.get_one::<String>(id(filter.option)) {
            asked = asked.matching(filter.option, patterns)?;
        }
    }
    for limit in &stated.limits {
        let [min, max] = limit.options.map(|option| matches.get_one(id(option)).copied());
        asked = asked.between(limit.options[0], Between { min, max })?;
    }
    for GroupLimits { options, .. } in stated.measures.iter().filter_map(|measure| measure.limits) {
        let [min, max] = options.map(|option| matches.get_one(id(option)).copied());
        asked = asked.groups_between(options[0], Between { min, max })?;
    }
    for condition in stated.conditions.iter().filter(|condition| matches.get_flag(id(condition.option))) {
        asked = asked.on_condition(condition.option)?;
    }
    asked.include_exited = stated.exited.is_some() && matches.get_flag(id(INCLUDE_EXITED));
    if stated.has_paths() {
        asked.dir_level = matches.get_one(id(DIR_LEVEL)).copied();
        asked.reverse_paths = matches.get_flag(id(REVERSE_PATH));
    }
    if stated.part_of_texts().is_some() {
        asked.dir_level = matches.get_one(id(LEVEL)).copied();
    }
    Ok(asked)
}

/// What a command line asks.
fn asked(usual: Asked, matches: &ArgMatches) -> Result<Asked, UnknownName> {
    let mut asked = filtered(usual, matches)?;
    let stated = Arc::clone(&asked.stated);
    if matches.get_flag(id(LIST)) {
        asked = asked.listed(Listing::Flat);
    }
    if let Some(most) = matches.get_one::<usize>(id(TOP_DETAILS)) {
        asked = asked.listed(Listing::OfGroups(*most));
    } else if stated.details_are_rows && has_details(matches) {
        asked = asked.listed(Listing::OfGroups(usize::MAX));
    } else if let Some(top) = stacks_below(&stated, matches) {
        asked = asked.listed(Listing::Stacks(top));
    }
    if let Some(shorthand) = stated.shorthands.iter().find(|shorthand| matches.get_flag(id(shorthand.option))) {
        asked = asked.by(shorthand.by)?;
    }
    if stated.tree.is_some() && matches.get_flag(id(TREE)) {
        asked = asked.into_tree();
    }
    let has_grouping = asked.tree
        || matches.contains_id("by")
        || stated.shorthands.iter().any(|shorthand| matches.get_flag(id(shorthand.option)));
    if asked.dir_level.is_some() && !has_grouping {
        asked = asked.by(&[stated.part_of_texts().unwrap_or("dir")])?;
    }
    if let Some(names) = matches.get_many::<String>("by") {
        asked = asked.by(&names.map(String::as_str).collect::<Vec<_>>())?;
    }
    // A row per stack has no stacks below it.
    let is_by_stack = stated.stacks().is_some_and(|place| asked.by.contains(&place));
    if is_by_stack && matches!(asked.listing, Some(Listing::Stacks(_))) {
        asked.listing = None;
    }
    let has_number = asked.patterns.iter().any(|(_, wanted)| matches!(wanted, Wanted::Stacks(_)));
    let is_alone = asked.listing.is_none() && !matches.contains_id("bucket") && !has_growth(&stated, matches);
    if has_number && is_alone && !has_grouping {
        asked = asked.listed(Listing::Flat);
    }
    let is_sorted = matches.value_source("sort") == Some(ValueSource::CommandLine);
    let shorthand = stated.shorthands.iter().find(|shorthand| matches.get_flag(id(shorthand.option)));
    if let Some(word) = shorthand.and_then(|shorthand| shorthand.sort).filter(|_| !is_sorted) {
        return asked.sorted_by_word(word);
    }
    match matches.get_one::<String>("sort").filter(|_| is_sorted) {
        Some(word) => asked.sorted_by_word(word),
        None => Ok(asked),
    }
}

/// The stacks below each row, where they are asked for.
fn stacks_below(stated: &Stated, matches: &ArgMatches) -> Option<Top> {
    stated.stacks_below?;
    let [take, skip] = TOP_STACKS.map(|option| matches.get_one::<usize>(id(option)).copied());
    let is_asked = take.is_some() || skip.is_some() || (has_details(matches) && !has_growth(stated, matches));
    let usual = stacks_below::USUAL;
    is_asked.then(|| Top { take: take.or(usual.take), skip: skip.unwrap_or(usual.skip) })
}

/// Whether files are compared: limits of the growth ask for it, too.
fn has_growth(stated: &Stated, matches: &ArgMatches) -> bool {
    stated.grows
        && (has_flag(matches, id(GROWTH)) || GROWTH_LIMITS.iter().any(|option| matches.contains_id(id(option))))
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
    Asked::usual(Stated::of::<Q>()).growth().map(|growth| growth.columns()).unwrap_or_default()
}

/// The answer about all files.
const fn merged_form<Q: TableQuestion>() -> Form {
    Form {
        with: &[&[MERGE]],
        title: "With `--merge`:\n\n",
        ..Form::usual(Q::NAME, || merged::all_columns(&Stated::of::<Q>()))
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
        self.given.when.clone()
    }

    fn plan(&self, warn: &mut dyn FnMut(&str)) -> Result<Plan, UsageError> {
        self.given.plan(warn)
    }

    #[cfg(test)]
    fn check_rows() {
        super::tests::check::<Q>();
    }
}
