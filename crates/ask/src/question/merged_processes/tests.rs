//! Lives that recordings cut into pieces become whole again.

use proptest::prelude::*;

use super::*;

const BEGIN: i64 = 130_000_000_000_000_000;

fn sighting(name: &str, begin: i64, start: Option<i64>, end: Option<i64>) -> Sighting {
    let row = Row {
        process: name.to_owned(),
        pid: 7,
        start: start.map(|start| BEGIN + start * SECOND),
        end: end.map(|end| BEGIN + end * SECOND),
        machine: None,
        files: 1,
        first_file: format!("{begin}"),
        last_file: format!("{begin}"),
        more: Default::default(),
    };
    Sighting { row, begin: BEGIN + begin * SECOND }
}

/// Name, start, end, number of recordings.
fn lives(sightings: Vec<Sighting>) -> Vec<(String, Option<i64>, Option<i64>, usize)> {
    let seconds = |time: Option<i64>| time.map(|time| (time - BEGIN) / SECOND);
    let mut lives: Vec<_> = followed(sightings)
        .into_iter()
        .map(|row| (row.process.clone(), seconds(row.start), seconds(row.end), row.files))
        .collect();
    lives.sort();
    lives
}

#[test]
fn a_process_is_one_over_recordings() {
    let life = |start, end, files| ("a".to_owned(), start, end, files);
    for (sightings, expected) in [
        // Starts in the first, runs in the second, ends in the third.
        (
            vec![sighting("a", 20, None, Some(25)), sighting("a", 0, Some(5), None), sighting("A", 10, None, None)],
            vec![life(Some(5), Some(25), 3)],
        ),
        // The pid was used again.
        (
            vec![sighting("a", 0, Some(1), Some(5)), sighting("a", 10, Some(12), None), sighting("a", 20, None, None)],
            vec![life(Some(1), Some(5), 1), life(Some(12), None, 2)],
        ),
        // It ended before the next one begins, where another one runs that started between them.
        (
            vec![sighting("a", 0, None, Some(5)), sighting("a", 10, None, None)],
            vec![life(None, None, 1), life(None, Some(5), 1)],
        ),
        // It ended between two recordings, of which the later one names it although it was dead.
        (
            vec![sighting("a", 0, None, None), sighting("a", 10, None, Some(7)), sighting("b", 10, None, Some(7))],
            vec![life(None, Some(7), 2)],
        ),
        // It ended in the first one, and the second one still names it.
        (vec![sighting("a", 0, None, Some(5)), sighting("a", 10, None, Some(5))], vec![life(None, Some(5), 1)]),
        // Two recordings at the same time.
        (
            vec![
                sighting("a", 0, Some(5), Some(9)),
                sighting("a", 1, Some(5), Some(9)),
                sighting("a", 8, None, Some(9)),
            ],
            vec![life(Some(5), Some(9), 3)],
        ),
        // It runs before the first recording, so what starts in the second one is another process.
        (
            vec![sighting("a", 0, None, None), sighting("a", 10, Some(15), None)],
            vec![life(None, None, 1), life(Some(15), None, 1)],
        ),
    ] {
        assert_eq!(lives(sightings), expected);
    }
}

proptest! {
    /// Processes follow each other on one pid, and recordings each other in time, with gaps between them.
    #[test]
    fn pieces_of_recordings_become_whole(
        spans in prop::collection::vec((1_i64..9, 1_i64..30), 1..8),
        windows in prop::collection::vec((1_i64..9, 2_i64..20), 1..8),
    ) {
        let laid_out = |parts: &[(i64, i64)]| {
            let mut now = 0;
            let one = |(gap, length): &(i64, i64)| {
                let start = now + gap;
                now = start + length;
                (start, now)
            };
            parts.iter().map(one).collect::<Vec<_>>()
        };
        let (processes, windows) = (laid_out(&spans), laid_out(&windows));
        let mut sightings = Vec::new();
        let mut expected = Vec::new();
        for (at, (start, end)) in processes.iter().enumerate() {
            // Each has a name of its own: what is hidden by a gap is no other one.
            let name = format!("p{at}");
            let seen: Vec<_> = windows.iter().filter(|(from, to)| start < to && end > from).collect();
            let has = |time: &i64| seen.iter().any(|(from, to)| from <= time && time <= to);
            let within = |time: &i64, (from, to): &(i64, i64)| (from <= time && time <= to).then_some(*time);
            for window in &seen {
                sightings.push(sighting(&name, window.0, within(start, window), within(end, window)));
            }
            if !seen.is_empty() {
                expected.push((name, Some(*start).filter(has), Some(*end).filter(has), seen.len()));
            }
        }
        expected.sort();
        prop_assert_eq!(lives(sightings), expected);
    }
}
