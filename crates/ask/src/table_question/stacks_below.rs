//! The stacks with most of a figure below each row of an answer, and the numbers of stacks.

use rustc_hash::FxHashMap;
use tracesift_analysis::{MethodId, MethodSource as _};
use tracesift_extract::stack_methods::NamedStacks;
use tracesift_trace::StackId;

#[cfg(test)]
use super::TableQuestion;
use super::asked::Asked;
use super::groups::Group;
use super::names::Names;
use super::plan::Plan;
use super::reading::Read;
use super::stated::Stated;
use crate::answer::{Column, ColumnOf, Kind, Table, Value};
use crate::order::Top;

/// Which figures the stacks below a row have.
#[derive(Clone, Copy, Debug)]
pub struct StacksBelow {
    /// The keys of the measures. They add up row by row.
    pub figures: &'static [&'static str],
    /// The key of the measure by which the stacks are sorted, unless `--sort` names one of the others.
    pub sort: &'static str,
}

/// How many stacks stand below a row, unless `--top-stacks` says otherwise.
pub(super) const USUAL: Top = Top { take: Some(10), skip: 0 };

/// The column of the tables of stacks.
pub(super) const STACKS: Column = ColumnOf::<()>::always(
    "stacks",
    "Stacks",
    Kind::Table,
    |()| Value::None,
    "With `--details` or `--top-stacks` the stacks with most in the row: objects with `stack_number`, their figures, and `stack`.",
)
.column;

/// The number of a stack.
pub(super) const NUMBER: Column = ColumnOf::<()>::details(
    "stack_number",
    "Stack",
    Kind::Id,
    |()| Value::None,
    "Number of the stack, for `--stack N`: the same in all answers about the archive. Stacks of equal functions have one number.",
)
.column;

/// Number of each list of functions that rows have: the first stack of the archive with these functions.
#[derive(Debug, Default)]
pub(super) struct StackNumbers {
    /// The value of each list of functions.
    values: FxHashMap<Box<[MethodId]>, i64>,
    first: FxHashMap<i64, i64>,
    /// The functions at hand.
    methods: Vec<MethodId>,
}

impl StackNumbers {
    /// The value of a stack; `new` makes the value of functions that no stack had before.
    pub(super) fn value(
        &mut self,
        named: &NamedStacks,
        number: i64,
        new: impl FnOnce(&[MethodId]) -> i64,
    ) -> Option<i64> {
        self.methods.clear();
        (&named.stacks).stack(StackId(i32::try_from(number).ok()?), &mut self.methods);
        if self.methods.is_empty() {
            return None;
        }
        if let Some(value) = self.values.get(&*self.methods) {
            return Some(*value);
        }
        let value = new(&self.methods);
        self.values.insert(self.methods.as_slice().into(), value);
        Some(value)
    }

    /// Looks for the first stack of each value.
    pub(super) fn find(&mut self, named: &NamedStacks) {
        let values = self.values.values().collect::<rustc_hash::FxHashSet<_>>().len();
        for number in 0..named.stacks.stacks().numbered() {
            if self.first.len() == values {
                return;
            }
            let Ok(stack) = i32::try_from(number) else { return };
            self.methods.clear();
            (&named.stacks).stack(StackId(stack), &mut self.methods);
            if let Some(value) = self.values.get(&*self.methods) {
                self.first.entry(*value).or_insert(i64::from(stack));
            }
        }
    }

    /// The number of a value.
    pub(super) fn of(&self, value: i64) -> Option<i64> {
        self.first.get(&value).copied()
    }
}

/// Whether stacks of these numbers have the same functions.
pub(super) fn are_equal(named: &NamedStacks, stacks: [i64; 2]) -> bool {
    let methods = stacks.map(|number| {
        let mut methods = Vec::new();
        if let Ok(stack) = i32::try_from(number) {
            (&named.stacks).stack(StackId(stack), &mut methods);
        }
        methods
    });
    stacks[0] == stacks[1] || (!methods[0].is_empty() && methods[0] == methods[1])
}

/// The places of the figures, and of the one by which stacks are sorted.
fn measures(stated: &Stated, of: StacksBelow, sort: Option<usize>) -> (Vec<usize>, usize) {
    let places: Vec<usize> = of.figures.iter().map(|key| stated.measure_of(key)).collect();
    let sort = sort.filter(|place| places.contains(place));
    (places, sort.unwrap_or_else(|| stated.measure_of(of.sort)))
}

/// The figures that a reading adds up for the stacks.
pub(super) fn needed(stated: &Stated) -> Vec<usize> {
    stated.stacks_below.map_or_else(Vec::new, |of| measures(stated, of, None).0)
}

/// The columns of a stack.
fn columns(stated: &Stated, figures: &[usize], dimension: usize) -> Vec<Column> {
    let number = Column { view: crate::answer::View::Always, ..NUMBER };
    let figures = figures.iter().map(|place| stated.measures[*place].column);
    [number].into_iter().chain(figures).chain(stated.dimensions[dimension].column).collect()
}

/// The stacks with most in a group, ascending.
pub(super) fn of_group(
    asked: &Asked,
    top: Top,
    plan: &Plan,
    names: &mut Names<'_>,
    (group, read): (&Group, &Read<'_>),
) -> Value {
    let stated = &*plan.stated;
    let Some((of, dimension)) = stated.stacks_below.zip(stated.stacks()) else { return Value::None };
    let (figures, sort) = measures(stated, of, asked.sort);
    let key = plan.key_of(dimension);
    let mut stacks: FxHashMap<i64, Vec<i64>> = FxHashMap::default();
    for place in &group.places {
        let number = read.numbers[*place as usize * read.width..][key];
        let value = names.value(dimension, number);
        let sums = stacks.entry(value).or_insert_with(|| vec![0; figures.len() + 1]);
        let figure = |measure: &usize| plan.cells[*measure].map_or(0, |cell| read.sums.cell(*place as usize, cell));
        let of_place = figures.iter().chain([&sort]).map(figure);
        sums.iter_mut().zip(of_place).for_each(|(sum, more)| *sum = sum.saturating_add(more));
    }
    // A stack without any of it is no leak.
    let mut stacks: Vec<(i64, String, i64, Vec<i64>)> = stacks
        .into_iter()
        .filter_map(|(value, mut sums)| {
            let figure = sums.pop().filter(|figure| *figure != 0)?;
            Some((figure, names.text(dimension, value).unwrap_or_default(), value, sums))
        })
        .collect();
    stacks.sort();
    top.apply(&mut stacks);
    let row = |(_, text, value, sums): (i64, String, i64, Vec<i64>)| -> Vec<Value> {
        let number = names.stack_number(dimension, value);
        let lines = Value::List(text.lines().map(str::to_owned).collect());
        [number.into()].into_iter().chain(sums.into_iter().map(Value::from)).chain([lines]).collect()
    };
    let rows = stacks.into_iter().map(row).collect();
    Value::Table(Table { columns: columns(stated, &figures, dimension), rows, is_sparse: false })
}

/// Checks that the figures are sums of single rows.
#[cfg(test)]
pub(super) fn check<Q: TableQuestion>() {
    if let Some(of) = Q::STACKS_BELOW {
        let stated = Stated::of::<Q>();
        let (figures, sort) = measures(&stated, of, None);
        assert!(figures.contains(&sort) && stated.stacks().is_some(), "{}", Q::NAME);
        assert!(figures.iter().all(|place| super::stacks::adds_up(stated.measures[*place].how)), "{}", Q::NAME);
    }
}
