//! The columns of `overview`: a row per recording.

use super::{
    AbsentPart, CallPart, ClassPart, DiskPart, NextPart, Overview, Parts, ProcessPart, TagPart, WaitPart, absent,
    classes, disks, next,
};
use crate::answer::{Column, ColumnOf, Kind, Table, Value, descriptions, values};
use crate::columns::Columns;
use crate::needs::Needs;

fn table<R>(columns: &[ColumnOf<R>], rows: &[R]) -> Value {
    Value::Table(Table { columns: descriptions(columns), rows: values(columns, rows), is_sparse: false })
}

fn share(part: i64, whole: i64) -> String {
    if whole > 0 { format!("{:.0} %", part as f64 * 100.0 / whole as f64) } else { String::new() }
}

const TAGS: &[ColumnOf<TagPart>] = &[
    ColumnOf::always("stack_tag", "Stack tag", Kind::Text, |t| (&t.tag).into(), "Its full name."),
    ColumnOf::always(
        "cpu_ns",
        "CPU",
        Kind::Milliseconds,
        |t| t.cpu.into(),
        "Its CPU in the process: sampled, else precise, as in `dump cpu --stacktags`.",
    ),
];

const PROCESSES: &[ColumnOf<ProcessPart>] = &[
    ColumnOf::always("process", "Process", Kind::Text, |p| (&p.process).into(), "File name of the process' image."),
    ColumnOf::always("pid", "Pid", Kind::Id, |p| p.pid.into(), "Process id."),
    ColumnOf::always("start_ns", "Start", Kind::Time, |p| p.start.into(), "Start inside the recording."),
    ColumnOf::always("cpu_ns", "CPU", Kind::Milliseconds, |p| p.cpu.into(), "Sampled CPU, as in `dump cpu`."),
    ColumnOf::always("run_ns", "Run", Kind::Milliseconds, |p| p.run.into(), "Precise time on the CPU."),
    ColumnOf::always("wait_ns", "Wait", Kind::Milliseconds, |p| p.wait.into(), "Wait, summed over its threads."),
    ColumnOf::always("ready_ns", "Ready", Kind::Milliseconds, |p| p.ready.into(), "Ready, summed over its threads."),
    ColumnOf::always(
        "tags",
        "Tags",
        Kind::Table,
        |p| table(TAGS, &p.tags),
        "Its three largest stack tags by CPU, ascending.",
    ),
];

const WAITS: &[ColumnOf<WaitPart>] = &[
    ColumnOf::always("process", "Process", Kind::Text, |w| (&w.process).into(), "Process that waited."),
    ColumnOf::always("pid", "Pid", Kind::Id, |w| w.pid.into(), "Its id."),
    ColumnOf::always("tid", "Tid", Kind::Id, |w| w.tid.into(), "The thread that waited."),
    ColumnOf::always("wait_ns", "Wait", Kind::Milliseconds, |w| w.wait.into(), "Length of the wait."),
    ColumnOf::always("from_ns", "From", Kind::Time, |w| w.from.into(), "Start of the wait."),
    ColumnOf::always("reason", "Reason", Kind::Text, |w| w.reason.as_ref().into(), "Wait reason."),
    ColumnOf::always(
        "wait_method",
        "Waits in",
        Kind::Text,
        |w| w.method.as_ref().into(),
        "The method in which it waited.",
    ),
    ColumnOf::always(
        "woken_by",
        "Woken by",
        Kind::Text,
        |w| w.woken_by.as_ref().into(),
        "The thread or device that ended the wait.",
    ),
    ColumnOf::always("links", "Links", Kind::Count, |w| w.links.into(), "Threads of the wait chain."),
    ColumnOf::always(
        "end_thread",
        "End of the chain",
        Kind::Text,
        |w| w.end.as_ref().map(|end| end.label.clone()).into(),
        "The last thread of the chain: it did the work, or waited for a device.",
    ),
    ColumnOf::always(
        "end_run_ns",
        "Ran",
        Kind::Milliseconds,
        |w| w.end.as_ref().map(|end| end.run).into(),
        "Time that this thread ran meanwhile.",
    ),
    ColumnOf::always(
        "end_ready_ns",
        "Was ready",
        Kind::Milliseconds,
        |w| w.end.as_ref().map(|end| end.ready).into(),
        "Time that it was ready meanwhile.",
    ),
    ColumnOf::always(
        "end_wait_ns",
        "Waited",
        Kind::Milliseconds,
        |w| w.end.as_ref().map(|end| end.wait).into(),
        "Time that it waited meanwhile.",
    ),
    ColumnOf::always(
        "end_wait_method",
        "Waited in",
        Kind::Text,
        |w| w.end.as_ref().and_then(|end| end.method.clone()).into(),
        "The method of the longest of these waits.",
    ),
    ColumnOf::always(
        "end_woken_by",
        "Ended by",
        Kind::Text,
        |w| w.end.as_ref().and_then(|end| end.woken_by.clone()).into(),
        "The thread or device that ended that wait.",
    ),
];

