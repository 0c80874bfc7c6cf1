//! Several time ranges that follow each other, so that one reading of the events serves all of them.

use std::ops::Range;

use tracesift_analysis::Span;

use tracesift_grammar::TimeRange;

/// Time ranges in ascending order, which do not overlap.
#[derive(Clone, Debug)]
pub(crate) struct TimeWindows {
    spans: Vec<Span>,
}

impl TimeWindows {
    /// These ranges.
    pub(crate) fn of(ranges: &[TimeRange]) -> Self {
        Self::inside(ranges, Span::ALL)
    }

    /// What of these ranges lies inside of a span.
    pub(crate) fn inside(ranges: &[TimeRange], whole: Span) -> Self {
        let cut = |range: &TimeRange| {
            let (start, end) = range.bounds();
            Span::new(start.max(whole.start), end.min(whole.end))
        };
        let spans: Vec<Span> = ranges.iter().map(cut).collect();
        debug_assert!(spans.windows(2).all(|pair| pair[0].end <= pair[1].start), "{spans:?}");
        Self { spans }
    }

    /// The ranges.
    pub(crate) fn spans(&self) -> &[Span] {
        &self.spans
    }

    /// From the start of the first to the end of the last; empty where there are none.
    pub(crate) fn all(&self) -> Span {
        match (self.spans.first(), self.spans.last()) {
            (Some(first), Some(last)) => Span::new(first.start, last.end),
            _ => Span::new(0, 0),
        }
    }

    /// What must be read for them; `None`: everything.
    pub(crate) fn bounds(&self) -> Option<Range<i64>> {
        self.all().if_bounded()
    }

    /// The place of the range that has an instant.
    #[inline]
    pub(crate) fn at(&self, time: i64) -> Option<usize> {
        let place = self.spans.partition_point(|span| span.end <= time);
        self.spans.get(place).filter(|span| span.contains(time)).map(|_| place)
    }

    /// The places of the ranges that a span touches, its ends included: a switch-in at the first instant of a range ends a span that lies
    /// before it.
    #[inline]
    pub(crate) fn touching(&self, start: i64, end: i64) -> Range<usize> {
        let from = self.spans.partition_point(|span| span.end < start);
        let to = self.spans.partition_point(|span| span.start <= end);
        from..to.max(from)
    }
}
