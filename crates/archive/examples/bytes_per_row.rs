//! Where the bytes of an archive go: writes tables with the entropy of a busy machine and prints bytes per row for every
//! column, for each layout that Parquet has. The layouts of the rows were chosen by this, and its speed figure is
//! what the encoder reaches on one core.
//!
//! The machine is that of `tracesift_testing::busy_machine`.
//!
//! ```text
//! cargo run --release -p tracesift-archive --example bytes_per_row [ROWS]
//! ```
#![allow(clippy::print_stdout, clippy::unwrap_used, reason = "a program for people that may stop at its first error")]

use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

use arrow_array::{ArrayRef, RecordBatch};
use arrow_schema::Schema;
use parquet::arrow::ArrowWriter;
use parquet::basic::{Compression, Encoding, ZstdLevel};
use parquet::file::properties::{EnabledStatistics, WriterProperties};
use tracesift_archive::{Archive, ArchiveWriter, Table, WriterOptions, record_batch};
use tracesift_testing::busy_machine::Machine;
use tracesift_trace::info::TraceInfo;
use tracesift_trace::rows::{ContextSwitchRow, CpuSampleRow, FrameRow, StackRow};
use tracesift_trace::schema::Layout;
use tracesift_trace::{Clock, Health, RowSink as _};

fn main() {
    let rows = std::env::args().nth(1).map_or(1_000_000, |text| text.parse().unwrap());
    let mut machine = Machine::default();
    let switches: Vec<ContextSwitchRow> = (0..rows).map(|_| machine.switch()).collect();
    let samples: Vec<CpuSampleRow> = (0..rows / 2).map(|index| machine.sample(index)).collect();
    let (frames, stacks) = machine.stacks();

    layouts(&switches);
    layouts(&samples);
    layouts(&stacks);
    layouts(&frames);
    whole(&switches, &samples, &frames, &stacks);
}

/// Prints the size of every column in every layout; the layout in use is marked.
fn layouts<T: Table>(rows: &[T]) {
    let batch = record_batch("0123456789abcdef0123456789abcdef", rows).unwrap();
    let choices = [Layout::Plain, Layout::Dictionary, Layout::Delta, Layout::ByteStreamSplit];
    println!("\n{}: {} rows; bytes per row by layout at zstd level 1 (and 3)", T::TABLE.name, rows.len());
    println!("{:20} {:>15} {:>15} {:>15} {:>15}", "", "plain", "dictionary", "delta", "split");
    let mut total = 0.0;
    for (index, column) in T::TABLE.columns.iter().enumerate() {
        print!("{:20}", column.name);
        for layout in choices {
            let array = batch.column(index + 1);
            let sizes = [1, 3].map(|level| size_of_column(&batch, index + 1, array, layout, level));
            let sizes = sizes.map(|size| size.map(|size| size as f64 / rows.len() as f64));
            let mark = if layout == column.layout { '*' } else { ' ' };
            match sizes {
                [Some(one), Some(three)] => print!(" {one:6.3} ({three:6.3}){mark}"),
                _ => print!(" {:>15}{mark}", "-"),
            }
            if layout == column.layout {
                total += sizes[0].unwrap_or(0.0);
            }
        }
        println!();
    }
    println!("{:20} {total:6.3}", "in use");
}

fn size_of_column(batch: &RecordBatch, index: usize, array: &ArrayRef, layout: Layout, level: i32) -> Option<usize> {
    let encoding = match layout {
        Layout::Plain | Layout::Dictionary => Encoding::PLAIN,
        Layout::Delta => Encoding::DELTA_BINARY_PACKED,
        Layout::ByteStreamSplit => Encoding::BYTE_STREAM_SPLIT,
    };
    let schema = Arc::new(Schema::new(vec![batch.schema().field(index).clone()]));
    let properties = WriterProperties::builder()
        .set_compression(Compression::ZSTD(ZstdLevel::try_new(level).unwrap()))
        .set_dictionary_enabled(layout == Layout::Dictionary)
        .set_encoding(encoding)
        .set_statistics_enabled(EnabledStatistics::None)
        .set_offset_index_disabled(true)
        .set_data_page_row_count_limit(128 * 1024)
        .set_data_page_size_limit(512 * 1024)
        .build();
    let single = RecordBatch::try_new(Arc::clone(&schema), vec![Arc::clone(array)]).unwrap();
    // Layouts that do not exist for a type panic or fail inside the encoder.
    if matches!(layout, Layout::Delta | Layout::ByteStreamSplit) && !array.data_type().is_integer() {
        return None;
    }
    let mut file = Vec::new();
    let mut writer = ArrowWriter::try_new(&mut file, schema, Some(properties)).unwrap();
    for start in (0..single.num_rows()).step_by(64 * 1024) {
        writer.write(&single.slice(start, (64 * 1024).min(single.num_rows() - start))).unwrap();
    }
    let metadata = writer.close().unwrap();
    Some(metadata.row_groups().iter().map(|group| usize::try_from(group.compressed_size()).unwrap()).sum())
}

/// Writes an archive as an extract does; prints sizes, fixed overhead and speed.
fn whole(switches: &[ContextSwitchRow], samples: &[CpuSampleRow], frames: &[FrameRow], stacks: &[StackRow]) {
    let root = tempfile::tempdir().unwrap();
    let path = write(root.path(), "empty", |_| {});
    let size: u64 = path.read_dir().unwrap().map(|entry| entry.unwrap().metadata().unwrap().len()).sum();
    println!("\nempty archive: {size} bytes");

    let start = Instant::now();
    let path = write(root.path(), "full", |writer| {
        frames.iter().for_each(|row| writer.frame(row));
        stacks.iter().for_each(|row| writer.stack(row));
        samples.iter().for_each(|row| writer.cpu_sample(row));
        switches.iter().for_each(|row| writer.context_switch(row));
    });
    println!("whole archive written in {:.2} s (two threads)", start.elapsed().as_secs_f64());
    let archive = Archive::open(&path).unwrap();
    for table in archive.info().tables.iter().filter(|table| table.rows > 100) {
        println!(
            "{:20} {:>9} rows {:8.3} bytes per row",
            table.name,
            table.rows,
            table.bytes as f64 / table.rows as f64
        );
    }

    for _ in 0..3 {
        let start = Instant::now();
        write(root.path(), "switches", |writer| {
            switches.iter().for_each(|row| writer.context_switch(row));
            println!("filled in {:.3} s", start.elapsed().as_secs_f64());
        });
        let seconds = start.elapsed().as_secs_f64();
        println!("switches: {:.2} M rows/s", switches.len() as f64 / seconds / 1e6);
    }
    let start = Instant::now();
    let rows: Vec<ContextSwitchRow> = Archive::open(&path).unwrap().rows().unwrap();
    println!("read back: {:.2} M rows/s", rows.len() as f64 / start.elapsed().as_secs_f64() / 1e6);
    assert!(rows == switches);
}

fn write(root: &Path, name: &str, fill: impl FnOnce(&mut ArchiveWriter)) -> std::path::PathBuf {
    let options = WriterOptions { trace: "0123456789abcdef0123456789abcdef".to_owned(), ..Default::default() };
    let mut writer = ArchiveWriter::create(&root.join(format!("{name}.sift")), options).unwrap();
    fill(&mut writer);
    writer.finish(TraceInfo::default(), &Health::new(), &Clock::new(0, 10_000_000)).unwrap()
}
