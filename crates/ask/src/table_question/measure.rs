//! Measures: what is added up over the rows of a group, and the column that shows it.

use super::dimension::TextsOf;
use crate::answer::{Column, Kind, View};

/// A figure of a group of rows.
#[derive(Debug)]
pub struct Measure<R: 'static> {
    /// The column.
    pub(super) column: Column,
    /// The words of `--sort` for it; none: nobody sorts by it.
    pub(super) words: &'static [&'static str],
    /// The arithmetic.
    pub(super) how: How<R>,
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

/// The thing that a row is about: its number, and a figure of it.
pub(super) type ThingOf<R> = fn(&R) -> Option<(i64, i64)>;

/// What becomes of the quotient of two measures.
#[derive(Clone, Copy, Debug)]
pub(super) enum Quotient {
    /// It is multiplied.
    Times(f64),
    /// The rest of the whole in percent: 0 where the part is larger.
    Left,
}

impl Quotient {
    /// The figure; the divisor is not 0.
    pub(super) fn figure(self, of: i64, by: i64) -> f64 {
        let quotient = of as f64 / by as f64;
        match self {
            Self::Times(factor) => quotient * factor,
            Self::Left => (1.0 - quotient).clamp(0.0, 1.0) * 100.0,
        }
    }
}

/// The arithmetic of a measure.
#[derive(Debug)]
pub(super) enum How<R: 'static> {
    /// Number of rows.
    Rows,
    /// Number of rows that fulfil a condition.
    RowsIf(fn(&R) -> bool),
    /// Number of rows of which a dimension is known.
    RowsWith(&'static str),
    /// Sum of a figure of the rows.
    Sum(fn(&R) -> i64),
    /// Sum of a figure that not all rows have; without any such row there is no sum.
    SumKnown(fn(&R) -> Option<i64>),
    /// Sum of a figure of things that rows are about, each thing once: number of the thing, and its figure. Without any there is no sum.
    SumOnce(ThingOf<R>),
    /// Sum of a figure of the rows that fulfil a condition: 0 without such rows; without one that has the figure there is no sum.
    SumOf(fn(&R) -> bool, fn(&R) -> Option<i64>),
    /// Sum of the times of the rows, each cut to the time range.
    Duration,
    /// Time that the rows cover, each cut to the time range: an instant counts once.
    Union,
    /// The shortest time of a row, cut to the time range.
    Shortest,
    /// The longest time of a row, cut to the time range.
    Longest,
    /// The begin of that row, cut to the time range.
    LongestStart,
    /// The begin of the first row, cut to the time range.
    First,
    /// The largest figure of a row.
    Max(fn(&R) -> Option<i64>),
    /// The figure of the only row that has one; where several rows have one it is not known.
    Only(fn(&R) -> Option<i64>),
    /// The smallest figure of a row.
    Min(fn(&R) -> Option<i64>),
    /// Mean of a figure, weighted with another one: both of each row.
    Weighted(fn(&R) -> Option<(i64, i64)>),
    /// One measure divided by another one, rounded down; both are named by their keys.
    Mean([&'static str; 2]),
    /// One measure divided by another one, and what becomes of the quotient: a number with a fraction.
    Ratio([&'static str; 2], Quotient),
    /// A measure divided by the length of the time range and multiplied: of time, how many rows are under way in the mean.
    PerTime(&'static str, f64),
    /// Share of the time range that the rows of each value of a dimension cover, in percent; of several values the mean.
    Covers(&'static str),
    /// A percentile of the times of the rows, each cut to the time range: from 0 to 1.
    Percentile(f64),
    /// Number of values of a dimension.
    Distinct(&'static str),
    /// Number of rows by value of a dimension, the most frequent value first.
    Counts(&'static str),
    /// Number of rows by each text of a list, the most frequent text first.
    Texts(TextsOf<R>),
    /// Number of rows that are alive when the time range begins. The condition tells of rows that are older than the recording.
    AliveFirst(fn(&R) -> bool),
    /// Number of rows that are alive when the time range ends. The condition tells of rows that outlive the recording.
    AliveLast(fn(&R) -> bool),
    /// Number of rows that begin in the time range; the condition as of `AliveFirst`.
    Begun(fn(&R) -> bool),
    /// Number of rows that end in the time range; the condition as of `AliveLast`.
    Over(fn(&R) -> bool),
    /// The largest number of rows that are alive at once in the time range; the condition as of `AliveLast`.
    Peak(fn(&R) -> bool),
    /// Sum of a figure of the rows that begin in the time range.
    SumBegun(fn(&R) -> i64),
    /// Sum of a figure of the rows that end in the time range.
    SumOver(fn(&R) -> i64),
    /// Sum of a figure of the rows that begin in the time range and are alive when it ends; the condition as of `AliveLast`.
    SumLeft(fn(&R) -> bool, fn(&R) -> i64),
    /// The largest sum of a figure of the rows that are alive at once in the time range; the condition as of `AliveLast`.
    SumPeak(fn(&R) -> bool, fn(&R) -> i64),
    /// Number of tenths of the time range in which the sum of a figure of the rows that are alive grew; the condition as of `AliveLast`.
    Tenths(fn(&R) -> bool, fn(&R) -> i64),
    /// One measure less another one; both are named by their keys.
    Difference([&'static str; 2]),
    /// Sum of a figure by value of a dimension, the largest sum first: the dimension, and the figure that not all rows have.
    SumsBy(&'static str, fn(&R) -> Option<i64>),
}

// By hand, since a measure can be copied whatever its rows are.
impl<R> Clone for How<R> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<R> Copy for How<R> {}

impl<R> How<R> {
    /// The dimension that the measure is about: in rows of one value of it the measure says nothing.
    pub(super) fn dimension(&self) -> Option<&'static str> {
        match self {
            Self::RowsWith(dimension)
            | Self::Distinct(dimension)
            | Self::Counts(dimension)
            | Self::SumsBy(dimension, _) => Some(dimension),
            _ => None,
        }
    }
}

impl<R> Measure<R> {
    const fn new(key: &'static str, title: &'static str, kind: Kind, how: How<R>) -> Self {
        let column = Column { key, title, kind, view: View::Always, help: "" };
        Self { column, words: &[], how, total: None, sum_of_groups: None, limits: None, within: None }
    }

    /// Number of rows.
    #[must_use]
    pub const fn rows(key: &'static str, title: &'static str) -> Self {
        Self::new(key, title, Kind::Count, How::Rows)
    }

    /// Number of rows that fulfil a condition.
    #[must_use]
    pub const fn rows_if(key: &'static str, title: &'static str, holds: fn(&R) -> bool) -> Self {
        Self::new(key, title, Kind::Count, How::RowsIf(holds))
    }

    /// Number of rows of which a dimension is known. Rows grouped by this dimension do not have the column.
    #[must_use]
    pub const fn rows_with(dimension: &'static str, key: &'static str, title: &'static str) -> Self {
        Self::new(key, title, Kind::Count, How::RowsWith(dimension))
    }

    /// Sum of a figure of the rows.
    #[must_use]
    pub const fn sum(key: &'static str, title: &'static str, kind: Kind, figure: fn(&R) -> i64) -> Self {
        Self::new(key, title, kind, How::Sum(figure))
    }

    /// Sum of a figure that not all rows have. Where no row has it, the column is empty.
    #[must_use]
    pub const fn sum_known(key: &'static str, title: &'static str, kind: Kind, figure: fn(&R) -> Option<i64>) -> Self {
        Self::new(key, title, kind, How::SumKnown(figure))
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
        Self::new(key, title, kind, How::SumOnce(figure))
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
        Self::new(key, title, kind, How::SumOf(is_of_kind, figure))
    }

    /// Sum of the times of the rows, each cut to the time range.
    #[must_use]
    pub const fn duration(key: &'static str, title: &'static str) -> Self {
        Self::new(key, title, Kind::Milliseconds, How::Duration)
    }

    /// Time that the rows cover, each cut to the time range: an instant counts once, however many rows it is in.
    #[must_use]
    pub const fn union(key: &'static str, title: &'static str) -> Self {
        Self::new(key, title, Kind::Milliseconds, How::Union)
    }

    /// The shortest time of a row, cut to the time range.
    #[must_use]
    pub const fn shortest(key: &'static str, title: &'static str) -> Self {
        Self::new(key, title, Kind::Milliseconds, How::Shortest)
    }

    /// The longest time of a row, cut to the time range.
    #[must_use]
    pub const fn longest(key: &'static str, title: &'static str) -> Self {
        Self::new(key, title, Kind::Milliseconds, How::Longest)
    }

    /// The begin of the row with the longest time; of several the first.
    #[must_use]
    pub const fn longest_start(key: &'static str, title: &'static str) -> Self {
        Self::new(key, title, Kind::Time, How::LongestStart).details()
    }

    /// The begin of the first row. Single rows in this order follow each other in time.
    #[must_use]
    pub const fn first(key: &'static str, title: &'static str) -> Self {
        Self::new(key, title, Kind::Time, How::First).details()
    }

    /// The largest figure of a row.
    #[must_use]
    pub const fn max(key: &'static str, title: &'static str, kind: Kind, figure: fn(&R) -> Option<i64>) -> Self {
        Self::new(key, title, kind, How::Max(figure))
    }

    /// The smallest figure of a row.
    #[must_use]
    pub const fn min(key: &'static str, title: &'static str, kind: Kind, figure: fn(&R) -> Option<i64>) -> Self {
        Self::new(key, title, kind, How::Min(figure))
    }

    /// The figure of the only row that has one, for figures of which several do not make one, such as medians.
    #[must_use]
    pub const fn only(key: &'static str, title: &'static str, kind: Kind, figure: fn(&R) -> Option<i64>) -> Self {
        Self::new(key, title, kind, How::Only(figure))
    }

    /// Mean of the first figure of the rows, weighted with the second one, rounded down. Weights are not negative.
    #[must_use]
    pub const fn weighted(
        key: &'static str,
        title: &'static str,
        kind: Kind,
        figures: fn(&R) -> Option<(i64, i64)>,
    ) -> Self {
        Self::new(key, title, kind, How::Weighted(figures))
    }

    /// A measure divided by another one, rounded down. `of` has the keys of both.
    #[must_use]
    pub const fn mean(key: &'static str, title: &'static str, kind: Kind, of: [&'static str; 2]) -> Self {
        Self::new(key, title, kind, How::Mean(of))
    }

    /// A measure divided by another one, times a factor. `of` has the keys of both.
    #[must_use]
    pub const fn ratio(key: &'static str, title: &'static str, digits: u8, of: [&'static str; 2], factor: f64) -> Self {
        Self::new(key, title, Kind::Number(digits), How::Ratio(of, Quotient::Times(factor)))
    }

    /// The share of a measure that another one leaves of it, in percent: `of` has the keys of the part that is gone and of the whole.
    #[must_use]
    pub const fn percent_left(key: &'static str, title: &'static str, of: [&'static str; 2]) -> Self {
        Self::new(key, title, Kind::Number(1), How::Ratio(of, Quotient::Left))
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
        Self::new(key, title, Kind::Number(2), How::PerTime(of, 1.0))
    }

    /// A measure of bytes divided by the length of the time range, in 1,000,000 bytes per second.
    #[must_use]
    pub const fn megabytes_per_second(key: &'static str, title: &'static str, of: &'static str) -> Self {
        /// So many bytes per nanosecond.
        const MEGABYTES_PER_SECOND: f64 = 1e3;
        Self::new(key, title, Kind::Number(1), How::PerTime(of, MEGABYTES_PER_SECOND))
    }

    /// A number of things divided by the length of the time range: how many per second.
    #[must_use]
    pub const fn per_second(key: &'static str, title: &'static str, of: &'static str) -> Self {
        /// So many nanoseconds.
        const SECOND: f64 = 1e9;
        Self::new(key, title, Kind::Number(1), How::PerTime(of, SECOND))
    }

    /// A measure of time in percent of the length of the time range.
    #[must_use]
    pub const fn percent_of_time(key: &'static str, title: &'static str, of: &'static str) -> Self {
        const PERCENT: f64 = 100.0;
        Self::new(key, title, Kind::Number(1), How::PerTime(of, PERCENT))
    }

    /// How much of the time range the rows of a value of a dimension cover, in percent. Where rows have several values it is the mean
    /// over the values.
    #[must_use]
    pub const fn covers(dimension: &'static str, key: &'static str, title: &'static str) -> Self {
        Self::new(key, title, Kind::Number(1), How::Covers(dimension))
    }

    /// The time below which a share of the rows' times lies, 0 to 1.
    #[must_use]
    pub const fn percentile(key: &'static str, title: &'static str, share: f64) -> Self {
        Self::new(key, title, Kind::Milliseconds, How::Percentile(share)).details()
    }

    /// Number of values of a dimension. Rows grouped by this dimension do not have the column.
    #[must_use]
    pub const fn distinct(dimension: &'static str, key: &'static str, title: &'static str) -> Self {
        Self::new(key, title, Kind::Count, How::Distinct(dimension))
    }

    /// Number of rows by value of a dimension. Rows grouped by this dimension do not have the column.
    #[must_use]
    pub const fn counts(dimension: &'static str, key: &'static str, title: &'static str) -> Self {
        Self::new(key, title, Kind::Map, How::Counts(dimension))
    }

    /// Sum of a figure by value of a dimension; not all rows have the figure. Rows grouped by this dimension do not have the column.
    #[must_use]
    pub const fn sums_by(
        dimension: &'static str,
        key: &'static str,
        title: &'static str,
        figure: fn(&R) -> Option<i64>,
    ) -> Self {
        Self::new(key, title, Kind::Map, How::SumsBy(dimension, figure))
    }

    /// Number of rows by each text of a list that rows have. A table shows it with `--details` only.
    #[must_use]
    pub const fn texts(key: &'static str, title: &'static str, texts: TextsOf<R>) -> Self {
        Self::new(key, title, Kind::Map, How::Texts(texts)).details()
    }

    /// Number of rows that are alive when the time range begins. `is_older` is true of a row that is older than the recording.
    #[must_use]
    pub const fn alive_first(key: &'static str, title: &'static str, is_older: fn(&R) -> bool) -> Self {
        Self::new(key, title, Kind::Count, How::AliveFirst(is_older))
    }

    /// Number of rows that are alive when the time range ends. `is_open` is true of a row that outlives the recording.
    #[must_use]
    pub const fn alive_last(key: &'static str, title: &'static str, is_open: fn(&R) -> bool) -> Self {
        Self::new(key, title, Kind::Count, How::AliveLast(is_open))
    }

    /// Number of rows that begin in the time range. `is_older` is true of a row that is older than the recording.
    #[must_use]
    pub const fn begun(key: &'static str, title: &'static str, is_older: fn(&R) -> bool) -> Self {
        Self::new(key, title, Kind::Count, How::Begun(is_older))
    }

    /// Number of rows that end in the time range. `is_open` is true of a row that outlives the recording.
    #[must_use]
    pub const fn over(key: &'static str, title: &'static str, is_open: fn(&R) -> bool) -> Self {
        Self::new(key, title, Kind::Count, How::Over(is_open))
    }

    /// The largest number of rows that are alive at once in the time range: a row ends before another one begins in the same
    /// nanosecond. `is_open` is true of a row that outlives the recording.
    #[must_use]
    pub const fn peak(key: &'static str, title: &'static str, is_open: fn(&R) -> bool) -> Self {
        Self::new(key, title, Kind::Count, How::Peak(is_open))
    }

    /// Sum of a figure of the rows that begin in the time range. The figure is 0 of rows that do not count.
    #[must_use]
    pub const fn sum_begun(key: &'static str, title: &'static str, kind: Kind, figure: fn(&R) -> i64) -> Self {
        Self::new(key, title, kind, How::SumBegun(figure))
    }

    /// Sum of a figure of the rows that end in the time range.
    #[must_use]
    pub const fn sum_over(key: &'static str, title: &'static str, kind: Kind, figure: fn(&R) -> i64) -> Self {
        Self::new(key, title, kind, How::SumOver(figure))
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
        Self::new(key, title, kind, How::SumLeft(is_open, figure))
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
        Self::new(key, title, kind, How::SumPeak(is_open, figure))
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
        Self::new(key, title, Kind::Count, How::Tenths(is_open, figure))
    }

    /// A measure less another one. `of` has the keys of both.
    #[must_use]
    pub const fn difference(key: &'static str, title: &'static str, kind: Kind, of: [&'static str; 2]) -> Self {
        Self::new(key, title, kind, How::Difference(of))
    }

    /// Whether the measure says something about groups of the dimensions with these names.
    pub(super) fn is_of<'a>(&self, mut by: impl Iterator<Item = &'a str> + Clone) -> bool {
        self.how.dimension().is_none_or(|about| by.clone().all(|by| by != about))
            && self.within.is_none_or(|within| by.any(|by| by == within))
    }

    /// The same measure, which says something in groups of a dimension alone: rows with other values of it do not add up.
    #[must_use]
    pub const fn within(mut self, dimension: &'static str) -> Self {
        self.within = Some(dimension);
        self
    }

    /// The same measure with its meaning, for the documents.
    #[must_use]
    pub const fn meaning(mut self, help: &'static str) -> Self {
        self.column.help = help;
        self
    }

    /// The same measure; a table shows it with `--details` only.
    #[must_use]
    pub const fn details(mut self) -> Self {
        self.column.view = View::Details;
        self
    }

    /// The same measure, shown in no table: only programs read it.
    #[must_use]
    pub const fn machine(mut self) -> Self {
        self.column.view = View::Machine;
        self
    }

    /// The same measure, which `--sort` takes by these words.
    #[must_use]
    pub const fn sorted(mut self, words: &'static [&'static str]) -> Self {
        self.words = words;
        self
    }

    /// The same measure with options that keep groups by its figure. They change no total.
    #[must_use]
    pub const fn limited(mut self, options: [&'static str; 2], help: [&'static str; 2]) -> Self {
        self.limits = Some(GroupLimits { options, help });
        self
    }

    /// The same measure, whose total over all rows stands in the heading of a file.
    #[must_use]
    pub const fn total(mut self, label: &'static str) -> Self {
        self.total = Some(label);
        self
    }

    /// The same measure, whose sum over the groups stands in the heading of a file: for a union, which does not add up.
    #[must_use]
    pub const fn sum_of_groups(mut self, label: &'static str) -> Self {
        self.sum_of_groups = Some(label);
        self
    }
}
