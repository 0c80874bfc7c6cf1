//! Rules about what else was recorded: the figures of other questions.

use tracesift_archive::{ArchiveWriter, Table};
use tracesift_ask::asked::Amount;
use tracesift_ask::explain::Finding;
use tracesift_trace::rows::{
    ContextSwitchRow, CpuFrequencyRow, CpuRow, CpuSampleRow, CpuStateRow, DiskIoRow, DiskOperation, DnsQueryRow,
    ExceptionRow, GcCollectionRow, JitMethodRow, LockWaitRow, StackEndRow, ThreadPoolRow, adjustment_reasons,
    cpu_state_kinds, switch_flags, thread_pool_events,
};
use tracesift_trace::{ProcessId, StackId, ThreadId};

use super::story::{
    DEBUG_HEAP, IDLE, LENGTH, MAIN, MS, OTHER, Piece, REST, Story, WORKER, finding, has_and_nearly_has,
};

/// 2 % of a second, and one nanosecond less.
const ENOUGH: i64 = 20 * MS;
const NEARLY: i64 = ENOUGH - 1;
const APP: Option<ProcessId> = Some(ProcessId(MAIN));

/// A program that works all the time, with rows of one table.
fn with_rows<T: Table + Clone + 'static>(rows: Vec<T>) -> Story {
    Story::of(&[Piece::Run(MS, REST)]).with(move |writer: &mut ArchiveWriter| writer.write_table(&rows))
}

/// A rule about so much of something, with rows that have it.
fn check<T: Table + Clone + 'static>(rule: &str, rows: impl Fn(i64) -> Vec<T>, [enough, nearly]: [i64; 2]) -> Finding {
    has_and_nearly_has(rule, &with_rows(rows(enough)), &with_rows(rows(nearly)))
}

fn time(finding: &Finding) -> (Option<i64>, bool) {
    (finding.time, finding.is_on_path)
}

#[test]
fn losses() {
    let lost = |events: u64, buffers: u64| {
        Story::of(&[]).described(move |info| (info.events_lost, info.buffers_lost) = (events, buffers))
    };
    let found = has_and_nearly_has("lost-events", &lost(0, 1), &lost(0, 0));
    assert_eq!(found.figures[0].amount, Amount::Count(1));
    assert_eq!(
        finding(&lost(3, 4).explained(), "lost-events").map(|found| found.figures[0].amount),
        Some(Amount::Count(7))
    );
}

#[test]
fn stacks_that_end_early() {
    let ends = |early: i64| {
        let row = |process: i32, end: i8, samples: i64| StackEndRow { process: ProcessId(process), end, samples };
        // Another program has nothing but such stacks.
        vec![row(MAIN, 0, 1_000 - early), row(MAIN, 3, early), row(OTHER, 3, 500)]
    };
    let found = check("early-stacks", ends, [50, 49]);
    assert_eq!(found.figures[0].amount, Amount::Number(5.0));
    assert!(found.sentence.contains(" stacks of the test end early"), "{}", found.sentence);
}

#[test]
fn names_that_were_asked_in_vain() {
    let queries = |late: i64| {
        let late = (late > 0).then(|| vec!["10.0.0.1".to_owned()]);
        let query = |process: i32, timed_out| DnsQueryRow {
            start: 100 * MS,
            time: 500 * MS,
            process: Some(ProcessId(process)),
            name: "a.example".to_owned(),
            status: Some(0),
            timed_out,
            ..DnsQueryRow::default()
        };
        // Those of another program are its own trouble.
        vec![query(MAIN, late), query(OTHER, Some(vec!["10.0.0.1".to_owned()]))]
    };
    let found = check("dns-time-outs", queries, [1, 0]);
    assert_eq!((found.figures[0].amount, time(&found)), (Amount::Count(1), (Some(400 * MS), false)));
    // Where no test is known, all programs count.
    let all = finding(&with_rows(queries(1)).explained_as(""), "dns-time-outs").expect("found");
    assert_eq!(all.figures[0].amount, Amount::Count(2));
    // Both waited at once: the time is that above the rows of the command.
    assert_eq!(time(&all), (Some(400 * MS), false));
    assert!(!all.command.contains(" -p "), "{}", all.command);
}

