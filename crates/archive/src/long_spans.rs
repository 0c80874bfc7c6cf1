//! The index of long spans: which row groups of `context_switches` a range of time needs.
//!
//! The table is sorted by the ends of spans. A span that is under way in a range may end in any row group behind it, and a run
//! may begin in any row group before it. The table `long_spans` has a copy of every row for which that happens: one at an end of
//! a span or a run that covers a whole row group, and one at an end of such a time without a switch on a CPU. All others are in the row groups of the range, in the last one before it, or in the first
//! one behind it.

use std::ops::{ControlFlow, Range};
use std::sync::Arc;

use arrow_array::RecordBatch;
use arrow_array::types::Int64Type;
use arrow_buffer::BooleanBuffer;
use parquet::file::metadata::ParquetMetaData;
use tracesift_trace::rows::{ContextSwitchRow, LongSpanRow, ThreadRow, switch_flags};
use tracesift_trace::schema::{ColumnSet, Row as _};
use tracesift_trace::view;

use crate::error::Error;
use crate::reader::Archive;
use crate::scan::{Choice, Part, Scan, bounds_of};
use crate::view::{PrimitiveView, primitive};

/// Of an index with more than this part of all rows nobody would have anything.
const LARGEST_PART: u64 = 4;

/// The row groups of a table whose rows stand in the order of time.
#[derive(Debug)]
pub(crate) struct Groups(Vec<Group>);

#[derive(Clone, Copy, Debug)]
struct Group {
    /// Number of its first row.
    first_row: i64,
    /// Earliest and latest time.
    low: i64,
    high: i64,
}

/// What a range of time needs of a table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Near {
    /// The row groups to read.
    pub(crate) groups: Range<usize>,
    /// The rows before them and behind them, of which the index has those that matter.
    pub(crate) before: Range<i64>,
    pub(crate) behind: Range<i64>,
}

impl Groups {
    /// The row groups of `context_switches`; `None` where the statistics do not tell that they are in the order of time.
    pub(crate) fn of(metadata: &ParquetMetaData) -> Option<Self> {
        let (mut groups, mut first_row, mut before) = (Vec::new(), 0_i64, i64::MIN);
        for group in metadata.row_groups() {
            let (low, high) = bounds_of(group, "time").filter(|(low, high)| before <= *low && low <= high)?;
            groups.push(Group { first_row, low, high });
            first_row = first_row.checked_add(group.num_rows())?;
            before = high;
        }
        Some(Self(groups))
    }

    /// Where rows that matter to a range of time, both ends included, are.
    pub(crate) fn near(&self, first: i64, last: i64) -> Near {
        let groups = &self.0;
        let end = (groups.partition_point(|group| group.low <= last) + 1).min(groups.len());
        let start = groups.partition_point(|group| group.high < first).saturating_sub(1).min(end);
        Near { groups: start..end, before: 0..self.first_row(start), behind: self.first_row(end)..i64::MAX }
    }

    /// The rows of a group.
    pub(crate) fn rows_of(&self, group: usize) -> Range<i64> {
        self.first_row(group)..self.first_row(group.saturating_add(1))
    }

    fn first_row(&self, group: usize) -> i64 {
        self.0.get(group).map_or(i64::MAX, |group| group.first_row)
    }

    /// Whether a time, both ends included, has a whole row group in it.
    fn has_whole(&self, start: i64, end: i64) -> bool {
        let next = self.0.partition_point(|group| group.low < start);
        self.0.get(next).is_some_and(|group| group.high <= end)
    }
}

view! {
    /// How far a switch row reaches.
    #[derive(Clone, Copy, Debug)]
    struct Reach of ContextSwitchRow { time, cpu, thread, prev_thread, off_time, flags }
}

view! {
    /// The smallest column: rows are chosen by their number.
    #[derive(Clone, Copy, Debug)]
    struct Counted of ContextSwitchRow { flags }
}

view! {
    /// The life of a thread.
    #[derive(Clone, Copy, Debug)]
    struct Life of ThreadRow { thread, start, end }
}

/// What is known of a thread while its rows go by.
#[derive(Clone, Copy, Debug)]
struct Latest {
    /// Time of its latest row; before the first one the start of the thread.
    time: i64,
    row: Option<u64>,
    end: i64,
}

/// What is known of a CPU.
#[derive(Clone, Copy, Debug, Default)]
struct LatestOfCpu {
    /// Whether a thread has left it.
    is_left: bool,
    /// Time and row of its latest switch-in, and of its latest row of any kind.
    chains: [Option<(i64, u64)>; 2],
}

/// Finds the rows of the index.
struct Finder<'a> {
    groups: &'a Groups,
    threads: Vec<Latest>,
    cpus: Vec<LatestOfCpu>,
    time: i64,
    rows: u64,
    found: Marked,
}

