//! Questions over the rows of one table: filter them, group them by some dimensions, add measures up, sort the groups.
//!
//! A question states its table, its [dimensions](Dimension), its [measures](Measure) and its default grouping
//! ([`TableQuestion`]). All else comes from here: the options, `--by`, `--sort`, `--time`, `--bucket`, the columns of
//! every format, the totals, the reasons for an empty answer.
//!
//! While rows are read, every dimension is a number. Rows with the same numbers share a place (`places`), where the
//! measures are added up (`sums`). Texts are looked up once per place: they decide which places the filters keep, and
//! which places are one group (`groups`).

mod dimension;
mod groups;
mod joined;
mod layout;
mod list;
mod measure;
mod merged;
mod names;
mod options;
mod paths;
mod peaks;
mod places;
mod plan;
mod reading;
mod rows;
mod stacks;
mod stacks_below;
mod sums;
#[cfg(test)]
mod tests;

use std::marker::PhantomData;
use std::ops::Range;
use std::sync::Arc;

use tracesift_analysis::Span;
use tracesift_analysis::tags::{Nesting, TagSet};
use tracesift_archive::{Archive, Error, Readable, Table};
use tracesift_grammar::{Patterns, TimeRange};
use tracesift_trace::ProcessId;
use tracesift_trace::rows::ProcessRow;
use tracesift_trace::schema::{Row, TableDefinition, View};

pub use self::dimension::{Condition, Dimension, Exited, Limit, Shorthand};
pub use self::joined::Joined;
pub use self::list::Listing;
pub use self::measure::Measure;
pub use self::options::Options;
pub(crate) use self::peaks::Peak;
pub(crate) use self::places::UNTOLD;
pub use self::stacks::{Charged, StackFigure, StackMeasure};
pub use self::stacks_below::StacksBelow;

use self::dimension::Of;
use self::measure::How;
use self::names::Names;
use self::plan::Plan;
use self::reading::Reading;
use crate::answer::{Column, ColumnOf, Kind, Section, View as Shows};
use crate::ask::{Ask, RANGES_AT_ONCE};
use crate::candidates::Candidates;
use crate::columns;
use crate::etwanalyzer::Legacy;
use crate::filter::ProcessFilter;
use crate::growth::Growth;
use crate::method_patterns::MethodPatterns;
use crate::order::{Between, Top};
use crate::processes;
use crate::recording::OpenRecording;
use crate::recording_label::RowSource;
use crate::shown::Shown;

/// What an import of an extract of ETWAnalyzer has of the rows of a table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Imported {
    /// Nothing.
    Nothing,
    /// Sums of several rows: no single rows, and no figures of a part of the recording.
    Sums,
    /// Single rows with figures of the whole recording, none of a part of it.
    Whole,
    /// Single rows with their times.
    Rows,
}

