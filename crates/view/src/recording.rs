//! The recordings of a session.

use std::sync::{Arc, OnceLock};

use axum::http::StatusCode;
use tracesift_analysis::tags::TagSet;
use tracesift_archive::{Archive, Watch};
use tracesift_ask::recording::{OpenRecording, Source};
use tracesift_ask::region_lanes::RegionLanes;

use crate::failure::Failure;
use crate::kept::{Kept, KeptBy};
use crate::lane::Lane;
use crate::lane::totals::{Entry, TotalsOfThreads};

/// A recording that the command line names.
#[derive(Clone, Debug)]
pub struct Given {
    /// Its archive.
    pub source: Source,
    /// The words that name it on a command line.
    pub file: String,
}

/// A file of stack tags that the command line names.
#[derive(Clone, Debug)]
pub struct TagFile {
    /// What the page calls it: `builtin`, `t0`, `t1` ….
    pub id: String,
    /// Its name for people.
    pub name: String,
    /// Its rules.
    pub tags: Arc<TagSet>,
}

/// A recording of the session, opened once.
#[derive(Debug)]
pub(crate) struct Opened {
    pub(crate) given: Given,
    pub(crate) recording: OpenRecording,
    /// Provider and name of the kinds of events, once somebody has asked.
    pub(crate) kinds: OnceLock<Vec<(String, String)>>,
    /// Lists of lanes with what they have in all of the recorded time, by the lane above them.
    pub(crate) lists: KeptBy<Lane, Vec<Entry>>,
    /// What its threads have in all of the recorded time.
    pub(crate) threads: Kept<TotalsOfThreads>,
    /// Whether it may have regions, and its regions, once somebody has asked.
    pub(crate) may_have_regions: OnceLock<bool>,
    pub(crate) regions: Kept<Arc<RegionLanes>>,
}

impl Opened {
    /// The recording under a watch.
    pub(crate) fn watched_by(&self, watch: &Watch) -> Result<OpenRecording, Failure> {
        self.check()?;
        Ok(self.recording.clone().watched_by(watch))
    }

    /// Fails if another archive lies where this one did: its rows would be taken for those of this one.
    pub(crate) fn check(&self) -> Result<(), Failure> {
        let archive = self.recording.archive();
        if Archive::open(archive.path())?.info() == archive.info() {
            return Ok(());
        }
        let failure =
            Failure::new(StatusCode::CONFLICT, format!("{}: it was replaced by another archive", self.given.file));
        Err(failure.hint("start `tracesift view` again"))
    }
}

/// The place of a recording by the name that the page has for it.
pub(crate) fn place(name: &str, recordings: &[Opened]) -> Result<usize, Failure> {
    let number = name.strip_prefix('r').filter(|digits| digits.len() <= 4 && *digits == digits.trim_start_matches('+'));
    let place = number.and_then(|number| number.parse().ok()).filter(|place| *place < recordings.len());
    place
        .filter(|place| *name == format!("r{place}"))
        .ok_or_else(|| Failure::missing("recording: there is none of this name"))
}
