//! From files to recordings: each is opened by the reader of its format, and parts of one recording are put together.
//!
//! This is the only place that tells formats apart by content; everything behind it has an enum to match on.

use std::fmt::Display;
use std::ops::ControlFlow;
use std::sync::Arc;

use tracesift_etl::EtlFile;
use tracesift_perf::PerfFile;
use tracesift_trace::info::SourceFile;

use crate::error::{Error, ReaderError};
use crate::etl::clock::session_end;
use crate::input::file_kind::Format;
use crate::input::{self, InputError, Member, OpenOptions, PartFacts};

/// One file of a recording, opened by the reader of its format.
#[derive(Debug)]
pub enum OpenedFile {
    /// A Windows recording, or a part of one.
    Etl(EtlFile),
    /// A Linux recording.
    Perf(PerfFile),
}

/// The files of one recording.
#[derive(Debug)]
pub enum Files {
    /// Of a Windows recording, which share a clock.
    Etl(Vec<EtlFile>),
    /// Of a Linux recording, which is one file.
    Perf(PerfFile),
}

/// One recording, ready to be read.
#[derive(Debug)]
pub struct OpenedRecording {
    /// Name of the recording.
    pub name: String,
    /// Its files.
    pub files: Files,
    /// Names of the files without their directories, for the health table; in the same order.
    pub(crate) labels: Vec<String>,
    pub(crate) sources: Vec<SourceFile>,
}

/// Opens one file.
///
/// # Errors
/// [`Error::Recording`] when its reader finds no recording in it.
pub fn open_file(member: Member) -> Result<OpenedFile, Error> {
    let name = named(&member, member.path().display());
    let unreadable = |reason| InputError::Unreadable { path: member.path().to_owned(), reason };
    let opened = match member.format().map_err(unreadable)? {
        Format::Etl => EtlFile::open(Box::new(member)).map(OpenedFile::Etl).map_err(ReaderError::Etl),
        Format::Perf => PerfFile::new(Arc::new(member)).map(OpenedFile::Perf).map_err(ReaderError::Perf),
    };
    opened.map_err(|source| Error::Recording { name, source })
}

/// Opens a recording to read its records as they are. An archive file may hold several recordings.
///
/// # Errors
/// [`Error::Input`] and [`Error::Recording`].
pub fn open(recording: &input::InputRecording, options: &OpenOptions) -> Result<Vec<OpenedRecording>, Error> {
    let opened = input::open(recording, options, &mut |_| ControlFlow::Continue(()))?;
    let recordings = open_members(recording, opened.members)?;
    Ok(recordings.into_iter().map(|(_, recording)| recording).collect())
}

/// Opens the members and sorts those together that are one recording; each comes with its member's name as a part of a file name.
pub(crate) fn open_members(
    input: &input::InputRecording,
    members: Vec<Member>,
) -> Result<Vec<(String, OpenedRecording)>, Error> {
    let mut parts = Vec::new();
    let mut facts = Vec::new();
    let mut recordings = Vec::new();
    let mut taken = Vec::new();
    for member in members {
        let path = member.path().to_owned();
        let inner = member.name().map(str::to_owned);
        // An archive says the same wherever its recording lay.
        let label = named(&member, path.file_name().unwrap_or_default().display());
        let source = input::source_file(&path, inner.as_deref())?;
        let name = inner.unwrap_or_else(|| path.display().to_string());
        match open_file(member)? {
            OpenedFile::Etl(file) => {
                facts.push(part_facts(name, &file));
                parts.push(Some((file, label, source)));
            }
            OpenedFile::Perf(file) => {
                let files = Files::Perf(file);
                let name = free_name(&name, &mut taken);
                let (labels, sources) = (vec![label], vec![source]);
                recordings.push((name, OpenedRecording { name: input.name.clone(), files, labels, sources }));
            }
        }
    }
    if input.forced && recordings.len() + usize::from(!parts.is_empty()) > 1 {
        return Err(Error::NotYet { name: input.name.clone(), what: "a merge with other recordings" });
    }
    let groups =
        if input.forced && !parts.is_empty() { vec![(0..parts.len()).collect()] } else { input::group(&facts) };
    for indices in groups {
        let first = indices.first().map_or("", |first: &usize| &facts[*first].name);
        let stem = free_name(first, &mut taken);
        let (mut files, mut labels, mut sources) = (Vec::new(), Vec::new(), Vec::new());
        for index in indices {
            if let Some((file, label, source)) = parts[index].take() {
                files.push(file);
                labels.push(label);
                sources.push(source);
            }
        }
        let files = Files::Etl(files);
        recordings.push((stem, OpenedRecording { name: input.name.clone(), files, labels, sources }));
    }
    if recordings.len() > 1 {
        for (stem, recording) in &mut recordings {
            recording.name = format!("{}.{stem}", input.name);
        }
    }
    Ok(recordings)
}

fn part_facts(name: String, file: &EtlFile) -> PartFacts {
    let header = file.header();
    PartFacts {
        name,
        frequency: header.frequency(),
        boot_time: header.boot_time,
        start: header.start_time,
        end: session_end(file),
    }
}

/// A file with the member in it, where it is packed.
fn named(member: &Member, file: impl Display) -> String {
    match member.name() {
        Some(inner) => format!("{file} ({inner})"),
        None => file.to_string(),
    }
}

/// The stem of a member as a part of a file name, on every system and unlike the `taken` ones, to which it is added: Windows
/// does not allow all characters and does not tell cases apart, and members in different directories may have one name.
fn free_name(member: &str, taken: &mut Vec<String>) -> String {
    let stem = input::file_kind::stem(tracesift_trace::modules::file_name(member));
    let allowed: String = stem.chars().map(|c| if r#"<>:"|?*"#.contains(c) { '_' } else { c }).collect();
    let mut name = allowed.clone();
    let mut number = 1;
    while taken.contains(&name.to_lowercase()) {
        number += 1;
        name = format!("{allowed}-{number}");
    }
    taken.push(name.to_lowercase());
    name
}
