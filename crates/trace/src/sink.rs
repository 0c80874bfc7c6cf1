//! Where rows go. Trackers push and keep nothing; a writer counts its own errors and reports them when it finishes.

use crate::rows::{
    ContextSwitchRow, CounterSampleRow, CounterValueRow, CpuFrequencyRow, CpuIdleStateRow, CpuSampleRow, DiskIoRow,
    EventRow, FileIoRow, FrameRow, HardFaultRow, ManagedCodeRow, MarkRow, PageFaultRow, StackRow, SymbolRow,
    SyscallRow,
};

/// Receives the rows of the tables that grow with the recording, each table in the order of its `time`.
pub trait RowSink {
    /// A sample of the timer source.
    fn cpu_sample(&mut self, row: &CpuSampleRow);
    /// A hardware counter sample.
    fn counter_sample(&mut self, row: &CounterSampleRow);
    /// A switch-in, closing or gap row.
    fn context_switch(&mut self, row: &ContextSwitchRow);
    /// A disk operation.
    fn disk_io(&mut self, row: &DiskIoRow);
    /// A hard fault.
    fn hard_fault(&mut self, row: &HardFaultRow);
    /// A page fault.
    fn page_fault(&mut self, row: &PageFaultRow);
    /// A system call.
    fn syscall(&mut self, row: &SyscallRow);
    /// A file operation.
    fn file_io(&mut self, row: &FileIoRow);
    /// What a counter counted from reading to reading.
    fn counter_value(&mut self, row: &CounterValueRow);
    /// A change of a CPU's clock rate.
    fn cpu_frequency(&mut self, row: &CpuFrequencyRow);
    /// The end of a CPU's stay in an idle state.
    fn cpu_idle_state(&mut self, row: &CpuIdleStateRow);
    /// A mark.
    fn mark(&mut self, row: &MarkRow);
    /// An event that is kept as it was logged.
    fn event(&mut self, row: &EventRow);
    /// A new frame, in the order of its id.
    fn frame(&mut self, row: &FrameRow);
    /// A new stack, in the order of its id.
    fn stack(&mut self, row: &StackRow);
    /// The name of a frame.
    fn symbol(&mut self, row: &SymbolRow);
    /// What the source line of a frame of managed code is found by.
    fn managed_code(&mut self, row: &ManagedCodeRow);
}
