//! Health of the extract, and the caches that answer common questions at once.

use tracesift_trace::ProcessId;
use tracesift_trace::rows::{HealthRow, MethodSummaryRow, ProcessSummaryRow, TagSummaryRow};

use crate::column::Timing;
use crate::table::table;

table! {
    HealthRow in "health", always: true, Timing::Untimed,
    "One kind of record that could not be used, or of loss.";
    kind: String, Plain, "", "Stable word for the kind, such as `events_lost` or `broken_switch_chain`.", "made by the extract";
    count: i64, Plain, "", "How often, or how many.", "made by the extract";
    first_time: Option<i64>, Plain, "ns", "Time of the first occurrence.", "the first such record";
    example: Option<String>, Plain, "", "The first occurrence in words.", "the first such record";
}

table! {
    ProcessSummaryRow in "process_summary", always: true, Timing::Untimed,
    "Sums over the whole recording for one process. A cache of `cpu_samples` and `context_switches`.";
    process: ProcessId, Delta, "", "The process.", "`processes`";
    samples: i64, Plain, "", "Samples charged to it.", "`cpu_samples`";
    samples_without_stack: i64, Plain, "", "Those without a stack.", "`cpu_samples`";
    cpu: i64, Plain, "ns", "Sampled CPU: sum of the weights.", "`cpu_samples`";
    run: Option<i64>, Plain, "ns", "Time on the CPU from switches (precise), summed over the threads; null without switches.", "`context_switches`";
    wait: Option<i64>, Plain, "ns", "Wait, summed over the threads.", "`context_switches`";
    ready: Option<i64>, Plain, "ns", "Ready, summed over the threads; null when the recording has neither ready events nor preemption.", "`context_switches`";
    open: Option<i64>, Plain, "ns", "Off the CPU at the left edge of the recording: neither wait nor ready.", "`context_switches`";
    unknown: Option<i64>, Plain, "ns", "Unknown: threads without a switch, and spans at broken switch chains.", "`context_switches`";
    switches: Option<i64>, Plain, "", "Switch-ins.", "`context_switches`";
    cores_used: i32, Plain, "", "Distinct CPUs on which it ran, from switches, else from samples.", "`context_switches`, `cpu_samples`";
    priority: Option<f64>, Plain, "", "Mean priority over samples, else over run time; null when neither says.", "`cpu_samples`, `context_switches`";
    first: Option<i64>, Plain, "ns", "First time at which it was seen running or sampled.", "`cpu_samples`, `context_switches`";
    last: Option<i64>, Plain, "ns", "Last time at which it was seen running or sampled.", "`cpu_samples`, `context_switches`";
    methods: i64, Plain, "", "Number of methods before `method_summary` was cut.", "made by the extract";
    methods_kept: i64, Plain, "", "Number of methods in `method_summary`.", "made by the extract";
}

table! {
    MethodSummaryRow in "method_summary", always: true, Timing::Untimed,
    "Sums over the whole recording for one method in one process; only the largest by inclusive CPU, exclusive CPU, wait and ready (`method_summary_cut` in `trace.json`). A cache.";
    process: ProcessId, Plain, "", "The process.", "`processes`";
    module: Option<String>, Dictionary, "", "Module name without path; null where no module is known.", "`symbols`, `modules`";
    function: String, Dictionary, "", "Function without arguments.", "`symbols`";
    samples: i64, Plain, "", "Samples in which it occurs.", "`cpu_samples`";
    cpu: i64, Plain, "ns", "Inclusive sampled CPU: weights of the samples in which it occurs.", "`cpu_samples`";
    exclusive_cpu: i64, Plain, "ns", "Exclusive sampled CPU: weights of the samples of which it is the leaf.", "`cpu_samples`";
    wait: Option<i64>, Plain, "ns", "Union of its waits over the threads: overlapping waits count once.", "`context_switches`";
    wait_sum: Option<i64>, Plain, "ns", "Plain sum of its waits.", "`context_switches`";
    wait_count: Option<i64>, Plain, "", "Number of its waits.", "`context_switches`";
    wait_longest: Option<i64>, Plain, "ns", "Longest single wait.", "`context_switches`";
    ready: Option<i64>, Plain, "ns", "Union of its ready spans over the threads.", "`context_switches`";
    ready_sum: Option<i64>, Plain, "ns", "Plain sum of its ready spans.", "`context_switches`";
    ready_count: Option<i64>, Plain, "", "Number of its ready spans.", "`context_switches`";
    ready_longest: Option<i64>, Plain, "ns", "Longest single ready span.", "`context_switches`";
    switches: Option<i64>, Plain, "", "Switch-ins whose wait stack has it.", "`context_switches`";
    threads: i32, Plain, "", "Distinct threads.", "`cpu_samples`, `context_switches`";
    first: i64, Plain, "ns", "First time at which it was seen in a sample or span.", "`cpu_samples`, `context_switches`";
    last: i64, Plain, "ns", "Last time at which it was seen in a sample or span.", "`cpu_samples`, `context_switches`";
}

table! {
    TagSummaryRow in "tag_summary", always: false, Timing::Untimed,
    "Sums over the whole recording for one stack tag in one process, all of them. A cache of what the built-in tag file says; what other files say is computed when it is asked for.";
    process: ProcessId, Plain, "", "The process.", "`processes`";
    tag_set: Option<String>, Dictionary, "", "Hash of the tag files; null for imported tags, whose files are not known.", "made by the extract";
    tag: String, Dictionary, "", "Full name of the tag, levels separated by `\\`.", "the tag files";
    samples: i64, Plain, "", "Samples whose stack has it; where tags have children, those of all below it.", "`cpu_samples`";
    cpu: i64, Plain, "ns", "Sampled CPU of these.", "`cpu_samples`";
    exclusive_cpu: i64, Plain, "ns", "Sampled CPU of the tag alone: the same, unless tags have children.", "`cpu_samples`";
    wait: Option<i64>, Plain, "ns", "Union of its waits over the threads: overlapping waits count once. Null for imported tags.", "`context_switches`";
    wait_sum: Option<i64>, Plain, "ns", "Plain sum of its waits.", "`context_switches`";
    wait_count: Option<i64>, Plain, "", "Number of its waits.", "`context_switches`";
    wait_longest: Option<i64>, Plain, "ns", "Longest single wait.", "`context_switches`";
    ready: Option<i64>, Plain, "ns", "Union of its ready spans over the threads.", "`context_switches`";
    ready_sum: Option<i64>, Plain, "ns", "Plain sum of its ready spans.", "`context_switches`";
    ready_count: Option<i64>, Plain, "", "Number of its ready spans.", "`context_switches`";
    ready_longest: Option<i64>, Plain, "ns", "Longest single ready span.", "`context_switches`";
    switches: Option<i64>, Plain, "", "Switch-ins whose wait stack has it.", "`context_switches`";
    threads: Option<i32>, Plain, "", "Distinct threads; null for imported tags.", "`cpu_samples`, `context_switches`";
    first: Option<i64>, Plain, "ns", "First time at which it was seen in a sample or span.", "`cpu_samples`, `context_switches`";
    last: Option<i64>, Plain, "ns", "Last time at which it was seen in a sample or span.", "`cpu_samples`, `context_switches`";
}
