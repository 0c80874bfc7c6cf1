//! Health of the extract, and the sums that answer common questions at once.

use crate::ids::{FrameId, ProcessId, ThreadId};
use crate::row;

row! {
    /// One kind of loss, or of records that could not be used.
    #[derive(Clone, Debug, Default, PartialEq, Eq)]
    pub struct HealthRow in "health", always: true, since: 0, Untimed() {
        /// Stable word for the kind, such as `events_lost` or `broken_switch_chain`.
        kind: String, Plain, "", "made by the extract";
        /// How often, or how many.
        count: i64, Plain, "", "made by the extract";
        /// Time of the first occurrence.
        first_time: Option<i64>, Plain, "ns", "the first such record";
        /// The first occurrence in words.
        example: Option<String>, Plain, "", "the first such record";
    }
}

row! {
    /// What a counter counted for one thread on the CPUs of a kind, from one source. A cache of
    /// `context_switches`, `counter_values` and `counter_samples`.
    #[derive(Clone, Debug, Default, PartialEq, Eq)]
    pub struct CounterSummaryRow in "counter_summary", always: false, since: 7, Untimed() {
        /// The process; null: the switches do not tell who ran.
        process: Option<ProcessId>, Dictionary, "", "`threads`";
        /// The thread; null where the process is null.
        thread: Option<ThreadId>, Dictionary, "", "`threads`";
        /// The kind of core; null where the recording does not tell.
        core_type: Option<String>, Dictionary, "", "`cpus`";
        /// Name of the counter.
        counter: String, Dictionary, "", "`counters` and `sample_sources` in `trace.json`";
        /// What it counts, as in `counter_samples`.
        role: Option<i8>, Dictionary, "", "name of the counter";
        /// Where the count comes from: 0 differences between the switches to the thread and away
        /// from it, 1 the count over the whole life of the thread, 2 differences between readings in
        /// other samples, 3 periods of samples.
        source: i8, Dictionary, "", "`context_switches`, `counter_values`, `counter_samples`";
        /// True: the recording has no better source for what the counter counts: the source with
        /// the smallest number. Counts of other sources count the same once more.
        best: Option<bool>, Dictionary, "", "made by the extract";
        /// True: the thread is the one that runs where no other one runs.
        idle: Option<bool>, Dictionary, "", "`processes`";
        /// The count; null: not known.
        value: Option<i64>, Plain, "events", "the source";
        /// Number of differences, readings or samples.
        parts: i64, Plain, "", "the source";
        /// Differences that are not known, since the counter went back.
        unknown: i64, Plain, "", "`context_switches`";
        /// Time between the switches; null: another source.
        run: Option<i64>, Plain, "ns", "`context_switches`";
        /// True: sums of `run` take this row. The other counters of the thread, the kind of core and the
        /// source have the same time.
        counts_run: Option<bool>, Dictionary, "", "made by the extract";
        /// Begin of its first part.
        start: i64, Plain, "ns", "the source";
        /// End of its last part.
        end: i64, Plain, "ns", "the source";
    }
}

row! {
    /// Sums over the whole recording for one process. A cache of `cpu_samples` and
    /// `context_switches`.
    #[derive(Clone, Debug, Default, PartialEq)]
    pub struct ProcessSummaryRow in "process_summary", always: true, since: 0, Untimed() {
        /// The process.
        process: ProcessId, Delta, "", "`processes`";
        /// Samples that count for the process.
        samples: i64, Plain, "", "`cpu_samples`";
        /// Samples of these without a stack.
        samples_without_stack: i64, Plain, "", "`cpu_samples`";
        /// Sampled CPU: sum of the weights.
        cpu: i64, Plain, "ns", "`cpu_samples`";
        /// Time on the CPU from switches (precise), summed over the threads; null without switches.
        run: Option<i64>, Plain, "ns", "`context_switches`";
        /// Wait, summed over the threads.
        wait: Option<i64>, Plain, "ns", "`context_switches`";
        /// Ready, summed over the threads; null when the recording has neither ready events nor
        /// preemption.
        ready: Option<i64>, Plain, "ns", "`context_switches`";
        /// Off the CPU at the left edge of the recording: neither wait nor ready.
        open: Option<i64>, Plain, "ns", "`context_switches`";
        /// Unknown: threads without a switch, and spans at broken switch chains.
        unknown: Option<i64>, Plain, "ns", "`context_switches`";
        /// Switch-ins.
        switches: Option<i64>, Plain, "", "`context_switches`";
        /// Distinct CPUs on which it ran, from switches, else from samples.
        cores_used: i32, Plain, "", "`context_switches`, `cpu_samples`";
        /// Mean priority over samples, else over run time; null when neither says.
        priority: Option<f64>, Plain, "", "`cpu_samples`, `context_switches`";
        /// First time at which it was seen running or sampled.
        first: Option<i64>, Plain, "ns", "`cpu_samples`, `context_switches`";
        /// Last time at which it was seen running or sampled.
        last: Option<i64>, Plain, "ns", "`cpu_samples`, `context_switches`";
        /// Number of methods before `method_summary` was cut.
        methods: i64, Plain, "", "made by the extract";
        /// Number of methods in `method_summary`.
        methods_kept: i64, Plain, "", "made by the extract";
    }
}