/// A question over the rows of one table.
pub trait TableQuestion: Copy + std::fmt::Debug + 'static {
    /// The columns of the table that dimensions, measures and limits look at.
    type Row: Readable<Row: Table>;

    /// Its name, as in `dump NAME`.
    const NAME: &'static str;

    /// What a row is: one, and many.
    const WHAT: [&'static str; 2];

    /// The recordings that can have such rows.
    const SOURCE: RowSource;

    /// What comes before the names that most rows have, where a filter lets nothing pass: `most calls`.
    const MOST: &'static str;

    /// What rows can be grouped by, in the order of the columns.
    const DIMENSIONS: &'static [Dimension<Self::Row>];

    /// What is added up, in the order of the columns.
    const MEASURES: &'static [Measure<Self::Row>];

    /// Options that keep rows by their figures.
    const LIMITS: &'static [Limit<Self::Row>] = &[];

    /// The figures that call trees and flame graphs can show by the stacks of the rows.
    const STACKS: &'static [StackFigure] = &[];

    /// A row that the end of its process ended, as if it were open: what `--include-exited` makes of it. The function gives `None` for all
    /// other rows.
    const EXITED: Option<Exited<Self::Row>> = None;

    /// Options that keep the rows of which something is true.
    const CONDITIONS: &'static [Condition<Self::Row>] = &[];

    /// The columns that a list of single rows has beside when, how long, and the dimensions.
    const LIST: &'static [ColumnOf<Self::Row>] = &[];

    /// Whether `--details` shows the single rows below each row, as `--top-details all` does.
    const DETAILS_ARE_ROWS: bool = false;

    /// The figures of the stacks that `--details` and `--top-stacks` show below each row.
    const STACKS_BELOW: Option<StacksBelow> = None;

    /// Whether a row counts in the time range in which it ends, with all of it; else in each range that it touches, with its part there.
    /// Sums and unions of times have the part in the range either way.
    const COUNTS_AT_END: bool = false;

    /// Whether the end of a row is known, of tables that have rows without an end. Such a row has no length: lists show none, it has
    /// no part in the longest, the shortest and percentiles, and the time that rows cover is unknown where all of them are such rows.
    /// `None`: each row has its length.
    const HAS_LENGTH: Option<fn(&Self::Row) -> bool> = None;

    /// The number of the source of a row, of tables in which several sources tell of the same. Only the rows of the largest number
    /// that an archive has count.
    const BEST_SOURCE: Option<fn(&Self::Row) -> i8> = None;

    /// Whether rows of the idle loop are asked for, too, where no process is chosen.
    const WITH_IDLE: bool = false;

    /// The tables that are read.
    const TABLES: &'static [&'static str] = &[<<Self::Row as View>::Row as Row>::TABLE.name];

    /// The keys of measures about figures from other tables, which are read only where one of these measures is computed.
    const JOINED: &'static [&'static str] = &[];

    /// The dimensions of a row of the answer, unless `--by` names others.
    const BY: &'static [&'static str];

    /// Whether the figure of `--sort` can leak, so that `--growth` compares it over files.
    const GROWS: bool = false;

    /// Whether the answers about several files can be one, with `--merge`.
    const MERGES: bool = false;

    /// What an import of an extract of ETWAnalyzer has of the rows.
    const IMPORTED: Imported = Imported::Nothing;

    /// The keys of measures whose figures an import cannot tell: their values are empty there.
    const UNKNOWN_IN_IMPORTS: &'static [&'static str] = &[];

    /// The dimension of paths that `--tree` makes a tree of.
    const TREE: Option<&'static str> = None;

    /// Options that stand for other groupings.
    const SHORTHANDS: &'static [Shorthand] = &[];

    /// The word of `--sort` without the option.
    const SORT: &'static str;

    /// The word of `--sort` by which rows stand where the figure that was asked for is unknown or 0 in all of them.
    const SORT_WITHOUT_FIGURE: Option<&'static str> = None;

    /// The options on the short page of help.
    const SHORT: &'static [&'static str] = &["process", "time", "top", "by", "sort", "csv"];

    /// At least three command lines, each with its purpose.
    const EXAMPLES: &'static [(&'static str, &'static str)];

    /// The same question of ETWAnalyzer.
    const LEGACY: Option<Legacy> = None;

    /// Arguments with which the question reads in another way.
    const VARIANTS: &'static [&'static [&'static str]] = &[];

    /// The process of a row.
    fn process(row: &Self::Row) -> Option<ProcessId>;

    /// Begin and end of a row; of an instant both are the same.
    fn times(row: &Self::Row) -> (i64, i64);

    /// Number of rows in an archive.
    fn count(archive: &Archive) -> u64 {
        archive.row_count::<<Self::Row as View>::Row>()
    }

    /// Reads the rows that touch a time range; `joined`: with the figures from other tables that `JOINED` measures are about.
    ///
    /// # Errors
    /// When a table cannot be read.
    fn scan(
        archive: &Archive,
        time: Option<Range<i64>>,
        joined: bool,
        mut visit: impl FnMut(&Self::Row),
    ) -> Result<(), Error> {
        debug_assert!(!joined || !Self::JOINED.is_empty(), "a question without joined measures");
        match Self::BEST_SOURCE {
            None => archive.scan(time, visit),
            Some(source) => scan_best_source(archive, time, source, &mut visit),
        }
    }

    /// Whether a row of the table is one that the question is about.
    fn is_asked(_row: &Self::Row) -> bool {
        true
    }

    /// What is worth knowing beside the rows, of the processes that are asked for: notes below the answer of a time range.
    ///
    /// # Errors
    /// When a table cannot be read.
    fn notes(_archive: &Archive, _time: TimeRange, _asked: &[&ProcessRow]) -> Result<Vec<String>, Error> {
        Ok(Vec::new())
    }

    /// The table from which the figures of a part of a recording are made, where the rows have those of the whole recording.
    const PARTS: Option<&'static TableDefinition> = None;

    /// The rows that touch each part of a recording, with the figures of the part, for a question with [`PARTS`](Self::PARTS).
    ///
    /// # Errors
    /// When a table cannot be read.
    fn parts(_recording: &OpenRecording, _ranges: &[TimeRange]) -> Result<Vec<Vec<Self::Row>>, Error> {
        Ok(Vec::new())
    }
}

