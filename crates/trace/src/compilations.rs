//! Compilations of methods by the .NET runtime, from the begin to the code.
//!
//! A thread that compiles a method can need another one, which it compiles meanwhile: what a thread has under way is a stack. The code
//! of a method ends its compilation; what was begun later on the same thread and has no code by then never gets any.

use crate::ids::{ProcessId, ThreadId};
use crate::open_lives::OpenLives;
use crate::rows::{JitMethodRow, jit_tiers, jit_triggers};

/// Threads with compilations under way that are followed at most. Of more the oldest ones are given up.
const MOST: usize = 1 << 16;
/// Compilations that one thread has under way, at most: the outermost ones make room.
const MOST_OF_THREAD: usize = 64;

/// A thread in its process.
pub type Compiler = (Option<ProcessId>, ThreadId);

/// The code of a method.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Code {
    /// Nanoseconds since time zero.
    pub time: i64,
    /// The runtime's number of the method.
    pub method: u64,
    /// Bytes.
    pub size: u32,
    /// As the event has it.
    pub tier: i8,
    /// Number of the version of the method.
    pub version: Option<u64>,
    /// Whether the method was made at run time.
    pub dynamic: bool,
    /// Whether precompiled code could not be used.
    pub rejected: bool,
}

/// Follows compilations. Fed in the order of time.
#[derive(Debug)]
pub struct Compilations {
    open: OpenLives<Compiler, Vec<Begun>>,
    /// Threads in a batch of the background.
    batches: OpenLives<Compiler, ()>,
    dropped: u64,
}

#[derive(Debug)]
struct Begun {
    method: u64,
    row: JitMethodRow,
    /// Time of the compilations that are nested in it, ns.
    nested: i64,
}

impl Begun {
    fn open_until(self, time: i64) -> JitMethodRow {
        JitMethodRow { time: time.max(self.row.start), open: Some(true), ..self.row }
    }
}

impl Default for Compilations {
    fn default() -> Self {
        Self::with_most(MOST)
    }
}

impl Compilations {
    fn with_most(most: usize) -> Self {
        Self { open: OpenLives::new(most), batches: OpenLives::new(most), dropped: 0 }
    }

    /// A batch of the background begins on a thread, or ends.
    pub fn batch(&mut self, thread: Compiler, begins: bool) {
        self.batches.remove(&thread);
        if begins {
            self.batches.insert(thread, None, ());
        }
    }

    /// A compilation begins; `row` has what the begin tells. Gives the rows of compilations that are given up.
    pub fn begin(&mut self, thread: Compiler, method: u64, row: JitMethodRow) -> Vec<JitMethodRow> {
        let now = row.start;
        let trigger =
            if self.batches.get(&thread).is_some() { jit_triggers::BACKGROUND } else { jit_triggers::FOREGROUND };
        let begun = Begun { method, row: JitMethodRow { trigger, ..row }, nested: 0 };
        let Some(stack) = self.open.get_mut(&thread) else {
            let oldest = self.open.insert(thread, None, vec![begun]);
            let given_up = oldest.unwrap_or_default();
            self.dropped += given_up.len() as u64;
            return given_up.into_iter().map(|begun| begun.open_until(now)).collect();
        };
        // A method that begins anew got no code before; nor did what was nested in it.
        let again = stack.iter().position(|begun| begun.method == method).unwrap_or(stack.len());
        let mut given_up: Vec<Begun> = stack.drain(again..).collect();
        nest(stack, &given_up);
        if stack.len() >= MOST_OF_THREAD {
            given_up.push(stack.remove(0));
            self.dropped += 1;
        }
        stack.push(begun);
        given_up.into_iter().map(|begun| begun.open_until(now)).collect()
    }

