//! What somebody asks, whatever the rows are.

use std::sync::Arc;

use tracesift_analysis::tags::TagSet;
use tracesift_grammar::TimeRange;

use super::arithmetic::How;
use super::list::Listing;
use super::stated::Stated;
use super::wanted::Wanted;
use super::{BY_NAME, layout};
use crate::answer::Kind;
use crate::filter::ProcessFilter;
use crate::growth::Growth;
use crate::inside::Inside;
use crate::order::{Between, Top};
use crate::shown::Shown;

/// What somebody asks about the rows of a table: a [`Question`](super::Question) without the type of its rows.
#[derive(Clone, Debug)]
pub struct Asked {
    /// What the question states.
    pub(super) stated: Arc<Stated>,
    /// Which processes.
    pub filter: ProcessFilter,
    /// Rows with a part in this range, or that begin in it; their times are cut to it.
    pub time: TimeRange,
    /// What else chooses times; all of it has to hold.
    pub inside: Vec<Inside>,
    /// How many groups per file.
    pub top: Top,
    /// Places of the dimensions of a group, ascending.
    pub(super) by: Vec<usize>,
    /// Place of the measure by which the groups are sorted; `None`: they are sorted by their names.
    pub(super) sort: Option<usize>,
    /// Which values of dimensions, by place of the dimension.
    pub(super) patterns: Vec<(usize, Wanted)>,
    /// Which figures of rows, by place of the limit.
    pub(super) limits: Vec<(usize, Between)>,
    /// Which figures of groups, by place of the measure.
    pub(super) group_limits: Vec<(usize, Between)>,
    /// What has to be true of rows, by place of the condition.
    pub(super) conditions: Vec<usize>,
    /// Whether rows that the end of their process ended count as open.
    pub include_exited: bool,
    /// Single rows in place of groups.
    pub(super) listing: Option<Listing>,
    /// Whether the groups are the nodes of the tree of paths.
    pub(super) tree: bool,
    /// How many parts of a path a directory has, and a tree below its roots; `None`: all but the name of the file, and in a tree all. Of
    /// dimensions that are parts of texts the number of these.
    pub dir_level: Option<usize>,
    /// Whether the parts of paths stand in reverse order: the name of the file first.
    pub reverse_paths: bool,
    /// The rules for tags; `None`: the built-in ones.
    pub tags: Option<Arc<TagSet>>,
    /// The columns that somebody looks at; a list of single rows has all of them.
    pub(super) shown: Shown,
    /// Whether a list of single rows has the figures from other tables.
    pub(super) joins: bool,
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

impl Asked {
    /// What a question asks unless somebody asks otherwise.
    pub(super) fn usual(stated: Arc<Stated>) -> Self {
        let (by, sort) = (stated.by, stated.sort);
        let asked = Self {
            stated,
            filter: ProcessFilter::default(),
            time: TimeRange::default(),
            inside: Vec::new(),
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
            joins: true,
        };
        let asked = asked.by(by).and_then(|asked| asked.sorted_by_word(sort));
        asked.expect("a question has the dimensions and the measure of its default")
    }

    /// The same question about groups of these dimensions.
    ///
    /// # Errors
    /// When it has no such dimension.
    pub(super) fn by(self, names: &[&str]) -> Result<Self, UnknownName> {
        let by = self.stated.grouping(names)?;
        Ok(Self { by, ..self })
    }

    /// The same question, sorted by the measure of this word, or by name.
    ///
    /// # Errors
    /// When no measure has the word.
    pub(super) fn sorted_by_word(self, word: &str) -> Result<Self, UnknownName> {
        let place = self.stated.measure_of_word(word);
        if place.is_none() && word != BY_NAME {
            let known = self.stated.orders().filter_map(|words| words.first().copied()).collect();
            return Err(UnknownName { name: word.to_owned(), known });
        }
        Ok(Self { sort: place, ..self })
    }

