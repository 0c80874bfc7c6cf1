//! Disturbances: parts of a test's time that others took, and to which its own code gives no cause.
//!
//! A scanner that reads a file before the test may, a checkpoint of the file system that holds a lock, another program that had
//! the CPU: such time lies on the path of a test ([`crate::path`]) and differs from run to run. A part of a path is a disturbance of
//! one kind at most. The rule looks at this part only, never at other runs, so that leaving disturbances out cannot create a
//! difference between two sets of runs.
//!
//! The names of processes and threads and the stack tags that the rules look for stand in a file (`default.txt`).

mod list;

use std::fmt;

use self::list::{List, Subject};

/// A kind of disturbance, in the order in which the rules are tried: the first that fits counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Kind {
    /// Time of which nothing is known, and waits of other processes without an end.
    Unknown,
    /// The recorder itself.
    Recorder,
    /// A virus scanner: its processes, and its drivers on the stacks of any process.
    Antivirus,
    /// Checkpoints, logs and write-behind of file systems, in threads that are not of the test.
    Checkpoint,
    /// Hard page faults, trimming and compression of memory.
    Paging,
    /// Programs that install updates or index files.
    Updates,
    /// The thread could run, and another program had the CPU.
    CpuTaken,
    /// The thread could run, and the CPU was idle.
    CpuAsleep,
    /// Interrupts and deferred procedure calls that ran in its time.
    Interrupts,
}

impl Kind {
    /// All kinds, in the order of the rules.
    pub const ALL: [Self; 9] = [
        Self::Unknown,
        Self::Recorder,
        Self::Antivirus,
        Self::Checkpoint,
        Self::Paging,
        Self::Updates,
        Self::CpuTaken,
        Self::CpuAsleep,
        Self::Interrupts,
    ];

    /// The word for it.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Unknown => "unknown",
            Self::Recorder => "recorder",
            Self::Antivirus => "antivirus",
            Self::Checkpoint => "checkpoint",
            Self::Paging => "paging",
            Self::Updates => "updates",
            Self::CpuTaken => "cpu-taken",
            Self::CpuAsleep => "cpu-asleep",
            Self::Interrupts => "interrupts",
        }
    }

    fn of_word(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.word().eq_ignore_ascii_case(word))
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.word())
    }
}

/// What the thread of a part did.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Activity {
    /// It ran its own code.
    Run,
    /// An interrupt or a deferred procedure call had the CPU while it ran.
    Interrupt,
    /// It could run.
    Ready,
    /// It waited, and a timer or a device ended the wait.
    Wait,
    /// It waited, and nobody knows who ended the wait.
    OpenWait,
    /// Nobody knows.
    Unknown,
}

/// Who had the CPU while a thread could run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Occupant {
    /// A process of the test.
    Test,
    /// Another process.
    Other,
    /// Nobody: the CPU was idle.
    Idle,
    /// It is not known.
    Unknown,
}

/// A part of a path, as the rules see it.
#[derive(Clone, Copy, Debug)]
pub struct PartFacts<'a> {
    /// What its thread did.
    pub activity: Activity,
    /// Whether the thread belongs to the test.
    pub is_of_test: bool,
    /// File name of its process' image.
    pub image: &'a str,
    /// Name of the thread.
    pub thread: Option<&'a str>,
    /// Stack tag of the code that ran or waited.
    pub tag: Option<&'a str>,
    /// Who had the CPU while the thread could run.
    pub occupant: Occupant,
}

/// The disturbances that count.
#[derive(Clone, Debug)]
pub struct Disturbances {
    list: List,
    kinds: Vec<Kind>,
}

/// A text that chooses no kinds.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is no kind of disturbance; there are {kinds}, and `default` and `none`", kinds = Kind::ALL.map(Kind::word).join(", "))]
pub struct KindError(String);

impl Default for Disturbances {
    fn default() -> Self {
        Self { list: List::built_in(), kinds: Kind::ALL.to_vec() }
    }
}

