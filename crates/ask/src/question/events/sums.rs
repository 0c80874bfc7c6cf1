//! Figures of a field over many events.

use std::cmp::{Ordering, Reverse};

use rustc_hash::FxHashMap;
use tracesift_etl::schema::Value as Field;

use crate::answer::Value;
use crate::events::Names;

/// Numbers that are kept for percentiles, of all rows together: 8 bytes each.
const MOST_NUMBERS: usize = 16 << 20;
/// Entries of a text in a row, of all rows together.
const MOST_TEXTS: usize = 4 << 20;
/// Texts of a row that are named.
const NAMED_TEXTS: usize = 10;

/// How much may still be kept.
#[derive(Clone, Copy, Debug)]
pub(super) struct Budget {
    numbers: usize,
    texts: usize,
}

impl Default for Budget {
    fn default() -> Self {
        Self { numbers: MOST_NUMBERS, texts: MOST_TEXTS }
    }
}

impl Budget {
    /// A budget that ends soon.
    #[cfg(test)]
    pub(super) fn of(numbers: usize, texts: usize) -> Self {
        Self { numbers, texts }
    }
}

/// A number of a field.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Number {
    Whole(i128),
    Fraction(f64),
}

impl Number {
    /// The number of a value, if it is one. `true` and `false` are words.
    fn of(value: &Field<'_>) -> Option<Self> {
        match value {
            Field::Signed(number) => Some(Self::Whole((*number).into())),
            Field::Unsigned(number) | Field::Hex(number) => Some(Self::Whole((*number).into())),
            Field::Double(number) => Some(Self::Fraction(*number)).filter(|_| number.is_finite()),
            _ => None,
        }
    }

    fn float(self) -> f64 {
        match self {
            Self::Whole(number) => number as f64,
            Self::Fraction(number) => number,
        }
    }

    fn compare(self, other: Self) -> Ordering {
        match (self, other) {
            (Self::Whole(left), Self::Whole(right)) => left.cmp(&right),
            _ => self.float().total_cmp(&other.float()),
        }
    }

    /// Whole numbers stay exact as far as an answer has room for them.
    fn value(self) -> Value {
        match self {
            Self::Whole(number) => i64::try_from(number).map_or_else(|_| Value::Float(number as f64), Value::Int),
            Self::Fraction(number) => Value::Float(number),
        }
    }
}

/// The values of a field.
#[derive(Clone, Debug, Default)]
pub(super) struct FieldSum {
    /// Events that have the field.
    pub(super) events: u64,
    numbers: u64,
    whole: i128,
    /// Sum of the numbers with a fraction; `None`: there are none.
    fraction: Option<f64>,
    min: Option<Number>,
    max: Option<Number>,
    kept: Vec<f64>,
    /// Not all numbers are kept.
    lacks_numbers: bool,
    texts: FxHashMap<u32, u64>,
    /// Not all texts are kept.
    lacks_texts: bool,
}

impl FieldSum {
    /// Takes a value. An array's elements are values each; nothing is no value.
    pub(super) fn add(&mut self, value: &Field<'_>, names: &mut Names, budget: &mut Budget) {
        match Number::of(value) {
            Some(number) => self.add_number(number, budget),
            None if matches!(value, Field::Sid(None)) => {}
            None => match value {
                Field::Text(text) => self.add_text(text, names, budget),
                other => self.add_text(&other.to_string(), names, budget),
            },
        }
    }

    fn add_number(&mut self, number: Number, budget: &mut Budget) {
        self.numbers += 1;
        match number {
            Number::Whole(number) => self.whole = self.whole.saturating_add(number),
            Number::Fraction(number) => *self.fraction.get_or_insert(0.0) += number,
        }
        let is_beyond = |known: Option<Number>, order| known.is_none_or(|known| number.compare(known) == order);
        if is_beyond(self.min, Ordering::Less) {
            self.min = Some(number);
        }
        if is_beyond(self.max, Ordering::Greater) {
            self.max = Some(number);
        }
        if self.lacks_numbers {
            return;
        }
        if budget.numbers == 0 {
            self.lacks_numbers = true;
            budget.numbers = std::mem::take(&mut self.kept).len();
            return;
        }
        budget.numbers -= 1;
        self.kept.push(number.float());
    }

