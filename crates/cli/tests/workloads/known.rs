//! What is known of a program: how it is recorded, and which figure of which answer is which figure of its report.

/// How perf records what is asked for times.
pub(crate) const TIMES: &[&str] = &[
    "-a",
    "--call-graph",
    "dwarf",
    // What some kernels leave out of the tracepoint.
    "--switch-events",
    // Also of programs that no sample hits, without which their stacks are not unwound.
    "--buildid-all",
    // Buffers that hold what comes while somebody else has the CPUs.
    "-m",
    "16M",
    "-e",
    "cpu-clock/freq=999/",
    "-e",
    "sched:sched_switch",
    "-e",
    "sched:sched_waking",
    "-e",
    "sched:sched_wakeup_new",
];

/// How it records all system calls of one program.
pub(crate) const CALLS: &[&str] =
    &["-m", "16M", "-e", "cpu-clock/freq=999/", "-e", "raw_syscalls:sys_enter", "-e", "raw_syscalls:sys_exit"];

/// The same with stacks, of programs without frame pointers, too.
pub(crate) const CALLS_WITH_STACKS: &[&str] = &[
    "-m",
    "16M",
    "--call-graph",
    "dwarf,4096",
    "-e",
    "cpu-clock/freq=999/",
    "-e",
    "raw_syscalls:sys_enter",
    "-e",
    "raw_syscalls:sys_exit",
];

/// How it records all page faults of one program.
pub(crate) const FAULTS: &[&str] = &["-m", "16M", "-e", "cpu-clock/freq=999/", "-e", "page-faults/period=1/"];

/// A program, and what is found of it.
pub(crate) struct Known<'a> {
    pub(crate) program: &'static str,
    pub(crate) arguments: &'static [&'static str],
    pub(crate) recording: &'static [&'static str],
    pub(crate) figures: &'a [Figure],
    /// What `dump path` makes of it, where times were recorded and the problem costs some.
    pub(crate) problem: Option<Problem>,
}

/// A problem as `dump path` names it.
pub(crate) struct Problem {
    /// Options that choose the window, its anchor and the level of the rows.
    pub(crate) options: &'static [&'static str],
    /// What the undisturbed rows have among which the largest one names the problem: keys and parts of their texts.
    pub(crate) among: &'static [(&'static str, &'static str)],
    /// What this largest row has; an empty text stands for none.
    pub(crate) row: &'static [(&'static str, &'static str)],
    /// What the rows have whose times add up to the figure.
    pub(crate) summed: &'static [(&'static str, &'static str)],
    /// The figure.
    pub(crate) told: Told,
    /// By how much they may differ.
    pub(crate) error: Error,
}

/// A figure of an answer beside what the program tells.
pub(crate) struct Figure {
    pub(crate) found: Found,
    pub(crate) told: Told,
    pub(crate) error: Error,
}

/// Where an answer has the figure.
pub(crate) enum Found {
    /// `dump cpu --methods`: these keys of the row of the method, added up.
    Method(&'static str, &'static [&'static str]),
    /// `dump threads`: this key of each thread that the program tells of.
    Threads(&'static str),
    /// `events`: how many events of that name there are of the program.
    Events(&'static str),
    /// `dump syscalls`: how often these calls succeeded, less those that undo them.
    Undone(&'static str, &'static str),
    /// `dump syscalls`: how many calls failed with an error.
    Failed(&'static str),
}

/// Where the report has it.
pub(crate) enum Told {
    /// Keys below `truth`, added up.
    Truth(&'static [&'static str]),
    /// A key of each thread.
    Threads(&'static str),
    /// Of the thread of this name: a key, less another one.
    Thread(&'static str, &'static str, Option<&'static str>),
    /// perf's own text of the recording: how long the thread of this name was off the CPU in functions of this name.
    OffCpuByPerf(&'static str, &'static str),
}

/// By how much a figure may differ.
pub(crate) enum Error {
    /// By five percent.
    FivePercent,
    /// That of a number of samples.
    Sampled,
}

pub(crate) const fn method(name: &'static str, keys: &'static [&'static str], told: &'static [&'static str]) -> Figure {
    Figure { found: Found::Method(name, keys), told: Told::Truth(told), error: Error::FivePercent }
}

pub(crate) const fn cpu(name: &'static str, told: &'static [&'static str]) -> Figure {
    Figure { found: Found::Method(name, &["cpu_ns"]), told: Told::Truth(told), error: Error::Sampled }
}

pub(crate) const fn threads(key: &'static str, told: &'static str, error: Error) -> Figure {
    Figure { found: Found::Threads(key), told: Told::Threads(told), error }
}

pub(crate) const fn events(name: &'static str, told: &'static [&'static str]) -> Figure {
    Figure { found: Found::Events(name), told: Told::Truth(told), error: Error::FivePercent }
}

pub(crate) const fn undone(call: &'static str, by: &'static str, told: &'static [&'static str]) -> Figure {
    Figure { found: Found::Undone(call, by), told: Told::Truth(told), error: Error::FivePercent }
}

pub(crate) const fn failed(error: &'static str, told: &'static [&'static str]) -> Figure {
    Figure { found: Found::Failed(error), told: Told::Truth(told), error: Error::FivePercent }
}

/// Off the CPU: waits for something, and for a CPU behind them.
pub(crate) const OFF_CPU: &[&str] = &["wait_sum_ns", "ready_sum_ns"];

/// Interval of the samples, ns.
pub(crate) const INTERVAL: f64 = 1e9 / 999.0;

/// In words, where a figure differs by more than it may.
pub(crate) fn differs(what: &str, found: i64, told: i64, error: &Error) -> Option<String> {
    let five = told as f64 * 0.05;
    let allowed = match error {
        Error::FivePercent => five,
        // n samples have a standard deviation of at most √n.
        Error::Sampled => five.max(3.0 * (told as f64 / INTERVAL).sqrt() * INTERVAL),
    };
    let far = (found - told).abs() as f64 > allowed;
    far.then(|| format!("{what}: {found} instead of {told}, {allowed:.0} allowed"))
}
