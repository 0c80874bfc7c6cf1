//! Rows that are made as columns away from the writer: another thread makes them, and the writer appends them in parts.

use std::ops::Range;

use crate::collected::BLOCK;
use crate::table::{RowBuilder, Table};

/// Rows of one table as columns, made away from the writer and appended to it in parts, such as by
/// [`SchedulingTables::switches`](crate::SchedulingTables::switches).
///
/// Rows are pushed, the block is sealed, and then its rows can be appended, in any ranges and as often as needed. After
/// [`Self::clear`] it takes other rows. The ids of stacks are provisional: whoever appends rows says which stacks they
/// are.
pub struct RowBlock<T: Table> {
    /// Some KiB, which would be moved along with the block.
    builder: Box<RowBuilder<T>>,
    rows: usize,
    sealed: bool,
    /// The bytes of texts and lists of all rows up to each one; empty while no row has any, as in most tables.
    bytes: Vec<usize>,
}

impl<T: Table> Default for RowBlock<T> {
    fn default() -> Self {
        Self { builder: Box::default(), rows: 0, sealed: false, bytes: Vec::new() }
    }
}

impl<T: Table> RowBlock<T> {
    /// Appends a row. Not to be called between [`Self::seal`] and [`Self::clear`]: its columns would not fit together.
    #[inline]
    pub fn push(&mut self, row: &T) {
        debug_assert!(!self.sealed, "a sealed block takes no row");
        let place = self.rows % BLOCK;
        let bytes = self.builder.push(row, place);
        if bytes > 0 || !self.bytes.is_empty() {
            self.count(bytes);
        }
        self.rows += 1;
        if place == BLOCK - 1 {
            self.builder.end_block(BLOCK);
        }
    }

    /// Notes the bytes of the row that is being pushed.
    fn count(&mut self, bytes: usize) {
        // There are none up to the first row that has some.
        self.bytes.resize(self.rows, 0);
        self.bytes.push(self.bytes.last().copied().unwrap_or_default() + bytes);
    }

    /// The number of rows.
    #[must_use]
    pub fn len(&self) -> usize {
        self.rows
    }

