//! Hundreds of archives with what made code slow: compilations and allocations of .NET, exceptions, locks, system calls, interrupts, the
//! registry, thread pools.

use std::path::{Path, PathBuf};

use anyhow::Context as _;
use tracesift_analysis::syscall_sums::SyscallSums;
use tracesift_archive::{ArchiveWriter, WriterOptions};
use tracesift_scenario::SplitMix64;
use tracesift_trace::info::TraceInfo;
use tracesift_trace::rows::{
    ClrAllocationRow, ExceptionRow, InterruptRow, JitMethodRow, LockWaitRow, ModuleRow, RegistryRow, StackRow,
    SyscallNameRow, SyscallRow, ThreadPoolRow, interrupt_kinds,
};
use tracesift_trace::{Clock, FrameId, Health, ModuleId, RowSink as _, StackId};

use super::archives::{self, LENGTH, description, processes, threads};
use super::made::{Made, skewed, span, who};
use super::runtime_classes;

/// Stacks of each.
const STACKS: usize = 10_000;
/// Drivers of each.
const DRIVERS: usize = 40;
/// Kinds of system calls of each.
const CALLS: usize = 120;
/// Kinds of system calls of a process.
const KINDS: usize = 30;

/// The directory with the archives, made where it is not there yet.
pub(super) fn directory(parent: &Path) -> anyhow::Result<PathBuf> {
    archives::in_parallel(parent, ("code", 3), write)
}

fn write(directory: &Path, index: usize) -> anyhow::Result<()> {
    let info = TraceInfo { has_switches: false, has_ready: false, ..description(index) };
    let target = directory.join(format!("{}.sift", info.name));
    let options = WriterOptions { trace: format!("{:032x}", 0xc0de_0000 + index), ..WriterOptions::default() };
    let mut writer = ArchiveWriter::create(&target, options)?;
    let mut random = SplitMix64::new(11_000 + index as u64);
    writer.write_table(&processes(&mut random));
    writer.write_table(&threads());
    writer.write_table(&(0..DRIVERS).map(driver).collect::<Vec<_>>());
    writer.write_table(&(0..CALLS).map(call_name).collect::<Vec<_>>());
    for stack in 0..STACKS {
        let frames = (0..6).map(|_| FrameId(random.below(2_000) as i32)).collect();
        writer.stack(&StackRow { stack: StackId(stack as i32), frames });
    }
    let mut made = Made { random, writer: &mut writer };
    made.rows(3_000, compilation, |row| row.time);
    made.rows(30_000, allocation, |row| row.time);
    made.rows(2_000, exception, |row| row.time);
    made.rows(10_000, lock_wait, |row| row.time);
    system_calls(&mut made);
    made.rows(60_000, interrupt, |row| row.time);
    made.rows(30_000, registry_operation, |row| row.time);
    made.rows(500, pool_event, |row| row.time);
    runtime_classes::write(&mut made);
    writer.finish(info, &Health::new(), &Clock::new(0, 10_000_000)).context("cannot write an archive")?;
    Ok(())
}

fn driver(module: usize) -> ModuleRow {
    ModuleRow { module: ModuleId(module as i32), name: format!("driver{module}.sys"), ..ModuleRow::default() }
}

fn call_name(number: usize) -> SyscallNameRow {
    SyscallNameRow { number: number as i32, name: format!("NtCall{number}") }
}

fn stack(random: &mut SplitMix64) -> Option<StackId> {
    Some(StackId(skewed(random, STACKS) as i32))
}

/// Of a few dozen processes that run code of .NET.
pub(super) fn who_manages(random: &mut SplitMix64) -> (tracesift_trace::ProcessId, tracesift_trace::ThreadId) {
    let index = 2 + skewed(random, 40) as i32;
    (tracesift_trace::ProcessId(index), tracesift_trace::ThreadId(index))
}

fn compilation(random: &mut SplitMix64, index: usize) -> JitMethodRow {
    let ((process, thread), (start, time)) = (who_manages(random), span(random, 4_000_000));
    JitMethodRow {
        time,
        start,
        cpu: random.below(16) as i16,
        process: Some(process),
        thread: Some(thread),
        stack: stack(random),
        module: Some(format!("Contoso.Shop{}.dll", random.below(60))),
        namespace: format!("Contoso.Shop.Part{}", random.below(300)),
        method: format!("Method{index}"),
        arguments: "(int32)".to_owned(),
        il_size: random.between(1, 4_000),
        native_size: Some(random.between(10, 20_000)),
        tier: Some(random.below(4) as i8),
        trigger: random.below(2) as i8,
        exclusive: Some(time - start),
        ..JitMethodRow::default()
    }
}

