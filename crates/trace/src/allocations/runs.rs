//! Addresses that are in use, as ranges that do not touch each other.

use std::collections::BTreeMap;
use std::ops::Range;

/// Start of a range → its end.
#[derive(Debug, Default)]
pub(super) struct Runs(BTreeMap<u64, u64>);

impl Runs {
    /// Adds a range that is not empty. `gaps` gets the parts of it that were not there, in the order of addresses.
    pub(super) fn add(&mut self, range: Range<u64>, gaps: &mut Vec<Range<u64>>) {
        let before = self.0.range(..=range.start).next_back().map(|(start, end)| (*start, *end));
        let (start, mut end) = before.filter(|(_, end)| *end >= range.start).unwrap_or((range.start, range.start));
        if end >= range.end {
            return;
        }
        while end <= range.end {
            let next = self.0.range(end..=range.end).next().map(|(start, end)| (*start, *end));
            let Some((next, its_end)) = next else { break };
            if end < next {
                gaps.push(end..next);
            }
            self.0.remove(&next);
            end = its_end;
        }
        if end < range.end {
            gaps.push(end..range.end);
            end = range.end;
        }
        self.0.insert(start, end);
    }

    /// Takes a range away.
    pub(super) fn remove(&mut self, range: &Range<u64>) {
        if range.is_empty() {
            return;
        }
        let before = self.0.range(..range.start).next_back().map(|(start, end)| (*start, *end));
        if let Some((start, end)) = before.filter(|(_, end)| *end > range.start) {
            self.0.insert(start, range.start);
            if end > range.end {
                self.0.insert(range.end, end);
            }
        }
        while let Some((start, end)) = self.0.range(range.clone()).next().map(|(start, end)| (*start, *end)) {
            self.0.remove(&start);
            if end > range.end {
                self.0.insert(range.end, end);
            }
        }
    }
}
