//! Values of hardware counters; cores, their clock rates and idle states.

use crate::ids::{ProcessId, ThreadId};
use crate::row;

row! {
    /// One reading of a counter: its count since the reading before. Readings at context switches
    /// are in `context_switches`. A reading that found nothing new has no row.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
    pub struct CounterValueRow in "counter_values", always: false, since: 3, At(time) {
        /// Time of the reading.
        time: i64, Delta, "ns", "perf sample time, PERF_RECORD_READ";
        /// CPU; −1 where a Linux recording does not say.
        cpu: i16, Dictionary, "", "perf sample cpu";
        /// Process of the thread.
        process: ProcessId, Dictionary, "", "`threads`";
        /// The thread that ran at the reading, or that ended.
        thread: ThreadId, Dictionary, "", "perf sample tid";
        /// Number of the counter; its name is in `trace.json` under `sample_sources`.
        source: i32, Dictionary, "", "id of the value";
        /// Its count since the reading before; for the first reading the count since the recording
        /// began.
        value: i64, Plain, "events", "perf sample read";
        /// True for the count over the whole life of a thread, read when it ended (`perf record
        /// -s`); such rows are no part of the others.
        total: Option<bool>, Plain, "", "PERF_RECORD_READ";
    }
}

row! {
    /// The kind of core that a CPU is, where the recording tells.
    #[derive(Clone, Debug, Default, PartialEq, Eq)]
    pub struct CpuRow in "cpus", always: false, since: 5, Untimed() {
        /// The CPU.
        cpu: i16, Plain, "", "perf HYBRID_TOPOLOGY; Kernel-Processor-Power 55, 56 and 64; ETWAnalyzer CPU Topology";
        /// The recorder's word for its kind of core, such as `cpu_core` and `cpu_atom`.
        core_type: Option<String>, Dictionary, "", "perf HYBRID_TOPOLOGY";
        /// Its efficiency class: 0 the most efficient, higher ones are faster. In Linux recordings
        /// from the kinds `cpu_lowpower`, `cpu_atom` and `cpu_core`, in this order; null where the
        /// machine has another kind.
        efficiency_class: Option<i8>, Dictionary, "", "perf HYBRID_TOPOLOGY; Kernel-Processor-Power 64; ETWAnalyzer EfficiencyClass";
        /// Its nominal clock rate.
        nominal_khz: Option<i64>, Dictionary, "kHz", "Kernel-Processor-Power 55, 56 and 64; machine.json; ETWAnalyzer NominalFrequencyMHz";
        /// Number of its package, of a Linux machine that has several.
        package: Option<i32>, Dictionary, "", "perf CPU_TOPOLOGY", since: 6;
        /// The highest clock rate that it can have, limits aside.
        max_khz: Option<i64>, Dictionary, "kHz", "machine.json", since: 6;
    }
}

row! {
    /// A new clock rate of a CPU, or the mean rate that it had.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
    pub struct CpuFrequencyRow in "cpu_frequencies", always: false, since: 3, At(time) {
        /// Time of the change.
        time: i64, Delta, "ns", "power:cpu_frequency, power:cpu_frequency_limits, power:pstate_sample; Kernel-Processor-Power 10 and 18";
        /// The CPU.
        cpu: i16, Dictionary, "", "cpu_frequency cpu_id; perf sample cpu; Group and Number";
        /// The rate from now on; where `span` is known, the mean rate in the time before that the
        /// CPU was not idle.
        khz: i64, Dictionary, "kHz", "cpu_frequency state; pstate_sample freq; Speed";
        /// The highest rate that the CPU may have from now on. Null where no event has told it. A new
        /// limit has a row of its own from the first rate of the CPU on.
        max_khz: Option<i64>, Dictionary, "kHz", "cpu_frequency_limits max_freq", since: 6;
        /// The lowest rate that the CPU may have from now on.
        min_khz: Option<i64>, Dictionary, "kHz", "cpu_frequency_limits min_freq", since: 6;
        /// Length of the time up to `time` of which `khz` is the mean, as the processor counted it.
        span: Option<i64>, Plain, "ns", "pstate_sample; made by the extract", since: 6;
    }
}

row! {
    /// One idle state of a CPU, from entry to exit. An idle state that lasts at the end of the
    /// recording ends there.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
    pub struct CpuIdleStateRow in "cpu_idle_states", always: false, since: 3, Span(start, time) {
        /// End of the idle state.
        time: i64, Delta, "ns", "power:cpu_idle with state −1; Power/IdleStateExit";
        /// The CPU.
        cpu: i16, Dictionary, "", "cpu_idle cpu_id; buffer that holds the event";
        /// Start of the idle state.
        start: i64, Delta, "ns", "power:cpu_idle; Power/IdleStateEnter";
        /// The state, numbered by depth. On Linux the CPU usually polls in state 0 and sleeps in
        /// states above 0. On Windows the number of the processor's state as the kernel logs it.
        state: i16, Dictionary, "", "cpu_idle state; State";
    }
}

