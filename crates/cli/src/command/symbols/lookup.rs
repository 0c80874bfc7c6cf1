//! `symbols lookup`: names of addresses in a file.

use std::io::{self, BufRead as _};
use std::path::Path;

use anyhow::Context as _;
use tracesift_ask::answer::{Answer, ColumnOf, Kind, Layout, Section, descriptions, values};
use tracesift_symbols::Table;

use super::finder;
use crate::args::symbols::{Address, LookupArgs};
use crate::command::dump::Printer;
use crate::exit::{Exit, UsageError};
use crate::progress::Progress;
use crate::terminal::Messages;

/// A function at an address.
struct Row {
    address: u64,
    depth: i64,
    function: Option<String>,
    arguments: Option<String>,
    file: Option<String>,
    line: Option<u32>,
    source: Option<String>,
}

const COLUMNS: &[ColumnOf<Row>] = &[
    ColumnOf::people("address_hex", "Address", Kind::Text, |row| format!("{:#x}", row.address).into(), "The address."),
    ColumnOf::machine("address", "Address", Kind::Id, |row| row.address.into(), "The address."),
    ColumnOf::always(
        "depth",
        "Depth",
        Kind::Count,
        |row| row.depth.into(),
        "0 for the function at the address, 1 and up for those that it was inlined into.",
    ),
    ColumnOf::always(
        "function",
        "Function",
        Kind::Text,
        |row| row.function.clone().into(),
        "Function without arguments; empty where no code is known.",
    ),
    ColumnOf::details("arguments", "Arguments", Kind::Text, |row| row.arguments.clone().into(), "Argument list."),
    ColumnOf::always("line", "Line", Kind::Id, |row| row.line.into(), "Line in the source file."),
    ColumnOf::always("file", "File", Kind::LongText, |row| row.file.clone().into(), "Source file."),
    ColumnOf::details(
        "source",
        "From",
        Kind::Text,
        |row| row.source.clone().into(),
        "What the name comes from: pdb, dwarf, export, elf, breakpad.",
    ),
];

/// Looks up.
pub(super) fn run(args: &LookupArgs, no_color: bool, messages: &Messages) -> anyhow::Result<Exit> {
    let printer = Printer::new(&args.output, no_color)?;
    let progress = Progress::new(1);
    // What belongs to a file mostly lies beside it.
    let folders: Vec<_> = args.file.parent().map(Path::to_owned).into_iter().collect();
    let finder = finder(&args.symbols, &folders, None, &args.search, &progress, messages)?;
    let found = finder.of_file(&args.file).with_context(|| args.file.display().to_string())?;
    if let Some(note) = &found.note {
        messages.note(note);
    }
    let addresses = if args.addresses.is_empty() { read_addresses()? } else { args.addresses.clone() };
    let rows: Vec<Row> = addresses.iter().flat_map(|address| rows(&found.table, address.0)).collect();
    let section =
        Section { title: args.file.display().to_string(), rows: values(COLUMNS, &rows), ..Section::default() };
    printer.print(Answer {
        question: "symbols lookup",
        columns: descriptions(COLUMNS),
        layout: Layout::Rows,
        sections: vec![section],
        sums: Vec::new(),
        facts: Vec::new(),
    })?;
    Ok(Exit::Fine)
}

fn rows(table: &Table, address: u64) -> Vec<Row> {
    let text = |text: &str| Some(text.to_owned());
    let mut rows: Vec<Row> = (0..)
        .zip(table.frames(address))
        .map(|(depth, frame)| Row {
            address,
            depth,
            function: text(frame.function),
            arguments: frame.arguments.and_then(text),
            file: frame.file.and_then(text),
            line: frame.line,
            source: text(frame.source),
        })
        .collect();
    if rows.is_empty() {
        let nothing = Row { address, depth: 0, function: None, arguments: None, file: None, line: None, source: None };
        rows.push(nothing);
    }
    rows
}

/// Addresses with white space between them.
fn read_addresses() -> anyhow::Result<Vec<Address>> {
    let mut addresses = Vec::new();
    for line in io::stdin().lock().lines() {
        for word in line?.split_whitespace() {
            let address: Result<Address, String> = word.parse();
            addresses.push(address.map_err(|error| UsageError::new(error, "one address per word, such as 0x1a2b"))?);
        }
    }
    Ok(addresses)
}
