//! `symbols cache`: the tables of symbols on this machine.

use std::io::{self, Write as _};

use anyhow::Context as _;
use tracesift_ask::answer::{Answer, Column, Fact, Kind, Layout, Section, Value, View};
use tracesift_ask::order::Top;
use tracesift_cache::{Folder, Pruned};
use tracesift_symbols::fetch::{Options, Symbols};
use tracesift_symbols::search::SearchPath;

use super::finder::directory;
use super::grouped;
use crate::args::symbols::{CacheAction, CacheArgs};
use crate::command::printer::Printer;
use crate::exit::Exit;
use crate::terminal::Messages;

/// Does what is asked.
pub(super) fn run(args: &CacheArgs, no_color: bool, messages: &Messages) -> anyhow::Result<Exit> {
    let directory = directory(args.symbol_cache.as_deref())?;
    let symbols = Symbols::new(&SearchPath::default(), Options::new(directory));
    let folder = symbols.cache().folder();
    let place = || folder.directory().display().to_string();
    match &args.action {
        CacheAction::List(args) => {
            let top = Top { take: args.top, skip: 0 };
            Printer::new(&args.output, no_color, messages)?.print(list(folder, top).with_context(place)?)?;
        }
        CacheAction::Prune { size, unused } => removed(folder.prune(*size, *unused).with_context(place)?)?,
        CacheAction::Clear => removed(folder.clear().with_context(place)?)?,
    }
    Ok(Exit::Fine)
}

fn removed(pruned: Pruned) -> io::Result<()> {
    let bytes = grouped(pruned.bytes);
    let kept = if pruned.failed > 0 { format!(", {} could not be removed", pruned.failed) } else { String::new() };
    writeln!(io::stdout(), "{} tables removed, {bytes} bytes{kept}", pruned.count)
}

const COLUMNS: [(&str, &str, Kind, &str); 3] = [
    ("key", "Table", Kind::Text, "Name, identity and kind of the symbol file."),
    ("size_bytes", "Size", Kind::Bytes, "Bytes of the table."),
    ("unused_s", "Unused s", Kind::Count, "Seconds since it was used last, within an hour."),
];

fn list(folder: &Folder, top: Top) -> io::Result<Answer> {
    let mut entries = folder.list()?;
    entries.sort_by(|a, b| a.size.cmp(&b.size).then_with(|| a.key.cmp(&b.key)));
    let number = |number: u64| Value::Int(i64::try_from(number).unwrap_or(i64::MAX));
    let bytes = entries.iter().map(|entry| entry.size).fold(0, u64::saturating_add);
    let facts = vec![Fact::new("tables", Kind::Count, entries.len()), Fact::new("size", Kind::Bytes, number(bytes))];
    top.apply(&mut entries);
    let rows: Vec<Vec<Value>> = entries
        .iter()
        .map(|entry| {
            let unused = entry.used.elapsed().unwrap_or_default().as_secs();
            vec![Value::Text(entry.key.clone()), number(entry.size), number(unused)]
        })
        .collect();
    let section = Section { title: folder.directory().display().to_string(), rows, facts, ..Section::default() };
    let columns =
        COLUMNS.map(|(key, title, kind, help)| Column { key, title, kind, view: View::Always, help }).to_vec();
    Ok(Answer {
        question: "symbols cache",
        columns,
        layout: Layout::Rows,
        sorted: None,
        sections: vec![section],
        sums: Vec::new(),
        facts: Vec::new(),
    })
}
