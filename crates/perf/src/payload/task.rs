//! Processes and threads: names, beginnings, ends, switches, namespaces.

use linux_perf_event_reader::constants::{
    PERF_RECORD_MISC_COMM_EXEC, PERF_RECORD_MISC_SWITCH_OUT, PERF_RECORD_MISC_SWITCH_OUT_PREEMPT,
};

use super::words::Words;
use crate::cursor::Cursor;
use crate::error::Malformed;

/// The name of a thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Comm<'a> {
    /// The process.
    pub pid: i32,
    /// The thread.
    pub tid: i32,
    /// It has the name because it started another program.
    pub exec: bool,
    /// The name, at most 15 bytes; any byte may stand in it.
    pub name: &'a [u8],
}

impl<'a> Comm<'a> {
    pub(crate) fn parse(at: &mut Cursor<'a>, misc: u16) -> Result<Self, Malformed> {
        let exec = misc & PERF_RECORD_MISC_COMM_EXEC != 0;
        Ok(Self { pid: at.i32("process")?, tid: at.i32("thread")?, exec, name: at.c_str() })
    }
}

/// The start or end of a thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Task {
    /// Its process.
    pub pid: i32,
    /// The process that started it.
    pub parent_pid: i32,
    /// The thread.
    pub tid: i32,
    /// The thread that started it.
    pub parent_tid: i32,
    /// ns of the recording's clock.
    pub time: u64,
}

impl Task {
    pub(crate) fn parse(at: &mut Cursor<'_>) -> Result<Self, Malformed> {
        Ok(Self {
            pid: at.i32("process")?,
            parent_pid: at.i32("parent process")?,
            tid: at.i32("thread")?,
            parent_tid: at.i32("parent thread")?,
            time: at.u64("time")?,
        })
    }
}

/// A thread goes on or off a CPU.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Switch {
    /// The thread that the record belongs to goes off the CPU; else it comes on.
    pub out: bool,
    /// It went off while it could have run on.
    pub preempted: bool,
    /// The process and thread that come next, or that ran before (`SWITCH_CPU_WIDE`).
    pub other: Option<(i32, i32)>,
}

impl Switch {
    pub(crate) fn parse(at: &mut Cursor<'_>, misc: u16, wide: bool) -> Result<Self, Malformed> {
        Ok(Self {
            out: misc & PERF_RECORD_MISC_SWITCH_OUT != 0,
            preempted: misc & PERF_RECORD_MISC_SWITCH_OUT_PREEMPT != 0,
            other: if wide { Some((at.i32("process")?, at.i32("thread")?)) } else { None },
        })
    }
}

/// The namespaces of a thread.
#[derive(Clone, Copy, Debug)]
pub struct Namespaces<'a> {
    /// The process.
    pub pid: i32,
    /// The thread.
    pub tid: i32,
    words: Words<'a>,
}

/// A namespace: net, uts, ipc, pid, user, mnt, cgroup in this order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Namespace {
    /// Device of its file.
    pub device: u64,
    /// Inode of its file: the number that /proc/PID/ns shows.
    pub inode: u64,
}

impl<'a> Namespaces<'a> {
    pub(crate) fn parse(at: &mut Cursor<'a>) -> Result<Self, Malformed> {
        let (pid, tid) = (at.i32("process")?, at.i32("thread")?);
        let count = at.u64("number of namespaces")?;
        let words = at.take_u64(count.saturating_mul(16), "namespaces")?;
        Ok(Self { pid, tid, words: Words::new(words, at.endian()) })
    }

    /// The namespaces in the order of their kinds.
    pub fn iter(&self) -> impl Iterator<Item = Namespace> + use<'a> {
        let words = self.words;
        (0..words.len() / 2).filter_map(move |index| {
            Some(Namespace { device: words.get(2 * index)?, inode: words.get(2 * index + 1)? })
        })
    }
}
