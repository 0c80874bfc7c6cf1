//! Each frame's width is the weight of all samples below it, counted here from the samples one by one.

use std::collections::HashMap;

use tracesift_export::flame::{Flame, Orientation};
use tracesift_export::{About, Folded, Grouping, Listed, Measure, Origin, Profile, Sample, Unit};

use crate::flame::picture::{self, Cell};
use crate::synthetic;

fn draw(profile: &Folded, flame: &Flame) -> (String, tracesift_export::flame::Drawn) {
    let mut out = Vec::new();
    let drawn = flame.write(profile, &mut out).unwrap();
    assert_eq!(drawn.bytes, out.len());
    (String::from_utf8(out).unwrap(), drawn)
}

/// The weight of each path, with everything below it, and what it has alone.
fn inclusive(profile: &Profile) -> HashMap<Vec<String>, (u64, u64)> {
    let catalog = &profile.catalog;
    let mut weights: HashMap<Vec<String>, (u64, u64)> = HashMap::new();
    for sample in profile.samples.iter() {
        let process = catalog.process_label(catalog.threads()[sample.thread.row()].process);
        let mut path: Vec<_> =
            catalog.frames_of(sample.stack).map(|frame| catalog.label(&catalog.frames()[frame.row()])).collect();
        path.extend([process, "all".to_owned()]);
        path.reverse();
        weights.entry(path.clone()).or_default().1 += sample.weight;
        while !path.is_empty() {
            weights.entry(path.clone()).or_default().0 += sample.weight;
            path.pop();
        }
    }
    weights
}

fn assert_true(cells: &[Cell], truth: &HashMap<Vec<String>, (u64, u64)>, min_share: f64) {
    let total = truth[&vec!["all".to_owned()]].0 as f64;
    for cell in cells {
        let weight = truth[&cell.path].0 as f64;
        assert!((cell.width - weight / total * 100.0).abs() < 1e-5, "{cell:?}: {weight}");
        assert!(cell.x >= 0.0 && cell.x + cell.width <= 100.0 + 1e-4, "{cell:?}");
    }
    let wide = truth.values().filter(|weight| weight.0 as f64 >= (total * min_share).ceil()).count();
    assert_eq!(cells.len(), wide, "every path once that is wide enough");
    // Callees lie on their caller, side by side, the heaviest first.
    let mut ends: Vec<(f64, f64)> = Vec::new();
    for cell in cells {
        let depth = cell.path.len() - 1;
        ends.truncate(depth + 1);
        if depth > 0 {
            let (start, end) =
                (cells.iter().find(|other| other.path == cell.path[..depth]).unwrap().x, ends[depth - 1].1);
            assert!(cell.x >= start - 1e-4 && cell.x + cell.width <= end + 1e-4, "{cell:?} is not on its caller");
        }
        if let Some(&(beside, width)) = ends.get(depth) {
            assert!(cell.x >= beside - 1e-4 || cell.x + 1e-4 >= width, "{cell:?} overlaps");
        }
        if ends.len() > depth {
            ends[depth] = (cell.x + cell.width, cell.x + cell.width);
        } else {
            ends.push((cell.x + cell.width, cell.x + cell.width));
        }
    }
}

/// The same profile with its stacks as lists.
fn listed(profile: &Folded) -> Listed {
    let mut listed = Listed { catalog: profile.catalog.clone(), ..Listed::new(profile.about.clone()) };
    for row in profile.weights.iter() {
        let mut frames: Vec<_> = profile.catalog.frames_of(row.stack).collect();
        frames.reverse();
        let stack = listed.stacks.push(frames);
        listed.weights.push(tracesift_export::Weight { stack, ..row });
    }
    listed
}

#[test]
fn lists_of_frames_are_the_same_picture() {
    for grouping in [Grouping::All, Grouping::Program, Grouping::Process, Grouping::Thread] {
        for profile in [synthetic::large(20_000, 2_000, 9), synthetic::small(), synthetic::deep(300)] {
            let profile = profile.fold();
            let flame = Flame { grouping, ..Flame::default() };
            let mut svg = Vec::new();
            flame.write(&listed(&profile), &mut svg).unwrap();
            assert_eq!(draw(&profile, &flame).0, String::from_utf8(svg).unwrap(), "{grouping:?}");
        }
    }
}

#[test]
fn widths_are_the_samples_of_the_profile() {
    for min_share in [0.000_001, 0.01] {
        let profile = synthetic::large(3_000, 200, 5);
        let truth = inclusive(&profile);
        let flame = Flame { min_share, max_bytes: 1 << 30, ..Flame::default() };
        let (svg, drawn) = draw(&profile.fold(), &flame);
        let cells = picture::cells(&svg);
        assert_eq!(cells.len(), drawn.frames);
        assert_true(&cells, &truth, min_share);
    }
}

#[test]
fn what_is_folded_is_told() {
    let profile = synthetic::large(3_000, 200, 5);
    let truth = inclusive(&profile);
    for (min_share, max_bytes) in [(0.01, 1 << 30), (0.000_1, 96 << 10)] {
        let flame = Flame { min_share, max_bytes, ..Flame::default() };
        let (svg, drawn) = draw(&profile.clone().fold(), &flame);
        let shown: std::collections::HashSet<_> = picture::cells(&svg).into_iter().map(|cell| cell.path).collect();
        let folded: Vec<u64> = truth
            .iter()
            .filter(|(path, _)| !shown.contains(*path) && shown.contains(&path[..path.len() - 1]))
            .map(|(_, weight)| weight.0)
            .collect();
        assert!(svg.len() <= max_bytes);
        assert_eq!((drawn.folded, drawn.folded_weight), (folded.len(), folded.iter().sum()));
        assert!(picture::note(&svg).contains("folded into their callers"), "{}", picture::note(&svg));
        // Callers are there, and what they have of their own stays what it was.
        assert!(shown.iter().all(|path| path.len() == 1 || shown.contains(&path[..path.len() - 1])));
    }
}

