//! `symbols lookup`: names of addresses in a file.

use std::io::{self, BufRead as _};
use std::path::Path;

use anyhow::Context as _;
use tracesift_ask::answer::{Answer, ColumnOf, Kind, Layout, Section, descriptions, values};
use tracesift_symbols::FileNames;

use super::finder;
use crate::args::symbols::{Address, LookupArgs};
use crate::command::printer::Printer;
use crate::exit::{Exit, UsageError};
use crate::progress::Progress;
use crate::terminal::Messages;

/// A function at an address.
struct Row {
    address: u64,
    depth: i64,
    /// Bytes from where the function begins.
    offset: Option<u64>,
    function: Option<String>,
    arguments: Option<String>,
    file: Option<String>,
    line: Option<u32>,
    source: Option<String>,
}

const OFFSET: &str = "Bytes from where the function begins to the address, on the row of the function that the others were inlined into. A part \
                      that the compiler moved elsewhere counts from its own begin.";

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
    ColumnOf::people(
        "function_text",
        "Function",
        Kind::Text,
        |row| row.function.as_deref().unwrap_or("(no function is known here)").into(),
        "Function without arguments, or that none is known.",
    ),
    ColumnOf::machine(
        "function",
        "Function",
        Kind::Text,
        |row| row.function.clone().into(),
        "Function without arguments; empty where no code is known.",
    ),
    ColumnOf::people(
        "offset_hex",
        "Offset",
        Kind::Text,
        |row| row.offset.map(|offset| format!("+{offset:#x}")).into(),
        OFFSET,
    ),
    ColumnOf::machine("offset", "Offset", Kind::Id, |row| row.offset.into(), OFFSET),
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
    let printer = Printer::new(&args.output, no_color, messages)?;
    let progress = Progress::new(1);
    // What belongs to a file mostly lies beside it.
    let folders: Vec<_> = args.file.parent().map(Path::to_owned).into_iter().collect();
    let finder = finder(&args.symbols, &folders, None, &args.search, &progress, messages)?;
    let found = finder.of_file(&args.file).with_context(|| args.file.display().to_string())?;
    if let Some(note) = &found.note {
        messages.note(note);
    }
    let addresses = if args.addresses.is_empty() { read_addresses()? } else { args.addresses.clone() };
    let place = |address: &Address| if args.rva { Some(address.0) } else { found.place(address.0) };
    let rows: Vec<Row> = addresses.iter().flat_map(|address| rows(&found, address.0, place(address))).collect();
    if !args.rva && found.has_addresses_of_its_own() && rows.iter().all(|row| row.function.is_none()) {
        let named = |address: &&Address| found.table.frames(address.0).next().is_some();
        if let Some(address) = addresses.iter().find(named) {
            messages.hint(&format!("as an offset in the file {:#x} has a name: add --rva", address.0));
        }
    }
    let section =
        Section { title: args.file.display().to_string(), rows: values(COLUMNS, &rows), ..Section::default() };
    printer.print(Answer {
        question: "symbols lookup",
        columns: descriptions(COLUMNS),
        layout: Layout::Rows,
        sorted: None,
        sections: vec![section],
        sums: Vec::new(),
        facts: Vec::new(),
    })?;
    Ok(Exit::Fine)
}

/// The functions at a place of the table, which is where the address lies.
fn rows(found: &FileNames, address: u64, place: Option<u64>) -> Vec<Row> {
    let text = |text: &str| Some(text.to_owned());
    let frames = place.into_iter().flat_map(|place| found.table.frames(place));
    let mut rows: Vec<Row> = (0..)
        .zip(frames)
        .map(|(depth, frame)| Row {
            address,
            depth,
            offset: None,
            function: text(frame.function),
            arguments: frame.arguments.and_then(text),
            file: frame.file.and_then(text),
            line: frame.line,
            source: text(frame.source),
        })
        .collect();
    match rows.last_mut() {
        Some(outermost) => {
            outermost.offset = place.and_then(|place| place.checked_sub(found.start(place)?));
        }
        None => rows.push(Row {
            address,
            depth: 0,
            offset: None,
            function: None,
            arguments: None,
            file: None,
            line: None,
            source: None,
        }),
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