row! {
    /// Sums over the whole recording for one method in one process; only the largest by inclusive
    /// CPU, exclusive CPU, wait and ready (`method_summary_cut` in `trace.json`). A cache.
    #[derive(Clone, Debug, Default, PartialEq)]
    pub struct MethodSummaryRow in "method_summary", always: true, since: 0, Untimed() {
        /// The process.
        process: ProcessId, Plain, "", "`processes`";
        /// Module name without path; null where no module is known.
        module: Option<String>, Dictionary, "", "`symbols`, `modules`";
        /// Function without arguments.
        function: String, Dictionary, "", "`symbols`";
        /// Samples in whose stack the method occurs.
        samples: i64, Plain, "", "`cpu_samples`";
        /// Inclusive sampled CPU: weights of the samples in whose stack
        /// the method occurs.
        cpu: i64, Plain, "ns", "`cpu_samples`";
        /// Exclusive sampled CPU: weights of the samples of which it is the leaf.
        exclusive_cpu: i64, Plain, "ns", "`cpu_samples`";
        /// Union of its waits over the threads: overlapping waits count once.
        wait: Option<i64>, Plain, "ns", "`context_switches`";
        /// Plain sum of its waits.
        wait_sum: Option<i64>, Plain, "ns", "`context_switches`";
        /// Number of its waits.
        wait_count: Option<i64>, Plain, "", "`context_switches`";
        /// Longest single wait.
        wait_longest: Option<i64>, Plain, "ns", "`context_switches`";
        /// Union of its ready spans over the threads.
        ready: Option<i64>, Plain, "ns", "`context_switches`";
        /// Plain sum of its ready spans.
        ready_sum: Option<i64>, Plain, "ns", "`context_switches`";
        /// Number of its ready spans.
        ready_count: Option<i64>, Plain, "", "`context_switches`";
        /// Longest single ready span.
        ready_longest: Option<i64>, Plain, "ns", "`context_switches`";
        /// Switch-ins whose wait stack has it.
        switches: Option<i64>, Plain, "", "`context_switches`";
        /// Distinct threads.
        threads: i32, Plain, "", "`cpu_samples`, `context_switches`";
        /// First time at which it was seen in a sample or span.
        first: i64, Plain, "ns", "`cpu_samples`, `context_switches`";
        /// Last time at which it was seen in a sample or span.
        last: i64, Plain, "ns", "`cpu_samples`, `context_switches`";
    }
}

row! {
    /// Sums over the whole recording for one stack tag in one process, all of them. A cache for the
    /// built-in tag file; the tags of other files are computed by the question that asks for them.
    #[derive(Clone, Debug, Default, PartialEq)]
    pub struct TagSummaryRow in "tag_summary", always: false, since: 0, Untimed() {
        /// The process.
        process: ProcessId, Plain, "", "`processes`";
        /// Hash of the tag files; null for imported tags, whose files are not known.
        tag_set: Option<String>, Dictionary, "", "made by the extract";
        /// Full name of the tag, levels separated by `\`.
        tag: String, Dictionary, "", "the tag files";
        /// Samples whose stack has it; where tags have children, the samples of all tags below it.
        samples: i64, Plain, "", "`cpu_samples`";
        /// Sampled CPU of these samples.
        cpu: i64, Plain, "ns", "`cpu_samples`";
        /// Sampled CPU of the tag alone: the same, unless tags have children.
        exclusive_cpu: i64, Plain, "ns", "`cpu_samples`";
        /// Union of its waits over the threads: overlapping waits count once. Null for imported
        /// tags.
        wait: Option<i64>, Plain, "ns", "`context_switches`";
        /// Plain sum of its waits.
        wait_sum: Option<i64>, Plain, "ns", "`context_switches`";
        /// Number of its waits.
        wait_count: Option<i64>, Plain, "", "`context_switches`";
        /// Longest single wait.
        wait_longest: Option<i64>, Plain, "ns", "`context_switches`";
        /// Union of its ready spans over the threads.
        ready: Option<i64>, Plain, "ns", "`context_switches`";
        /// Plain sum of its ready spans.
        ready_sum: Option<i64>, Plain, "ns", "`context_switches`";
        /// Number of its ready spans.
        ready_count: Option<i64>, Plain, "", "`context_switches`";
        /// Longest single ready span.
        ready_longest: Option<i64>, Plain, "ns", "`context_switches`";
        /// Switch-ins whose wait stack has it.
        switches: Option<i64>, Plain, "", "`context_switches`";
        /// Distinct threads; null for imported tags.
        threads: Option<i32>, Plain, "", "`cpu_samples`, `context_switches`";
        /// First time at which it was seen in a sample or span.
        first: Option<i64>, Plain, "ns", "`cpu_samples`, `context_switches`";
        /// Last time at which it was seen in a sample or span.
        last: Option<i64>, Plain, "ns", "`cpu_samples`, `context_switches`";
    }
}

row! {
    /// The calls of one system call by one process that failed with one error, or did not fail. A cache
    /// of `syscalls`. A recording with very many such rows does not have it.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
    pub struct SyscallSummaryRow in "syscall_summary", always: false, since: 7, Untimed() {
        /// The process.
        process: ProcessId, Dictionary, "", "`syscalls`";
        /// Number of the call, as in `syscalls`.
        number: i32, Dictionary, "", "`syscalls`";
        /// Windows: the routine of the kernel, as in `syscalls`.
        frame: Option<FrameId>, Dictionary, "", "`syscalls`";
        /// Number of the error, as in `syscalls`; null: the calls that did not fail.
        error: Option<i64>, Dictionary, "", "`syscalls`";
        /// Number of calls.
        calls: i64, Plain, "", "`syscalls`";
        /// Number of calls that have not returned.
        open: i64, Plain, "", "`syscalls`";
        /// Sum of the times from call to return.
        duration: i64, Plain, "ns", "`syscalls`";
        /// The longest of them.
        longest: i64, Plain, "ns", "`syscalls`";
        /// When the longest call began; of several the first.
        longest_start: i64, Plain, "ns", "`syscalls`";
        /// When the first call began.
        first: i64, Plain, "ns", "`syscalls`";
    }
}