impl Finder<'_> {
    /// Takes the next row. False where it contradicts others: then no row can be left out.
    fn row(&mut self, row: &Reach) -> bool {
        let number = self.rows;
        self.rows += 1;
        let latest = usize::try_from(row.thread.0).ok().and_then(|place| self.threads.get_mut(place));
        let Some(latest) = latest else { return false };
        let is_first = latest.row.is_none();
        if row.time < self.time || row.off_time > row.time || !is_first && row.off_time < latest.time {
            return false;
        }
        self.time = row.time;
        if self.groups.has_whole(latest.time.min(row.off_time), row.time) {
            self.found.mark(number);
        }
        if let Some(before) = latest.row
            && self.groups.has_whole(latest.time, row.off_time)
        {
            self.found.mark(before);
        }
        (latest.time, latest.row) = (row.time, Some(number));
        if let Some(cpu) = row.cpu.and_then(|cpu| self.cpus.get_mut(usize::from(cpu.cast_unsigned()))) {
            // Who leaves at the first switch of a CPU has run there before.
            if row.prev_thread.is_some() && !std::mem::replace(&mut cpu.is_left, true) {
                self.found.mark(number);
            }
            let is_switch_in = row.flags & switch_flags::NO_SWITCH_IN == 0;
            let chains = cpu.chains.iter_mut().zip([is_switch_in, true]);
            for (latest, _) in chains.filter(|(_, is_of_chain)| *is_of_chain) {
                let (since, before) = latest.map_or((i64::MIN, None), |(time, row)| (time, Some(row)));
                if self.groups.has_whole(since, row.time) {
                    before.into_iter().chain([number]).for_each(|row| self.found.mark(row));
                }
                *latest = Some((row.time, number));
            }
        }
        true
    }

    fn finish(mut self) -> Marked {
        for latest in &self.threads {
            if let Some(row) = latest.row
                && self.groups.has_whole(latest.time, latest.end)
            {
                self.found.mark(row);
            }
        }
        for (since, row) in self.cpus.iter().flat_map(|cpu| cpu.chains).flatten() {
            if self.groups.has_whole(since, i64::MAX) {
                self.found.mark(row);
            }
        }
        self.found
    }
}

/// Numbers of rows, a bit each.
#[derive(Clone, Debug, Default)]
struct Marked(Vec<u64>);

impl Marked {
    fn of_rows(rows: u64) -> Self {
        Self(vec![0; usize::try_from(rows / 64 + 1).unwrap_or_default()])
    }

    fn mark(&mut self, row: u64) {
        if let Some(word) = usize::try_from(row / 64).ok().and_then(|place| self.0.get_mut(place)) {
            *word |= 1 << (row % 64);
        }
    }

    fn has(&self, row: u64) -> bool {
        usize::try_from(row / 64)
            .ok()
            .and_then(|place| self.0.get(place))
            .is_some_and(|word| word >> (row % 64) & 1 == 1)
    }

    fn count(&self) -> u64 {
        self.0.iter().map(|word| u64::from(word.count_ones())).sum()
    }
}

impl Archive {
    /// Hands over the rows of the table `long_spans`: none if `context_switches` has few row groups, if its rows contradict
    /// each other or the thread table, or if too many of them reach far.
    ///
    /// # Errors
    /// A table cannot be read.
    pub fn find_long_spans(&self, write: &mut dyn FnMut(&LongSpanRow)) -> Result<(), Error> {
        // In two row groups every range is near both.
        let Some(groups) = self.switch_groups()?.filter(|groups| groups.0.len() > 2) else { return Ok(()) };
        let Some(found) = self.far_reaching(groups)? else { return Ok(()) };
        let (found, mut seen) = (Arc::new(found), 0);
        let chosen = Arc::clone(&found);
        let choose = move |_: &Counted| {
            seen += 1;
            chosen.has(seen - 1)
        };
        let mut next = 0;
        self.scan_needed(ColumnSet::ALL, None, Some(choose), |switch: &ContextSwitchRow| {
            while !found.has(next) && next < u64::MAX {
                next += 1;
            }
            write(&LongSpanRow::of(next.cast_signed(), switch.clone()));
            next += 1;
            ControlFlow::Continue(())
        })
    }

