//! Which columns of a table a pass reads.

use std::marker::PhantomData;

use crate::table::Table;
use tracesift_trace::schema::TableDefinition;

/// Columns of the table `T`. What is left out is not read, and is the null, zero or empty value in the rows.
#[derive(Debug)]
pub struct Projection<T> {
    names: Option<&'static [&'static str]>,
    table: PhantomData<fn() -> T>,
}

// By hand, since it can be copied whatever the row type is.
impl<T> Clone for Projection<T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for Projection<T> {}

impl<T: Table> Projection<T> {
    /// All columns.
    pub const ALL: Self = Self { names: None, table: PhantomData };

    /// These columns. Made as a constant, a column that the table does not have is an error of the compiler:
    ///
    /// ```
    /// use tracesift_archive::Projection;
    /// use tracesift_trace::rows::MarkRow;
    ///
    /// const COLUMNS: Projection<MarkRow> = Projection::of(&["time", "text"]);
    /// ```
    ///
    /// ```compile_fail,E0080
    /// use tracesift_archive::Projection;
    /// use tracesift_trace::rows::MarkRow;
    ///
    /// const COLUMNS: Projection<MarkRow> = Projection::of(&["time", "txet"]);
    /// # fn main() { let _ = COLUMNS; }
    /// ```
    ///
    /// # Panics
    /// When the table does not have one of them.
    #[must_use]
    pub const fn of(names: &'static [&'static str]) -> Self {
        let mut at = 0;
        while at < names.len() {
            assert!(has_column(T::TABLE, names[at]), "the table has no such column");
            at += 1;
        }
        Self { names: Some(names), table: PhantomData }
    }

    /// The names, in the order of the table.
    pub(crate) fn names(self) -> Vec<&'static str> {
        T::TABLE.columns.iter().map(|column| column.name).filter(|name| self.has(name)).collect()
    }

    /// Whether a column of the table is asked for.
    pub(crate) fn has(self, name: &str) -> bool {
        self.names.is_none_or(|names| names.contains(&name))
    }
}

// Loops in place of iterators: these run in the compiler.
const fn has_column(table: &TableDefinition, name: &str) -> bool {
    let mut at = 0;
    while at < table.columns.len() {
        if is_same(table.columns[at].name.as_bytes(), name.as_bytes()) {
            return true;
        }
        at += 1;
    }
    false
}

const fn is_same(a: &[u8], b: &[u8]) -> bool {
    let mut at = 0;
    while at < a.len() && at < b.len() && a[at] == b[at] {
        at += 1;
    }
    at == a.len() && at == b.len()
}
