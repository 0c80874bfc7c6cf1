//! Two profiles in one picture.

use tracesift_export::flame::{Change, Flame};
use tracesift_export::{Folded, Grouping, Origin, Weight};

use crate::flame::picture;
use crate::synthetic;

/// A process with these functions and milliseconds.
fn profile(pid: u32, functions: &[(&str, u64)]) -> Folded {
    let mut profile = Folded::new(synthetic::about("any"));
    // Names in another order have other ids.
    for (name, _) in functions.iter().rev() {
        profile.catalog.string(name);
    }
    let thread = synthetic::thread(&mut profile.catalog, "server.exe", pid, "main", pid + 1);
    let main = synthetic::frame(&mut profile.catalog, "server.exe", "main", Origin::User);
    for &(name, milliseconds) in functions {
        let frame = synthetic::frame(&mut profile.catalog, "server.exe", name, Origin::User);
        let stack = profile.catalog.stack([main, frame]);
        profile.weights.push(Weight { thread, stack, weight: milliseconds * 1_000_000, count: milliseconds });
    }
    profile
}

fn draw(before: &Folded, after: &Folded, change: Change) -> String {
    let mut out = Vec::new();
    let flame = Flame { grouping: Grouping::Program, ..Flame::default() };
    flame.write_change(before, after, change, &mut out).unwrap();
    String::from_utf8(out).unwrap()
}

/// A line per cell of a picture, and its note.
fn described(svg: &str) -> String {
    let rows: Vec<String> = picture::cells(svg)
        .into_iter()
        .map(|cell| format!("{} [{}] {}% {}", cell.path.last().unwrap(), cell.class, cell.width, cell.figures))
        .collect();
    format!("{}\n{}", rows.join("\n"), picture::note(svg))
}

#[test]
fn changes_of_shares() {
    let before = profile(4, &[("parse", 50), ("write", 30), ("gone", 20)]);
    let after = profile(8, &[("parse", 100), ("write", 90), ("new", 10)]);
    insta::assert_snapshot!(described(&draw(&before, &after, Change::Share)));
}

#[test]
fn changes_of_times() {
    let before = profile(4, &[("parse", 50), ("write", 30), ("gone", 20)]);
    let after = profile(8, &[("parse", 40), ("write", 90), ("new", 10)]);
    insta::assert_snapshot!(described(&draw(&before, &after, Change::Absolute)));
}

#[test]
fn nothing_changed_is_grey() {
    let svg = draw(&synthetic::large(2_000, 100, 3).fold(), &synthetic::large(2_000, 100, 3).fold(), Change::Share);
    assert!(picture::cells(&svg).iter().all(|cell| cell.class.starts_with('z')));
}