#[test]
fn collections_of_garbage() {
    let collections = |pause: i64| {
        let of = |process: i32, from: i64, pause: i64| GcCollectionRow {
            start: from,
            time: from + pause,
            process: ProcessId(process),
            number: 1,
            pause: Some(pause),
            pauses: Some(vec![from, from + pause]),
            suspensions: 1,
            suspending: Some(1_000),
            ..GcCollectionRow::default()
        };
        vec![of(MAIN, 100 * MS, 8 * MS), of(MAIN, 200 * MS, pause - 8 * MS), of(OTHER, 300 * MS, 500 * MS)]
    };
    let found = check("gc-pauses", collections, [ENOUGH, NEARLY]);
    assert_eq!(time(&found), (Some(ENOUGH), false));
    assert!(found.command.contains("--time=..1s"), "{}", found.command);
}

#[test]
fn threads_that_stop_late_for_a_collection() {
    let collections = |suspending: i64| {
        vec![GcCollectionRow {
            start: 100 * MS,
            time: 200 * MS,
            process: ProcessId(MAIN),
            number: 1,
            pause: Some(100 * MS),
            pauses: Some(vec![100 * MS, 200 * MS]),
            suspensions: 1,
            suspend_start: Some(100 * MS),
            suspended: Some(100 * MS + suspending),
            suspending: Some(suspending),
            ..GcCollectionRow::default()
        }]
    };
    let found = check("gc-suspension", collections, [ENOUGH, NEARLY]);
    assert_eq!(time(&found), (Some(ENOUGH), false));
}

#[test]
fn compilers_that_are_waited_for() {
    const FOREGROUND: i8 = 0;
    let methods = |time: i64, trigger: i8| {
        let of = |from: i64, to: i64, thread: i32| JitMethodRow {
            start: from,
            time: to,
            process: APP,
            thread: Some(ThreadId(thread)),
            method: format!("M{from}"),
            trigger,
            exclusive: Some(to - from),
            ..JitMethodRow::default()
        };
        // Two threads at the same time count once.
        vec![of(MS, MS + time, MAIN), of(2 * MS, 4 * MS, WORKER)]
    };
    let found = check("jit", |time| methods(time, FOREGROUND), [ENOUGH, NEARLY]);
    assert_eq!(time(&found), (Some(ENOUGH), false));
    // Nobody waits for what is compiled in the background.
    has_and_nearly_has("jit", &with_rows(methods(ENOUGH, FOREGROUND)), &with_rows(methods(ENOUGH, 1)));
}

#[test]
fn exceptions_in_a_loop() {
    let thrown = |count: i64| {
        let of = |number: i64, message: &str| ExceptionRow {
            time: number * MS,
            process: APP,
            thread: Some(ThreadId(MAIN)),
            exception_type: Some("System.IO.IOException".to_owned()),
            message: Some(message.to_owned()),
            ..ExceptionRow::default()
        };
        let mut rows: Vec<ExceptionRow> = (0..count).map(|number| of(number, "again")).collect();
        // Others that are thrown as often are other exceptions.
        rows.extend((0..60).map(|number| of(200 + number, "once more")));
        rows
    };
    let found = check("exceptions", thrown, [100, 99]);
    assert_eq!(found.figures[0].amount, Amount::Count(100));
}

#[test]
fn thread_pools_without_threads() {
    let changes =
        |starvations: i64| {
            let of = |time: i64, reason: i8, starved: Option<i64>| ThreadPoolRow {
                time: time * MS,
                process: APP,
                event: thread_pool_events::ADJUSTED,
                workers: Some(4),
                reason: Some(reason),
                starved,
                ..ThreadPoolRow::default()
            };
            let mut rows = vec![of(10, 3, None)];
            rows.extend((0..starvations).flat_map(|n| {
                [of(20 + 20 * n, adjustment_reasons::STARVATION, None), of(30 + 20 * n, 3, Some(10 * MS))]
            }));
            rows
        };
    let found = check("thread-pool", changes, [1, 0]);
    assert_eq!((found.figures[0].amount, time(&found)), (Amount::Count(1), (Some(10 * MS), false)));
}

#[test]
fn files_that_come_from_the_disk() {
    let reads = |time: i64, operation: DiskOperation| {
        let of = |start: i64, service: i64, operation, process: i32| DiskIoRow {
            start,
            time: start + service,
            process: Some(ProcessId(process)),
            operation,
            size: 4096,
            service: Some(service),
            ..DiskIoRow::default()
        };
        vec![of(100 * MS, time, operation, MAIN), of(300 * MS, 400 * MS, DiskOperation::Read, OTHER)]
    };
    let found = check("cold-files", |time| reads(time, DiskOperation::Read), [ENOUGH, NEARLY]);
    assert_eq!(time(&found), (Some(ENOUGH), false));
    assert_eq!(found.figures[1].amount, Amount::Bytes(4096));
    let written = with_rows(reads(ENOUGH, DiskOperation::Write));
    has_and_nearly_has("cold-files", &with_rows(reads(ENOUGH, DiskOperation::Read)), &written);
}

