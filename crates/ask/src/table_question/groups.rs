//! Groups: places whose rows are one row of the answer.

use rustc_hash::{FxHashMap, FxHashSet};
use tracesift_analysis::{Distribution, IntervalUnion, Span};

use super::asked::Asked;
use super::dimension::Of;
use super::names::Names;
use super::places::{UNKNOWN, UNTOLD};
use super::plan::{NO_FIGURE, Plan, ROWS};
use super::reading::Read;
use super::sums::{Alive, Figures, TextCounts};

/// One row of the answer on its way.
#[derive(Debug)]
pub(super) struct Group {
    /// The values of the dimensions by which rows are grouped.
    pub(super) values: Vec<i64>,
    /// The places of its rows.
    pub(super) places: Vec<u32>,
    /// The cells of the plan.
    pub(super) cells: Vec<i64>,
    /// The time that the rows cover.
    pub(super) covered: IntervalUnion,
    /// The same by value of the dimension for whose values times are united.
    pub(super) covered_by: FxHashMap<i64, IntervalUnion>,
    /// The times of the rows.
    pub(super) times: Distribution,
    /// Begins and ends of the rows.
    pub(super) lives: Vec<Alive>,
    /// Things that the rows are about, with their figures.
    pub(super) once: Vec<(i64, i64)>,
    /// Of each dimension that measures are about the number of rows by value; the value of some may be unknown.
    pub(super) about: Vec<FxHashMap<i64, i64>>,
    /// Of each measure of sums by value the sums.
    pub(super) sums_by: Vec<FxHashMap<i64, i64>>,
    /// The time range.
    pub(super) range: Span,
    /// How long the times are in which rows count; `None`: processes have different ones.
    pub(super) length: Option<i64>,
    /// How long the processes of the rows lived in these times, where that is asked for and known.
    pub(super) lived: Option<i64>,
    /// Number of rows by text, for each list of texts of the plan.
    pub(super) texts: Vec<TextCounts>,
}

/// The groups of a range.
#[derive(Debug)]
pub(super) struct Groups {
    pub(super) groups: Vec<Group>,
    /// All rows as one group, where a row can be in several groups.
    pub(super) all: Option<Group>,
}

/// A group that is being added up.
#[derive(Clone, Default)]
struct Sum {
    values: Vec<i64>,
    places: Vec<u32>,
    figures: Figures,
    about: Vec<FxHashMap<i64, i64>>,
    sums_by: Vec<FxHashMap<i64, i64>>,
    covered_by: FxHashMap<i64, IntervalUnion>,
    /// The numbers of the processes of the rows, where their lives are added up.
    processes: FxHashSet<i64>,
}

/// The groups of each range; `spans` are the ranges inside of the recording.
pub(super) fn of_ranges(
    asked: &Asked,
    plan: &Plan,
    read: &mut Read<'_>,
    spans: &[Span],
    names: &mut Names<'_>,
) -> Vec<Groups> {
    let in_ranges = std::mem::take(&mut read.in_ranges);
    let ranges = in_ranges.into_iter().zip(spans);
    ranges.map(|(places, span)| of_range(asked, plan, read, (&places, *span), names)).collect()
}

fn of_range(
    asked: &Asked,
    plan: &Plan,
    read: &mut Read<'_>,
    (places, span): (&[(u32, u32)], Span),
    names: &mut Names<'_>,
) -> Groups {
    let mut known: FxHashMap<Vec<i64>, usize> = FxHashMap::default();
    let mut groups: Vec<Sum> = Vec::new();
    let has_texts = plan.by.iter().any(|dimension| matches!(plan.stated.dimensions[*dimension].of, Of::Texts));
    let has_lists = has_texts || asked.tree;
    let mut all = has_lists.then(|| Sum::new(plan, Vec::new()));
    let mut values_of_place = Vec::new();
    let mut about = Vec::new();
    for (place, sums) in places {
        let numbers = &read.numbers[*place as usize * read.width..][..read.width];
        about.clear();
        about.extend(plan.about.iter().map(|dimension| names.value(*dimension, numbers[plan.key_of(*dimension)])));
        combinations(asked, plan, names, numbers, &mut values_of_place);
        let rows = read.sums.rows(*sums as usize);
        let figures = read.sums.take(*sums as usize);
        if let Some(all) = &mut all {
            all.add(plan, *place, rows, &about, figures.clone());
            all.add_process(plan, numbers);
        }
        let (last, others) =
            values_of_place.split_last().map_or((None, &[][..]), |(last, others)| (Some(last), others));
        let mut group = |values: &Vec<i64>| match known.get(values) {
            Some(group) => *group,
            None => {
                groups.push(Sum::new(plan, values.clone()));
                known.insert(values.clone(), groups.len() - 1);
                groups.len() - 1
            }
        };
        let others: Vec<usize> = others.iter().map(&mut group).collect();
        let last = last.map(&mut group);
        for group in &others {
            groups[*group].add(plan, *place, rows, &about, figures.clone());
            groups[*group].add_process(plan, numbers);
        }
        if let Some(last) = last {
            groups[last].add_process(plan, numbers);
            groups[last].add(plan, *place, rows, &about, figures);
        }
    }
    let length = match &plan.inside {
        Some(times) => times.length(span),
        None => Some(span.length()),
    };
    let group = |sum: Sum| {
        let lived = if plan.adds_lives { lived(plan, names, &sum.processes, span) } else { None };
        sum.group(span, length, lived)
    };
    Groups { groups: groups.into_iter().map(group).collect(), all: all.map(group) }
}

