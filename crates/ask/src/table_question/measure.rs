//! Measures: what is added up over the rows of a group, and the column that shows it.

use tracesift_analysis::Span;

use super::arithmetic::{Adds, How, Quotient};
use super::dimension::TextsOf;
use crate::answer::{Column, Kind, View};

/// A figure of a group of rows.
#[derive(Debug)]
pub struct Measure<R: 'static> {
    /// What is known of it without a row.
    pub(super) is: Figure,
    /// What a row adds to it.
    pub(super) adds: Adds<R>,
}

/// What is known of a measure without a row.
#[derive(Debug)]
pub(super) struct Figure {
    /// The column.
    pub(super) column: Column,
    /// The words of `--sort` for it; none: nobody sorts by it.
    pub(super) words: &'static [&'static str],
    /// The arithmetic.
    pub(super) how: How,
    /// The label of the total over all groups, where the heading of a file has one.
    pub(super) total: Option<&'static str>,
    /// The label of the sum of the groups' figures, where it is another figure than the total.
    pub(super) sum_of_groups: Option<&'static str>,
    /// The options that keep groups by the figure, with their help.
    pub(super) limits: Option<GroupLimits>,
    /// The dimension without which the figure says nothing: only groups of it have the column.
    pub(super) within: Option<&'static str>,
}

