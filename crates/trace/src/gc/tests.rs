//! Collections and suspensions against a model that looks at whole suspensions.

use proptest::prelude::*;

use super::*;
use crate::rows::{gc_kinds as kinds, gc_suspension_reasons as reasons};

fn at(time: i64, runtime: i16, thread: i32) -> At {
    At { time, process: ProcessId(3), runtime, thread: Some(ThreadId(thread)) }
}

fn start(number: i32, kind: i8) -> Start {
    Start { number, generation: if kind == kinds::BACKGROUND { 2 } else { 0 }, kind, ..Start::default() }
}

fn rows(collections: &mut Collections, end: i64) -> (Vec<GcCollectionRow>, Vec<GcSuspensionRow>) {
    collections.finish(end);
    let suspensions = collections.take_suspensions().collect();
    (std::iter::from_fn(|| collections.next_collection()).collect(), suspensions)
}

/// A blocking collection: suspended after 2 ns, runs 10 ns, resumed 3 ns later.
fn blocking(collections: &mut Collections, time: i64, runtime: i16, thread: i32, number: i32, kind: i8) {
    let at = |offset| at(time + offset, runtime, thread);
    collections.suspending(at(0), reasons::COLLECTION);
    collections.suspended(at(2));
    collections.started(at(3), start(number, kind));
    collections.started(at(4), start(number, kind));
    assert!(collections.ended(at(13), number));
    collections.restarting(at(14));
    collections.resumed(at(16));
}

#[test]
fn a_background_collection_has_its_own_suspensions_only() {
    let mut collections = Collections::default();
    // The first pause on thread 1, with a collection inside of it; two foreground ones while it runs; then its second pause on thread 9.
    collections.suspending(at(100, 1, 1), reasons::COLLECTION);
    collections.suspended(at(104, 1, 1));
    collections.started(at(110, 1, 1), start(7, kinds::BACKGROUND));
    collections.started(at(115, 1, 1), start(8, kinds::BLOCKING));
    assert!(collections.ended(at(125, 1, 1), 8));
    collections.restarting(at(128, 1, 1));
    collections.resumed(at(130, 1, 1));
    blocking(&mut collections, 200, 1, 1, 9, kinds::FOREGROUND);
    blocking(&mut collections, 300, 1, 2, 10, kinds::FOREGROUND);
    collections.suspending(at(400, 1, 9), reasons::PREPARATION);
    collections.suspended(at(401, 1, 9));
    collections.resumed(at(420, 1, 9));
    assert!(collections.ended(at(500, 1, 9), 7));
    let (rows, suspensions) = rows(&mut collections, 1_000);
    let of = |number: i32| rows.iter().find(|row| row.number == number).expect("the collection");
    assert_eq!(rows.iter().map(|row| row.number).collect::<Vec<_>>(), [8, 9, 10, 7]);
    assert_eq!(of(7).pauses.as_deref(), Some(&[100, 115, 125, 130, 400, 420][..]));
    assert_eq!((of(7).pause, of(7).suspensions, of(7).suspending), (Some(40), 2, Some(5)));
    assert_eq!(
        (of(7).suspend_start, of(7).suspended, of(7).restart, of(7).resumed),
        (Some(100), Some(104), Some(128), Some(130))
    );
    assert_eq!((of(8).pause, of(8).pauses.as_deref(), of(8).suspensions), (Some(10), Some(&[115, 125][..]), 0));
    assert_eq!((of(8).suspend_start, of(8).since_pause), (None, Some(0)));
    for number in [9, 10] {
        assert_eq!((of(number).pause, of(number).suspensions, of(number).suspending), (Some(16), 1, Some(2)));
    }
    assert_eq!((of(9).since_pause, of(10).since_pause, of(7).since_pause), (Some(70), Some(84), Some(84)));
    let pauses: i64 = rows.iter().filter_map(|row| row.pause).sum();
    assert_eq!(pauses, suspensions.iter().map(|row| row.time - row.start).sum::<i64>());
    assert_eq!(suspensions.iter().map(|row| row.collection).collect::<Vec<_>>(), [7, 9, 10, 7].map(Some));
}

#[test]
fn collections_that_follow_in_one_suspension_share_it() {
    let mut collections = Collections::default();
    collections.suspending(at(10, 1, 1), reasons::COLLECTION);
    collections.suspended(at(11, 1, 1));
    collections.started(at(12, 1, 1), start(1, kinds::BLOCKING));
    assert!(collections.ended(at(20, 1, 1), 1));
    collections.started(at(22, 1, 1), start(2, kinds::BLOCKING));
    assert!(collections.ended(at(30, 1, 1), 2));
    collections.resumed(at(33, 1, 1));
    let (rows, suspensions) = rows(&mut collections, 100);
    let pauses: Vec<_> = rows.iter().map(|row| row.pauses.clone().unwrap_or_default()).collect();
    assert_eq!(pauses, [vec![10, 22], vec![22, 33]]);
    assert_eq!((suspensions.len(), suspensions[0].collection), (1, Some(1)));
}

