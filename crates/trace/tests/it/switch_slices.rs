//! Slices of switches against the whole: any cut gives what no cut gives, and it does not matter which slices are joined first.

use proptest::prelude::*;
use tracesift_trace::lifespans::{Lifespans, SliceLives};
use tracesift_trace::population::{Edge, ThreadFacts};
use tracesift_trace::rows::ContextSwitchRow;
use tracesift_trace::switches::{Deferred, Leave, Ready, SliceEnd, SliceTracker, Switch, SwitchTarget, SwitchTracker};
use tracesift_trace::{Clock, Health, Lifetimes, Population, RowSink, StackId, ThreadId};

/// An event, and how long after the one before.
#[derive(Clone, Debug)]
enum Event {
    Switch { cpu: Option<u16>, old: Option<u32>, new: Option<u32>, leave: Leave },
    Ready { cpu: u16, tid: u32, readier: Option<u32> },
}

type Story = Vec<(i64, Event)>;

/// 10 to 12 live throughout, 20 to 22 are born or end inside, 23 has two lives, 24 may end twice, 30 has no record, 0 is idle.
fn tid() -> impl Strategy<Value = u32> {
    prop::sample::select(vec![0, 10, 11, 12, 20, 21, 22, 23, 24, 30])
}

fn event() -> impl Strategy<Value = Event> {
    let leave = prop_oneof![
        4 => Just(Leave::Runnable),
        8 => Just(Leave::Blocked),
        1 => Just(Leave::Ended),
        1 => Just(Leave::Unseen)
    ];
    let cpu = prop_oneof![9 => (0..3_u16).prop_map(Some), 1 => Just(None)];
    let watched = || prop_oneof![12 => tid().prop_map(Some), 1 => Just(None)];
    let switch = (cpu, watched(), watched(), leave);
    prop_oneof![
        3 => switch.prop_map(|(cpu, old, new, leave)| Event::Switch { cpu, old, new, leave }),
        2 => (0..3_u16, tid(), prop_oneof![4 => Just(None), 1 => tid().prop_map(Some)])
            .prop_map(|(cpu, tid, readier)| Event::Ready { cpu, tid, readier }),
    ]
}

/// Events as they come, and others of which each CPU's chain is whole.
fn story() -> impl Strategy<Value = Story> {
    let step = || prop_oneof![1 => Just(0_i64), 6 => 1..40_i64];
    let events = prop::collection::vec((step(), event()), 0..80);
    (events, any::<bool>()).prop_map(|(mut story, is_whole)| {
        if is_whole {
            let mut running = [0_u32; 3];
            for step in &mut story {
                let event = &mut step.1;
                if let Event::Switch { cpu: Some(cpu), old, new: Some(new), .. } = event {
                    *old = Some(std::mem::replace(&mut running[usize::from(*cpu)], *new));
                }
            }
        }
        story
    })
}

fn population(story: &[(i64, i64, Event)]) -> Population {
    let records = [
        (0, 10, Edge::AliveAtStart),
        (0, 11, Edge::AliveAtStart),
        (0, 12, Edge::AliveAtStart),
        (0, 24, Edge::AliveAtStart),
        (100, 20, Edge::Start),
        (200, 23, Edge::Start),
        (300, 21, Edge::Start),
        (400, 23, Edge::End),
        (450, 23, Edge::Start),
        (500, 21, Edge::End),
        (700, 22, Edge::End),
        (900, 20, Edge::End),
        (5_000, 23, Edge::AliveAtEnd),
        (5_000, 24, Edge::AliveAtEnd),
    ];
    let mut lifetimes = Lifetimes::new();
    let mut ended = story.iter().peekable();
    for (ticks, tid, edge) in records {
        while let Some((_, at, event)) = ended.next_if(|(_, at, _)| *at < ticks) {
            if let Event::Switch { cpu, old: Some(old), leave: Leave::Ended, .. } = event {
                lifetimes.terminated(*at, *old);
                lifetimes.left_for_good(*at, *old, cpu.unwrap_or(0));
            }
        }
        lifetimes.thread(ticks, tid, edge, ThreadFacts { pid: 1, ..ThreadFacts::default() });
    }
    lifetimes.freeze(Clock::new(0, 1_000_000_000), 3)
}

/// Number, time, event.
fn timed(story: Story) -> Vec<(i64, i64, Event)> {
    let mut now = 0;
    let mut at = |(after, event)| {
        now += after;
        (now, event)
    };
    (0..)
        .zip(story)
        .map(|(number, step)| {
            let (ticks, event) = at(step);
            (number, ticks, event)
        })
        .collect()
}