    /// The same question about rows that the patterns of an option let pass. Without patterns it lets all pass.
    ///
    /// # Errors
    /// When it has no such option.
    pub(super) fn matching(mut self, option: &str, patterns: &str) -> Result<Self, UnknownName> {
        let dimensions = &self.stated.dimensions;
        let filters = || dimensions.iter().map(|dimension| dimension.filter.map(|filter| filter.option));
        let place = filters().position(|known| known == Some(option));
        let place = place.ok_or_else(|| UnknownName::new(option, filters().flatten()))?;
        let wanted = Wanted::parse(dimensions[place].of, patterns);
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
    pub(super) fn between(mut self, option: &str, between: Between) -> Result<Self, UnknownName> {
        let options = || self.stated.limits.iter().map(|limit| limit.options[0]);
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
    pub(super) fn groups_between(mut self, option: &str, between: Between) -> Result<Self, UnknownName> {
        let options = || self.stated.measures.iter().map(|measure| measure.limits.map(|limits| limits.options[0]));
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
    pub(super) fn on_condition(mut self, option: &str) -> Result<Self, UnknownName> {
        let options = || self.stated.conditions.iter().map(|condition| condition.option);
        let place = options().position(|known| known == option);
        let place = place.ok_or_else(|| UnknownName::new(option, options()))?;
        self.conditions.push(place);
        Ok(self)
    }

    /// The same question, answered with single rows. A list has no series.
    pub(super) fn listed(self, listing: Listing) -> Self {
        Self { listing: Some(listing), ..self }
    }

    /// The same question by somebody who looks at the totals only.
    pub(super) fn totals_only(self) -> Self {
        Self { shown: Shown::only([]), ..self }
    }

    /// The same question about the nodes of the tree of paths: a row has the figures of all paths below it.
    pub(super) fn into_tree(self) -> Self {
        let Some(place) = self.stated.tree_place() else { return self };
        Self { by: vec![place], tree: true, ..self }
    }

    /// How the figure by which the rows are sorted grows from file to file. `None`: they are sorted by name, or by a figure with a
    /// fraction.
    pub(super) fn growth(&self) -> Option<Growth> {
        let figure = self.stated.measures[self.sort?].column;
        let is_whole = !matches!(figure.kind, Kind::Number(_) | Kind::Map);
        let names = layout::names(&self.stated, &self.by);
        is_whole.then(|| Growth { names, figure, instead: None, limits: Between::default(), top: self.top })
    }

    /// The place of the measure by which groups are sorted where none has the figure of `--sort`.
    pub(super) fn sort_without_figure(&self) -> Option<usize> {
        let word = self.stated.sort_without_figure.filter(|_| self.sort.is_some())?;
        self.stated.measure_of_word(word)
    }

    /// The place of the measure by which groups are sorted whose figures of `--sort` are equal. Tenths are equal more often than not.
    pub(super) fn sort_of_equals(&self) -> Option<usize> {
        matches!(self.stated.measures[self.sort?].how, How::Tenths).then_some(())?;
        self.stated.measure_of_word(self.stated.sort)
    }

    /// The same question about a time range. `origin` is the zero from which limits of instants are counted.
    pub(super) fn of_range(&self, time: TimeRange, origin: i64) -> Self {
        let shifted = |(place, between): &(usize, Between)| {
            let is_instant = self.stated.limits[*place].kind == Kind::Time;
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
        let place = self.stated.limits.iter().position(|limit| limit.options[0] == option);
        let at = self.limits.iter().position(|(known, _)| Some(*known) == place);
        at.map(|at| self.limits.swap_remove(at).1).unwrap_or_default()
    }

    /// Whether the patterns of an option are asked.
    pub(crate) fn has_patterns(&self, option: &str) -> bool {
        let is_of = |place: usize| self.stated.dimensions[place].filter.is_some_and(|filter| filter.option == option);
        self.patterns.iter().any(|(place, _)| is_of(*place))
    }

    /// Whether patterns are asked of a dimension.
    pub(super) fn is_filtered(&self, dimension: usize) -> bool {
        self.patterns.iter().any(|(filtered, _)| *filtered == dimension)
    }

    /// Whether every process of the table is asked for, those that nobody knows included.
    pub(super) fn takes_unknown_processes(&self) -> bool {
        self.filter.is_empty()
    }
}

impl UnknownName {
    pub(super) fn new(name: &str, known: impl Iterator<Item = &'static str>) -> Self {
        Self { name: name.to_owned(), known: known.collect() }
    }
}