#[test]
fn locks_with_a_queue() {
    let waits = |count: i64, length: i64| {
        let of = |number: i64| LockWaitRow {
            start: number * MS,
            time: number * MS + length,
            process: APP,
            thread: Some(ThreadId(MAIN)),
            lock: Some(7),
            ..LockWaitRow::default()
        };
        (0..count).map(of).collect::<Vec<_>>()
    };
    let found = check("lock-convoy", |length| waits(100, length), [10 * MS, 10 * MS - 1]);
    assert_eq!(found.figures[0].amount, Amount::Time(LENGTH));
    // A few long waits are no queue of many.
    has_and_nearly_has("lock-convoy", &with_rows(waits(100, 10 * MS)), &with_rows(waits(99, 20 * MS)));
}

#[test]
fn more_ready_threads_than_cpus() {
    // Two CPUs: threads are ready for as long as both have time, the main thread for a millisecond of it.
    let story = |second: i64, idle: i64| {
        let of = |thread: i32, time: i64| ContextSwitchRow {
            thread: ThreadId(thread),
            cpu: Some(1),
            off_time: LENGTH - time,
            time: LENGTH,
            flags: switch_flags::PREEMPTED,
            ..ContextSwitchRow::default()
        };
        let rows = vec![of(OTHER, LENGTH - MS), of(WORKER, second), of(IDLE, idle)];
        Story::of(&[Piece::Ready(MS, OTHER)]).with(move |writer: &mut ArchiveWriter| writer.write_table(&rows))
    };
    // An idle loop that has no CPU waits for nothing.
    let found = has_and_nearly_has("ready-threads", &story(LENGTH, 0), &story(LENGTH - 1, LENGTH));
    assert_eq!(found.figures[0].amount, Amount::Time(2 * LENGTH));
}

#[test]
fn cpus_that_heat_holds_back() {
    let caps = |time: i64| {
        vec![CpuStateRow {
            start: 100 * MS,
            time: 100 * MS + time,
            cpu: 0,
            kind: cpu_state_kinds::CAPPED_BY_HEAT,
            value: Some(50),
        }]
    };
    // Of the time of two CPUs.
    let story = |time: i64| {
        with_rows(caps(time)).with(|writer: &mut ArchiveWriter| {
            writer.write_table(&[CpuFrequencyRow { khz: 3_000_000, ..CpuFrequencyRow::default() }]);
        })
    };
    let found = has_and_nearly_has("throttled", &story(2 * ENOUGH), &story(2 * ENOUGH - 1));
    assert_eq!(time(&found), (Some(2 * ENOUGH), false));
}

#[test]
fn clocks_below_the_nominal_rate() {
    let rates = |mhz: i64| {
        with_rows(vec![CpuFrequencyRow { khz: mhz * 1000, ..CpuFrequencyRow::default() }]).with(|writer| {
            writer.write_table(&[CpuRow { cpu: 0, nominal_khz: Some(4_000_000), ..CpuRow::default() }]);
        })
    };
    let found = has_and_nearly_has("slow-clock", &rates(3_000), &rates(3_001));
    assert_eq!(found.figures[0].amount, Amount::Number(75.0));
}

#[test]
fn work_on_efficient_cores() {
    let samples = |efficient: i64| {
        let of = move |number: i64| CpuSampleRow {
            time: number * MS,
            cpu: if number < efficient { 1 } else { 0 },
            process: ProcessId(MAIN),
            thread: ThreadId(MAIN),
            weight: MS,
            stack: Some(StackId(REST)),
            ..CpuSampleRow::default()
        };
        Story::of(&[Piece::Broken(LENGTH - 1)])
            .before(move |writer| writer.write_table(&(0..100).map(of).collect::<Vec<_>>()))
            .with(|writer| {
                let core = |cpu: i16, class: i8| CpuRow { cpu, efficiency_class: Some(class), ..CpuRow::default() };
                writer.write_table(&[core(0, 1), core(1, 0)]);
            })
    };
    let found = has_and_nearly_has("efficient-cores", &samples(35), &samples(33));
    assert_eq!(found.figures[0].amount, Amount::Time(35 * MS));
}

#[test]
fn heaps_that_check_themselves() {
    let story = |time: i64| Story::of(&[Piece::Run(time, DEBUG_HEAP)]);
    let found = has_and_nearly_has("debug-heap", &story(ENOUGH), &story(19 * MS));
    assert_eq!(time(&found), (Some(ENOUGH), false));
}