/// The rows of the source with the largest number.
fn scan_best_source<R: Readable>(
    archive: &Archive,
    time: Option<Range<i64>>,
    source: fn(&R) -> i8,
    visit: &mut dyn FnMut(&R),
) -> Result<(), Error> {
    let mut best = None;
    let mut scan = |time: Option<Range<i64>>, is_first: bool| {
        archive.scan(time, |row: &R| {
            if is_first {
                best = best.max(Some(source(row)));
            } else if best == Some(source(row)) {
                visit(row);
            }
        })
    };
    scan(None, true)?;
    scan(time, false)
}

/// The rows of a question, where they are not many or not read often: each [`TableQuestion::scan`] with a closure of its own is compiled anew,
/// with all that decodes a row.
fn scan_rows<Q: TableQuestion>(
    archive: &Archive,
    time: Option<Range<i64>>,
    joined: bool,
    visit: &mut dyn FnMut(&Q::Row),
) -> Result<(), Error> {
    Q::scan(archive, time, joined, visit)
}

/// The word of `--sort` that sorts by the names of the groups.
pub(crate) const BY_NAME: &str = "name";

/// A question over the rows of a table as somebody asks it.
#[derive(Clone, Debug)]
pub struct Question<Q: TableQuestion> {
    /// Which processes.
    pub filter: ProcessFilter,
    /// Rows with a part in this range, or that begin in it; their times are cut to it.
    pub time: TimeRange,
    /// How many groups per file.
    pub top: Top,
    /// Places of the dimensions of a group, ascending.
    by: Vec<usize>,
    /// Place of the measure by which the groups are sorted; `None`: they are sorted by their names.
    sort: Option<usize>,
    /// Which values of dimensions, by place of the dimension.
    patterns: Vec<(usize, Wanted)>,
    /// Which figures of rows, by place of the limit.
    limits: Vec<(usize, Between)>,
    /// Which figures of groups, by place of the measure.
    group_limits: Vec<(usize, Between)>,
    /// What has to be true of rows, by place of the condition.
    conditions: Vec<usize>,
    /// Whether rows that the end of their process ended count as open.
    pub include_exited: bool,
    /// Single rows in place of groups.
    listing: Option<Listing>,
    /// Whether the groups are the nodes of the tree of paths.
    tree: bool,
    /// How many parts of a path a directory has, and a tree below its roots; `None`: all but the name of the file, and in a tree all. Of
    /// dimensions that are parts of texts the number of these.
    pub dir_level: Option<usize>,
    /// Whether the parts of paths stand in reverse order: the name of the file first.
    pub reverse_paths: bool,
    /// The rules for tags; `None`: the built-in ones.
    pub tags: Option<Arc<TagSet>>,
    /// The columns that somebody looks at; a list of single rows has all of them.
    shown: Shown,
    of: PhantomData<fn() -> Q>,
}

/// Which values of a dimension are asked for.
#[derive(Clone, Debug)]
enum Wanted {
    Texts(Patterns),
    Methods(MethodPatterns),
    /// Stacks with the functions of the stacks of these numbers.
    Stacks(Vec<i64>),
}

/// A name that a question does not have.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("there is no `{name}`; there are {}", known.join(", "))]
pub struct UnknownName {
    /// The name.
    pub name: String,
    /// All names that there are.
    pub known: Vec<&'static str>,
}

impl<Q: TableQuestion> Default for Question<Q> {
    fn default() -> Self {
        let question = Self {
            filter: ProcessFilter::default(),
            time: TimeRange::default(),
            top: Top::default(),
            by: Vec::new(),
            sort: None,
            patterns: Vec::new(),
            limits: Vec::new(),
            group_limits: Vec::new(),
            conditions: Vec::new(),
            include_exited: false,
            listing: None,
            tree: false,
            dir_level: None,
            reverse_paths: false,
            tags: None,
            shown: Shown::default(),
            of: PhantomData,
        };
        let asked = question.by(Q::BY).and_then(|question| question.sorted_by_word(Q::SORT));
        asked.expect("a question has the dimensions and the measure of its default")
    }
}

