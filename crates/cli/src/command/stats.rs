//! `dump stats`: recordings are read as they are, archives say what their description has.

use chrono::Local;
use rayon::prelude::*;
use tracesift_ask::answer::Failure;
use tracesift_ask::question::stats::{self, RawStats, Row};
use tracesift_ask::recording::{OpenRecording, Source, open_all};
use tracesift_extract::Error;
use tracesift_extract::input::{InputRecording, OpenOptions};
use tracesift_grammar::Patterns;

use crate::args::Dump;
use crate::args::dump::StatsArgs;
use crate::command::dump::Printer;
use crate::command::found;
use crate::exit::Exit;
use crate::terminal::Messages;

/// Answers the question.
pub(crate) fn run(dump: &Dump, args: &StatsArgs, printer: &Printer, messages: &Messages) -> anyhow::Result<Exit> {
    let selection = dump.selection(Local::now().naive_local());
    let inputs = dump.common().0.inputs();
    // A file that is named is read itself, even when its archive stands beside it.
    let (files, others) = inputs.split_files();
    let (mut recordings, mut archives, mut failed) = (Vec::new(), Vec::new(), 0);
    let mut add = |(mut found, problems): (tracesift_ask::inputs::FoundInputs, usize)| {
        found::keep_selected(&mut found, &selection);
        recordings.append(&mut found.recordings);
        archives.append(&mut found.archives);
        failed += problems;
    };
    if !files.arguments.is_empty() {
        add(found::find_recordings(&files, messages));
    }
    if !others.arguments.is_empty() || inputs.arguments.is_empty() {
        add(found::find(&others, messages));
    }

    let options = OpenOptions::default();
    let read: Vec<Result<RawStats, Error>> =
        recordings.par_iter().map(|recording: &InputRecording| stats::recording(recording, &options)).collect();
    let mut groups: Vec<Vec<Row>> = Vec::new();
    for result in read {
        let RawStats { rows, errors } =
            result.unwrap_or_else(|error| RawStats { rows: Vec::new(), errors: vec![error] });
        groups.push(rows);
        failed += errors.len();
        errors.iter().for_each(|error| messages.error(&error.to_string()));
    }
    let sources: Vec<Source> = archives.into_iter().map(Source::archive).collect();
    let (opened, mut failures) = open_all(&sources);
    for recording in &opened {
        match stats::archive(recording) {
            Ok(row) => groups.push(vec![row]),
            Err(error) => failures.push(failure(recording, &error)),
        }
    }
    failed += failures.len();
    failures.iter().for_each(|failure| messages.error(&failure.reason));

    groups.retain(|rows| !rows.is_empty());
    groups.sort_by_key(|rows| {
        let start = rows.iter().filter_map(|row| row.zero).map(|zero| zero.filetime).min();
        (start, rows.first().map(|row| row.file.clone()))
    });
    let rows: Vec<Row> = groups.into_iter().flatten().collect();
    let usable = rows.len();
    if usable == 0 {
        return Ok(Exit::of(usable, failed));
    }
    let properties = Patterns::parse(&args.properties);
    let answer = stats::answer(rows, &properties);
    let why = stats::why_empty(&answer, &properties);
    printer.print(answer)?;
    Ok(printer.exit(why.as_deref(), usable, failed))
}

fn failure(recording: &OpenRecording, error: &tracesift_archive::Error) -> Failure {
    Failure::new(&recording.file.path, error)
}