    fn far_reaching(&self, groups: &Groups) -> Result<Option<Marked>, Error> {
        let rows = self.row_count::<ContextSwitchRow>();
        let mut threads = Vec::new();
        let mut fits = true;
        self.scan(None, |life: &Life| {
            fits &= usize::try_from(life.thread.0).is_ok_and(|id| id == threads.len());
            let (start, end) = (life.start.unwrap_or(i64::MIN), life.end.unwrap_or(i64::MAX));
            threads.push(Latest { time: start, row: None, end });
        })?;
        let cpus = vec![LatestOfCpu::default(); 1 << 16];
        let mut finder = Finder { groups, threads, cpus, time: i64::MIN, rows: 0, found: Marked::of_rows(rows) };
        self.scan_while(None, |row: &Reach| {
            fits = fits && finder.row(row);
            if fits { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
        })?;
        let found = finder.finish();
        Ok(Some(found).filter(|found| fits && found.count() <= rows / LARGEST_PART))
    }

    /// The row groups of `context_switches`, where they are in the order of time.
    fn switch_groups(&self) -> Result<Option<&Groups>, Error> {
        let name = ContextSwitchRow::TABLE.name;
        let Some(file) = self.table_file(name) else { return Ok(None) };
        if let Some(known) = self.switch_groups.get() {
            return Ok(known.as_ref());
        }
        let (path, input) = self.input(file)?;
        let metadata = Scan::metadata(&path, &input, file)?;
        Ok(self.switch_groups.get_or_init(|| Groups::of(&metadata)).as_ref())
    }

    /// The row groups of a table if it has an index; `None`: all of its rows have to be looked at.
    pub(crate) fn indexed_groups(&self, table: &str) -> Result<Option<&Groups>, Error> {
        let is_indexed = table == ContextSwitchRow::TABLE.name && self.table_file(LongSpanRow::TABLE.name).is_some();
        if is_indexed { self.switch_groups() } else { Ok(None) }
    }

    /// A pass over those rows of the index that stand in `rows`, and that touch `time` if it is given.
    pub(crate) fn start_long_spans(
        &self,
        columns: &[&str],
        rows: Range<i64>,
        time: Option<Range<i64>>,
    ) -> Result<Option<Scan>, Error> {
        let name = LongSpanRow::TABLE.name;
        let Some(file) = self.table_file(name).filter(|_| !rows.is_empty()) else { return Ok(None) };
        let (path, input) = self.input(file)?;
        let accepts = move |batch: &RecordBatch| {
            let column = |name: &str| -> Result<PrimitiveView<Int64Type>, String> { primitive(batch, name) };
            let (number, start, end) = (column("row")?, column("off_time")?, column("time")?);
            // Rows stand in the order of their numbers, so that most batches have all or none of them.
            let (first, last) = (number.get(0), number.get(batch.num_rows().saturating_sub(1)));
            if first.is_none_or(|first| first >= rows.end) || last.is_none_or(|last| last < rows.start) {
                return Ok(BooleanBuffer::new_unset(batch.num_rows()));
            }
            Ok(BooleanBuffer::collect_bool(batch.num_rows(), |row| {
                let touches = |time: &Range<i64>| {
                    let starts = start.get(row).is_some_and(|start| start < time.end);
                    starts && end.get(row).is_some_and(|end| end > time.start)
                };
                number.get(row).is_some_and(|number| rows.contains(&number)) && time.as_ref().is_none_or(touches)
            }))
        };
        let columns_of_choice = vec!["row", "off_time", "time"];
        let choice = Choice { columns: columns_of_choice, by_number: false, accepts: Box::new(accepts) };
        Scan::start(path, input, file, LongSpanRow::TABLE, columns, Part::default(), Some(choice)).map(Some)
    }
}

#[cfg(test)]
mod tests {
    use super::{Group, Groups, Marked};

    fn groups(bounds: &[(i64, i64)]) -> Groups {
        let of =
            |(place, (low, high)): (usize, &(i64, i64))| Group { first_row: place as i64 * 10, low: *low, high: *high };
        Groups(bounds.iter().enumerate().map(of).collect())
    }

    #[test]
    fn a_range_needs_its_groups_and_one_on_each_side() {
        let groups = groups(&[(0, 9), (10, 19), (20, 29), (30, 39), (40, 49)]);
        let near = |first, last| groups.near(first, last).groups;
        assert_eq!(near(22, 27), 1..4);
        assert_eq!(near(20, 29), 1..4);
        assert_eq!(near(19, 30), 0..5);
        assert_eq!(near(-5, -1), 0..1);
        assert_eq!(near(60, 70), 4..5);
        assert_eq!(near(i64::MIN, i64::MAX), 0..5);
        let near = groups.near(22, 27);
        assert_eq!((near.before, near.behind), (0..10, 40..i64::MAX));
    }

    #[test]
    fn a_span_has_whole_groups_in_it() {
        let groups = groups(&[(0, 9), (10, 19), (20, 29)]);
        assert!(groups.has_whole(10, 19) && groups.has_whole(9, 20) && groups.has_whole(i64::MIN, 9));
        assert!(!groups.has_whole(1, 18) && !groups.has_whole(11, 28) && !groups.has_whole(21, i64::MAX));
    }

    #[test]
    fn marked_rows_are_counted() {
        let mut marked = Marked::of_rows(200);
        [0, 63, 64, 199, 199, 9_000].into_iter().for_each(|row| marked.mark(row));
        assert_eq!(marked.count(), 4);
        assert!(marked.has(63) && !marked.has(62) && !marked.has(9_000));
    }
}
