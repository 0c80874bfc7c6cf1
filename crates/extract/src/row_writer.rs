//! Where the rows of an extract go: into the archive, and as long as they are few, to the summaries.

use tracesift_archive::ArchiveWriter;
use tracesift_trace::modules::Modules;
use tracesift_trace::rows::{
    ContextSwitchRow, CounterSampleRow, CounterValueRow, CpuFrequencyRow, CpuIdleStateRow, CpuSampleRow, DiskIoRow,
    EventRow, FileIoRow, FrameRow, HardFaultRow, ManagedCodeRow, MarkRow, PageFaultRow, StackRow, SymbolRow,
    SyscallRow,
};
use tracesift_trace::{Population, RowSink};

use crate::kept_rows::KeptRows;

/// Writes an archive and keeps what its summaries are made of.
pub(crate) struct RowWriter {
    pub(crate) archive: ArchiveWriter,
    pub(crate) kept: KeptRows,
    /// Names that the recording gives, held back where symbol files may add to them.
    pub(crate) held: Option<Vec<SymbolRow>>,
}

impl RowWriter {
    /// `memory` bounds what is kept, in bytes. With `names_to_come` the table `symbols` is not written here.
    pub(crate) fn new(archive: ArchiveWriter, memory: usize, names_to_come: bool) -> Self {
        Self { archive, kept: KeptRows::new(memory), held: names_to_come.then(Vec::new) }
    }

    /// Whether writing has failed, so that producing more rows is of no use.
    pub(crate) fn has_failed(&self) -> bool {
        self.archive.has_failed()
    }

    /// Writes the tables of those whom the rows are about.
    pub(crate) fn write_identities(&mut self, modules: Modules, population: Population) {
        self.archive.write_table(&modules.modules);
        self.archive.write_table(&modules.process_modules);
        let (processes, threads) = population.into_rows();
        self.archive.write_table(&processes);
        self.archive.write_table(&threads);
        self.kept.keep_identities(modules.modules, processes, threads);
    }
}

macro_rules! sink {
    (kept: $($kept:ident($kept_row:ty)),+; written: $($method:ident($row:ty)),+;) => {
        impl RowSink for RowWriter {
            fn symbol(&mut self, row: &SymbolRow) {
                match &mut self.held {
                    Some(held) => held.push(row.clone()),
                    None => {
                        self.kept.symbol(row);
                        self.archive.symbol(row);
                    }
                }
            }

            $(
                #[inline]
                fn $kept(&mut self, row: &$kept_row) {
                    self.kept.$kept(row);
                    self.archive.$kept(row);
                }
            )+
            $(
                #[inline]
                fn $method(&mut self, row: &$row) {
                    self.archive.$method(row);
                }
            )+
        }
    };
}

sink! {
    kept:
        cpu_sample(CpuSampleRow),
        context_switch(ContextSwitchRow),
        frame(FrameRow),
        stack(StackRow);
    written:
        counter_sample(CounterSampleRow),
        disk_io(DiskIoRow),
        hard_fault(HardFaultRow),
        page_fault(PageFaultRow),
        syscall(SyscallRow),
        file_io(FileIoRow),
        counter_value(CounterValueRow),
        cpu_frequency(CpuFrequencyRow),
        cpu_idle_state(CpuIdleStateRow),
        managed_code(ManagedCodeRow),
        mark(MarkRow),
        event(EventRow);
}
