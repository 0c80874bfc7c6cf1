//! The account of every thread against what the simulated machine really did, and the identity for any rows at all.

use std::collections::BTreeSet;

use crate::properties::simulation::{Did, Machine};
use proptest::prelude::*;
use tracesift_analysis::{Accounting, Accounts, RecordingFacts, Run, Span, ThreadAccount};
use tracesift_trace::rows::{ContextSwitchRow, Origin, ThreadRow};
use tracesift_trace::{ProcessId, ThreadId};

fn account<'a>(
    recording: &RecordingFacts,
    range: Span,
    threads: &[ThreadRow],
    rows: impl Iterator<Item = &'a ContextSwitchRow>,
) -> (Accounts, Vec<Run>) {
    let mut runs = Vec::new();
    let mut accounting = Accounting::new(recording, range, threads);
    for row in rows {
        accounting.switch(row, &mut |run| runs.push(run));
    }
    let accounts = accounting.finish(&mut |run| runs.push(run));
    (accounts, runs)
}

fn total(account: &ThreadAccount) -> i64 {
    account.run + account.wait + account.ready.unwrap_or(0) + account.open + account.unknown
}

fn check(machine: &Machine, range: Span, accounts: &Accounts, runs: &[Run]) -> Result<(), TestCaseError> {
    prop_assert_eq!(accounts.contradictions, 0);
    let inside = machine.recording.span.intersect(range);
    for account in &accounts.threads {
        let cells = (inside.start..inside.end).map(|time| machine.did(account.thread, time)).collect::<Vec<_>>();
        let count = |what: fn(&Did) -> bool| cells.iter().filter(|did| what(did)).count() as i64;
        let context = format!("{account:?} did {cells:?}");
        prop_assert_eq!(account.run, count(|did| matches!(did, Did::Run(..))), "run: {}", context);
        prop_assert_eq!(account.wait, count(|did| *did == Did::Wait), "wait: {}", context);
        prop_assert_eq!(account.ready.unwrap_or(0), count(|did| *did == Did::Ready), "ready: {}", context);
        prop_assert_eq!(account.open, count(|did| *did == Did::Open), "open: {}", context);
        prop_assert_eq!(account.unknown, count(|did| *did == Did::Unknown), "unknown: {}", context);
        prop_assert_eq!(total(account), account.life.length());
        prop_assert_eq!(
            account.ready.is_none(),
            !machine.recording.has_ready && !was_preempted(machine, range, account)
        );

        let switch_ins =
            machine.spans.iter().filter(|span| span.thread == account.thread).filter_map(|span| span.switch_in);
        let switch_ins = switch_ins.filter(|&time| range.contains(time)).count() as i64;
        prop_assert_eq!(account.switches, switch_ins);

        let weighted = cells.iter().map(|did| match did {
            Did::Run(_, Some(priority)) => i128::from(*priority),
            _ => 0,
        });
        prop_assert_eq!(account.priority_time, weighted.sum::<i128>(), "priority: {}", context);

        let seen = runs.iter().filter(|run| run.thread == account.thread);
        let seen = seen.flat_map(|run| (run.span.start..run.span.end).map(|time| (time, run.cpu)));
        let mut seen = seen.collect::<Vec<_>>();
        seen.sort_unstable();
        let truth = (inside.start..inside.end).zip(&cells).filter_map(|(time, did)| match did {
            Did::Run(cpu, _) => Some((time, Some(*cpu))),
            _ => None,
        });
        prop_assert_eq!(&seen, &truth.collect::<Vec<_>>(), "runs: {}", context);
        let ran_on =
            seen.iter().filter_map(|(_, cpu)| *cpu).map(|cpu| cpu.unsigned_abs().into()).collect::<BTreeSet<_>>();
        prop_assert!(ran_on.is_subset(&account.cpus.iter().collect()));
    }
    Ok(())
}

/// Whether a preemption of the thread lies in the range, be it for no time.
fn was_preempted(machine: &Machine, range: Span, account: &ThreadAccount) -> bool {
    let of_thread = machine.spans.iter().filter(|span| span.thread == account.thread);
    let mut ready = of_thread.filter_map(|span| span.ready).map(|(start, end)| Span::new(start, end));
    ready.any(|span| span.clip(range).is_some())
}