/// Options that keep groups by a figure of theirs.
#[derive(Clone, Copy, Debug)]
pub(super) struct GroupLimits {
    /// The lower and the upper limit, with their dashes.
    pub(super) options: [&'static str; 2],
    /// One sentence for the help of each.
    pub(super) help: [&'static str; 2],
}

impl Figure {
    /// Whether the measure says something about groups of the dimensions with these names.
    pub(super) fn is_of<'a>(&self, mut by: impl Iterator<Item = &'a str> + Clone) -> bool {
        self.how.dimension().is_none_or(|about| by.clone().all(|by| by != about))
            && self.within.is_none_or(|within| by.any(|by| by == within))
    }
}

impl<R> Measure<R> {
    const fn new([key, title]: [&'static str; 2], kind: Kind, how: How, adds: Adds<R>) -> Self {
        let column = Column { key, title, kind, view: View::Always, help: "" };
        let is = Figure { column, words: &[], how, total: None, sum_of_groups: None, limits: None, within: None };
        Self { is, adds }
    }

    /// Number of rows.
    #[must_use]
    pub const fn rows(key: &'static str, title: &'static str) -> Self {
        Self::new([key, title], Kind::Count, How::Rows, Adds::Row)
    }

    /// Number of rows that fulfil a condition.
    #[must_use]
    pub const fn rows_if(key: &'static str, title: &'static str, holds: fn(&R) -> bool) -> Self {
        Self::new([key, title], Kind::Count, How::RowsIf, Adds::If(holds))
    }

    /// Number of rows of which a dimension is known. Rows grouped by this dimension do not have the column.
    #[must_use]
    pub const fn rows_with(dimension: &'static str, key: &'static str, title: &'static str) -> Self {
        Self::new([key, title], Kind::Count, How::RowsWith(dimension), Adds::Row)
    }

    /// Sum of a figure of the rows.
    #[must_use]
    pub const fn sum(key: &'static str, title: &'static str, kind: Kind, figure: fn(&R) -> i64) -> Self {
        Self::new([key, title], kind, How::Sum, Adds::Sum(figure))
    }

    /// Sum of a figure that not all rows have. Where no row has it, the column is empty.
    #[must_use]
    pub const fn sum_known(key: &'static str, title: &'static str, kind: Kind, figure: fn(&R) -> Option<i64>) -> Self {
        Self::new([key, title], kind, How::SumKnown, Adds::Known(figure))
    }

    /// Sum of a figure of the parts of the rows in the time range, such as the time that a thread waited meanwhile. Where no part has it, the
    /// column is empty.
    #[must_use]
    pub const fn sum_inside(
        key: &'static str,
        title: &'static str,
        kind: Kind,
        figure: fn(&R, Span) -> Option<i64>,
    ) -> Self {
        Self::new([key, title], kind, How::SumInside, Adds::Inside(figure))
    }

    /// Sum of a figure of things that rows are about, such as the operation that a call belongs to: a thing counts once, however many
    /// rows of the group are about it. The function gives the number of the thing, and its figure. A question has one such measure.
    #[must_use]
    pub const fn sum_once(
        key: &'static str,
        title: &'static str,
        kind: Kind,
        figure: fn(&R) -> Option<(i64, i64)>,
    ) -> Self {
        Self::new([key, title], kind, How::SumOnce, Adds::Once(figure))
    }

    /// Sum of a figure of the rows of a kind, which not all of them have. Without a row of the kind it is 0. Where there are such rows, and
    /// none has the figure, the column is empty.
    #[must_use]
    pub const fn sum_of(
        key: &'static str,
        title: &'static str,
        kind: Kind,
        is_of_kind: fn(&R) -> bool,
        figure: fn(&R) -> Option<i64>,
    ) -> Self {
        Self::new([key, title], kind, How::SumOf, Adds::OfKind(is_of_kind, figure))
    }

    /// Sum of the times of the rows, each cut to the time range.
    #[must_use]
    pub const fn duration(key: &'static str, title: &'static str) -> Self {
        Self::new([key, title], Kind::Milliseconds, How::Duration, Adds::Duration)
    }

    /// Time that the rows cover, each cut to the time range: an instant counts once, however many rows it is in.
    #[must_use]
    pub const fn union(key: &'static str, title: &'static str) -> Self {
        Self::new([key, title], Kind::Milliseconds, How::Union, Adds::Time)
    }

    /// The shortest time of a row, cut to the time range.
    #[must_use]
    pub const fn shortest(key: &'static str, title: &'static str) -> Self {
        Self::new([key, title], Kind::Milliseconds, How::Shortest, Adds::Shortest)
    }

    /// The longest time of a row, cut to the time range.
    #[must_use]
    pub const fn longest(key: &'static str, title: &'static str) -> Self {
        Self::new([key, title], Kind::Milliseconds, How::Longest, Adds::Longest)
    }

    /// The begin of the row with the longest time; of several the first.
    #[must_use]
    pub const fn longest_start(key: &'static str, title: &'static str) -> Self {
        Self::new([key, title], Kind::Time, How::LongestStart, Adds::Longest).details()
    }

    /// Time from the begin of the first row to the end of the last one, cut to the time range.
    #[must_use]
    pub const fn extent(key: &'static str, title: &'static str) -> Self {
        Self::new([key, title], Kind::Milliseconds, How::Extent, Adds::Extent)
    }

    /// How long the processes of the rows lived in the time range, each process once.
    #[must_use]
    pub const fn lives(key: &'static str, title: &'static str) -> Self {
        Self::new([key, title], Kind::Milliseconds, How::Lives, Adds::Nothing)
    }

    /// The begin of the first row. Single rows in this order follow each other in time.
    #[must_use]
    pub const fn first(key: &'static str, title: &'static str) -> Self {
        Self::new([key, title], Kind::Time, How::First, Adds::First).details()
    }

    /// The largest figure of a row.
    #[must_use]
    pub const fn max(key: &'static str, title: &'static str, kind: Kind, figure: fn(&R) -> Option<i64>) -> Self {
        Self::new([key, title], kind, How::Max, Adds::Max(figure))
    }

    /// The smallest figure of a row.
    #[must_use]
    pub const fn min(key: &'static str, title: &'static str, kind: Kind, figure: fn(&R) -> Option<i64>) -> Self {
        Self::new([key, title], kind, How::Min, Adds::Min(figure))
    }

    /// The figure of the only row that has one, for figures of which several do not make one, such as medians.
    #[must_use]
    pub const fn only(key: &'static str, title: &'static str, kind: Kind, figure: fn(&R) -> Option<i64>) -> Self {
        Self::new([key, title], kind, How::Only, Adds::Only(figure))
    }

    /// Mean of the first figure of the rows, weighted with the second one, rounded down. Weights are not negative.
    #[must_use]
    pub const fn weighted(
        key: &'static str,
        title: &'static str,
        kind: Kind,
        figures: fn(&R) -> Option<(i64, i64)>,
    ) -> Self {
        Self::new([key, title], kind, How::Weighted, Adds::Weighted(figures))
    }

    /// A measure divided by another one, rounded down. `of` has the keys of both.
    #[must_use]
    pub const fn mean(key: &'static str, title: &'static str, kind: Kind, of: [&'static str; 2]) -> Self {
        Self::new([key, title], kind, How::Mean(of), Adds::Nothing)
    }

    /// A measure divided by another one, times a factor. `of` has the keys of both.
    #[must_use]
    pub const fn ratio(key: &'static str, title: &'static str, digits: u8, of: [&'static str; 2], factor: f64) -> Self {
        Self::new([key, title], Kind::Number(digits), How::Ratio(of, Quotient::Times(factor)), Adds::Nothing)
    }

    /// The share of a measure that another one leaves of it, in percent: `of` has the keys of the part that is gone and of the whole.
    #[must_use]
    pub const fn percent_left(key: &'static str, title: &'static str, of: [&'static str; 2]) -> Self {
        Self::new([key, title], Kind::Number(1), How::Ratio(of, Quotient::Left), Adds::Nothing)
    }

    /// Bytes divided by time, in 1,000,000 bytes per second. `of` has the keys of both.
    #[must_use]
    pub const fn throughput(key: &'static str, title: &'static str, of: [&'static str; 2]) -> Self {
        /// So many bytes per nanosecond.
        const MEGABYTES_PER_SECOND: f64 = 1e3;
        Self::ratio(key, title, 1, of, MEGABYTES_PER_SECOND)
    }

    /// A measure of time divided by the length of the time range: of a sum of durations it is the mean number of rows that are
    /// under way at an instant.
    #[must_use]
    pub const fn per_time(key: &'static str, title: &'static str, of: &'static str) -> Self {
        Self::new([key, title], Kind::Number(2), How::PerTime(of, 1.0), Adds::Time)
    }

    /// A measure of bytes divided by the length of the time range, in 1,000,000 bytes per second.
    #[must_use]
    pub const fn megabytes_per_second(key: &'static str, title: &'static str, of: &'static str) -> Self {
        /// So many bytes per nanosecond.
        const MEGABYTES_PER_SECOND: f64 = 1e3;
        Self::new([key, title], Kind::Number(1), How::PerTime(of, MEGABYTES_PER_SECOND), Adds::Time)
    }

    /// A number of things divided by the length of the time range: how many per second.
    #[must_use]
    pub const fn per_second(key: &'static str, title: &'static str, of: &'static str) -> Self {
        /// So many nanoseconds.
        const SECOND: f64 = 1e9;
        Self::new([key, title], Kind::Number(1), How::PerTime(of, SECOND), Adds::Time)
    }

    /// A measure of time in percent of the length of the time range.
    #[must_use]
    pub const fn percent_of_time(key: &'static str, title: &'static str, of: &'static str) -> Self {
        const PERCENT: f64 = 100.0;
        Self::new([key, title], Kind::Number(1), How::PerTime(of, PERCENT), Adds::Time)
    }

    /// How much of the time range the rows of a value of a dimension cover, in percent. Where rows have several values it is the mean
    /// over the values.
    #[must_use]
    pub const fn covers(dimension: &'static str, key: &'static str, title: &'static str) -> Self {
        Self::new([key, title], Kind::Number(1), How::Covers(dimension), Adds::Time)
    }

    /// The time below which a share of the rows' times lies, 0 to 1.
    #[must_use]
    pub const fn percentile(key: &'static str, title: &'static str, share: f64) -> Self {
        Self::new([key, title], Kind::Milliseconds, How::Percentile(share), Adds::Time).details()
    }

    /// Number of values of a dimension. Rows grouped by this dimension do not have the column.
    #[must_use]
    pub const fn distinct(dimension: &'static str, key: &'static str, title: &'static str) -> Self {
        Self::new([key, title], Kind::Count, How::Distinct(dimension), Adds::Row)
    }

    /// Number of rows by value of a dimension. Rows grouped by this dimension do not have the column.
    #[must_use]
    pub const fn counts(dimension: &'static str, key: &'static str, title: &'static str) -> Self {
        Self::new([key, title], Kind::Map, How::Counts(dimension), Adds::Row)
    }

    /// Sum of a figure by value of a dimension; not all rows have the figure. Rows grouped by this dimension do not have the column.
    #[must_use]
    pub const fn sums_by(
        dimension: &'static str,
        key: &'static str,
        title: &'static str,
        figure: fn(&R) -> Option<i64>,
    ) -> Self {
        Self::new([key, title], Kind::Map, How::SumsBy(dimension), Adds::Known(figure))
    }

    /// Number of rows by each text of a list that rows have. A table shows it with `--details` only.
    #[must_use]
    pub const fn texts(key: &'static str, title: &'static str, texts: TextsOf<R>) -> Self {
        Self::new([key, title], Kind::Map, How::Texts, Adds::Texts(texts)).details()
    }

    /// Number of rows that are alive when the time range begins. `is_older` is true of a row that is older than the recording.
    #[must_use]
    pub const fn alive_first(key: &'static str, title: &'static str, is_older: fn(&R) -> bool) -> Self {
        Self::new([key, title], Kind::Count, How::AliveFirst, Adds::AliveFirst(is_older))
    }

    /// Number of rows that are alive when the time range ends. `is_open` is true of a row that outlives the recording.
    #[must_use]
    pub const fn alive_last(key: &'static str, title: &'static str, is_open: fn(&R) -> bool) -> Self {
        Self::new([key, title], Kind::Count, How::AliveLast, Adds::AliveLast(is_open))
    }

    /// Number of rows that begin in the time range. `is_older` is true of a row that is older than the recording.
    #[must_use]
    pub const fn begun(key: &'static str, title: &'static str, is_older: fn(&R) -> bool) -> Self {
        Self::new([key, title], Kind::Count, How::Begun, Adds::Begun(is_older))
    }

    /// Number of rows that end in the time range. `is_open` is true of a row that outlives the recording.
    #[must_use]
    pub const fn over(key: &'static str, title: &'static str, is_open: fn(&R) -> bool) -> Self {
        Self::new([key, title], Kind::Count, How::Over, Adds::Over(is_open))
    }

    /// The largest number of rows that are alive at once in the time range: a row ends before another one begins in the same
    /// nanosecond. `is_open` is true of a row that outlives the recording.
    #[must_use]
    pub const fn peak(key: &'static str, title: &'static str, is_open: fn(&R) -> bool) -> Self {
        Self::new([key, title], Kind::Count, How::Peak, Adds::Alive(is_open, |_| 1))
    }

    /// Sum of a figure of the rows that begin in the time range. The figure is 0 of rows that do not count.
    #[must_use]
    pub const fn sum_begun(key: &'static str, title: &'static str, kind: Kind, figure: fn(&R) -> i64) -> Self {
        Self::new([key, title], kind, How::SumBegun, Adds::SumBegun(figure))
    }

    /// Sum of a figure of the rows that end in the time range.
    #[must_use]
    pub const fn sum_over(key: &'static str, title: &'static str, kind: Kind, figure: fn(&R) -> i64) -> Self {
        Self::new([key, title], kind, How::SumOver, Adds::SumOver(figure))
    }

    /// Sum of a figure of the rows that begin in the time range and are alive when it ends. `is_open` is true of a row that outlives
    /// the recording.
    #[must_use]
    pub const fn sum_left(
        key: &'static str,
        title: &'static str,
        kind: Kind,
        is_open: fn(&R) -> bool,
        figure: fn(&R) -> i64,
    ) -> Self {
        Self::new([key, title], kind, How::SumLeft, Adds::SumLeft(is_open, figure))
    }

    /// The largest sum of a figure of the rows that are alive at once in the time range, as of [`peak`](Self::peak). The figure is
    /// not negative. A question has one such measure, or one of `peak`.
    #[must_use]
    pub const fn sum_peak(
        key: &'static str,
        title: &'static str,
        kind: Kind,
        is_open: fn(&R) -> bool,
        figure: fn(&R) -> i64,
    ) -> Self {
        Self::new([key, title], kind, How::SumPeak, Adds::Alive(is_open, figure))
    }

    /// Number of tenths of the time range in which the sum of a figure grew, of the rows that are alive: how regular a leak is. A question
    /// that has a peak, too, has it of the same figure.
    #[must_use]
    pub const fn tenths(
        key: &'static str,
        title: &'static str,
        is_open: fn(&R) -> bool,
        figure: fn(&R) -> i64,
    ) -> Self {
        Self::new([key, title], Kind::Count, How::Tenths, Adds::Alive(is_open, figure))
    }

    /// A measure less another one. `of` has the keys of both.
    #[must_use]
    pub const fn difference(key: &'static str, title: &'static str, kind: Kind, of: [&'static str; 2]) -> Self {
        Self::new([key, title], kind, How::Difference(of), Adds::Nothing)
    }

    /// The same measure, which says something in groups of a dimension alone: rows with other values of it do not add up.
    #[must_use]
    pub const fn within(mut self, dimension: &'static str) -> Self {
        self.is.within = Some(dimension);
        self
    }

    /// The same measure with its meaning, for the documents.
    #[must_use]
    pub const fn meaning(mut self, help: &'static str) -> Self {
        self.is.column.help = help;
        self
    }

    /// The same measure; a table shows it with `--details` only.
    #[must_use]
    pub const fn details(mut self) -> Self {
        self.is.column.view = View::Details;
        self
    }

    /// The same measure, shown in no table: only programs read it.
    #[must_use]
    pub const fn machine(mut self) -> Self {
        self.is.column.view = View::Machine;
        self
    }

    /// The same measure, which `--sort` takes by these words.
    #[must_use]
    pub const fn sorted(mut self, words: &'static [&'static str]) -> Self {
        self.is.words = words;
        self
    }

    /// The same measure with options that keep groups by its figure. They change no total.
    #[must_use]
    pub const fn limited(mut self, options: [&'static str; 2], help: [&'static str; 2]) -> Self {
        self.is.limits = Some(GroupLimits { options, help });
        self
    }

    /// The same measure, whose total over all rows stands in the heading of a file.
    #[must_use]
    pub const fn total(mut self, label: &'static str) -> Self {
        self.is.total = Some(label);
        self
    }

    /// The same measure, whose sum over the groups stands in the heading of a file: for a union, which does not add up.
    #[must_use]
    pub const fn sum_of_groups(mut self, label: &'static str) -> Self {
        self.is.sum_of_groups = Some(label);
        self
    }
}
