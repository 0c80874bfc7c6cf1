//! Options that keep rows by other things than texts, and options that stand for a grouping.

use crate::answer::Kind;

/// An option that keeps rows by a figure of theirs.
#[derive(Debug)]
pub struct Limit<R: 'static> {
    /// What is known of it without a row.
    pub(super) is: LimitOptions,
    /// The figure, with nothing cut off by a time range.
    pub(super) figure: fn(&R) -> Option<i64>,
}

/// The options of a limit.
#[derive(Debug)]
pub(super) struct LimitOptions {
    /// The options, the lower and the upper limit, with their dashes.
    pub(super) options: [&'static str; 2],
    /// What the figure is: it decides the units that the options take.
    pub(super) kind: Kind,
    /// One sentence for the help of each.
    pub(super) help: [&'static str; 2],
}

impl<R> Limit<R> {
    /// Limits of a time, ms where no unit is given. `options` are such as `--min-duration` and `--max-duration`.
    #[must_use]
    pub const fn time(options: [&'static str; 2], figure: fn(&R) -> Option<i64>, help: [&'static str; 2]) -> Self {
        Self { is: LimitOptions { options, kind: Kind::Milliseconds, help }, figure }
    }

    /// Limits of an instant, ms where no unit is given. They are counted from the same zero as the times of `--time`.
    #[must_use]
    pub const fn instant(options: [&'static str; 2], figure: fn(&R) -> Option<i64>, help: [&'static str; 2]) -> Self {
        Self { is: LimitOptions { options, kind: Kind::Time, help }, figure }
    }

    /// Limits of a number of bytes.
    #[must_use]
    pub const fn bytes(options: [&'static str; 2], figure: fn(&R) -> Option<i64>, help: [&'static str; 2]) -> Self {
        Self { is: LimitOptions { options, kind: Kind::Bytes, help }, figure }
    }

    /// Limits of a number of things.
    #[must_use]
    pub const fn count(options: [&'static str; 2], figure: fn(&R) -> Option<i64>, help: [&'static str; 2]) -> Self {
        Self { is: LimitOptions { options, kind: Kind::Count, help }, figure }
    }
}

/// An option without a value that keeps the rows of which something is true.
#[derive(Debug)]
pub struct Condition<R: 'static> {
    /// With its dashes: `--timed-out`.
    pub option: &'static str,
    /// What is true of the rows that stay.
    pub holds: fn(&R) -> bool,
    /// One sentence for its help.
    pub help: &'static str,
}

/// Makes a row that the end of its process ended one that is open; `None`: it is another row.
pub(super) type AsOpen<R> = fn(&R) -> Option<R>;

/// What becomes of a row with `--include-exited`.
#[derive(Debug)]
pub struct Exited<R: 'static> {
    /// The row as if it were open; `None`: the end of its process did not end it.
    pub row: AsOpen<R>,
    /// One sentence for the help.
    pub help: &'static str,
}

/// An option that stands for a grouping.
#[derive(Clone, Copy, Debug)]
pub struct Shorthand {
    /// With its dashes: `--per-thread`.
    pub option: &'static str,
    /// The dimensions.
    pub by: &'static [&'static str],
    /// The word of `--sort` without that option; `None`: that of the question.
    pub sort: Option<&'static str>,
    /// One sentence for its help.
    pub help: &'static str,
}
