use proptest::prelude::*;

use super::*;

fn report(thread: i32, start: i64, end: i64, kind: i8) -> Report {
    Report {
        time: end,
        start,
        process: Some(ProcessId(thread)),
        thread: Some(ThreadId(thread)),
        kind,
        message: None,
        class: None,
        top_class: None,
        input: None,
        open: None,
    }
}

proptest! {
    /// A delay is a row of instants, of a thread, each of which is in a report, and of which no two neighbours are of different reports only.
    #[test]
    fn delays_are_united_reports(
        spans in prop::collection::vec((0..3_i32, 0..60_i64, 1..20_i64, 0..5_i8), 0..20),
        focus in prop::collection::vec((0..3_i32, 0..60_i64, 1..20_i64), 0..6),
        (from, length) in (0..40_i64, 0..60_i64),
    ) {
        let reports: Vec<Report> =
            spans.iter().map(|(thread, start, length, kind)| report(*thread, *start, start + length, *kind)).collect();
        let in_focus = |process: i32, at: i64| focus.iter().any(|(of, start, length)| *of == process && (*start..start + length).contains(&at));
        let of_focus = focus.iter().map(|(process, start, length)| (ProcessId(*process), Span::new(*start, start + length)));
        let focus_times = FocusTimes::new(!focus.is_empty(), of_focus);
        let range = Span::new(from, from + length);
        let found = unite(reports.clone(), range, &focus_times);
        let mut expected = Vec::new();
        for thread in 0..3 {
            let own = |at: i64| reports.iter().filter(move |report| report.thread == Some(ThreadId(thread)) && report.span().contains(at));
            // Where one report goes over an instant, both sides are of one delay.
            let joins = |at: i64| own(at).any(|report| report.start < at);
            let mut at = 0;
            while at < 100 {
                if own(at).next().is_none() {
                    at += 1;
                    continue;
                }
                let start = at;
                at += 1;
                while joins(at) {
                    at += 1;
                }
                let span = Span::new(start, at).intersect(range);
                if !span.is_empty() {
                    let mut kinds: Vec<i8> = (start..at).flat_map(|at| own(at).map(|report| report.kind)).collect();
                    kinds.sort_unstable();
                    kinds.dedup();
                    let focused = (span.start..span.end).filter(|at| in_focus(thread, *at)).count() as i64;
                    expected.push((thread, span, kinds, (!focus.is_empty()).then_some(focused)));
                }
            }
        }
        let plain: Vec<_> =
            found.iter().map(|delay| (delay.thread.0, delay.span, delay.kinds.clone(), delay.focus)).collect();
        prop_assert_eq!(plain, expected);
    }

    /// What is left of a report without its waits for messages: the instants in none of them, in parts that are long enough.
    #[test]
    fn waits_for_messages_are_cut_out(lengths in prop::collection::vec((0..5_i64, 0..5_i64), 0..6), before in 0..3_i64, more in 0..5_i64) {
        const UNIT: i64 = LEAST / 2;
        let mut waits = Vec::new();
        let mut now = 0;
        for (run, wait) in &lengths {
            waits.push(Span::new(now + run * UNIT, now + (run + wait) * UNIT));
            now += (run + wait) * UNIT;
        }
        // The first wait may have begun before the report, and the last one may go on behind it.
        let whole = report(1, before * UNIT, (now + more * UNIT).max(before * UNIT), kinds::NO_FETCH);
        waits.retain(|wait| wait.end > whole.start);
        let parts: Vec<Span> = between(&whole, waits.clone()).map(|part| part.span()).collect();
        let is_free = |at: i64| whole.span().contains(at) && !waits.iter().any(|wait| wait.contains(at));
        let mut expected: Vec<Span> = Vec::new();
        for unit in 0..100 {
            let at = unit * UNIT;
            // A wait of no length parts them, too.
            let is_parted = waits.iter().any(|wait| wait.start == at);
            match expected.last_mut().filter(|last| last.end == at && !is_parted) {
                Some(last) if is_free(at) => last.end = at + UNIT,
                _ if is_free(at) => expected.push(Span::new(at, at + UNIT)),
                _ => {}
            }
        }
        expected.retain(|part| part.length() >= LEAST);
        prop_assert_eq!(parts, expected);
    }
}

#[test]
fn a_message_that_was_dispatched_goes_before_that_of_a_report() {
    let of = |kind: i8, message: i64| Report { message: Some(message), ..report(1, 0, 100, kind) };
    let longer = Report { message: Some(3), ..report(1, 0, 101, kinds::NO_CHECK) };
    let united = |reports: Vec<Report>| {
        let delays = unite(reports, Span::ALL, &FocusTimes::default());
        delays.iter().map(|delay| delay.message).collect::<Vec<_>>()
    };
    let (dispatched, reported) = (of(kinds::DISPATCH, 1), of(kinds::NO_CHECK, 2));
    assert_eq!(united(vec![reported.clone(), dispatched.clone()]), [Some(1)]);
    assert_eq!(united(vec![reported, dispatched, longer]), [Some(3)]);
}

#[test]
fn stacks_of_threads_that_wait_for_messages() {
    let stack = |methods: &[(&str, &str)]| -> Vec<MethodName> {
        let name = |(module, function): &(&str, &str)| MethodName {
            module: Some((*module).to_owned()),
            function: (*function).to_owned(),
        };
        methods.iter().map(name).collect()
    };
    let wait = [("ntoskrnl.exe", "KiSwapContext"), ("win32u.dll", "NtUserMsgWaitForMultipleObjectsEx")];
    let fetch =
        [("win32kfull.sys", "xxxRealSleepThread"), ("win32u.dll", "NtUserGetMessage"), ("USER32.dll", "GetMessageW")];
    let called =
        [("ntdll.dll", "NtWaitForSingleObject"), ("a.exe", "WndProc"), ("ntdll.dll", "KiUserCallbackDispatcher")];
    let send = [("win32u.dll", "NtUserMessageCall"), ("user32.dll", "SendMessageW"), ("a.exe", "main")];
    let own = [("a.exe", "GetMessages"), ("a.exe", "main")];
    let inside: Vec<_> = called.iter().chain(&fetch).copied().collect();
    let waits = [&wait[..], &fetch, &called, &send, &own, &inside].map(|methods| waits_for_messages(&stack(methods)));
    assert_eq!(waits, [true, true, false, false, false, false]);
}
