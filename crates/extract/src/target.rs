//! From an input to its archives: what to extract, what is done already, where it goes.

use std::io;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use tracesift_archive::{Archive, SCHEMA_VERSION, TargetLock, WhenBusy};
use tracesift_etl::EtlFile;
use tracesift_trace::info::SourceFile;

use crate::clock::session_end;
use crate::error::Error;
use crate::input::{self, Note, OpenOptions, PartFacts};
use crate::pipeline::{Budget, Recording, Report, Step, Watch, extract_recording};

/// How to extract.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// Directory for the archives; `None`: beside the input.
    pub out: Option<PathBuf>,
    /// Extract again what is up to date.
    pub overwrite: bool,
    /// Bounds of one extract, and the directory for its temporary files.
    pub budget: Budget,
    /// What unpacking may cost.
    pub limits: input::Limits,
}

/// What became of a recording.
#[derive(Clone, Debug)]
pub enum Outcome {
    /// Its archive was written.
    Extracted(Box<Report>),
    /// Its archive was there and is up to date.
    UpToDate(PathBuf),
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
pub fn extract(recording: &input::Recording, options: &Options, watch: &mut Watch<'_>) -> Result<Extraction, Error> {
    let directory = match &options.out {
        Some(out) => out.clone(),
        None => recording.files[0].parent().map(Path::to_owned).unwrap_or_default(),
    };
    let main_target = directory.join(format!("{}.sift", recording.name));
    if !options.overwrite && is_up_to_date(&main_target, &recording.files) {
        return Ok(Extraction { outcomes: vec![Outcome::UpToDate(main_target)], notes: Vec::new() });
    }

    let open = OpenOptions { temp_dir: options.budget.temporary.clone(), limits: options.limits.clone() };
    let mut unpacking =
        |progress: input::Progress| watch(Step { phase: "unpacking", done: progress.read, total: progress.total });
    let opened = input::open(recording, &open, &mut unpacking)?;
    let groups = open_parts(recording, opened.members)?;
    let several = groups.len() > 1;
    let mut extraction = Extraction { outcomes: Vec::new(), notes: opened.notes };
    for (member_stem, group) in groups {
        let target = match member_stem {
            Some(stem) if several => directory.join(format!("{}.{stem}.sift", recording.name)),
            _ => main_target.clone(),
        };
        make_directory(&directory)?;
        let lock = TargetLock::acquire(&target, WhenBusy::Wait)?;
        // Somebody else may have extracted it while we waited.
        if !options.overwrite && Archive::is_current(&target, &group.sources) {
            extraction.outcomes.push(Outcome::UpToDate(target));
            continue;
        }
        let report = extract_recording(&group, lock, &options.budget, watch)?;
        extraction.outcomes.push(Outcome::Extracted(Box::new(report)));
    }
    Ok(extraction)
}

/// Opens the members as recordings and sorts those together that are one.
fn open_parts(
    input: &input::Recording,
    members: Vec<input::Member>,
) -> Result<Vec<(Option<String>, Recording)>, Error> {
    let mut parts = Vec::new();
    let mut facts = Vec::new();
    for member in members {
        let path = member.path().to_owned();
        let inner = member.name().map(str::to_owned);
        let label = match &inner {
            Some(inner) => format!("{} ({inner})", path.display()),
            None => path.display().to_string(),
        };
        let source = input::source_file(&path, inner.as_deref())?;
        let file =
            EtlFile::open(Box::new(member)).map_err(|source| Error::Recording { name: label.clone(), source })?;
        let header = file.header();
        facts.push(PartFacts {
            name: inner.clone().unwrap_or_else(|| path.display().to_string()),
            frequency: header.frequency(),
            boot_time: header.boot_time,
            start: header.start_time,
            end: session_end(&file),
        });
        parts.push(Some((file, label, source)));
    }
    let groups = if input.forced { vec![(0..parts.len()).collect()] } else { input::group(&facts) };
    let mut recordings = Vec::new();
    for indices in groups {
        let stem = indices.first().map(|first: &usize| {
            let name = tracesift_trace::modules::file_name(&facts[*first].name);
            input::file_kind::stem(name).to_owned()
        });
        let mut recording =
            Recording { name: input.name.clone(), files: Vec::new(), labels: Vec::new(), sources: Vec::new() };
        for index in indices {
            if let Some((file, label, source)) = parts[index].take() {
                recording.files.push(file);
                recording.labels.push(label);
                recording.sources.push(source);
            }
        }
        recordings.push((stem, recording));
    }
    if recordings.len() > 1 {
        for (stem, recording) in &mut recordings {
            recording.name = format!("{}.{}", input.name, stem.as_deref().unwrap_or_default());
        }
    }
    Ok(recordings)
}

/// Whether the archive is the extract of these very files: told without unpacking them.
fn is_up_to_date(target: &Path, files: &[PathBuf]) -> bool {
    let Ok(archive) = Archive::open(target) else { return false };
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

fn make_directory(directory: &Path) -> Result<(), Error> {
    if directory.as_os_str().is_empty() {
        return Ok(());
    }
    std::fs::create_dir_all(directory).map_err(|reason| {
        // "File exists" would not say what is wrong with it.
        let is_file = reason.kind() == io::ErrorKind::AlreadyExists;
        let source = if is_file { io::Error::new(io::ErrorKind::NotADirectory, "is not a directory") } else { reason };
        Error::Out { directory: directory.to_owned(), source }
    })
}

/// A watcher that lets everything go on.
pub fn unwatched(_: Step) -> ControlFlow<()> {
    ControlFlow::Continue(())
}