    /// The code of a method is there. Gives its row, and before it those of compilations inside of it that got no code; none where the
    /// recording does not have the begin.
    pub fn end(&mut self, thread: Compiler, code: &Code) -> Vec<JitMethodRow> {
        let Some(stack) = self.open.get_mut(&thread) else { return Vec::new() };
        let Some(place) = stack.iter().rposition(|begun| begun.method == code.method) else { return Vec::new() };
        let without_code: Vec<Begun> = stack.drain(place + 1..).collect();
        nest(stack, &without_code);
        let mut rows: Vec<JitMethodRow> = without_code.into_iter().map(|begun| begun.open_until(code.time)).collect();
        if let Some(begun) = stack.pop() {
            let duration = code.time.saturating_sub(begun.row.start).max(0);
            if let Some(outer) = stack.last_mut() {
                outer.nested = outer.nested.saturating_add(duration);
            }
            rows.push(with_code(begun, code, duration));
        }
        if stack.is_empty() {
            self.open.remove(&thread);
        }
        rows
    }

    /// The rows of compilations that have no code at the end of the recording.
    pub fn finish(&mut self, end: i64) -> impl Iterator<Item = JitMethodRow> {
        let open = std::iter::from_fn(|| self.open.oldest());
        open.flatten().map(move |begun| begun.open_until(end))
    }

    /// Compilations that were given up because more were under way than are followed.
    #[must_use]
    pub fn dropped(&self) -> u64 {
        self.dropped
    }
}

/// What is nested in compilations that get no code is nested in the one around them.
fn nest(stack: &mut [Begun], without_code: &[Begun]) {
    if let Some(outer) = stack.last_mut() {
        outer.nested = without_code.iter().fold(outer.nested, |nested, begun| nested.saturating_add(begun.nested));
    }
}

