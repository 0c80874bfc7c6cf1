//! Regions of random events, against plain searches.

use std::borrow::Cow;

use proptest::prelude::*;
use tracesift_trace::{ProcessId, ThreadId};

use super::definition::DurationEvent;
use super::*;
use crate::spans::Span;

/// Fields of a test, by name.
#[derive(Debug)]
struct Named<'a>(&'a [(&'a str, &'a str)]);

impl Fields for Named<'_> {
    fn text(&self, name: &str) -> Option<Cow<'_, str>> {
        self.0.iter().find(|(known, _)| *known == name).map(|(_, value)| Cow::Borrowed(*value))
    }

    fn json(&self) -> String {
        format!("{:?}", self.0)
    }
}

fn pattern(id: i32) -> EventPattern {
    let provider = ProviderSelector::Named("Shop".into());
    EventPattern { provider, event: EventSelector::Id(id), version: None, fields: Vec::new() }
}

fn kind(id: i32) -> EventKind<'static> {
    EventKind { guid: "", provider: "Shop", event: "", id, version: Some(0) }
}

/// Regions from event 1 to event 2 of a thread with the same number.
fn definition(self_nest: bool) -> Definition {
    Definition {
        name: "Order".to_owned(),
        path: "Shop/Order".to_owned(),
        starts: vec![pattern(1)],
        stops: vec![pattern(2)],
        keys: Keys { thread: true, fields: vec![("Id".to_owned(), "OrderId".to_owned())], ..Keys::default() },
        self_nest,
        ..Definition::default()
    }
}

/// Thread, number, whether it begins a region.
type Step = (i32, usize, bool);

const NUMBERS: [&str; 3] = ["1", "2", "3"];

fn found(definitions: &Definitions, steps: &[Step]) -> Regions {
    let mut matcher = Matcher::new(definitions, false);
    for (time, (thread, number, begins)) in steps.iter().enumerate() {
        let id = if *begins { 1 } else { 2 };
        let fields = [(if *begins { "Id" } else { "OrderId" }, NUMBERS[*number])];
        let fields = Named(&fields);
        let event = Event {
            time: time as i64,
            process: Some(ProcessId(0)),
            thread: Some(ThreadId(*thread)),
            activity: None,
            fields: &fields,
        };
        matcher.event(&event, &definitions.roles(&kind(id)));
    }
    matcher.finish()
}

fn spans(regions: &Regions) -> Vec<(i64, Option<i64>)> {
    regions.regions.iter().map(|region| (region.start, region.end)).collect()
}

fn loose(regions: &Regions, kind: LooseKind) -> Vec<i64> {
    regions.loose.iter().filter(|loose| loose.kind == kind).map(|loose| loose.time).collect()
}

