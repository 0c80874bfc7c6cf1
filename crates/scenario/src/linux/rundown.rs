//! Records of tasks and mappings; what is there before the recording starts is told without a time.

use super::events::Event;
use super::fields::Fields;
use super::layout::{KERNEL_BASE, KERNEL_BYTES, MISC_KERNEL, MISC_USER};
use super::tasks::{Task, Tasks, path};

const RECORD_MMAP: u32 = 1;
const RECORD_LOST: u32 = 2;
const RECORD_COMM: u32 = 3;
const RECORD_EXIT: u32 = 4;
const RECORD_FORK: u32 = 7;
const RECORD_MMAP2: u32 = 10;
/// The name is that of a program that starts.
const MISC_COMM_EXEC: u16 = 1 << 13;
/// `PROT_READ | PROT_EXEC`.
const READ_AND_EXECUTE: u32 = 5;
/// `MAP_PRIVATE`.
const PRIVATE: u32 = 2;

/// The fields behind each record that is no sample.
pub(super) fn sample_id(out: &mut Fields, ids: (i32, i32), time: u64, cpu: u16) {
    out.i32(ids.0).i32(ids.1).u64(time).u32(cpu.into()).u32(0).u64(Event::Dummy.id(cpu));
}

/// The kernel, and who is there with what.
pub(super) fn write(out: &mut Fields, tasks: &Tasks) {
    out.record(RECORD_MMAP, MISC_KERNEL, |out| {
        out.i32(-1).i32(0).u64s(&[KERNEL_BASE, KERNEL_BYTES, KERNEL_BASE]).padded("[kernel.kallsyms]_text");
        sample_id(out, (-1, 0), 0, 0);
    });
    for task in tasks.at_start() {
        fork(out, task, (task.pid, task.pid), 0, 0);
        comm(out, task, false, 0, 0);
        if !task.is_thread {
            mappings(out, task, tasks, 0, 0);
        }
    }
}

/// A thread starts; its creator's process and thread.
pub(super) fn fork(out: &mut Fields, task: &Task, creator: (u32, u32), time: u64, cpu: u16) {
    out.record(RECORD_FORK, 0, |out| {
        out.u32(task.pid).u32(creator.0).u32(task.tid).u32(creator.1).u64(time);
        sample_id(out, (creator.0.cast_signed(), creator.1.cast_signed()), time, cpu);
    });
}

/// A sample found no room.
pub(super) fn lost(out: &mut Fields, event: Event, time: u64, cpu: u16) {
    out.record(RECORD_LOST, 0, |out| {
        out.u64s(&[event.id(cpu), 1]);
        sample_id(out, (0, 0), time, cpu);
    });
}

/// A thread ends.
pub(super) fn exit(out: &mut Fields, task: &Task, time: u64, cpu: u16) {
    out.record(RECORD_EXIT, 0, |out| {
        out.u32(task.pid).u32(task.pid).u32(task.tid).u32(task.pid).u64(time);
        sample_id(out, task.ids(), time, cpu);
    });
}

/// A thread's name; `exec`: with it starts another program.
pub(super) fn comm(out: &mut Fields, task: &Task, exec: bool, time: u64, cpu: u16) {
    out.record(RECORD_COMM, if exec { MISC_COMM_EXEC } else { 0 }, |out| {
        out.u32(task.pid).u32(task.tid).padded(&task.comm());
        sample_id(out, task.ids(), time, cpu);
    });
}

/// The files of a process.
pub(super) fn mappings(out: &mut Fields, task: &Task, tasks: &Tasks, time: u64, cpu: u16) {
    let Some(program) = task.program else { return };
    for file in 0..tasks.files() {
        let start = tasks.base_of(task.pid) + file * Tasks::FILE_BYTES;
        out.record(RECORD_MMAP2, MISC_USER, |out| {
            out.u32(task.pid).u32(task.tid).u64s(&[start, Tasks::FILE_BYTES, 0]);
            let inode = if file == 0 { 1_000 + u64::from(program) } else { file };
            out.u32(254).u32(1).u64s(&[inode, 0]).u32(READ_AND_EXECUTE).u32(PRIVATE).padded(&path(program, file));
            sample_id(out, task.ids(), time, cpu);
        });
    }
}
