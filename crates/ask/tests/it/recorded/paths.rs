//! The walk against the recursive definition of a path, over the rows of real recordings: both read the same table, and share
//! nothing but the meaning of a row's flags.

use std::collections::HashMap;
use std::io::Cursor;
use std::ops::ControlFlow;

use tracesift_analysis::path::{Cause, Gap, Guide, Leaf, Link, Occupant, PathSwitch, State, Waker, Walk};
use tracesift_analysis::spans::is_switch_in;
use tracesift_analysis::{Interrupt, RecordingFacts, Span, pieces};
use tracesift_archive::Archive;
use tracesift_extract::{Options, Outcome, extract, unwatched};
use tracesift_scenario::causal::{Noise, etl, perf, random, run};
use tracesift_testing::archive::Random;
use tracesift_testing::recording::{Recording, input_of};
use tracesift_trace::ThreadId;
use tracesift_trace::rows::{ContextSwitchRow, ThreadRow, switch_flags};

use super::{linux_recordings, recordings};

/// Windows of each recording.
const WINDOWS: usize = 200;

/// A leaf in words: times, threads from the anchor on, state.
type Plain = (i64, i64, Vec<ThreadId>, String);

struct Recorded {
    facts: RecordingFacts,
    threads: Vec<ThreadRow>,
    rows: Vec<ContextSwitchRow>,
    /// By thread: its rows, in the order of the table.
    of_thread: HashMap<ThreadId, Vec<ContextSwitchRow>>,
    lives: HashMap<ThreadId, ThreadRow>,
}

impl Recorded {
    fn of(archive: &Archive) -> Self {
        let (threads, rows): (Vec<ThreadRow>, Vec<ContextSwitchRow>) =
            (archive.rows().expect("threads"), archive.rows().expect("switches"));
        let mut of_thread: HashMap<ThreadId, Vec<ContextSwitchRow>> = HashMap::new();
        rows.iter().for_each(|row| of_thread.entry(row.thread).or_default().push(row.clone()));
        let lives = threads.iter().map(|row| (row.thread, row.clone())).collect();
        Self { facts: RecordingFacts::from(archive.info()), threads, rows, of_thread, lives }
    }

    fn is_idle(&self, thread: ThreadId) -> bool {
        self.lives.get(&thread).is_some_and(|row| row.idle_cpu.is_some())
    }

    /// The thread that ended the wait of a row, if one did.
    fn waker(&self, row: &ContextSwitchRow) -> Option<ThreadId> {
        let is_told = self.facts.has_ready && row.ready_time.is_some();
        let is_thread = row.flags & switch_flags::READIED_FROM_DPC == 0;
        row.readier.filter(|readier| is_told && is_thread && !self.is_idle(*readier))
    }

    fn walk(&self, window: Span, anchor: ThreadId) -> Vec<Plain> {
        let mut walk = Walk::new(&self.facts, window, anchor, &self.threads);
        for row in self.threads.iter().filter(|row| !self.of_thread.contains_key(&row.thread)) {
            walk.never_switched(row.thread);
        }
        let mut collector = Collector(Vec::new());
        for row in self.rows.iter().rev().filter(|row| row.off_time < window.end && row.time > window.start) {
            if walk.row(row, &mut collector) == ControlFlow::Break(()) {
                break;
            }
        }
        walk.finish(&mut collector);
        collector.0
    }

    fn recursion(&self, window: Span, anchor: ThreadId) -> Vec<Plain> {
        let mut recursion = Recursion { recorded: self, window, leaves: Vec::new() };
        recursion.path(window, &[anchor]);
        recursion.leaves
    }
}

struct Collector(Vec<Plain>);

impl Guide for Collector {
    fn waker(&mut self, row: &PathSwitch) -> Waker {
        match row.readier {
            Some(thread) if row.flags & switch_flags::READIED_FROM_DPC == 0 => Waker::Thread(thread),
            Some(_) => Waker::Interrupt(Interrupt::Other),
            None => Waker::Nobody,
        }
    }

    fn leaf(&mut self, leaf: &Leaf, chain: &[Link]) {
        let state = match leaf.state {
            State::Run { .. } => "run".to_owned(),
            State::Ready { cpu, occupant, .. } => format!("ready {cpu:?} {}", occupant_text(occupant)),
            State::Wait { cause: Cause::Interrupt(_), .. } => "wait interrupt".to_owned(),
            State::Wait { cause: Cause::Nobody, .. } => "wait nobody".to_owned(),
            State::Wait { cause: Cause::Unfollowed { .. }, .. } => "wait unfollowed".to_owned(),
            State::Unknown(gap) => format!("unknown {gap:?}"),
        };
        let threads = chain.iter().map(|link| link.thread).collect();
        self.0.push((leaf.span.start, leaf.span.end, threads, state));
    }
}

fn occupant_text(occupant: Occupant) -> String {
    match occupant {
        Occupant::Thread(thread) => format!("{thread:?}"),
        Occupant::Idle => "idle".to_owned(),
        Occupant::Unknown => "unknown".to_owned(),
    }
}

