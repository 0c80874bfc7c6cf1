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
const RECORD_KSYMBOL: u32 = 17;
/// `PERF_RECORD_KSYMBOL_TYPE_OOL`.
const OUT_OF_LINE: u16 = 2;
/// Bytes of a function of the kernel that has a name.
pub(crate) const FUNCTION_BYTES: u32 = 0x1000;
/// The name is that of a program that starts.
const MISC_COMM_EXEC: u16 = 1 << 13;
/// `PROT_READ | PROT_EXEC`.
const READ_AND_EXECUTE: u32 = 5;
/// `MAP_PRIVATE`.
const PRIVATE: u32 = 2;

/// The fields behind each record that is no sample.
pub(crate) fn sample_id(out: &mut Fields, ids: (i32, i32), time: u64, cpu: u16) {
    out.i32(ids.0).i32(ids.1).u64(time).u32(cpu.into()).u32(0).u64(Event::Dummy.id(cpu));
}

/// The kernel, and who is there with what.
pub(super) fn write(out: &mut Fields, tasks: &Tasks) {
    kernel(out, &[]);
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
    forked(out, (task.pid, task.tid), creator, time, cpu);
}

/// The same by process and thread.
pub(crate) fn forked(out: &mut Fields, (pid, tid): (u32, u32), creator: (u32, u32), time: u64, cpu: u16) {
    out.record(RECORD_FORK, 0, |out| {
        out.u32(pid).u32(creator.0).u32(tid).u32(creator.1).u64(time);
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
    exited(out, (task.pid, task.tid), task.ids(), time, cpu);
}

/// The same by process and thread, and the ids that its samples have.
pub(crate) fn exited(out: &mut Fields, (pid, tid): (u32, u32), ids: (i32, i32), time: u64, cpu: u16) {
    out.record(RECORD_EXIT, 0, |out| {
        out.u32(pid).u32(pid).u32(tid).u32(pid).u64(time);
        sample_id(out, ids, time, cpu);
    });
}

/// A thread's name; `exec`: with it starts another program.
pub(super) fn comm(out: &mut Fields, task: &Task, exec: bool, time: u64, cpu: u16) {
    out.record(RECORD_COMM, if exec { MISC_COMM_EXEC } else { 0 }, |out| {
        out.u32(task.pid).u32(task.tid).padded(&task.comm());
        sample_id(out, task.ids(), time, cpu);
    });
}

/// The same by process and thread.
pub(crate) fn named(out: &mut Fields, (pid, tid): (u32, u32), name: &str, exec: bool, (time, cpu): (u64, u16)) {
    out.record(RECORD_COMM, if exec { MISC_COMM_EXEC } else { 0 }, |out| {
        out.u32(pid).u32(tid).padded(name);
        sample_id(out, (pid.cast_signed(), tid.cast_signed()), time, cpu);
    });
}

/// A file that a process maps to run it: where, how many bytes, and its path.
pub(crate) fn mapped(out: &mut Fields, pid: u32, (start, bytes): (u64, u64), path: &str, (time, cpu): (u64, u16)) {
    out.record(RECORD_MMAP2, MISC_USER, |out| {
        out.u32(pid).u32(pid).u64s(&[start, bytes, 0]);
        out.u32(254).u32(1).u64s(&[start >> 12, 0]).u32(READ_AND_EXECUTE).u32(PRIVATE).padded(path);
        sample_id(out, (pid.cast_signed(), pid.cast_signed()), time, cpu);
    });
}

/// The kernel, and functions in it that have names.
pub(crate) fn kernel(out: &mut Fields, functions: &[(u64, &str)]) {
    out.record(RECORD_MMAP, MISC_KERNEL, |out| {
        out.i32(-1).i32(0).u64s(&[KERNEL_BASE, KERNEL_BYTES, KERNEL_BASE]).padded("[kernel.kallsyms]_text");
        sample_id(out, (-1, 0), 0, 0);
    });
    for (address, name) in functions {
        out.record(RECORD_KSYMBOL, 0, |out| {
            out.u64(*address).u32(FUNCTION_BYTES).u16(OUT_OF_LINE).u16(0).padded(name);
            sample_id(out, (0, 0), 0, 0);
        });
    }
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
