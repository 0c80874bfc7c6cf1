//! Does what a look-up asks for.

use std::fs::File;
use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::time::Duration;

use tracesift_cache::files::{Temporary, create_directory};

use crate::rooted::open_below;
use crate::search::{Answer, Attempt, Contents, FileName, FileNumber, Lookup, Place, Request, Step};
use crate::table::Table;

use super::download::{check_file, download, local};
use super::expand::{expand_cabinet, gunzip};
use super::hosts::Health;
use super::http::Failure;
use super::misses::Reason;
use super::part::Part;
use super::readers::{DownloadNumber, Names, Observer, Readers, Reading};
use super::resolve::Symbols;
use super::store;

/// How often a download looks whether it is still wanted.
const POLL: Duration = Duration::from_millis(50);

/// Pointers are one path.
const MAX_POINTER: u64 = 4096;

/// What all look-ups of a run share.
pub(super) struct Run<'a> {
    pub(super) symbols: &'a Symbols,
    pub(super) readers: &'a dyn Readers,
    pub(super) observer: &'a dyn Observer,
    pub(super) cancel: &'a AtomicBool,
}

/// What a look-up has found.
#[derive(Clone, Debug)]
pub(super) struct Outcome {
    pub(super) table: Option<Table>,
    pub(super) tried: Vec<Attempt>,
}

/// A file that a look-up has open. What is not kept is removed with it, but for parts, which the next run goes on with.
#[derive(Debug)]
struct Held {
    file: File,
    /// Whence it came, for what is remembered of it.
    url: Option<String>,
    /// What it was downloaded into.
    part: Option<Part>,
    /// Where it was unpacked.
    unpacked: Option<(Temporary, PathBuf)>,
}

/// The files and the table of one look-up.
#[derive(Debug, Default)]
struct Desk {
    held: Vec<Option<Held>>,
    table: Option<Table>,
}

impl Desk {
    fn hold(&mut self, held: Held) -> Answer {
        let number = u32::try_from(self.held.len()).unwrap_or(u32::MAX);
        self.held.push(Some(held));
        Answer::File(FileNumber(number))
    }

    fn get(&mut self, file: FileNumber) -> &mut Option<Held> {
        let index = file.0 as usize;
        if index >= self.held.len() {
            self.held.resize_with(index + 1, || None);
        }
        &mut self.held[index]
    }
}

