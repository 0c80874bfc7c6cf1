//! What CPUs are, their clock rates and idle states.

/// Table `cpus`: what kind of core a CPU is.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CpuRow {
    /// The CPU.
    pub cpu: i16,
    /// The recorder's word for its kind of core, such as `cpu_atom`.
    pub core_type: Option<String>,
    /// Its efficiency class: 0 the most efficient, higher ones are faster.
    pub efficiency_class: Option<i8>,
    /// Nominal clock rate, kHz.
    pub nominal_khz: Option<i64>,
}

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
