//! Disturbances: parts of a test's time that others took, and to which its own code gives no cause.
//!
//! A scanner reads a file before the test may, a checkpoint of the file system holds a lock, another
//! program has the CPU. Such time lies on the [path](crate::path) of a test and differs from run to run. A
//! part of a path is a disturbance of at most one [`Kind`]: the first one whose rule fits, in the order of
//! [`Kind::ALL`].
//!
//! A rule looks at the part only, never at other parts or at other runs. So whoever leaves disturbances
//! out, or leaves out fewer kinds of them, cannot create a difference between two sets of runs.
//!
//! The names of processes and threads and the stack tags of the rules are opinions. They stand in a file
//! with a version ([`BUILT_IN`]), which a report can print.
//!
//! Names count for threads outside of the test only: the test of a virus scanner is not its own
//! disturbance. Stack tags count in any thread, since the drivers of a scanner run in the threads of those
//! who open files; those of checkpoints count outside of the test only, since a test that flushes its file
//! waits for its own work.

mod choice;
mod facts;
mod kind;
mod list;

use std::sync::LazyLock;

pub use choice::KindError;
pub use facts::{Activity, Occupant, PartFacts};
pub use kind::Kind;
pub use list::BUILT_IN;

use list::{List, Subject};

use crate::roles::without_exe;

/// A test reads the list, so there is no error.
static LIST: LazyLock<List> = LazyLock::new(|| List::read(BUILT_IN).expect("a test reads the built-in list"));

/// The kinds of disturbances that count.
#[derive(Clone, Debug)]
pub struct Disturbances {
    list: &'static List,
    /// In the order of the rules, each once.
    kinds: Vec<Kind>,
}

impl Default for Disturbances {
    fn default() -> Self {
        Self::standard()
    }
}

impl Disturbances {
    /// Those of all kinds.
    #[must_use]
    pub fn standard() -> Self {
        Self::of(Kind::ALL.to_vec())
    }

    /// Those of the kinds that a text names: `default` for all, `none`, or a list such as
    /// `antivirus,cpu-taken`. A kind behind `!` does not count: `!antivirus` is all others.
    ///
    /// # Errors
    /// When a word of the list is no kind.
    pub fn choose(text: &str) -> Result<Self, KindError> {
        choice::kinds(text).map(Self::of)
    }

    fn of(kinds: Vec<Kind>) -> Self {
        Self { list: &LIST, kinds }
    }

    /// The version of the list of names: answers of different versions cannot be compared.
    #[must_use]
    pub fn version(&self) -> u32 {
        self.list.version()
    }

    /// The kinds that count, in the order of the rules.
    #[must_use]
    pub fn kinds(&self) -> &[Kind] {
        &self.kinds
    }

    /// The kind of disturbance that a part of a path is; `None`: the time is the test's own, or its kind
    /// does not count. A kind that does not count is not taken for another one whose rule would fit, too.
    ///
    /// The search compares names with all patterns. A caller asks once for parts that have the same facts.
    #[must_use]
    pub fn kind_of(&self, part: &PartFacts<'_>) -> Option<Kind> {
        Kind::ALL.into_iter().find(|kind| self.fits(*kind, part)).filter(|kind| self.kinds.contains(kind))
    }

    /// Whether a process with this image is a virus scanner, whatever kinds count.
    #[must_use]
    pub fn is_antivirus(&self, image: &str) -> bool {
        self.list.has(Kind::Antivirus, Subject::Process, without_exe(image))
    }

    /// Whether a process with this image is a recorder, whatever kinds count.
    #[must_use]
    pub fn is_recorder(&self, image: &str) -> bool {
        self.list.has(Kind::Recorder, Subject::Process, without_exe(image))
    }

    fn fits(&self, kind: Kind, part: &PartFacts<'_>) -> bool {
        let is_ready = part.activity == Activity::Ready;
        match kind {
            Kind::Unknown => match part.activity {
                Activity::Unknown => true,
                Activity::OpenWait => !part.is_of_test,
                Activity::Run | Activity::Interrupt | Activity::Ready | Activity::Wait => false,
            },
            Kind::Recorder | Kind::Antivirus | Kind::Paging | Kind::Updates => {
                self.has_name(kind, part) || self.has_tag(kind, part)
            }
            Kind::Checkpoint => !part.is_of_test && (self.has_name(kind, part) || self.has_tag(kind, part)),
            Kind::CpuTaken => is_ready && part.occupant == Occupant::Other,
            Kind::CpuAsleep => is_ready && part.occupant == Occupant::Idle,
            Kind::Interrupts => part.activity == Activity::Interrupt,
        }
    }

    fn has_name(&self, kind: Kind, part: &PartFacts<'_>) -> bool {
        let is = |subject, name| self.list.has(kind, subject, name);
        // A thread of the Linux kernel is a process of its own, and its only thread may have no other name.
        let thread = part.thread.unwrap_or(part.image);
        !part.is_of_test && (is(Subject::Process, without_exe(part.image)) || is(Subject::Thread, thread))
    }

    fn has_tag(&self, kind: Kind, part: &PartFacts<'_>) -> bool {
        // Why a thread could not run, the one that had the CPU tells, and not the code at which it lost the
        // CPU.
        let tag = part.tag.filter(|_| part.activity != Activity::Ready);
        tag.is_some_and(|tag| self.list.has(kind, Subject::Tag, tag))
    }
}

#[cfg(test)]
mod tests;
