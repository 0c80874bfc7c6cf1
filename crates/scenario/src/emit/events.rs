//! The events themselves, without their stacks.

use tracesift_etl::write::payload::{
    ContextSwitch, CounterSample, DiskInit, DiskTransfer, FileName, HardFault, Image, Mark, ReadyThread, Sample,
    SampleInterval, Thread,
};

use super::list::{HeadKind, RecordList};
use super::rundown;
use crate::Scenario;
use crate::record::{DiskIo, Event, Record, Switch};

/// Address of the file object behind a file's index.
pub(super) fn file_key(scenario: &Scenario, file: usize) -> u64 {
    super::kernel_base(scenario.machine.pointer_size) + 0x00A0_0000 + file as u64 * 0x80
}

pub(super) fn all(scenario: &Scenario, list: &mut RecordList) {
    let machine = &scenario.machine;
    for Record { ticks, cpu, event } in &scenario.records {
        let (ticks, cpu) = (*ticks, *cpu);
        match event {
            Event::ProcessStart { process, by } => process_start(scenario, list, ticks, cpu, (*process, *by)),
            Event::ProcessEnd { process, by } => process_end(scenario, list, ticks, cpu, (*process, *by)),
            Event::ThreadStart { thread, by } => {
                rundown::thread(scenario, list, ticks, cpu, system(scenario, Thread::START, *by), *thread);
            }
            Event::ThreadEnd { thread } => {
                rundown::thread(scenario, list, ticks, cpu, system(scenario, Thread::END, *thread), *thread);
            }
            Event::Switch(switch) => context_switch(scenario, list, ticks, cpu, switch),
            Event::Ready(ready) => {
                let payload = ReadyThread {
                    tid: machine.threads[ready.thread].tid,
                    adjust_reason: ready.adjust_reason,
                    adjust_increment: ready.adjust_increment,
                    flags: ready.flags,
                };
                list.push(ticks, cpu, HeadKind::Perfinfo(ReadyThread::HOOK), |out| payload.encode(out));
            }
            Event::Sample(sample) => {
                let payload = Sample {
                    instruction: machine.address(sample.function),
                    tid: machine.threads[sample.thread].tid,
                    count: sample.count,
                    in_dpc: sample.in_dpc,
                    in_isr: sample.in_isr,
                    priority: sample.priority,
                };
                list.push(ticks, cpu, HeadKind::Perfinfo(Sample::HOOK), |out| payload.encode(out));
            }
            Event::CounterSample(sample) => {
                let payload = CounterSample {
                    instruction: machine.address(sample.function),
                    tid: machine.threads[sample.thread].tid,
                    source: sample.source,
                };
                list.push(ticks, cpu, HeadKind::Perfinfo(CounterSample::HOOK), |out| payload.encode(out));
            }
            Event::Interval { new, old } => {
                let payload = SampleInterval { source: 0, new_interval: *new, old_interval: *old, name: "Timer" };
                list.push(ticks, cpu, HeadKind::Perfinfo(SampleInterval::SET), |out| payload.encode(out));
            }
            Event::Disk(disk) => disk_io(scenario, list, ticks, cpu, disk),
            Event::HardFault(fault) => {
                let payload = HardFault {
                    start: fault.start,
                    offset: fault.offset,
                    address: fault.address,
                    file_key: file_key(scenario, fault.file),
                    tid: machine.threads[fault.thread].tid,
                    size: fault.size,
                };
                let head = system(scenario, HardFault::HOOK, fault.thread);
                list.push(ticks, cpu, head, |out| payload.encode(out));
            }
            Event::Mark { thread, text } => {
                list.push(ticks, cpu, system(scenario, Mark::HOOK, *thread), |out| Mark { text }.encode(out));
            }
        }
    }
    for (index, path) in scenario.recording.files.iter().enumerate() {
        let key = file_key(scenario, index);
        let ticks = rundown::end_ticks(scenario);
        list.push(ticks, 0, HeadKind::Perfinfo(FileName::RUNDOWN), |out| FileName { key, path }.encode(out));
    }
}

