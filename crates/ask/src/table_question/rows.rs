//! Rows of the answer: figures of groups in order, with totals.

use super::arithmetic::How;
use super::asked::Asked;
use super::groups::{Group, Groups};
use super::layout::{self, Cell};
use super::list::{self, Listing};
use super::measure::Figure;
use super::names::{Names, Order};
use super::places::{UNKNOWN, UNTOLD};
use super::plan::{NO_FIGURE, NO_SMALLEST, NO_TIME, Plan};
use super::reading::Read;
use super::sums::{growing_tenths, peak, sum_once, weighted};
use super::{paths, stacks_below};
use crate::answer::{Column, Fact, Table, Value};
use crate::order::Top;
use crate::process_columns::name_with_marks;
use crate::threads;

/// The rows of the answer of a range, and the totals over all of them.
pub(super) fn of_groups(
    asked: &Asked,
    plan: &Plan,
    names: &mut Names<'_>,
    groups: Groups,
    read: &mut Read<'_>,
) -> (Vec<Vec<Value>>, Vec<Fact>) {
    let Groups { mut groups, all } = groups;
    let facts = totals(plan, &mut groups, all);
    let groups = ascending(asked, plan, names, groups);
    let rows = match (asked.listing, read.single.take()) {
        (Some(Listing::Flat), Some(keeper)) => {
            let mut rows = keeper.flat();
            asked.top.apply(&mut rows);
            let layout = list::Layout::of(&plan.stated);
            rows.iter().map(|row| layout.values(plan, names, row, read.numbers_of(row))).collect()
        }
        (_, keeper) => {
            let mut cells = layout::cells(&plan.stated);
            cells.retain(|(column, _)| asked.shown.has(column.key));
            let layout = list::Layout::of(&plan.stated);
            let columns = list::nested(&plan.stated);
            let mut row = |mut group: Group| {
                let value = |(_, cell): &(Column, Cell)| match (cell, &keeper) {
                    (Cell::Rows, Some(keeper)) => {
                        let rows = keeper.of_places(&group.places).into_iter();
                        let rows = rows.map(|row| layout.values(plan, names, row, read.numbers_of(row))).collect();
                        Value::Table(Table { columns: columns.clone(), rows, is_sparse: false })
                    }
                    (Cell::Stacks, _) => match asked.listing {
                        Some(Listing::Stacks(top)) => stacks_below::of_group(asked, top, plan, names, (&group, read)),
                        _ => Value::None,
                    },
                    (cell, _) => value(plan, names, &mut group, *cell),
                };
                cells.iter().map(value).collect()
            };
            groups.into_iter().map(&mut row).collect()
        }
    };
    (rows, facts)
}

/// The groups that the answer has, ascending.
fn ascending(asked: &Asked, plan: &Plan, names: &Names<'_>, mut groups: Vec<Group>) -> Vec<Group> {
    groups.retain_mut(|group| {
        asked.group_limits.iter().all(|(place, between)| between.contains(figure(plan, group, *place)))
    });
    let of_sort = |group: &mut Group| asked.sort.and_then(|place| figure(plan, group, place));
    let has_figure = groups.iter_mut().any(|group| of_sort(group).is_some_and(|figure| figure != 0));
    let sort = asked.sort_without_figure().filter(|_| !has_figure).or(asked.sort);
    let figure_of = |group: &mut Group, place: Option<usize>| place.and_then(|place| figure(plan, group, place));
    let figure = |group: &mut Group| figure_of(group, sort);
    let mut groups: Vec<(i64, Group)> =
        groups.into_iter().map(|mut group| (figure(&mut group).unwrap_or(i64::MIN), group)).collect();
    if asked.tree {
        let path = |group: &Group| {
            let values = plan.by.first().zip(group.values.first());
            values.and_then(|(dimension, value)| names.text(*dimension, *value))
        };
        return paths::depth_first(groups, path, asked.top);
    }
    // The rows of a flat list are counted in place of the groups.
    let top = (asked.listing != Some(Listing::Flat)).then_some(asked.top);
    keep_largest(&mut groups, top);
    let of_equals = asked.sort_of_equals();
    let mut ordered: Vec<((i64, i64), Vec<Order>, Group)> = groups
        .into_iter()
        .map(|(figure, mut group)| {
            let figure = (figure, figure_of(&mut group, of_equals).unwrap_or(i64::MIN));
            let order = |(dimension, value): (&usize, &i64)| names.order(*dimension, *value);
            (figure, plan.by.iter().zip(&group.values).map(order).collect(), group)
        })
        .collect();
    ordered.sort_by(|(a, a_names, _), (b, b_names, _)| a.cmp(b).then_with(|| a_names.cmp(b_names)));
    if let Some(top) = top {
        top.apply(&mut ordered);
    }
    ordered.into_iter().map(|(_, _, group)| group).collect()
}

