//! Who a thread is, in words that are the same in the next recording: roles of processes and threads in place of ids.

use std::collections::BTreeSet;

use rustc_hash::FxHashMap;
use tracesift_analysis::roles;
use tracesift_trace::rows::{ProcessRow, ThreadRow};
use tracesift_trace::{ProcessId, ThreadId};

use super::window::People;
use crate::processes::Processes;

/// Who a thread is.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Party {
    /// Role of its process.
    pub(crate) process: String,
    /// Its role in the process.
    pub(crate) thread: String,
    /// File name of the process's image.
    pub(crate) image: String,
    /// Its name.
    pub(crate) thread_name: Option<String>,
    /// Whether its process is the test, or a process that this one started.
    pub(crate) is_of_test: bool,
    /// Whether its process is the kernel.
    pub(crate) is_of_kernel: bool,
}

/// The parties of a recording, by number.
pub(crate) struct Parties<'a> {
    threads: FxHashMap<ThreadId, &'a ThreadRow>,
    processes: FxHashMap<ProcessId, &'a ProcessRow>,
    first_threads: FxHashMap<ProcessId, ThreadId>,
    test: BTreeSet<ProcessId>,
    is_linux: bool,
    of_thread: FxHashMap<ThreadId, u32>,
    numbers: FxHashMap<Party, u32>,
    parties: Vec<Party>,
}

impl<'a> Parties<'a> {
    /// Those of a recording in which `test` is tested.
    pub(crate) fn new(people: People<'a>, test: Option<ProcessId>, is_linux: bool) -> Self {
        Self {
            threads: people.threads.iter().map(|row| (row.thread, row)).collect(),
            processes: people.processes.iter().map(|row| (row.process, row)).collect(),
            first_threads: people.first_threads(),
            test: family(people.processes, test),
            is_linux,
            of_thread: FxHashMap::default(),
            numbers: FxHashMap::default(),
            parties: Vec::new(),
        }
    }

    /// The number of the party of a thread.
    pub(crate) fn of(&mut self, thread: ThreadId) -> u32 {
        if let Some(known) = self.of_thread.get(&thread) {
            return *known;
        }
        let party = self.party(thread);
        let next = u32::try_from(self.parties.len()).unwrap_or(u32::MAX);
        let number = *self.numbers.entry(party).or_insert_with_key(|party| {
            self.parties.push(party.clone());
            next
        });
        self.of_thread.insert(thread, number);
        number
    }

    /// The number of the party of a thread, if somebody asked for it before.
    pub(crate) fn known(&self, thread: ThreadId) -> Option<u32> {
        self.of_thread.get(&thread).copied()
    }

    /// The rows of a thread and of its process.
    pub(crate) fn rows_of(&self, thread: ThreadId) -> (Option<&'a ThreadRow>, Option<&'a ProcessRow>) {
        let row = self.threads.get(&thread).copied();
        (row, row.and_then(|row| self.processes.get(&row.process)).copied())
    }

    /// Whether a thread stands for a CPU that has nothing to do.
    pub(crate) fn is_idle(&self, thread: ThreadId) -> bool {
        self.threads.get(&thread).is_some_and(|row| row.idle_cpu.is_some())
    }

    /// The party with a number of [`Self::of`].
    pub(crate) fn party_of(&self, number: u32) -> Option<&Party> {
        self.parties.get(number as usize)
    }

    fn party(&self, thread: ThreadId) -> Party {
        let row = self.threads.get(&thread);
        let process = row.and_then(|row| self.processes.get(&row.process));
        let is_of_kernel = process.is_some_and(|process| self.is_kernel(process));
        let image = process.map_or("(unknown process)", |process| &process.name);
        let name = row.and_then(|row| row.name.as_deref());
        let is_first = row.is_some_and(|row| self.first_threads.get(&row.process) == Some(&thread));
        let service = row.and_then(|row| row.service.as_deref());
        let command_line = process.and_then(|process| process.command_line.as_deref());
        Party {
            process: roles::process_role(image, command_line, service),
            thread: roles::thread_role(is_first, name, None),
            image: image.to_owned(),
            thread_name: name.map(str::to_owned),
            is_of_test: process.is_some_and(|process| self.test.contains(&process.process)),
            is_of_kernel,
        }
    }

    /// Whether a process stands for the kernel: the threads of Linux's kernel are processes whose parent is process 2.
    fn is_kernel(&self, process: &ProcessRow) -> bool {
        if self.is_linux { process.pid == 2 || process.parent_pid == Some(2) } else { process.pid == 4 }
    }
}

/// A process with all that it started, and all that those started.
pub(crate) fn family(processes: &[ProcessRow], root: Option<ProcessId>) -> BTreeSet<ProcessId> {
    let Some(root) = root else { return BTreeSet::new() };
    let all = Processes::new(processes);
    roles::of_test(
        root,
        processes.iter().enumerate().map(|(at, row)| (row.process, all.parent(at).map(|row| row.process))),
    )
}
