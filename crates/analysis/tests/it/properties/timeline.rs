//! Lanes against what the simulated machine really did, nanosecond by nanosecond, and against accounts of each bucket.

use std::collections::BTreeMap;

use proptest::prelude::*;
use tracesift_analysis::timeline::{Grid, Lanes, OffCpuKind, Watched};
use tracesift_analysis::{Accounting, Run, Span};
use tracesift_trace::ThreadId;

use crate::properties::simulation::{Did, Machine, run};

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
enum Figure {
    Run,
    Off(OffCpuKind),
    Switches,
}

struct ByFigure(Lanes<(ThreadId, Figure)>);

impl Watched for ByFigure {
    fn run(&mut self, run: Run) {
        self.0.add_span((run.thread, Figure::Run), run.span);
    }

    fn off(&mut self, thread: ThreadId, kind: OffCpuKind, span: Span) {
        assert!(!span.is_empty());
        self.0.add_span((thread, Figure::Off(kind)), span);
    }

    fn switch_in(&mut self, thread: ThreadId, time: i64) {
        self.0.add_at((thread, Figure::Switches), time, 1);
    }
}

fn a_grid() -> impl Strategy<Value = Grid> {
    let range = (-20_i64..110, 0_i64..120).prop_map(|(start, length)| Span::new(start, start + length));
    (range, prop_oneof![(1_i64..40, 0_i64..9).prop_map(Ok), (1_usize..50).prop_map(Err)]).prop_map(
        |(range, buckets)| match buckets {
            Ok((width, origin)) => Grid::aligned(range, width, origin, 1_000).expect("few"),
            Err(columns) => Grid::columns(range, columns),
        },
    )
}

/// The figures of all threads that have any.
fn lanes(machine: &Machine, grid: Grid, backwards: bool) -> BTreeMap<(ThreadId, Figure), Vec<i64>> {
    let mut lanes = ByFigure(Lanes::new(grid));
    let mut accounting = Accounting::new(&machine.recording, grid.range(), &machine.threads);
    if backwards {
        machine.switches.iter().rev().for_each(|row| accounting.switch_watched(row, &mut lanes));
    } else {
        machine.switches.iter().for_each(|row| accounting.switch_watched(row, &mut lanes));
    }
    accounting.finish_watched(&mut lanes);
    lanes.0.finish().collect()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 500, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn buckets_are_what_the_machine_did(seed in any::<u64>(), has_ready in any::<bool>(), grid in a_grid()) {
        let machine = run(seed, has_ready);
        let lanes = lanes(&machine, grid, false);
        let inside = machine.recording.span.intersect(grid.range());
        for thread in machine.threads.iter().map(|row| row.thread) {
            let mut truth: BTreeMap<Figure, Vec<i64>> = BTreeMap::new();
            for time in inside.start..inside.end {
                let figure = match machine.did(thread, time) {
                    Did::Run(..) => Figure::Run,
                    Did::Wait => Figure::Off(OffCpuKind::Wait),
                    Did::Ready => Figure::Off(OffCpuKind::Ready),
                    Did::Open => Figure::Off(OffCpuKind::Open),
                    Did::Unknown => Figure::Off(OffCpuKind::Unknown),
                    Did::Nothing => continue,
                };
                let buckets = truth.entry(figure).or_insert_with(|| vec![0; grid.buckets()]);
                buckets[grid.place(time).expect("inside")] += 1;
            }
            let found: BTreeMap<Figure, Vec<i64>> = lanes
                .iter()
                .filter(|((of, figure), _)| *of == thread && *figure != Figure::Switches)
                .map(|((_, figure), buckets)| (*figure, buckets.clone()))
                .collect();
            prop_assert_eq!(found, truth, "{:?}", thread);
        }
    }

    #[test]
    fn buckets_have_the_accounts_of_their_time(seed in any::<u64>(), has_ready in any::<bool>(), grid in a_grid()) {
        let machine = run(seed, has_ready);
        let found = lanes(&machine, grid, false);
        prop_assert_eq!(&found, &lanes(&machine, grid, true));
        let figure = |thread, figure, place: usize| found.get(&(thread, figure)).map_or(0, |buckets| buckets[place]);
        for place in 0..grid.buckets() {
            let mut accounting = Accounting::new(&machine.recording, grid.bucket(place), &machine.threads);
            machine.switches.iter().for_each(|row| accounting.switch(row, &mut |_| {}));
            for account in accounting.finish(&mut |_| {}).threads {
                let of = |kind| figure(account.thread, Figure::Off(kind), place);
                prop_assert_eq!(figure(account.thread, Figure::Run, place), account.run);
                prop_assert_eq!(of(OffCpuKind::Wait), account.wait);
                prop_assert_eq!(of(OffCpuKind::Ready), account.ready.unwrap_or(0));
                prop_assert_eq!(of(OffCpuKind::Open), account.open);
                prop_assert_eq!(of(OffCpuKind::Unknown), account.unknown);
                prop_assert_eq!(figure(account.thread, Figure::Switches, place), account.switches);
            }
        }
    }
}
