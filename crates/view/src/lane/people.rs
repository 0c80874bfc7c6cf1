//! Processes and threads of a recording as lanes name them.

use rustc_hash::FxHashMap;
use tracesift_archive::Error;
use tracesift_ask::process_columns::name_with_marks;
use tracesift_ask::recording::OpenRecording;
use tracesift_ask::thread_label;
use tracesift_trace::rows::{ProcessRow, ThreadRow};
use tracesift_trace::{ProcessId, ThreadId};

/// The processes and threads of a recording.
pub(crate) struct People {
    pub(crate) processes: Vec<ProcessRow>,
    pub(crate) threads: Vec<ThreadRow>,
    process_at: FxHashMap<ProcessId, usize>,
    thread_at: FxHashMap<ThreadId, usize>,
}

impl People {
    pub(crate) fn of(recording: &OpenRecording) -> Result<Self, Error> {
        let (processes, threads): (Vec<ProcessRow>, Vec<ThreadRow>) =
            (recording.archive().rows()?, recording.archive().rows()?);
        let process_at = processes.iter().enumerate().map(|(at, row)| (row.process, at)).collect();
        let thread_at = threads.iter().enumerate().map(|(at, row)| (row.thread, at)).collect();
        Ok(Self { processes, threads, process_at, thread_at })
    }

    pub(crate) fn process(&self, id: ProcessId) -> Option<&ProcessRow> {
        self.processes.get(*self.process_at.get(&id)?)
    }

    pub(crate) fn thread(&self, id: ThreadId) -> Option<&ThreadRow> {
        self.threads.get(*self.thread_at.get(&id)?)
    }

    /// The name of a process as answers have it.
    pub(crate) fn process_name(&self, id: ProcessId) -> Option<String> {
        self.process(id).map(name_with_marks)
    }

    /// The name of a thread as answers have it.
    pub(crate) fn thread_name(&self, id: ThreadId) -> Option<String> {
        let row = self.thread(id)?;
        Some(thread_label(self.process(row.process), row))
    }

    /// The thread with this id of the operating system that lived at an instant.
    pub(crate) fn thread_at(&self, pid: i64, tid: i64, time: i64) -> Option<ThreadId> {
        let lives = |row: &&ThreadRow| {
            row.tid == tid
                && row.start.is_none_or(|start| start <= time)
                && row.end.is_none_or(|end| time <= end)
                && self.process(row.process).is_some_and(|process| process.pid == pid)
        };
        self.threads.iter().find(lives).map(|row| row.thread)
    }
}
