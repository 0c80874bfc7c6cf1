//! From an input to its archives: what to extract, what is done already, where it goes.

use std::io;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use tracesift_archive::{Archive, SCHEMA_VERSION, TargetLock, WhenBusy};
use tracesift_trace::info::SourceFile;

use crate::error::Error;
use crate::etl;
use crate::input::{self, Note, OpenOptions};
use crate::opened::{Files, open_members};
use crate::options::Options;
use crate::perf;
use crate::progress::{Step, Watch};
use crate::seal::Report;
use crate::symbols::{Named, load_symbols};

/// What became of a recording.
#[derive(Clone, Debug)]
pub enum Outcome {
    /// Its archive was written.
    Extracted(Box<Report>),
    /// Its archive was there and is up to date.
    UpToDate(PathBuf),
    /// Its archive was there and is up to date, and got the names that it did not have.
    Named(PathBuf, Named),
}

/// What became of an input: one outcome per recording in it.
#[derive(Debug, Default)]
pub struct Extraction {
    /// The recordings, in the order of the input.
    pub outcomes: Vec<Outcome>,
    /// What the user should know of the input.
    pub notes: Vec<Note>,
}

/// Extracts an input. An archive file may hold several recordings; each gets an archive of its own.
///
/// # Errors
/// [`Error`]; of several recordings the first that fails ends the work, those before it are complete.
pub fn extract(
    recording: &input::InputRecording,
    options: &Options,
    watch: &mut Watch<'_>,
) -> Result<Extraction, Error> {
    let directory = directory(recording, options);
    let main_target = directory.join(format!("{}.sift", recording.name));
    if is_done(recording, options) {
        return Ok(Extraction { outcomes: vec![up_to_date(main_target, options)?], notes: Vec::new() });
    }

    let open = OpenOptions { temp_dir: options.budget.temporary.clone(), limits: options.limits.clone() };
    let mut unpacking =
        |progress: input::Progress| watch(Step { phase: "unpacking", done: progress.read, total: progress.total });
    let opened = input::open(recording, &open, &mut unpacking)?;
    let recordings = open_members(recording, opened.members)?;
    // Whoever watches knows now that there is a recording to be read.
    if watch(Step { phase: "reading", done: 0, total: 1 }).is_break() {
        return Err(Error::Interrupted { name: recording.name.clone() });
    }
    let several = recordings.len() > 1;
    let mut extraction = Extraction { outcomes: Vec::new(), notes: opened.notes };
    for (member_stem, opened) in recordings {
        let target = match several {
            true => directory.join(format!("{}.{member_stem}.sift", recording.name)),
            false => main_target.clone(),
        };
        make_directory(&directory)?;
        let lock = TargetLock::acquire(&target, WhenBusy::Wait)?;
        // Somebody else may have extracted it while we waited.
        if !options.overwrite && Archive::is_current(&target, &opened.sources) && is_as_asked(&target, options) {
            // Whoever gives it names takes the lock.
            drop(lock);
            extraction.outcomes.push(up_to_date(target, options)?);
            continue;
        }
        let report = match &opened.files {
            Files::Etl(files) => etl::extract_recording(&opened, files, lock, options, watch)?,
            Files::Perf(file) => perf::extract_recording(&opened, file, lock, options, watch)?,
        };
        extraction.outcomes.push(Outcome::Extracted(Box::new(report)));
    }
    Ok(extraction)
}

/// Whether there is nothing to extract: the archive of these very files is there, with all that is asked for.
#[must_use]
pub fn is_done(recording: &input::InputRecording, options: &Options) -> bool {
    let target = directory(recording, options).join(format!("{}.sift", recording.name));
    !options.overwrite && is_up_to_date(&target, &recording.files, options)
}

/// Where the archives of an input go.
fn directory(recording: &input::InputRecording, options: &Options) -> PathBuf {
    match &options.out {
        Some(out) => out.clone(),
        None => recording.files[0].parent().map(Path::to_owned).unwrap_or_default(),
    }
}

/// An archive that is there needs no extract, and names only where they are asked for and were never looked for.
fn up_to_date(archive: PathBuf, options: &Options) -> Result<Outcome, Error> {
    let Some(symbols) = &options.symbols else { return Ok(Outcome::UpToDate(archive)) };
    if Archive::open(&archive)?.info().symbols_loaded {
        return Ok(Outcome::UpToDate(archive));
    }
    let named = load_symbols(&archive, &**symbols)?;
    Ok(Outcome::Named(archive, named))
}

/// Whether the archive is the extract of these very files: told without unpacking them.
fn is_up_to_date(target: &Path, files: &[PathBuf], options: &Options) -> bool {
    let Ok(archive) = Archive::open(target) else { return false };
    if !has_what_is_asked(&archive, options) {
        return false;
    }
    let mut known: Vec<&SourceFile> = archive.info().sources.iter().collect();
    known.dedup_by(|a, b| a.path == b.path);
    let same = |(known, path): (&&SourceFile, &PathBuf)| {
        let same_file = |now: SourceFile| {
            (now.size, now.modified, &now.head_hash) == (known.size, known.modified, &known.head_hash)
        };
        input::source_file(path, None).is_ok_and(same_file)
    };
    archive.info().schema[0] == SCHEMA_VERSION[0] && known.len() == files.len() && known.iter().zip(files).all(same)
}

fn is_as_asked(target: &Path, options: &Options) -> bool {
    Archive::open(target).is_ok_and(|archive| has_what_is_asked(&archive, options))
}

/// Whether an archive has the tables that are asked for, keeps the events that are, and charges CPU time by the event that is.
fn has_what_is_asked(archive: &Archive, options: &Options) -> bool {
    let info = archive.info();
    let same_clock = |wanted: &String| {
        info.kind != "perf" || info.cpu_event.as_ref().is_some_and(|event| perf::is_named(event, wanted))
    };
    options.tables.is_within(&info.left_out)
        && options.events.as_ref().is_none_or(|selection| selection.is_within(&info.events))
        && options.cpu_event.as_ref().is_none_or(same_clock)
}

fn make_directory(directory: &Path) -> Result<(), Error> {
    if directory.as_os_str().is_empty() {
        return Ok(());
    }
    std::fs::create_dir_all(directory).map_err(|reason| {
        // Systems say this in many ways, most of them about something that exists.
        let source = if directory.is_file() {
            io::Error::new(io::ErrorKind::NotADirectory, "is not a directory")
        } else {
            reason
        };
        Error::Out { directory: directory.to_owned(), source }
    })
}

/// A watcher that lets everything go on.
pub fn unwatched(_: Step) -> ControlFlow<()> {
    ControlFlow::Continue(())
}
