//! Rows around a range of time: those from which can be told what threads and CPUs do in it.
//!
//! The row groups of the range, the one before it, the one behind it and the index of long spans have them, and very many others. Of
//! these a thread and a CPU need the nearest ones alone, so no other is made into a row.

use std::ops::{ControlFlow, Range};

use arrow_array::RecordBatch;
use arrow_array::types::{Int16Type, Int32Type, Int64Type};
use tracesift_trace::ThreadId;
use tracesift_trace::rows::switch_flags;
use tracesift_trace::schema::ColumnSet;

use crate::error::Error;
use crate::few::Few;
use crate::reader::{Archive, Wanted, show};
use crate::table::{Readable, Table, table_of};
use crate::view::{PrimitiveView, primitive};

impl Archive {
    /// Shows `visit` the rows from which can be told what each thread and each CPU does in a range of time, in their order: at
    /// least those that touch it, the last one before it and the first one behind it of each thread and of each CPU, and the
    /// first one of each CPU. Where an archive has no index by which these are found, and without a range, it shows all rows of
    /// the table.
    ///
    /// # Errors
    /// As [`Self::scan`].
    pub fn scan_around<V: Readable>(&self, time: Option<Range<i64>>, visit: impl FnMut(&V)) -> Result<(), Error> {
        self.show_around(time, None, visit)
    }

    /// As [`Self::scan_around`], for somebody who asks what some threads do: shows at least the rows of these threads, and the first row
    /// of each CPU.
    ///
    /// # Errors
    /// As [`Self::scan`].
    pub fn scan_around_threads<V: Readable>(
        &self,
        time: Option<Range<i64>>,
        threads: impl IntoIterator<Item = ThreadId>,
        visit: impl FnMut(&V),
    ) -> Result<(), Error> {
        self.show_around(time, Some(Few::of(threads.into_iter().map(|thread| thread.0))), visit)
    }

    fn show_around<V: Readable>(
        &self,
        time: Option<Range<i64>>,
        threads: Option<Few>,
        mut visit: impl FnMut(&V),
    ) -> Result<(), Error> {
        let wanted = Wanted { around: true, time, ..Wanted::default() };
        let mut nearest = self.near(table_of::<V>(), &wanted)?.and_then(|_| wanted.nearest());
        if let Some(nearest) = &mut nearest {
            nearest.threads = threads;
        }
        let Some(mut scan) = self.start_scan(ColumnSet::<V>::ALL, wanted, None)? else { return Ok(()) };
        let mut visit = |row: &V| {
            visit(row);
            ControlFlow::Continue(())
        };
        while let Some(batch) = scan.next()? {
            let shown = match nearest.as_mut().and_then(|nearest| nearest.of(&batch)) {
                Some(rows) => show(&batch, ColumnSet::ALL, rows.iter().copied(), &mut visit),
                None => show(&batch, ColumnSet::ALL, 0..batch.num_rows(), &mut visit),
            };
            if shown.map_err(|reason| Error::corrupt(scan.path(), reason))?.is_break() {
                break;
            }
        }
        Ok(())
    }

    /// As [`Self::scan_around`], the last row first.
    ///
    /// # Errors
    /// As [`Self::scan`].
    pub fn scan_around_backwards<V: Readable>(
        &self,
        time: Option<Range<i64>>,
        mut visit: impl FnMut(&V),
    ) -> Result<(), Error> {
        self.show_backwards(Wanted { around: true, time, ..Wanted::default() }, &mut |row: &V| {
            visit(row);
            ControlFlow::Continue(())
        })
    }

    /// Rows of the row groups that [`Self::scan_around`] reads for a range of time.
    ///
    /// # Errors
    /// As [`Self::scan`].
    pub fn rows_around<T: Table>(&self, time: Range<i64>) -> Result<u64, Error> {
        let wanted = Wanted { around: true, time: Some(time), ..Wanted::default() };
        Ok(self.prepare_scan(T::TABLE, &[], &wanted, None)?.map_or(0, |scan| scan.rows()))
    }

    /// Rows of the row groups that [`Self::scan`] reads for a range of time.
    ///
    /// # Errors
    /// As [`Self::scan`].
    pub fn rows_touching<T: Table>(&self, time: Range<i64>) -> Result<u64, Error> {
        let wanted = Wanted { time: Some(time), ..Wanted::default() };
        Ok(self.prepare_scan(T::TABLE, &[], &wanted, None)?.map_or(0, |scan| scan.rows()))
    }
}

/// Chooses among the rows of switches: of those that end before a range, and of those that begin behind it, the nearest ones of each
/// thread and of each CPU in a batch.
#[derive(Debug)]
pub(crate) struct Nearest {
    time: Range<i64>,
    /// Those whose rows count; `None`: all.
    threads: Option<Few>,
    near: Met,
    first_of_cpus: Marks,
    /// Whether each row of a batch is chosen.
    is_chosen: Vec<bool>,
    rows: Vec<usize>,
}

