//! The stored columns that an answer is made of. Each column of an answer says so itself, beside its value, and a question over hundreds of
//! archives reads nothing else.

use tracesift_trace::rows::{MethodSummaryRow, ProcessRow, ProcessSummaryRow, TagSummaryRow};
use tracesift_trace::schema::ColumnSet;

use crate::question::overview::Parts;

/// Columns of the tables of which a question reads no more than it needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Needs {
    /// Of processes.
    pub processes: ColumnSet<ProcessRow>,
    /// Of the figures of processes.
    pub process_summary: ColumnSet<ProcessSummaryRow>,
    /// Of the figures of methods.
    pub method_summary: ColumnSet<MethodSummaryRow>,
    /// Of the figures of stack tags.
    pub tag_summary: ColumnSet<TagSummaryRow>,
    /// Parts of an overview, which are answers to other questions.
    pub parts: Parts,
}

impl Needs {
    /// All columns.
    pub const EVERYTHING: Self = Self {
        processes: ColumnSet::ALL,
        process_summary: ColumnSet::ALL,
        method_summary: ColumnSet::ALL,
        tag_summary: ColumnSet::ALL,
        parts: Parts::ALL,
    };
    /// No column: what the value is made of is read in any case, or comes from other tables.
    pub const NOTHING: Self = Self {
        processes: ColumnSet::NONE,
        process_summary: ColumnSet::NONE,
        method_summary: ColumnSet::NONE,
        tag_summary: ColumnSet::NONE,
        parts: Parts::NONE,
    };

    /// These parts of an overview.
    #[must_use]
    pub const fn of_parts(parts: Parts) -> Self {
        Self { parts, ..Self::NOTHING }
    }

    /// These figures of methods. A tag's figures have the same names, and its own name stands in the place of a function's.
    #[must_use]
    pub const fn of_methods(columns: ColumnSet<MethodSummaryRow>) -> Self {
        let mut tags = columns.of_same_names();
        if columns.touches(ColumnSet::of(&["function"])) {
            tags = tags.and(ColumnSet::of(&["tag"]));
        }
        Self { method_summary: columns, tag_summary: tags, ..Self::NOTHING }
    }

    /// What either needs.
    #[must_use]
    pub const fn and(self, other: Self) -> Self {
        Self {
            processes: self.processes.and(other.processes),
            process_summary: self.process_summary.and(other.process_summary),
            method_summary: self.method_summary.and(other.method_summary),
            tag_summary: self.tag_summary.and(other.tag_summary),
            parts: self.parts.and(other.parts),
        }
    }
}
