//! `dump testrun`: only names are looked at, so recordings need not be extracted.

use chrono::Local;
use tracesift_ask::answer::{Answer, Layout, descriptions};
use tracesift_ask::question::testrun;

use crate::args::Dump;
use crate::args::dump::TestrunArgs;
use crate::command::dump::Printer;
use crate::command::found;
use crate::exit::Exit;
use crate::terminal::Messages;

/// Answers the question.
pub(crate) fn run(dump: &Dump, args: &TestrunArgs, printer: &Printer, messages: &Messages) -> anyhow::Result<Exit> {
    let (found, failed) = found::find(&dump.common().0.inputs(), messages);
    if found::nothing_left(&found, failed, messages) {
        return Ok(Exit::NothingUsable);
    }
    let runs = found::runs(&found, &dump.selection(Local::now().naive_local()));
    let (columns, sections) = if args.print_files {
        (descriptions(testrun::FILE_COLUMNS), testrun::files(&runs))
    } else {
        (descriptions(testrun::TEST_COLUMNS), testrun::tests(&runs))
    };
    let facts = testrun::summary(&runs);
    printer.print(Answer {
        question: "testrun",
        columns,
        layout: Layout::Rows,
        sorted: None,
        sections,
        sums: Vec::new(),
        facts,
    })?;
    let why = runs.is_empty().then(|| vec!["the choice of test runs leaves no file".to_owned()]);
    Ok(printer.exit(why.as_deref(), found.archives.len() + found.recordings.len(), failed))
}