fn allocation(random: &mut SplitMix64, _: usize) -> ClrAllocationRow {
    let (process, thread) = who_manages(random);
    ClrAllocationRow {
        time: random.between(0, LENGTH),
        cpu: random.below(16) as i16,
        process: Some(process),
        thread: Some(thread),
        stack: stack(random),
        kind: Some(i8::from(random.chance(10))),
        amount: random.between(100_000, 110_000),
        object_type: Some(format!("Contoso.Shop.Type{}", skewed(random, 500))),
        ..ClrAllocationRow::default()
    }
}

fn exception(random: &mut SplitMix64, _: usize) -> ExceptionRow {
    let (process, thread) = who_manages(random);
    let number = skewed(random, 50);
    ExceptionRow {
        time: random.between(0, LENGTH),
        cpu: random.below(16) as i16,
        process: Some(process),
        thread: Some(thread),
        stack: stack(random),
        exception_type: Some(format!("Contoso.Shop.Exception{}", number % 12)),
        message: Some(format!("The order {number} is not there.")),
        flags: Some(if random.chance(20) { 4 } else { 0 }),
        handling: 1,
        ..ExceptionRow::default()
    }
}

fn lock_wait(random: &mut SplitMix64, _: usize) -> LockWaitRow {
    let ((process, thread), (start, time)) = (who(random), span(random, 30_000_000));
    LockWaitRow {
        time,
        start,
        cpu: random.below(16) as i16,
        process: Some(process),
        thread: Some(thread),
        lock: Some(random.between(0, 1 << 20) << 3),
        stack: stack(random),
        ..LockWaitRow::default()
    }
}

/// System calls and their sums.
fn system_calls(made: &mut Made<'_>) {
    let mut calls: Vec<SyscallRow> = (0..100_000).map(|_| system_call(&mut made.random)).collect();
    calls.sort_by_key(|row| row.time);
    let mut sums = SyscallSums::default();
    calls.iter().for_each(|call| sums.add(call));
    made.writer.write_table(&calls);
    made.writer.write_table(&sums.finish());
}

/// A process makes a few dozen kinds of calls, some of them far more often than others, and few kinds fail.
fn system_call(random: &mut SplitMix64) -> SyscallRow {
    let ((process, thread), (start, time)) = (who(random), span(random, 2_000_000));
    let kind = skewed(random, KINDS).min(skewed(random, KINDS));
    let number = (kind * 7 + process.index() * 3) % CALLS;
    let fails = number.is_multiple_of(4) && random.chance(20);
    SyscallRow {
        time,
        start,
        cpu: random.below(16) as i16,
        process,
        thread,
        number: number as i32,
        result: Some(if fails { 0xc000_0034 } else { 0 }),
        error: fails.then_some(0xc000_0034),
        ..SyscallRow::default()
    }
}

fn interrupt(random: &mut SplitMix64, _: usize) -> InterruptRow {
    let ((process, thread), (start, time)) = (who(random), span(random, 300_000));
    let kind = [interrupt_kinds::ISR, interrupt_kinds::DPC][random.index(2)];
    InterruptRow {
        time,
        start,
        cpu: random.below(16) as i16,
        process: Some(process),
        thread: Some(thread),
        kind,
        module: Some(ModuleId(skewed(random, DRIVERS) as i32)),
        vector: Some(random.below(40) as i32),
        exclusive: Some(time - start),
        ..InterruptRow::default()
    }
}

fn registry_operation(random: &mut SplitMix64, _: usize) -> RegistryRow {
    let ((process, thread), (start, time)) = (who(random), span(random, 500_000));
    let key = skewed(random, 3_000);
    RegistryRow {
        time,
        start,
        cpu: random.below(16) as i16,
        process: Some(process),
        thread: Some(thread),
        operation: random.below(12) as i8,
        key: Some(format!(r"\REGISTRY\MACHINE\SOFTWARE\Contoso\Shop{}\Key{key}", key % 30)),
        status: if random.chance(15) { 0xc000_0034 } else { 0 },
        begin_unknown: Some(false),
        ..RegistryRow::default()
    }
}

fn pool_event(random: &mut SplitMix64, _: usize) -> ThreadPoolRow {
    let (process, thread) = who_manages(random);
    let is_change = random.chance(40);
    ThreadPoolRow {
        time: random.between(0, LENGTH),
        cpu: random.below(16) as i16,
        process: Some(process),
        thread: Some(thread),
        event: if is_change { 0 } else { 1 },
        workers: Some(random.below(64) as i32),
        reason: is_change.then(|| random.below(8) as i8),
        ..ThreadPoolRow::default()
    }
}
