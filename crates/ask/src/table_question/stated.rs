//! What a question states, without the type of its rows: what needs no row is compiled once for all questions.

use std::sync::Arc;

use tracesift_archive::{Archive, Error};
use tracesift_grammar::TimeRange;
use tracesift_trace::rows::ProcessRow;
use tracesift_trace::schema::TableDefinition;

use super::asked::{Asked, UnknownName};
use super::dimension::{Described, Names as NamesOf, Of};
use super::limit::{LimitOptions, Shorthand};
use super::measure::Figure;
use super::names::Names;
use super::plan::Plan;
use super::reading::{self, Read};
use super::stacks_below::StacksBelow;
use super::summary::Summary;
use super::tally::{self, Tally};
use super::{BY_NAME, Imported, TableQuestion, table};
use crate::answer::Column;
use crate::recording::OpenRecording;
use crate::recording_label::RowSource;

/// What a question states. The fields have the meanings of the constants of [`TableQuestion`].
#[derive(Debug)]
pub(super) struct Stated {
    pub(super) name: &'static str,
    pub(super) what: [&'static str; 2],
    pub(super) source: RowSource,
    pub(super) most: &'static str,
    pub(super) table: &'static TableDefinition,
    pub(super) tables: &'static [&'static str],
    pub(super) reads: Option<&'static [&'static str]>,
    pub(super) dimensions: Vec<&'static Described>,
    pub(super) measures: Vec<&'static Figure>,
    pub(super) limits: Vec<&'static LimitOptions>,
    pub(super) conditions: Vec<Flag>,
    /// The help of `--include-exited`, where the question has the option.
    pub(super) exited: Option<&'static str>,
    pub(super) list: Vec<Column>,
    pub(super) details_are_rows: bool,
    pub(super) stacks_below: Option<StacksBelow>,
    /// Whether the length of some rows is not known.
    pub(super) has_unknown_lengths: bool,
    pub(super) with_idle: bool,
    pub(super) joined: &'static [&'static str],
    pub(super) summary: Option<Summary>,
    pub(super) by: &'static [&'static str],
    pub(super) sort: &'static str,
    pub(super) sort_without_figure: Option<&'static str>,
    pub(super) grows: bool,
    pub(super) merges: bool,
    pub(super) imported: Imported,
    pub(super) unknown_in_imports: &'static [&'static str],
    pub(super) unknown_per_process: &'static [&'static str],
    pub(super) per_process: &'static [&'static str],
    pub(super) tree: Option<&'static str>,
    pub(super) shorthands: &'static [Shorthand],
    pub(super) parts: Option<&'static TableDefinition>,
    /// Whether these figures are known of chosen times.
    pub(super) parts_in_times: bool,
    pub(super) only_whole: bool,
    pub(super) rows: OverRows,
}

/// An option without a value.
#[derive(Clone, Copy, Debug)]
pub(super) struct Flag {
    /// With its dashes.
    pub(super) option: &'static str,
    /// One sentence for its help.
    pub(super) help: &'static str,
}

/// The code that looks at rows, compiled for each question. It is called once per archive, not once per row.
#[derive(Clone, Copy, Debug)]
pub(super) struct OverRows {
    /// Number of rows.
    pub(super) count: fn(&Archive) -> u64,
    /// What is worth knowing beside the rows.
    pub(super) notes: NotesOf,
    /// The pass over the rows that touch one of the ranges.
    pub(super) read: ReadRows,
    /// The values of a dimension, each with the number of its rows.
    pub(super) tally: fn(&Archive, usize) -> Result<Tally, Error>,
}

/// Gives the notes of a time range and of processes.
pub(super) type NotesOf = fn(&Archive, TimeRange, &[&ProcessRow]) -> Result<Vec<String>, Error>;

/// Reads the rows that touch one of the ranges.
pub(super) type ReadRows =
    for<'p> fn(&Asked, &'p Plan, &mut Names<'_>, &OpenRecording, &[TimeRange]) -> Result<Read<'p>, Error>;

impl Stated {
    /// What a question states.
    pub(super) fn of<Q: TableQuestion>() -> Arc<Self> {
        Arc::new(Self {
            name: Q::NAME,
            what: Q::WHAT,
            source: Q::SOURCE,
            most: Q::MOST,
            table: table::<Q>(),
            tables: Q::TABLES,
            reads: Q::READS,
            dimensions: parts(Q::DIMENSIONS, |dimension| &dimension.is),
            measures: parts(Q::MEASURES, |measure| &measure.is),
            limits: parts(Q::LIMITS, |limit| &limit.is),
            conditions: parts(Q::CONDITIONS, |of| Flag { option: of.option, help: of.help }),
            exited: Q::EXITED.map(|exited| exited.help),
            list: parts(Q::LIST, |column| column.column),
            details_are_rows: Q::DETAILS_ARE_ROWS,
            stacks_below: Q::STACKS_BELOW,
            has_unknown_lengths: Q::HAS_LENGTH.is_some(),
            with_idle: Q::WITH_IDLE,
            joined: Q::JOINED,
            summary: Q::SUMMARY,
            by: Q::BY,
            sort: Q::SORT,
            sort_without_figure: Q::SORT_WITHOUT_FIGURE,
            grows: Q::GROWS,
            merges: Q::MERGES,
            imported: Q::IMPORTED,
            unknown_in_imports: Q::UNKNOWN_IN_IMPORTS,
            unknown_per_process: Q::UNKNOWN_PER_PROCESS,
            per_process: Q::PER_PROCESS,
            tree: Q::TREE,
            shorthands: Q::SHORTHANDS,
            parts: Q::PARTS,
            parts_in_times: Q::PARTS_IN_TIMES,
            only_whole: Q::ONLY_WHOLE,
            rows: OverRows { count: Q::count, notes: Q::notes, read: reading::read::<Q>, tally: tally::of::<Q> },
        })
    }