/// Drops the groups that figures alone keep out of the answer. Equals of the last one stay: their names decide.
fn keep_largest(groups: &mut Vec<(i64, Group)>, top: Option<Top>) {
    let Some(take) = top.and_then(|top| Some(top.take?.saturating_add(top.skip))) else { return };
    let Some(last) = take.checked_sub(1).filter(|last| *last < groups.len()) else { return };
    let least = groups.select_nth_unstable_by(last, |(a, _), (b, _)| b.cmp(a)).1.0;
    groups.retain(|(figure, _)| *figure >= least);
}

/// The totals that the heading of a file shows.
///
/// They add up the groups; where a row can be in several of them, they are those of `all` rows.
fn totals(plan: &Plan, groups: &mut [Group], mut all: Option<Group>) -> Vec<Fact> {
    let measures = || plan.stated.measures.iter().enumerate();
    let sums_of_groups = measures().filter_map(|(place, measure)| Some((place, measure, measure.sum_of_groups?)));
    let sum = |(place, measure, label): (usize, &&Figure, &'static str)| {
        let figures = groups.iter_mut().filter_map(|group| figure(plan, group, place));
        Fact::new(label, measure.column.kind, figures.fold(0, i64::saturating_add))
    };
    let sums: Vec<Fact> = sums_of_groups.map(sum).collect();
    let groups = match &mut all {
        Some(all) => std::slice::from_mut(all),
        None => groups,
    };
    let with_total = measures().filter_map(|(place, measure)| Some((place, measure, measure.total?)));
    let has_groups = groups.iter().any(|group| !group.places.is_empty());
    let totals = with_total.filter_map(|(place, measure, label)| {
        // What no row tells has no total.
        let is_untold = match measure.how {
            // A group without such rows has 0, which says nothing of the others.
            How::SumOf => plan.cells[place].is_some_and(|cell| {
                let cells = |after: usize| groups.iter().filter_map(move |group| group.cells.get(cell + after));
                cells(0).all(|sum| *sum == NO_FIGURE) && cells(1).any(|unknown| *unknown > 0)
            }),
            _ => groups.iter_mut().all(|group| figure(plan, group, place).is_none()),
        };
        if is_unknown(plan, place) || (has_groups && is_untold) {
            return None;
        }
        let total = match measure.how {
            How::Union => {
                let mut united = tracesift_analysis::IntervalUnion::default();
                groups.iter().for_each(|group| united.append(group.covered.clone()));
                united.covered()
            }
            How::Max | How::Longest | How::Peak | How::SumPeak => {
                groups.iter_mut().filter_map(|group| figure(plan, group, place)).max().unwrap_or(0)
            }
            _ => {
                let figures = groups.iter_mut().filter_map(|group| figure(plan, group, place));
                figures.fold(0, i64::saturating_add)
            }
        };
        Some(Fact {
            adds_up: !matches!(measure.how, How::Max | How::Longest | How::Peak | How::SumPeak),
            ..Fact::new(label, measure.column.kind, total)
        })
    });
    totals.chain(sums).collect()
}