impl<Q: TableQuestion> Question<Q> {
    /// The words of `--by`.
    pub(crate) fn dimensions() -> impl Iterator<Item = &'static str> {
        Q::DIMENSIONS.iter().map(|dimension| dimension.name)
    }

    /// The words of `--sort`: of each measure the first, then those that mean the same.
    pub(crate) fn orders() -> impl Iterator<Item = &'static [&'static str]> {
        let of_measures = Q::MEASURES.iter().map(|measure| measure.words).filter(|words| !words.is_empty());
        of_measures.chain([&[BY_NAME][..]])
    }

    /// The columns of lists of single rows.
    #[must_use]
    pub fn list_columns() -> Vec<Column> {
        list::descriptions::<Q>()
    }

    /// The columns of the answers to all groupings.
    #[must_use]
    pub fn all_columns() -> Vec<Column> {
        layout::descriptions::<Q>(None)
    }

    /// The same question about groups of these dimensions.
    ///
    /// # Errors
    /// When it has no such dimension.
    pub fn by(self, names: &[&str]) -> Result<Self, UnknownName> {
        let mut by = names.iter().map(|name| place_of::<Q>(name)).collect::<Result<Vec<usize>, _>>()?;
        let beside: Vec<&str> = by.iter().flat_map(|place| Q::DIMENSIONS[*place].beside).copied().collect();
        by.extend(beside.into_iter().map(|name| place_of::<Q>(name)).collect::<Result<Vec<usize>, _>>()?);
        let has_threads = by.iter().any(|place| matches!(Q::DIMENSIONS[*place].of, Of::Thread(_)));
        let of_process = |dimension: &Dimension<Q::Row>| has_threads && matches!(dimension.of, Of::Process);
        by.extend(Q::DIMENSIONS.iter().position(of_process));
        by.sort_unstable();
        by.dedup();
        Ok(Self { by, ..self })
    }

    /// The same question, sorted by the measure of this word, or by name.
    ///
    /// # Errors
    /// When no measure has the word.
    pub fn sorted_by_word(self, word: &str) -> Result<Self, UnknownName> {
        let place = Q::MEASURES.iter().position(|measure| measure.words.contains(&word));
        if place.is_none() && word != BY_NAME {
            let known = Self::orders().filter_map(|words| words.first().copied()).collect();
            return Err(UnknownName { name: word.to_owned(), known });
        }
        Ok(Self { sort: place, ..self })
    }

    /// The same question about rows that the patterns of an option let pass. Without patterns it lets all pass.
    ///
    /// # Errors
    /// When it has no such option.
    pub fn matching(mut self, option: &str, patterns: &str) -> Result<Self, UnknownName> {
        let filters = || Q::DIMENSIONS.iter().map(|dimension| dimension.filter.map(|filter| filter.option));
        let place = filters().position(|known| known == Some(option));
        let place = place.ok_or_else(|| UnknownName::new(option, filters().flatten()))?;
        let wanted = match Q::DIMENSIONS[place].of {
            Of::Stack { .. } if stack_numbers(patterns).is_some() => {
                Wanted::Stacks(stack_numbers(patterns).unwrap_or_default())
            }
            Of::Method { .. } | Of::Stack { .. } => Wanted::Methods(MethodPatterns::parse(patterns, false)),
            _ => Wanted::Texts(Patterns::parse(patterns)),
        };
        self.patterns.retain(|(known, _)| *known != place);
        if !wanted.is_empty() {
            self.patterns.push((place, wanted));
        }
        Ok(self)
    }

    /// The same question about rows between limits. The lower option names them.
    ///
    /// # Errors
    /// When it has no such option.
    pub fn between(mut self, option: &str, between: Between) -> Result<Self, UnknownName> {
        let options = || Q::LIMITS.iter().map(|limit| limit.options[0]);
        let place = options().position(|known| known == option);
        let place = place.ok_or_else(|| UnknownName::new(option, options()))?;
        self.limits.retain(|(known, _)| *known != place);
        // A limit that lets all pass would be asked of each row.
        if between != Between::default() {
            self.limits.push((place, between));
        }
        Ok(self)
    }

    /// The same question about groups whose figure lies between limits. The lower option names them.
    ///
    /// # Errors
    /// When it has no such option.
    pub fn groups_between(mut self, option: &str, between: Between) -> Result<Self, UnknownName> {
        let options = || Q::MEASURES.iter().map(|measure| measure.limits.map(|limits| limits.options[0]));
        let place = options().position(|known| known == Some(option));
        let place = place.ok_or_else(|| UnknownName::new(option, options().flatten()))?;
        self.group_limits.retain(|(known, _)| *known != place);
        if between != Between::default() {
            self.group_limits.push((place, between));
        }
        Ok(self)
    }

    /// The same question about the rows of which the condition of an option is true.
    ///
    /// # Errors
    /// When it has no such option.
    pub fn on_condition(mut self, option: &str) -> Result<Self, UnknownName> {
        let options = || Q::CONDITIONS.iter().map(|condition| condition.option);
        let place = options().position(|known| known == option);
        self.conditions.push(place.ok_or_else(|| UnknownName::new(option, options()))?);
        Ok(self)
    }

    /// The same question, answered with single rows. A list has no series.
    #[must_use]
    pub fn listed(self, listing: Listing) -> Self {
        Self { listing: Some(listing), ..self }
    }

    /// The same question by somebody who looks at the totals only.
    pub(crate) fn totals_only(self) -> Self {
        Self { shown: Shown::only([]), ..self }
    }

    /// The same question about the nodes of the tree of paths: a row has the figures of all paths below it.
    #[must_use]
    pub fn as_tree(self) -> Self {
        let Some(place) = tree_of::<Q>() else { return self };
        Self { by: vec![place], tree: true, ..self }
    }

    /// How the figure by which the rows are sorted grows from file to file. `None`: they are sorted by name, or by a figure with a
    /// fraction.
    pub(crate) fn growth(&self) -> Option<Growth> {
        let figure = Q::MEASURES[self.sort?].column;
        let is_whole = !matches!(figure.kind, Kind::Number(_) | Kind::Map);
        let names = layout::names::<Q>(&self.by);
        is_whole.then(|| Growth { names, figure, instead: None, limits: Between::default(), top: self.top })
    }

    /// The place of the measure by which groups are sorted where none has the figure of `--sort`.
    fn sort_without_figure(&self) -> Option<usize> {
        let word = Q::SORT_WITHOUT_FIGURE.filter(|_| self.sort.is_some())?;
        Q::MEASURES.iter().position(|measure| measure.words.contains(&word))
    }

    /// The place of the measure by which groups are sorted whose figures of `--sort` are equal. Tenths are equal more often than not.
    fn sort_of_equals(&self) -> Option<usize> {
        matches!(Q::MEASURES[self.sort?].how, How::Tenths(..)).then_some(())?;
        Q::MEASURES.iter().position(|measure| measure.words.contains(&Q::SORT))
    }

    /// The same question about a time range. `origin` is the zero from which limits of instants are counted.
    pub(crate) fn of_range(&self, time: TimeRange, origin: i64) -> Self {
        let shifted = |(place, between): &(usize, Between)| {
            let is_instant = Q::LIMITS[*place].kind == Kind::Time;
            (*place, if is_instant { between.shifted(origin) } else { *between })
        };
        let limits = self.limits.iter().map(shifted).collect();
        Self { time, limits, ..self.clone() }
    }

    /// Whether something is asked of rows beside their process.
    pub(crate) fn asks_of_rows(&self) -> bool {
        !(self.patterns.is_empty() && self.limits.is_empty() && self.conditions.is_empty())
    }

    /// Takes the limits of a figure out of the question. The lower option names them.
    pub(crate) fn take_limits(&mut self, option: &str) -> Between {
        let place = Q::LIMITS.iter().position(|limit| limit.options[0] == option);
        let at = self.limits.iter().position(|(known, _)| Some(*known) == place);
        at.map(|at| self.limits.swap_remove(at).1).unwrap_or_default()
    }

    /// The rows that the filters let pass, of any process.
    ///
    /// # Errors
    /// When a table cannot be read.
    pub(crate) fn passing(&self, recording: &OpenRecording) -> Result<Vec<Q::Row>, Error>
    where
        Q::Row: Clone,
    {
        let question = Self { filter: ProcessFilter::default(), ..self.clone() }.totals_only();
        let plan = Plan::new(&question);
        let processes = processes::read(recording.archive(), &question.filter, &question.shown)?;
        let accepted = processes.iter().map(|row| (row.process, row)).collect();
        let mut names = Names::load(recording, &plan, accepted)?;
        let time = question.time;
        Reading::new(&question, &plan, &[time], &mut names).passing(recording, time)
    }

    /// Whether every process of the table is asked for, those that nobody knows included.
    fn takes_unknown_processes(&self) -> bool {
        self.filter.is_empty()
    }
}

