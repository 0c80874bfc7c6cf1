//! Change points in a series of runs.
//!
//! A series is cut where the ranks before and after differ most, if that is more than permutations of the ranks show.
//! Each part is cut again. Ranks make single outliers harmless: four runs are needed for a change. Runs that depend on
//! the one before look like changes; the limit is raised by what their correlation explains. At last each change point is
//! tested between its neighbours, and the weakest is removed until all hold.

use crate::confidence::Confidence;
use crate::design::{Design, Side};
use crate::figure::{Figure, Scale};
use crate::location::Location;
use crate::permutations::Labellings;
use crate::problem::Problem;
use crate::random::SplitMix64;
use crate::robust::{median, midranks, rank_autocorrelation};

/// A place where a series changes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ChangePoint {
    /// The first run of the new segment.
    pub index: usize,
    /// The p of the segments on either side.
    pub p: f64,
    /// The change from the segment before to that after, as [`Effect::change`](crate::two_sets::Effect::change).
    pub change: f64,
    /// The likeliest first run of the new segment. `index` has the largest difference of ranks, which do not tell how far
    /// apart the two sides are; this place has the largest likelihood.
    pub likeliest: usize,
    /// The earliest and the latest possible first run of the new segment: in 19 of 20 series the truth lies between these,
    /// both included.
    pub between: (usize, usize),
}

/// What counts as a change point.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Limits {
    /// p is at most this.
    pub alpha: f64,
    /// The change is at least this.
    pub least: f64,
    /// Seeds the permutations.
    pub seed: u64,
}

/// Runs on either side of a change point.
const FEWEST_RUNS: usize = 4;

/// Permutations of the ranks of a segment.
const PERMUTATIONS: usize = 999;

/// A correlation of neighbours counts as at most this.
const LARGEST_CORRELATION: f64 = 0.95;

/// The change points of a series in the order of time, ascending. Changes are ratios on [`Scale::Logarithm`], and
/// differences otherwise.
///
/// # Errors
/// A value is not finite, or not positive on logarithms; two neighbouring segments have more runs than
/// [`MAX_RUNS`](crate::design::MAX_RUNS).
pub fn change_points(values: &[f64], is_logarithmic: bool, limits: &Limits) -> Result<Vec<ChangePoint>, Problem> {
    check_finite(values)?;
    if let Some(index) = values.iter().position(|&value| is_logarithmic && value <= 0.0) {
        return Err(Problem::NotPositive(index));
    }
    let mut places = Vec::new();
    let mut open = vec![(0, values.len())];
    while let Some((start, end)) = open.pop() {
        let segment = &values[start..end];
        let seed = limits.seed ^ (start as u64).rotate_left(32) ^ segment.len() as u64;
        if let Some((place, _)) = strongest(segment, limits.alpha, PERMUTATIONS, seed) {
            places.push(start + place);
            open.extend([(start, start + place), (start + place, end)]);
        }
    }
    places.sort_unstable();
    merge(values, places, is_logarithmic, limits)
}

/// The p of no change anywhere in a series, by `permutations` of its ranks: of several series, it is what a correction for
/// their number needs. A p above `most` is not computed, and is 1. So is that of a series with fewer than eight runs.
///
/// # Errors
/// A value is not finite.
pub fn any_change(values: &[f64], most: f64, permutations: usize, seed: u64) -> Result<f64, Problem> {
    check_finite(values)?;
    Ok(strongest(values, most, permutations, seed).map_or(1.0, |(_, p)| p))
}

fn check_finite(values: &[f64]) -> Result<(), Problem> {
    values.iter().position(|value| !value.is_finite()).map_or(Ok(()), |index| Err(Problem::NotFinite(index)))
}

/// Where a segment changes, counted from its start, and the p of no change, if it is at most `most`.
fn strongest(values: &[f64], most: f64, permutations: usize, seed: u64) -> Option<(usize, f64)> {
    if values.len() < 2 * FEWEST_RUNS {
        return None;
    }
    let mut ranks = midranks(values);
    let (place, statistic) = largest_deviation(&ranks)?;
    let factor = dependence_factor(values, place);
    // Not more than this many permutations may reach the statistic.
    let allowed = most * (permutations + 1) as f64 + 1e-9;
    let mut random = SplitMix64::new(seed);
    let mut reached = 1;
    for _ in 0..permutations {
        if f64::from(reached) > allowed {
            return None;
        }
        for last in (1..ranks.len()).rev() {
            ranks.swap(last, random.below(last as u64 + 1) as usize);
        }
        let (_, largest) = largest_deviation(&ranks)?;
        reached += i32::from(factor * largest >= statistic - 1e-9);
    }
    (f64::from(reached) <= allowed).then(|| (place, f64::from(reached) / (permutations + 1) as f64))
}

