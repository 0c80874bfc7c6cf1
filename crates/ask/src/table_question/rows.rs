//! Rows of the answer: figures of groups in order, with totals.

use super::groups::Group;
use super::layout::{self, Cell};
use super::measure::{How, Measure};
use super::names::{Names, Order};
use super::plan::{NO_FIGURE, Plan, dimension_of, measure_of};
use super::{Question, TableQuestion};
use crate::answer::{Fact, Value};
use crate::process_columns::name_with_marks;
use crate::threads;

/// The rows of the groups, ascending, and the totals over all of them.
pub(super) fn of_groups<Q: TableQuestion>(
    question: &Question<Q>,
    plan: &Plan<Q::Row>,
    names: &Names<'_, Q::Row>,
    mut groups: Vec<Group>,
) -> (Vec<Vec<Value>>, Vec<Fact>) {
    let facts = totals::<Q>(plan, &mut groups);
    let mut ordered: Vec<(i64, Vec<Order>, Group)> = groups
        .into_iter()
        .map(|mut group| {
            let figure = question.sort.and_then(|place| figure::<Q>(plan, &mut group, place)).unwrap_or(0);
            let order = |(dimension, value): (&usize, &i64)| names.order(*dimension, *value);
            (figure, plan.by.iter().zip(&group.values).map(order).collect(), group)
        })
        .collect();
    ordered.sort_by(|(a, a_names, _), (b, b_names, _)| a.cmp(b).then_with(|| a_names.cmp(b_names)));
    question.top.apply(&mut ordered);
    let cells = layout::cells::<Q>();
    let row = |(_, _, mut group): (i64, Vec<Order>, Group)| {
        cells.iter().map(|(_, cell)| value::<Q>(plan, names, &mut group, *cell)).collect()
    };
    (ordered.into_iter().map(row).collect(), facts)
}

/// The totals that the heading of a file shows.
fn totals<Q: TableQuestion>(plan: &Plan<Q::Row>, groups: &mut [Group]) -> Vec<Fact> {
    let measures = || Q::MEASURES.iter().enumerate();
    let sums_of_groups = measures().filter_map(|(place, measure)| Some((place, measure, measure.sum_of_groups?)));
    let sum = |(place, measure, label): (usize, &Measure<Q::Row>, &'static str)| {
        let figures = groups.iter_mut().filter_map(|group| figure::<Q>(plan, group, place));
        Fact::new(label, measure.column.kind, figures.fold(0, i64::saturating_add))
    };
    let sums: Vec<Fact> = sums_of_groups.map(sum).collect();
    let with_total = measures().filter_map(|(place, measure)| Some((place, measure, measure.total?)));
    let totals = with_total.map(|(place, measure, label)| {
        let total = match measure.how {
            How::Union => {
                let mut all = tracesift_analysis::IntervalUnion::default();
                groups.iter().for_each(|group| all.append(group.covered.clone()));
                all.covered()
            }
            How::Max(_) | How::Longest => {
                groups.iter_mut().filter_map(|group| figure::<Q>(plan, group, place)).max().unwrap_or(0)
            }
            _ => {
                let figures = groups.iter_mut().filter_map(|group| figure::<Q>(plan, group, place));
                figures.fold(0, i64::saturating_add)
            }
        };
        Fact {
            adds_up: !matches!(measure.how, How::Max(_) | How::Longest),
            ..Fact::new(label, measure.column.kind, total)
        }
    });
    totals.chain(sums).collect()
}

