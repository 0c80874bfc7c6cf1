//! The tables, one definition each, grouped by what they describe.

mod activity;
mod code;
mod identity;
mod storage;
mod summary;

use tracesift_trace::rows;

use crate::column::TableDefinition;
use crate::table::Table;

/// All tables, in the order of the reference.
pub const TABLES: [&TableDefinition; 17] = [
    rows::ProcessRow::DEFINITION,
    rows::ThreadRow::DEFINITION,
    rows::ModuleRow::DEFINITION,
    rows::ProcessModuleRow::DEFINITION,
    rows::FrameRow::DEFINITION,
    rows::StackRow::DEFINITION,
    rows::SymbolRow::DEFINITION,
    rows::CpuSampleRow::DEFINITION,
    rows::CounterSampleRow::DEFINITION,
    rows::ContextSwitchRow::DEFINITION,
    rows::MarkRow::DEFINITION,
    rows::FileRow::DEFINITION,
    rows::DiskIoRow::DEFINITION,
    rows::HardFaultRow::DEFINITION,
    rows::HealthRow::DEFINITION,
    rows::ProcessSummaryRow::DEFINITION,
    rows::MethodSummaryRow::DEFINITION,
];

/// The table of that name.
#[must_use]
pub fn by_name(name: &str) -> Option<&'static TableDefinition> {
    TABLES.into_iter().find(|table| table.name == name)
}
