//! Context switches, 16 bytes each, behind 8 bytes for the window, the anchor and the threads: whatever they say, the leaves of the path cover the window
//! without gaps, and the walk takes a bounded number of steps.

#![no_main]

use libfuzzer_sys::fuzz_target;
use tracesift_analysis::path::{Guide, Leaf, Link, MAX_DEPTH, PathSwitch, Waker, Walk};
use tracesift_analysis::{Interrupt, RecordingFacts, Span};
use tracesift_trace::rows::{ContextSwitchRow, ThreadRow};
use tracesift_trace::{StackId, ThreadId};

/// Checks the leaves as they come.
struct Checker {
    end: i64,
    sum: i64,
    start: i64,
}

impl Guide for Checker {
    fn waker(&mut self, row: &PathSwitch) -> Waker {
        match (row.readier, row.ready_stack) {
            (Some(_), Some(StackId(0))) => Waker::Interrupt(Interrupt::Timer),
            (Some(thread), _) => Waker::Thread(thread),
            (None, _) => Waker::Nobody,
        }
    }

    fn hands_over(&mut self, row: &PathSwitch) -> bool {
        row.wait_stack == Some(StackId(1))
    }

    fn leaf(&mut self, leaf: &Leaf, chain: &[Link]) {
        assert_eq!(leaf.span.end, self.end);
        assert!(self.start <= leaf.span.start && leaf.span.start < leaf.span.end);
        assert!((1..=MAX_DEPTH).contains(&chain.len()));
        assert_eq!(chain.last().map(|link| link.thread), Some(leaf.thread));
        self.end = leaf.span.start;
        self.sum += leaf.span.length();
    }
}

/// A time of one byte: the last ones are as far as times can be.
fn time(byte: u8) -> i64 {
    match byte {
        255 => i64::MAX,
        254 => i64::MIN,
        253 => 1 << 61,
        252 => -(1 << 61),
        byte => i64::from(byte),
    }
}

/// An id of one byte, or none.
fn id(byte: u8) -> Option<i32> {
    match byte {
        255 => None,
        254 => Some(i32::MIN),
        253 => Some(i32::MAX),
        byte => Some(i32::from(byte % 80)),
    }
}

fn row(bytes: &[u8; 16]) -> ContextSwitchRow {
    let thread = |byte| id(byte).map(ThreadId);
    ContextSwitchRow {
        time: time(bytes[0]),
        off_time: time(bytes[1]),
        thread: thread(bytes[2]).unwrap_or_default(),
        prev_thread: thread(bytes[3]),
        ready_time: (bytes[4] > 20).then(|| time(bytes[5])),
        readier: thread(bytes[6]),
        wait_stack: id(bytes[7]).map(StackId),
        ready_stack: id(bytes[8]).map(StackId),
        flags: i16::from_le_bytes([bytes[9], bytes[10]]),
        cpu: (bytes[11] > 20).then(|| i16::from_le_bytes([bytes[12] % 3, if bytes[13] == 255 { 255 } else { 0 }])),
        ..ContextSwitchRow::default()
    }
}

fuzz_target!(|bytes: &[u8]| {
    let Some((&[from, to, anchor, first, last, start, end, flags], bytes)) = bytes.split_first_chunk() else { return };
    let window = Span::new(time(from), time(to));
    let span = Span::new(time(first), time(last));
    let facts = RecordingFacts { span, has_switches: flags & 1 == 0, has_ready: flags & 2 == 0 };
    let threads = (0..20).map(|thread| ThreadRow {
        thread: ThreadId(thread),
        start: (thread % 3 == 1).then(|| time(start)),
        end: (thread % 3 == 2).then(|| time(end)),
        idle_cpu: (thread % 8 == 7).then_some(0),
        ..ThreadRow::default()
    });
    let threads: Vec<ThreadRow> = threads.collect();
    let mut walk = Walk::new(&facts, window, ThreadId(id(anchor).unwrap_or_default()), &threads);
    let mut checker = Checker { end: window.end, sum: 0, start: window.start };
    let (rows, _) = bytes.as_chunks::<16>();
    for bytes in rows {
        if walk.row(&row(bytes), &mut checker).is_break() && flags & 4 == 0 {
            break;
        }
    }
    let totals = walk.finish(&mut checker);
    assert_eq!((checker.end, checker.sum), (window.start, window.length()));
    let rows = u64::try_from(rows.len()).unwrap_or(u64::MAX);
    assert!(totals.leaves <= 6 * rows + 4 * 20 + 8);
    assert!(totals.steps <= (totals.leaves + 2 * rows + 2) * 200);
});