#[test]
fn two_runtimes_of_a_process_do_not_mix() {
    let mut collections = Collections::default();
    // The same thread and number: in the one runtime a collection, in the other a shutdown at the same time.
    collections.suspending(at(10, 1, 1), reasons::COLLECTION);
    collections.suspending(at(11, 2, 1), 4);
    collections.started(at(12, 1, 1), start(1, kinds::BLOCKING));
    collections.allocated(at(13, 2, 1), 500, false);
    collections.resumed(at(15, 2, 1));
    assert!(!collections.ended(at(16, 2, 1), 1));
    assert!(collections.ended(at(17, 1, 1), 1));
    collections.resumed(at(20, 1, 1));
    let (rows, suspensions) = rows(&mut collections, 100);
    assert_eq!((rows.len(), rows[0].pause, rows[0].runtime, rows[0].allocated), (1, Some(10), 1, None));
    let found: Vec<_> = suspensions.iter().map(|row| (row.runtime, row.time - row.start, row.collection)).collect();
    assert_eq!(found, [(2, 4, None), (1, 10, Some(1))]);
}

#[test]
fn a_lost_stop_ends_a_collection_when_the_next_one_begins() {
    let mut collections = Collections::default();
    collections.suspending(at(10, 1, 1), reasons::COLLECTION);
    collections.started(at(12, 1, 1), start(1, kinds::BLOCKING));
    // The stop and the restart are lost. Another thread suspends: threads stood at least until the begin.
    blocking(&mut collections, 1_000, 1, 2, 2, kinds::BLOCKING);
    // A restart without a suspension, and a stop without a begin.
    collections.resumed(at(2_000, 1, 5));
    assert!(!collections.ended(at(2_001, 1, 5), 77));
    // A collection that is under way at the end.
    collections.suspending(at(3_000, 1, 1), reasons::COLLECTION);
    collections.suspended(at(3_001, 1, 1));
    collections.started(at(3_002, 1, 1), start(3, kinds::BLOCKING));
    let (rows, suspensions) = rows(&mut collections, 3_500);
    let found: Vec<_> = rows.iter().map(|row| (row.number, row.time, row.open, row.pause)).collect();
    assert_eq!(found, [(1, 1_003, Some(true), Some(2)), (2, 1_013, None, Some(16)), (3, 3_500, Some(true), Some(500))]);
    // The first suspension is known to be over when threads stand for the third one.
    let found: Vec<_> = suspensions.iter().map(|row| (row.start, row.time, row.open)).collect();
    assert_eq!(found, [(1_000, 1_016, None), (10, 3_000, Some(true)), (3_000, 3_500, Some(true))]);
}

#[test]
fn figures_are_those_of_the_collection_that_ended_on_the_thread() {
    let mut collections = Collections::default();
    collections.allocated(at(1, 1, 1), 100, false);
    collections.allocated(at(2, 1, 1), 50, true);
    collections.triggered(at(3, 1, 4), 1, Some(StackId(6)));
    collections.suspending(at(10, 1, 1), reasons::COLLECTION);
    collections.started(at(12, 1, 1), start(1, kinds::BLOCKING));
    let global = History::Global {
        heaps: Some(2),
        generation: Some(1),
        pause_mode: Some(1),
        mechanisms: Some(6),
        memory_pressure: Some(40),
    };
    collections.history(at(13, 1, 1), &global);
    let generation = |before, free_before, after, free_after, survived| Generation {
        before,
        free_before,
        after,
        free_after,
        survived,
    };
    let first = [generation(1_000, 0, 10, 5, 250), generation(100, 50, 300, 0, 25)];
    let second = [generation(3_000, 0, 20, 5, 750), generation(100, 0, 800, 8, 50)];
    for heap in [&first, &second] {
        collections.history(at(14, 1, 1), &History::Heap { generations: heap, condemn_reasons: Some(9) });
    }
    assert!(collections.ended(at(15, 1, 1), 1));
    let stats = HeapStats {
        sizes: [Some(30), Some(1_100), Some(0), Some(70), None],
        promoted: [Some(1_000), Some(75), Some(0), Some(0), None],
        pinned: Some(3),
        ..HeapStats::default()
    };
    collections.heap_stats(at(16, 1, 1), &stats);
    collections.resumed(at(17, 1, 1));
    collections.finalized(at(18, 1, 8), 4);
    collections.finalized(at(19, 1, 8), 3);
    let (rows, _) = rows(&mut collections, 100);
    let row = &rows[0];
    assert_eq!((row.trigger_reason, row.trigger_thread, row.stack), (Some(1), Some(ThreadId(4)), Some(StackId(6))));
    assert_eq!((row.allocated, row.allocated_large), (Some(150), Some(50)));
    assert_eq!((row.generation, row.heaps, row.memory_pressure, row.condemn_reasons), (1, Some(2), Some(40), Some(9)));
    assert_eq!((row.size_before.as_deref(), row.peak_size), (Some(&[4_000, 200][..]), Some(4_200)));
    assert_eq!((row.size_after.as_deref(), row.free.as_deref()), (Some(&[30, 1_100][..]), Some(&[10, 8][..])));
    assert_eq!((row.promoted.as_deref(), row.survival.as_deref()), (Some(&[1_000, 75][..]), Some(&[25, 50][..])));
    assert_eq!((row.heap_size, row.pinned, row.finalized), (Some(1_200), Some(3), Some(7)));
}