/// The place at which the sum of the ranks before is farthest from its mean, in standard deviations, and how far. The
/// first of equals. `None` if no rank differs.
fn largest_deviation(ranks: &[f64]) -> Option<(usize, f64)> {
    let runs = ranks.len() as f64;
    let mut sum = 0.0;
    let mut best: Option<(usize, f64)> = None;
    for (index, rank) in ranks.iter().enumerate() {
        sum += rank - (runs + 1.0) / 2.0;
        let before = index + 1;
        if before < FEWEST_RUNS || before + FEWEST_RUNS > ranks.len() {
            continue;
        }
        let count = before as f64;
        let deviation = sum.abs() / (count * (runs - count) * (runs + 1.0) / 12.0).sqrt();
        if deviation > best.map_or(1e-9, |(_, largest)| largest + 1e-12) {
            best = Some((before, deviation));
        }
    }
    best
}

/// How much larger deviations are than those of runs that do not depend on each other.
///
/// Other changes on either side look like dependence of neighbours, and would hide this one. They do not in the
/// differences of neighbours, so that the smaller correlation of both counts.
fn dependence_factor(values: &[f64], place: usize) -> f64 {
    let (before, after) = values.split_at(place);
    let residuals = |values: &[f64]| {
        let center = median(values).unwrap_or(0.0);
        values.iter().map(|value| value - center).collect::<Vec<_>>()
    };
    let of_ranks = rank_autocorrelation(&[residuals(before), residuals(after)].concat()).unwrap_or(0.0);
    let found = of_ranks.min(correlation_of_differences(values).unwrap_or(of_ranks));
    let correlation = if found < 1.0 / (values.len() as f64).sqrt() { 0.0 } else { found.min(LARGEST_CORRELATION) };
    ((1.0 + correlation) / (1.0 - correlation)).sqrt()
}

/// The correlation of neighbours, by the squares of the differences of each run to the next and to the one after that:
/// their ratio is 1 + ρ. The largest fifth of both is left out: steps and outliers. `None` where neighbours are equal.
fn correlation_of_differences(values: &[f64]) -> Option<f64> {
    let mean_square = |lag: usize| {
        let mut squares: Vec<f64> = values.windows(lag + 1).map(|pair| (pair[lag] - pair[0]).powi(2)).collect();
        squares.sort_by(f64::total_cmp);
        squares.truncate(squares.len() - squares.len() / 5);
        squares.iter().sum::<f64>() / squares.len() as f64
    };
    let ratio = mean_square(2) / mean_square(1);
    ratio.is_finite().then_some(ratio - 1.0)
}

/// Removes the weakest change point until all hold between their neighbours.
fn merge(
    values: &[f64],
    mut places: Vec<usize>,
    is_logarithmic: bool,
    limits: &Limits,
) -> Result<Vec<ChangePoint>, Problem> {
    let test = |places: &[usize], index: usize| {
        let start = if index == 0 { 0 } else { places[index - 1] };
        let end = places.get(index + 1).copied().unwrap_or(values.len());
        between(&values[start..end], places[index] - start, start, is_logarithmic, limits)
    };
    let mut points = (0..places.len()).map(|index| test(&places, index)).collect::<Result<Vec<_>, _>>()?;
    let holds = |point: &ChangePoint| point.p <= limits.alpha + 1e-12 && point.change.abs() >= limits.least;
    let weakness = |point: &ChangePoint| (point.p, -point.change.abs());
    loop {
        let weakest = (0..points.len()).filter(|&index| !holds(&points[index])).max_by(|&a, &b| {
            let (a, b) = (weakness(&points[a]), weakness(&points[b]));
            a.0.total_cmp(&b.0).then(a.1.total_cmp(&b.1))
        });
        let Some(weakest) = weakest else { return Ok(points) };
        places.remove(weakest);
        points.remove(weakest);
        // The neighbours have other segments beside them now.
        let (first, end) = (weakest.saturating_sub(1), (weakest + 1).min(places.len()));
        for (index, point) in points[first..end].iter_mut().enumerate() {
            *point = test(&places, first + index)?;
        }
    }
}

/// The change point at `place` of a stretch that begins at `start` of the series.
fn between(
    values: &[f64],
    place: usize,
    start: usize,
    is_logarithmic: bool,
    limits: &Limits,
) -> Result<ChangePoint, Problem> {
    let sides: Vec<Side> = (0..values.len()).map(|index| if index < place { Side::A } else { Side::B }).collect();
    let labellings = Labellings::new(Design::in_order(&sides)?, limits.seed ^ start as u64);
    let figure =
        if is_logarithmic { Figure::logarithms(&labellings, values) } else { Figure::plain(&labellings, values) }?;
    let confidence = Confidence::new(1.0 - limits.alpha).unwrap_or_default();
    let scale: Scale = figure.scale();
    let location = Location::of_change(values, place, dependence_factor(values, place), FEWEST_RUNS);
    Ok(ChangePoint {
        index: start + place,
        p: figure.test(confidence).p,
        change: scale.change(figure.shift()),
        likeliest: start + location.likeliest,
        between: (start + location.first, start + location.last),
    })
}
