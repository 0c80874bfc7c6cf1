//! Rows with all kinds of values, and archives made of them.

use std::path::{Path, PathBuf};

use tracesift_archive::{Archive, ArchiveWriter, Error, Table, WriterOptions};
use tracesift_trace::info::TraceInfo;
use tracesift_trace::rows::*;
use tracesift_trace::{Clock, FileId, FrameId, Health, ModuleId, ProcessId, RowSink as _, StackId, ThreadId};

/// Id of the recordings of these tests.
pub(crate) const TRACE: &str = "000102030405060708090a0b0c0d0e0f";

/// SplitMix64: rows come from a seed, so that a failing case is a number.
pub(crate) struct Random(pub(crate) u64);

impl Random {
    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    pub(crate) fn below(&mut self, limit: usize) -> usize {
        usize::try_from(self.next() % limit as u64).expect("fits")
    }
}

/// A value as a field of a row: often an extreme one.
pub(crate) trait Sample: Sized {
    fn sample(random: &mut Random) -> Self;
}

macro_rules! integers {
    ($($integer:ty),+) => { $(
        impl Sample for $integer {
            fn sample(random: &mut Random) -> Self {
                match random.below(5) {
                    0 => Self::MIN,
                    1 => Self::MAX,
                    2 => (random.below(10) as Self) - 5,
                    _ => random.next() as Self,
                }
            }
        }
    )+ };
}

integers!(i8, i16, i32, i64);

macro_rules! ids {
    ($($id:ident),+) => { $(
        impl Sample for $id {
            fn sample(random: &mut Random) -> Self {
                Self(i32::sample(random) & i32::MAX)
            }
        }
    )+ };
}

ids!(ProcessId, ThreadId, ModuleId, FrameId, StackId, FileId);

impl Sample for bool {
    fn sample(random: &mut Random) -> Self {
        random.below(2) == 0
    }
}

impl Sample for f64 {
    fn sample(random: &mut Random) -> Self {
        [0.0, -0.0, Self::MAX, Self::INFINITY, 8.25][random.below(5)]
    }
}

impl Sample for String {
    fn sample(random: &mut Random) -> Self {
        let long = "x".repeat(random.below(70_000));
        ["", "FileWriter.exe", "Bücher\0\n\u{1f4da}", "C:\\Windows\\System32\\ntdll.dll", &long][random.below(5)]
            .to_owned()
    }
}

impl Sample for Origin {
    fn sample(random: &mut Random) -> Self {
        [Self::Event, Self::Rundown, Self::Inferred, Self::Pseudo][random.below(4)]
    }
}

impl Sample for DiskOperation {
    fn sample(random: &mut Random) -> Self {
        [Self::Read, Self::Write, Self::Flush][random.below(3)]
    }
}

impl<T: Sample> Sample for Option<T> {
    fn sample(random: &mut Random) -> Self {
        (random.below(3) > 0).then(|| T::sample(random))
    }
}

impl<T: Sample> Sample for Vec<T> {
    fn sample(random: &mut Random) -> Self {
        (0..random.below(40)).map(|_| T::sample(random)).collect()
    }
}

macro_rules! rows {
    ($($row:ident { $($field:ident),+ })+) => { $(
        impl Sample for $row {
            fn sample(random: &mut Random) -> Self {
                Self { $($field: Sample::sample(random)),+ }
            }
        }
    )+ };
}

rows! {
    ProcessRow {
        process, pid, name, command_line, parent_pid, parent, session, user, package, application, start, end, exit_code,
        wow64, origin
    }
    ThreadRow {
        thread, process, tid, name, start, end, base_priority, service_tag, service, start_address, idle_cpu, origin
    }
    ModuleRow {
        module, name, path, size, time_date_stamp, checksum, pdb_name, pdb_guid, pdb_age, managed_pdb_name,
        managed_pdb_guid, managed_pdb_age, original_file_name, file_version, binary_file_version, product_version,
        product_name, company, description
    }
    ProcessModuleRow { process, module, base, size, load, unload }
    FrameRow { frame, module, rva, process, address }
    StackRow { stack, frames }
    SymbolRow { frame, depth, module, function, arguments, file, line, source }
    CpuSampleRow { time, cpu, process, thread, weight, stack, frame, priority, flags }
    CounterSampleRow { time, cpu, process, thread, source, stack, frame }
    ContextSwitchRow {
        time, cpu, thread, prev_thread, off_time, off_state, wait_reason, ready_time, readier, ready_cpu, adjust_reason,
        adjust_increment, wait_stack, ready_stack, priority, off_priority, previous_c_state, ideal_cpu,
        remaining_quantum, wait_ticks, flags, counters
    }
    MarkRow { time, cpu, process, thread, text }
    FileRow { file, path }
    DiskIoRow { time, cpu, process, thread, disk, operation, start, offset, size, priority, irp_flags, file, stack }
    HardFaultRow { time, cpu, process, thread, start, address, offset, size, file, stack }
    HealthRow { kind, count, first_time, example }
    ProcessSummaryRow {
        process, samples, samples_without_stack, cpu, run, wait, ready, open, unknown, switches, cores_used, priority,
        first, last, methods, methods_kept
    }
    MethodSummaryRow {
        process, module, function, samples, cpu, exclusive_cpu, wait, wait_sum, wait_longest, ready, ready_sum,
        ready_longest, switches, threads, first, last
    }
}

