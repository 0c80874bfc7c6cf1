//! What several series tell of one change: where it is.

use tracesift_statistics::segments::ChangePoint;

use super::series::Series;

/// Runs that are nearer to each other than this are no segment.
const FEWEST_RUNS: usize = 4;

/// A change of a case, as series tell it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Change {
    /// The likeliest first run after it.
    pub(super) place: usize,
    /// The earliest and the latest possible first run after it.
    pub(super) between: (usize, usize),
    /// The series that tell of it, each with its change point, by their places.
    pub(super) seen: Vec<(usize, usize)>,
}

/// The changes of a case by place. The series that knows the place best tells it; other series tell of the same change if theirs may
/// be the same place, or is too near for a segment.
pub(super) fn changes(series: &[Series]) -> Vec<Change> {
    let mut points: Vec<(usize, usize, &ChangePoint)> = Vec::new();
    for (of, series) in series.iter().enumerate() {
        points.extend(series.points.iter().enumerate().map(|(number, point)| (of, number, point)));
    }
    let width = |point: &ChangePoint| point.between.1 - point.between.0;
    points.sort_by_key(|(of, _, point)| (width(point), series[*of].kind, point.likeliest, *of));
    let mut changes: Vec<Change> = Vec::new();
    for (of, number, point) in points {
        let (first, last) = point.between;
        let is_same = |change: &&mut Change| {
            let is_near = change.place.abs_diff(point.likeliest) < FEWEST_RUNS;
            is_near || (first <= change.between.1 && change.between.0 <= last)
        };
        // Of several the nearest.
        let same = changes.iter_mut().filter(is_same).min_by_key(|change| change.place.abs_diff(point.likeliest));
        match same {
            Some(change) => change.seen.push((of, number)),
            None => {
                changes.push(Change { place: point.likeliest, between: point.between, seen: vec![(of, number)] });
            }
        }
    }
    changes.iter_mut().for_each(|change| change.seen.sort_by_key(|(of, number)| (series[*of].kind, *of, *number)));
    changes.sort_by_key(|change| change.place);
    changes
}

#[cfg(test)]
mod tests {
    use tracesift_statistics::segments::ChangePoint;

    use super::super::series::{Kind, Series};
    use super::changes;

    fn series(kind: Kind, points: &[(usize, (usize, usize))]) -> Series {
        let point = |&(index, between)| ChangePoint { index, p: 0.001, change: 0.1, likeliest: index, between };
        Series {
            kind,
            text: String::new(),
            values: Vec::new(),
            p_corrected: None,
            points: points.iter().map(point).collect(),
        }
    }

    #[test]
    fn the_series_that_knows_best_tells_the_place() {
        let all = [
            series(Kind::Duration, &[(40, (30, 50)), (90, (80, 95))]),
            series(Kind::Undisturbed, &[(43, (41, 46)), (120, (118, 122))]),
            series(Kind::Row, &[(44, (44, 44)), (117, (117, 117))]),
        ];
        let found: Vec<_> = changes(&all).iter().map(|change| (change.place, change.between)).collect();
        // The row at 117 is too near to the undisturbed time at 120 for a segment.
        assert_eq!(found, [(44, (44, 44)), (90, (80, 95)), (117, (117, 117))]);
        assert_eq!(changes(&all)[0].seen, [(1, 0), (0, 0), (2, 0)]);
        assert_eq!(changes(&[]), []);
    }
}