row! {
    /// What a counter of energy counted between two readings. The first reading of a counter has no
    /// row. Counters overlap: `cores` is a part of `package`.
    #[derive(Clone, Debug, Default, PartialEq, Eq)]
    pub struct EnergyRow in "energy", always: false, since: 6, At(time) {
        /// Time of the reading that ends the span.
        time: i64, Delta, "ns", "machine.json; Kernel-Processor-Power 113, 114";
        /// The CPU that the counter is of; null where it is of more than one.
        cpu: Option<i32>, Dictionary, "", "Group and Number";
        /// The package that the counter is of; null where it is of the whole machine, or where the
        /// recording does not tell.
        package: Option<i32>, Dictionary, "", "name of the powercap zone";
        /// What the counter is of. Of Linux `package`, `cores`, `uncore`, `dram`, `psys` (the whole
        /// machine) or another name of the kernel; of Windows `processor N` and `package N`, where N
        /// is the number of the counter.
        counter: String, Dictionary, "", "name of the powercap zone; CounterId";
        /// Energy in the span. Null where the unit of the counter is not documented.
        value: Option<i64>, Plain, "µJ", "difference of energy_uj";
        /// What the counter counted in the span, where its unit is not documented.
        counts: Option<i64>, Plain, "", "difference of CounterValue";
        /// Time since the reading before.
        span: i64, Plain, "ns", "made by the extract";
    }
}

/// Values of `cpu_states.kind`.
pub mod cpu_state_kinds {
    /// Parked: work is kept away from the CPU.
    pub const PARKED: i8 = 0;
    /// Capped by the firmware.
    pub const CAPPED_BY_FIRMWARE: i8 = 1;
    /// Capped because of heat.
    pub const CAPPED_BY_HEAT: i8 = 2;
    /// Softly parked: only work that cannot wait runs there.
    pub const SOFT_PARKED: i8 = 3;
}

row! {
    /// A time in which a CPU was parked or capped. A state that lasts at the end of the recording
    /// ends there.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
    pub struct CpuStateRow in "cpu_states", always: false, since: 6, Span(start, time) {
        /// End of the state.
        time: i64, Delta, "ns", "Kernel-Processor-Power 14, 15, 47, 48";
        /// The CPU.
        cpu: i16, Dictionary, "", "Group and Number";
        /// Start of the state; the start of the recording where the first event of the CPU tells
        /// that it was in the state before.
        start: i64, Delta, "ns", "Kernel-Processor-Power 14, 47, 48, 64";
        /// 0 parked, 1 capped by the firmware, 2 capped because of heat, 3 softly parked: only work
        /// that cannot wait runs there.
        kind: i8, Dictionary, "", "event id; SoftParked";
        /// The cap, of the full performance; null where the CPU is parked.
        value: Option<i32>, Dictionary, "%", "Cap, BiosCap, ThermalCap";
    }
}

/// Values of `power_settings.source`.
pub mod power_sources {
    /// The recording tells the value that was in force.
    pub const RUNDOWN: i8 = 0;
    /// The value changed.
    pub const CHANGE: i8 = 1;
    /// A fact that `tracesift record` noted beside a Linux recording.
    pub const FACT: i8 = 2;
    /// A profile of the processor's power management has the value: it holds while the profile is active.
    pub const PROFILE: i8 = 3;
}

row! {
    /// The value of a power setting from a time on.
    #[derive(Clone, Debug, Default, PartialEq, Eq)]
    pub struct PowerSettingRow in "power_settings", always: false, since: 6, At(time) {
        /// Time of the event; the start of the recording for a fact.
        time: i64, Delta, "ns", "Kernel-Power 111, 112; Kernel-Processor-Power 105, 106";
        /// The setting: its GUID in lower case; of a Linux recording the path of the fact, such as
        /// `power.governors`.
        setting: String, Dictionary, "", "SettingGuid; machine.json";
        /// Whether the value overrides that of the power scheme. Null where the event does not say.
        overrides: Option<bool>, Dictionary, "", "Override";
        /// The value where it is a number: data of 1, 2, 4 (each without a sign) or 8 bytes; a
        /// number, or 1 and 0 for true and false, of a fact.
        value: Option<i64>, Plain, "", "Data; machine.json";
        /// The value where it is no number: a GUID, such as that of the power scheme, in lower case;
        /// other data as hexadecimal digits; the text of a fact.
        text: Option<String>, Dictionary, "", "Data; machine.json";
        /// 0 the recording tells the value that was in force, 1 the value changed, 2 a fact that
        /// `tracesift record` noted beside a Linux recording, 3 a profile of the processor's power
        /// management has the value, which holds while the profile is active.
        source: i8, Dictionary, "", "event id";
        /// Name of the power scheme where the value is a known one: `balanced`, `high performance`,
        /// `power saver`, `ultimate performance`; of a value of a profile the name of the profile,
        /// else its number.
        profile: Option<String>, Dictionary, "", "Data; Kernel-Processor-Power 102 and 103";
        /// Of a value of a profile: 0 with mains power, 1 on a battery.
        condition: Option<i8>, Dictionary, "", "Type", since: 6;
        /// Of a value of a profile: the efficiency class of the processors that it is for.
        class: Option<i8>, Dictionary, "", "Class", since: 6;
    }
}
