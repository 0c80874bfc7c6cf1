//! The tables, one definition each, grouped by what they describe.

mod activity;
mod calls;
mod code;
mod events;
mod identity;
mod power;
mod storage;
mod summary;

use tracesift_trace::rows;

use crate::column::TableDefinition;
use crate::table::Table;

/// Calls a macro with the row types of all tables, in the order of the reference: for what is done with every table. The
/// rows of [`tracesift_trace::rows`] must be in scope.
#[macro_export]
macro_rules! every_table {
    ($apply:ident) => {
        $apply! {
            ProcessRow,
            ThreadRow,
            ModuleRow,
            ProcessModuleRow,
            FrameRow,
            StackRow,
            SymbolRow,
            ManagedCodeRow,
            CpuSampleRow,
            CounterSampleRow,
            ContextSwitchRow,
            MarkRow,
            EventRow,
            FileRow,
            DiskIoRow,
            HardFaultRow,
            PageFaultRow,
            SyscallRow,
            SyscallNameRow,
            FileIoRow,
            CounterValueRow,
            CpuRow,
            CpuFrequencyRow,
            CpuIdleStateRow,
            HealthRow,
            ProcessSummaryRow,
            MethodSummaryRow,
            TagSummaryRow,
            StackEndRow
        }
    };
}

macro_rules! tables {
    ($($row:ident),+) => {
        /// All tables, in the order of the reference.
        pub const TABLES: [&TableDefinition; [$(stringify!($row)),+].len()] = [$(rows::$row::DEFINITION),+];
    };
}
every_table!(tables);

/// The table of that name.
#[must_use]
pub fn by_name(name: &str) -> Option<&'static TableDefinition> {
    TABLES.into_iter().find(|table| table.name == name)
}
