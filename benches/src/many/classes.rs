//! Hundreds of archives with what threads wait for: disks, files, the network, memory, handles, filter drivers; and with the power of CPUs.

mod power;

use std::path::{Path, PathBuf};

use anyhow::Context as _;
use tracesift_archive::{ArchiveWriter, WriterOptions};
use tracesift_scenario::SplitMix64;
use tracesift_trace::info::TraceInfo;
use tracesift_trace::rows::{
    AllocationRow, ConnectionRow, CpuIdleStateRow, DiskIoRow, DiskOperation, DnsQueryRow, FileIoRow, FileRow,
    FilterCallRow, HandleRow, HardFaultRow, MarkRow, MemoryProcessRow, MemoryStateRow, ModuleRow, ObjectRow,
    PowerSettingRow, SocketCallRow, allocation_kinds, handle_kinds, handle_origins,
};
use tracesift_trace::{Clock, ConnectionId, FileId, Health, ModuleId, ProcessId};

use super::archives::{self, LENGTH, description, processes, threads};
use super::made::{Made, skewed, span, who};

/// Paths of each archive.
const FILES: usize = 2_000;
/// Connections of TCP among all.
const TCP: usize = 400;
/// Handles of the kernel among all.
const KERNEL: usize = 30_000;
/// Filter drivers of each.
const DRIVERS: usize = 6;

/// The directory with the archives, made where it is not there yet.
pub(super) fn directory(parent: &Path) -> anyhow::Result<PathBuf> {
    // The last number counts the sets of rows that this benchmark has had.
    archives::in_parallel(parent, ("classes", 3), write)
}

fn write(directory: &Path, index: usize) -> anyhow::Result<()> {
    // CPU samples stand for run time: switches are the matter of other benchmarks.
    let info = TraceInfo { has_switches: false, has_ready: false, ..description(index) };
    let target = directory.join(format!("{}.sift", info.name));
    let options = WriterOptions { trace: format!("{:032x}", 0xc1a5_0000 + index), ..WriterOptions::default() };
    let mut writer = ArchiveWriter::create(&target, options)?;
    let mut random = SplitMix64::new(9_000 + index as u64);
    writer.write_table(&processes(&mut random));
    writer.write_table(&threads());
    writer.write_table(&files(&mut random));
    writer.write_table(&drivers());
    let mut made = Made { random, writer: &mut writer };
    made.rows(20_000, disk_operation, |row| row.time);
    made.rows(3_000, hard_fault, |row| row.time);
    made.rows(60_000, file_operation, |row| row.time);
    made.rows(40_000, filter_call, |row| row.time);
    made.rows(20_000, socket_call, |row| row.time);
    made.rows(200, query, |row| row.time);
    made.rows(700, connection, |row| row.start.unwrap_or_default());
    made.rows(20_000, allocation, |row| row.time);
    made.rows(40_000, handle, |row| row.time);
    made.rows(5_000, object, |row| row.time);
    made.rows(4_000, memory_of_process, |row| row.time);
    made.rows(120, memory_state, |row| row.time);
    made.rows(20, mark, |row| row.time);
    made.each((0..60).map(setting));
    made.each(idle_states(index as u64));
    power::write(&mut made);
    writer.finish(info, &Health::new(), &Clock::new(0, 10_000_000)).context("cannot write an archive")?;
    Ok(())
}

/// A file: a process uses a dozen of them.
fn file(random: &mut SplitMix64, process: ProcessId) -> Option<FileId> {
    random.chance(95).then(|| FileId((process.0 * 4 + skewed(random, 12) as i32) % FILES as i32))
}

fn size(random: &mut SplitMix64) -> i64 {
    512 << random.below(9)
}

fn files(random: &mut SplitMix64) -> Vec<FileRow> {
    let path = |file: usize, random: &mut SplitMix64| {
        let drive = ["C", "C", "C", "D"][random.index(4)];
        let (part, name) = (random.below(40), random.below(10_000));
        format!(r"{drive}:\ProgramData\Contoso\Shop{part}\Cache\{name:04}-{file}.dat")
    };
    (0..FILES).map(|file| FileRow { file: FileId(file as i32), path: path(file, random) }).collect()
}

fn drivers() -> Vec<ModuleRow> {
    let driver = |module: usize| ModuleRow {
        module: ModuleId(module as i32),
        name: format!("scan{module}.sys"),
        path: format!(r"C:\Windows\System32\drivers\scan{module}.sys"),
        ..ModuleRow::default()
    };
    (0..DRIVERS).map(driver).collect()
}

