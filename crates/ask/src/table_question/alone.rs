//! What measures are of a single row.

use super::arithmetic::{Adds, How};
use super::measure::Measure;
use super::plan::NO_FIGURE;
use super::sums::Part;

/// What a measure is of a row alone.
pub(super) fn figure<R>(measures: &[Measure<R>], place: usize, row: &R, part: Part) -> i64 {
    let Measure { is, adds } = &measures[place];
    match *adds {
        Adds::Row | Adds::Texts(_) => 1,
        Adds::Time | Adds::Duration | Adds::Shortest => part.length,
        Adds::Longest if matches!(is.how, How::LongestStart) => part.start,
        Adds::Longest | Adds::Extent => part.length,
        Adds::First => part.start,
        Adds::If(holds) | Adds::WithLength(holds) => holds(row).into(),
        Adds::AliveFirst(is_older) => (part.is_older || is_older(row)).into(),
        Adds::AliveLast(is_open) => (!part.ends || is_open(row)).into(),
        Adds::Begun(is_older) => (!part.is_older && !is_older(row)).into(),
        Adds::Over(is_open) => (part.ends && !is_open(row)).into(),
        Adds::Sum(figure) => figure(row),
        Adds::SumBegun(figure) if !part.is_older => figure(row),
        Adds::SumOver(figure) if part.ends => figure(row),
        Adds::SumLeft(is_open, figure) if !part.is_older && (!part.ends || is_open(row)) => figure(row),
        Adds::Alive(is_open, figure) if part.length > 0 || !part.ends || is_open(row) => figure(row),
        Adds::SumBegun(_) | Adds::SumOver(_) | Adds::SumLeft(..) | Adds::Alive(..) => 0,
        Adds::Known(figure) if matches!(is.how, How::SumsBy(_)) => figure(row).unwrap_or(0),
        Adds::Known(figure) | Adds::Max(figure) | Adds::Min(figure) | Adds::Only(figure) => {
            figure(row).unwrap_or(NO_FIGURE)
        }
        Adds::Inside(figure) => figure(row, part.span()).unwrap_or(NO_FIGURE),
        Adds::Once(figures) => figures(row).map_or(NO_FIGURE, |(_, figure)| figure),
        Adds::Weighted(figures) => figures(row).map_or(NO_FIGURE, |(figure, _)| figure),
        Adds::OfKind(is_of_kind, figure) if is_of_kind(row) => figure(row).unwrap_or(NO_FIGURE),
        Adds::OfKind(..) => 0,
        Adds::Nothing => of_others(is.how, |key| {
            let place = measures.iter().position(|measure| measure.is.column.key == key);
            figure(measures, place.expect("a measure is made of measures of its question"), row, part)
        }),
    }
}

/// A figure that is made of others.
fn of_others(how: How, mut figure: impl FnMut(&str) -> i64) -> i64 {
    match how {
        How::Mean([of, by]) | How::Ratio([of, by], _) => figure(of).checked_div(figure(by)).unwrap_or(NO_FIGURE),
        How::Difference([of, less]) => figure(of).saturating_sub(figure(less)),
        _ => NO_FIGURE,
    }
}

/// What a row adds to a sum or a number, for those who share it out among stacks.
pub(super) fn amount<R>(adds: Adds<R>, row: &R, part: Part) -> i64 {
    if let Adds::Duration = adds {
        return part.length;
    }
    if part.counted.is_none() {
        return 0;
    }
    match adds {
        Adds::Row => 1,
        Adds::If(holds) => i64::from(holds(row)),
        Adds::Sum(figure) => figure(row),
        Adds::Known(figure) => figure(row).unwrap_or(0),
        Adds::OfKind(is_of_kind, figure) if is_of_kind(row) => figure(row).unwrap_or(0),
        Adds::AliveLast(is_open) => i64::from(!part.ends || is_open(row)),
        Adds::Begun(is_older) => i64::from(!part.is_older && !is_older(row)),
        Adds::SumBegun(figure) if !part.is_older => figure(row),
        Adds::SumLeft(is_open, figure) if !part.is_older && (!part.ends || is_open(row)) => figure(row),
        // A test lets no figure of stacks have another arithmetic.
        _ => 0,
    }
}
