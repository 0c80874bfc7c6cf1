//! Archives of rows: of those that a test chooses, or of random ones with all kinds of values.
//!
//! [`create`] begins an archive, the methods of its writer take rows, [`finish_as`] gives the path.
//!
//! # Panics
//! All functions here but [`try_create`] and [`readable`] fail the test when the disk or the archive does.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use arrow_array::builder::{ListBuilder, PrimitiveBuilder, StringBuilder};
use arrow_array::types::{Int32Type, Int64Type};
use arrow_array::{
    ArrayRef, ArrowPrimitiveType, BooleanArray, DictionaryArray, Float64Array, Int8Array, Int16Array, Int32Array,
    Int64Array, RecordBatch, StringArray,
};
use arrow_schema::{DataType, Field};
use tracesift_archive::{Archive, ArchiveWriter, Error, Table, WriterOptions, arrow_schema, rows_of};
use tracesift_trace::info::TraceInfo;
use tracesift_trace::rows::*;
use tracesift_trace::schema::{Column, ColumnType, TableDefinition};
use tracesift_trace::{Clock, FrameId, Health, RowSink as _, StackId, ThreadId, every_table};

/// Id of the recordings of these tests.
pub const TRACE: &str = "000102030405060708090a0b0c0d0e0f";

/// SplitMix64: rows come from a seed, so that a failing case is a number.
#[derive(Clone, Debug)]
pub struct Random(pub u64);