    /// The words of `--by`.
    pub(super) fn words_of_dimensions(&self) -> impl Iterator<Item = &'static str> {
        self.dimensions.iter().map(|dimension| dimension.name)
    }

    /// The words of `--sort`: of each measure the first, then those that mean the same.
    pub(super) fn orders(&self) -> impl Iterator<Item = &'static [&'static str]> {
        let of_measures = self.measures.iter().map(|measure| measure.words).filter(|words| !words.is_empty());
        of_measures.chain([&[BY_NAME][..]])
    }

    /// The place of the measure of a word of `--sort`.
    pub(super) fn measure_of_word(&self, word: &str) -> Option<usize> {
        self.measures.iter().position(|measure| measure.words.contains(&word))
    }

    /// The place of the measure with a key.
    pub(super) fn measure_of(&self, key: &str) -> usize {
        let place = self.measures.iter().position(|measure| measure.column.key == key);
        place.expect("a measure is made of measures of its question")
    }

    /// The place of the dimension that a measure is about.
    pub(super) fn dimension_of(&self, name: &str) -> usize {
        let place = self.dimensions.iter().position(|dimension| dimension.name == name);
        place.expect("a measure is about a dimension of its question")
    }

    /// The place of the first dimension whose values are such.
    pub(super) fn dimension_that(&self, is: impl Fn(Of) -> bool) -> Option<usize> {
        self.dimensions.iter().position(|dimension| is(dimension.of))
    }

    /// The place of the dimension of stacks.
    pub(super) fn stacks(&self) -> Option<usize> {
        self.dimension_that(|of| matches!(of, Of::Stack))
    }

    /// The place of the dimension that can be a tree.
    pub(super) fn tree_place(&self) -> Option<usize> {
        let name = self.tree?;
        self.dimensions.iter().position(|dimension| dimension.name == name)
    }

    /// Whether a dimension is made of paths.
    pub(super) fn has_paths(&self) -> bool {
        self.dimension_that(|of| matches!(of, Of::Number { names: NamesOf::Paths(_), .. })).is_some()
    }

    /// Whether regions and the focus can choose times: single rows have them.
    pub(super) fn has_times(&self) -> bool {
        (self.parts.is_none() || self.parts_in_times) && !self.only_whole
    }

    /// Whether rows have tags.
    pub(super) fn has_tags(&self) -> bool {
        self.dimension_that(|of| matches!(of, Of::Tag)).is_some()
    }

    /// The dimension that is a part of texts, by its word.
    pub(super) fn part_of_texts(&self) -> Option<&'static str> {
        let place = self.dimension_that(|of| matches!(of, Of::Text { cut: Some(_) }))?;
        Some(self.dimensions[place].name)
    }

    /// The places of the dimensions of a grouping, ascending: those with the names, and those that stand beside them.
    ///
    /// # Errors
    /// When there is no such dimension.
    pub(super) fn grouping(&self, names: &[&str]) -> Result<Vec<usize>, UnknownName> {
        let place = |name: &str| {
            let place = self.dimensions.iter().position(|dimension| dimension.name == name);
            place.ok_or_else(|| UnknownName::new(name, self.words_of_dimensions()))
        };
        let mut by = names.iter().map(|name| place(name)).collect::<Result<Vec<usize>, _>>()?;
        let beside: Vec<&str> = by.iter().flat_map(|place| self.dimensions[*place].beside).copied().collect();
        by.extend(beside.into_iter().map(place).collect::<Result<Vec<usize>, _>>()?);
        if by.iter().any(|place| matches!(self.dimensions[*place].of, Of::Thread)) {
            by.extend(self.dimension_that(|of| matches!(of, Of::Process)));
        }
        by.sort_unstable();
        by.dedup();
        Ok(by)
    }
}

/// A part of each of some things. A loop, as it is compiled for each question.
fn parts<T, P>(all: &'static [T], part: fn(&'static T) -> P) -> Vec<P> {
    let mut parts = Vec::with_capacity(all.len());
    for one in all {
        parts.push(part(one));
    }
    parts
}