    fn add_text(&mut self, text: &str, names: &mut Names, budget: &mut Budget) {
        if self.lacks_texts {
            return;
        }
        let name = names.number(text);
        if let Some(count) = name.and_then(|name| self.texts.get_mut(&name)) {
            *count += 1;
            return;
        }
        match name.filter(|_| budget.texts > 0) {
            Some(name) => {
                budget.texts -= 1;
                self.texts.insert(name, 1);
            }
            None => {
                self.lacks_texts = true;
                budget.texts = budget.texts.saturating_add(std::mem::take(&mut self.texts).len());
            }
        }
    }

    /// Whether a figure is not known because too much would have to be kept.
    pub(super) fn lacks_something(&self) -> bool {
        self.lacks_numbers || self.lacks_texts
    }

    /// Makes ready for the figures.
    pub(super) fn finish(&mut self) {
        self.kept.sort_unstable_by(f64::total_cmp);
    }

    /// Number of the numbers.
    pub(super) fn numbers(&self) -> u64 {
        self.numbers
    }

    /// A figure, of a field that is [finished](Self::finish).
    pub(super) fn figure(&self, figure: Figure) -> Value {
        let known = self.numbers > 0;
        match figure {
            Figure::Sum => match self.fraction {
                _ if !known => Value::None,
                Some(fraction) => Value::Float(self.whole as f64 + fraction),
                None => Number::Whole(self.whole).value(),
            },
            Figure::Min => self.min.map_or(Value::None, Number::value),
            Figure::Max => self.max.map_or(Value::None, Number::value),
            Figure::Mean if known => {
                Value::Float((self.whole as f64 + self.fraction.unwrap_or(0.0)) / self.numbers as f64)
            }
            Figure::Mean => Value::None,
            Figure::P50 => percentile(&self.kept, 0.5),
            Figure::P95 => percentile(&self.kept, 0.95),
            Figure::P99 => percentile(&self.kept, 0.99),
            Figure::Distinct if self.lacks_texts => Value::None,
            Figure::Distinct => {
                if self.texts.is_empty() {
                    Value::None
                } else {
                    self.texts.len().into()
                }
            }
            Figure::Count => self.events.into(),
        }
    }

    /// The most frequent texts, each with its number.
    pub(super) fn texts(&self, names: &Names) -> Value {
        if self.texts.is_empty() {
            return Value::None;
        }
        let mut texts: Vec<(&str, u64)> = self.texts.iter().map(|(name, count)| (names.text(*name), *count)).collect();
        texts.sort_by_key(|(text, count)| (Reverse(*count), *text));
        texts.truncate(NAMED_TEXTS);
        Value::Map(texts.into_iter().map(|(text, count)| (text.to_owned(), count.into())).collect())
    }
}

/// A figure of a field.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub enum Figure {
    /// Events
    #[default]
    Count,
    /// Sum of the numbers
    Sum,
    /// Smallest number
    Min,
    /// Largest number
    Max,
    /// Mean of the numbers
    Mean,
    /// Median
    P50,
    /// Number below which 95 % lie
    P95,
    /// Number below which 99 % lie
    P99,
    /// Number of distinct texts
    Distinct,
}

/// The number of rank (N − 1) · p + 1 among ascending ones, interpolated between neighbours, as for all percentiles.
fn percentile(sorted: &[f64], p: f64) -> Value {
    let index = sorted.len().saturating_sub(1) as f64 * p;
    let at = |index: f64| sorted.get(index as usize).copied();
    match (at(index.floor()), at(index.ceil())) {
        (Some(lower), Some(upper)) => Value::Float(lower + (upper - lower) * (index - index.floor())),
        _ => Value::None,
    }
}
