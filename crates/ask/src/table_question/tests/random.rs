//! Random rows of any table, in an archive with the tables that give them names.

use std::any::Any;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use arrow_array::builder::{ListBuilder, PrimitiveBuilder, StringBuilder};
use arrow_array::types::{Int32Type, Int64Type};
use arrow_array::{
    ArrayRef, ArrowPrimitiveType, BooleanArray, Float64Array, Int8Array, Int16Array, Int32Array, Int64Array,
    RecordBatch, StringArray,
};
use arrow_schema::{DataType, Field};
use tracesift_analysis::syscall_sums::SyscallSums;
use tracesift_archive::{Table, arrow_schema, rows_of};
use tracesift_grammar::TimeRange;
use tracesift_testing::archive::{create, finish_as};
use tracesift_trace::info::TraceInfo;
use tracesift_trace::rows::{
    FileRow, FrameRow, ModuleRow, Origin, ProcessRow, StackRow, SymbolRow, SyscallNameRow, SyscallRow,
    SyscallSummaryRow, ThreadRow,
};
use tracesift_trace::schema::{Column, ColumnType, Timing, View};
use tracesift_trace::{FileId, FrameId, ModuleId, ProcessId, StackId, ThreadId};

use crate::table_question::{TableQuestion, table};

/// Rows end before it, and begin after 0.
pub(super) const END: i64 = 1000;
/// Ids of rows that other tables point at: some of them have no row.
const IDS: i32 = 5;
/// Processes with a row.
pub(super) const PROCESSES: i32 = 4;
/// Threads with a row; at most two in each process.
pub(super) const THREADS: i32 = IDS;
/// Words of text columns.
const WORDS: [&str; 4] = ["alpha", "beta", "Gamma", "alpha*"];

/// Numbers that are the same in each run.
pub(super) struct Random(u64);

impl Random {
    pub(super) fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    /// A number from 0 to `below`, which is left out.
    pub(super) fn below(&mut self, below: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 16) as usize % below
    }

    pub(super) fn number(&mut self, from: i64, to: i64) -> i64 {
        from + self.below((to - from) as usize) as i64
    }

    /// Whether a thing happens, that happens once in so many times.
    pub(super) fn once_in(&mut self, times: usize) -> bool {
        self.below(times) == 0
    }

    pub(super) fn one_of<'a, T>(&mut self, all: &'a [T]) -> &'a T {
        &all[self.below(all.len())]
    }

    /// A range of times, often all of them.
    pub(super) fn range(&mut self) -> TimeRange {
        if self.once_in(3) {
            return TimeRange::default();
        }
        let start = self.number(0, END);
        TimeRange { start: Some(start), end: Some(start + self.number(1, END)) }
    }

    /// Ranges of times, one behind the other.
    pub(super) fn ranges(&mut self) -> Vec<TimeRange> {
        let mut start = self.number(0, END / 2);
        let many = 1 + self.below(5);
        let next = |_| {
            let end = start + self.number(1, END / 3);
            let range = TimeRange { start: Some(start), end: Some(end) };
            start = end;
            range
        };
        (0..many).map(next).collect()
    }

    /// Rows of the table of a question, in the order of their times, and what the question reads of them.
    pub(super) fn rows<Q: TableQuestion>(&mut self) -> (Vec<<Q::Row as View>::Row>, Vec<Q::Row>) {
        let table = table::<Q>();
        let many = 1 + self.below(120);
        let mut times: Vec<i64> = (0..many).map(|_| self.number(0, END)).collect();
        times.sort_unstable();
        let trace = arrow_array::DictionaryArray::<Int32Type>::from_iter(vec!["t"; many]);
        let columns = table.columns.iter().map(|column| self.column(column, table.timing, &times));
        let columns: Vec<ArrayRef> =
            std::iter::once(Arc::new(trace) as ArrayRef).chain(columns.collect::<Vec<_>>()).collect();
        let batch = RecordBatch::try_new(arrow_schema(table), columns).expect("columns of the table");
        (rows_of(&batch).expect("rows of the table"), rows_of(&batch).expect("columns of the rows"))
    }

    fn column(&mut self, column: &Column, timing: Timing, times: &[i64]) -> ArrayRef {
        let is_null = |random: &mut Self| column.nullable && random.once_in(4);
        let values = |random: &mut Self, to: i64| -> Vec<Option<i64>> {
            times.iter().map(|_| (!is_null(random)).then(|| random.number(0, to))).collect()
        };
        match column.data {
            ColumnType::Int64 => Arc::new(match timing {
                Timing::At(time) | Timing::Span { end: time, .. } if time == column.name => {
                    Int64Array::from(times.to_vec())
                }
                Timing::Span { start, .. } if start == column.name => {
                    times.iter().map(|end| end - self.number(0, 300).min(*end)).map(Some).collect::<Int64Array>()
                }
                _ => values(self, 6).into_iter().collect(),
            }),
            ColumnType::Id => {
                Arc::new(values(self, IDS.into()).into_iter().map(|id| id.map(|id| id as i32)).collect::<Int32Array>())
            }
            ColumnType::Int32 => {
                Arc::new(values(self, 5).into_iter().map(|of| of.map(|of| of as i32)).collect::<Int32Array>())
            }
            ColumnType::Int16 => {
                Arc::new(values(self, 5).into_iter().map(|of| of.map(|of| of as i16)).collect::<Int16Array>())
            }
            ColumnType::Int8 => {
                Arc::new(values(self, 5).into_iter().map(|of| of.map(|of| of as i8)).collect::<Int8Array>())
            }
            ColumnType::Code(codes) => {
                Arc::new(values(self, codes.into()).into_iter().map(|of| of.map(|of| of as i8)).collect::<Int8Array>())
            }
            ColumnType::Boolean => {
                Arc::new(values(self, 2).into_iter().map(|of| of.map(|of| of == 1)).collect::<BooleanArray>())
            }
            ColumnType::Float64 => {
                Arc::new(values(self, 9).into_iter().map(|of| of.map(|of| of as f64)).collect::<Float64Array>())
            }
            ColumnType::Text => {
                let word = |of: Option<i64>| of.map(|of| WORDS[of as usize]);
                Arc::new(values(self, WORDS.len() as i64).into_iter().map(word).collect::<StringArray>())
            }
            ColumnType::ListId => lists::<Int32Type>(values(self, 3), |number| number as i32),
            ColumnType::ListInt64 => lists::<Int64Type>(values(self, 3), |number| number),
            ColumnType::ListText => {
                let mut lists =
                    ListBuilder::new(StringBuilder::new()).with_field(Field::new("element", DataType::Utf8, false));
                for many in values(self, 4) {
                    (0..many.unwrap_or(0)).for_each(|_| lists.values().append_value(self.one_of(&WORDS)));
                    lists.append(many.is_some());
                }
                Arc::new(lists.finish())
            }
        }
    }
}

