//! One pass over an archive file: what came out, what it may still cost, who watches.

use std::cell::Cell;
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::mem;
use std::path::{Path, PathBuf};
use std::rc::Rc;

use tracesift_etl::FileSource;
use tracesift_unpack::Reporter;

use super::names::{Plan, Want, harmless};
use super::{Limits, Member, OpenOptions, Opened, Progress};
use crate::input::error::{InputError, Note};
use crate::input::file_kind::Format;

/// Unpacked bytes between two calls of the watcher.
const CHUNK: usize = 256 << 10;

/// Names kept for the message that an archive holds no recording.
const NAMES_SHOWN: usize = 5;

/// State of unpacking one archive file, archives inside it included.
pub(super) struct Run<'a> {
    path: &'a Path,
    size: u64,
    limits: &'a Limits,
    temp_dir: PathBuf,
    reporter: Reporter<Progress>,
    read: Rc<Cell<u64>>,
    unpacked: u64,
    buffer: Vec<u8>,
    /// Name of the archive inside the archive file that is being unpacked now.
    inside: Option<String>,
    members: Vec<Member>,
    nested: Vec<(String, File)>,
    /// Members without bytes; `None` is the file itself.
    empty: Vec<Option<String>>,
    names: Vec<String>,
    name_count: usize,
}

impl<'a> Run<'a> {
    pub(super) fn new(path: &'a Path, size: u64, options: &'a OpenOptions, reporter: Reporter<Progress>) -> Self {
        Run {
            path,
            size,
            limits: &options.limits,
            temp_dir: options.temp_dir.clone().unwrap_or_else(std::env::temp_dir),
            reporter,
            read: Rc::default(),
            unpacked: 0,
            buffer: vec![0; CHUNK],
            inside: None,
            members: Vec::new(),
            nested: Vec::new(),
            empty: Vec::new(),
            names: Vec::new(),
            name_count: 0,
        }
    }

    /// The archive file, whose bytes are counted and are signs of life as they are read.
    pub(super) fn counting(&self, file: File) -> CountingFile {
        CountingFile { file, count: Rc::clone(&self.read), reporter: self.reporter.clone() }
    }

    /// Takes the archives found in the archive file.
    pub(super) fn enter_nested(&mut self) -> Vec<(String, File)> {
        mem::take(&mut self.nested)
    }

    /// From here on, members belong to the archive `name` inside the archive file.
    pub(super) fn enter(&mut self, name: &str) {
        self.inside = Some(name.to_owned());
    }

