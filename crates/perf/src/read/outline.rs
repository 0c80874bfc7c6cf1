//! What a walk leaves out whose user only asks who was there: of most threads' samples one says as much as all of them.

use rustc_hash::FxHashMap;

use crate::metadata::Metadata;
use crate::record::{Record, is_of_a_guest};

/// Of so many samples one is handed out all the same, so that who follows hears how far the walk is.
const SIGN_OF_LIFE: u64 = 4096;

/// Samples that were left out.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LeftOut {
    /// How many.
    pub samples: u64,
    /// How many of each event, by its index, as far as there are any.
    pub by_event: Vec<u64>,
    /// The first and the last of their times.
    pub span: Option<(u64, u64)>,
}

/// Chooses the samples that are left out.
pub(super) struct Outline {
    /// Whether samples of this event are needed, and whole.
    whole: fn(&Metadata, usize) -> bool,
    /// The answers by event, for so much metadata.
    by_event: Vec<bool>,
    has_formats: bool,
    /// By thread: its process and the earliest time at which a sample was handed out that says so.
    threads: FxHashMap<i32, (i32, u64)>,
    looked_at: u64,
    left_out: LeftOut,
}

impl Outline {
    pub(super) fn new(whole: fn(&Metadata, usize) -> bool) -> Self {
        let (by_event, threads, left_out) = Default::default();
        Self { whole, by_event, has_formats: false, threads, looked_at: 0, left_out }
    }

    pub(super) fn left_out(&self) -> &LeftOut {
        &self.left_out
    }

    /// The bytes of a sample's body that are handed out; `None` for one that is left out.
    #[inline]
    pub(super) fn needed<'a>(&mut self, sample: &Record<'a>, time: u64, metadata: &Metadata) -> Option<&'a [u8]> {
        // Events come with their attributes, their names with the formats of tracepoints: both only grow.
        if self.by_event.len() != metadata.events.len() || self.has_formats != metadata.tracing.is_some() {
            self.has_formats = metadata.tracing.is_some();
            self.by_event = (0..metadata.events.len()).map(|event| (self.whole)(metadata, event)).collect();
        }
        let event = sample.event();
        if event.and_then(|event| self.by_event.get(event)).copied().unwrap_or(true) {
            return Some(sample.body);
        }
        self.looked_at += 1;
        if self.is_news(sample, time) || self.looked_at.is_multiple_of(SIGN_OF_LIFE) {
            return Some(sample.body.get(..sample.layout.head_length()).unwrap_or(sample.body));
        }
        self.left_out.count(event, time);
        None
    }

    /// Whether nothing said before, or at the same time, that the thread is one of the process.
    fn is_news(&mut self, sample: &Record<'_>, time: u64) -> bool {
        let is_of_host = !is_of_a_guest(sample.cpu_mode());
        let Some((pid, tid)) = sample.thread().filter(|_| is_of_host) else { return true };
        match self.threads.get(&tid) {
            Some((process, since)) if *process == pid && *since <= time => false,
            _ => {
                self.threads.insert(tid, (pid, time));
                true
            }
        }
    }
}

impl LeftOut {
    #[inline]
    fn count(&mut self, event: Option<usize>, time: u64) {
        self.samples += 1;
        let (first, last) = self.span.get_or_insert((time, time));
        *first = time.min(*first);
        *last = time.max(*last);
        let Some(event) = event else { return };
        if self.by_event.len() <= event {
            self.by_event.resize(event + 1, 0);
        }
        if let Some(count) = self.by_event.get_mut(event) {
            *count += 1;
        }
    }
}