/// How long processes lived in a range, in the times in which rows count. `None`: one of them is not known.
fn lived(plan: &Plan, names: &Names<'_>, processes: &FxHashSet<i64>, range: Span) -> Option<i64> {
    processes.iter().try_fold(0_i64, |sum, number| {
        let row = names.process(*number)?;
        // One without a begin ran before the recording, one without an end ran on.
        let life = Span::new(row.start.unwrap_or(i64::MIN), row.end.unwrap_or(i64::MAX)).intersect(range);
        let length = match &plan.inside {
            None => life.length(),
            Some(times) => {
                let spans = times.touching(Some(row.process), life.start, life.end).iter();
                spans.map(|span| span.intersect(life).length()).fold(0, i64::saturating_add)
            }
        };
        Some(sum.saturating_add(length))
    })
}

/// The values of the groups in which the rows of a place are: one group, or one for each text of a list that the filters let pass, or
/// for each node of a tree above its path.
fn combinations(asked: &Asked, plan: &Plan, names: &mut Names<'_>, numbers: &[i64], all: &mut Vec<Vec<i64>>) {
    // Almost always there is one combination, whose memory serves again.
    all.truncate(1);
    match all.first_mut() {
        Some(values) => values.clear(),
        None => all.push(Vec::with_capacity(plan.by.len())),
    }
    for dimension in &plan.by {
        let number = numbers[plan.key_of(*dimension)];
        if asked.tree {
            let with = |values: &Vec<i64>, path: i64| values.iter().copied().chain([path]).collect();
            let paths = names.steps(*dimension, number, asked.dir_level);
            *all = all.iter().flat_map(|values| paths.iter().map(|path| with(values, *path))).collect();
            continue;
        }
        let Of::Texts = plan.stated.dimensions[*dimension].of else {
            let value = names.value(*dimension, number);
            all.iter_mut().for_each(|values| values.push(value));
            continue;
        };
        let wanted = asked.patterns.iter().find(|(filtered, _)| filtered == dimension).map(|(_, wanted)| wanted);
        let texts = names.texts_of_list(*dimension, number, wanted);
        let with = |values: &Vec<i64>, text: i64| values.iter().copied().chain([text]).collect();
        *all = all.iter().flat_map(|values| texts.iter().map(|text| with(values, *text))).collect();
    }
}

impl Sum {
    fn new(plan: &Plan, values: Vec<i64>) -> Self {
        Self {
            values,
            about: vec![FxHashMap::default(); plan.about.len()],
            sums_by: vec![FxHashMap::default(); plan.sums_by.len()],
            ..Self::default()
        }
    }

    /// Adds the rows of a place; `about` has its values of the dimensions that measures are about.
    fn add(&mut self, plan: &Plan, place: u32, rows: i64, about: &[i64], figures: Figures) {
        self.places.push(place);
        for (counts, value) in self.about.iter_mut().zip(about) {
            let count = counts.entry(*value).or_default();
            *count = count.saturating_add(rows);
        }
        for (sums, (_, dimension, cell)) in self.sums_by.iter_mut().zip(&plan.sums_by) {
            let figure = figures.cells.get(*cell).copied().filter(|figure| *figure != NO_FIGURE);
            if let (Some(figure), Some(value)) = (figure, about.get(*dimension)) {
                let sum = sums.entry(*value).or_default();
                *sum = sum.saturating_add(figure);
            }
        }
        let united = plan.united_by.and_then(|dimension| plan.about.iter().position(|about| *about == dimension));
        if let Some(value) = united.and_then(|place| about.get(place)) {
            self.covered_by.entry(*value).or_default().append(figures.union.clone());
        }
        self.figures.add(plan, figures);
    }

    /// The first number of a place is its process.
    fn add_process(&mut self, plan: &Plan, numbers: &[i64]) {
        if plan.adds_lives {
            self.processes.extend(numbers.first());
        }
    }

    fn group(self, range: Span, length: Option<i64>, lived: Option<i64>) -> Group {
        let Self { values, places, figures, about, sums_by, covered_by, processes: _ } = self;
        Group {
            values,
            places,
            cells: figures.cells,
            covered: figures.union,
            covered_by,
            range,
            length,
            lived,
            times: Distribution::new(figures.times),
            lives: figures.lives,
            once: figures.once,
            about,
            sums_by,
            texts: figures.texts,
        }
    }
}

impl Group {
    /// Number of rows; 0 of no places.
    pub(super) fn rows(&self) -> i64 {
        self.cells.get(ROWS).copied().unwrap_or(0)
    }

    /// Number of rows by known value of a dimension that measures are about.
    pub(super) fn known(&self, plan: &Plan, dimension: usize) -> impl Iterator<Item = (i64, i64)> {
        let place = plan.about.iter().position(|about| *about == dimension);
        let counts = place.and_then(|place| self.about.get(place));
        counts
            .into_iter()
            .flatten()
            .map(|(value, rows)| (*value, *rows))
            .filter(|(value, rows)| !matches!(*value, UNKNOWN | UNTOLD) && *rows > 0)
    }
}
