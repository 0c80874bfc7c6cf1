//! The focus, and threads that do not look after their messages. No recording with such events is public, so they are made from their
//! layouts.

use tracesift_etl::write::PointerSize;
use tracesift_extract::{EventSelection, Options};
use tracesift_scenario::providers::{Logged, write};
use tracesift_scenario::ui::{self, CLASSES, EDITOR, FOCUS, MESSAGES, SHELL, event, ids, numbers};
use tracesift_testing::recording::{Extracted, Recording};
use tracesift_trace::rows::{EventRow, FocusRow, ProcessRow, ThreadRow, UiDelayRow, ui_delay_kinds as kinds};

const MS: i64 = 1_000_000;
const SIZES: [PointerSize; 2] = [PointerSize::Four, PointerSize::Eight];

/// Start, end, tid, kind, message, class, age of the oldest input in ms, whether it lasts.
type Plain = (i64, i64, i64, i8, Option<i64>, Option<String>, Option<i64>, bool);

fn delays(extracted: &Extracted) -> Vec<Plain> {
    let threads: Vec<ThreadRow> = extracted.archive.rows().expect("threads");
    let rows: Vec<UiDelayRow> = extracted.archive.rows().expect("delays");
    assert!(rows.is_sorted_by_key(|row| row.time), "{rows:?}");
    let plain = |row: &UiDelayRow| {
        let thread = &threads[row.thread.expect("a thread").index()];
        assert_eq!(row.process, Some(thread.process));
        let class = row.class.clone().inspect(|_| assert_eq!(row.top_class.as_deref(), Some(CLASSES[1])));
        let (start, input) = (row.start / MS, row.input.map(|input| input / MS));
        (start, row.time / MS, thread.tid, row.kind, row.message, class, input, row.open == Some(true))
    };
    let mut rows: Vec<Plain> = rows.iter().map(plain).collect();
    rows.sort_unstable();
    rows
}

/// Start, end, pid, tid, session, whether it lasts.
fn focus(extracted: &Extracted) -> Vec<(i64, i64, i64, Option<i64>, i32, bool)> {
    let threads: Vec<ThreadRow> = extracted.archive.rows().expect("threads");
    let processes: Vec<ProcessRow> = extracted.archive.rows().expect("processes");
    let rows: Vec<FocusRow> = extracted.archive.rows().expect("spans");
    let plain = |row: &FocusRow| {
        let pid = processes[row.process.expect("a process").index()].pid;
        let tid = row.thread.map(|thread| threads[thread.index()].tid);
        (row.start / MS, row.time / MS, pid, tid, row.session, row.open == Some(true))
    };
    rows.iter().map(plain).collect()
}

#[test]
fn delays_and_the_focus_are_those_of_the_story() {
    for size in SIZES {
        let extracted = Recording::of("ui.etl", &ui::write(size).expect("a recording")).extract();
        let tid = i64::from(EDITOR.1);
        let [_, paint, command] = MESSAGES;
        let plain = |(message, from, to): (u32, i64, i64), kind: i8| -> Plain {
            (from, to, tid, kind, Some(message.into()), None, None, false)
        };
        let reported = |kind: i8, start: i64| -> Plain {
            (start, command.2, tid, kind, Some(command.0.into()), Some(CLASSES[0].to_owned()), Some(3_000), false)
        };
        let expected = [
            plain(paint, kinds::NO_FETCH),
            plain(paint, kinds::DISPATCH),
            plain(command, kinds::NO_FETCH),
            reported(kinds::NO_CHECK, command.1),
            plain(command, kinds::DISPATCH),
            reported(kinds::INPUT, command.1 + 10),
        ];
        assert_eq!(delays(&extracted), expected, "{size:?}");
        let [comes, leaves] = FOCUS;
        let (shell, editor) = ((SHELL.0.into(), Some(SHELL.1.into())), (EDITOR.0.into(), Some(tid)));
        let expected = [
            // Of the first span the event about processes tells, and no thread.
            (0, comes, shell.0, None, 1, false),
            (comes, leaves, editor.0, editor.1, 1, false),
            (leaves, 12_000, shell.0, shell.1, 1, true),
        ];
        assert_eq!(focus(&extracted), expected, "{size:?}");
        let health = &extracted.report.health;
        assert_eq!((health.get("fields_not_as_expected"), health.get("focus_changes_missing")), (0, 0));
        // The pump is in `ui_delays`, what is rare stays an event.
        let rows: Vec<EventRow> = extracted.archive.rows().expect("events");
        assert_eq!(rows.len(), 6);
    }
}

fn written(size: PointerSize, events: Vec<Logged>) -> Extracted {
    let bytes = write(size, 20, &[(EDITOR.0, "editor.exe"), (SHELL.0, "shell.exe")], events).expect("events");
    Recording::of("ui.etl", &bytes).extract()
}

