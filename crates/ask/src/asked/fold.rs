//! How an answer becomes one figure: the values of a column together, or a figure above the rows.

use tracesift_grammar::Pattern;

use crate::answer::{Column, Kind, Section, Value};

/// How an answer becomes one figure: `sum pause_sum_ns`, `max count where type=System.*`, `head waited for DNS`.
#[derive(Clone, Debug)]
pub(crate) struct Fold {
    /// How.
    pub(crate) how: How,
    /// The column, or the label of a figure above the rows.
    pub(crate) key: String,
    /// Only rows whose value in this column fits.
    pub(crate) kept: Option<(String, Pattern)>,
}

/// What is done with several values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum How {
    /// They are added up.
    Sum,
    /// The largest counts.
    Max,
    /// The smallest counts.
    Min,
    /// Their number is the figure.
    Count,
    /// The figure stands above the rows: a total that their figures do not add up to.
    Head,
}

/// The figure of the values of a column.
pub(super) enum Folded {
    /// No row is there to have it.
    Nothing,
    /// No row has it.
    Untold,
    /// The figure, with the kind of the column.
    Figure(Kind, f64),
}

impl Fold {
    /// The sum of a column.
    pub(crate) fn sum(key: &str) -> Self {
        Self { how: How::Sum, key: key.to_owned(), kept: None }
    }

    /// Reads `sum KEY`, `max KEY where OTHER=PATTERN`, or `head LABEL`.
    pub(crate) fn read(text: &str) -> Result<Self, String> {
        let words: Vec<&str> = text.split_whitespace().collect();
        let (how, key, kept) = match words.as_slice() {
            ["head", first, rest @ ..] => {
                let key = rest.iter().fold((*first).to_owned(), |label, word| format!("{label} {word}"));
                return Ok(Self { how: How::Head, key, kept: None });
            }
            [how, key] => (*how, *key, None),
            [how, key, "where", kept] => {
                let (column, pattern) = kept.split_once('=').ok_or_else(|| format!("`{kept}` is not KEY=PATTERN"))?;
                (*how, *key, Some((column.to_owned(), Pattern::new(pattern))))
            }
            _ => return Err(format!("`{text}` is not sum, max, min or count with a column, or head with a label")),
        };
        let how = match how {
            "sum" => How::Sum,
            "max" => How::Max,
            "min" => How::Min,
            "count" => How::Count,
            other => return Err(format!("`{other}` is none of sum, max, min and count")),
        };
        Ok(Self { how, key: key.to_owned(), kept })
    }

    pub(super) fn apply(&self, columns: &[Column], section: &Section) -> Folded {
        if self.how == How::Head {
            return self.above(section);
        }
        let rows = &section.rows;
        let place = |key: &str| columns.iter().position(|column| column.key == key);
        let Some((place_of_figure, kind)) = place(&self.key).map(|place| (place, columns[place].kind)) else {
            return Folded::Untold;
        };
        let is_kept = |row: &&Vec<Value>| match &self.kept {
            None => true,
            Some((key, pattern)) => place(key).and_then(|place| row.get(place)).is_some_and(|value| match value {
                Value::Text(text) => pattern.matches(text),
                Value::Bool(value) => pattern.matches(if *value { "true" } else { "false" }),
                _ => false,
            }),
        };
        let kept: Vec<&Vec<Value>> = rows.iter().filter(is_kept).collect();
        if self.how == How::Count {
            let is_there = |row: &&&Vec<Value>| !matches!(row.get(place_of_figure), None | Some(Value::None));
            return Folded::Figure(Kind::Count, kept.iter().filter(is_there).count() as f64);
        }
        let number = |row: &&Vec<Value>| match row.get(place_of_figure) {
            Some(Value::Int(number)) => Some(*number as f64),
            Some(Value::Float(number)) => Some(*number),
            _ => None,
        };
        let figures: Vec<f64> = kept.iter().filter_map(number).collect();
        let figure = match self.how {
            How::Max => figures.iter().copied().reduce(f64::max),
            How::Min => figures.iter().copied().reduce(f64::min),
            How::Sum | How::Count | How::Head => (!figures.is_empty() || kept.is_empty()).then(|| figures.iter().sum()),
        };
        match figure {
            Some(figure) => Folded::Figure(kind, figure),
            None if kept.is_empty() => Folded::Nothing,
            None => Folded::Untold,
        }
    }

    /// The figure with that label above the rows of an answer.
    fn above(&self, section: &Section) -> Folded {
        let fact = section.facts.iter().find(|fact| fact.label == self.key);
        match fact.map(|fact| (fact.kind, &fact.value)) {
            Some((kind, Value::Int(number))) => Folded::Figure(kind, *number as f64),
            Some((kind, Value::Float(number))) => Folded::Figure(kind, *number),
            _ => Folded::Untold,
        }
    }
}