fn a_range() -> impl Strategy<Value = Span> {
    prop_oneof![Just(Span::ALL), (-40i64..130, 0i64..120).prop_map(|(start, length)| Span::new(start, start + length)),]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn accounts_are_what_the_machine_did(seed in any::<u64>(), has_ready in any::<bool>(), range in a_range()) {
        let machine = crate::properties::simulation::run(seed, has_ready);
        let Machine { recording, threads, switches, .. } = &machine;
        let (accounts, runs) = account(recording, range, threads, switches.iter());
        check(&machine, range, &accounts, &runs)?;
        let (backwards, runs) = account(recording, range, threads, switches.iter().rev());
        check(&machine, range, &backwards, &runs)?;
        prop_assert_eq!(accounts, backwards);
    }

    #[test]
    fn a_range_needs_only_the_rows_that_touch_it(seed in any::<u64>(), range in a_range()) {
        let machine = crate::properties::simulation::run(seed, true);
        let Machine { recording, threads, switches, .. } = &machine;
        let touching = switches.iter().filter(|row| row.off_time < range.end && row.time > range.start);
        let touching = touching.collect::<Vec<_>>();
        let (all, _) = account(recording, range, threads, switches.iter());
        let (some, _) = account(recording, range, threads, touching.iter().copied());
        for (all, some) in all.threads.iter().zip(&some.threads) {
            if touching.iter().any(|row| row.thread == all.thread) {
                prop_assert_eq!((all.run, all.wait, all.ready), (some.run, some.wait, some.ready));
                prop_assert_eq!((all.open, all.unknown), (some.open, some.unknown));
            }
        }
    }

    #[test]
    fn the_identity_holds_for_any_rows(
        rows in prop::collection::vec(any_row(), 0..40),
        lives in prop::collection::vec((prop::option::of(edge()), prop::option::of(edge())), 0..4),
        span in (edge(), edge()),
        range in (edge(), edge()),
        has_ready in any::<bool>(),
    ) {
        let recording = RecordingFacts { span: Span::new(span.0, span.1), has_switches: true, has_ready };
        let threads = lives.iter().enumerate().map(|(index, &(start, end))| thread(index, start, end)).collect::<Vec<_>>();
        for range in [Span::ALL, Span::new(range.0, range.1)] {
            let (accounts, _) = account(&recording, range, &threads, rows.iter());
            for account in &accounts.threads {
                let known = [account.run, account.wait, account.open, account.unknown, account.ready.unwrap_or(0)];
                prop_assert!(known.iter().all(|&ns| ns >= 0));
                prop_assert_eq!(total(account), account.life.length());
            }
        }
    }
}

fn edge() -> impl Strategy<Value = i64> {
    prop_oneof![8 => -20i64..120, 1 => Just(i64::MIN), 1 => Just(i64::MAX)]
}

fn any_row() -> impl Strategy<Value = ContextSwitchRow> {
    let times = (edge(), edge(), prop::option::of(edge()));
    let who = (0i32..4, prop::option::of(0i32..4), prop::option::of(-1i16..3));
    (times, who, any::<i16>(), any::<Option<i8>>()).prop_map(|((off_time, time, ready_time), who, flags, priority)| {
        ContextSwitchRow {
            time,
            cpu: who.2,
            thread: ThreadId(who.0),
            prev_thread: who.1.map(ThreadId),
            off_time,
            ready_time,
            priority,
            // Mostly ordinary rows.
            flags: if flags % 3 == 0 { flags } else { 0 },
            ..ContextSwitchRow::default()
        }
    })
}

fn thread(index: usize, start: Option<i64>, end: Option<i64>) -> ThreadRow {
    ThreadRow {
        thread: ThreadId::from_index(index),
        process: ProcessId(0),
        tid: 0,
        start,
        end,
        origin: Origin::Event,
        ..ThreadRow::default()
    }
}

#[test]
fn rows_without_thread_and_overlapping_rows_are_counted() {
    let recording = RecordingFacts { span: Span::new(0, 100), has_switches: true, has_ready: true };
    let row = |thread: i32, off_time: i64, time: i64| ContextSwitchRow {
        time,
        off_time,
        thread: ThreadId(thread),
        cpu: Some(0),
        ..ContextSwitchRow::default()
    };
    let rows = [row(0, 10, 20), row(0, 15, 30), row(7, 1, 2), row(0, 90, 120)];
    let (accounts, _) = account(&recording, Span::ALL, &[thread(0, None, None)], rows.iter());
    assert_eq!(accounts.contradictions, 3);
    assert_eq!((accounts.threads[0].run, accounts.threads[0].wait), (80, 20));
}

/// Who has lost its id while it ended has a row of its own, and its life in that with the id.
#[test]
fn nothing_is_unknown_of_a_thread_without_an_id() {
    let recording = RecordingFacts { span: Span::new(0, 100), has_switches: true, has_ready: true };
    let nameless = ThreadRow { tid: -1, ..thread(1, None, None) };
    let (accounts, _) = account(&recording, Span::ALL, &[thread(0, None, None), nameless], [].iter());
    assert_eq!(accounts.threads[0].unknown, 100);
    assert_eq!((accounts.threads[1].unknown, accounts.threads[1].life.length()), (0, 0));
}
