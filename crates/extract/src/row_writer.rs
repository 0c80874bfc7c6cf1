//! Where the rows of an extract go.

use tracesift_archive::ArchiveWriter;
use tracesift_trace::rows::{
    ContextSwitchRow, CounterSampleRow, CounterValueRow, CpuFrequencyRow, CpuIdleStateRow, CpuSampleRow, DiskIoRow,
    EventRow, FileIoRow, FrameRow, HardFaultRow, ManagedCodeRow, MarkRow, ModuleRow, PageFaultRow, StackRow, SymbolRow,
    SyscallRow,
};
use tracesift_trace::{Population, RowSink};

use crate::kept_rows::{Identities, keep};
use crate::table_choice::{TableChoice, WantedTables};

/// Writes an archive, and keeps what its summaries are made of as long as that is little.
pub(crate) struct RowWriter {
    pub(crate) archive: ArchiveWriter,
    /// Which tables are written.
    pub(crate) tables: TableChoice,
    wanted: WantedTables,
    /// Whom the rows are about, once that is written.
    pub(crate) identities: Identities,
    /// Names that the recording gives, held back where symbol files may add to them.
    pub(crate) held: Option<Vec<SymbolRow>>,
}

impl RowWriter {
    /// `memory` bounds what is kept, in bytes. With `names_to_come` the table `symbols` is not written here.
    pub(crate) fn new(archive: ArchiveWriter, tables: TableChoice, memory: usize, names_to_come: bool) -> Self {
        let (archive, wanted) = (archive.keeping(keep(memory)), WantedTables::from(&tables));
        Self { archive, tables, wanted, identities: Identities::default(), held: names_to_come.then(Vec::new) }
    }

    /// Whether writing has failed, so that producing more rows is of no use.
    pub(crate) fn has_failed(&self) -> bool {
        self.archive.has_failed()
    }

    /// Writes the tables of those whom the rows are about.
    pub(crate) fn write_identities(&mut self, modules: Vec<ModuleRow>, population: &Population) {
        self.archive.write_table(&modules);
        self.archive.write_each(|write| population.processes().for_each(|row| write(&row)));
        self.archive.write_each(|write| population.threads().for_each(|row| write(&row)));
        if self.archive.keeps_all() {
            let (processes, threads) = (population.processes().collect(), population.threads().collect());
            self.identities = Identities { modules, processes, threads };
        }
    }
}

macro_rules! sink {
    (
        written: $($method:ident($row:ty)),+;
        written where wanted: $($chosen:ident($chosen_row:ty) in $table:ident),+;
    ) => {
        impl RowSink for RowWriter {
            fn symbol(&mut self, row: &SymbolRow) {
                match &mut self.held {
                    Some(held) => held.push(row.clone()),
                    None => self.archive.symbol(row),
                }
            }

            $(
                #[inline]
                fn $method(&mut self, row: &$row) {
                    self.archive.$method(row);
                }
            )+
            $(
                #[inline]
                fn $chosen(&mut self, row: &$chosen_row) {
                    if self.wanted.$table {
                        self.archive.$chosen(row);
                    }
                }
            )+
        }
    };
}

sink! {
    written:
        frame(FrameRow),
        stack(StackRow),
        managed_code(ManagedCodeRow),
        mark(MarkRow);
    written where wanted:
        cpu_sample(CpuSampleRow) in cpu_samples,
        context_switch(ContextSwitchRow) in context_switches,
        counter_sample(CounterSampleRow) in counter_samples,
        disk_io(DiskIoRow) in disk_io,
        hard_fault(HardFaultRow) in hard_faults,
        page_fault(PageFaultRow) in page_faults,
        syscall(SyscallRow) in syscalls,
        file_io(FileIoRow) in file_io,
        counter_value(CounterValueRow) in counter_values,
        cpu_frequency(CpuFrequencyRow) in cpu_frequencies,
        cpu_idle_state(CpuIdleStateRow) in cpu_idle_states,
        event(EventRow) in events;
}
