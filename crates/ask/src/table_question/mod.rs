//! Questions over the rows of one table: filter them, group them by some dimensions, add measures up, sort the groups.
//!
//! A question states its table, its [dimensions](Dimension), its [measures](Measure) and its default grouping
//! ([`TableQuestion`]). All else comes from here: the options, `--by`, `--sort`, `--time`, `--bucket`, the columns of
//! every format, the totals, the reasons for an empty answer.
//!
//! While rows are read, every dimension is a number. Rows with the same numbers share a place (`places`), where the
//! measures are added up (`sums`). Texts are looked up once per place: they decide which places the filters keep, and
//! which places are one group (`groups`).
//!
//! Every question has its own type of rows. Code with this type is compiled once per question, so only code that looks at a row has it: the
//! pass (`reading`), what a row adds to sums (`additions`), what measures are of a row alone (`alone`), the values that rows have (`tally`).
//! All other code works on what the question states (`stated`) and on what somebody asks (`asked`), and calls the pass once per archive.

mod additions;
mod alone;
mod arguments;
mod arithmetic;
mod asked;
mod best_source;
mod candidates;
mod dimension;
mod groups;
mod joined;
mod layout;
mod limit;
mod list;
mod measure;
mod merged;
mod names;
mod needed;
mod options;
mod paths;
mod peaks;
mod places;
mod plan;
mod question;
mod reading;
mod row_names;
mod rows;
mod sections;
mod seen;
mod stacks;
mod stacks_below;
mod stated;
mod summary;
mod sums;
mod tally;
#[cfg(test)]
mod tests;
mod wanted;

use std::ops::{ControlFlow, Range};
use std::sync::Arc;

use tracesift_analysis::Times;
use tracesift_analysis::tags::{Nesting, TagSet};
use tracesift_archive::{Archive, Error, Readable, Table};
use tracesift_grammar::TimeRange;
use tracesift_trace::ProcessId;
use tracesift_trace::rows::ProcessRow;
use tracesift_trace::schema::{ColumnSet, Row, TableDefinition, View};

pub use self::asked::{Asked, UnknownName};
pub use self::best_source::BestSource;
pub use self::dimension::Dimension;
pub use self::joined::Joined;
pub use self::limit::{Condition, Exited, Limit, Shorthand};
pub use self::list::Listing;
pub use self::measure::Measure;
pub use self::needed::Needed;
pub use self::options::Options;
pub(crate) use self::peaks::Peak;
pub(crate) use self::places::UNTOLD;
pub use self::question::Question;
pub(crate) use self::row_names::RowNames;
pub use self::stacks::{Charged, StackFigure, StackMeasure};
pub use self::stacks_below::StacksBelow;
pub use self::summary::Summary;
pub(crate) use self::summary::{Sum, Summed};

use crate::answer::ColumnOf;
use crate::etwanalyzer::Legacy;
use crate::recording::OpenRecording;
use crate::recording_label::RowSource;

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
    type Row: Readable<Row: Table> + Clone;

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

    /// The sources of rows, of tables in which several sources tell of the same. Only the rows of the best one that an archive has count.
    const BEST_SOURCE: Option<BestSource<Self::Row>> = None;

    /// Whether rows of the idle loop are asked for, too, where no process is chosen.
    const WITH_IDLE: bool = false;

    /// Whether rows are sums of the whole recording, so that parts of it have no answer.
    const ONLY_WHOLE: bool = false;

    /// The columns of a row that the question looks at. The others are not read: they have their default value.
    const COLUMNS: ColumnSet<Self::Row> = ColumnSet::ALL;

    /// Columns that only some dimensions and measures and lists of single rows look at, with the names of these: other answers do not
    /// read them. No limit or condition looks at them.
    const SELDOM: &'static [(ColumnSet<Self::Row>, &'static [&'static str])] = &[];

    /// The tables that are read.
    const TABLES: &'static [&'static str] = &[<<Self::Row as View>::Row as Row>::TABLE.name];

    /// The tables of which its answers need events, where these are all: a recording that is not extracted yet is extracted with these
    /// alone.
    const READS: Option<&'static [&'static str]> = None;

    /// The keys of measures and of columns of lists about figures from other tables, which are read only where one of these is shown.
    const JOINED: &'static [&'static str] = &[];

    /// The table of sums that answers what is asked of a whole recording. `EXITED`, `BEST_SOURCE` and `is_asked` go with none.
    const SUMMARY: Option<Summary> = None;

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

    /// The same where rows are of processes, or of other [`PER_PROCESS`](Self::PER_PROCESS) dimensions, and nothing is asked of single rows:
    /// an import may have sums per process.
    const UNKNOWN_PER_PROCESS: &'static [&'static str] = Self::UNKNOWN_IN_IMPORTS;

    /// The dimensions of which the sums of an import tell.
    const PER_PROCESS: &'static [&'static str] = &[];

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

    /// Reads what is needed of the rows that touch a time range.
    ///
    /// # Errors
    /// When a table cannot be read.
    fn scan(
        archive: &Archive,
        time: Option<Range<i64>>,
        needed: Needed<Self::Row>,
        mut visit: impl FnMut(&Self::Row),
    ) -> Result<(), Error> {
        debug_assert!(!needed.joined || !Self::JOINED.is_empty(), "a question without joined measures");
        let (mut columns, mut best) = (needed.columns, None);
        if let Some(source) = Self::BEST_SOURCE {
            columns = columns.and(source.column);
            best = source.in_archive(archive)?.map(|best| (source.of, best));
        }
        archive.scan_needed(columns, time, None::<fn(&Self::Row) -> bool>, |row| {
            if best.is_none_or(|(source, best)| source(row) == best) {
                visit(row);
            }
            ControlFlow::Continue(())
        })
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

    /// Whether [`parts`](Self::parts) knows the figures of chosen times.
    const PARTS_IN_TIMES: bool = false;

    /// The rows that touch each part of a recording, there one of these times if any are chosen, with the figures of the part, for a question
    /// with [`PARTS`](Self::PARTS).
    ///
    /// # Errors
    /// When a table cannot be read.
    fn parts(
        _recording: &OpenRecording,
        _ranges: &[TimeRange],
        _times: Option<&Times>,
    ) -> Result<Vec<Vec<Self::Row>>, Error> {
        Ok(Vec::new())
    }
}

/// The rows of a question, where they are not many or not read often: each [`TableQuestion::scan`] with a closure of its own is compiled anew,
/// with all that decodes a row.
fn scan_rows<Q: TableQuestion>(
    archive: &Archive,
    time: Option<Range<i64>>,
    needed: Needed<Q::Row>,
    visit: &mut dyn FnMut(&Q::Row),
) -> Result<(), Error> {
    Q::scan(archive, time, needed, visit)
}

/// The word of `--sort` that sorts by the names of the groups.
pub(crate) const BY_NAME: &str = "name";

/// The rules for tags where nobody names others.
pub(crate) fn built_in_tags() -> Arc<TagSet> {
    Arc::new(TagSet::built_in(Nesting::Names).expect("the built-in rules are sound"))
}

/// The table of a question.
const fn table<Q: TableQuestion>() -> &'static TableDefinition {
    <Q::Row as View>::Row::TABLE
}
