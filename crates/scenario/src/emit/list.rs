//! Encoded records with their header kinds, sorted by time before they are written.

use std::ops::Range;

use tracesift_etl::Guid;
use tracesift_etl::write::payload::Bytes;
use tracesift_etl::write::{Head, Hook, PointerSize};

/// File that a record goes to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Target {
    Main,
    /// Events of the .NET runtime.
    Managed,
}

/// A header without what it borrows.
#[derive(Clone, Debug)]
pub(super) enum HeadKind {
    Perfinfo(Hook),
    /// With hardware counters, as a range of the list's counters.
    Counted(Hook, Range<usize>),
    System {
        hook: Hook,
        pid: u32,
        tid: u32,
    },
    Full {
        class: Guid,
        kind: (u8, u16),
        pid: u32,
        tid: u32,
    },
    Event {
        provider: Guid,
        id: u16,
        version: u8,
        keyword: u64,
        pid: u32,
        tid: u32,
    },
}

#[derive(Clone, Debug)]
struct Entry {
    ticks: i64,
    cpu: u16,
    head: HeadKind,
    payload: Range<usize>,
}

/// All records of a recording.
#[derive(Debug)]
pub(super) struct RecordList {
    pointer_size: PointerSize,
    entries: Vec<Entry>,
    payloads: Vec<u8>,
    counters: Vec<u64>,
    /// Images whose version resource has been written: once per file.
    mentioned: Vec<usize>,
    scratch: Bytes,
}

/// One record of the list.
pub(super) struct ListedRecord<'a> {
    pub(super) ticks: i64,
    pub(super) cpu: u16,
    pub(super) target: Target,
    pub(super) pointer_size: PointerSize,
    pub(super) payload: &'a [u8],
    kind: &'a HeadKind,
    counters: &'a [u64],
}

impl RecordList {
    pub(super) fn new(pointer_size: PointerSize) -> Self {
        Self {
            pointer_size,
            entries: Vec::new(),
            payloads: Vec::new(),
            counters: Vec::new(),
            mentioned: Vec::new(),
            scratch: Bytes::new(pointer_size),
        }
    }

    /// Adds a record whose payload `encode` appends.
    pub(super) fn push(&mut self, ticks: i64, cpu: u16, head: HeadKind, encode: impl FnOnce(&mut Bytes)) {
        self.scratch.clear();
        encode(&mut self.scratch);
        let start = self.payloads.len();
        self.payloads.extend_from_slice(self.scratch.as_slice());
        self.entries.push(Entry { ticks, cpu, head, payload: start..self.payloads.len() });
    }

    /// Keeps hardware counters for a [`HeadKind::Counted`].
    pub(super) fn keep_counters(&mut self, counters: &[u64]) -> Range<usize> {
        let start = self.counters.len();
        self.counters.extend_from_slice(counters);
        start..self.counters.len()
    }

    /// Whether an image is mentioned for the first time.
    pub(super) fn first_mention(&mut self, image: usize) -> bool {
        let first = !self.mentioned.contains(&image);
        if first {
            self.mentioned.push(image);
        }
        first
    }

    /// Sorts by time; records of one time and CPU stay in the order in which they were added.
    pub(super) fn sort(&mut self) {
        self.entries.sort_by_key(|entry| (entry.ticks, entry.cpu));
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = ListedRecord<'_>> {
        self.entries.iter().map(|entry| ListedRecord {
            ticks: entry.ticks,
            cpu: entry.cpu,
            target: if matches!(entry.head, HeadKind::Event { .. }) { Target::Managed } else { Target::Main },
            pointer_size: self.pointer_size,
            payload: &self.payloads[entry.payload.clone()],
            kind: &entry.head,
            counters: match &entry.head {
                HeadKind::Counted(_, range) => &self.counters[range.clone()],
                _ => &[],
            },
        })
    }
}

impl ListedRecord<'_> {
    pub(super) fn head(&self) -> Head<'_> {
        match *self.kind {
            HeadKind::Perfinfo(hook) | HeadKind::Counted(hook, _) => Head::Perfinfo { hook, counters: self.counters },
            HeadKind::System { hook, pid, tid } => Head::System { hook, pid, tid },
            HeadKind::Full { class, kind: (opcode, version), pid, tid } => {
                Head::Full { class, opcode, version, pid, tid }
            }
            HeadKind::Event { provider, id, version, keyword, pid, tid } => Head::Event {
                provider,
                id,
                version,
                channel: 0,
                level: 4,
                opcode: 0,
                task: 0,
                keyword,
                activity: Guid::ZERO,
                pid,
                tid,
                extended: &[],
            },
        }
    }
}