/// The figure of a measure; `None`: it has none, or is a map.
fn figure<Q: TableQuestion>(plan: &Plan<Q::Row>, group: &mut Group, place: usize) -> Option<i64> {
    let cell = |group: &Group, after: usize| plan.cells[place].and_then(|cell| group.cells.get(cell + after)).copied();
    match Q::MEASURES[place].how {
        How::Rows => Some(group.rows()),
        How::RowsIf(_) | How::Sum(_) | How::Duration | How::Shortest | How::Longest => cell(group, 0),
        How::LongestStart => cell(group, 1),
        How::Max(_) => cell(group, 0).filter(|figure| *figure != NO_FIGURE),
        How::Union => Some(group.covered.covered()),
        How::Percentile(share) => group.times.percentile(share).map(|time| time.round() as i64),
        How::Mean([of, by]) => {
            let [of, by] = [of, by].map(|key| figure::<Q>(plan, group, measure_of::<Q>(key)));
            of?.checked_div(by?)
        }
        How::RowsWith(dimension) => {
            let dimension = dimension_of(Q::DIMENSIONS, dimension);
            Some(group.known(plan, dimension).map(|(_, rows)| rows).sum())
        }
        How::Distinct(dimension) => {
            let dimension = dimension_of(Q::DIMENSIONS, dimension);
            i64::try_from(group.known(plan, dimension).count()).ok()
        }
        How::Counts(_) | How::Texts(_) => None,
    }
}

/// The rows by text of a dimension, the most frequent value first.
fn counts<Q: TableQuestion>(plan: &Plan<Q::Row>, names: &Names<'_, Q::Row>, group: &Group, dimension: &str) -> Value {
    let dimension = dimension_of(Q::DIMENSIONS, dimension);
    let mut counts: Vec<(i64, i64)> = group.known(plan, dimension).collect();
    counts.sort_unstable_by_key(|(value, rows)| (-rows, *value));
    let named = |(value, rows): (i64, i64)| (names.text(dimension, value).unwrap_or_default(), rows.into());
    Value::Map(counts.into_iter().map(named).collect())
}

/// The rows by text of a list, the most frequent text first.
fn texts<R>(plan: &Plan<R>, group: &Group, measure: usize) -> Value {
    let list = plan.texts.iter().position(|(place, _)| *place == measure);
    let counts = list.and_then(|list| group.texts.get(list));
    let mut counts: Vec<(&str, i64)> = counts.into_iter().flatten().map(|(text, rows)| (&**text, *rows)).collect();
    counts.sort_unstable_by_key(|(text, rows)| (-rows, *text));
    Value::Map(counts.into_iter().map(|(text, rows)| (text.to_owned(), rows.into())).collect())
}

fn value<Q: TableQuestion>(plan: &Plan<Q::Row>, names: &Names<'_, Q::Row>, group: &mut Group, cell: Cell) -> Value {
    let value_of = |group: &Group, dimension: usize| {
        let place = plan.by.iter().position(|by| *by == dimension)?;
        group.values.get(place).copied()
    };
    let process = |group: &Group, dimension| value_of(group, dimension).and_then(|value| names.process(value));
    let thread = |group: &Group, dimension| value_of(group, dimension).and_then(|value| names.thread(value));
    match cell {
        Cell::Process(dimension) => process(group, dimension).map(|row| &row.name).into(),
        Cell::Pid(dimension) => process(group, dimension).map(|row| row.pid).into(),
        Cell::CommandLine(dimension) => process(group, dimension).and_then(|row| row.command_line.as_ref()).into(),
        Cell::Tid(dimension) => thread(group, dimension).map(|row| row.tid).into(),
        Cell::ThreadName(dimension) => thread(group, dimension).and_then(|row| row.name.as_ref()).into(),
        Cell::Who { process: of_process, thread: of_thread } => {
            let process = process(group, of_process);
            match of_thread.and_then(|dimension| thread(group, dimension)) {
                Some(thread) => threads::label(process, thread).into(),
                None => process.map(name_with_marks).into(),
            }
        }
        Cell::Number(dimension) => value_of(group, dimension).filter(|value| *value != super::places::UNKNOWN).into(),
        Cell::Text(dimension) => value_of(group, dimension).and_then(|value| names.text(dimension, value)).into(),
        Cell::Measure(place) => match Q::MEASURES[place].how {
            How::Counts(dimension) => counts::<Q>(plan, names, group, dimension),
            How::Texts(_) => texts(plan, group, place),
            _ => figure::<Q>(plan, group, place).into(),
        },
    }
}