    /// Whether it has no rows.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.rows == 0
    }

    /// Says that all rows have been pushed: now they can be appended to a writer.
    pub fn seal(&mut self) {
        if !std::mem::replace(&mut self.sealed, true) && !self.rows.is_multiple_of(BLOCK) {
            self.builder.end_block(self.rows % BLOCK);
        }
    }

    /// Forgets the rows and keeps their memory, so that the block can take other rows.
    pub fn clear(&mut self) {
        self.builder.clear();
        self.bytes.clear();
        (self.rows, self.sealed) = (0, false);
    }

    /// The columns of the rows.
    pub(crate) fn builder(&self) -> &RowBuilder<T> {
        &self.builder
    }

    /// Those of `rows` that there are. The block is sealed, or its last rows cannot be read.
    pub(crate) fn readable(&self, rows: Range<usize>) -> Range<usize> {
        debug_assert!(self.sealed, "rows are appended when all of them are there");
        let end = if self.sealed { self.rows } else { self.rows - self.rows % BLOCK };
        rows.start..rows.end.min(end)
    }

    /// The bytes of texts and lists of these rows.
    pub(crate) fn bytes_of(&self, rows: &Range<usize>) -> usize {
        self.bytes_up_to(rows.end) - self.bytes_up_to(rows.start)
    }

    fn bytes_up_to(&self, row: usize) -> usize {
        row.checked_sub(1).and_then(|last| self.bytes.get(last)).copied().unwrap_or_default()
    }

    /// The first of `rows`, up to the one with which they have so many bytes of texts and lists; all when they have
    /// less.
    pub(crate) fn until_bytes(&self, rows: Range<usize>, bytes: usize) -> Range<usize> {
        let before = self.bytes_up_to(rows.start);
        match self.bytes.get(rows.clone()) {
            None => rows,
            Some(sums) => {
                let fewer = sums.partition_point(|sum| sum - before < bytes);
                rows.start..rows.end.min(rows.start + fewer + 1)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use arrow_array::Array as _;
    use proptest::prelude::*;
    use tracesift_testing::archive::{Random, sample_batch};
    use tracesift_trace::rows::*;
    use tracesift_trace::schema::Row as _;
    use tracesift_trace::{StackId, ThreadId, every_table};

    use super::RowBlock;
    use crate::batch::{Batch, Columns, rows_of};
    use crate::table::Table;

    /// The batches of rows that are pushed one by one.
    fn pushed<T: Table>(rows: &[T], capacity: usize) -> Vec<Columns> {
        let mut batch = Batch::new(capacity);
        let mut full: Vec<Columns> = rows.iter().filter_map(|row| batch.push(row)).collect();
        full.extend(batch.take());
        full
    }

    /// Compares batches of rows that are pushed with those of the same rows in parts: some are pushed, the others
    /// appended through a block that is used again and again. `made` has places of stacks, `settled` the stacks.
    fn in_parts<T: Table>(made: &[T], settled: &[T], stacks: &[Option<StackId>], random: &mut Random) {
        let capacity = [1, 63, 64, 100, 1_000, 30_000][random.below(6)];
        let mut block = RowBlock::default();
        let (mut batch, mut full) = (Batch::new(capacity), Vec::new());
        let mut next = 0;
        while next < made.len() {
            let end = made.len().min(next + random.below(700));
            block.clear();
            made[next..end].iter().for_each(|row| block.push(row));
            block.seal();
            assert_eq!((block.len(), block.is_empty()), (end - next, end == next));
            let start = next;
            while next < end {
                let longest = [5, 100, 600][random.below(3)];
                let part = next..end.min(next + 1 + random.below(longest));
                next = part.end;
                if random.below(3) == 0 {
                    full.extend(settled[part].iter().filter_map(|row| batch.push(row)));
                } else {
                    batch.append_block(&block, part.start - start..part.end - start, stacks, |batch| full.push(batch));
                }
            }
        }
        full.extend(batch.take());
        assert_same(&full, &pushed(settled, capacity));
    }

    /// Whether all columns have the same values, those below nulls too.
    fn assert_same(batches: &[Columns], expected: &[Columns]) {
        let rows = |batches: &[Columns]| batches.iter().map(|batch| batch.rows).collect::<Vec<_>>();
        assert_eq!(rows(batches), rows(expected));
        for (batch, expected) in batches.iter().zip(expected) {
            for (place, (column, expected)) in batch.columns.iter().zip(&expected.columns).enumerate() {
                let name = batch.table.columns[place].name;
                assert!(column == expected, "{name} of {}", batch.table.name);
                let (column, expected) = (column.to_data(), expected.to_data());
                assert!(column.buffers() == expected.buffers(), "{name} of {}", batch.table.name);
                assert_eq!(column.nulls().is_some(), expected.nulls().is_some(), "{name}");
            }
        }
    }

    /// A switch that has about so many tenths of its values.
    fn switch(random: &mut Random, tenths: usize) -> ContextSwitchRow {
        macro_rules! maybe {
            ($value:expr) => {
                (random.below(10) < tenths).then(|| $value)
            };
        }
        ContextSwitchRow {
            time: random.integer(i64::MIN, i64::MAX),
            cpu: maybe!(random.integer(i16::MIN, i16::MAX)),
            thread: ThreadId(random.integer(0, i32::MAX)),
            prev_thread: maybe!(ThreadId(random.integer(0, i32::MAX))),
            ready_time: maybe!(random.integer(i64::MIN, i64::MAX)),
            off_state: maybe!(random.integer(i8::MIN, i8::MAX)),
            wait_stack: maybe!(StackId(random.integer(-1, 60))),
            ready_stack: maybe!(StackId(random.integer(-1, 60))),
            flags: random.integer(i16::MIN, i16::MAX),
            ..ContextSwitchRow::default()
        }
    }

    /// Runs of switches: without values that can be null, with few, some or all of them, and with lists that fill a
    /// batch.
    fn switches(random: &mut Random, runs: &[(usize, usize)]) -> Vec<ContextSwitchRow> {
        let mut rows = Vec::new();
        for (kind, length) in runs {
            for _ in 0..*length {
                let mut row = switch(random, [0, 1, 5, 10, 5, 5][*kind]);
                row.counters = match kind {
                    4 if random.below(3) > 0 => Some(vec![random.integer(0, i64::MAX); random.below(5)]),
                    5 if random.below(9) == 0 => Some(vec![random.integer(0, i64::MAX); random.below(200_000)]),
                    _ => None,
                };
                rows.push(row);
            }
        }
        rows
    }

    fn stack_of(stacks: &[Option<StackId>], place: StackId) -> Option<StackId> {
        stacks.get(usize::try_from(place.0).ok()?).copied().flatten()
    }

    fn random_stacks(random: &mut Random) -> Vec<Option<StackId>> {
        (0..50).map(|_| (random.below(4) > 0).then(|| StackId(random.integer(0, i32::MAX)))).collect()
    }

    fn settled(rows: &[ContextSwitchRow], stacks: &[Option<StackId>]) -> Vec<ContextSwitchRow> {
        let mut rows = rows.to_vec();
        for row in &mut rows {
            row.wait_stack = row.wait_stack.and_then(|place| stack_of(stacks, place));
            row.ready_stack = row.ready_stack.and_then(|place| stack_of(stacks, place));
        }
        rows
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(96))]

        #[test]
        fn rows_of_blocks_are_as_if_pushed(
            seed: u64,
            nulls in 0..300_usize,
            runs in prop::collection::vec((0..5_usize, 1..200_usize), 0..12),
        ) {
            let mut random = Random(seed);
            let stacks = random_stacks(&mut random);
            let rows = switches(&mut random, &[&[(0, nulls)], runs.as_slice()].concat());
            in_parts(&rows, &settled(&rows, &stacks), &stacks, &mut random);
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(12))]

        #[test]
        fn long_lists_cut_batches_at_the_same_rows(
            seed: u64,
            runs in prop::collection::vec((4..6_usize, 1..60_usize), 1..8),
        ) {
            let mut random = Random(seed);
            let rows = switches(&mut random, &runs);
            in_parts(&rows, &settled(&rows, &[]), &[], &mut random);
        }

        #[test]
        fn samples_of_blocks_are_as_if_pushed(seed: u64, count in 0..1_000_usize) {
            let mut random = Random(seed);
            let stacks = random_stacks(&mut random);
            let mut rows: Vec<CpuSampleRow> =
                rows_of(&sample_batch(CpuSampleRow::TABLE, seed, count)).expect("rows");
            rows.iter_mut().for_each(|row| row.stack = row.stack.map(|place| StackId(place.0 % 60)));
            let mut settled = rows.clone();
            settled.iter_mut().for_each(|row| row.stack = row.stack.and_then(|place| stack_of(&stacks, place)));
            in_parts(&rows, &settled, &stacks, &mut random);
        }
    }

    /// Compares rows of a table, whose stacks are unknown, with rows that are pushed.
    fn compare<T: Table>(seed: u64) {
        let rows: Vec<T> = rows_of(&sample_batch(T::TABLE, seed, 200)).expect("rows");
        let mut block = RowBlock::default();
        rows.iter().for_each(|row| block.push(row));
        block.seal();
        let (mut batch, mut full) = (Batch::new(170), Vec::new());
        for part in [0..3, 3..3, 3..70, 70..135, 135..1_000] {
            batch.append_block(&block, part, &[], |batch| full.push(batch));
        }
        full.extend(batch.take());
        let mut expected = pushed(&rows, 170);
        for (batch, expected) in full.iter_mut().zip(&mut expected) {
            for (place, column) in T::TABLE.columns.iter().enumerate() {
                if column.nullable && column.name.ends_with("stack") {
                    assert_eq!(batch.columns[place].null_count(), batch.rows, "{}", column.name);
                    expected.columns[place] = batch.columns[place].clone();
                }
            }
        }
        assert_same(&full, &expected);
    }

    #[test]
    fn rows_of_all_tables_can_be_appended() {
        macro_rules! compare_each {
            ($($row:ident),+) => { $( (0..4).for_each(compare::<$row>); )+ };
        }
        every_table!(compare_each);
    }

    #[test]
    fn a_block_goes_to_another_thread() {
        fn goes<T: Send>(_: &T) {}
        goes(&RowBlock::<ContextSwitchRow>::default());
        goes(&RowBlock::<ProcessRow>::default());
    }
}
