//! Copies of switch rows that reach far: the index by which a range of time is found in a long recording.

use crate::ids::{StackId, ThreadId};
use crate::row;
use crate::rows::ContextSwitchRow;

row! {
    /// Copies of rows of `context_switches` whose time off the CPU, or whose run before or behind
    /// it, lasts over a whole row group of that table; also of rows around such a time without a
    /// switch on a CPU, and of the first switch of each CPU. To read a range of time, a reader needs
    /// the row groups in the range, the one before it, the one behind it, and these rows. Only
    /// archives with at least 2 million switches have the table. It is a cache. Rows are in the
    /// order of `row`.
    #[derive(Clone, Debug, Default, PartialEq)]
    pub struct LongSpanRow in "long_spans", always: false, since: 7, Untimed() {
        /// Number of the row in `context_switches`, from 0.
        row: i64, Delta, "", "`context_switches`";
        /// The column `time` of that row.
        time: i64, Delta, "ns", "`context_switches`";
        /// The column `cpu` of that row.
        cpu: Option<i16>, ByteStreamSplit, "", "`context_switches`";
        /// The column `thread` of that row.
        thread: ThreadId, ByteStreamSplit, "", "`context_switches`";
        /// The column `prev_thread` of that row.
        prev_thread: Option<ThreadId>, ByteStreamSplit, "", "`context_switches`";
        /// The column `off_time` of that row.
        off_time: i64, ByteStreamSplit, "ns", "`context_switches`";
        /// The column `off_state` of that row.
        off_state: Option<i8>, Dictionary, "", "`context_switches`";
        /// The column `wait_reason` of that row.
        wait_reason: Option<i8>, Dictionary, "", "`context_switches`";
        /// The column `ready_time` of that row.
        ready_time: Option<i64>, Delta, "ns", "`context_switches`";
        /// The column `readier` of that row.
        readier: Option<ThreadId>, ByteStreamSplit, "", "`context_switches`";
        /// The column `ready_cpu` of that row.
        ready_cpu: Option<i16>, Dictionary, "", "`context_switches`";
        /// The column `adjust_reason` of that row.
        adjust_reason: Option<i8>, Dictionary, "", "`context_switches`";
        /// The column `adjust_increment` of that row.
        adjust_increment: Option<i8>, Dictionary, "", "`context_switches`";
        /// The column `wait_stack` of that row.
        wait_stack: Option<StackId>, ByteStreamSplit, "", "`context_switches`";
        /// The column `ready_stack` of that row.
        ready_stack: Option<StackId>, ByteStreamSplit, "", "`context_switches`";
        /// The column `priority` of that row.
        priority: Option<i8>, Dictionary, "", "`context_switches`";
        /// The column `off_priority` of that row.
        off_priority: Option<i8>, Dictionary, "", "`context_switches`";
        /// The column `previous_c_state` of that row.
        previous_c_state: Option<i8>, Dictionary, "", "`context_switches`";
        /// The column `ideal_cpu` of that row.
        ideal_cpu: Option<i16>, ByteStreamSplit, "", "`context_switches`";
        /// The column `remaining_quantum` of that row.
        remaining_quantum: Option<i64>, ByteStreamSplit, "recorder's", "`context_switches`";
        /// The column `wait_ticks` of that row.
        wait_ticks: Option<i64>, ByteStreamSplit, "clock interrupts", "`context_switches`";
        /// The column `flags` of that row.
        flags: i16, Dictionary, "", "`context_switches`";
        /// The column `counters` of that row.
        counters: Option<Vec<i64>>, Plain, "events", "`context_switches`";
    }
}

impl LongSpanRow {
    /// The copy of a switch, the row of that number in its table.
    #[must_use]
    pub fn of(row: i64, switch: ContextSwitchRow) -> Self {
        let ContextSwitchRow {
            time,
            cpu,
            thread,
            prev_thread,
            off_time,
            off_state,
            wait_reason,
            ready_time,
            readier,
            ready_cpu,
            adjust_reason,
            adjust_increment,
            wait_stack,
            ready_stack,
            priority,
            off_priority,
            previous_c_state,
            ideal_cpu,
            remaining_quantum,
            wait_ticks,
            flags,
            counters,
        } = switch;
        Self {
            row,
            time,
            cpu,
            thread,
            prev_thread,
            off_time,
            off_state,
            wait_reason,
            ready_time,
            readier,
            ready_cpu,
            adjust_reason,
            adjust_increment,
            wait_stack,
            ready_stack,
            priority,
            off_priority,
            previous_c_state,
            ideal_cpu,
            remaining_quantum,
            wait_ticks,
            flags,
            counters,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::LongSpanRow;
    use crate::rows::ContextSwitchRow;
    use crate::schema::Row as _;

    #[test]
    fn it_has_all_columns_of_a_switch_behind_the_number_of_the_row() {
        let of = |columns: &[crate::schema::Column]| -> Vec<String> {
            columns.iter().map(|column| format!("{} {:?} {}", column.name, column.data, column.nullable)).collect()
        };
        assert_eq!(of(&LongSpanRow::TABLE.columns[1..]), of(ContextSwitchRow::TABLE.columns));
    }
}