const CALLS: &[ColumnOf<CallPart>] = &[
    ColumnOf::always("process", "Process", Kind::Text, |c| (&c.process).into(), "Process that called."),
    ColumnOf::always("pid", "Pid", Kind::Id, |c| c.pid.into(), "Its id."),
    ColumnOf::always("call", "Call", Kind::Text, |c| (&c.call).into(), "The system call."),
    ColumnOf::always("failed", "Failed", Kind::Count, |c| c.failed.into(), "Number of failures."),
    ColumnOf::always(
        "errors",
        "Errors",
        Kind::Map,
        |c| Value::Map(c.errors.iter().map(|(error, count)| (error.clone(), (*count).into())).collect()),
        "Errors with the number of calls, the most frequent first.",
    ),
];

/// The columns.
pub const COLUMNS: Columns<Overview> = Columns(&[
    ColumnOf::people(
        "began",
        "Began",
        Kind::Text,
        |o: &Overview| o.file.date.as_ref().into(),
        "Time of the test by the file's name, else start of the recording; local time of the recorder.",
    )
    .made_of(Needs::NOTHING),
    ColumnOf::machine(
        "os",
        "OS",
        Kind::Text,
        |o: &Overview| o.os.as_ref().into(),
        "Name and build of the operating system.",
    )
    .made_of(Needs::NOTHING),
    ColumnOf::machine("cpu_count", "CPUs", Kind::Count, |o: &Overview| o.cpu_count.into(), "Logical CPUs.")
        .made_of(Needs::NOTHING),
    ColumnOf::machine(
        "command",
        "Command",
        Kind::Text,
        |o: &Overview| o.command.as_ref().into(),
        "The command that was recorded, where `tracesift record` noted one.",
    )
    .made_of(Needs::NOTHING),
    ColumnOf::always(
        "duration_ns",
        "Length",
        Kind::Seconds,
        |o: &Overview| o.file.end.saturating_sub(o.file.start).into(),
        "From the start of the recording to its end.",
    )
    .made_of(Needs::NOTHING),
    ColumnOf::always(
        "cpu_ns",
        "CPU",
        Kind::Milliseconds,
        |o: &Overview| o.cpu.into(),
        "Sampled CPU of all processes but the idle loop; empty where the CPU was not sampled.",
    )
    .made_of(Needs::NOTHING),
    ColumnOf::details(
        "run_ns",
        "Run",
        Kind::Milliseconds,
        |o: &Overview| o.run.into(),
        "Precise time on the CPU of these processes; empty without context switches.",
    )
    .made_of(Needs::NOTHING),
    ColumnOf::details(
        "process_count",
        "Processes",
        Kind::Count,
        |o: &Overview| o.process_count.into(),
        "Processes that used the CPU, the idle loop left out.",
    )
    .made_of(Needs::NOTHING),
    ColumnOf::details("samples", "Samples", Kind::Count, |o: &Overview| o.samples.into(), "Their samples.")
        .made_of(Needs::NOTHING),
    ColumnOf::details(
        "samples_without_stack",
        "No stack",
        Kind::Count,
        |o: &Overview| o.samples_without_stack.into(),
        "Samples without a stack.",
    )
    .made_of(Needs::NOTHING),
    ColumnOf::machine(
        "events_lost",
        "Events lost",
        Kind::Count,
        |o: &Overview| o.events_lost.into(),
        "Events that the recorder says it lost.",
    )
    .made_of(Needs::NOTHING),
    ColumnOf::people(
        "lost",
        "Lost",
        Kind::Count,
        |o: &Overview| Some(o.events_lost.saturating_add(o.buffers_lost)).filter(|lost| *lost > 0).into(),
        "Events and buffers that the recorder says it lost.",
    )
    .made_of(Needs::NOTHING),
    ColumnOf::machine(
        "buffers_lost",
        "Buffers lost",
        Kind::Count,
        |o: &Overview| o.buffers_lost.into(),
        "Buffers that the recorder says it lost.",
    )
    .made_of(Needs::NOTHING),
    ColumnOf::details(
        "broken_chains",
        "Broken chains",
        Kind::Count,
        |o: &Overview| o.broken_chains.into(),
        "Breaks in the chain of switches; the time around a break is unknown.",
    )
    .made_of(Needs::of_parts(Parts::BREAKS)),
    ColumnOf::details("frames", "Frames", Kind::Count, |o: &Overview| o.frames.into(), "Code addresses in stacks.")
        .made_of(Needs::of_parts(Parts::FRAMES)),
    ColumnOf::details(
        "frames_without_name",
        "No name",
        Kind::Count,
        |o: &Overview| o.frames_without_name.into(),
        "Code addresses in stacks without a name, as in `symbols missing`.",
    )
    .made_of(Needs::of_parts(Parts::FRAMES)),
    ColumnOf::people(
        "largest",
        "Largest process",
        Kind::Text,
        |o: &Overview| {
            let share = |process: &ProcessPart| format!("{} {}", process.label, share(process.time(), o.time()));
            o.processes.last().map(share).into()
        },
        "The process with the most CPU, and its share.",
    )
    .made_of(Needs::NOTHING),
    ColumnOf::people(
        "largest_tag",
        "Largest tag",
        Kind::Text,
        |o: &Overview| {
            let process = o.processes.last();
            let tag = process.and_then(|process| Some((process.tags.last()?, process.time())));
            tag.map(|(tag, whole)| format!("{} {}", tag.tag, share(tag.cpu, whole))).into()
        },
        "The stack tag with the most CPU of that process, and its share of it.",
    )
    .made_of(Needs::of_parts(Parts::LARGEST_TAGS)),
    ColumnOf::machine(
        "processes",
        "Processes",
        Kind::Table,
        |o: &Overview| table(PROCESSES, &o.processes),
        "The five processes with the most CPU, ascending.",
    )
    .made_of(Needs::of_parts(Parts::TAGS)),
    ColumnOf::machine(
        "waits",
        "Waits",
        Kind::Table,
        |o: &Overview| table(WAITS, &o.waits),
        "The longest waits of these processes, at most one per process and place, ascending: the three longest that a \
         thread or a device ended, else their longest.",
    )
    .made_of(Needs::of_parts(Parts::WAITS)),
    ColumnOf::machine(
        "disks",
        "Disks",
        Kind::Table,
        |o: &Overview| table(disks::COLUMNS, &o.disks),
        "Disks, the busiest last.",
    )
    .made_of(Needs::of_parts(Parts::DISKS)),
    ColumnOf::machine(
        "calls",
        "System calls",
        Kind::Count,
        |o: &Overview| o.calls.into(),
        "System calls (Linux); empty where they were not recorded.",
    )
    .made_of(Needs::of_parts(Parts::CALLS)),
    ColumnOf::machine(
        "calls_failed",
        "Failed",
        Kind::Count,
        |o: &Overview| o.failed_calls.into(),
        "System calls that failed.",
    )
    .made_of(Needs::of_parts(Parts::CALLS)),
    ColumnOf::machine(
        "failing_calls",
        "Failing calls",
        Kind::Table,
        |o: &Overview| table(CALLS, &o.failing),
        "The three processes and calls that failed most often, ascending.",
    )
    .made_of(Needs::of_parts(Parts::CALLS)),
    ColumnOf::machine(
        "classes",
        "Also recorded",
        Kind::Table,
        |o: &Overview| table(classes::COLUMNS, &o.classes),
        "Classes of events that are in no other part of the overview.",
    )
    .made_of(Needs::of_parts(Parts::CLASSES)),
    ColumnOf::machine(
        "finding",
        "Finding",
        Kind::Text,
        |o: &Overview| o.finding.as_ref().map(|finding| finding.sentence.clone()).into(),
        "The first finding of the rules of `explain` that need no account; empty where none of them fits.",
    )
    .made_of(Needs::of_parts(Parts::FINDING)),
    ColumnOf::machine(
        "absent",
        "Not in it",
        Kind::Table,
        |o: &Overview| table(absent::COLUMNS, &o.absent),
        "Questions that the recording cannot answer, and the profile that would record the answer.",
    )
    .made_of(Needs::NOTHING),
    ColumnOf::machine(
        "next",
        "Next",
        Kind::Table,
        |o: &Overview| table(next::COLUMNS, &o.next),
        "Commands that go deeper.",
    )
    // Each part that says something has a command.
    .made_of(Needs::of_parts(Parts::ALL)),
    ColumnOf::people("recording", "Recording", Kind::LongText, |o: &Overview| (&o.file.name).into(), "Its name.")
        .made_of(Needs::NOTHING),
]);