/// The figure of a measure; `None`: it has none, or is a map.
fn figure(plan: &Plan, group: &mut Group, place: usize) -> Option<i64> {
    if is_unknown(plan, place) {
        return None;
    }
    let cell = |group: &Group, after: usize| plan.cells[place].and_then(|cell| group.cells.get(cell + after)).copied();
    match plan.stated.measures[place].how {
        How::First if group.rows() == 0 => None,
        How::Rows => Some(group.rows()),
        How::RowsIf | How::Sum | How::First => cell(group, 0),
        How::Shortest => cell(group, 0).filter(|time| *time != NO_SMALLEST),
        How::Longest => cell(group, 0).filter(|time| *time != NO_TIME),
        How::LongestStart => cell(group, 1).filter(|_| cell(group, 0) != Some(NO_TIME)),
        How::AliveFirst | How::AliveLast | How::Begun | How::Over => cell(group, 0),
        How::SumBegun | How::SumOver | How::SumLeft => cell(group, 0),
        How::Peak | How::SumPeak => Some(peak(&group.lives)),
        // Times with gaps between them have no tenths.
        How::Tenths if plan.inside.is_some() => None,
        How::Tenths => growing_tenths(&group.lives, group.range),
        How::SumOnce => sum_once(&mut group.once),
        How::Duration | How::Max | How::SumKnown | How::SumInside => {
            cell(group, 0).filter(|figure| *figure != NO_FIGURE)
        }
        How::SumOf => {
            let sum = cell(group, 0).filter(|sum| *sum != NO_FIGURE);
            sum.or_else(|| (cell(group, 1) == Some(0)).then_some(0))
        }
        How::Extent => {
            let end = cell(group, 1).filter(|end| *end != NO_FIGURE);
            end.map(|end| end.saturating_sub(cell(group, 0).unwrap_or(end)))
        }
        How::Lives => group.lived,
        How::Only => cell(group, 0).filter(|_| cell(group, 1) == Some(1)),
        How::Min => cell(group, 0).filter(|figure| *figure != NO_SMALLEST),
        How::Weighted => {
            let (sum, weight) = weighted(&group.cells, plan.cells[place]?);
            i64::try_from(sum.checked_div(i128::from(weight))?).ok()
        }
        How::Union => cell(group, 0).is_none_or(|rows| rows > 0).then(|| group.covered.covered()),
        How::Percentile(share) => group.times.whole_percentile(share),
        How::Mean([of, by]) => {
            let [of, by] = [of, by].map(|key| figure(plan, group, plan.stated.measure_of(key)));
            of?.checked_div(by?)
        }
        How::Ratio(..) | How::PerTime(..) | How::Covers(_) => {
            fraction(plan, group, place).map(|figure| (figure * SORTED_DIGITS) as i64)
        }
        How::Difference([of, less]) => {
            let [of, less] = [of, less].map(|key| figure(plan, group, plan.stated.measure_of(key)));
            of?.checked_sub(less?)
        }
        How::RowsWith(dimension) => {
            let dimension = plan.stated.dimension_of(dimension);
            Some(group.known(plan, dimension).fold(0, |sum, (_, rows)| sum.saturating_add(rows)))
        }
        How::Distinct(dimension) => {
            let dimension = plan.stated.dimension_of(dimension);
            i64::try_from(group.known(plan, dimension).count()).ok()
        }
        How::Counts(_) | How::Texts | How::SumsBy(_) => None,
    }
}

/// Whether the recording cannot tell the figure of a measure.
fn is_unknown(plan: &Plan, place: usize) -> bool {
    plan.unknown.contains(&plan.stated.measures[place].column.key)
}

/// Figures with a fraction are sorted by so many digits behind the point.
const SORTED_DIGITS: f64 = 1e6;

/// The figure of a measure that has a fraction.
fn fraction(plan: &Plan, group: &mut Group, place: usize) -> Option<f64> {
    if is_unknown(plan, place) {
        return None;
    }
    let range = group.length.unwrap_or(0) as f64;
    match plan.stated.measures[place].how {
        How::Ratio([of, by], quotient) => {
            let [of, by] = [of, by].map(|key| figure(plan, group, plan.stated.measure_of(key)));
            by.filter(|by| *by != 0).and_then(|by| Some(quotient.figure(of?, by)))
        }
        How::PerTime(of, factor) => {
            let of = figure(plan, group, plan.stated.measure_of(of)).filter(|_| range > 0.0);
            of.map(|of| of as f64 / range * factor)
        }
        How::Covers(_) => {
            let covered: f64 = group.covered_by.values_mut().map(|union| union.covered() as f64).sum();
            let values = group.covered_by.len() as f64;
            // What began before the recording is longer than it.
            (range > 0.0 && values > 0.0).then(|| (covered / range / values * 100.0).min(100.0))
        }
        _ => None,
    }
}

/// The rows by text of a dimension, the most frequent value first.
fn counts(plan: &Plan, names: &Names<'_>, group: &Group, dimension: &str) -> Value {
    let dimension = plan.stated.dimension_of(dimension);
    if plan.by.contains(&dimension) {
        return Value::Map(Vec::new());
    }
    let mut counts: Vec<(i64, i64)> = group.known(plan, dimension).collect();
    counts.sort_unstable_by_key(|(value, rows)| (-rows, *value));
    let named = |(value, rows): (i64, i64)| (names.text(dimension, value).unwrap_or_default(), rows.into());
    Value::Map(counts.into_iter().map(named).collect())
}

