//! What the hardware counts, how fast it runs and how deep it sleeps.

use tracesift_trace::rows::{CounterValueRow, CpuFrequencyRow, CpuIdleStateRow, CpuRow};
use tracesift_trace::{ProcessId, ThreadId};

use crate::column::Timing;
use crate::table::table;

table! {
    CounterValueRow in "counter_values", always: false, Timing::At("time"),
    "What a counter has counted since it was read before; from schema 1.3. Readings at context switches stand in `context_switches`. A reading that found nothing new has no row.";
    time: i64, Delta, "ns", "Time of the reading.", "perf sample time, PERF_RECORD_READ";
    cpu: i16, Dictionary, "", "CPU.", "perf sample cpu";
    process: ProcessId, Dictionary, "", "Process of the thread.", "`threads`";
    thread: ThreadId, Dictionary, "", "The thread that ran at the reading, or that ended.", "perf sample tid";
    source: i32, Dictionary, "", "Number of the counter; its name is in `trace.json` under `sample_sources`.", "id of the value";
    value: i64, Plain, "events", "Its count since the reading before, of the first one since the recording began.", "perf sample read";
    total: Option<bool>, Plain, "", "True: the count of all that the thread did, read when it ended (`perf record -s`); such rows are no part of the others.", "PERF_RECORD_READ";
}

table! {
    CpuRow in "cpus", always: false, Timing::Untimed,
    "What kind of core a CPU is, where the recording tells; from schema 1.5.";
    cpu: i16, Plain, "", "The CPU.", "perf HYBRID_TOPOLOGY; Kernel-Processor-Power 55, 56 and 64; ETWAnalyzer CPU Topology";
    core_type: Option<String>, Dictionary, "", "The recorder's word for its kind of core, such as `cpu_core` and `cpu_atom`.", "perf HYBRID_TOPOLOGY";
    efficiency_class: Option<i8>, Dictionary, "", "Its efficiency class: 0 the most efficient, higher ones are faster. Of Linux recordings by the kinds `cpu_lowpower`, `cpu_atom` and `cpu_core`, in this order; null where another one is among them.", "perf HYBRID_TOPOLOGY; Kernel-Processor-Power 64; ETWAnalyzer EfficiencyClass";
    nominal_khz: Option<i64>, Dictionary, "kHz", "Its nominal clock rate.", "Kernel-Processor-Power 55, 56 and 64; ETWAnalyzer NominalFrequencyMHz";
}

table! {
    CpuFrequencyRow in "cpu_frequencies", always: false, Timing::At("time"),
    "A new clock rate of a CPU; from schema 1.3.";
    time: i64, Delta, "ns", "Time of the change.", "power:cpu_frequency; Kernel-Processor-Power 10 and 18";
    cpu: i16, Dictionary, "", "The CPU.", "cpu_frequency cpu_id; Group and Number";
    khz: i64, Dictionary, "kHz", "The rate from now on.", "cpu_frequency state; Speed";
}

table! {
    CpuIdleStateRow in "cpu_idle_states", always: false, Timing::Span { start: "start", end: "time" },
    "A stay of a CPU in an idle state; from schema 1.3. One that lasts at the end of the recording ends there.";
    time: i64, Delta, "ns", "End of the stay.", "power:cpu_idle with state −1";
    cpu: i16, Dictionary, "", "The CPU.", "cpu_idle cpu_id";
    start: i64, Delta, "ns", "Start of the stay.", "power:cpu_idle";
    state: i16, Dictionary, "", "The state, numbered by depth: 0 mostly polls, above it sleeps.", "cpu_idle state";
}
