//! The arithmetic of measures: how rows become a figure, and what a single row adds to it.

use tracesift_analysis::Span;

use super::dimension::TextsOf;

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
#[derive(Clone, Copy, Debug)]
pub(super) enum How {
    /// Number of rows.
    Rows,
    /// Number of rows that fulfil a condition.
    RowsIf,
    /// Number of rows of which a dimension is known.
    RowsWith(&'static str),
    /// Sum of a figure of the rows.
    Sum,
    /// Sum of a figure that not all rows have; without any such row there is no sum.
    SumKnown,
    /// Sum of a figure of the parts of the rows in the time range; without any part that has it there is no sum.
    SumInside,
    /// Sum of a figure of things that rows are about, each thing once. Without any there is no sum.
    SumOnce,
    /// Sum of a figure of the rows that fulfil a condition: 0 without such rows; without one that has the figure there is no sum.
    SumOf,
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
    Max,
    /// The figure of the only row that has one; where several rows have one it is not known.
    Only,
    /// The smallest figure of a row.
    Min,
    /// Mean of a figure, weighted with another one: both of each row.
    Weighted,
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
    Texts,
    /// Number of rows that are alive when the time range begins.
    AliveFirst,
    /// Number of rows that are alive when the time range ends.
    AliveLast,
    /// Number of rows that begin in the time range.
    Begun,
    /// Number of rows that end in the time range.
    Over,
    /// The largest number of rows that are alive at once in the time range.
    Peak,
    /// Time from the begin of the first row to the end of the last one, cut to the time range.
    Extent,
    /// How long the processes of the rows lived in the time range, each process once.
    Lives,
    /// Sum of a figure of the rows that begin in the time range.
    SumBegun,
    /// Sum of a figure of the rows that end in the time range.
    SumOver,
    /// Sum of a figure of the rows that begin in the time range and are alive when it ends.
    SumLeft,
    /// The largest sum of a figure of the rows that are alive at once in the time range.
    SumPeak,
    /// Number of tenths of the time range in which the sum of a figure of the rows that are alive grew.
    Tenths,
    /// One measure less another one; both are named by their keys.
    Difference([&'static str; 2]),
    /// Sum of a figure by value of a dimension, the largest sum first; not all rows have the figure.
    SumsBy(&'static str),
}

impl How {
    /// The dimension that the measure is about: in rows of one value of it the measure says nothing.
    pub(super) fn dimension(self) -> Option<&'static str> {
        match self {
            Self::RowsWith(dimension)
            | Self::Distinct(dimension)
            | Self::Counts(dimension)
            | Self::SumsBy(dimension) => Some(dimension),
            _ => None,
        }
    }
}

/// The thing that a row is about: its number, and a figure of it.
pub(super) type ThingOf<R> = fn(&R) -> Option<(i64, i64)>;

/// A figure of the part of a row in a time range.
pub(super) type InsideOf<R> = fn(&R, Span) -> Option<i64>;

/// What a row adds to a measure.
#[derive(Debug)]
pub(super) enum Adds<R: 'static> {
    /// Nothing: the measure is made of others.
    Nothing,
    /// Itself: it counts.
    Row,
    /// Its time.
    Time,
    /// 1, where it fulfils a condition.
    If(fn(&R) -> bool),
    /// 1, where its length is known, even if it counts in another range.
    WithLength(fn(&R) -> bool),
    /// A figure.
    Sum(fn(&R) -> i64),
    /// A figure that not all rows have.
    Known(fn(&R) -> Option<i64>),
    /// A figure of its part in the time range, even if it counts in another range; not all rows have it.
    Inside(InsideOf<R>),
    /// The thing that it is about.
    Once(ThingOf<R>),
    /// A figure, where it is of a kind; not all rows of the kind have it.
    OfKind(fn(&R) -> bool, fn(&R) -> Option<i64>),
    /// Its time, where its length is known.
    Duration,
    Shortest,
    Longest,
    /// Its begin and its end, where its length is known, even if it counts in another range.
    Extent,
    First,
    Max(fn(&R) -> Option<i64>),
    Min(fn(&R) -> Option<i64>),
    Only(fn(&R) -> Option<i64>),
    /// A figure and its weight.
    Weighted(fn(&R) -> Option<(i64, i64)>),
    /// Texts that count.
    Texts(TextsOf<R>),
    /// The condition tells of rows that are older than the recording.
    AliveFirst(fn(&R) -> bool),
    /// The condition tells of rows that outlive the recording.
    AliveLast(fn(&R) -> bool),
    /// The condition as of `AliveFirst`.
    Begun(fn(&R) -> bool),
    /// The condition as of `AliveLast`.
    Over(fn(&R) -> bool),
    /// Its begin, its end and a figure; the condition as of `AliveLast`.
    Alive(fn(&R) -> bool, fn(&R) -> i64),
    SumBegun(fn(&R) -> i64),
    SumOver(fn(&R) -> i64),
    /// The condition as of `AliveLast`.
    SumLeft(fn(&R) -> bool, fn(&R) -> i64),
}

// By hand, since functions can be copied whatever the rows are.
impl<R> Clone for Adds<R> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<R> Copy for Adds<R> {}