/// The sums of a measure by text of a dimension, the largest first.
fn sums_by(plan: &Plan, names: &Names<'_>, group: &Group, (measure, dimension): (usize, &str)) -> Value {
    let dimension = plan.stated.dimension_of(dimension);
    let sums = plan.sums_by.iter().position(|(place, ..)| *place == measure).and_then(|list| group.sums_by.get(list));
    let named = |(value, sum): (&i64, &i64)| (names.text(dimension, *value).unwrap_or_default(), *sum);
    let mut sums: Vec<(String, i64)> = sums.into_iter().flatten().map(named).collect();
    sums.sort_unstable_by(|(a, a_sum), (b, b_sum)| b_sum.cmp(a_sum).then_with(|| a.cmp(b)));
    if sums.is_empty() {
        return Value::None;
    }
    Value::Map(sums.into_iter().map(|(text, sum)| (text, sum.into())).collect())
}

/// The rows by text of a list, the most frequent text first.
fn texts(plan: &Plan, group: &Group, measure: usize) -> Value {
    let list = plan.texts.iter().position(|place| *place == measure);
    let counts = list.and_then(|list| group.texts.get(list));
    let mut counts: Vec<(&str, i64)> = counts.into_iter().flatten().map(|(text, rows)| (&**text, *rows)).collect();
    counts.sort_unstable_by_key(|(text, rows)| (-rows, *text));
    Value::Map(counts.into_iter().map(|(text, rows)| (text.to_owned(), rows.into())).collect())
}

fn value(plan: &Plan, names: &Names<'_>, group: &mut Group, cell: Cell) -> Value {
    let Cell::Measure(place) = cell else {
        return name(names, Values { by: &plan.by, values: &group.values }, cell);
    };
    if is_unknown(plan, place) {
        return Value::None;
    }
    match plan.stated.measures[place].how {
        How::Ratio(..) | How::PerTime(..) | How::Covers(_) => {
            fraction(plan, group, place).map_or(Value::None, Value::Float)
        }
        How::Counts(dimension) => counts(plan, names, group, dimension),
        How::Texts => texts(plan, group, place),
        How::SumsBy(dimension) => sums_by(plan, names, group, (place, dimension)),
        _ => figure(plan, group, place).into(),
    }
}

/// Values of some dimensions.
#[derive(Clone, Copy)]
pub(super) struct Values<'a> {
    pub(super) by: &'a [usize],
    pub(super) values: &'a [i64],
}

impl Values<'_> {
    fn of(&self, dimension: usize) -> Option<i64> {
        let place = self.by.iter().position(|by| *by == dimension)?;
        self.values.get(place).copied()
    }
}

/// What a value of a dimension is called.
pub(super) fn name(names: &Names<'_>, values: Values<'_>, cell: Cell) -> Value {
    let process = |dimension| values.of(dimension).and_then(|value| names.process(value));
    let thread = |dimension| values.of(dimension).and_then(|value| names.thread(value));
    match cell {
        Cell::Process(dimension) => process(dimension).map(|row| &row.name).into(),
        Cell::Pid(dimension) => process(dimension).map(|row| row.pid).into(),
        Cell::CommandLine(dimension) => process(dimension).and_then(|row| row.command_line.as_ref()).into(),
        Cell::Tid(dimension) => thread(dimension).map(|row| row.tid).into(),
        Cell::ThreadName(dimension) => thread(dimension).and_then(|row| row.name.as_ref()).into(),
        Cell::Who { process: of_process, thread: of_thread } => {
            let process = process(of_process);
            match of_thread.and_then(thread) {
                Some(thread) => threads::label(process, thread).into(),
                None => process.map(name_with_marks).into(),
            }
        }
        Cell::Number(dimension) => values.of(dimension).filter(|value| !matches!(*value, UNKNOWN | UNTOLD)).into(),
        Cell::Text(dimension) => values.of(dimension).and_then(|value| names.text(dimension, value)).into(),
        Cell::Depth(dimension) => {
            let text = values.of(dimension).and_then(|value| names.text(dimension, value));
            text.map(|path| paths::depth(&path)).into()
        }
        Cell::Branch(dimension) => {
            values.of(dimension).and_then(|value| names.text(dimension, value)).map(|path| paths::branch(&path)).into()
        }
        Cell::Stack(dimension) => match values.of(dimension).and_then(|value| names.text(dimension, value)) {
            Some(text) => Value::List(text.lines().map(str::to_owned).collect()),
            None => Value::None,
        },
        Cell::StackNumber(dimension) => {
            values.of(dimension).and_then(|value| names.stack_number(dimension, value)).into()
        }
        Cell::Measure(_) | Cell::Rows | Cell::Stacks => Value::None,
    }
}
