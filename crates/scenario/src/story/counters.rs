//! Hardware counters of the story: how many events each thread causes in a slot of its run time.

/// The counters, as the recorder of Windows names them.
pub(super) const NAMES: [&str; 3] = ["TotalCycles", "InstructionRetired", "LLCMisses"];

/// Cycles of a millisecond at 2.6 GHz.
const CYCLES: u64 = 2_600_000;

/// What the threads of one process cost, and those of all others.
#[derive(Clone, Copy, Debug)]
pub(super) struct Rates {
    /// Number of the process that writes files.
    pub(super) writer: usize,
    /// Its cycles per 100 instructions.
    pub(super) cpi: u64,
    /// Its misses of the last cache in a slot.
    pub(super) misses: u64,
}

impl Rates {
    /// What a thread of a process counts in a slot; `None`: the idle loop, which halts.
    pub(super) fn of_slot(self, process: Option<usize>) -> [u64; NAMES.len()] {
        match process {
            Some(process) if process == self.writer => [CYCLES, CYCLES * 100 / self.cpi, self.misses],
            Some(_) => [CYCLES, CYCLES * 100 / 130, 3_000],
            None => [20_000, 9_000, 10],
        }
    }
}
