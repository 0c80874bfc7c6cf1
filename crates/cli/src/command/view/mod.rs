//! `view`: shows recordings in the browser, from a server on this machine.

mod answers;
mod words;

use std::io::{self, Write as _};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use anyhow::Context as _;
use serde_json::json;
use tracesift_ask::When;
use tracesift_ask::recording::{OpenRecording, Source};
use tracesift_ask::recording_label::path_text;
use tracesift_record::interrupt;
use tracesift_view::{Given, Server, Settings, Start, TagFile, UrlFile};

use self::answers::CommandLines;
use crate::args::RunArgs;
use crate::args::view::ViewArgs;
use crate::command::sources::sources;
use crate::exit::{Exit, UsageError};
use crate::terminal::Messages;
use crate::watching;

/// Bytes of a file with a view, at most.
const LARGEST_VIEW: u64 = 64 << 10;

/// Serves until Ctrl-C.
pub(crate) fn run(args: &ViewArgs, messages: &Messages) -> anyhow::Result<Exit> {
    let tag_files = tag_files(args, messages)?;
    let (view, views) = view(args)?;
    let Some(sources) = sources(&args.files, &RunArgs::default(), messages)? else { return Ok(Exit::NothingUsable) };
    let Some(first) = sources.list.first() else { return Ok(Exit::NothingUsable) };
    let start = Start {
        recording: "r0".to_owned(),
        time: time(args, first)?,
        process: args.process.clone(),
        panel: args.panel.clone(),
        view,
    };
    let files: Vec<String> = sources.list.iter().map(|source| path_text(&source.shown)).collect();
    let given =
        sources.list.iter().zip(&files).map(|(source, file)| Given { source: source.clone(), file: file.clone() });
    let settings = Settings { recordings: given.collect(), tag_files, views, start, port: args.port };
    let tag_files = args.tag_file.iter().map(|file| file.to_string_lossy().into_owned()).collect();
    let answers = CommandLines { sources: sources.list.clone(), files, tag_files };
    let server = Server::new(settings, Arc::new(answers))?;
    // The path of the file is no secret, its content is.
    let url_file = UrlFile::new(server.url()).context("cannot write a temporary file")?;
    let ended = Arc::new(AtomicBool::new(false));
    // Where the system allows one handler, it is the one of questions. Whoever reads the address may end the program.
    let _ = interrupt::watch(&ended);
    let watch = watching::watch();
    let mut out = io::stdout();
    writeln!(out, "{}", server.url())?;
    out.flush()?;
    if !args.no_open && !url_file.show() {
        messages.note("there is no browser to open: open the URL in one, or pass the port on with ssh -L");
    }
    messages.note("Ctrl-C ends it");
    server.run(|| ended.load(Ordering::Relaxed) || watch.is_cancelled())?;
    Ok(Exit::Fine)
}

/// The files of stack tags, of which ours is the first.
fn tag_files(args: &ViewArgs, messages: &Messages) -> Result<Vec<TagFile>, UsageError> {
    let load =
        |files: &[PathBuf]| tracesift_ask::tag_files::load(files, false, &mut |warning| messages.warning(warning));
    let mut all = vec![TagFile { id: words::OWN_TAGS.to_owned(), name: "built-in".to_owned(), tags: load(&[])? }];
    for (number, file) in args.tag_file.iter().enumerate() {
        let tags = load(std::slice::from_ref(file))?;
        all.push(TagFile { id: format!("t{number}"), name: file.to_string_lossy().into_owned(), tags });
    }
    Ok(all)
}

/// The view that is shown first, and those that its file has.
fn view(args: &ViewArgs) -> anyhow::Result<(Option<String>, Vec<serde_json::Value>)> {
    let Some(name) = &args.view else { return Ok((None, Vec::new())) };
    let path = std::path::Path::new(name);
    if !path.is_file() {
        return Ok((Some(name.clone()), Vec::new()));
    }
    let size = path.metadata().with_context(|| format!("{name}: cannot be read"))?.len();
    if size > LARGEST_VIEW {
        return Err(UsageError::new(
            format!("{name}: too large for a view"),
            "--view takes a file that the page saved",
        )
        .into());
    }
    let text = std::fs::read_to_string(path).with_context(|| format!("{name}: cannot be read"))?;
    let stem = path.file_stem().map_or_else(|| name.clone(), |stem| stem.to_string_lossy().into_owned());
    Ok((Some(stem.clone()), vec![json!({ "name": stem, "text": text })]))
}

/// The time range that is shown first, on the clock of a recording.
fn time(args: &ViewArgs, source: &Source) -> anyhow::Result<Option<(i64, i64)>> {
    let when = When { time: args.time.time, ..When::default() };
    if when == When::default() {
        return Ok(None);
    }
    let recording = OpenRecording::open(source).with_context(|| path_text(&source.shown))?;
    let time = when.resolve(&recording).map_err(|failure| anyhow::anyhow!(failure.reason))?.time;
    let (start, end) = time.bounds();
    Ok(Some((start.max(recording.file.start), end.min(recording.file.end.saturating_add(1)))))
}