#[test]
fn finalized_objects_have_the_names_of_their_types() {
    let mut finalized = Finalized::default();
    finalized.object(at(5, 1, 1), 0x10);
    finalized.name(at(6, 1, 1), 0x10, || "A".to_owned());
    finalized.name(at(6, 2, 1), 0x10, || "B".to_owned());
    finalized.object(at(7, 1, 1), 0x10);
    finalized.object(at(8, 2, 1), 0x10);
    finalized.object(at(9, 1, 1), 0x20);
    finalized.object_of(at(10, 1, 1), "B".to_owned());
    let rows: Vec<_> = finalized.finish().map(|row| (row.type_name, row.count, row.first, row.last)).collect();
    let name = |name: &str| Some(name.to_owned());
    assert_eq!(rows, [(None, 1, 9, 9), (name("A"), 2, 5, 7), (name("B"), 2, 8, 10)]);
}

#[test]
fn memory_is_bounded() {
    let mut collections = Collections::with_most(4, 8);
    let mut given = 0;
    for number in 0..1_000 {
        let runtime = (number % 10) as i16;
        collections.suspending(at(i64::from(number) * 10, runtime, number), reasons::COLLECTION);
        collections.started(at(i64::from(number) * 10 + 1, runtime, number), start(number, kinds::BLOCKING));
        given += std::iter::from_fn(|| collections.next_collection()).count();
        collections.take_suspensions().for_each(drop);
    }
    let (rows, _) = rows(&mut collections, 100_000);
    assert_eq!(given + rows.len(), 1_000);
    assert!(rows.len() <= 8 + 4);
}

/// What happens in a runtime, one after the other: a suspension for a number of collections in turn, for none, or whose end is lost.
#[derive(Clone, Copy, Debug)]
enum Happens {
    Collections { many: u8, nested: bool },
    Shutdown,
}

fn happens() -> impl Strategy<Value = Happens> {
    prop_oneof![
        4 => (1..4_u8, any::<bool>()).prop_map(|(many, nested)| Happens::Collections { many, nested }),
        1 => Just(Happens::Shutdown),
    ]
}

proptest! {
    /// Pauses and suspensions without a collection are all of the time in which threads stand.
    #[test]
    fn pauses_share_suspensions(
        stories in prop::collection::vec((0..3_i16, 0..2_i32, happens(), 1..50_i64), 0..40),
    ) {
        let mut collections = Collections::default();
        let (mut time, mut number, mut stood, mut begun) = (0_i64, 0, 0_i64, 0);
        for (runtime, thread, happens, length) in stories {
            time += length;
            let from = time;
            let reason = if matches!(happens, Happens::Shutdown) { 4 } else { reasons::COLLECTION };
            collections.suspending(at(time, runtime, thread), reason);
            collections.suspended(at(time + 1, runtime, thread));
            if let Happens::Collections { many, nested } = happens {
                let first = number;
                for of in 0..i32::from(many) {
                    time += length;
                    number += 1;
                    begun += 1;
                    let kind = if nested && of == 0 { kinds::BACKGROUND } else { kinds::BLOCKING };
                    collections.started(at(time, runtime, thread), start(number, kind));
                    if kind == kinds::BLOCKING {
                        time += length;
                        prop_assert!(collections.ended(at(time, runtime, thread), number));
                    }
                }
                if nested {
                    time += 1;
                    prop_assert!(collections.ended(at(time, runtime, 77), first + 1));
                }
            }
            time += length;
            collections.resumed(at(time, runtime, thread));
            stood += time - from;
        }
        let (rows, suspensions) = rows(&mut collections, time + 1);
        let shutdowns: i64 =
            suspensions.iter().filter(|row| row.collection.is_none()).map(|row| row.time - row.start).sum();
        prop_assert_eq!(rows.len(), begun);
        prop_assert_eq!(rows.iter().filter_map(|row| row.pause).sum::<i64>() + shutdowns, stood);
        for row in &rows {
            let parts = row.pauses.as_deref().unwrap_or_default();
            prop_assert_eq!(row.pause, Some(parts.chunks(2).map(|part| part[1] - part[0]).sum::<i64>()));
            prop_assert!(parts.is_sorted());
        }
        prop_assert!(rows.is_sorted_by_key(|row| row.time));
    }
}