/// The definition, as it is written: what a thread did, and in the place of each wait what the thread did that ended it.
struct Recursion<'a> {
    recorded: &'a Recorded,
    window: Span,
    leaves: Vec<Plain>,
}

impl Recursion<'_> {
    fn path(&mut self, span: Span, chain: &[ThreadId]) {
        let Some(&thread) = chain.last() else { return };
        let rows = self.recorded.of_thread.get(&thread).map_or(&[][..], Vec::as_slice);
        let mut now = span.end;
        while now > span.start {
            // The last time that it left a CPU before now; of a thread that was not seen to leave, its first row.
            let open_left = |row: &&ContextSwitchRow| {
                // Of a thread that could run after the window for the first time nothing touches it.
                row.off_time < self.window.end && pieces(*row, self.recorded.facts.has_ready).open.is_some()
            };
            let row = rows.iter().rev().find(|row| row.off_time < now).or(rows.first().filter(open_left));
            let Some(row) = row else {
                let state = if rows.is_empty() { "unknown NoSwitches" } else { "run" };
                return self.lived(Span::new(span.start, now), state, chain);
            };
            if row.time < now {
                let from = row.time.max(span.start);
                let state = if is_switch_in(row.flags) {
                    "run"
                } else if row.flags & (switch_flags::OPEN_RIGHT | switch_flags::TERMINATED) != 0 {
                    "unknown AfterEnd"
                } else {
                    "unknown BrokenChain"
                };
                self.lived(Span::new(from, now), state, chain);
                now = from;
                continue;
            }
            let parts = pieces(row, self.recorded.facts.has_ready);
            if let Some(ready) = parts.ready.filter(|ready| ready.start < now) {
                let from = ready.start.max(span.start);
                self.ready(Span::new(from, now), row, chain);
                now = from;
            } else if parts.open.is_some() {
                return self.before_birth(Span::new(span.start, now), row, chain);
            } else if let Some(wait) = parts.wait.filter(|wait| wait.start < now) {
                let from = wait.start.max(span.start);
                self.wait(Span::new(from, now), row, chain);
                now = from;
            } else {
                let from = row.off_time.max(span.start);
                self.leaf(from, now, format!("unknown {:?}", Gap::BrokenChain), chain);
                now = from;
            }
        }
    }

    fn wait(&mut self, span: Span, row: &ContextSwitchRow, chain: &[ThreadId]) {
        match self.recorded.waker(row) {
            Some(waker) if chain.contains(&waker) || chain.len() >= 64 => {
                self.leaf(span.start, span.end, "wait unfollowed".to_owned(), chain);
            }
            Some(waker) => self.path(span, &[chain, &[waker]].concat()),
            None => {
                let is_told = self.recorded.facts.has_ready && row.ready_time.is_some() && row.readier.is_some();
                let by = if is_told { "interrupt" } else { "nobody" };
                self.leaf(span.start, span.end, format!("wait {by}"), chain);
            }
        }
    }

    /// Before a thread could run for the first time, the thread that made it acts for it.
    fn before_birth(&mut self, span: Span, row: &ContextSwitchRow, chain: &[ThreadId]) {
        let is_born = self.recorded.lives.get(&row.thread).is_some_and(|life| life.start.is_some());
        match self.recorded.waker(row).filter(|creator| is_born && !chain.contains(creator)) {
            Some(creator) => self.path(span, &[&chain[..chain.len() - 1], &[creator]].concat()),
            None => {
                let gap = if is_born { Gap::BeforeStart } else { Gap::NotSeenYet };
                let facts = self.recorded.facts.span;
                self.inside(span, facts, &format!("unknown {gap:?}"), chain);
            }
        }
    }

    /// Ready time belongs to whoever left the CPU next.
    fn ready(&mut self, span: Span, row: &ContextSwitchRow, chain: &[ThreadId]) {
        let Some(cpu) = row.cpu.filter(|_| is_switch_in(row.flags)) else {
            return self.leaf(span.start, span.end, "ready None unknown".to_owned(), chain);
        };
        let on_cpu = |row: &&ContextSwitchRow| row.cpu == Some(cpu) && is_switch_in(row.flags);
        let switches: Vec<&ContextSwitchRow> = self.recorded.rows.iter().filter(on_cpu).collect();
        let mut now = span.end;
        while now > span.start {
            // Of the first instant at or after now the first row; rows beyond the window are not looked at.
            let next = switches.iter().find(|row| row.time >= now && row.time <= self.window.end);
            let occupant = match next.and_then(|row| row.prev_thread) {
                Some(thread) if self.recorded.is_idle(thread) => Occupant::Idle,
                Some(thread) => Occupant::Thread(thread),
                None => Occupant::Unknown,
            };
            let before = switches.iter().rev().find(|row| row.time < now).map_or(i64::MIN, |row| row.time);
            let from = before.max(span.start);
            self.leaf(from, now, format!("ready {:?} {}", Some(cpu), occupant_text(occupant)), chain);
            now = from;
        }
    }

    /// Time in which a thread did something if it lived, as far as the recording goes.
    fn lived(&mut self, span: Span, state: &str, chain: &[ThreadId]) {
        let recorded = self.recorded.facts.span;
        let life = chain.last().and_then(|thread| self.recorded.lives.get(thread));
        let start = life.and_then(|life| life.start).unwrap_or(recorded.start);
        let end = life.and_then(|life| life.end).unwrap_or(recorded.end);
        self.inside(span, Span::new(start, end).intersect(recorded), state, chain);
    }

    fn inside(&mut self, span: Span, life: Span, state: &str, chain: &[ThreadId]) {
        let recorded = self.recorded.facts.span;
        let mut now = span.end;
        for (from, state) in [
            (recorded.end, "unknown OutsideRecording"),
            (life.end, "unknown AfterEnd"),
            (life.start, state),
            (recorded.start, "unknown BeforeStart"),
            (span.start, "unknown OutsideRecording"),
        ] {
            let from = from.max(span.start).min(now);
            self.leaf(from, now, state.to_owned(), chain);
            now = from;
        }
    }

    fn leaf(&mut self, start: i64, end: i64, state: String, chain: &[ThreadId]) {
        if start < end {
            self.leaves.push((start, end, chain.to_vec(), state));
        }
    }
}