impl Nearest {
    pub(crate) fn new(time: Range<i64>) -> Self {
        let (near, first_of_cpus) = (Met::default(), Marks::default());
        Self { time, threads: None, near, first_of_cpus, is_chosen: Vec::new(), rows: Vec::new() }
    }

    /// The chosen rows of a batch, in ascending order; `None`: all of them, since nothing tells whose they are.
    pub(crate) fn of(&mut self, batch: &RecordBatch) -> Option<&[usize]> {
        let columns = Columns::of(batch)?;
        let rows = batch.num_rows();
        self.is_chosen.clear();
        self.is_chosen.resize(rows, false);
        self.first_of_cpus.forget();
        self.near.forget();
        let counts = |row: usize| {
            let of_these = |threads: &Few| columns.thread.get(row).is_none_or(|thread| threads.has(thread));
            self.threads.as_ref().is_none_or(of_these)
        };
        let are_before = columns.time.largest().is_some_and(|last| last < self.time.start);
        // Most rows are of threads that do not count, or lie in the range: few columns tell it.
        for row in 0..rows {
            // The first one of each CPU that tells who ran before is needed, wherever it is.
            let is_first = self.first_of_cpus.is_new(columns.left_cpu(row));
            let is_near = !are_before
                && counts(row)
                && if columns.off_time.get(row).is_some_and(|off| off > self.time.end) {
                    self.near.is_new(columns.row(row))
                } else {
                    !columns.is_before(row, self.time.start)
                };
            self.is_chosen[row] = is_first || is_near;
        }
        self.near.forget();
        for row in (0..rows).rev().filter(|row| columns.is_before(*row, self.time.start) && counts(*row)) {
            self.is_chosen[row] |= self.near.is_new(columns.row(row));
        }
        self.rows.clear();
        self.rows.extend(self.is_chosen.iter().enumerate().filter(|(_, is_chosen)| **is_chosen).map(|(row, _)| row));
        Some(&self.rows)
    }
}

/// The columns of switches that tell whose a row is.
struct Columns {
    time: PrimitiveView<Int64Type>,
    off_time: PrimitiveView<Int64Type>,
    thread: PrimitiveView<Int32Type>,
    leaving: PrimitiveView<Int32Type>,
    cpu: PrimitiveView<Int16Type>,
    flags: PrimitiveView<Int16Type>,
}

/// Whose a row is.
#[derive(Clone, Copy, Debug)]
struct Whose {
    thread: Option<i32>,
    /// The thread that leaves the CPU.
    leaving: Option<i32>,
    cpu: Option<i32>,
    /// The CPU on which the thread is switched in.
    switched: Option<i32>,
}

impl Columns {
    /// `None`: the batch does not tell the time and the thread of its rows. What else is missing, the rows do not have.
    fn of(batch: &RecordBatch) -> Option<Self> {
        let columns = Self {
            time: primitive(batch, "time").ok()?,
            off_time: primitive(batch, "off_time").ok()?,
            thread: primitive(batch, "thread").ok()?,
            leaving: primitive(batch, "prev_thread").ok()?,
            cpu: primitive(batch, "cpu").ok()?,
            flags: primitive(batch, "flags").ok()?,
        };
        let is_missing = columns.time.is_missing() || columns.off_time.is_missing() || columns.thread.is_missing();
        (!is_missing).then_some(columns)
    }

    fn is_before(&self, row: usize, start: i64) -> bool {
        self.time.get(row).is_some_and(|time| time < start)
    }

    /// The CPU that a thread leaves.
    #[inline]
    fn left_cpu(&self, row: usize) -> Option<i32> {
        self.leaving.get(row).and_then(|_| self.cpu.get(row)).map(i32::from)
    }

    #[inline]
    fn row(&self, row: usize) -> Whose {
        let cpu = self.cpu.get(row).map(i32::from);
        let is_switch_in = self.flags.get(row).unwrap_or(0) & switch_flags::NO_SWITCH_IN == 0;
        let switched = cpu.filter(|_| is_switch_in);
        Whose { thread: self.thread.get(row), leaving: self.leaving.get(row), cpu, switched }
    }
}

/// Whose rows were met.
#[derive(Debug, Default)]
struct Met {
    threads: Marks,
    leaving: Marks,
    cpus: Marks,
    switched: Marks,
}

impl Met {
    fn forget(&mut self) {
        [&mut self.threads, &mut self.leaving, &mut self.cpus, &mut self.switched].into_iter().for_each(Marks::forget);
    }

    /// Whether a row is the first one of any that it is of.
    #[inline]
    fn is_new(&mut self, of: Whose) -> bool {
        // Each of them is noted.
        let (thread, leaving) = (self.threads.is_new(of.thread), self.leaving.is_new(of.leaving));
        let (cpu, switched) = (self.cpus.is_new(of.cpu), self.switched.is_new(of.switched));
        thread || leaving || cpu || switched
    }
}

/// Which numbers were met.
#[derive(Debug, Default)]
struct Marks {
    round: u32,
    /// By number the latest round in which it was met.
    met: Vec<u32>,
}

/// Larger numbers are new each time, so that a damaged archive does not take any memory it likes.
const MOST_MARKS: usize = 1 << 20;

