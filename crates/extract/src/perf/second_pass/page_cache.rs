//! Pages of files that threads bring into the page cache: for page faults, which are hard ones then, and for reads.

use rustc_hash::FxHashMap;
use tracesift_perf::Metadata;
use tracesift_trace::rows::HardFaultRow;
use tracesift_trace::{HealthKind, RowSink, ThreadId};

use super::call_chain::stack_of;
use super::mapped_files::MappedFiles;
use super::rows::Rows;
use super::sample_context::SampleContext;
use super::syscalls::DescriptorLives;
use crate::perf::tracepoint::{FilePages, FilemapFields, Inode, PageStep, Tracepoint, TrapFields};

/// Threads that are followed at most.
const MAX_THREADS: usize = 1 << 18;

/// Follows what threads bring into the page cache.
pub(crate) struct PageCache {
    /// Bytes of a page; `None` where the recording does not tell of pages that are added, or not how large they are.
    page: Option<i64>,
    threads: FxHashMap<ThreadId, Thread>,
    pub(super) names: MappedFiles,
}

#[derive(Default)]
struct Thread {
    fault: Option<Fault>,
    read: Added,
}

/// Pages that were added during a call.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Added {
    /// Bytes of these pages.
    pub(super) bytes: i64,
    /// The file, if all of them are of one.
    pub(super) file: Option<Inode>,
}

/// A page fault that may be under way.
#[derive(Clone, Copy, Debug, Default)]
struct Fault {
    /// When the processor told of it, and the address.
    trap: Option<(i64, i64)>,
    /// The page that it needs.
    page: Option<(Inode, i64)>,
    /// The kernel named the page itself; else it is the first one that was added.
    is_named: bool,
    /// When the kernel looked for the page first, and last before it was added. The kernel looks again when it has waited.
    looked: i64,
    looked_last: i64,
    /// Bytes of the file that were added.
    read: i64,
}

impl Fault {
    fn is_at(&self, address: i64, page: i64) -> bool {
        self.trap.is_some_and(|(_, trapped)| trapped.div_euclid(page) == address.div_euclid(page))
    }

    fn looks_for(&mut self, page: (Inode, i64), ticks: i64) {
        match self.page {
            None => *self = Self { page: Some(page), is_named: true, looked: ticks, looked_last: ticks, ..*self },
            Some(known) if known == page => {
                self.is_named = true;
                if self.read == 0 {
                    self.looked_last = ticks;
                }
            }
            Some(_) => {
                *self = Self { page: Some(page), is_named: true, looked: ticks, looked_last: ticks, ..Self::default() }
            }
        }
    }

    fn adds(&mut self, pages: &FilePages, bytes: i64, ticks: i64) {
        match self.page {
            Some((file, _)) if file == pages.file => {
                if self.read == 0 {
                    self.looked = self.looked_last;
                }
                self.read = self.read.saturating_add(bytes);
            }
            None if self.trap.is_some() => {
                let page = Some((pages.file, pages.index));
                *self = Self { page, looked: ticks, looked_last: ticks, read: bytes, ..*self };
            }
            _ => {}
        }
    }
}

impl PageCache {
    /// In a recording with these events.
    pub(crate) fn of(metadata: &Metadata, tracepoints: &[Option<Tracepoint>]) -> Self {
        let page = metadata.tracing.as_ref().map(|tracing| tracing.page_size);
        let is_added = |at: &Tracepoint| matches!(at, Tracepoint::Filemap(fields) if fields.step == PageStep::Added);
        let is_followed = tracepoints.iter().flatten().any(is_added);
        let page = page.filter(|page| is_followed && page.is_power_of_two()).map(i64::from);
        Self { page, threads: FxHashMap::default(), names: MappedFiles::default() }
    }

    /// Whether there is anything to follow.
    #[inline]
    pub(crate) fn is_followed(&self) -> bool {
        self.page.is_some()
    }

    fn thread(&mut self, thread: ThreadId) -> &mut Thread {
        if self.threads.len() >= MAX_THREADS {
            self.threads.clear();
        }
        self.threads.entry(thread).or_default()
    }

    /// A tracepoint of the page cache.
    pub(crate) fn event<Sink: RowSink>(
        &mut self,
        fields: &FilemapFields,
        at: &SampleContext<'_>,
        rows: &mut Rows<'_, Sink>,
    ) {
        let Some(page) = self.page else { return };
        let Some(pages) = at.sample.raw.and_then(|raw| fields.pages(raw)) else {
            let example = || "a page of a file without its fields".to_owned();
            return rows.health.count(HealthKind::INCOMPLETE_MEMORY_EVENTS, Some(at.ticks), example);
        };
        let thread = self.thread(at.thread);
        match fields.step {
            PageStep::Fault => {
                thread.fault.get_or_insert_default().looks_for((pages.file, pages.index), at.ticks);
            }
            PageStep::Added => {
                let bytes = pages.count.saturating_mul(page);
                if let Some(fault) = &mut thread.fault {
                    fault.adds(&pages, bytes, at.ticks);
                }
                let read = &mut thread.read;
                let is_first = read.bytes == 0;
                read.file = if is_first { Some(pages.file) } else { read.file.filter(|file| *file == pages.file) };
                read.bytes = read.bytes.saturating_add(bytes);
            }
        }
    }

