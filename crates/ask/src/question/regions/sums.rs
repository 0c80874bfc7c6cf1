//! Regions added up.

use tracesift_analysis::regions::LooseKind;
use tracesift_analysis::{Distribution, IntervalUnion, Span};

/// The regions of a row.
#[derive(Clone, Debug, Default)]
pub(super) struct Sums {
    count: i64,
    sum: i64,
    longest: Option<Span>,
    exclusive: i64,
    open: i64,
    stops: i64,
    ignored: i64,
    lengths: Vec<i64>,
    union: IntervalUnion,
}

/// The figures of a row.
#[derive(Clone, Debug, Default)]
pub(super) struct Figures {
    /// Regions with begin and end.
    pub(super) count: i64,
    /// Sum of their times, ns.
    pub(super) sum: i64,
    /// Time with at least one of them, ns.
    pub(super) union: i64,
    /// The longest one.
    pub(super) longest: Option<Span>,
    /// Sum of their times without those that lie in them, ns.
    pub(super) exclusive: i64,
    /// Regions without an end.
    pub(super) open: i64,
    /// Ends without a begin.
    pub(super) stops: i64,
    /// Begins that were ignored.
    pub(super) ignored: i64,
    /// Of the times, ns.
    pub(super) percentiles: [Option<i64>; PERCENTILES.len()],
}

/// Percentiles that are shown, from 0 to 1.
pub(super) const PERCENTILES: [f64; 3] = [0.5, 0.9, 0.99];

impl Sums {
    /// A region: its part in the time range, and the part of that in which none that lies in it runs.
    pub(super) fn region(&mut self, part: Span, exclusive: i64) {
        self.count += 1;
        self.sum = self.sum.saturating_add(part.length());
        self.exclusive = self.exclusive.saturating_add(exclusive);
        if self.longest.is_none_or(|longest| part.length() > longest.length()) {
            self.longest = Some(part);
        }
        self.lengths.push(part.length());
        self.union.add(part);
    }

    /// A region without an end.
    pub(super) fn open(&mut self) {
        self.open += 1;
    }

    /// An event that belongs to no region.
    pub(super) fn loose(&mut self, kind: LooseKind) {
        match kind {
            LooseKind::Stop => self.stops += 1,
            LooseKind::Ignored => self.ignored += 1,
        }
    }

    pub(super) fn figures(mut self) -> Figures {
        let lengths = Distribution::new(self.lengths);
        Figures {
            count: self.count,
            sum: self.sum,
            union: self.union.covered(),
            longest: self.longest,
            exclusive: self.exclusive,
            open: self.open,
            stops: self.stops,
            ignored: self.ignored,
            percentiles: PERCENTILES.map(|p| lengths.whole_percentile(p)),
        }
    }
}
