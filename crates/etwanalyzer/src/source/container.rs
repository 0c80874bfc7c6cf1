//! `X.json7z`: the documents of an extract in a 7z file, parsed while they come out.
//!
//! Parts that are not wanted may be far larger than the documents, and stand in front of them in the same compressed block, so they are
//! decoded and counted, but kept nowhere.

use std::fs::File;
use std::io::{self, BufReader, Read};
use std::path::Path;

use sevenz_rust2::{Archive, Block, BlockDecoder, Password};
use tracesift_unpack::dictionary;

use super::{BUFFER, Documents, Heartbeat, is_main, is_modules, open_regular, read_json};
use crate::document::{Document, Modules};
use crate::error::Error;
use crate::identity::shortened;
use crate::limits::Limits;

/// Names of the main document and of the part with modules.
pub(super) fn parts(
    path: &Path,
    file: &File,
    limits: &Limits,
    heartbeat: &Heartbeat,
) -> Result<(String, Option<String>), Error> {
    let archive = open(path, &mut BufReader::new(Alive { stream: file, heartbeat }), limits)?;
    let names = || archive.files.iter().filter(|entry| !entry.is_directory).map(|entry| entry.name());
    let mains: Vec<&str> = names().filter(|name| is_main(name)).collect();
    let [main] = mains.as_slice() else {
        return Err(Error::MainDocuments { path: path.to_owned(), count: mains.len() });
    };
    Ok(((*main).to_owned(), names().find(|name| is_modules(name)).map(str::to_owned)))
}

/// Reads the documents.
pub(super) fn read(
    path: &Path,
    main: &str,
    modules: Option<&str>,
    limits: &Limits,
    heartbeat: &Heartbeat,
) -> Result<Documents, Error> {
    let file = open_regular(path)?;
    let size = file.metadata().map_err(|source| Error::Unreadable { path: path.to_owned(), source })?.len();
    let mut source = BufReader::with_capacity(BUFFER, Alive { stream: file, heartbeat });
    let archive = open(path, &mut source, limits)?;
    let password = Password::empty();
    let shown = |member: &str| format!("{}: {}", path.display(), shortened(member));
    let limit = size.saturating_mul(limits.ratio).max(limits.document).min(limits.unpacked);
    let mut left = Some(limit);
    let mut found: (Option<Document>, Option<Modules>) = (None, None);

    for (index, block) in archive.blocks.iter().enumerate() {
        let decoder = BlockDecoder::new(1, index, &archive, &password, &mut source);
        let is_wanted = |name: &str| name == main || Some(name) == modules;
        let mut wanted = decoder.entries().iter().filter(|entry| is_wanted(entry.name())).count();
        if wanted == 0 {
            continue;
        }
        check_methods(path, block, limits)?;
        let mut failure = None;
        let walked = decoder.for_each_entries(&mut |entry, reader| {
            let member = shown(entry.name());
            let mut counted = Counted { stream: Alive { stream: reader, heartbeat }, left: &mut left };
            let step = if entry.name() == main {
                read_json(&member, &mut counted, limits.document).map(|document| found.0 = Some(document))
            } else if Some(entry.name()) == modules {
                read_json(&member, &mut counted, limits.document).map(|document| found.1 = Some(document))
            } else {
                Ok(())
            };
            wanted -= usize::from(is_wanted(entry.name()));
            // What a parser left, or did not want, must come out before the next member does.
            let rest =
                step.and_then(|()| io::copy(&mut counted, &mut io::sink()).map_err(|error| damaged(path, error)));
            failure = match left {
                None => Some(Error::TooLarge { document: member, limit }),
                Some(_) => rest.err(),
            };
            Ok(failure.is_none() && wanted > 0)
        });
        if let Some(failure) = failure {
            return Err(failure);
        }
        walked.map_err(|error| damaged(path, error))?;
    }
    let (Some(document), modules) = found else { return Err(damaged(path, "its main document has no content")) };
    Ok(Documents { name: shown(main), main: document, modules })
}

fn open(path: &Path, source: &mut (impl Read + io::Seek), limits: &Limits) -> Result<Archive, Error> {
    let archive = Archive::read(source, &Password::empty()).map_err(|error| damaged(path, error))?;
    if archive.files.len() > limits.members {
        return Err(damaged(path, format_args!("it has more than {} members", limits.members)));
    }
    Ok(archive)
}

/// Refuses a block before it is decoded when its dictionary is too large.
fn check_methods(path: &Path, block: &Block, limits: &Limits) -> Result<(), Error> {
    match block.coders.iter().map(dictionary).max() {
        Some(needed) if needed > limits.dictionary => {
            Err(damaged(path, format_args!("it needs {needed} bytes for its dictionary")))
        }
        _ => Ok(()),
    }
}

fn damaged(path: &Path, reason: impl ToString) -> Error {
    Error::Container { path: path.to_owned(), reason: super::one_line(&reason.to_string()) }
}

/// A member's bytes, counted against what may come out of the container; `None`: there was more.
struct Counted<'a, R> {
    stream: R,
    left: &'a mut Option<u64>,
}

impl<R: Read> Read for Counted<'_, R> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let left = self.left.ok_or(io::ErrorKind::QuotaExceeded)?;
        let count = self.stream.read(into)?;
        *self.left = left.checked_sub(count as u64);
        if self.left.is_none() { Err(io::ErrorKind::QuotaExceeded.into()) } else { Ok(count) }
    }
}

/// A stream whose bytes are signs of life.
struct Alive<'a, R> {
    stream: R,
    heartbeat: &'a Heartbeat,
}

impl<R: Read> Read for Alive<'_, R> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let count = self.stream.read(into)?;
        if count > 0 {
            self.heartbeat.heartbeat();
        }
        Ok(count)
    }
}

impl<R: io::Seek> io::Seek for Alive<'_, R> {
    fn seek(&mut self, to: io::SeekFrom) -> io::Result<u64> {
        self.stream.seek(to)
    }
}
