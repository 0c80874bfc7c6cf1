//! Rules about the account: time of the path.

use super::story::{
    ANTIVIRUS, CHECKPOINT, DISK, HARD_FAULT, LOCK, MS, OTHER, Piece, REST, SCANNER, SLEEP, SPIN, SYSTEM, Story, TIMER,
    WORK, WORKER, finding, has_and_nearly_has,
};
use tracesift_ask::asked::Amount;

/// 2 % of a second, and one nanosecond less.
const ENOUGH: i64 = 20 * MS;
const NEARLY: i64 = ENOUGH - 1;

/// A rule about so much time of the path.
fn check(rule: &str, pieces: impl Fn(i64) -> Vec<Piece>) {
    let found = has_and_nearly_has(rule, &Story::of(&pieces(ENOUGH)), &Story::of(&pieces(NEARLY)));
    assert!(found.is_on_path, "{rule}");
    assert_eq!(found.time, Some(ENOUGH), "{rule}");
    assert_eq!((found.figures[0].amount, found.figures[0].share), (Amount::Time(ENOUGH), Some(2.0)), "{rule}");
    assert!(found.sentence.contains("20.0 ms") && found.sentence.contains("2.0 %"), "{}", found.sentence);
}

#[test]
fn scanners_on_the_path() {
    // As the thread that was waited for, as a driver on the own stack, and as the one that had the CPU of a thread that was followed.
    check("antivirus", |time| vec![Piece::Run(MS, REST), Piece::WaitFor(time, WORK, ANTIVIRUS, WORK)]);
    check("antivirus", |time| vec![Piece::Run(MS, REST), Piece::Wait(time, SCANNER, TIMER)]);
}

#[test]
fn checkpoints() {
    check("checkpoint", |time| vec![Piece::Run(MS, REST), Piece::WaitFor(time, LOCK, SYSTEM, CHECKPOINT)]);
}

#[test]
fn hard_faults() {
    check("hard-faults", |time| vec![Piece::Run(MS, REST), Piece::Wait(time, HARD_FAULT, DISK)]);
}

#[test]
fn waits_of_one_tick_of_the_timer() {
    const RULE: &str = "timer-resolution";
    let ticks = |count: usize, length: i64| -> Vec<Piece> {
        let one = [Piece::Run(MS, WORK), Piece::Wait(length, SLEEP, TIMER)];
        one.into_iter().cycle().take(2 * count).collect()
    };
    let has = Story::of(&ticks(2, 15_600_000));
    let found = has_and_nearly_has(RULE, &has, &Story::of(&ticks(1, 15_600_000)));
    assert_eq!(found.time, Some(31_200_000));
    // Waits of other lengths are no ticks, and those of 1 ms are those of a faster timer.
    for other in [14_999_999, 16_200_001, 1_000_000] {
        has_and_nearly_has(RULE, &has, &Story::of(&ticks(25, other)));
    }
    // An event that a device ends.
    let disk = [Piece::Run(MS, WORK), Piece::Wait(15_600_000, SLEEP, DISK)];
    has_and_nearly_has(RULE, &has, &Story::of(&disk.into_iter().cycle().take(10).collect::<Vec<_>>()));
    // Linux has no such ticks.
    let linux = Story::of(&ticks(2, 15_600_000)).described(|info| info.kind = "perf".to_owned()).explained();
    assert_eq!(finding(&linux, RULE), None);
    let why = linux.unlooked.iter().find(|unlooked| unlooked.rule == RULE).map(|unlooked| unlooked.why.as_str());
    assert_eq!(why, Some("not in recordings of Linux"));
}

#[test]
fn cpus_that_others_had() {
    check("cpu-taken", |time| vec![Piece::Run(MS, REST), Piece::Ready(time, OTHER)]);
    check("own-threads", |time| vec![Piece::Run(MS, REST), Piece::Ready(time, WORKER)]);
    // Each is the nearly of the other.
    let own = Story::of(&[Piece::Run(MS, REST), Piece::Ready(ENOUGH, WORKER)]);
    let taken = Story::of(&[Piece::Run(MS, REST), Piece::Ready(ENOUGH, OTHER)]);
    has_and_nearly_has("cpu-taken", &taken, &own);
    has_and_nearly_has("own-threads", &own, &taken);
}

/// A thread of another program that could not run is no thread of the test, even if the test waits for it.
#[test]
fn cpus_that_the_test_had() {
    let own = Story::of(&[Piece::Run(MS, REST), Piece::Ready(ENOUGH, WORKER)]);
    let with_theirs = Story::of(&[
        Piece::Run(MS, REST),
        Piece::Ready(NEARLY, WORKER),
        Piece::WaitForReady(50 * MS, LOCK, OTHER, WORKER),
    ]);
    has_and_nearly_has("own-threads", &own, &with_theirs);
    let account = with_theirs.explained().account.expect("an account");
    let is_theirs = |names: [Option<&str>; 7]| names[0] == Some("other") && names[3] == Some("the test itself");
    let theirs: Vec<_> =
        account.largest.iter().filter(|row| row.state() == "ready" && is_theirs(row.names())).collect();
    assert!(theirs.len() == 1 && theirs[0].time() > 49 * MS, "{:?}", account.largest);
}

#[test]
fn waits_for_locks() {
    check("lock-waits", |time| vec![Piece::Run(MS, REST), Piece::WaitFor(time, LOCK, WORKER, WORK)]);
    check("lock-waits", |time| vec![Piece::Run(MS, REST), Piece::Wait(time, LOCK, TIMER)]);
    // A lock that a checkpoint holds is a checkpoint: time counts once.
    let own = Story::of(&[Piece::Run(MS, REST), Piece::WaitFor(ENOUGH, LOCK, WORKER, WORK)]);
    let checkpoint = Story::of(&[Piece::Run(MS, REST), Piece::WaitFor(ENOUGH, LOCK, SYSTEM, CHECKPOINT)]);
    has_and_nearly_has("lock-waits", &own, &checkpoint);
}

#[test]
fn code_of_locks_that_runs() {
    // Samples divide the run time: 20 of 1000 ms are as many samples of equal weight.
    let spin = |time: i64, stack: i32| Story::of(&[Piece::Run(time, stack)]);
    for stack in [SPIN, LOCK] {
        let found = has_and_nearly_has("spin", &spin(ENOUGH, stack), &spin(19 * MS, stack));
        assert_eq!(found.time, Some(ENOUGH));
    }
    // To wait in a lock is not to spin.
    has_and_nearly_has(
        "spin",
        &spin(ENOUGH, SPIN),
        &Story::of(&[Piece::Run(MS, REST), Piece::Wait(90 * MS, LOCK, TIMER)]),
    );
}

#[test]
fn time_of_which_nothing_is_known() {
    check("unknown-time", |time| vec![Piece::Run(MS, REST), Piece::Broken(time)]);
}