/// Compares random windows of an archive; the number of leaves, and of those in threads that another one waited for.
fn check(archive: &Archive, name: &str) -> [usize; 2] {
    let recorded = Recorded::of(archive);
    let span = recorded.facts.span;
    let mut dice = Random(archive.row_count::<ContextSwitchRow>());
    let length = usize::try_from(span.length()).expect("a length").max(1);
    let mut counts = [0, 0];
    for _ in 0..WINDOWS {
        let mut border = || span.start + i64::try_from(dice.below(length)).expect("small");
        let (a, b) = (border(), border());
        let window = Span::new(a.min(b), a.max(b));
        let anchor = recorded.threads[dice.below(recorded.threads.len())].thread;
        let (found, expected) = (recorded.walk(window, anchor), recorded.recursion(window, anchor));
        for (place, (found, expected)) in found.iter().zip(&expected).enumerate() {
            assert_eq!(found, expected, "{name}, {window:?} of {anchor:?}, leaf {place}");
        }
        assert_eq!(found.len(), expected.len(), "{name}, {window:?} of {anchor:?}");
        let sum: i64 = found.iter().map(|(start, end, ..)| end - start).sum();
        assert_eq!(sum, window.length(), "{name}");
        counts[0] += found.len();
        counts[1] += found.iter().filter(|(_, _, chain, _)| chain.len() > 1).count();
    }
    counts
}

#[test]
fn paths_of_shared_recordings_are_those_of_the_recursive_definition() {
    let Some(cases) = tracesift_fixtures::cases("") else { return };
    let mut files = recordings(&cases.join("etl"));
    files.extend(linux_recordings(&cases.join("perf")));
    let mut counts = [0, 0];
    for file in files {
        let directory = tempfile::tempdir().expect("temporary directory");
        let options = Options { out: Some(directory.path().to_owned()), ..Options::default() };
        // Other tests look at what is no recording.
        let Ok(extraction) = extract(&input_of(&file), &options, &mut unwatched) else { continue };
        for outcome in extraction.outcomes {
            let Outcome::Extracted(report) = outcome else { continue };
            let archive = Archive::open(&report.archive).expect("an archive");
            if archive.info().has_switches {
                let found = check(&archive, &file.display().to_string());
                counts.iter_mut().zip(found).for_each(|(count, found)| *count += found);
            }
        }
    }
    println!("{counts:?} leaves");
    assert!(counts[0] > 1_000, "{counts:?}");
}

/// The shared recordings have no wake-ups. These have nothing else.
#[test]
fn paths_of_machines_are_those_of_the_recursive_definition() {
    let mut counts = [0, 0];
    for seed in 0..6 {
        let (world, noise) = random(seed);
        let noise = Noise { lost_switches_per_mille: 30, lost_wake_ups_per_mille: 30, ..noise };
        let history = run(world, &noise, seed);
        let recording = if seed % 2 == 0 {
            Recording::etl(&etl::scenario(&history, 1_000_000))
        } else {
            let mut bytes = Cursor::new(Vec::new());
            perf::write(&history, 1_000_000, &mut bytes).expect("written");
            Recording::of("perf.data", &bytes.into_inner())
        };
        let found = check(&recording.extract().archive, &format!("seed {seed}"));
        counts.iter_mut().zip(found).for_each(|(count, found)| *count += found);
    }
    println!("{counts:?} leaves");
    assert!(counts[0] > 5_000 && counts[1] > 1_000, "{counts:?}");
}
