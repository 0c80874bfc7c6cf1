//! Columns that are chosen at run time.

use std::marker::PhantomData;

use super::View;

/// Some of the columns of a view. Reading leaves the others out, which then have their default value: for answers whose
/// columns say themselves what they need.
#[derive(Debug)]
pub struct ColumnSet<V> {
    /// A bit per field of the view.
    columns: u64,
    view: PhantomData<fn() -> V>,
}

// By hand, since it can be copied whatever the view is.
impl<V> Clone for ColumnSet<V> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<V> Copy for ColumnSet<V> {}

impl<V> PartialEq for ColumnSet<V> {
    fn eq(&self, other: &Self) -> bool {
        self.columns == other.columns
    }
}

impl<V> Eq for ColumnSet<V> {}

impl<V: View> ColumnSet<V> {
    /// All columns.
    pub const ALL: Self = Self { columns: u64::MAX, view: PhantomData };
    /// No column.
    pub const NONE: Self = Self { columns: 0, view: PhantomData };

    /// These columns. In a constant a column that the view does not have is an error of the compiler.
    ///
    /// # Panics
    /// When the view does not have one of them.
    #[must_use]
    pub const fn of(names: &[&str]) -> Self {
        let mut columns = 0;
        let mut at = 0;
        // Loops in place of iterators: these run in the compiler.
        while at < names.len() {
            match place(V::NAMES, names[at]) {
                Some(place) => columns |= 1 << place,
                None => panic!("there is no such column"),
            }
            at += 1;
        }
        Self { columns, view: PhantomData }
    }

    /// The fields of another view of the same table.
    ///
    /// # Panics
    /// When this view does not have one of them; in a constant that is an error of the compiler.
    #[must_use]
    pub const fn of_view<W: View<Row = V::Row>>() -> Self {
        Self::of(W::NAMES)
    }

    /// The columns of another table that have the same names, as far as it has them.
    #[must_use]
    pub const fn of_same_names<W: View>(self) -> ColumnSet<W> {
        let mut columns = 0;
        let mut at = 0;
        while at < W::NAMES.len() {
            if let Some(place) = place(V::NAMES, W::NAMES[at])
                && self.has(place)
            {
                columns |= 1 << at;
            }
            at += 1;
        }
        ColumnSet { columns, view: PhantomData }
    }

    /// The columns of either set.
    #[must_use]
    pub const fn and(self, other: Self) -> Self {
        Self { columns: self.columns | other.columns, view: PhantomData }
    }

    /// The columns of this set that the other one does not have.
    #[must_use]
    pub const fn without(self, other: Self) -> Self {
        Self { columns: self.columns & !other.columns, view: PhantomData }
    }

    /// Whether both sets have a column in common.
    #[must_use]
    pub const fn touches(self, other: Self) -> bool {
        self.columns & other.columns != 0
    }

    /// Whether the field at this place of the view is in the set.
    #[must_use]
    pub const fn has(self, place: usize) -> bool {
        self.columns >> place & 1 == 1
    }

    /// Names of the columns, in the order of the view.
    #[must_use]
    pub fn names(self) -> Vec<&'static str> {
        let names = V::NAMES.iter().enumerate().filter(|(place, _)| self.has(*place));
        names.map(|(_, name)| *name).collect()
    }
}

const fn place(names: &[&str], name: &str) -> Option<usize> {
    let mut at = 0;
    while at < names.len() {
        if is_same(names[at].as_bytes(), name.as_bytes()) {
            return Some(at);
        }
        at += 1;
    }
    None
}

const fn is_same(a: &[u8], b: &[u8]) -> bool {
    let mut at = 0;
    while at < a.len() && at < b.len() && a[at] == b[at] {
        at += 1;
    }
    at == a.len() && at == b.len()
}