/// The columns of the objects in `processes`.
#[must_use]
pub fn process_columns() -> Vec<Column> {
    descriptions(PROCESSES)
}

/// The columns of the objects in their `tags`.
#[must_use]
pub fn tag_columns() -> Vec<Column> {
    descriptions(TAGS)
}

/// The columns of the objects in `waits`.
#[must_use]
pub fn wait_columns() -> Vec<Column> {
    descriptions(WAITS)
}

/// The columns of the objects in `disks`.
#[must_use]
pub fn disk_columns() -> Vec<Column> {
    descriptions::<DiskPart>(disks::COLUMNS)
}

/// The columns of the objects in `failing_calls`.
#[must_use]
pub fn call_columns() -> Vec<Column> {
    descriptions(CALLS)
}

/// The columns of the objects in `classes`.
#[must_use]
pub fn class_columns() -> Vec<Column> {
    descriptions::<ClassPart>(classes::COLUMNS)
}

/// The columns of the objects in `absent`.
#[must_use]
pub fn absent_columns() -> Vec<Column> {
    descriptions::<AbsentPart>(absent::COLUMNS)
}

/// The columns of the objects in `next`.
#[must_use]
pub fn next_columns() -> Vec<Column> {
    descriptions::<NextPart>(next::COLUMNS)
}