/// Calls a macro with every row type.
macro_rules! every_table {
    ($apply:ident) => {
        $apply!(
            ProcessRow,
            ThreadRow,
            ModuleRow,
            ProcessModuleRow,
            FrameRow,
            StackRow,
            SymbolRow,
            CpuSampleRow,
            CounterSampleRow,
            ContextSwitchRow,
            MarkRow,
            FileRow,
            DiskIoRow,
            HardFaultRow,
            HealthRow,
            ProcessSummaryRow,
            MethodSummaryRow
        )
    };
}
pub(crate) use every_table;

/// `count` rows of a table.
pub(crate) fn sample_rows<T: Sample>(seed: u64, count: usize) -> Vec<T> {
    let mut random = Random(seed);
    (0..count).map(|_| T::sample(&mut random)).collect()
}

/// Starts an archive.
pub(crate) fn create(target: &Path) -> ArchiveWriter {
    try_create(target).expect("the archive can be created")
}

/// Starts an archive, if possible.
pub(crate) fn try_create(target: &Path) -> Result<ArchiveWriter, Error> {
    ArchiveWriter::create(target, WriterOptions { trace: TRACE.to_owned(), ..Default::default() })
}

/// Finishes an archive.
pub(crate) fn finish(writer: ArchiveWriter) -> PathBuf {
    let info = TraceInfo { name: "Test_1ms_HOST".to_owned(), ..Default::default() };
    writer.finish(info, &Health::new(), &Clock::new(0, 10_000_000)).expect("the archive can be finished")
}

/// An archive with some rows in every table.
pub(crate) fn small_archive(target: &Path) -> Archive {
    let mut writer = create(target);
    macro_rules! write {
        ($($row:ident),+) => { $( writer.write_table(&sample_rows::<$row>(stringify!($row).len() as u64, 50)); )+ };
    }
    every_table!(write);
    Archive::open(&finish(writer)).expect("a complete archive")
}

/// An archive with `count` switches, one every 10 µs, and as many stacks.
pub(crate) fn write_switches(target: &Path, count: i64) -> PathBuf {
    let mut writer = create(target);
    for index in 0..count {
        writer.context_switch(&switch(index));
        let stack = i32::try_from(index).expect("few stacks");
        writer.stack(&StackRow { stack: StackId(stack), frames: vec![FrameId(stack), FrameId(0)] });
    }
    finish(writer)
}

/// The switch at 10 µs × `index`, that ends a span of up to 1 s.
pub(crate) fn switch(index: i64) -> ContextSwitchRow {
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
pub(crate) fn listing(path: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(path).expect("listing");
    let mut names: Vec<String> =
        entries.map(|entry| entry.expect("entry").file_name().to_string_lossy().into_owned()).collect();
    names.sort();
    names
}

/// Makes `trace.json` agree with the file of a table that a test has changed.
pub(crate) fn bless(archive: &Path, table: &str, rows: Option<u64>) {
    let path = archive.join("trace.json");
    let mut info: TraceInfo = serde_json::from_slice(&std::fs::read(&path).expect("trace.json")).expect("JSON");
    let content = std::fs::read(archive.join(format!("{table}.parquet"))).expect("table");
    let entry = info.tables.iter_mut().find(|entry| entry.name == table).expect("listed");
    entry.bytes = content.len() as u64;
    entry.crc32 = format!("{:08x}", crc32fast::hash(&content));
    entry.rows = rows.unwrap_or(entry.rows);
    std::fs::write(&path, serde_json::to_vec(&info).expect("JSON")).expect("written");
}

/// Reads all rows and answers whether that worked.
pub(crate) fn readable<T: Table>(archive: &Archive) -> Result<usize, Error> {
    archive.rows::<T>().map(|rows| rows.len())
}