    /// Decides what is wanted of an archive with these members, after a look at their number.
    pub(super) fn plan<'n>(
        &mut self,
        names: impl ExactSizeIterator<Item = &'n str> + Clone,
    ) -> Result<Plan, InputError> {
        self.name_count = self.name_count.saturating_add(names.len());
        if self.name_count > self.limits.max_members {
            return Err(InputError::TooManyMembers {
                path: self.path.to_owned(),
                count: self.name_count,
                limit: self.limits.max_members,
            });
        }
        let room = NAMES_SHOWN.saturating_sub(self.names.len());
        self.names.extend(names.clone().take(room).map(harmless));
        Ok(Plan::new(names, self.inside.is_none()))
    }

    /// Unpacks a member if it is wanted. `declared`: its size as the archive states it.
    pub(super) fn take(
        &mut self,
        want: Want,
        name: &str,
        declared: u64,
        reader: &mut (impl Read + ?Sized),
    ) -> Result<(), InputError> {
        if want == Want::Nothing {
            return Ok(());
        }
        let short = name;
        let name = self.full_name(name);
        let mut head = [0; Format::HEAD];
        let begun = if want == Want::Perhaps { self.read_head(&name, &mut head, reader)? } else { 0 };
        let head = head.get(..begun).unwrap_or_default();
        if want == Want::Perhaps && Format::by_content(head) != Format::Perf {
            // What stands behind it in a solid archive is still to come.
            return self.skip(short, reader);
        }
        let file = self.spool(Some(&name), Some(declared), &mut head.chain(reader))?;
        match (file, want) {
            (Some(file), Want::Archive) => self.nested.push((name, file)),
            (Some(file), _) => self.push(Some(name), file)?,
            (None, Want::Recording) => self.empty.push(Some(name)),
            (None, _) => {}
        }
        Ok(())
    }

    /// Reads the first bytes of a member, as many as it has. `name` is full.
    fn read_head(&self, name: &str, head: &mut [u8], reader: &mut (impl Read + ?Sized)) -> Result<usize, InputError> {
        let mut filled = 0;
        while let Some(rest) = head.get_mut(filled..).filter(|rest| !rest.is_empty()) {
            match reader.read(rest) {
                Ok(0) => break,
                Ok(count) => filled += count,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(self.explain(Some(name.to_owned()), error)),
            }
        }
        Ok(filled)
    }

    /// Unpacks the content of a file that is nothing but one compressed stream.
    pub(super) fn take_stream(&mut self, reader: &mut impl Read) -> Result<(), InputError> {
        let name = self.inside.clone();
        match self.spool(name.as_deref(), None, reader)? {
            Some(file) => self.push(name, file)?,
            None => self.empty.push(name),
        }
        Ok(())
    }

    /// Unpacks a member into nothing, at the price of one that is kept: in a solid archive it stands before a wanted one.
    pub(super) fn skip(&mut self, name: &str, reader: &mut (impl Read + ?Sized)) -> Result<(), InputError> {
        let name = self.full_name(name);
        while self.next_chunk(Some(&name), reader)? > 0 {}
        Ok(())
    }

    /// Counts bytes that a decoder unpacks on its own before it comes to a member.
    pub(super) fn charge(&mut self, name: &str, bytes: u64) -> Result<(), InputError> {
        let name = self.full_name(name);
        self.allow_bytes(Some(&name), bytes)?;
        self.unpacked += bytes;
        Ok(())
    }

    /// What came out of all of it.
    pub(super) fn finish(self) -> Result<Opened, InputError> {
        let path = self.path.to_owned();
        if self.members.is_empty() {
            return Err(match self.empty.into_iter().next() {
                Some(member) => InputError::Empty { path, member },
                None => InputError::NoRecording { path, found: self.names, count: self.name_count },
            });
        }
        let left_out = |member| Note::EmptyLeftOut { path: path.clone(), member };
        Ok(Opened { notes: self.empty.into_iter().map(left_out).collect(), members: self.members })
    }

    /// Refuses a decoder that needs too large a dictionary.
    pub(super) fn allow_dictionary(&self, name: Option<&str>, needed: u64) -> Result<(), InputError> {
        if needed <= self.limits.max_dictionary {
            return Ok(());
        }
        Err(self.needs_memory(self.member(name)))
    }

    /// Bytes of memory that a decoder may use for its dictionary.
    pub(super) fn max_dictionary(&self) -> u64 {
        self.limits.max_dictionary
    }

    pub(super) fn encrypted(&self, name: Option<&str>) -> InputError {
        InputError::Encrypted { path: self.path.to_owned(), member: self.member(name) }
    }

    pub(super) fn unknown_method(&self, name: Option<&str>, method: impl ToString) -> InputError {
        InputError::UnknownMethod { path: self.path.to_owned(), member: self.member(name), method: method.to_string() }
    }

    pub(super) fn damaged(&self, name: Option<&str>, reason: impl ToString) -> InputError {
        InputError::Damaged { path: self.path.to_owned(), member: self.member(name), reason: reason.to_string() }
    }

    /// An error that came out of a decoder.
    pub(super) fn failed(&self, name: Option<&str>, error: io::Error) -> InputError {
        self.explain(self.member(name), error)
    }

    /// The archive is at fault, unless the operating system reported the error.
    fn explain(&self, member: Option<String>, error: io::Error) -> InputError {
        let path = self.path.to_owned();
        if error.raw_os_error().is_some() {
            return InputError::Unreadable { path, reason: error };
        }
        let reason = match error.kind() {
            io::ErrorKind::OutOfMemory => return self.needs_memory(member),
            io::ErrorKind::UnexpectedEof => "it ends too early".to_owned(),
            _ => error.to_string(),
        };
        InputError::Damaged { path, member, reason }
    }

    fn needs_memory(&self, member: Option<String>) -> InputError {
        InputError::NeedsMemory { path: self.path.to_owned(), member, limit: self.limits.max_dictionary }
    }

    /// Full name of a member; without one, the archive that is being unpacked if that is itself a member.
    fn member(&self, name: Option<&str>) -> Option<String> {
        name.map(|name| self.full_name(name)).or_else(|| self.inside.clone())
    }

    fn full_name(&self, name: &str) -> String {
        match &self.inside {
            Some(inside) => format!("{inside}/{}", harmless(name)),
            None => harmless(name),
        }
    }

    fn push(&mut self, name: Option<String>, file: File) -> Result<(), InputError> {
        let source = FileSource::new(file).map_err(|reason| self.temporary(reason))?;
        self.members.push(Member { path: self.path.to_owned(), name, source });
        Ok(())
    }

    /// Unpacks into a temporary file, which is handed over at its start; `None` when nothing came. `name` is full.
    fn spool(
        &mut self,
        name: Option<&str>,
        declared: Option<u64>,
        reader: &mut (impl Read + ?Sized),
    ) -> Result<Option<File>, InputError> {
        // A declared size is no promise, but one that is too large already saves filling the disk.
        self.allow_bytes(name, declared.unwrap_or(0))?;
        let mut file = None;
        let mut size = 0;
        loop {
            let count = self.next_chunk(name, reader)?;
            if count == 0 {
                break;
            }
            size += count as u64;
            let written = match &mut file {
                Some(file) => write(file, &self.buffer[..count]),
                None => tempfile::tempfile_in(&self.temp_dir)
                    .and_then(|made| write(file.insert(made), &self.buffer[..count])),
            };
            written.map_err(|reason| self.temporary(reason))?;
        }
        if let Some(declared) = declared.filter(|declared| *declared != size) {
            let reason = format!("{size} of {declared} bytes came out");
            return Err(InputError::Damaged { path: self.path.to_owned(), member: name.map(str::to_owned), reason });
        }
        if let Some(file) = &mut file {
            file.seek(SeekFrom::Start(0)).map_err(|reason| self.temporary(reason))?;
        }
        Ok(file)
    }

    /// Fills the buffer from a decoder, counts what came, and lets the watcher look. 0: the end. `name` is full.
    fn next_chunk(&mut self, name: Option<&str>, reader: &mut (impl Read + ?Sized)) -> Result<usize, InputError> {
        let mut filled = 0;
        while filled < self.buffer.len() {
            match reader.read(&mut self.buffer[filled..]) {
                Ok(0) => break,
                Ok(count) => {
                    filled += count;
                    self.reporter.heartbeat();
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(self.explain(name.map(str::to_owned), error)),
            }
        }
        self.allow_bytes(name, filled as u64)?;
        self.unpacked += filled as u64;
        let progress = Progress { read: self.read.get().min(self.size), total: self.size };
        if self.reporter.say(progress).is_break() {
            return Err(InputError::Cancelled { path: self.path.to_owned() });
        }
        Ok(filled)
    }

    /// Whether `more` bytes may come out. `name` is full.
    fn allow_bytes(&self, name: Option<&str>, more: u64) -> Result<(), InputError> {
        let by_ratio = self.size.saturating_mul(self.limits.max_ratio).max(self.limits.free);
        let limit = by_ratio.min(self.limits.max_unpacked);
        if self.unpacked.saturating_add(more) <= limit {
            return Ok(());
        }
        Err(InputError::TooLarge { path: self.path.to_owned(), member: name.map(str::to_owned), limit })
    }

    fn temporary(&self, reason: io::Error) -> InputError {
        let (path, directory) = (self.path.to_owned(), self.temp_dir.clone());
        match reason.kind() {
            io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => InputError::NoSpace { path, directory },
            _ => InputError::Temporary { path, directory, reason },
        }
    }
}

