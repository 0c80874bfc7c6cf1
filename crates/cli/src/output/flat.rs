//! An answer as rows and columns for formats whose rows are flat at their top: one row of the answer is one row there, with its lists as cells;
//! or, if a list is spread out, one object of that list, with the columns of its row repeated.

use tracesift_ask::answer::{Answer, Column, Kind, Table, Value, View};

/// What stands where a row has nothing.
const NOTHING: &Value = &Value::None;

/// Rows and columns.
pub(crate) struct Flat<'a> {
    /// Names of the columns with their descriptions.
    pub(crate) columns: Vec<(String, Column)>,
    /// Rows, with a value for each column.
    pub(crate) rows: Vec<Vec<&'a Value>>,
}

impl<'a> Flat<'a> {
    /// The rows of an answer; `exploded` is the key of a column with lists of objects, each of which becomes a row. Its columns are called
    /// `list_column`. Where a list is empty or not known its row stays, without an object.
    pub(crate) fn of(answer: &'a Answer, exploded: Option<&str>) -> Self {
        let shown = || answer.columns.iter().enumerate().filter(|(_, column)| column.view != View::People);
        let is_exploded = |column: &Column| column.kind == Kind::Table && exploded == Some(column.key);
        let list = shown().find(|(_, column)| is_exploded(column)).map(|(at, _)| at);
        let inner = list.map_or_else(Vec::new, |at| {
            columns_of(
                answer
                    .rows()
                    .filter_map(|row| if let Some(Value::Table(table)) = row.get(at) { Some(table) } else { None }),
            )
        });
        let mut columns = Vec::new();
        for (at, column) in shown() {
            if Some(at) == list {
                columns.extend(inner.iter().map(|inner| (format!("{}_{}", column.key, inner.key), *inner)));
            } else {
                columns.push((column.key.to_owned(), *column));
            }
        }
        let mut rows = Vec::new();
        for row in answer.rows() {
            let with =
                |object: Option<(&'a Table, &'a Vec<Value>)>| {
                    let mut values: Vec<&Value> = Vec::with_capacity(columns.len());
                    for (at, _) in shown() {
                        if Some(at) == list {
                            values.extend(inner.iter().map(|column| {
                                object.map_or(NOTHING, |(table, object)| member(table, object, column.key))
                            }));
                        } else {
                            values.push(row.get(at).unwrap_or(NOTHING));
                        }
                    }
                    values
                };
            match list.and_then(|at| row.get(at)) {
                Some(Value::Table(table)) if !table.rows.is_empty() => {
                    rows.extend(table.rows.iter().map(|object| with(Some((table, object)))));
                }
                _ => rows.push(with(None)),
            }
        }
        Self { columns, rows }
    }
}

/// The columns that JSON shows of these tables, each once.
pub(crate) fn columns_of<'a>(tables: impl Iterator<Item = &'a Table>) -> Vec<Column> {
    let mut columns: Vec<Column> = Vec::new();
    for table in tables {
        for column in table.columns.iter().filter(|column| column.view != View::People) {
            if !columns.iter().any(|known| known.key == column.key) {
                columns.push(*column);
            }
        }
    }
    columns
}

/// The value of an object of a table.
pub(crate) fn member<'a>(table: &Table, object: &'a [Value], key: &str) -> &'a Value {
    let place = table.columns.iter().position(|column| column.key == key && column.view != View::People);
    place.and_then(|place| object.get(place)).unwrap_or(NOTHING)
}