impl Random {
    /// The next number.
    pub fn number(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// A number below `limit`.
    pub fn below(&mut self, limit: usize) -> usize {
        usize::try_from(self.number() % limit as u64).expect("fits")
    }

    /// A number from `min` to `max`, often one of the two or a small one.
    pub fn integer<T: Copy + Into<i64> + TryFrom<i64>>(&mut self, min: T, max: T) -> T {
        let (low, high) = (min.into(), max.into());
        let any = match self.below(5) {
            0 => low,
            1 => high,
            2 => (self.below(10) as i64 - 5).clamp(low, high),
            _ => (i128::from(low) + i128::from(self.number()) % (i128::from(high) - i128::from(low) + 1)) as i64,
        };
        T::try_from(any).ok().expect("between two numbers of the type")
    }

    fn text(&mut self) -> String {
        let long = "x".repeat(self.below(70_000));
        ["", "FileWriter.exe", "Bücher\0\n\u{1f4da}", "C:\\Windows\\System32\\ntdll.dll", &long][self.below(5)]
            .to_owned()
    }
}

/// `count` rows of a table.
#[must_use]
pub fn sample_rows<T: Table>(seed: u64, count: usize) -> Vec<T> {
    rows_of(&sample_batch(T::TABLE, seed, count)).expect("values that the definition allows")
}

/// `count` rows of a table, column by column as its definition says.
#[must_use]
pub fn sample_batch(table: &TableDefinition, seed: u64, count: usize) -> RecordBatch {
    let mut random = Random(seed);
    let trace: ArrayRef = Arc::new(std::iter::repeat_n(TRACE, count).collect::<DictionaryArray<Int32Type>>());
    let columns = table.columns.iter().map(|column| sample_column(&mut random, column, count));
    let columns = std::iter::once(trace).chain(columns).collect();
    RecordBatch::try_new(arrow_schema(table), columns).expect("columns of the schema")
}

/// Values of a column, often extreme ones, with nulls where it can have them.
fn sample_column(random: &mut Random, column: &Column, count: usize) -> ArrayRef {
    let is_null: Vec<bool> = (0..count).map(|_| column.nullable && random.below(3) == 0).collect();
    macro_rules! array {
        ($array:ty, $value:expr) => {
            Arc::new(is_null.iter().map(|null| (!null).then(|| $value)).collect::<$array>())
        };
    }
    match column.data {
        ColumnType::Boolean => array!(BooleanArray, random.below(2) == 0),
        ColumnType::Int8 => array!(Int8Array, random.integer(i8::MIN, i8::MAX)),
        ColumnType::Int16 => array!(Int16Array, random.integer(i16::MIN, i16::MAX)),
        ColumnType::Int32 => array!(Int32Array, random.integer(i32::MIN, i32::MAX)),
        ColumnType::Int64 => array!(Int64Array, random.integer(i64::MIN, i64::MAX)),
        ColumnType::Id => array!(Int32Array, random.integer(0, i32::MAX)),
        ColumnType::Code(values) => array!(Int8Array, random.integer(0, values - 1)),
        ColumnType::Float64 => array!(Float64Array, [0.0, -0.0, f64::MAX, f64::INFINITY, 8.25][random.below(5)]),
        ColumnType::Text => array!(StringArray, random.text()),
        ColumnType::ListId => lists::<Int32Type>(random, &is_null, |random| random.integer(0, i32::MAX)),
        ColumnType::ListInt64 => lists::<Int64Type>(random, &is_null, |random| random.integer(i64::MIN, i64::MAX)),
        ColumnType::ListText => texts(random, &is_null),
    }
}

fn texts(random: &mut Random, is_null: &[bool]) -> ArrayRef {
    let field = Field::new("element", DataType::Utf8, false);
    let mut builder = ListBuilder::new(StringBuilder::new()).with_field(field);
    for null in is_null {
        if !null {
            (0..random.below(4)).for_each(|_| builder.values().append_value(random.text()));
        }
        builder.append(!null);
    }
    Arc::new(builder.finish())
}

fn lists<T: ArrowPrimitiveType>(
    random: &mut Random,
    is_null: &[bool],
    element: impl Fn(&mut Random) -> T::Native,
) -> ArrayRef {
    let field = Field::new("element", T::DATA_TYPE, false);
    let mut builder = ListBuilder::new(PrimitiveBuilder::<T>::new()).with_field(field);
    for null in is_null {
        if !null {
            (0..random.below(40)).for_each(|_| builder.values().append_value(element(random)));
        }
        builder.append(!null);
    }
    Arc::new(builder.finish())
}

/// Starts an archive.
#[must_use]
pub fn create(target: &Path) -> ArchiveWriter {
    try_create(target).expect("the archive can be created")
}

/// Starts an archive, if possible.
///
/// # Errors
/// Those of [`ArchiveWriter::create`].
pub fn try_create(target: &Path) -> Result<ArchiveWriter, Error> {
    ArchiveWriter::create(target, WriterOptions { trace: TRACE.to_owned(), ..Default::default() })
}

/// Starts the archive of a recording with an id of its own, as two recordings of one test need it.
#[must_use]
pub fn create_as(target: &Path, id: u128) -> ArchiveWriter {
    let options = WriterOptions { trace: format!("{id:032x}"), ..Default::default() };
    ArchiveWriter::create(target, options).expect("the archive can be created")
}

/// Finishes an archive.
pub fn finish(writer: ArchiveWriter) -> PathBuf {
    finish_as(writer, TraceInfo { name: "Test_1ms_HOST".to_owned(), ..Default::default() })
}

/// Finishes the archive of this recording, whose clock has ticks of 100 ns and in which no damage was found.
pub fn finish_as(writer: ArchiveWriter, info: TraceInfo) -> PathBuf {
    writer.finish(info, &Health::new(), &Clock::new(0, 10_000_000)).expect("the archive can be finished")
}

/// An archive with some rows in every table.
pub fn small_archive(target: &Path) -> Archive {
    let mut writer = create(target);
    macro_rules! write {
        ($($row:ident),+) => { $( writer.write_table(&sample_rows::<$row>(stringify!($row).len() as u64, 50)); )+ };
    }
    every_table!(write);
    Archive::open(&finish(writer)).expect("a complete archive")
}

/// An archive with `count` switches, one every 10 µs, and as many stacks.
pub fn write_switches(target: &Path, count: i64) -> PathBuf {
    let mut writer = create(target);
    for index in 0..count {
        writer.context_switch(&switch(index));
        let stack = i32::try_from(index).expect("few stacks");
        writer.stack(&StackRow { stack: StackId(stack), frames: vec![FrameId(stack), FrameId(0)] });
    }
    finish(writer)
}

/// The switch at 10 µs × `index`, that ends a span of up to 1 s.
#[must_use]
pub fn switch(index: i64) -> ContextSwitchRow {
    let time = index * 10_000;
    ContextSwitchRow {
        time,
        off_time: time - (index * 7_919_000) % 1_000_000_000,
        cpu: Some((index % 4) as i16),
        thread: ThreadId((index % 97) as i32),
        ..Default::default()
    }
}

/// Names in a directory, sorted.
#[must_use]
pub fn listing(path: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(path).expect("listing");
    let mut names: Vec<String> =
        entries.map(|entry| entry.expect("entry").file_name().to_string_lossy().into_owned()).collect();
    names.sort();
    names
}

/// Makes `trace.json` agree with the file of a table that a test has changed.
pub fn bless(archive: &Path, table: &str, rows: Option<u64>) {
    let path = archive.join("trace.json");
    let mut info: TraceInfo = serde_json::from_slice(&std::fs::read(&path).expect("trace.json")).expect("JSON");
    let content = std::fs::read(archive.join(format!("{table}.parquet"))).expect("table");
    let entry = info.tables.iter_mut().find(|entry| entry.name == table).expect("listed");
    entry.bytes = content.len() as u64;
    entry.crc32 = format!("{:08x}", crc32fast::hash(&content));
    entry.rows = rows.unwrap_or(entry.rows);
    std::fs::write(&path, serde_json::to_vec(&info).expect("JSON")).expect("written");
}

/// The number of rows, all of which are read.
///
/// # Errors
/// A row cannot be read.
pub fn readable<T: Table>(archive: &Archive) -> Result<usize, Error> {
    archive.rows::<T>().map(|rows| rows.len())
}
