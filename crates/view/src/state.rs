//! What requests share.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::Semaphore;
use tracesift_archive::Watch;
use tracesift_ask::recording::OpenRecording;

use crate::answers::Answers;
use crate::failure::Failure;
use crate::guard::Guard;
use crate::recording::{Opened, TagFile};
use crate::work::{AT_ONCE, WAITING};

/// The watches of requests that have a name, each with its number.
#[derive(Default)]
struct Named {
    last: u64,
    watches: HashMap<String, (u64, Watch)>,
}

/// What all requests share.
pub(crate) struct State {
    pub(crate) recordings: Vec<Opened>,
    pub(crate) tag_files: Vec<TagFile>,
    pub(crate) answers: Arc<dyn Answers>,
    pub(crate) guard: Guard,
    /// The answer to `session`.
    pub(crate) session: serde_json::Value,
    /// Turns of computations.
    pub(crate) computing: Arc<Semaphore>,
    /// Places of those that wait for a turn.
    pub(crate) waiting: Arc<Semaphore>,
    named: Mutex<Named>,
}

impl State {
    pub(crate) fn new(
        recordings: Vec<Opened>,
        tag_files: Vec<TagFile>,
        answers: Arc<dyn Answers>,
        (guard, session): (Guard, serde_json::Value),
    ) -> Self {
        let computing = Arc::new(Semaphore::new(AT_ONCE));
        let waiting = Arc::new(Semaphore::new(WAITING));
        Self { recordings, tag_files, answers, guard, session, computing, waiting, named: Mutex::default() }
    }

    /// A recording of the session.
    pub(crate) fn opened(&self, place: usize) -> Result<&Opened, Failure> {
        self.recordings.get(place).ok_or_else(|| Failure::missing("recording: gone"))
    }

    /// What the session keeps of a recording.
    pub(crate) fn opened_of(&self, recording: &OpenRecording) -> Result<&Opened, Failure> {
        let is_it = |opened: &&Opened| opened.recording.file.path == recording.file.path;
        self.recordings.iter().find(is_it).ok_or_else(|| Failure::missing("recording: gone"))
    }

    /// A recording of the session, whose readings somebody watches.
    pub(crate) fn watched(&self, place: usize, watch: &Watch) -> Result<OpenRecording, Failure> {
        self.opened(place)?.watched_by(watch)
    }

    /// Gives the watch of a request a name, and a number. Of two requests with one name the later one has it.
    pub(crate) fn remember(&self, id: &str, watch: &Watch) -> u64 {
        let mut named = self.named();
        named.last += 1;
        let number = named.last;
        named.watches.insert(id.to_owned(), (number, watch.clone()));
        number
    }

    /// Takes the name away again, if the request of this number still has it.
    pub(crate) fn forget(&self, id: &str, number: u64) {
        let mut named = self.named();
        if named.watches.get(id).is_some_and(|(known, _)| *known == number) {
            named.watches.remove(id);
        }
    }

    /// The watch of a request.
    pub(crate) fn watch_of(&self, id: &str) -> Option<Watch> {
        self.named().watches.get(id).map(|(_, watch)| watch.clone())
    }

    fn named(&self) -> MutexGuard<'_, Named> {
        self.named.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