fn with_code(begun: Begun, code: &Code, duration: i64) -> JitMethodRow {
    let is_new_version = code.version.is_some_and(|version| version != 0);
    let is_tier_1 = matches!(code.tier, jit_tiers::TIER_1 | jit_tiers::TIER_1_INSTRUMENTED);
    let trigger = if is_new_version && is_tier_1 { jit_triggers::BACKGROUND } else { begun.row.trigger };
    JitMethodRow {
        time: code.time.max(begun.row.start),
        native_size: Some(code.size.into()),
        tier: Some(code.tier),
        // A method that is replaced while it runs has its thread wait.
        trigger: if code.tier == jit_tiers::ON_STACK { jit_triggers::FOREGROUND } else { trigger },
        version: code.version.map(u64::cast_signed),
        dynamic: Some(code.dynamic),
        rejected: Some(code.rejected),
        exclusive: Some(duration.saturating_sub(begun.nested).max(0)),
        ..begun.row
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Thread, method, whether it is the code.
    type Event = (i32, u64, bool);

    fn compiler(thread: i32) -> Compiler {
        (Some(ProcessId(0)), ThreadId(thread))
    }

    fn time_of(place: usize) -> i64 {
        place as i64 * 10
    }

    /// The places of begin and code, from one list of all begins under way.
    fn naive(events: &[Event]) -> Vec<(usize, usize)> {
        let (mut open, mut pairs): (Vec<usize>, Vec<(usize, usize)>) = (Vec::new(), Vec::new());
        for (place, (thread, method, is_code)) in events.iter().enumerate() {
            let is_it = |begin: &&usize| (events[**begin].0, events[**begin].1) == (*thread, *method);
            let begin = open.iter().rfind(is_it).copied();
            if let Some(begin) = begin {
                open.retain(|other| events[*other].0 != *thread || *other < begin);
                pairs.extend(is_code.then_some((begin, place)));
            }
            open.extend((!is_code).then_some(place));
        }
        pairs
    }

    proptest! {
        #[test]
        fn compilations_are_those_of_a_plain_search(
            events in prop::collection::vec((0..2_i32, 0..4_u64, any::<bool>()), 0..40),
        ) {
            let mut compilations = Compilations::default();
            let mut rows = Vec::new();
            for (place, (thread, method, is_code)) in events.iter().enumerate() {
                let time = time_of(place);
                rows.extend(match is_code {
                    true => compilations.end(compiler(*thread), &Code { time, method: *method, ..Code::default() }),
                    false => {
                        let row = JitMethodRow { start: time, thread: Some(ThreadId(*thread)), ..JitMethodRow::default() };
                        compilations.begin(compiler(*thread), *method, row)
                    }
                });
            }
            rows.extend(compilations.finish(time_of(events.len())));
            prop_assert_eq!(rows.len(), events.iter().filter(|event| !event.2).count(), "a row for each begin");
            let pairs = naive(&events);
            let mut whole: Vec<(i64, i64, i64)> = rows
                .iter()
                .filter(|row| row.open.is_none())
                .map(|row| (row.start, row.time, row.exclusive.unwrap_or(-1)))
                .collect();
            let mut expected: Vec<(i64, i64, i64)> = pairs
                .iter()
                .map(|(begin, end)| {
                    let is_inside = |place: &usize| {
                        pairs.iter().any(|(inner, inner_end)| {
                            events[*inner].0 == events[*begin].0 && begin < inner && inner <= place && place < inner_end && inner_end < end
                        })
                    };
                    let own = (*begin..*end).filter(|place| !is_inside(place)).count();
                    (time_of(*begin), time_of(*end), time_of(own))
                })
                .collect();
            whole.sort_unstable();
            expected.sort_unstable();
            prop_assert_eq!(whole, expected);
        }
    }

    #[test]
    fn time_nested_in_a_compilation_without_code_is_nested_in_the_one_around_it() {
        let mut compilations = Compilations::default();
        for (start, method) in [(0, 2), (10, 1), (20, 0)] {
            let _ = compilations.begin(compiler(1), method, JitMethodRow { start, ..JitMethodRow::default() });
        }
        let mut end = |time: i64, method: u64| {
            compilations.end(compiler(1), &Code { time, method, ..Code::default() }).pop().expect("a row").exclusive
        };
        assert_eq!((end(30, 0), end(40, 2)), (Some(10), Some(30)));
    }

    #[test]
    fn what_is_not_followed_is_open() {
        let mut compilations = Compilations::with_most(1);
        let row = |start: i64| JitMethodRow { start, ..JitMethodRow::default() };
        assert!(compilations.begin(compiler(1), 7, row(10)).is_empty());
        let given_up = compilations.begin(compiler(2), 8, row(20));
        assert_eq!(given_up, [JitMethodRow { time: 20, open: Some(true), ..row(10) }]);
        assert!(compilations.end(compiler(1), &Code { time: 30, method: 7, ..Code::default() }).is_empty());
        for method in 100..100 + MOST_OF_THREAD as u64 {
            let _ = compilations.begin(compiler(2), method, row(40));
        }
        assert_eq!(compilations.dropped(), 2);
        assert_eq!(compilations.finish(50).count(), MOST_OF_THREAD);
    }

    #[test]
    fn triggers_come_from_batches_and_versions() {
        let mut compilations = Compilations::default();
        let mut trigger = |in_batch: bool, tier: i8, version: Option<u64>| {
            compilations.batch(compiler(1), in_batch);
            let _ = compilations.begin(compiler(1), 7, JitMethodRow::default());
            let code = Code { method: 7, tier, version, ..Code::default() };
            compilations.end(compiler(1), &code).pop().expect("a row").trigger
        };
        assert_eq!(trigger(false, jit_tiers::TIER_0, Some(0)), jit_triggers::FOREGROUND);
        assert_eq!(trigger(false, jit_tiers::TIER_1, Some(0)), jit_triggers::FOREGROUND);
        assert_eq!(trigger(false, jit_tiers::TIER_1, Some(2)), jit_triggers::BACKGROUND);
        assert_eq!(trigger(false, jit_tiers::TIER_1_INSTRUMENTED, Some(2)), jit_triggers::BACKGROUND);
        assert_eq!(trigger(true, jit_tiers::OPTIMISED, None), jit_triggers::BACKGROUND);
        assert_eq!(trigger(false, jit_tiers::ON_STACK, Some(2)), jit_triggers::FOREGROUND);
    }
}