impl UnknownName {
    fn new(name: &str, known: impl Iterator<Item = &'static str>) -> Self {
        Self { name: name.to_owned(), known: known.collect() }
    }
}

impl Wanted {
    fn is_empty(&self) -> bool {
        match self {
            Self::Texts(patterns) => patterns.is_empty(),
            Self::Methods(patterns) => patterns.is_empty(),
            Self::Stacks(numbers) => numbers.is_empty(),
        }
    }
}

impl std::fmt::Display for Wanted {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Texts(patterns) => patterns.fmt(f),
            Self::Methods(patterns) => patterns.fmt(f),
            Self::Stacks(numbers) => {
                let texts: Vec<String> = numbers.iter().map(i64::to_string).collect();
                f.write_str(&texts.join(";"))
            }
        }
    }
}

/// The numbers of stacks that patterns of functions are in place of names: no function is called by a number.
fn stack_numbers(patterns: &str) -> Option<Vec<i64>> {
    let items = patterns.split(';').map(str::trim).filter(|item| !item.is_empty());
    let numbers: Vec<i64> = items.map(|item| item.parse::<u32>().ok().map(i64::from)).collect::<Option<_>>()?;
    (!numbers.is_empty()).then_some(numbers)
}

pub(crate) fn built_in_tags() -> Arc<TagSet> {
    Arc::new(TagSet::built_in(Nesting::Names).expect("the built-in rules are sound"))
}