/// What a slice or the whole has told, in its order.
#[derive(Clone, Debug, Default)]
struct Told(Vec<Piece>);

#[derive(Clone, Debug, PartialEq)]
enum Piece {
    Row(ContextSwitchRow),
    Deferred(Deferred),
}

impl RowSink for Told {
    fn context_switch(&mut self, row: &ContextSwitchRow) {
        self.0.push(Piece::Row(row.clone()));
    }
}

/// Takes what a slice tells.
struct OfSlice<'t>(&'t mut Told);

impl SwitchTarget for OfSlice<'_> {
    fn row(&mut self, row: &ContextSwitchRow) {
        self.0.0.push(Piece::Row(row.clone()));
    }

    fn deferred(&mut self, deferred: Deferred) {
        self.0.0.push(Piece::Deferred(deferred));
    }
}

/// A slice that was followed, or several that were joined.
#[derive(Clone, Debug, Default)]
struct Slice {
    start: i64,
    told: Told,
    health: Health,
    end: SliceEnd,
}

struct Rig {
    clock: Clock,
    population: Population,
    owners: std::sync::Arc<tracesift_trace::owners::Owners>,
}

impl Rig {
    fn new(story: &[(i64, i64, Event)]) -> Self {
        let clock = Clock::new(0, 1_000_000_000);
        let mut population = population(story);
        let owners = population.share();
        Self { clock, population, owners }
    }

    fn thread(&mut self, tid: u32, cpu: u16, ticks: i64) -> ThreadId {
        self.population.thread_at(tid, cpu, ticks)
    }

    fn tracker(&self) -> SwitchTracker {
        SwitchTracker::new(self.clock, 0, self.population.deaths().into())
    }

    /// The tracker's event.
    fn switch(&mut self, number: i64, ticks: i64, event: &Event) -> Result<Switch, Ready> {
        let stack = Some(StackId(i32::try_from(number).expect("few events")));
        match *event {
            Event::Switch { cpu, old, new, leave } => {
                let mut of = |tid: Option<u32>| tid.map(|tid| self.thread(tid, cpu.unwrap_or(0), ticks));
                let (new, old) = (of(new), of(old));
                Ok(Switch { old_stack: stack, ..Switch::between(ticks, cpu, old, leave, new) })
            }
            Event::Ready { cpu, tid, readier } => {
                let thread = self.thread(tid, cpu, ticks);
                let readier = readier.map(|tid| self.thread(tid, cpu, ticks));
                let (adjust_reason, adjust_increment) = (None, None);
                Err(Ready { ticks, cpu, thread, readier, adjust_reason, adjust_increment, flags: 0, stack })
            }
        }
    }

    /// Follows all without a cut.
    fn whole(mut self, story: &[(i64, i64, Event)]) -> (Vec<ContextSwitchRow>, Health, String) {
        let (mut tracker, mut told, mut health) = (self.tracker(), Told::default(), Health::new());
        for (number, ticks, event) in story {
            match self.switch(*number, *ticks, event) {
                Ok(switch) => tracker.switch(&switch, &mut self.population, &mut health, &mut told),
                Err(ready) => tracker.ready(ready),
            }
        }
        self.finish(tracker, told, health)
    }

    fn slice(&mut self, story: &[(i64, i64, Event)]) -> Slice {
        let start = story.first().map_or(0, |(_, ticks, _)| *ticks);
        let mut slice = Slice { start, ..Slice::default() };
        let mut tracker = SliceTracker::new(self.clock, self.population.deaths().into());
        let mut lives = SliceLives::new(self.owners.clone(), start);
        for (number, ticks, event) in story {
            let mut target = OfSlice(&mut slice.told);
            match self.switch(*number, *ticks, event) {
                Ok(switch) => tracker.switch(&switch, &mut lives, &mut slice.health, &mut target),
                Err(ready) => tracker.ready(ready, &mut target),
            }
        }
        slice.end = tracker.end();
        slice
    }

    /// Joins two slices to one.
    fn join(&mut self, first: &Slice, second: &Slice) -> Slice {
        let mut joined = Slice { start: first.start, health: first.health.clone(), ..Slice::default() };
        let mut tracker = SliceTracker::new(self.clock, self.population.deaths().into());
        let mut lives = SliceLives::new(self.owners.clone(), first.start);
        joined.told = first.told.clone();
        for piece in &first.told.0 {
            match piece {
                Piece::Deferred(Deferred::AliveSince { thread, ticks }) => lives.alive_since(*thread, *ticks),
                Piece::Deferred(Deferred::AliveUntil { thread, ticks }) => lives.alive_until(*thread, *ticks),
                Piece::Deferred(_) | Piece::Row(_) => {}
            }
        }
        tracker.end_slice(&first.end);
        for piece in &second.told.0 {
            match piece {
                Piece::Row(row) => joined.told.0.push(Piece::Row(row.clone())),
                Piece::Deferred(deferred) => {
                    tracker.join(deferred, &mut lives, &mut joined.health, &mut OfSlice(&mut joined.told));
                }
            }
        }
        tracker.end_slice(&second.end);
        joined.health.merge(&second.health);
        joined.end = tracker.end();
        joined
    }