impl Run<'_> {
    /// Drives a look-up to its end.
    pub(super) fn drive(&self, mut lookup: Lookup) -> Outcome {
        let mut desk = Desk::default();
        loop {
            match lookup.step() {
                Step::Ask(request) => {
                    let answer = self.execute(&request, &mut desk);
                    lookup.answer(answer);
                }
                Step::Done => return Outcome { table: desk.table, tried: lookup.tried().to_vec() },
                Step::Missing => return Outcome { table: None, tried: lookup.tried().to_vec() },
            }
        }
    }

    fn execute(&self, request: &Request, desk: &mut Desk) -> Answer {
        match request {
            Request::Cached(key) => match self.symbols.cache.get(key) {
                Some(table) => {
                    desk.table = Some(table);
                    Answer::Named
                }
                None => Answer::Absent,
            },
            Request::Open(place) => self.open(place, desk),
            Request::Download { server, url, contents, kept } => self.download(server, url, *contents, kept, desk),
            Request::HasTwoTiers(server) => self.has_two_tiers(server),
            Request::Pointer(file) => {
                let Some(held) = desk.get(*file) else { return Answer::Absent };
                let mut text = Vec::new();
                match (&held.file).take(MAX_POINTER).read_to_end(&mut text) {
                    Ok(_) => Answer::Text(String::from_utf8_lossy(&text).into_owned()),
                    Err(error) => Answer::Refused(error.to_string()),
                }
            }
            Request::Expand(file) => {
                let Some(held) = desk.get(*file).take() else { return Answer::Absent };
                match self.expand(held, expand_cabinet) {
                    Ok(held) => desk.hold(held),
                    Err(why) => Answer::Refused(why),
                }
            }
            Request::Identify { file, identity } => {
                let Some(held) = desk.get(*file) else { return Answer::Absent };
                match self.readers.pdb_of(&held.file, identity) {
                    Ok(pdb) => Answer::Pdb(pdb),
                    Err(error) => self.wrong(held, &error.to_string()),
                }
            }
            Request::Read { .. } => self.read(request, desk),
            Request::Keep { file, places } => match desk.get(*file) {
                Some(held) => keep(held, places),
                None => Answer::Absent,
            },
            Request::Discard(file) => {
                if let Some(held) = desk.get(*file).take() {
                    self.discard(held, "");
                }
                Answer::Yes
            }
        }
    }

    fn open(&self, place: &Place, desk: &mut Desk) -> Answer {
        let parts = place.below.parts().iter().map(FileName::as_str);
        match open_below(&place.root, parts, Some(&self.symbols.listings)) {
            Ok(file) => desk.hold(Held { file, url: None, part: None, unpacked: None }),
            Err(error) if is_absent(&error) => Answer::Absent,
            Err(error) => Answer::Refused(error.to_string()),
        }
    }

    fn read(&self, request: &Request, desk: &mut Desk) -> Answer {
        let Request::Read { file, source, identity, key, shared } = request else { return Answer::Absent };
        let other = shared.flatten().and_then(|shared| desk.get(shared).take());
        let Some(held) = desk.get(*file) else { return Answer::Absent };
        let length = held.file.metadata().map_or(0, |facts| facts.len());
        let other_length = other.as_ref().and_then(|other| other.file.metadata().ok()).map_or(0, |facts| facts.len());
        // Many small files at once, or one large one. A table that was built takes memory until the cache has it.
        let _reader = self.symbols.readers.take(1);
        let _memory = self.symbols.memory.take(length.saturating_add(other_length));
        let names = self.readers.read(&Reading {
            file: &held.file,
            length,
            source: *source,
            identity,
            key: key.as_str(),
            may_need: shared.is_none(),
            shared: other.as_ref().map(|other| &other.file),
        });
        match names {
            Ok(Names::Table(table)) => {
                // Without it the next run reads the file again.
                let _ = self.symbols.cache.put(key, &table);
                // The cache's is mapped, so the one that was built can go.
                desk.table = Some(self.symbols.cache.get(key).unwrap_or(table));
                Answer::Named
            }
            Ok(Names::Needs { build_id, path }) if shared.is_none() => Answer::Needs(build_id, path),
            Ok(Names::Nothing) => Answer::Absent,
            Ok(Names::Needs { .. }) => Answer::Refused("needs one more file".to_owned()),
            Err(error) => self.wrong(held, &error.to_string()),
        }
    }

    /// Notes that a file is not what its name says. The file itself is discarded when the look-up says so.
    fn wrong(&self, held: &mut Held, why: &str) -> Answer {
        if let Some(url) = held.url.take() {
            self.symbols.misses.add(&url, Reason::Refused(why.to_owned()));
        }
        Answer::Refused(why.to_owned())
    }

    fn discard(&self, mut held: Held, why: &str) {
        if let Some(url) = held.url.take().filter(|_| !why.is_empty()) {
            self.symbols.misses.add(&url, Reason::Refused(why.to_owned()));
        }
        if let Some(part) = held.part.take() {
            part.remove();
        }
    }

    /// Unpacks a file into a temporary one beside the parts; one that cannot be is discarded.
    fn expand(
        &self,
        mut held: Held,
        unpack: fn(&mut File, &mut File, u64) -> std::io::Result<()>,
    ) -> Result<Held, String> {
        let directory = &self.symbols.parts;
        let unpacked =
            create_directory(directory).and_then(|()| Temporary::new(directory)).and_then(|(mut file, temporary)| {
                unpack(&mut held.file, &mut file, self.symbols.options.limits.size)?;
                Ok((file, temporary))
            });
        match unpacked {
            Ok((file, temporary)) => {
                let path = temporary.path().unwrap_or(Path::new("")).to_owned();
                Ok(Held { file, unpacked: Some((temporary, path)), ..held })
            }
            Err(error) => {
                let why = format!("cannot be unpacked: {error}");
                self.discard(held, &why);
                Err(why)
            }
        }
    }

    fn download(&self, server: &str, url: &str, contents: Contents, kept: &[Place], desk: &mut Desk) -> Answer {
        match self.symbols.misses.get(url) {
            Some(Reason::Absent) => return Answer::AbsentLately,
            Some(Reason::Refused(why)) => return Answer::Refused(format!("{why} (seen less than an hour ago)")),
            None => {}
        }
        if self.is_cancelled() {
            return Answer::Cancelled;
        }
        if self.symbols.hosts.is_down(server) {
            return Answer::Unreachable;
        }
        let part = match Part::open(&self.symbols.parts, url, || !self.is_cancelled()) {
            Ok(Some(part)) => part,
            Ok(None) => return Answer::Cancelled,
            Err(error) => return Answer::Refused(format!("cannot be downloaded: {error}")),
        };
        if part.was_shared {
            // Somebody else was at it: so it may be here by now.
            for place in kept {
                if let answer @ Answer::File(_) = self.open(place, desk) {
                    part.remove();
                    return answer;
                }
            }
        }
        // Only now: who has a slot waits for nobody but the server.
        let _slot = self.symbols.slots.take(1);
        if self.is_cancelled() {
            return Answer::Cancelled;
        }
        if !self.symbols.hosts.may_ask(server) {
            return Answer::Unreachable;
        }
        let (part, result) = self.transfer(url, contents, part);
        self.note_health(server, &result);
        let held = part.and_then(|part| {
            let file = part.file.try_clone().ok()?;
            Some(Held { file, url: Some(url.to_owned()), part: Some(part), unpacked: None })
        });
        match (result, held) {
            (Ok(()), Some(held)) => self.received(held, contents, desk),
            (Err(Failure::Cancelled), _) => Answer::Cancelled,
            (Err(Failure::Silent(_)), _) => Answer::Unreachable,
            (Err(Failure::Absent), held) => {
                held.into_iter().for_each(|held| self.discard(held, ""));
                self.symbols.misses.add(url, Reason::Absent);
                Answer::Absent
            }
            (Err(Failure::Refused(why) | Failure::Interrupted(why)), held) => {
                held.into_iter().for_each(|held| self.discard(held, &why));
                Answer::Refused(why)
            }
            (Err(Failure::Troubled(why)), _) => Answer::Refused(why),
            (Err(Failure::NoRest), _) | (Ok(()), None) => Answer::Refused("cannot be downloaded".to_owned()),
            (Err(Failure::Local(why)), held) => {
                held.into_iter().for_each(|held| self.discard(held, ""));
                Answer::Refused(format!("cannot be written: {why}"))
            }
        }
    }

    /// A file has come whole: unpacks what was packed for the way only, and looks at it.
    fn received(&self, mut held: Held, contents: Contents, desk: &mut Desk) -> Answer {
        if held.part.as_ref().is_some_and(|part| part.facts.is_gzip) {
            held = match self.expand(held, gunzip) {
                Ok(held) => held,
                Err(why) => return Answer::Refused(why),
            };
        }
        match check_file(&mut held.file, contents) {
            Ok(()) => desk.hold(held),
            Err(why) => {
                self.discard(held, &why);
                Answer::Refused(why)
            }
        }
    }

    /// Downloads on a thread of its own, so that nobody has to wait for a silent server who has ended the downloads: such a thread ends by itself,
    /// after its time-out at the latest.
    fn transfer(&self, url: &str, contents: Contents, mut part: Part) -> (Option<Part>, Result<(), Failure>) {
        enum Event {
            Received(u64, Option<u64>),
            Ended(Part, Result<(), Failure>),
        }
        let number = DownloadNumber(self.symbols.downloads.fetch_add(1, Ordering::Relaxed));
        let (client, limits) = (self.symbols.client().clone(), self.symbols.options.limits.clone());
        let (events, received) = mpsc::sync_channel(16);
        let ended = Arc::new(AtomicBool::new(false));
        let (is_ended, address) = (Arc::clone(&ended), url.to_owned());
        self.observer.begun(number, url);
        let thread = std::thread::Builder::new().name("download".to_owned()).spawn(move || {
            let result = download(&client, &limits, &address, contents, &mut part, &mut |bytes, total| {
                // Nobody needs to hear of every piece.
                let _ = events.try_send(Event::Received(bytes, total));
                !is_ended.load(Ordering::Relaxed)
            });
            let _ = events.send(Event::Ended(part, result));
        });
        if let Err(error) = thread {
            self.observer.ended(number, false);
            return (None, Err(local(error)));
        }
        loop {
            match received.recv_timeout(POLL) {
                Ok(Event::Received(bytes, total)) => self.observer.received(number, bytes, total),
                Ok(Event::Ended(part, result)) => {
                    self.observer.ended(number, result.is_ok());
                    return (Some(part), result);
                }
                Err(RecvTimeoutError::Timeout) if !self.is_cancelled() => continue,
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => {
                    self.observer.ended(number, false);
                    return (None, Err(Failure::Local("the download ended unexpectedly".to_owned())));
                }
            }
            if self.is_cancelled() {
                ended.store(true, Ordering::Relaxed);
                self.observer.ended(number, false);
                return (None, Err(Failure::Cancelled));
            }
        }
    }

    /// The result of a request, unless nobody waits for it any more; then it ends by itself, after its time-out at the latest.
    fn unless_cancelled(&self, ask: impl FnOnce() -> Result<(), Failure> + Send + 'static) -> Result<(), Failure> {
        let (result, results) = mpsc::sync_channel(1);
        let thread = std::thread::Builder::new().name("request".to_owned());
        thread.spawn(move || result.send(ask())).map_err(local)?;
        loop {
            match results.recv_timeout(POLL) {
                Ok(result) => return result,
                Err(RecvTimeoutError::Timeout) if !self.is_cancelled() => {}
                Err(_) => return Err(Failure::Cancelled),
            }
        }
    }

    fn note_health(&self, server: &str, result: &Result<(), Failure>) {
        let (health, why) = match result {
            Ok(()) | Err(Failure::Absent | Failure::Refused(_) | Failure::NoRest | Failure::Interrupted(_)) => {
                (Health::Answered, "")
            }
            Err(Failure::Silent(why)) => (Health::Silent, why.as_str()),
            Err(Failure::Troubled(why)) => (Health::Troubled, why.as_str()),
            Err(Failure::Cancelled | Failure::Local(_)) => (Health::Unknown, ""),
        };
        if self.symbols.hosts.ended(server, health) {
            self.observer.trouble(&format!("{server}: {why}; not asked any more"));
        }
    }

    /// Whether a server's store has two tiers, which a file in its root tells (`index2.txt`).
    fn has_two_tiers(&self, server: &str) -> Answer {
        let url = format!("{server}/index2.txt");
        if let Some(known) = self.symbols.tiers(&url) {
            return if known { Answer::Yes } else { Answer::Absent };
        }
        if self.symbols.misses.get(&url).is_some() || self.is_cancelled() || !self.symbols.hosts.may_ask(server) {
            return Answer::Absent;
        }
        let (client, address) = (self.symbols.client().clone(), url.clone());
        let result = self.unless_cancelled(move || {
            let response = client.get(&address, None)?;
            if response.is_page { Err(Failure::Absent) } else { Ok(()) }
        });
        self.note_health(server, &result);
        match &result {
            Ok(()) => {}
            Err(Failure::Silent(_) | Failure::Troubled(_) | Failure::Cancelled) => return Answer::Absent,
            Err(_) => self.symbols.misses.add(&url, Reason::Absent),
        }
        self.symbols.note_tiers(url, result.is_ok());
        if result.is_ok() { Answer::Yes } else { Answer::Absent }
    }

    fn is_cancelled(&self) -> bool {
        self.cancel.load(Ordering::Relaxed)
    }
}

/// Puts a file that was right into all places: the first by moving it, where it is ours.
fn keep(held: &mut Held, places: &[Place]) -> Answer {
    let mut failed = None;
    for (at, place) in places.iter().enumerate() {
        let is_last = at + 1 == places.len();
        let kept = match (&mut held.unpacked, &held.part) {
            (Some((_, path)), _) if is_last => store::move_from(path, &held.file, place),
            (None, Some(part)) if is_last => store::move_from(part.path(), &held.file, place),
            _ => store::copy(&held.file, place),
        };
        if let Err(error) = kept {
            failed = Some(format!("cannot be put into {}: {error}", place.root.display()));
        }
    }
    if let Some(part) = held.part.take() {
        part.remove();
    }
    failed.map_or(Answer::Yes, Answer::Refused)
}

/// Whether an error says that there is no such file, and not that it may not be read.
fn is_absent(error: &std::io::Error) -> bool {
    matches!(error.kind(), std::io::ErrorKind::NotFound | std::io::ErrorKind::NotADirectory)
}
