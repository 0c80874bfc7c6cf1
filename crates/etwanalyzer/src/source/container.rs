//! `X.json7z`: the documents of an extract in a 7z file, parsed while they come out.
//!
//! Parts that are not wanted may be far larger than the documents, and stand in front of them in the same compressed block, so they are
//! decoded and counted, but kept nowhere.

use std::fs::File;
use std::io::{self, BufReader, Read};
use std::path::Path;

use sevenz_rust2::{Archive, Block, BlockDecoder, Password};
use tracesift_unpack::dictionary;

use super::parts::Part;
use super::{BUFFER, Budget, Documents, Heartbeat, is_main, open_regular, part_of, read_json};
use crate::document::Parts;
use crate::error::Error;
use crate::identity::shortened;
use crate::limits::Limits;

/// Names of the main document and of the parts.
pub(super) fn parts(
    path: &Path,
    file: &File,
    limits: &Limits,
    heartbeat: &Heartbeat,
) -> Result<(String, Vec<(Part, String)>), Error> {
    let archive = open(path, &mut BufReader::new(Alive { stream: file, heartbeat }), limits)?;
    let names = || archive.files.iter().filter(|entry| !entry.is_directory).map(|entry| entry.name());
    let mains: Vec<&str> = names().filter(|name| is_main(name)).collect();
    let [main] = mains.as_slice() else {
        return Err(Error::MainDocuments { path: path.to_owned(), count: mains.len() });
    };
    let member = |part: Part| {
        let name = names().find(|name| part_of(name) == Some(part));
        name.map(|name| (part, name.to_owned()))
    };
    Ok(((*main).to_owned(), Part::ALL.into_iter().filter_map(member).collect()))
}

/// Reads the documents: first those that no extract is without, so that the others do not take what these need.
pub(super) fn read(
    path: &Path,
    main: &str,
    parts: &[(Part, String)],
    limits: &Limits,
    heartbeat: &Heartbeat,
) -> Result<Documents, Error> {
    let (mut budget, mut document, mut read) = (Budget::of(limits), None, Parts::default());
    let (first, others): (Vec<_>, Vec<_>) = parts.iter().partition(|(part, _)| *part == Part::Modules);
    let part_in =
        |parts: &[&(Part, String)], name: &str| parts.iter().find(|(_, member)| member == name).map(|(part, _)| *part);
    let is_first = |name: &str| name == main || part_in(&first, name).is_some();
    each(path, &is_first, limits, heartbeat, &mut |name, member, stream| match part_in(&first, name) {
        Some(part) => part.read(member, stream, &mut budget, &mut read),
        None => read_json(member, stream, &mut budget).map(|main| document = Some(main)),
    })?;
    if !others.is_empty() {
        let is_other = |name: &str| part_in(&others, name).is_some();
        each(path, &is_other, limits, heartbeat, &mut |name, member, stream| match part_in(&others, name) {
            Some(part) => part.read(member, stream, &mut budget, &mut read),
            None => Ok(()),
        })?;
    }
    let Some(document) = document else { return Err(damaged(path, "its main document has no content")) };
    Ok(Documents { name: shown(path, main), main: document, parts: read })
}

/// Takes the name of a member, its name in errors, and its content.
type Visit<'a> = dyn FnMut(&str, &str, &mut dyn Read) -> Result<(), Error> + 'a;

/// How errors call a member.
fn shown(path: &Path, member: &str) -> String {
    format!("{}: {}", path.display(), shortened(member))
}

/// Reads the members that are wanted.
fn each(
    path: &Path,
    is_wanted: &dyn Fn(&str) -> bool,
    limits: &Limits,
    heartbeat: &Heartbeat,
    visit: &mut Visit<'_>,
) -> Result<(), Error> {
    let file = open_regular(path)?;
    let size = file.metadata().map_err(|source| Error::Unreadable { path: path.to_owned(), source })?.len();
    let mut source = BufReader::with_capacity(BUFFER, Alive { stream: file, heartbeat });
    let archive = open(path, &mut source, limits)?;
    let password = Password::empty();
    let limit = size.saturating_mul(limits.ratio).max(limits.document).min(limits.unpacked);
    let mut left = Some(limit);

    for (index, block) in archive.blocks.iter().enumerate() {
        let decoder = BlockDecoder::new(1, index, &archive, &password, &mut source);
        let mut wanted = decoder.entries().iter().filter(|entry| is_wanted(entry.name())).count();
        if wanted == 0 {
            continue;
        }
        check_methods(path, block, limits)?;
        let mut failure = None;
        let walked = decoder.for_each_entries(&mut |entry, reader| {
            let member = shown(path, entry.name());
            let mut counted = Counted { stream: Alive { stream: reader, heartbeat }, left: &mut left };
            let is_wanted = is_wanted(entry.name());
            let step = if is_wanted { visit(entry.name(), &member, &mut counted) } else { Ok(()) };
            wanted -= usize::from(is_wanted);
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
    Ok(())
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
