//! Names of the rows of another table, each made when an answer shows it.

use std::fmt;

use rustc_hash::FxHashMap;

/// Names of the rows of a table by their numbers. Of hundreds of rows an answer names ten.
pub(crate) struct RowNames {
    /// Places of the rows by their numbers.
    places: FxHashMap<i64, usize>,
    /// The name of the row at a place.
    name: Box<dyn Fn(usize) -> Option<String>>,
}

impl RowNames {
    /// The names of these rows: `number` and `name` are those of one row. Of rows with the same number the last one counts.
    pub(crate) fn new<R: 'static>(rows: Vec<R>, number: fn(&R) -> i64, name: impl Fn(&R) -> String + 'static) -> Self {
        let places = rows.iter().enumerate().map(|(place, row)| (number(row), place)).collect();
        Self { places, name: Box::new(move |place| rows.get(place).map(&name)) }
    }

    /// The name of a number.
    pub(crate) fn of(&self, number: i64) -> Option<String> {
        self.places.get(&number).and_then(|place| (self.name)(*place))
    }

    /// All numbers with their names.
    pub(crate) fn all(&self) -> impl Iterator<Item = (i64, String)> {
        self.places.iter().filter_map(|(number, place)| Some((*number, (self.name)(*place)?)))
    }
}

impl fmt::Debug for RowNames {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RowNames").field("places", &self.places.len()).finish_non_exhaustive()
    }
}
