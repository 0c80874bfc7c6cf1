//! Names of strangers and stacks without end.

use tracesift_export::{Grouping, Unit, firefox, folded, perfetto, pprof, speedscope};

use crate::formats::{protobuf, readers};
use crate::synthetic::{self, HOSTILE};

#[test]
fn folded_lines_stay_lines_and_frames_frames() {
    let mut out = Vec::new();
    folded::write(&synthetic::hostile().fold(), Grouping::Process, &mut out).unwrap();
    let text = String::from_utf8(out).unwrap();
    assert_eq!(text.lines().count(), HOSTILE.len());
    for line in text.lines() {
        let (frames, weight) = line.rsplit_once(' ').unwrap();
        assert_eq!((frames.split(';').count(), weight), (3, "1000"), "{line}");
        assert!(frames.split(';').all(|frame| !frame.is_empty()), "{line}");
        assert!(!line.contains(|c: char| c.is_control() || c == '\u{202e}'), "{line:?}");
    }
}

#[test]
fn hostile_names_lose_no_weight() {
    let profile = synthetic::hostile();
    let total = profile.samples.total();
    let sum = |table: readers::Table| table.values().sum::<u64>();
    let mut out = Vec::new();
    speedscope::write(&profile, &mut out).unwrap();
    assert_eq!(sum(readers::speedscope(str::from_utf8(&out).unwrap(), Unit::Nanoseconds)), total);
    let mut out = Vec::new();
    firefox::write(&profile, &mut out).unwrap();
    assert_eq!(sum(readers::firefox(str::from_utf8(&out).unwrap(), Unit::Nanoseconds)), total);
    let mut out = Vec::new();
    perfetto::write(&profile, &mut out).unwrap();
    assert_eq!(sum(readers::perfetto(&out)), total);
    let mut out = Vec::new();
    pprof::write(&profile.fold(), &mut out).unwrap();
    assert_eq!(sum(readers::pprof(&out, Unit::Nanoseconds)), total);
}

#[test]
fn ten_thousand_frames_are_written_by_every_format() {
    const FRAMES: usize = 10_000;
    let profile = synthetic::deep(FRAMES);
    let truth = readers::truth(&profile);
    let mut out = Vec::new();
    speedscope::write(&profile, &mut out).unwrap();
    assert!(readers::speedscope(str::from_utf8(&out).unwrap(), Unit::Nanoseconds) == truth);
    let mut out = Vec::new();
    firefox::write(&profile, &mut out).unwrap();
    assert!(readers::firefox(str::from_utf8(&out).unwrap(), Unit::Nanoseconds) == truth);
    let mut out = Vec::new();
    perfetto::write(&profile, &mut out).unwrap();
    assert!(readers::perfetto(&out) == truth);
    let profile = profile.fold();
    let mut out = Vec::new();
    pprof::write(&profile, &mut out).unwrap();
    assert!(readers::pprof(&out, Unit::Nanoseconds) == truth);
    let mut out = Vec::new();
    folded::write(&profile, Grouping::Thread, &mut out).unwrap();
    assert!(readers::folded(str::from_utf8(&out).unwrap()) == truth);
}

#[test]
fn a_profile_without_anything_is_written() {
    let empty = || tracesift_export::Profile::new(synthetic::about("empty"));
    let mut out = Vec::new();
    speedscope::write(&empty(), &mut out).unwrap();
    assert!(readers::speedscope(str::from_utf8(&out).unwrap(), Unit::Nanoseconds).is_empty());
    let mut out = Vec::new();
    firefox::write(&empty(), &mut out).unwrap();
    assert!(readers::firefox(str::from_utf8(&out).unwrap(), Unit::Nanoseconds).is_empty());
    let mut out = Vec::new();
    perfetto::write(&empty(), &mut out).unwrap();
    assert!(readers::perfetto(&out).is_empty());
    let mut out = Vec::new();
    pprof::write(&empty().fold(), &mut out).unwrap();
    assert!(readers::pprof(&out, Unit::Nanoseconds).is_empty());
    let mut out = Vec::new();
    folded::write(&empty().fold(), Grouping::All, &mut out).unwrap();
    assert!(out.is_empty());
}

#[test]
fn ids_that_the_system_used_again_stay_apart() {
    let mut profile = synthetic::small();
    let catalog = &mut profile.catalog;
    let again = synthetic::thread(catalog, "other.exe", 4, "main", 8);
    let sample = profile.samples.get(0);
    profile.samples.push(tracesift_export::Sample { thread: again, ..sample });
    let mut out = Vec::new();
    perfetto::write(&profile, &mut out).unwrap();
    let tids: Vec<u64> = protobuf::parts(&out, 1)
        .into_iter()
        .flat_map(|packet| protobuf::parts(packet, 12))
        .flat_map(|interned| protobuf::parts(interned, 48))
        .map(|thread| protobuf::number(thread, 3))
        .collect();
    assert_eq!(tids.len(), 4);
    assert!((1..4).all(|at| !tids[..at].contains(&tids[at])), "{tids:?}");
    let mut out = Vec::new();
    firefox::write(&profile, &mut out).unwrap();
    let file: serde_json::Value = serde_json::from_slice(&out).unwrap();
    let pids: Vec<_> = file["threads"].as_array().unwrap().iter().map(|thread| thread["pid"].clone()).collect();
    assert_eq!(pids, ["4", "4", "16", "4.1", "recording"]);
}