fn write(file: &mut File, bytes: &[u8]) -> io::Result<()> {
    file.write_all(bytes)
}

/// A file that counts the bytes read from it.
pub(super) struct CountingFile {
    file: File,
    count: Rc<Cell<u64>>,
    reporter: Reporter<Progress>,
}

impl Read for CountingFile {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let count = self.file.read(into)?;
        self.count.set(self.count.get().saturating_add(count as u64));
        if count > 0 {
            self.reporter.heartbeat();
        }
        Ok(count)
    }
}

impl Seek for CountingFile {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        self.file.seek(to)
    }
}

#[cfg(test)]
mod tests {
    use std::ops::ControlFlow;
    use std::time::Duration;

    use tracesift_unpack::watched;

    use super::*;

    #[test]
    fn a_full_disk_names_the_directory() {
        let told = watched(
            Duration::from_secs(600),
            |_| ControlFlow::Continue(()),
            |reporter| {
                let options = OpenOptions { temp_dir: Some("/small".into()), ..OpenOptions::default() };
                let run = Run::new(Path::new("x.zip"), 1, &options, reporter);
                [io::ErrorKind::StorageFull, io::ErrorKind::QuotaExceeded]
                    .map(|kind| run.temporary(kind.into()).to_string())
            },
        );
        for text in told.expect("told") {
            assert!(text.starts_with("x.zip: no space left in /small to unpack it; free some, or choose"), "{text}");
        }
    }
}