fn disk_operation(random: &mut SplitMix64, _: usize) -> DiskIoRow {
    let ((process, thread), (start, time)) = (who(random), span(random, 40_000_000));
    let operation = if random.chance(2) {
        DiskOperation::Flush
    } else if random.chance(30) {
        DiskOperation::Write
    } else {
        DiskOperation::Read
    };
    let depth = random.below(4) as i16;
    DiskIoRow {
        time,
        cpu: random.below(16) as i16,
        process: Some(process),
        thread: Some(thread),
        disk: random.below(2) as i32,
        operation,
        start,
        offset: Some(random.between(0, 1 << 38)),
        size: if operation == DiskOperation::Flush { 0 } else { size(random) },
        priority: 3,
        file: file(random, process),
        service: Some((time - start) / 2),
        queue_start: Some(depth),
        queue_end: Some(depth),
        ..DiskIoRow::default()
    }
}

fn hard_fault(random: &mut SplitMix64, _: usize) -> HardFaultRow {
    let ((process, thread), (start, time)) = (who(random), span(random, 20_000_000));
    HardFaultRow {
        time,
        cpu: random.below(16) as i16,
        process: Some(process),
        thread: Some(thread),
        start,
        address: random.between(0, 1 << 46),
        offset: random.between(0, 1 << 30),
        size: size(random),
        file: file(random, process),
        stack: None,
    }
}

fn file_operation(random: &mut SplitMix64, _: usize) -> FileIoRow {
    let ((process, thread), (start, time)) = (who(random), span(random, 5_000_000));
    let operation = [0, 1, 2, 2, 2, 3, 3, 5, 9, 13][random.index(10)];
    let bytes = matches!(operation, 2 | 3).then(|| size(random));
    let fails = random.chance(4);
    FileIoRow {
        time,
        start,
        cpu: random.below(16) as i16,
        process,
        thread,
        operation,
        handle: Some(random.between(0, 1 << 40)),
        offset: bytes.map(|_| random.between(0, 1 << 24)),
        size: bytes,
        transferred: bytes.filter(|_| !fails),
        error: fails.then_some(0xc000_0034),
        status: Some(if fails { 0xc000_0034 } else { 0 }),
        file: file(random, process),
        ..FileIoRow::default()
    }
}

fn filter_call(random: &mut SplitMix64, _: usize) -> FilterCallRow {
    let ((process, thread), (start, time)) = (who(random), span(random, 400_000));
    FilterCallRow {
        time,
        start,
        cpu: random.below(16) as i16,
        process: Some(process),
        thread: Some(thread),
        phase: random.below(2) as i8,
        major: [0, 3, 4, 5, 18][random.index(5)],
        driver: Some(ModuleId(random.index(DRIVERS) as i32)),
        file: file(random, process),
        status: random.chance(1).then_some(0xc000_0022),
        ..FilterCallRow::default()
    }
}

fn socket_call(random: &mut SplitMix64, _: usize) -> SocketCallRow {
    let ((process, thread), (start, time)) = (who(random), span(random, 30_000_000));
    let operation = [0, 3, 5, 5, 5, 6, 6, 6, 6, 8][random.index(10)];
    let bytes = matches!(operation, 5 | 6).then(|| size(random));
    let fails = random.chance(3);
    SocketCallRow {
        time,
        start,
        cpu: random.below(16) as i16,
        process: Some(process),
        thread: Some(thread),
        operation,
        endpoint: Some(random.between(0, 4_000)),
        size: bytes,
        transferred: bytes.filter(|_| !fails),
        status: Some(if fails { 0xc000_020d } else { 0 }),
        address: Some(format!("10.0.{}.{}:443", random.below(4), random.below(50))),
        ..SocketCallRow::default()
    }
}

fn query(random: &mut SplitMix64, _: usize) -> DnsQueryRow {
    let ((process, thread), (start, time)) = (who(random), span(random, 2_000_000_000));
    DnsQueryRow {
        time,
        start,
        process: Some(process),
        thread: Some(thread),
        name: format!("host{}.contoso.example", skewed(random, 60)),
        query_type: Some([1, 28][random.index(2)]),
        status: Some(if random.chance(10) { 9003 } else { 0 }),
        network: Some(random.chance(50)),
        ..DnsQueryRow::default()
    }
}

fn connection(random: &mut SplitMix64, index: usize) -> ConnectionRow {
    let ((process, _), (start, end)) = (who(random), span(random, 30_000_000_000));
    let mut figure = |most: u64| random.below(most).cast_signed();
    let row = ConnectionRow {
        connection: ConnectionId(index as i32),
        process: Some(process),
        protocol: if index < TCP { 6 } else { 17 },
        local: Some("10.0.0.7".to_owned()),
        local_port: Some(40_000 + index as i32),
        remote: Some(format!("10.0.{}.{}", figure(4), figure(50))),
        remote_port: Some(443),
        start: Some(start),
        end: Some(end),
        sent: Some(figure(1 << 20)),
        received: Some(figure(1 << 24)),
        send_events: Some(figure(1_000)),
        posted_events: Some(figure(1_000)),
        receive_events: Some(figure(10_000)),
        retransmits: Some(figure(20)),
        client_retransmits: Some(figure(5)),
        keep_alives: Some(0),
        ..ConnectionRow::default()
    };
    let delay = row.retransmits.map(|retransmits| retransmits * figure(300_000_000));
    ConnectionRow { retransmit_delay: delay, retransmit_delay_max: delay, ..row }
}