proptest! {
    /// The begin of an end is the one behind which begins and ends with the same keys are balanced.
    #[test]
    fn nested_regions_are_those_of_a_plain_search(steps in prop::collection::vec((0..2_i32, 0..3_usize, any::<bool>()), 0..60)) {
        let definitions = Definitions { all: vec![definition(true)] };
        let regions = found(&definitions, &steps);
        let is_same = |a: usize, b: usize| (steps[a].0, steps[a].1) == (steps[b].0, steps[b].1);
        let begin_of = |end: usize| {
            let mut open = 0;
            (0..end).rev().filter(|at| is_same(*at, end)).find(|at| {
                open += if steps[*at].2 { 1 } else { -1 };
                open == 1
            })
        };
        let ends: Vec<usize> = (0..steps.len()).filter(|at| !steps[*at].2).collect();
        let end_of = |begin: usize| ends.iter().find(|end| begin_of(**end) == Some(begin)).map(|end| *end as i64);
        let expected: Vec<(i64, Option<i64>)> =
            (0..steps.len()).filter(|at| steps[*at].2).map(|at| (at as i64, end_of(at))).collect();
        prop_assert_eq!(spans(&regions), expected);
        let alone: Vec<i64> = ends.iter().filter(|end| begin_of(**end).is_none()).map(|end| *end as i64).collect();
        prop_assert_eq!(loose(&regions, LooseKind::Stop), alone);
        prop_assert!(loose(&regions, LooseKind::Ignored).is_empty());
    }

    /// What does not nest is an alternation of begins and ends.
    #[test]
    fn regions_that_do_not_nest_are_those_of_a_plain_search(steps in prop::collection::vec((0..2_i32, 0..3_usize, any::<bool>()), 0..60)) {
        let definitions = Definitions { all: vec![definition(false)] };
        let regions = found(&definitions, &steps);
        let steps = &steps;
        let same = |at: usize| (0..steps.len()).filter(move |other| (steps[*other].0, steps[*other].1) == (steps[at].0, steps[at].1));
        // A begin counts if the last event before it with the same keys is an end, or there is none.
        let counts = |at: usize| steps[at].2 && same(at).take_while(|other| *other < at).last().is_none_or(|last| !steps[last].2);
        let next_end = |at: usize| same(at).find(|other| *other > at && !steps[*other].2);
        let expected: Vec<(i64, Option<i64>)> =
            (0..steps.len()).filter(|at| counts(*at)).map(|at| (at as i64, next_end(at).map(|end| end as i64))).collect();
        prop_assert_eq!(spans(&regions), expected);
        let ignored: Vec<i64> = (0..steps.len()).filter(|at| steps[*at].2 && !counts(*at)).map(|at| at as i64).collect();
        prop_assert_eq!(loose(&regions, LooseKind::Ignored), ignored);
        let is_alone = |at: &usize| !steps[*at].2 && same(*at).take_while(|other| other < at).last().is_none_or(|last| !steps[last].2);
        let alone: Vec<i64> = (0..steps.len()).filter(is_alone).map(|at| at as i64).collect();
        prop_assert_eq!(loose(&regions, LooseKind::Stop), alone);
    }

    /// The region around a region is found by looking at all, its own time instant by instant.
    #[test]
    fn nesting_is_that_of_a_plain_search(
        regions in prop::collection::vec((0..2_i32, 0..30_i64, prop::option::of(0..12_i64)), 0..25),
        (from, length) in (0..40_i64, 1..40_i64),
    ) {
        let region = |(thread, start, length): &(i32, i64, Option<i64>)| Region {
            definition: 0,
            name: NameId(0),
            process: Some(ProcessId(0)),
            thread: Some(ThreadId(*thread)),
            start: *start,
            end: length.map(|length| start + length),
            fields: None,
        };
        let regions: Vec<Region> = regions.iter().map(region).collect();
        let nesting = Nesting::of(&regions, &Definitions::default());
        let end = |place: usize| regions[place].end.unwrap_or(i64::MAX);
        let rank = |place: usize| (regions[place].start, std::cmp::Reverse(end(place)), place);
        let is_around = |outer: usize, inner: usize| {
            outer != inner
                && regions[outer].thread == regions[inner].thread
                && rank(outer) < rank(inner)
                && end(outer) >= end(inner)
                && end(outer) > regions[inner].start
        };
        let all = 0..regions.len();
        for inner in all.clone() {
            let innermost = all.clone().filter(|outer| is_around(*outer, inner)).max_by_key(|outer| rank(*outer));
            prop_assert_eq!(nesting.parents[inner], innermost, "{:?}", &regions);
            let depth = innermost.map_or(0, |outer| nesting.depths[outer] + 1);
            prop_assert_eq!(nesting.depths[inner], depth);
        }
        let range = Span::new(from, from + length);
        let exclusive = nesting.exclusive(&regions, range);
        for outer in all.clone() {
            let runs = |place: usize, time: i64| regions[place].end.is_some() && regions[place].start <= time && time < end(place);
            let is_own = |time: &i64| {
                runs(outer, *time) && !all.clone().any(|inner| nesting.parents[inner] == Some(outer) && runs(inner, *time))
            };
            prop_assert_eq!(exclusive[outer], (range.start..range.end).filter(is_own).count() as i64);
        }
    }
}