impl Disturbances {
    /// Those of these kinds: `default`, `none`, or words of [`Kind`] with commas between.
    ///
    /// # Errors
    /// When a word is no kind.
    pub fn choose(text: &str) -> Result<Self, KindError> {
        let all = Self::default();
        let kinds = match text.trim() {
            "default" => return Ok(all),
            "none" => Vec::new(),
            kinds => {
                let kind = |word: &str| Kind::of_word(word.trim()).ok_or_else(|| KindError(word.trim().to_owned()));
                kinds.split(',').map(kind).collect::<Result<_, _>>()?
            }
        };
        Ok(Self { kinds, ..all })
    }

    /// The version of the names that the rules look for.
    #[must_use]
    pub fn version(&self) -> u32 {
        self.list.version
    }

    /// The kinds that count.
    #[must_use]
    pub fn kinds(&self) -> &[Kind] {
        &self.kinds
    }

    /// The kind of disturbance that a part of a path is; `None`: it is the test's own.
    #[must_use]
    pub fn kind_of(&self, part: &PartFacts<'_>) -> Option<Kind> {
        Kind::ALL.into_iter().filter(|kind| self.kinds.contains(kind)).find(|kind| self.is(*kind, part))
    }

    /// Whether a process is a virus scanner, whatever kinds count.
    #[must_use]
    pub fn is_antivirus(&self, image: &str) -> bool {
        self.list.has(Kind::Antivirus, Subject::Process, stem(image))
    }

    /// Whether a process is a recorder, whatever kinds count.
    #[must_use]
    pub fn is_recorder(&self, image: &str) -> bool {
        self.list.has(Kind::Recorder, Subject::Process, stem(image))
    }

    fn is(&self, kind: Kind, part: &PartFacts<'_>) -> bool {
        match kind {
            Kind::Unknown => match part.activity {
                Activity::Unknown => true,
                Activity::OpenWait => !part.is_of_test,
                _ => false,
            },
            Kind::CpuTaken => part.activity == Activity::Ready && part.occupant == Occupant::Other,
            Kind::CpuAsleep => part.activity == Activity::Ready && part.occupant == Occupant::Idle,
            Kind::Interrupts => part.activity == Activity::Interrupt,
            // A test that flushes its own file waits for itself.
            Kind::Checkpoint => !part.is_of_test && self.is_listed(kind, part),
            Kind::Recorder | Kind::Antivirus | Kind::Paging | Kind::Updates => self.is_listed(kind, part),
        }
    }

    /// Whether the list names the process or the thread, if it is none of the test, or the code.
    fn is_listed(&self, kind: Kind, part: &PartFacts<'_>) -> bool {
        let by_name = !part.is_of_test
            && (self.list.has(kind, Subject::Process, stem(part.image))
                || part.thread.is_some_and(|thread| self.list.has(kind, Subject::Thread, thread)));
        by_name || part.tag.is_some_and(|tag| self.list.has(kind, Subject::Tag, tag))
    }
}

