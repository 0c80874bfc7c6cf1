//! Threads, stacks and weights of any profile come back from every format.

use proptest::prelude::*;
use tracesift_export::{
    Catalog, Frame, Grouping, Measure, Origin, Profile, Sample, StackId, Unit, firefox, folded, perfetto, pprof,
    speedscope,
};

use crate::formats::readers;
use crate::synthetic;

/// Names that the formats need not change.
const NAMES: [&str; 7] = ["main", "std::sort<int>", "a b", "<init>", "\"quoted\" \\ & 100%", "漢字", "x"];
const MODULES: [&str; 4] = ["", "app.exe", "libc.so.6", "x"];

#[derive(Clone, Debug)]
struct Plan {
    unit: Unit,
    stacks: Vec<Vec<(usize, usize, usize, bool)>>,
    samples: Vec<(i64, usize, usize, u64)>,
}

fn plans() -> impl Strategy<Value = Plan> {
    let frame = (0..NAMES.len(), 0..MODULES.len(), 0..Origin::ALL.len(), any::<bool>());
    let stacks = prop::collection::vec(prop::collection::vec(frame, 0..7), 1..8);
    let samples = prop::collection::vec((-100..1_000_i64, 0..5_usize, 0..8_usize, 0..3_000_000_u64), 0..40);
    let unit = prop::sample::select(&[Unit::Nanoseconds, Unit::Bytes, Unit::Count][..]);
    (unit, stacks, samples).prop_map(|(unit, stacks, samples)| Plan { unit, stacks, samples })
}

fn profile(plan: &Plan) -> Profile {
    let mut profile = Profile::new(tracesift_export::About::new("any", Measure { unit: plan.unit, ..Measure::CPU }));
    let catalog = &mut profile.catalog;
    let threads: Vec<_> = (0..5_u32)
        .map(|at| synthetic::thread(catalog, NAMES[at as usize / 2], at / 2, NAMES[at as usize], 100 + at))
        .collect();
    let frame = |catalog: &mut Catalog, (name, module, origin, inlined): (usize, usize, usize, bool)| {
        let (function, module) = (catalog.string(NAMES[name]), catalog.string(MODULES[module]));
        // Frames of one function differ by their addresses.
        let address = Some(name as u64 + u64::from(inlined));
        catalog.frame(Frame { module, address, inlined, ..Frame::named(function, Origin::ALL[origin]) })
    };
    let stacks: Vec<StackId> = plan
        .stacks
        .iter()
        .map(|frames| {
            let frames: Vec<_> = frames.iter().map(|&plan| frame(catalog, plan)).collect();
            catalog.stack(frames)
        })
        .collect();
    for &(time, thread, stack, weight) in &plan.samples {
        let stack = stacks[stack % stacks.len()];
        profile.samples.push(Sample { time, thread: threads[thread], stack, weight });
    }
    profile
}

proptest! {
    #[test]
    fn every_format_keeps_threads_stacks_and_weights(plan in plans()) {
        let profile = profile(&plan);
        let truth = readers::truth(&profile);

        let mut out = Vec::new();
        speedscope::write(&profile, &mut out).unwrap();
        prop_assert_eq!(&readers::speedscope(str::from_utf8(&out).unwrap(), plan.unit), &truth);

        let mut out = Vec::new();
        firefox::write(&profile, &mut out).unwrap();
        prop_assert_eq!(&readers::firefox(str::from_utf8(&out).unwrap(), plan.unit), &truth);

        let mut out = Vec::new();
        perfetto::write(&profile, &mut out).unwrap();
        prop_assert_eq!(&readers::perfetto(&out), &truth);

        let profile = profile.fold();
        let mut out = Vec::new();
        pprof::write(&profile, &mut out).unwrap();
        prop_assert_eq!(&readers::pprof(&out, plan.unit), &truth);

        let mut out = Vec::new();
        folded::write(&profile, Grouping::Thread, &mut out).unwrap();
        prop_assert_eq!(&readers::folded(str::from_utf8(&out).unwrap()), &truth);
    }

    #[test]
    fn folding_keeps_sums_and_counts(plan in plans()) {
        let profile = profile(&plan);
        let (total, samples) = (profile.samples.total(), profile.samples.len() as u64);
        let folded = profile.fold();
        prop_assert_eq!(folded.weights.total(), total);
        prop_assert_eq!(folded.weights.iter().map(|row| row.count).sum::<u64>(), samples);
        prop_assert!(folded.weights.iter().map(|row| (row.thread, row.stack)).is_sorted());
    }

    #[test]
    fn stacks_come_back_from_the_catalog(stacks in prop::collection::vec(prop::collection::vec(0..5_u32, 1..9), 1..30)) {
        let mut catalog = Catalog::new();
        let frames: Vec<_> = (0..5).map(|at| synthetic::frame(&mut catalog, "m", NAMES[at], Origin::User)).collect();
        let of = |stack: &Vec<u32>| stack.iter().map(|&at| frames[at as usize]).collect::<Vec<_>>();
        let ids: Vec<_> = stacks.iter().map(|stack| catalog.stack(of(stack))).collect();
        for (stack, &id) in stacks.iter().zip(&ids) {
            let mut back: Vec<_> = catalog.frames_of(id).collect();
            back.reverse();
            prop_assert_eq!(back, of(stack));
            prop_assert_eq!(catalog.stack(of(stack)), id);
        }
    }
}

#[test]
fn the_same_profile_gives_the_same_bytes() {
    let write = || {
        let profile = synthetic::large(2_000, 300, 9);
        let mut out = Vec::new();
        speedscope::write(&profile, &mut out).unwrap();
        firefox::write(&profile, &mut out).unwrap();
        perfetto::write(&profile, &mut out).unwrap();
        let profile = profile.fold();
        pprof::write(&profile, &mut out).unwrap();
        folded::write(&profile, Grouping::Process, &mut out).unwrap();
        tracesift_export::flame::Flame::default().write(&profile, &mut out).unwrap();
        out
    };
    assert!(write() == write());
}