    /// The processor tells of a fault.
    pub(crate) fn trap(&mut self, fields: &TrapFields, at: &SampleContext<'_>) {
        if let Some(address) = at.sample.raw.and_then(|raw| fields.address.get(raw)).filter(|_| self.is_followed()) {
            self.thread(at.thread).fault = Some(Fault { trap: Some((at.ticks, address)), ..Fault::default() });
        }
    }

    /// A call begins: what was before it is none of its pages.
    #[inline]
    pub(super) fn call_begins(&mut self, thread: ThreadId) {
        if self.is_followed()
            && let Some(thread) = self.threads.get_mut(&thread)
        {
            *thread = Thread::default();
        }
    }

    /// A call ends: what it added. `None` where pages are not followed.
    #[inline]
    pub(super) fn call_ends(&mut self, thread: ThreadId) -> Option<Added> {
        self.page?;
        let Some(thread) = self.threads.get_mut(&thread) else { return Some(Added::default()) };
        Some(std::mem::take(thread).read)
    }

    /// A fault ends: the kernel counts it. A single fault for which data was read has a row where the page's file is known; tells whether.
    pub(crate) fn fault_ends<Sink: RowSink>(
        &mut self,
        is_major: bool,
        at: &SampleContext<'_>,
        descriptors: &mut DescriptorLives,
        rows: &mut Rows<'_, Sink>,
    ) -> bool {
        let Some(size) = self.page else { return false };
        let fault = self.threads.get_mut(&at.thread).and_then(|thread| thread.fault.take());
        let Some(fault) = fault.filter(|_| is_major) else { return false };
        let Some(address) = at.sample.address.map(u64::cast_signed).or(fault.trap.map(|(_, address)| address)) else {
            return false;
        };
        let start = match fault.trap {
            Some((ticks, _)) if fault.is_at(address, size) => ticks,
            _ if fault.is_named => fault.looked,
            _ => return false,
        };
        let Some((inode, index)) = fault.page else { return false };
        let path = self.names.name(at.process, inode, address.cast_unsigned(), descriptors);
        let row = HardFaultRow {
            time: rows.clock.ns(at.ticks),
            cpu: at.cpu_or_none(),
            process: Some(at.process),
            thread: Some(at.thread),
            start: rows.clock.ns(start),
            address,
            offset: index.saturating_mul(size),
            size: fault.read,
            file: path.map(|path| descriptors.file_of(path)),
            stack: stack_of(at, rows),
        };
        rows.sink.hard_fault(&row);
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FILE: Inode = Inode { device: 254 << 20, inode: 7 };
    const PAGE: i64 = 4096;

    fn added(fault: &mut Fault, file: Inode, index: i64, count: i64, ticks: i64) {
        fault.adds(&FilePages { file, index, count }, count * PAGE, ticks);
    }

    /// The kernel looks for the page, has it read, waits, and looks again.
    #[test]
    fn a_fault_begins_where_the_kernel_looked_before_it_read() {
        let mut fault = Fault::default();
        // The page was there then; nothing tells of the end of that fault.
        fault.looks_for((FILE, 3), 100);
        fault.looks_for((FILE, 3), 900);
        added(&mut fault, Inode { inode: 8, ..FILE }, 0, 1, 901);
        added(&mut fault, FILE, 3, 4, 902);
        added(&mut fault, FILE, 7, 1, 903);
        fault.looks_for((FILE, 3), 950);
        assert_eq!((fault.looked, fault.read, fault.page), (900, 5 * PAGE, Some((FILE, 3))));
        // Another page is another fault.
        fault.looks_for((FILE, 4), 1000);
        assert_eq!((fault.looked, fault.read, fault.page), (1000, 0, Some((FILE, 4))));
    }

    #[test]
    fn a_kernel_that_names_no_page_has_the_first_one_that_is_added() {
        let mut fault = Fault { trap: Some((50, 0x7000_1234)), ..Fault::default() };
        added(&mut fault, FILE, 9, 1, 60);
        added(&mut fault, FILE, 10, 1, 61);
        assert_eq!((fault.page, fault.read, fault.is_named), (Some((FILE, 9)), 2 * PAGE, false));
        assert!(fault.is_at(0x7000_1fff, PAGE) && !fault.is_at(0x7000_2000, PAGE));
        // Without a trap nothing tells that there is a fault.
        let mut none = Fault::default();
        added(&mut none, FILE, 9, 1, 60);
        assert_eq!(none.page, None);
    }
}
