//! The columns of an answer that are shown. A question over hundreds of archives does not read data
//! that only other columns need.

use rustc_hash::FxHashSet;

use crate::answer::Column;

/// Columns by their keys: all of them unless somebody says which.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Shown(Option<FxHashSet<&'static str>>);

impl Shown {
    /// These columns and no others.
    #[must_use]
    pub fn only(keys: impl IntoIterator<Item = &'static str>) -> Self {
        Self(Some(keys.into_iter().collect()))
    }

    /// Whether the column with this key is looked at.
    #[must_use]
    pub fn has(&self, key: &str) -> bool {
        self.0.as_ref().is_none_or(|keys| keys.contains(key))
    }

    /// Whether nobody looks at any column: totals are all that is asked for.
    pub(crate) fn is_nothing(&self) -> bool {
        self.0.as_ref().is_some_and(FxHashSet::is_empty)
    }

    /// Drops the columns that nobody looks at.
    pub(crate) fn keep(&self, columns: &mut Vec<Column>) {
        columns.retain(|column| self.has(column.key));
    }
}