#[test]
fn own_time_and_counts_are_in_the_title() {
    let profile = synthetic::small();
    let truth = inclusive(&profile);
    let (svg, _) = draw(&profile.fold(), &Flame::default());
    for cell in picture::cells(&svg) {
        let (weight, own) = truth[&cell.path];
        let (weight, own) = (weight / 1_000_000, own / 1_000_000);
        let milliseconds = |time: u64| match time {
            0 => "0 ms".to_owned(),
            1..10 => format!("{time}.000 ms"),
            _ => format!("{time}.0 ms"),
        };
        assert!(cell.figures.starts_with(&milliseconds(weight)), "{cell:?}");
        assert!(cell.figures.contains(&format!("{weight} samples; own {}", milliseconds(own))), "{cell:?}");
    }
}

#[test]
fn both_orientations_show_the_same() {
    let profile = synthetic::large(1_000, 100, 8).fold();
    let of = |orientation| picture::cells(&draw(&profile, &Flame { orientation, ..Flame::default() }).0);
    let (icicle, flame) = (of(Orientation::Icicle), of(Orientation::Flame));
    assert_eq!(icicle.len(), flame.len());
    let rows = icicle.iter().map(|cell| cell.path.len()).max().unwrap() as f64;
    for (down, up) in icicle.iter().zip(&flame) {
        assert_eq!((&down.path, down.x, down.width), (&up.path, up.x, up.width));
        assert_eq!((down.y - icicle[0].y) / 18.0, (flame[0].y - up.y) / 18.0);
    }
    assert_eq!(flame[0].y - icicle[0].y, (rows - 1.0) * 18.0);
}

#[test]
fn groups_are_programs_processes_or_threads() {
    let profile = synthetic::small().fold();
    let second_row = |grouping| {
        let cells = picture::cells(&draw(&profile, &Flame { grouping, ..Flame::default() }).0);
        let row = cells.into_iter().filter(|cell| cell.path.len() == 2);
        row.map(|cell| cell.path[1].clone()).collect::<Vec<_>>()
    };
    assert_eq!(second_row(Grouping::All), ["ntdll.dll!RtlUserThreadStart", "[no stack]"]);
    assert_eq!(second_row(Grouping::Program), ["server.exe", "client.exe"]);
    assert_eq!(second_row(Grouping::Process), ["server.exe(4)", "client.exe(16)"]);
    let threads = Flame { grouping: Grouping::Thread, ..Flame::default() };
    let cells = picture::cells(&draw(&profile, &threads).0);
    let threads: Vec<_> = cells.iter().filter(|cell| cell.path.len() == 3).map(|cell| cell.path[2].as_str()).collect();
    assert_eq!(threads, ["main(8)", "thread(12)", "ui(20)"]);
}

#[test]
fn still_picture() {
    let (svg, _) = draw(&synthetic::small().fold(), &Flame { subtitle: "-p server".to_owned(), ..Flame::default() });
    // The style and the script are files of their own.
    let (head, rest) = svg.split_once("<style>").unwrap();
    let (_, rest) = rest.split_once("</style>").unwrap();
    let (body, _) = rest.split_once("<script>").unwrap();
    insta::assert_snapshot!(format!("{head}{body}"));
}

#[test]
fn figures_have_the_unit_of_the_measure() {
    for (unit, weight, figure) in [
        (Unit::Nanoseconds, 1_500_000, "1.500 ms, 100.0 %, 1 rows; own 1.500 ms, 100.0 %"),
        (Unit::Bytes, 512, "512 bytes, 100.0 %, 1 rows; own 512 bytes, 100.0 %"),
        (Unit::Bytes, 3 << 19, "1.500 MiB, 100.0 %, 1 rows; own 1.500 MiB, 100.0 %"),
        (Unit::Bytes, u64::MAX >> 1, "8388608.000 TiB, 100.0 %, 1 rows; own 8388608.000 TiB, 100.0 %"),
        (Unit::Count, 1_234, "1,234 rows, 100.0 %; own 1,234 rows, 100.0 %"),
    ] {
        let measure = Measure { key: "any", label: "Any", unit, counted: "rows" };
        let mut profile = Profile::new(About::new("any", measure));
        let thread = synthetic::thread(&mut profile.catalog, "app", 1, "", 1);
        let frame = synthetic::frame(&mut profile.catalog, "m", "f", Origin::User);
        let stack = profile.catalog.stack([frame]);
        profile.samples.push(Sample { time: 0, thread, stack, weight });
        let (svg, _) = draw(&profile.fold(), &Flame::default());
        let cells = picture::cells(&svg);
        assert_eq!(cells.last().expect("a frame").figures, figure);
        let subtitle = if unit == Unit::Nanoseconds { "Any time of all threads, " } else { "Any, " };
        assert!(svg.contains(subtitle), "{unit:?}");
    }
}
