//! `--columns`: which columns an answer shows.
//!
//! A list of names shows exactly those, in their order: `--columns 'cpu_ns;method'`. A list of `!name` and `+name` changes what is shown
//! without it: `--columns '!priority;+switches'`. Names are those of the machine formats or the headers of the table; `*` and `?` are
//! wildcards.

use tracesift_grammar::Pattern;

use crate::answer::{Answer, Column, View};

/// A choice of columns.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ColumnChoice {
    items: Vec<Item>,
}

/// Columns that were chosen, by their keys, each with where it is shown.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Chosen(Vec<(&'static str, View)>);

#[derive(Clone, Debug, PartialEq, Eq)]
struct Item {
    what: What,
    pattern: Pattern,
    text: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum What {
    Show,
    Hide,
    Add,
}

/// A name that no column has.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("there is no column `{name}`; there are {}", known.join(", "))]
pub struct UnknownColumn {
    /// The name.
    pub name: String,
    /// The names that there are.
    pub known: Vec<&'static str>,
}

impl ColumnChoice {
    /// Reads a list.
    #[must_use]
    pub fn parse(list: &str) -> Self {
        let item = |text: &str| {
            let (what, text) = match (text.strip_prefix('!'), text.strip_prefix('+')) {
                (Some(text), _) => (What::Hide, text.trim()),
                (_, Some(text)) => (What::Add, text.trim()),
                _ => (What::Show, text),
            };
            Item { what, pattern: Pattern::new(text), text: text.to_owned() }
        };
        Self { items: list.split(';').map(str::trim).filter(|text| !text.is_empty()).map(item).collect() }
    }

    /// The choice among these columns.
    ///
    /// # Errors
    /// When a name matches no column.
    pub fn choose(&self, columns: &[Column]) -> Result<Chosen, UnknownColumn> {
        let names_any = |item: &Item, column: &Column| {
            column.view != View::Nowhere && (item.pattern.matches(column.key) || item.pattern.matches(column.title))
        };
        if let Some(item) = self.items.iter().find(|item| !columns.iter().any(|column| names_any(item, column))) {
            let known = columns.iter().filter(|column| !matches!(column.view, View::Nowhere | View::People));
            return Err(UnknownColumn { name: item.text.clone(), known: known.map(|column| column.key).collect() });
        }
        let in_table = |column: &Column| if column.view == View::People { View::People } else { View::Always };
        let all = || columns.iter().filter(|column| column.view != View::Nowhere);
        let is_named =
            |what: What, column: &Column| self.items.iter().any(|item| item.what == what && names_any(item, column));
        let mut chosen: Vec<(&'static str, View)> = Vec::new();
        if self.items.iter().any(|item| item.what == What::Show) {
            for item in self.items.iter().filter(|item| item.what != What::Hide) {
                for column in all().filter(|column| names_any(item, column)) {
                    if !is_named(What::Hide, column) && !chosen.iter().any(|(known, _)| *known == column.key) {
                        chosen.push((column.key, in_table(column)));
                    }
                }
            }
        } else {
            let kept = all().filter(|column| !is_named(What::Hide, column));
            let view = |column: &Column| if is_named(What::Add, column) { in_table(column) } else { column.view };
            chosen.extend(kept.map(|column| (column.key, view(column))));
        }
        Ok(Chosen(chosen))
    }
}

impl Chosen {
    /// The columns, in order, with where they are shown.
    pub fn columns(&self) -> impl Iterator<Item = (&'static str, View)> {
        self.0.iter().copied()
    }

    /// Changes which columns of an answer are there, and in which order. The answer may lack some that nobody looks at.
    pub fn apply(&self, answer: &mut Answer) {
        let mut kept = Vec::with_capacity(self.0.len());
        for (key, view) in self.columns() {
            let place = answer.columns.iter().position(|column| column.key == key);
            if let Some((place, column)) = place.and_then(|place| Some((place, answer.columns.get_mut(place)?))) {
                column.view = view;
                kept.push(place);
            }
        }
        answer.keep(&kept);
    }
}

#[cfg(test)]
mod tests {
    use super::ColumnChoice;
    use crate::answer::{Column, Kind, View};

    fn columns() -> Vec<Column> {
        let column = |key, title, view| Column { key, title, kind: Kind::Count, view, help: "" };
        vec![
            column("file", "File", View::Machine),
            column("cpu_ns", "CPU", View::Always),
            column("wait_ns", "Wait", View::Always),
            column("wait_count", "Waits", View::Details),
            column("label", "Method", View::People),
            column("rva", "RVA", View::Nowhere),
        ]
    }

    fn chosen(list: &str) -> Vec<(&'static str, View)> {
        ColumnChoice::parse(list).choose(&columns()).unwrap().columns().collect()
    }

    #[test]
    fn names_are_shown_in_their_order() {
        assert_eq!(
            chosen("wait*;method;cpu"),
            [
                ("wait_ns", View::Always),
                ("wait_count", View::Always),
                ("label", View::People),
                ("cpu_ns", View::Always)
            ]
        );
        assert_eq!(chosen("*;!wait*;!file"), [("cpu_ns", View::Always), ("label", View::People)]);
    }

    #[test]
    fn changes_keep_the_others() {
        assert_eq!(
            chosen("!wait;+waits"),
            [("file", View::Machine), ("cpu_ns", View::Always), ("wait_count", View::Always), ("label", View::People)]
        );
        assert_eq!(chosen("").len(), 5);
    }

    #[test]
    fn unknown_names() {
        let error = ColumnChoice::parse("cpu;speed").choose(&columns()).unwrap_err();
        assert_eq!(error.to_string(), "there is no column `speed`; there are file, cpu_ns, wait_ns, wait_count");
        assert!(ColumnChoice::parse("rva").choose(&columns()).is_err());
    }
}