/// The table of a question.
const fn table<Q: TableQuestion>() -> &'static TableDefinition {
    <Q::Row as View>::Row::TABLE
}

/// The place of the dimension that can be a tree.
fn tree_of<Q: TableQuestion>() -> Option<usize> {
    let name = Q::TREE?;
    Q::DIMENSIONS.iter().position(|dimension| dimension.name == name)
}

/// The place of a dimension.
fn place_of<Q: TableQuestion>(name: &str) -> Result<usize, UnknownName> {
    let place = Q::DIMENSIONS.iter().position(|dimension| dimension.name == name);
    place.ok_or_else(|| UnknownName::new(name, Question::<Q>::dimensions()))
}

impl<Q: TableQuestion> Ask for Question<Q> {
    fn name(&self) -> &'static str {
        Q::NAME
    }

    fn tables(&self) -> &'static [&'static str] {
        Q::TABLES
    }

    fn processes(&self) -> Option<&ProcessFilter> {
        Some(&self.filter)
    }

    fn candidates(&self, recording: &OpenRecording) -> Result<Vec<Candidates>, Error> {
        self.patterns.iter().map(|(place, wanted)| names::candidates::<Q>(recording, *place, wanted)).collect()
    }

    fn limits(&self) -> Vec<&'static str> {
        let given = |(place, between): &(usize, Between)| between.given(Q::LIMITS[*place].options).collect::<Vec<_>>();
        let of_group = |(place, between): &(usize, Between)| {
            let limits = Q::MEASURES[*place].limits;
            limits.map_or_else(Vec::new, |limits| between.given(limits.options).collect())
        };
        let of_groups = self.group_limits.iter().flat_map(of_group);
        let conditions = self.conditions.iter().map(|place| Q::CONDITIONS[*place].option);
        let exited = self.include_exited.then_some(options::INCLUDE_EXITED);
        self.limits.iter().flat_map(given).chain(of_groups).chain(conditions).chain(exited).collect()
    }

    fn sorted_by(&self) -> Option<&'static str> {
        // A tree has its own order, in which only siblings are sorted.
        self.sort
            .filter(|_| self.listing != Some(Listing::Flat) && !self.tree)
            .map(|place| Q::MEASURES[place].column.key)
    }

    fn columns(&self) -> Vec<Column> {
        if self.listing == Some(Listing::Flat) {
            return Self::list_columns();
        }
        let mut columns = layout::descriptions::<Q>(Some((&self.by, self.tree)));
        let below = match self.listing {
            Some(Listing::OfGroups(_)) => Some(layout::ROWS),
            Some(Listing::Stacks(_)) => Some(stacks_below::STACKS),
            _ => None,
        };
        let below = below.and_then(|below| columns.iter_mut().find(|column| column.key == below.key));
        below.into_iter().for_each(|column| column.view = Shows::Always);
        self.shown.keep(&mut columns);
        columns
    }

    fn within(&self, time: TimeRange, origin: i64) -> Box<dyn Ask> {
        Box::new(self.of_range(time, origin))
    }

    fn showing(&self, shown: &Shown) -> Option<Box<dyn Ask>> {
        let is_list = self.listing == Some(Listing::Flat);
        (!is_list).then(|| Box::new(Self { shown: shown.clone(), ..self.clone() }) as Box<dyn Ask>)
    }

    fn section(&self, recording: &OpenRecording) -> Result<Section, Error> {
        Ok(self.sections(recording, &[self.time])?.pop().unwrap_or_default())
    }

    fn series(&self, recording: &OpenRecording, ranges: &[TimeRange], _: i64) -> Result<Vec<Section>, Error> {
        self.sections(recording, ranges)
    }

    fn ranges_at_once(&self) -> usize {
        RANGES_AT_ONCE
    }

    fn sums_suffice(&self) -> bool {
        let is_of_sums = self.listing.is_none() && self.limits.is_empty() && self.conditions.is_empty();
        match Q::IMPORTED {
            Imported::Nothing => false,
            Imported::Sums => self.time.is_everything() && is_of_sums,
            Imported::Whole => self.time.is_everything(),
            Imported::Rows => true,
        }
    }
}