/// A process starts, and its images are loaded.
fn process_start(scenario: &Scenario, list: &mut RecordList, ticks: i64, cpu: u16, (process, by): (usize, usize)) {
    let machine = &scenario.machine;
    let head = system(scenario, tracesift_etl::write::payload::Process::START, by);
    rundown::process(scenario, list, ticks, cpu, head, process);
    // The new process maps its images itself, but has no thread yet: the loader's records name the creator.
    for (index, image) in machine.processes[process].images.iter().enumerate() {
        if !machine.images[*image].kernel {
            let head = system(scenario, Image::LOAD, by);
            rundown::image(scenario, list, ticks + 1 + index as i64, cpu, head, process, *image);
        }
    }
}

/// A process ends, and its images are unloaded.
fn process_end(scenario: &Scenario, list: &mut RecordList, ticks: i64, cpu: u16, (process, by): (usize, usize)) {
    let machine = &scenario.machine;
    let head = system(scenario, tracesift_etl::write::payload::Process::END, by);
    rundown::process(scenario, list, ticks, cpu, head, process);
    // The last thread still runs in its images for a moment; then System takes the process apart.
    let later = (ticks + machine.frequency / 1_000).min(scenario.recording.end_ticks);
    for image in machine.processes[process].images.iter().filter(|image| !machine.images[**image].kernel) {
        let head = HeadKind::System { hook: Image::UNLOAD, pid: 4, tid: 8 };
        rundown::image(scenario, list, later, cpu, head, process, *image);
    }
}

/// A SYSTEM header that names `thread` as the one that logged the record.
pub(super) fn system(scenario: &Scenario, hook: tracesift_etl::write::Hook, thread: usize) -> HeadKind {
    let machine = &scenario.machine;
    HeadKind::System { hook, pid: machine.pid_of(thread), tid: machine.threads[thread].tid }
}

fn context_switch(scenario: &Scenario, list: &mut RecordList, ticks: i64, cpu: u16, switch: &Switch) {
    let threads = &scenario.machine.threads;
    let payload = ContextSwitch {
        new_tid: threads[switch.new].tid,
        old_tid: threads[switch.old].tid,
        new_priority: switch.new_priority,
        old_priority: switch.old_priority,
        previous_c_state: switch.previous_c_state,
        wait_reason: switch.wait_reason,
        wait_mode: i8::from(switch.user_mode_wait),
        old_state: switch.old_state,
        ideal_cpu: cpu.min(255) as u8,
        new_wait_ticks: 1,
        remaining_quantum: 0,
    };
    // Windows 7 writes version 2; the bytes of version 4 are the same.
    let hook = ContextSwitch::HOOK.with_version(if scenario.recording.windows7 { 2 } else { 4 });
    let head = if switch.counters.is_empty() {
        HeadKind::Perfinfo(hook)
    } else {
        HeadKind::Counted(hook, list.keep_counters(&switch.counters))
    };
    list.push(ticks, cpu, head, |out| payload.encode(out));
}

fn disk_io(scenario: &Scenario, list: &mut RecordList, ticks: i64, cpu: u16, disk: &DiskIo) {
    let irp = super::kernel_base(scenario.machine.pointer_size) + 0x00B0_0000 + (disk.offset & 0xFFFF) * 0x10;
    let tid = scenario.machine.threads[disk.thread].tid;
    let (init, done) =
        if disk.write { (DiskInit::WRITE, DiskTransfer::WRITE) } else { (DiskInit::READ, DiskTransfer::READ) };
    let head = system(scenario, init, disk.thread);
    list.push(disk.start, disk.start_cpu, head, |out| DiskInit { irp, tid }.encode(out));
    let payload = DiskTransfer {
        disk: 0,
        // Paging I/O without cache, normal priority.
        irp_flags: 0x3 | 3 << 17,
        size: disk.size,
        offset: disk.offset,
        file_key: file_key(scenario, disk.file),
        irp,
        response_ticks: (ticks - disk.start).cast_unsigned(),
        tid,
    };
    list.push(ticks, cpu, HeadKind::Perfinfo(done), |out| payload.encode(out));
}