/// The file name of an image without `.exe`.
fn stem(image: &str) -> &str {
    let cut = image.len().checked_sub(4).and_then(|at| image.split_at_checked(at));
    cut.filter(|(_, extension)| extension.eq_ignore_ascii_case(".exe")).map_or(image, |(stem, _)| stem)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::{Activity, Disturbances, Kind, Occupant, PartFacts};

    fn part(image: &'static str) -> PartFacts<'static> {
        PartFacts {
            activity: Activity::Run,
            is_of_test: false,
            image,
            thread: None,
            tag: None,
            occupant: Occupant::Unknown,
        }
    }

    #[test]
    fn each_kind_has_an_example_and_a_near_miss() {
        let ready = |occupant| PartFacts { activity: Activity::Ready, occupant, is_of_test: true, ..part("app") };
        let of_test = |tag| PartFacts { is_of_test: true, tag: Some(tag), ..part("app") };
        let cases = [
            (
                Kind::Unknown,
                PartFacts { activity: Activity::OpenWait, ..part("svchost.exe") },
                PartFacts { activity: Activity::OpenWait, is_of_test: true, ..part("app") },
            ),
            (Kind::Recorder, part("perf"), part("perfect")),
            (Kind::Antivirus, part("MSMPENG.EXE"), part("MsMpEng2.exe")),
            (Kind::Antivirus, of_test("Antivirus\\Defender"), of_test("Antivirus of my own")),
            (
                Kind::Checkpoint,
                PartFacts { thread: Some("jbd2/sda1-8"), ..part("jbd2/sda1-8") },
                PartFacts { thread: Some("jbd"), ..part("jbd") },
            ),
            (
                Kind::Checkpoint,
                PartFacts { is_of_test: false, ..of_test("NTFS Checkpoint Volume") },
                of_test("Write behind"),
            ),
            (Kind::Paging, of_test("Memory\\Page fault\\Hard"), of_test("Memory\\Page fault\\Soft")),
            (Kind::Updates, part("TiWorker.exe"), PartFacts { is_of_test: true, ..part("apt-get") }),
            (Kind::CpuTaken, ready(Occupant::Other), ready(Occupant::Test)),
            (Kind::CpuAsleep, ready(Occupant::Idle), ready(Occupant::Unknown)),
            (Kind::Interrupts, PartFacts { activity: Activity::Interrupt, ..part("app") }, part("app")),
        ];
        let all = Disturbances::default();
        for (kind, example, near_miss) in cases {
            assert_eq!(all.kind_of(&example), Some(kind), "{example:?}");
            assert_eq!(all.kind_of(&near_miss), None, "{near_miss:?}");
        }
        for kind in Kind::ALL {
            assert!(cases.iter().any(|(known, ..)| *known == kind), "{kind} has no example");
        }
    }

    #[test]
    fn the_first_kind_that_fits_counts() {
        let scanner = PartFacts { activity: Activity::OpenWait, ..part("MsMpEng.exe") };
        assert_eq!(Disturbances::default().kind_of(&scanner), Some(Kind::Unknown));
        let chosen = Disturbances::choose("cpu-taken, Antivirus").expect("two kinds");
        assert_eq!(chosen.kind_of(&scanner), Some(Kind::Antivirus));
        assert_eq!(Disturbances::choose("none").expect("no kinds").kind_of(&scanner), None);
        let error = Disturbances::choose("antivirus,virus").expect_err("no kind").to_string();
        assert!(error.starts_with("`virus` is no kind of disturbance; there are unknown, recorder,"), "{error}");
    }

    proptest! {
        #[test]
        fn fewer_kinds_only_leave_out(
            kinds in prop::collection::vec(0..Kind::ALL.len(), 0..9),
            activity in 0..6_usize,
            image in "(MsMpEng|perf|app|apt|svchost)(\\.exe)?",
            tag in "(Antivirus|Memory\\\\Page fault\\\\Hard|Log file|Other)",
            is_of_test: bool,
            occupant in 0..4_usize,
        ) {
            let activities = [
                Activity::Run, Activity::Interrupt, Activity::Ready, Activity::Wait, Activity::OpenWait, Activity::Unknown,
            ];
            let occupants = [Occupant::Test, Occupant::Other, Occupant::Idle, Occupant::Unknown];
            let part = PartFacts {
                activity: activities[activity],
                is_of_test,
                image: &image,
                thread: None,
                tag: Some(&tag),
                occupant: occupants[occupant],
            };
            let words: Vec<&str> = kinds.iter().map(|kind| Kind::ALL[*kind].word()).collect();
            let words = if words.is_empty() { "none".to_owned() } else { words.join(",") };
            let chosen = Disturbances::choose(&words).expect("kinds");
            if let Some(kind) = chosen.kind_of(&part) {
                prop_assert!(chosen.kinds().contains(&kind));
                prop_assert!(Disturbances::default().kind_of(&part).is_some());
            }
        }
    }
}