fn allocation(random: &mut SplitMix64, block: usize) -> AllocationRow {
    let ((process, thread), (start, end)) = (who(random), span(random, 20_000_000_000));
    let is_open = random.chance(10);
    AllocationRow {
        time: if is_open { LENGTH } else { end },
        start,
        process,
        thread: Some(thread),
        kind: if random.chance(10) { allocation_kinds::RESERVED } else { allocation_kinds::COMMITTED },
        block: block as i32,
        last: Some(true),
        base: random.between(0, 1 << 46) & !0xfff,
        size: 4_096 << random.below(10),
        open: is_open.then_some(true),
        ..AllocationRow::default()
    }
}

fn handle(random: &mut SplitMix64, index: usize) -> HandleRow {
    let ((owner, thread), (start, end)) = (who(random), span(random, 10_000_000_000));
    let (is_open, is_there) = (random.chance(10), random.chance(20));
    let (kind, types) = match index {
        ..KERNEL => (handle_kinds::KERNEL, ["Event", "File", "Key", "Section", "Thread", "Semaphore"]),
        _ if index.is_multiple_of(2) => {
            (handle_kinds::USER, ["Window", "Menu", "Cursor", "Hook", "Timer", "Accelerator table"])
        }
        _ => (handle_kinds::GDI, ["Bitmap", "Brush", "Font", "Pen", "Region", "DC"]),
    };
    // All handles of an object have its type. Handles of windows and of GDI have no object.
    let place = random.between(0, 1 << 14);
    HandleRow {
        time: if is_open { LENGTH } else { end },
        start: if is_there { 0 } else { start },
        process: Some(owner),
        thread: Some(thread),
        owner,
        kind,
        handle: random.between(4, 1 << 14) & !3,
        object: (index < KERNEL).then_some(place << 4),
        object_type: Some(types[place as usize % 6].to_owned()),
        made_by: if is_there { handle_origins::THERE } else { handle_origins::CREATED },
        open: is_open.then_some(true),
        ..HandleRow::default()
    }
}

/// Some of the handles above are of one of these objects.
fn object(random: &mut SplitMix64, object: usize) -> ObjectRow {
    let ((process, _), (start, end)) = (who(random), span(random, 10_000_000_000));
    let (is_open, is_there) = (random.chance(10), random.chance(20));
    ObjectRow {
        time: if is_open { LENGTH } else { end },
        start: if is_there { 0 } else { start },
        object: object as i32,
        address: random.between(0, 1 << 14) << 4,
        object_type: Some(["Event", "File", "Key", "Section"][random.index(4)].to_owned()),
        process: (!is_there).then_some(process),
        references: random.between(0, 100),
        dereferences: random.between(0, 100),
        there: is_there.then_some(true),
        open: is_open.then_some(true),
        ..ObjectRow::default()
    }
}

fn memory_of_process(random: &mut SplitMix64, _: usize) -> MemoryProcessRow {
    let commit = random.between(0, 1 << 30) & !0xfff;
    MemoryProcessRow {
        time: random.between(0, LENGTH),
        process: who(random).0,
        working_set: Some(commit / 2),
        private_working_set: Some(commit / 4),
        commit: Some(commit),
        virtual_size: Some(commit * 4),
        ..MemoryProcessRow::default()
    }
}

fn memory_state(random: &mut SplitMix64, index: usize) -> MemoryStateRow {
    MemoryStateRow {
        time: index as i64 * 500_000_000,
        zero: Some(random.between(0, 1 << 30)),
        free: Some(random.between(0, 1 << 28)),
        modified: Some(random.between(0, 1 << 28)),
        active: Some(random.between(1 << 33, 1 << 34)),
        standby: Some((0..8).map(|_| random.between(0, 1 << 30)).collect()),
        commit: Some(random.between(1 << 33, 1 << 34)),
        ..MemoryStateRow::default()
    }
}

fn mark(random: &mut SplitMix64, index: usize) -> MarkRow {
    MarkRow { time: random.between(0, LENGTH), text: format!("step {index}"), ..MarkRow::default() }
}

fn setting(index: usize) -> PowerSettingRow {
    PowerSettingRow {
        setting: format!("{index:08x}-7e2a-4b1c-9d3e-0123456789ab"),
        value: Some(index as i64 * 3),
        ..PowerSettingRow::default()
    }
}

/// Stays in idle states, 16 CPUs, each about every 12 ms.
fn idle_states(seed: u64) -> impl Iterator<Item = CpuIdleStateRow> {
    let mut random = SplitMix64::new(seed);
    let mut before = [0_i64; 16];
    (0..80_000).map(move |row| {
        let (cpu, time) = (row % 16, (row / 16 + 1) as i64 * 12_000_000 + (row % 16) as i64);
        let start = random.between(before[cpu], time);
        before[cpu] = time;
        CpuIdleStateRow { time, cpu: cpu as i16, start, state: random.below(4) as i16 }
    })
}
