//! Clock rates and idle states of CPUs.

/// Table `cpu_frequencies`: the clock rate of a CPU from a time on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CpuFrequencyRow {
    /// Time of the change.
    pub time: i64,
    /// The CPU.
    pub cpu: i16,
    /// The new rate, kHz.
    pub khz: i64,
}

/// Table `cpu_idle_states`: a stay of a CPU in an idle state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CpuIdleStateRow {
    /// End of the stay.
    pub time: i64,
    /// The CPU.
    pub cpu: i16,
    /// Start of the stay.
    pub start: i64,
    /// The state: 0 the shallowest, mostly polling.
    pub state: i16,
}
