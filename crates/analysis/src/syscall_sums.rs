//! The table `syscall_summary`: sums of system calls.

use rustc_hash::FxHashMap;
use tracesift_trace::rows::{SyscallRow, SyscallSummaryRow};
use tracesift_trace::{FrameId, ProcessId, view};

view! {
    /// A system call.
    #[derive(Clone, Copy, Debug)]
    pub struct SummedCall of SyscallRow { time, start, process, number, result, error, frame }
}

/// Rows of the table, at most. A machine has hundreds of processes, each with a few dozen kinds of calls and a few errors. A recording
/// with more would have a table that is as slow to read as the calls, and take its memory.
const MOST: usize = 1 << 18;

/// What tells rows apart, in their order.
type Key = (ProcessId, i32, Option<FrameId>, Option<i64>);

/// Adds up system calls by process, call and error.
#[derive(Clone, Debug, Default)]
pub struct SyscallSums {
    sums: FxHashMap<Key, SyscallSummaryRow>,
    /// Whether there are too many.
    is_full: bool,
}

impl SyscallSums {
    /// Adds a call.
    pub fn add(&mut self, call: impl Into<SummedCall>) {
        let SummedCall { time, start, process, number, result, error, frame } = call.into();
        if self.is_full {
            return;
        }
        let length = time.saturating_sub(start).max(0);
        let first = || SyscallSummaryRow {
            process,
            number,
            frame,
            error,
            longest: -1,
            longest_start: start,
            first: start,
            ..SyscallSummaryRow::default()
        };
        let sum = self.sums.entry((process, number, frame, error)).or_insert_with(first);
        sum.calls += 1;
        sum.open += i64::from(result.is_none());
        sum.duration = sum.duration.saturating_add(length);
        sum.first = sum.first.min(start);
        if length > sum.longest || (length == sum.longest && start < sum.longest_start) {
            (sum.longest, sum.longest_start) = (length, start);
        }
        if self.sums.len() > MOST {
            (self.sums, self.is_full) = (FxHashMap::default(), true);
        }
    }

    /// The rows of the table; none of no calls, and none where there are too many.
    #[must_use]
    pub fn finish(self) -> Vec<SyscallSummaryRow> {
        let mut rows: Vec<_> = self.sums.into_values().collect();
        rows.sort_unstable_by_key(|row| (row.process, row.number, row.frame, row.error));
        rows
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn too_many_have_no_table() {
        let mut sums = SyscallSums::default();
        for number in 0..=MOST {
            sums.add(SummedCall { number: number as i32, ..call((0, 1), 0, 0, None) });
        }
        assert!(sums.is_full);
        sums.add(call((0, 1), 0, 0, None));
        assert_eq!(sums.finish(), []);
    }

    fn call((start, time): (i64, i64), process: i32, number: i32, ending: Option<Option<i64>>) -> SummedCall {
        let process = ProcessId(process);
        SummedCall { time, start, process, number, result: ending.map(|_| 0), error: ending.flatten(), frame: None }
    }

    proptest! {
        #[test]
        fn rows_are_sums_of_the_calls(
            parts in prop::collection::vec(
                ((0..50_i64, 0..9_i64), 0..3_i32, 0..3_i32, prop::option::of(prop::option::of(1..3_i64))), 0..60,
            ),
        ) {
            let calls: Vec<SummedCall> = parts
                .into_iter()
                .map(|((start, length), process, number, ending)| call((start, start + length), process, number, ending))
                .collect();
            let mut sums = SyscallSums::default();
            calls.iter().for_each(|call| sums.add(*call));
            let rows = sums.finish();
            prop_assert_eq!(rows.iter().map(|row| row.calls).sum::<i64>(), calls.len() as i64);
            let key = |row: &SyscallSummaryRow| (row.process, row.number, row.error);
            prop_assert!(rows.windows(2).all(|pair| key(&pair[0]) < key(&pair[1])));
            for row in &rows {
                let own: Vec<&SummedCall> = calls
                    .iter()
                    .filter(|call| (call.process, call.number, call.error) == key(row))
                    .collect();
                let lengths = || own.iter().map(|call| call.time - call.start);
                let longest = lengths().max().unwrap_or(-1);
                let of_longest = own.iter().filter(|call| call.time - call.start == longest).map(|call| call.start).min();
                let expected = SyscallSummaryRow {
                    process: row.process,
                    number: row.number,
                    frame: None,
                    error: row.error,
                    calls: own.len() as i64,
                    open: own.iter().filter(|call| call.result.is_none()).count() as i64,
                    duration: lengths().sum(),
                    longest,
                    longest_start: of_longest.unwrap_or(-1),
                    first: own.iter().map(|call| call.start).min().unwrap_or(-1),
                };
                prop_assert_eq!(row, &expected);
            }
        }
    }
}
