//! Order, size limits and numeric ranges that all questions share.
//!
//! Answers are ascending: the largest row stands last, next to the prompt. `--top N` keeps the N largest.

use clap::Args;

/// How many of the largest rows stay: an option of every question.
#[derive(Args, Clone, Copy, Debug, Default, PartialEq, Eq)]
#[command(next_help_heading = "Rows")]
pub struct Top {
    /// Keep the N largest rows of each file
    #[arg(id = "top", long = "top", value_name = "N")]
    pub take: Option<usize>,

    /// Leave out the N largest rows first
    #[arg(long, value_name = "N", default_value_t = 0, hide_default_value = true)]
    pub skip: usize,
}

impl Top {
    /// Cuts ascending rows down to the window at their end.
    pub fn apply<T>(&self, rows: &mut Vec<T>) {
        rows.truncate(rows.len().saturating_sub(self.skip));
        if let Some(take) = self.take {
            rows.drain(..rows.len().saturating_sub(take));
        }
    }
}

/// A range of figures, both ends inclusive; a missing end is open.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Between {
    /// Smallest figure inside.
    pub min: Option<i64>,
    /// Largest figure inside.
    pub max: Option<i64>,
}

impl Between {
    /// The same range of instants, counted from an earlier zero.
    #[must_use]
    pub fn shifted(&self, by: i64) -> Self {
        Self { min: self.min.map(|min| min.saturating_add(by)), max: self.max.map(|max| max.saturating_add(by)) }
    }

    /// The names of those of its limits, the lower and the upper one, that were given.
    pub(crate) fn given(&self, [min, max]: [&'static str; 2]) -> impl Iterator<Item = &'static str> {
        let lower = self.min.is_some().then_some(min);
        lower.into_iter().chain(self.max.is_some().then_some(max))
    }

    /// Whether the figure lies inside. An unknown figure lies inside only if nothing is asked of it.
    #[must_use]
    pub fn contains(&self, figure: Option<i64>) -> bool {
        match figure {
            Some(figure) => self.min.is_none_or(|min| figure >= min) && self.max.is_none_or(|max| figure <= max),
            None => self.min.is_none() && self.max.is_none(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn top_keeps_the_end() {
        let top = |take, skip| {
            let mut rows = vec![1, 2, 3, 4, 5];
            Top { take, skip }.apply(&mut rows);
            rows
        };
        assert_eq!(top(Some(2), 0), [4, 5]);
        assert_eq!(top(Some(2), 1), [3, 4]);
        assert_eq!(top(None, 2), [1, 2, 3]);
        assert_eq!(top(Some(9), 0), [1, 2, 3, 4, 5]);
        assert!(top(Some(1), 9).is_empty());
    }

    #[test]
    fn ranges_are_inclusive_and_unknown_figures_need_an_open_range() {
        let range = Between { min: Some(1), max: Some(3) };
        assert!(range.contains(Some(1)) && range.contains(Some(3)) && !range.contains(Some(4)));
        assert!(!range.contains(None) && Between::default().contains(None));
    }
}