impl<Q: TableQuestion> Question<Q> {
    /// The answers about several parts of a recording, which follow each other, from one reading.
    fn sections(&self, recording: &OpenRecording, ranges: &[TimeRange]) -> Result<Vec<Section>, Error> {
        let archive = recording.archive();
        if Q::count(archive) == 0 {
            let is_linux = archive.info().kind == "perf";
            let absence = recording.file.absence_with_cure(table::<Q>().name, Q::SOURCE, is_linux);
            return Ok(ranges.iter().map(|_| recording.file.absent(Q::WHAT[1], absence.clone())).collect());
        }
        if let Some(parts) = Q::PARTS.filter(|_| ranges.iter().any(|range| !range.is_everything()))
            && recording.file.left_out.iter().any(|table| table == parts.name)
        {
            let text = format!("figures of a part need the table {}, which was not extracted", parts.name);
            return Ok(ranges.iter().map(|_| recording.file.absent(Q::WHAT[1], &*text)).collect());
        }
        let mut plan = Plan::new(self);
        if recording.file.is_imported {
            plan.unknown = Q::UNKNOWN_IN_IMPORTS;
        }
        let processes = processes::read(archive, &self.filter, &self.shown)?;
        let asked = match Q::WITH_IDLE && self.filter.is_empty() {
            true => processes.iter().collect(),
            false => processes::asked(&processes, &self.filter),
        };
        // A series has no notes: they are about a whole answer. Totals alone have none either.
        let notes = match ranges {
            [range] if !self.shown.is_nothing() => Q::notes(archive, *range, &asked)?,
            _ => Vec::new(),
        };
        let accepted = asked.into_iter().map(|row| (row.process, row)).collect();
        let mut names = Names::load(recording, &plan, accepted)?;
        let mut read = Reading::new(self, &plan, ranges, &mut names).read(recording, ranges)?;
        for dimension in plan.keys.iter().filter(|place| matches!(Q::DIMENSIONS[**place].of, Of::Tag { .. })) {
            let set = self.tags.clone().unwrap_or_else(built_in_tags);
            let key = plan.key_of(*dimension);
            let stacks = read.numbers.chunks(read.width).map(|numbers| numbers[key]);
            names.tag_stacks(recording, *dimension, set, stacks)?;
        }
        let whole = Span::new(recording.file.start, recording.file.end);
        let recorded = |range: &TimeRange| {
            let (start, end) = range.bounds();
            whole.intersect(Span::new(start, end))
        };
        let spans: Vec<Span> = ranges.iter().map(recorded).collect();
        let groups = groups::of_ranges(self, &plan, &mut read, &spans, &mut names);
        if plan.numbers_stacks {
            names.number_stacks(&read.numbers, read.width, &plan);
        }
        let section = |groups| {
            let (rows, facts) = rows::of_groups(self, &plan, &mut names, groups, &mut read);
            let section = columns::section_of(&recording.file, rows, facts, &self.shown);
            Section { notes: notes.clone(), ..section }
        };
        Ok(groups.into_iter().map(section).collect())
    }
}
