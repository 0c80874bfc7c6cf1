//! What a pass over rows looks at.

use tracesift_trace::schema::{ColumnSet, View};

use super::TableQuestion;
use super::plan::Plan;

/// What a pass over rows looks at.
#[derive(Debug)]
pub struct Needed<R> {
    /// The columns that it looks at.
    pub columns: ColumnSet<R>,
    /// Whether it looks at the figures from other tables that [`JOINED`](TableQuestion::JOINED) measures are about.
    pub joined: bool,
}

// By hand, since it can be copied whatever the rows are.
impl<R> Clone for Needed<R> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<R> Copy for Needed<R> {}

impl<R: View> Needed<R> {
    /// All that the question looks at in its own table.
    pub(super) fn own<Q: TableQuestion<Row = R>>() -> Self {
        Self { columns: Q::COLUMNS, joined: false }
    }

    /// What an answer of single rows, or of sums, looks at.
    pub(super) fn of<Q: TableQuestion<Row = R>>(plan: &Plan, has_single_rows: bool) -> Self {
        let mut columns = Q::COLUMNS;
        let dimensions: Vec<&str> = plan.keys.iter().map(|place| plan.stated.dimensions[*place].name).collect();
        for (seldom, users) in Q::SELDOM {
            let is_used = |name: &&str| dimensions.contains(name) || plan.computed.contains(name);
            if !has_single_rows && !users.iter().any(is_used) {
                columns = columns.without(*seldom);
            }
        }
        Self { columns, joined: plan.joined }
    }
}