/// Lists of one number, or null.
fn lists<T: ArrowPrimitiveType>(numbers: Vec<Option<i64>>, element: impl Fn(i64) -> T::Native) -> ArrayRef {
    let field = Field::new("element", T::DATA_TYPE, false);
    let mut lists = ListBuilder::new(PrimitiveBuilder::<T>::new()).with_field(field);
    for number in numbers {
        number.into_iter().for_each(|number| lists.values().append_value(element(number)));
        lists.append(number.is_some());
    }
    Arc::new(lists.finish())
}

/// The process with an id: two of them have the same name, and one is the idle loop.
pub(super) fn process(id: i32) -> ProcessRow {
    let names = ["Idle", "a", "a", "B"];
    let pid = if id == 0 { 0 } else { 100 + i64::from(id) };
    ProcessRow {
        process: ProcessId(id),
        pid,
        name: names[id as usize].to_owned(),
        origin: Origin::Rundown,
        // Some begin or end inside of the recording.
        start: (id == 3).then_some(END / 4),
        end: (id == 2).then_some(END * 3 / 4),
        ..ProcessRow::default()
    }
}

/// The function of a frame.
pub(super) fn function(frame: i32) -> String {
    format!("f{}", frame / 2)
}

/// The table of sums that goes with system calls.
fn sums_of_calls<T: Table>(rows: &[T]) -> Vec<SyscallSummaryRow> {
    let mut sums = SyscallSums::default();
    for row in rows {
        (row as &dyn Any).downcast_ref::<SyscallRow>().into_iter().for_each(|call| sums.add(call));
    }
    sums.finish()
}

/// An archive with rows, and with tables that give them names.
pub(super) fn archive<T: Table>(directory: &Path, rows: &[T]) -> PathBuf {
    let mut writer = create(&directory.join("rows.sift"));
    writer.write_table(&(0..PROCESSES).map(process).collect::<Vec<_>>());
    let thread = |id: i32| ThreadRow {
        thread: ThreadId(id),
        process: ProcessId(id / 2 + 1),
        tid: 1000 + i64::from(id),
        ..ThreadRow::default()
    };
    writer.write_table(&(0..THREADS).map(thread).collect::<Vec<_>>());
    let name = |number: i32| SyscallNameRow { number, name: format!("call{number}") };
    writer.write_table(&(0..3).map(name).collect::<Vec<_>>());
    let file = |id: i32| FileRow { file: FileId(id), path: format!("/folder{}/file{id}", id / 2) };
    writer.write_table(&(0..IDS).map(file).collect::<Vec<_>>());
    writer.write_table(&[ModuleRow { module: ModuleId(0), name: "app".to_owned(), ..ModuleRow::default() }]);
    let frames = 0..IDS + 2;
    let frame = |id: i32| FrameRow {
        frame: FrameId(id),
        module: Some(ModuleId(0)),
        rva: Some(i64::from(id) * 16),
        ..FrameRow::default()
    };
    writer.write_table(&frames.clone().map(frame).collect::<Vec<_>>());
    let symbol = |id: i32| SymbolRow {
        frame: FrameId(id),
        module: Some("app".to_owned()),
        function: function(id),
        ..SymbolRow::default()
    };
    writer.write_table(&frames.map(symbol).collect::<Vec<_>>());
    // The leaf of a stack is another frame than the one with its number.
    let stack = |id: i32| StackRow { stack: StackId(id), frames: vec![FrameId(id + 1), FrameId(0)] };
    writer.write_table(&(0..IDS - 1).map(stack).collect::<Vec<_>>());
    writer.write_table(rows);
    writer.write_table(&sums_of_calls(rows));
    let info = TraceInfo { name: "rows".to_owned(), kind: "perf".to_owned(), end_ns: END, ..TraceInfo::default() };
    finish_as(writer, info)
}