#[test]
fn each_report_has_its_span() {
    for size in SIZES {
        let (by, other) = (EDITOR, SHELL);
        let report = |ms: i64, id: u16, times: [u32; 3]| event(ms * MS, 0, by, id, ui::delay(id, times, 15, size));
        let of = |ms: i64, id: u16, values: &[u32]| event(ms * MS, 0, other, id, numbers(values, size));
        let extracted = written(
            size,
            vec![
                report(1_000, ids::INPUT_DELAY, [0, 300, 400]),
                report(2_000, ids::CHECK_DELAY, [500, 300, u32::MAX]),
                report(3_000, ids::APP_INPUT_DELAY, [0, 600, 700]),
                report(4_000, ids::APP_CHECK_DELAY, [700, 600, 0]),
                // Longer than the recording lasts; nothing at all.
                report(5_000, ids::CHECK_DELAY, [50_000, 0, 0]),
                report(6_000, ids::INPUT_DELAY, [0, 0, 0]),
                of(7_000, ids::WAIT_CURSOR, &[by.1, by.0, 1, 2, 900]),
                // Input waits for 800 ms, and was not looked for in 2 s; nothing waits.
                of(8_000, ids::RUNDOWN, &[by.1, 0, 2_000, 2_500, 800]),
                of(9_000, ids::RUNDOWN, &[by.1, 0, 2_000, 2_500, 0]),
                of(10_000, ids::THREAD_EXIT, &[by.1, 0, 300, 0, 5_000]),
                of(11_000, ids::THREAD_EXIT, &[by.1, 0, 199, 0, 5_000]),
            ],
        );
        let class = || Some(CLASSES[0].to_owned());
        let tid = i64::from(by.1);
        let expected: [Plain; 8] = [
            (0, 5_000, tid, kinds::NO_CHECK, Some(15), class(), None, false),
            (700, 1_000, tid, kinds::INPUT, Some(15), class(), Some(400), false),
            (1_500, 2_000, tid, kinds::NO_CHECK, Some(15), class(), None, false),
            (2_400, 3_000, tid, kinds::INPUT, Some(15), class(), Some(700), false),
            (3_300, 4_000, tid, kinds::NO_CHECK, Some(15), class(), None, false),
            (6_100, 7_000, tid, kinds::WAIT_CURSOR, None, None, None, false),
            (7_200, 8_000, tid, kinds::INPUT, None, None, Some(800), true),
            (9_700, 10_000, tid, kinds::INPUT, None, None, Some(5_000), false),
        ];
        assert_eq!(delays(&extracted), expected, "{size:?}");
    }
}

/// A pump that does not go on lasts to the end, and damaged events cost themselves alone.
#[test]
fn what_lasts_and_what_is_cut() {
    for size in SIZES {
        let fetched = |ms: i64, id: u16| event(ms * MS, 0, EDITOR, id, ui::pump(id, 0, size));
        let mut events = vec![fetched(1_000, 76), fetched(1_100, 77), fetched(1_200, 76), fetched(19_000, 77)];
        for (number, id) in
            [ids::FOCUS_THREAD, ids::FOCUS_HELD, ids::FOCUS_PROCESS, ids::CHECK_DELAY].iter().enumerate()
        {
            for length in 0..4 {
                let ms = 2_000 + number as i64 * 100 + length;
                events.push(Logged { payload: vec![1; length as usize], ..fetched(ms, *id) });
            }
        }
        let extracted = written(size, events);
        let expected: [Plain; 1] = [(19_000, 20_000, EDITOR.1.into(), kinds::NO_FETCH, None, None, None, true)];
        assert_eq!(delays(&extracted), expected);
        assert_eq!(focus(&extracted), []);
        assert!(extracted.report.health.get("fields_not_as_expected") > 0);
    }
}

/// The process that has the focus all the time is told by a rundown; a change that was lost ends its span.
#[test]
fn who_holds_the_focus() {
    for size in SIZES {
        let held = |ms: i64, pid: u32| {
            let mut payload = numbers(&[1, pid], size);
            payload.u64(0);
            event(ms * MS, 0, SHELL, ids::FOCUS_HELD, payload)
        };
        let extracted = written(size, vec![held(10, SHELL.0), held(4_000, SHELL.0), held(9_000, EDITOR.0)]);
        let (shell, editor) = (SHELL.0.into(), EDITOR.0.into());
        let expected = [(0, 4_000, shell, None, 1, true), (9_000, 20_000, editor, None, 1, true)];
        assert_eq!(focus(&extracted), expected, "{size:?}");
        assert_eq!(extracted.report.health.get("focus_changes_missing"), 1);
    }
}

#[test]
fn tables_are_left_out_and_events_kept() {
    let recording = || Recording::of("ui.etl", &ui::write(PointerSize::Eight).expect("a recording"));
    let tables = "!ui_delays;!focus".parse().expect("tables");
    let without = recording().extract_with(&Options { tables, ..Options::default() });
    assert_eq!((delays(&without).len(), focus(&without).len()), (0, 0));
    let all = recording().extract_with(&Options { events: Some(EventSelection::All), ..Options::default() });
    let rows: Vec<EventRow> = all.archive.rows().expect("events");
    let of_pump = |row: &&EventRow| matches!(row.id, Some(76 | 77 | 92 | 93));
    assert_eq!(rows.iter().filter(of_pump).count(), 12);
}