#[test]
fn fields_choose_name_and_measure() {
    let lasting = |id, field: &str| DurationEvent { event: pattern(id), field: field.to_owned(), multiplier: 1000 };
    let named = Definition {
        // The value is asked of the events of the first kind only.
        starts: vec![EventPattern { fields: vec![("Depth".to_owned(), "0x10".to_owned())], ..pattern(1) }, pattern(4)],
        durations: vec![lasting(5, "Us"), lasting(3, "Ms")],
        name_field: Some("Who".to_owned()),
        keys: Keys { process: true, activity: true, ..Keys::default() },
        ..definition(false)
    };
    let definitions = Definitions { all: vec![named] };
    let mut matcher = Matcher::new(&definitions, true);
    let mut event = |time: i64, id: i32, activity: Option<&str>, fields: &[(&str, &str)]| {
        let fields = Named(fields);
        let event = Event { time, process: Some(ProcessId(1)), thread: None, activity, fields: &fields };
        matcher.event(&event, &definitions.roles(&kind(id)));
    };
    // Another depth, then two of the activities a and b, of which one is named by its end; one without an activity.
    event(1, 1, Some("a"), &[("Depth", "15")]);
    event(10, 1, Some("a"), &[("Depth", "16"), ("Who", "Ann")]);
    event(12, 1, Some("b"), &[("Depth", "16")]);
    event(15, 2, Some("b"), &[("Who", "Bob")]);
    event(19, 2, Some("a"), &[]);
    event(20, 1, None, &[("Depth", "16")]);
    event(21, 2, None, &[]);
    event(22, 4, Some("c"), &[("Who", "Cay")]);
    event(23, 2, Some("c"), &[]);
    // It ends at its event.
    event(9_000, 3, None, &[("Ms", "0x3")]);
    event(9_100, 3, None, &[("Ms", "?")]);
    let regions = matcher.finish();
    let shown: Vec<(&str, i64, Option<i64>)> =
        regions.regions.iter().map(|region| (regions.name(region.name), region.start, region.end)).collect();
    let expected = [
        ("Ann", 10, Some(19)),
        ("Bob", 12, Some(15)),
        ("Order", 20, None),
        ("Cay", 22, Some(23)),
        ("Order", 6_000, Some(9_000)),
    ];
    assert_eq!(shown, expected);
    assert_eq!(loose(&regions, LooseKind::Stop), [21, 9_100]);
    assert!(regions.regions.iter().all(|region| region.fields.is_some()));
}

/// A version that nobody knows is each of them; an event begins a region once, however many of its begins fit.
#[test]
fn versions_and_doubled_begins() {
    let starts = [1, 2].map(|version| EventPattern { version: Some(version), ..pattern(1) }).to_vec();
    let definitions = Definitions { all: vec![Definition { starts, ..definition(false) }] };
    let starts = |version: Option<i16>| definitions.roles(&EventKind { version, ..kind(1) }).len();
    assert_eq!([Some(0), Some(1), Some(2), None].map(starts), [0, 1, 1, 1]);
    assert_eq!(definitions.roles(&EventKind { provider: "Shops", ..kind(1) }), []);
    let by_guid = EventPattern {
        provider: ProviderSelector::Guid("e13c0d23-ccbc-4e12-931b-d9cc2eee27e4".to_owned()),
        ..pattern(1)
    };
    for guid in ["e13c0d23-ccbc-4e12-931b-d9cc2eee27e4", "{E13C0D23-CCBC-4E12-931B-D9CC2EEE27E4}"] {
        assert!(by_guid.is_kind(&EventKind { guid, ..kind(1) }), "{guid}");
    }
    assert!(!by_guid.is_kind(&kind(1)));
}

/// A region lies in one of the definition around it and of the same process, whatever its thread.
#[test]
fn a_parent_can_be_of_another_thread() {
    let outer = definition(true);
    let inner = Definition {
        parent: Some(definition::Parent { definition: 0, process: true, thread: false }),
        ..definition(true)
    };
    let definitions = Definitions { all: vec![outer, inner] };
    let region = |definition: u32, process: i32, thread: i32, start: i64, end: i64| Region {
        definition,
        name: NameId(0),
        process: Some(ProcessId(process)),
        thread: Some(ThreadId(thread)),
        start,
        end: Some(end),
        fields: None,
    };
    let regions = [region(0, 1, 1, 0, 100), region(1, 1, 2, 10, 20), region(1, 2, 3, 10, 20), region(1, 1, 2, 90, 110)];
    let nesting = Nesting::of(&regions, &definitions);
    assert_eq!(nesting.parents, [None, Some(0), None, None]);
    assert_eq!(nesting.exclusive(&regions, Span::ALL), [90, 10, 10, 20]);
}