    /// Joins slices to a recording, one after the other.
    fn all(mut self, slices: &[Slice]) -> (Vec<ContextSwitchRow>, Health, String) {
        let (mut tracker, mut told, mut health) = (self.tracker(), Told::default(), Health::new());
        for slice in slices {
            health.merge(&slice.health);
            for piece in &slice.told.0 {
                match piece {
                    Piece::Row(row) => told.context_switch(row),
                    Piece::Deferred(deferred) => {
                        tracker.join(deferred, &mut self.population, &mut health, &mut told);
                    }
                }
            }
            tracker.end_slice(&slice.end);
        }
        self.finish(tracker, told, health)
    }

    fn finish(
        mut self,
        mut tracker: SwitchTracker,
        mut told: Told,
        health: Health,
    ) -> (Vec<ContextSwitchRow>, Health, String) {
        let running: Vec<_> = (0..3).map(|cpu| tracker.running(cpu)).collect();
        tracker.finish(1_000, &mut self.population, &mut told);
        let rows = told.0.into_iter().filter_map(|piece| if let Piece::Row(row) = piece { Some(row) } else { None });
        let lives: Vec<_> = self.population.threads().map(|row| (row.thread, row.start, row.end)).collect();
        let rest = format!("{running:?} {} {} {lives:?}", tracker.has_switches(), tracker.has_ready());
        (rows.collect(), health, rest)
    }
}

/// Cuts a story where time goes on.
fn cut(story: &[(i64, i64, Event)], cuts: &[usize]) -> Vec<Vec<(i64, i64, Event)>> {
    let mut slices = vec![Vec::new()];
    let mut before = i64::MIN;
    for (number, step) in story.iter().enumerate() {
        if cuts.iter().any(|cut| *cut <= number && *cut + 3 > number) && step.1 > before && number > 0 {
            slices.push(Vec::new());
        }
        before = step.1;
        slices.last_mut().expect("there is one").push(step.clone());
    }
    slices
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1_500, ..ProptestConfig::default() })]

    #[test]
    fn any_cut_gives_what_no_cut_gives(story in story(), cuts in prop::collection::vec(0..80_usize, 0..6)) {
        let story = timed(story);
        let whole = Rig::new(&story).whole(&story);
        let mut rig = Rig::new(&story);
        // Threads without a record are known to nobody before they are met.
        let slices: Vec<_> = cut(&story, &cuts).iter().map(|slice| rig.slice(slice)).collect();
        let joined = rig.all(&slices);
        prop_assert_eq!(&joined.0, &whole.0);
        prop_assert_eq!(&joined.1, &whole.1);
        prop_assert_eq!(joined.2, whole.2);
    }

    #[test]
    fn slices_can_be_joined_in_any_order(story in story(), cuts in prop::collection::vec(0..80_usize, 2..4)) {
        let story = timed(story);
        let whole = Rig::new(&story).whole(&story);
        let mut rig = Rig::new(&story);
        let slices: Vec<_> = cut(&story, &cuts).iter().map(|slice| rig.slice(slice)).collect();
        let left = slices.iter().skip(1).fold(slices[0].clone(), |joined, slice| rig.join(&joined, slice));
        let last = slices.last().expect("there is one").clone();
        let right = slices.iter().rev().skip(1).fold(last, |joined, slice| rig.join(slice, &joined));
        let (left, right) = (Rig::new(&story).all_of(&story, left), Rig::new(&story).all_of(&story, right));
        prop_assert_eq!(&left.0, &whole.0);
        prop_assert_eq!(&left, &right);
        prop_assert_eq!(&left.1, &whole.1);
    }
}

impl Rig {
    /// Joins one slice to a recording in which all its threads were met.
    fn all_of(mut self, story: &[(i64, i64, Event)], slice: Slice) -> (Vec<ContextSwitchRow>, Health, String) {
        for (number, ticks, event) in story {
            let _ = self.switch(*number, *ticks, event);
        }
        self.all(&[slice])
    }
}
