//! The account of a window of time: which thread had each nanosecond, in which state, in which code.
//!
//! `spec` reads the window that people write, `window` finds it in a recording with the thread that the account starts from
//! (of the process that `marking_process` finds, if nobody names one), and `account` follows the bounded critical path ([`tracesift_analysis::path`]) through it, whose leaves
//! `collector` folds into parts; `disk_waits` finds the operations that ended waits. An account consists of parts with
//! numbers in place of names; `rows` names them, as coarse or as fine as somebody asks. Who wants to know more
//! than that is a `witness`: it takes the pieces one by one, with the `chains` of threads that lead to them and
//! what `charges` makes of samples.

pub(crate) mod account;
pub(crate) mod chains;
mod charges;
mod collector;
mod disk_waits;
mod marking_process;
mod on_cpu;
mod options;
pub(crate) mod parties;
pub(crate) mod places;
pub(crate) mod rows;
pub(crate) mod spec;
pub(crate) mod window;
pub(crate) mod witness;

use std::sync::Arc;

use clap::ValueEnum;
use tracesift_analysis::disturbances::Disturbances;
use tracesift_analysis::tags::TagSet;
use tracesift_archive::Error;
use tracesift_extract::stack_methods::Granularity;
use tracesift_trace::rows::{ProcessRow, ThreadRow};

pub use self::options::AccountOptions;
pub use self::spec::{WindowError, WindowKind, WindowSpec};
pub use self::window::WindowQuery;

use self::account::{Account, Level, Switched};
use self::parties::Parties;
use self::places::Places;
use self::rows::Namer;
use self::window::{Among, Found, People};
use self::witness::Witness;
use crate::absence::Absence;
use crate::recorded_program;
use crate::recording::OpenRecording;
use crate::table_question::built_in_tags;

/// What a wait for work means.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Follow {
    /// It is a wait: the path returns to the thread that waited.
    Waits,
    /// The request of the thread came from the thread that ended the wait: the path goes on there.
    Requests,
}

/// Which accounts are asked for.
#[derive(Clone, Debug, Default)]
pub struct AccountQuery {
    /// The windows.
    pub windows: WindowQuery,
    /// What a wait for work means; `None`: as the window implies.
    pub follow: Option<Follow>,
    /// What counts as a disturbance.
    pub disturbances: Arc<Disturbances>,
    /// The rules for tags; `None`: the built-in ones.
    pub tags: Option<Arc<TagSet>>,
    /// Whether several windows of a recording are repetitions of one measurement, so that their mean counts.
    pub repetitions: bool,
}

/// Why a recording has no account.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Missing {
    /// What it lacks.
    pub(crate) what: &'static str,
    /// Why.
    pub(crate) why: Absence,
}

impl AccountQuery {
    /// The windows of a recording. Of several processes the one that was recorded counts, unless all of them are repetitions.
    ///
    /// # Errors
    /// When a table cannot be read.
    pub(crate) fn find(&self, recording: &OpenRecording, people: People<'_>) -> Result<Found, Error> {
        self.windows.find(recording, people, if self.repetitions { Among::All } else { Among::Recorded })
    }

    /// Shows the account of each window of a recording, by time, with the names of its parts.
    ///
    /// # Errors
    /// When a table cannot be read.
    pub(crate) fn each(
        &self,
        recording: &OpenRecording,
        mut visit: impl FnMut(&Account, &Namer<'_, '_, '_>),
    ) -> Result<Result<(), Missing>, Error> {
        self.each_with(recording, || (), |account, namer, ()| visit(account, namer))
    }

    /// The same, with somebody who takes the pieces of the account.
    ///
    /// # Errors
    /// When a table cannot be read.
    pub(crate) fn each_with<W: Witness>(
        &self,
        recording: &OpenRecording,
        mut witness: impl FnMut() -> W,
        mut visit: impl FnMut(&Account, &Namer<'_, '_, '_>, W),
    ) -> Result<Result<(), Missing>, Error> {
        let Some(level) = Level::of(recording) else {
            let why = recording.file.absence_of("context_switches");
            return Ok(Err(Missing { what: "context switches", why }));
        };
        let archive = recording.archive();
        let mut processes: Vec<ProcessRow> = archive.rows()?;
        recorded_program::complete(&recording.info().facts, &mut processes);
        let threads: Vec<ThreadRow> = archive.rows()?;
        let people = People { processes: &processes, threads: &threads };
        let windows = match self.find(recording, people)? {
            Ok(windows) => windows,
            Err(why) => return Ok(Err(Missing { what: "window", why })),
        };
        let named = recording.named_stacks(Granularity::default())?;
        let set = self.tags.clone().unwrap_or_else(built_in_tags);
        let mut places = Places::new(&named, &set);
        let is_linux = recording.info().kind == "perf";
        let switched = if level == Level::Samples { Switched::default() } else { Switched::of(recording)? };
        for window in windows {
            let mut parties = Parties::new(people, window.process, is_linux);
            let mut witness = witness();
            let follows_requests = self.follow.map_or(window.hops, |follow| follow == Follow::Requests);
            let (how, names) = ((level, follows_requests), (&mut parties, &mut places, &mut witness));
            let account = account::of(recording, window, how, people, &switched, names)?;
            let namer = Namer { parties: &parties, places: &places, disturbances: &self.disturbances };
            visit(&account, &namer, witness);
        }
        Ok(Ok(()))
    }
}
