//! Kinds of waits, by each fact that decides.

use rustc_hash::FxHashSet;
use tracesift_analysis::Span;
use tracesift_ask::answer::Value;
use tracesift_ask::question::waits::kinds_of_threads;
use tracesift_ask::recording::{OpenRecording, Source};
use tracesift_testing::archive::{create, finish_as};
use tracesift_testing::rows::{self, process, stack};
use tracesift_trace::info::TraceInfo;
use tracesift_trace::rows::{ContextSwitchRow, SymbolRow, ThreadRow, switch_flags::READIED_FROM_DPC};
use tracesift_trace::{FrameId, RowSink as _, StackId, ThreadId};

use crate::commands::{integer, rows as answers};

const MS: i64 = 1_000_000;

/// Functions by frame; each has a stack of its own.
const FUNCTIONS: [(&str, &str); 6] = [
    ("storport.sys", "StorPortNotification"),
    ("ntoskrnl.exe", "KiTimerExpiration"),
    ("tcpip.sys", "TcpReceive"),
    ("[kernel.kallsyms]", "do_nanosleep"),
    ("[kernel.kallsyms]", "futex_wait"),
    ("ntoskrnl.exe", "KeSetEvent"),
];

const D: i8 = b'D' as i8;
const S: i8 = b'S' as i8;
const WAITING: i8 = 5;

/// Who readied and its flags, stack of that, state, wait reason, stack of the wait, kind.
type Fact = (Option<(i32, i16)>, Option<i32>, i8, Option<i8>, Option<i32>, &'static str);

const FACTS: [Fact; 14] = [
    (Some((2, READIED_FROM_DPC)), Some(0), WAITING, Some(0), None, "disk"),
    (Some((2, READIED_FROM_DPC)), Some(1), WAITING, Some(6), None, "sleep"),
    (Some((2, READIED_FROM_DPC)), Some(2), D, None, None, "other"),
    // Another thread ended it, whatever the state and the stack say.
    (Some((2, 0)), Some(5), D, None, None, "other"),
    (Some((2, 0)), Some(0), WAITING, Some(6), None, "other"),
    (Some((2, 0)), Some(4), S, None, Some(3), "other"),
    // `DelayExecution` and `WrDelayExecution`.
    (Some((2, 0)), Some(5), WAITING, Some(4), None, "sleep"),
    (Some((2, READIED_FROM_DPC)), None, WAITING, Some(11), None, "sleep"),
    // The idle thread wakes nobody, and the interrupt says nothing.
    (Some((0, 0)), None, D, None, None, "disk"),
    (Some((0, 0)), Some(5), S, None, Some(3), "sleep"),
    (Some((0, 0)), Some(5), S, None, Some(4), "other"),
    // Nobody is known to have ended it.
    (None, None, D, None, Some(4), "disk"),
    (None, None, D, None, Some(3), "sleep"),
    (None, None, S, None, Some(4), "other"),
];

fn recording(directory: &tempfile::TempDir) -> OpenRecording {
    let mut writer = create(&directory.path().join("kinds.sift"));
    writer.write_table(&[process(0, 0, "Idle"), process(1, 10, "a.exe"), process(2, 20, "b.exe")]);
    let thread = |id: i32| ThreadRow { idle_cpu: (id == 0).then_some(0), ..rows::thread(id, id, 10 + i64::from(id)) };
    writer.write_table(&[thread(0), thread(1), thread(2)]);
    let places: Vec<i32> = (0..).take(FUNCTIONS.len()).collect();
    let symbol = |(frame, (module, function)): (&i32, &(&str, &str))| SymbolRow {
        frame: FrameId(*frame),
        module: Some((*module).to_owned()),
        function: (*function).to_owned(),
        ..SymbolRow::default()
    };
    writer.write_table(&places.iter().map(|frame| rows::frame(*frame, 1)).collect::<Vec<_>>());
    writer.write_table(&places.iter().zip(&FUNCTIONS).map(symbol).collect::<Vec<_>>());
    writer.write_table(&places.iter().map(|frame| stack(*frame, &[*frame])).collect::<Vec<_>>());
    for (place, (waker, ready_stack, state, reason, wait_stack, _)) in (0..).zip(FACTS) {
        let off_time = place * 10 * MS;
        writer.context_switch(&ContextSwitchRow {
            thread: ThreadId(1),
            off_time,
            ready_time: waker.map(|_| off_time + 5 * MS),
            time: off_time + 6 * MS,
            cpu: Some(0),
            off_state: Some(state),
            wait_reason: reason,
            wait_stack: wait_stack.map(StackId),
            readier: waker.map(|(thread, _)| ThreadId(thread)),
            ready_stack: ready_stack.map(StackId),
            flags: waker.map_or(0, |(_, flags)| flags),
            ..ContextSwitchRow::default()
        });
    }
    let info = TraceInfo { end_ns: 1_000 * MS, has_switches: true, has_ready: true, ..TraceInfo::default() };
    OpenRecording::open(&Source::archive(finish_as(writer, info))).expect("opened")
}

#[test]
fn each_fact_decides_as_it_is_written_down() {
    let directory = tempfile::tempdir().expect("a directory");
    let recording = recording(&directory);
    let mut found = answers(&recording.file.path, &["dump", "waits", "--top", "50"]);
    found.sort_by_key(|row| integer(row, "from_ns"));
    assert_eq!(found.len(), FACTS.len());
    let range = Span::new(3 * MS, 1_000 * MS);
    let threads = FxHashSet::from_iter([ThreadId(1)]);
    let kinds = kinds_of_threads(&recording, &threads, range).expect("kinds");
    assert_eq!(kinds.len(), FACTS.len());
    for (row, fact) in found.iter().zip(FACTS) {
        assert_eq!(row["kind"], Value::Text(fact.5.into()), "{fact:?}");
        let start = integer(row, "from_ns").max(range.start);
        assert_eq!(kinds.get(&(ThreadId(1), start)).map(|kind| kind.word()), Some(fact.5), "{fact:?}");
    }
    assert!(kinds_of_threads(&recording, &FxHashSet::default(), range).expect("none").is_empty());
}