impl Marks {
    fn forget(&mut self) {
        self.round = self.round.wrapping_add(1);
        if self.round == 0 {
            self.met.clear();
            self.round = 1;
        }
    }

    /// Whether a number is met for the first time.
    #[inline]
    fn is_new(&mut self, number: Option<i32>) -> bool {
        let Some(number) = number else { return false };
        let Some(place) = usize::try_from(number).ok().filter(|place| *place < MOST_MARKS) else { return true };
        if place >= self.met.len() {
            self.met.resize(place + 1, 0);
        }
        self.met.get_mut(place).is_some_and(|met| std::mem::replace(met, self.round) != self.round)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use arrow_array::{ArrayRef, Int16Array, Int32Array, Int64Array, RecordBatch};
    use proptest::prelude::*;
    use tracesift_trace::rows::switch_flags;

    use super::Nearest;
    use crate::few::Few;

    #[derive(Clone, Copy, Debug)]
    struct Row {
        off: i64,
        time: i64,
        thread: i32,
        leaving: Option<i32>,
        cpu: Option<i16>,
        flags: i16,
    }

    fn row() -> impl Strategy<Value = Row> {
        let flags = prop_oneof![Just(0), Just(switch_flags::OPEN_LEFT), Just(switch_flags::GAP)];
        let whose = (0_i32..5, prop::option::of(0_i32..5), prop::option::of(0_i16..3), flags);
        (0_i64..100, 0_i64..40, whose).prop_map(|(time, length, (thread, leaving, cpu, flags))| {
            let off = (time - length).max(0);
            Row { off, time, thread, leaving, cpu, flags }
        })
    }

    fn batch(rows: &[Row]) -> RecordBatch {
        let columns: [(&str, ArrayRef); 6] = [
            ("time", Arc::new(rows.iter().map(|row| row.time).collect::<Int64Array>())),
            ("off_time", Arc::new(rows.iter().map(|row| row.off).collect::<Int64Array>())),
            ("thread", Arc::new(rows.iter().map(|row| row.thread).collect::<Int32Array>())),
            ("prev_thread", Arc::new(rows.iter().map(|row| row.leaving).collect::<Int32Array>())),
            ("cpu", Arc::new(rows.iter().map(|row| row.cpu).collect::<Int16Array>())),
            ("flags", Arc::new(rows.iter().map(|row| row.flags).collect::<Int16Array>())),
        ];
        RecordBatch::try_from_iter_with_nullable(columns.map(|(name, column)| (name, column, true))).unwrap()
    }

    proptest! {
        #[test]
        fn rows_that_touch_and_the_nearest_ones_are_chosen(
            mut rows in prop::collection::vec(row(), 0..40),
            start in 0_i64..90,
            length in 0_i64..30,
        ) {
            rows.sort_by_key(|row| row.time);
            let end = start + length;
            let mut nearest = Nearest::new(start..end);
            let batch = batch(&rows);
            let first = nearest.of(&batch).unwrap().to_vec();
            // The second time nothing is left of the first one.
            let chosen = nearest.of(&batch).unwrap().to_vec();
            prop_assert_eq!(&first, &chosen);
            // Of some threads: as if the rows of the others were not there, but for the first ones of CPUs.
            nearest.threads = Some(Few::of([1, 3]));
            let of_some = nearest.of(&batch).unwrap().to_vec();
            let is_first = |place: usize| {
                let mut before = rows[..place].iter();
                rows[place].leaving.is_some()
                    && rows[place].cpu.is_some()
                    && !before.any(|row| row.cpu == rows[place].cpu && row.leaving.is_some())
            };
            for place in &chosen {
                let is_needed = matches!(rows[*place].thread, 1 | 3) || is_first(*place);
                prop_assert!(!is_needed || of_some.contains(place), "{place}");
            }
            for place in &of_some {
                prop_assert!(matches!(rows[*place].thread, 1 | 3) || is_first(*place), "{place}");
            }

            let places = || 0..rows.len();
            let mut expected: Vec<usize> =
                places().filter(|place| rows[*place].time >= start && rows[*place].off <= end).collect();
            for number in 0..5 {
                let cpu = i16::try_from(number).ok();
                let is_switch_in = |row: &Row| row.flags & switch_flags::NO_SWITCH_IN == 0;
                for is in [
                    &(|row: &Row| row.thread == number) as &dyn Fn(&Row) -> bool,
                    &|row: &Row| row.leaving == Some(number),
                    &|row: &Row| row.cpu == cpu,
                    &|row: &Row| row.cpu == cpu && is_switch_in(row),
                ] {
                    let is = |place: &usize| is(&rows[*place]);
                    expected.extend(places().rev().find(|place| rows[*place].time < start && is(place)));
                    expected.extend(places().find(|place| rows[*place].off > end && is(place)));
                }
                expected.extend(places().find(|place| rows[*place].cpu == cpu && rows[*place].leaving.is_some()));
            }
            expected.sort_unstable();
            expected.dedup();
            prop_assert_eq!(chosen, expected);
        }
    }
}
