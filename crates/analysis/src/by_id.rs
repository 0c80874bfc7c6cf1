//! Values by the ids of table rows.

use rustc_hash::FxHashMap;

/// Finds values by id. Ids number the rows of their table, so that values stand in a list as they come; what a damaged archive
/// numbers otherwise goes to a map, since a list up to it could take any memory.
#[derive(Clone, Debug)]
pub(crate) struct ById<T> {
    rows: Vec<T>,
    others: FxHashMap<i32, T>,
}

impl<T> Default for ById<T> {
    fn default() -> Self {
        Self { rows: Vec::new(), others: FxHashMap::default() }
    }
}

impl<T> ById<T> {
    /// Adds a value; it takes the place of an earlier one of the same id.
    pub(crate) fn insert(&mut self, id: i32, value: T) {
        match usize::try_from(id) {
            Ok(row) if row < self.rows.len() => self.rows[row] = value,
            Ok(row) if row == self.rows.len() => self.rows.push(value),
            _ => {
                self.others.insert(id, value);
            }
        }
    }

    /// The value of an id; what `make` makes if it has none yet.
    #[inline]
    pub(crate) fn get_or_insert_with(&mut self, id: i32, make: impl FnOnce() -> T) -> &mut T {
        match usize::try_from(id) {
            Ok(row) if row < self.rows.len() => &mut self.rows[row],
            Ok(row) if row == self.rows.len() => {
                let value = self.others.remove(&id).unwrap_or_else(make);
                self.rows.push(value);
                &mut self.rows[row]
            }
            _ => self.others.entry(id).or_insert_with(make),
        }
    }

    /// What `of` makes of each value, under the same ids.
    pub(crate) fn map<U>(&self, of: impl Fn(&T) -> U) -> ById<U> {
        let others = self.others.iter().map(|(&id, value)| (id, of(value))).collect();
        ById { rows: self.rows.iter().map(&of).collect(), others }
    }

    /// All values.
    pub(crate) fn values(&self) -> impl Iterator<Item = &T> {
        self.rows.iter().chain(self.others.values())
    }

    /// How many values stand in the list: those of the ids from 0 on.
    pub(crate) fn listed(&self) -> usize {
        self.rows.len()
    }

    #[inline]
    pub(crate) fn get(&self, id: i32) -> Option<&T> {
        let row = usize::try_from(id).ok().and_then(|row| self.rows.get(row));
        row.or_else(|| self.others.get(&id))
    }

    #[inline]
    pub(crate) fn get_mut(&mut self, id: i32) -> Option<&mut T> {
        let row = usize::try_from(id).ok().and_then(|row| self.rows.get_mut(row));
        row.or_else(|| self.others.get_mut(&id))
    }
}

#[cfg(test)]
mod tests {
    use super::ById;

    #[test]
    fn the_last_value_of_an_id_is_found_in_whatever_order_they_came() {
        let mut values = ById::default();
        for (value, id) in (0..).zip([0, 2, -1, i32::MAX, 1, 2, 0, -1]) {
            values.insert(id, value);
        }
        let found = [0, 1, 2, 3, -1, -2, i32::MAX].map(|id| values.get(id).copied());
        assert_eq!(found, [Some(6), Some(4), Some(5), None, Some(7), None, Some(3)]);
        values.get_mut(2).into_iter().for_each(|value| *value = 9);
        assert_eq!(values.get(2), Some(&9));
        let filled = [2, 5, 3, 4, 5].map(|id| *values.get_or_insert_with(id, || id));
        assert_eq!(filled, [9, 5, 3, 4, 5]);
    }
}
