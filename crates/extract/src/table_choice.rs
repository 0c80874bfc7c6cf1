//! The choice of tables that grow with a recording: `extract --tables`.
//!
//! What other tables refer to is always there (processes, threads, modules, frames, stacks, their names), and so are marks and the
//! summaries of what is extracted: they are small, and questions about any table need them.

use std::str::FromStr;

use tracesift_grammar::Patterns;
use tracesift_grammar::patterns::list_items;
use tracesift_trace::event_tables;

macro_rules! optional_tables {
    (
        $($(#[$doc:meta])* $method:ident($row:ident) in $table:ident),+;
        $($(#[$optional_doc:meta])* $optional:ident($optional_row:ident) in $optional_table:ident),+
    ) => {
        /// The tables that can be left out.
        pub const OPTIONAL_TABLES: [&str; [$(stringify!($optional_table)),+].len()] =
            [$(stringify!($optional_table)),+];

        /// A choice as it is asked for every row.
        #[derive(Clone, Copy, Debug)]
        pub(crate) struct WantedTables {
            $(pub(crate) $optional_table: bool,)+
        }

        impl From<&TableChoice> for WantedTables {
            fn from(choice: &TableChoice) -> Self {
                Self { $($optional_table: choice.wants(stringify!($optional_table)),)+ }
            }
        }
    };
}
event_tables!(optional_tables);

/// A choice of the [`OPTIONAL_TABLES`]; all of them unless one says otherwise.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TableChoice {
    left_out: Vec<&'static str>,
}

impl TableChoice {
    /// These of the [`OPTIONAL_TABLES`].
    #[must_use]
    pub fn only(tables: &[&str]) -> Self {
        Self { left_out: OPTIONAL_TABLES.into_iter().filter(|table| !tables.contains(table)).collect() }
    }

    /// Whether a table is wanted. One that cannot be left out always is.
    #[must_use]
    pub fn wants(&self, table: &str) -> bool {
        !self.left_out.contains(&table)
    }

    /// The tables that are not wanted, in the order of [`OPTIONAL_TABLES`].
    #[must_use]
    pub fn left_out(&self) -> &[&'static str] {
        &self.left_out
    }

    /// Whether an archive without the tables `left_out` (those of its `trace.json`) has all that are wanted.
    #[must_use]
    pub fn is_within(&self, left_out: &[String]) -> bool {
        !left_out.iter().any(|table| self.wants(table))
    }
}

/// A name that no table has which could be left out.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is no table to choose; there are {names} (the others are always written)", names = OPTIONAL_TABLES.join(", "))]
pub struct TableChoiceError(String);

impl FromStr for TableChoice {
    type Err = TableChoiceError;

    fn from_str(text: &str) -> Result<Self, TableChoiceError> {
        let names_none = |item: &&str| !OPTIONAL_TABLES.iter().any(|table| Patterns::parse(item).matches(table));
        if let Some(unknown) = list_items(text).find(names_none) {
            return Err(TableChoiceError(unknown.to_owned()));
        }
        let wanted = Patterns::parse(text);
        Ok(Self { left_out: OPTIONAL_TABLES.into_iter().filter(|table| !wanted.matches(table)).collect() })
    }
}

#[cfg(test)]
mod tests {
    use super::{OPTIONAL_TABLES, TableChoice};

    fn left_out(text: &str) -> Vec<&'static str> {
        text.parse::<TableChoice>().unwrap().left_out().to_vec()
    }

    #[test]
    fn names_choose_and_exclude() {
        assert_eq!(left_out("").len(), 0);
        assert_eq!(left_out("!disk_io;!*faults"), ["disk_io", "hard_faults", "page_faults"]);
        assert_eq!(left_out("!*"), OPTIONAL_TABLES);
        let cpu: TableChoice = "cpu_samples; context_switches".parse().unwrap();
        assert!(cpu.wants("cpu_samples") && cpu.wants("processes") && !cpu.wants("events"));
        assert_eq!(cpu.left_out().len(), OPTIONAL_TABLES.len() - 2);
    }

    #[test]
    fn unknown_names_tell_the_known_ones() {
        let error = "cpu_samples;disks".parse::<TableChoice>().unwrap_err().to_string();
        assert!(error.starts_with("`disks` is no table to choose; there are cpu_samples, allocations,"), "{error}");
        assert!("processes".parse::<TableChoice>().is_err());
    }

    #[test]
    fn an_archive_serves_a_choice_that_is_not_larger() {
        let choice = |text: &str| text.parse::<TableChoice>().unwrap();
        let stored: Vec<String> = left_out("cpu*;disk_io").into_iter().map(str::to_owned).collect();
        assert!(choice("cpu_samples").is_within(&stored) && choice("!*").is_within(&stored));
        assert!(!choice("cpu*;events").is_within(&stored) && !choice("").is_within(&stored));
        assert!(choice("").is_within(&[]));
    }
}
