//! The values of a dimension that the rows of an archive have.

use rustc_hash::FxHashMap;
use tracesift_archive::{Archive, Error};

use super::dimension::ValueOf;
use super::names::Interner;
use super::places::UNTOLD;
use super::{Needed, TableQuestion, scan_rows};

/// Values, each with the number of its rows.
#[derive(Debug, Default)]
pub(super) struct Tally {
    /// Number of rows by number.
    pub(super) numbers: FxHashMap<i64, i64>,
    /// The texts of the numbers, where rows have texts.
    texts: Interner,
}

impl Tally {
    fn add(&mut self, number: i64) {
        *self.numbers.entry(number).or_default() += 1;
    }

    /// Adds the number of a row.
    fn add_number(&mut self, number: Option<i64>) {
        if let Some(number) = number.filter(|number| *number != UNTOLD) {
            self.add(number);
        }
    }

    /// Adds the text of a row.
    fn add_text(&mut self, text: Option<&str>) {
        if let Some(text) = text {
            let number = self.texts.number(text);
            self.add(number);
        }
    }

    /// Adds the texts of a row.
    fn add_texts(&mut self, texts: Option<&Vec<String>>) {
        texts.into_iter().flatten().for_each(|text| self.add_text(Some(text)));
    }

    /// The texts, each with the number of its rows.
    pub(super) fn into_texts(self) -> Vec<(String, i64)> {
        let Self { numbers, texts } = self;
        let named = |(number, rows)| Some((texts.text(number)?.to_owned(), rows));
        numbers.into_iter().filter_map(named).collect()
    }
}

/// The numbers or texts of a dimension that all rows have, whatever is asked. Of other dimensions none.
pub(super) fn of<Q: TableQuestion>(archive: &Archive, dimension: usize) -> Result<Tally, Error> {
    let value = Q::DIMENSIONS[dimension].value;
    let mut tally = Tally::default();
    scan_rows::<Q>(archive, None, Needed::own::<Q>(), &mut |row| match value {
        ValueOf::Number(number) => tally.add_number(number(row)),
        ValueOf::Text(text) => tally.add_text(text(row)),
        ValueOf::Texts(texts) => tally.add_texts(texts(row)),
        ValueOf::Process | ValueOf::Thread(_) | ValueOf::Code(_) | ValueOf::Stack(_) => {}
    })?;
    Ok(tally)
}
