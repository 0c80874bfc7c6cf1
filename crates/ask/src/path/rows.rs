//! The parts of an account with names in place of numbers, as coarse or as fine as somebody asks.

use std::collections::BTreeMap;

use clap::ValueEnum;
use tracesift_analysis::disturbances::{Activity, Disturbances, Kind, Occupant, PartFacts};
use tracesift_analysis::path::Gap;

use super::account::{Account, Code, Did, Ended, For, Holder, Key};
use super::disk_waits::Operation;
use super::parties::{Parties, Party};
use super::places::{Place, Places};
use crate::question::disk::disk_number;

/// How fine the rows of an account are. Each level divides the rows of the one before it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, ValueEnum)]
pub enum Detail {
    /// By state: run, ready, wait, unknown.
    State,
    /// And by process and thread.
    Who,
    /// And by what ended a wait and by stack tag, or by the kind of process that had the CPU.
    Tag,
    /// And by method, or by the process that had the CPU.
    Site,
    /// And by the wait of the anchor that the time was spent for.
    #[default]
    For,
}

/// What the parts of a row have in common; what a level leaves out is empty.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Name {
    /// `run`, `ready`, `wait` or `unknown`; `outside`: the window does not cover it.
    pub(crate) state: &'static str,
    /// The kind of disturbance that it is.
    pub(crate) disturbance: Option<Kind>,
    /// Role of the process.
    pub(crate) process: Option<String>,
    /// Role of the thread.
    pub(crate) thread: Option<String>,
    /// What ended a wait, where no thread can be followed.
    pub(crate) ended_by: Option<String>,
    /// Stack tag of the code; of ready time the class of process that had the CPU; of unknown time the reason.
    pub(crate) tag: Option<String>,
    /// Method; of ready time the process that had the CPU.
    pub(crate) site: Option<String>,
    /// Stack tag of the wait of the anchor that the time was spent for.
    pub(crate) for_tag: Option<String>,
    /// Method of that wait.
    pub(crate) for_site: Option<String>,
}

/// Whether so much of a time is unknown, ns of ns, that nothing is said of the rest: more than 2 %.
pub(crate) fn too_little_is_known(unknown: i64, of: i64) -> bool {
    unknown.saturating_mul(50) > of
}

/// A row of an account.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Row {
    /// What its parts have in common.
    pub(crate) name: Name,
    /// Its time, ns.
    pub(crate) time: i64,
    /// Stretches of time; `None` where samples divide them.
    pub(crate) leaves: Option<u64>,
    /// The longest of these, ns.
    pub(crate) longest: Option<i64>,
    /// Sum of the squares of their lengths, ns².
    pub(crate) squares: f64,
    /// Samples.
    pub(crate) samples: u64,
}

impl Row {
    /// A row that is no stretch of time.
    pub(crate) fn plain(name: Name, time: i64) -> Self {
        Self { name, time, leaves: None, longest: None, squares: 0.0, samples: 0 }
    }

    /// Adds a row of the same name.
    pub(crate) fn join(&mut self, other: &Self) {
        self.time = self.time.saturating_add(other.time);
        self.leaves = self.leaves.zip(other.leaves).map(|(leaves, more)| leaves + more);
        self.longest = self.longest.zip(other.longest).map(|(longest, other)| longest.max(other));
        self.squares += other.squares;
        self.samples += other.samples;
    }
}

/// Names the parts of accounts.
pub(crate) struct Namer<'a, 'p, 's> {
    pub(crate) parties: &'a Parties<'p>,
    pub(crate) places: &'a Places<'s>,
    pub(crate) disturbances: &'a Disturbances,
}

impl Namer<'_, '_, '_> {
    /// The rows of an account at a level, in the order of their names. Their times add up to those of the parts.
    pub(crate) fn rows(&self, account: &Account, detail: Detail) -> Vec<Row> {
        let mut rows: BTreeMap<Name, Row> = BTreeMap::new();
        for part in &account.parts {
            let name = self.name(&part.key).coarse(detail);
            // Samples divide the stretches of runs only below the level of threads.
            let is_divided = detail > Detail::Who && matches!(part.key.did, Did::Run(_) | Did::NotSampled);
            let row = rows.entry(name.clone()).or_insert_with(|| Row {
                name,
                time: 0,
                leaves: (!is_divided).then_some(0),
                longest: (!is_divided).then_some(0),
                squares: 0.0,
                samples: 0,
            });
            row.time = row.time.saturating_add(part.time);
            row.leaves = row.leaves.map(|leaves| leaves + part.leaves);
            row.longest = row.longest.map(|longest| longest.max(part.longest));
            row.squares += part.squares;
            row.samples += part.samples;
        }
        rows.into_values().collect()
    }

    /// The name of a part at the finest level.
    pub(crate) fn name(&self, key: &Key) -> Name {
        let party = self.parties.party_of(key.party);
        let place_tag = |place: Place| Some(self.places.tag_text(place.tag).to_owned());
        let site = |place: Place| Some(self.place_text(place));
        let mut name = Name {
            state: state(key.did),
            disturbance: None,
            process: party.map(|party| party.process.clone()),
            thread: party.map(|party| party.thread.clone()),
            ended_by: None,
            tag: None,
            site: None,
            for_tag: None,
            for_site: None,
        };
        match key.did {
            Did::Run(Some(Code::At(place))) => (name.tag, name.site) = (place_tag(place), site(place)),
            Did::Run(Some(Code::Interrupt)) => name.tag = Some("(interrupts)".to_owned()),
            Did::Run(None) => name.tag = Some("(not sampled)".to_owned()),
            Did::NotSampled => name.tag = Some("not on a CPU or not sampled".to_owned()),
            Did::Ready(holder) => {
                name.tag = Some(self.class(holder).to_owned());
                name.site = self.party(holder).map(|party| party.process.clone());
            }
            Did::Wait(ended, place) => {
                name.ended_by = Some(ended_by(ended));
                (name.tag, name.site) = (place_tag(place), site(place));
            }
            Did::Unknown(gap) => name.tag = Some(reason(gap).to_owned()),
        }
        match key.whom {
            For::Own => {}
            For::Birth => name.for_tag = Some("(start of the thread)".to_owned()),
            For::Wait(place) => (name.for_tag, name.for_site) = (place_tag(place), site(place)),
        }
        name.disturbance = self.disturbance(key);
        name
    }

    /// The roles of a party: its process, and its thread in it.
    pub(crate) fn party_text(&self, party: u32) -> String {
        let party = self.parties.party_of(party);
        party.map_or_else(|| "(unknown)".to_owned(), |party| format!("{} {}", party.process, party.thread))
    }

    /// The method of a place.
    pub(crate) fn place_text(&self, place: Place) -> String {
        self.places.site_text(place).unwrap_or("(no stack)").to_owned()
    }

    fn party(&self, holder: Holder) -> Option<&Party> {
        if let Holder::Party(party) = holder { self.parties.party_of(party) } else { None }
    }

    /// The class of process that had a CPU.
    fn class(&self, holder: Holder) -> &'static str {
        match (holder, self.party(holder)) {
            (Holder::Idle, _) => "idle CPU",
            (_, None) => "unknown",
            (_, Some(party)) if party.is_of_test => "the test itself",
            (_, Some(party)) if self.disturbances.is_antivirus(&party.image) => "antivirus",
            (_, Some(party)) if self.disturbances.is_recorder(&party.image) => "recorder",
            (_, Some(party)) if party.is_of_kernel => "kernel",
            _ => "others",
        }
    }

    fn disturbance(&self, key: &Key) -> Option<Kind> {
        let party = self.parties.party_of(key.party)?;
        let (activity, place) = match key.did {
            Did::Run(Some(Code::At(place))) => (Activity::Run, Some(place)),
            Did::Run(Some(Code::Interrupt)) => (Activity::Interrupt, None),
            Did::Run(None) => (Activity::Run, None),
            Did::Ready(_) => (Activity::Ready, None),
            Did::Wait(Ended::Interrupt(_) | Ended::Disk(_), place) => (Activity::Wait, Some(place)),
            Did::Wait(_, place) => (Activity::OpenWait, Some(place)),
            // What samples do not tell is no loss of the recording.
            Did::NotSampled => (Activity::Wait, None),
            Did::Unknown(_) => (Activity::Unknown, None),
        };
        let occupant = match key.did {
            Did::Ready(Holder::Idle) => Occupant::Idle,
            Did::Ready(holder) => match self.party(holder) {
                Some(party) if party.is_of_test => Occupant::Test,
                Some(_) => Occupant::Other,
                None => Occupant::Unknown,
            },
            _ => Occupant::Unknown,
        };
        self.disturbances.kind_of(&PartFacts {
            activity,
            is_of_test: party.is_of_test,
            image: &party.image,
            thread: party.thread_name.as_deref(),
            tag: place.map(|place| self.places.tag_text(place.tag)),
            occupant,
        })
    }
}

impl Name {
    /// Whether the recording does not tell of this time. Without switches it does not tell who had the CPU, either, so that it is no disturbance.
    pub(crate) fn is_unknown(&self) -> bool {
        self.state == "unknown" || self.disturbance == Some(Kind::Unknown)
    }

    /// The name of the time that a window does not cover.
    pub(crate) fn outside() -> Self {
        Self {
            state: "outside",
            disturbance: None,
            process: None,
            thread: None,
            ended_by: None,
            tag: None,
            site: None,
            for_tag: None,
            for_site: None,
        }
    }

    /// Process, thread, what ended a wait, tag, site, and tag and site of the wait that it was for.
    pub(crate) fn texts(&self) -> [Option<&str>; 7] {
        let Self { process, thread, ended_by, tag, site, for_tag, for_site, .. } = self;
        [
            process.as_deref(),
            thread.as_deref(),
            ended_by.as_deref(),
            tag.as_deref(),
            site.as_deref(),
            for_tag.as_deref(),
            for_site.as_deref(),
        ]
    }

    /// The name without what a level does not tell apart.
    pub(crate) fn coarse(mut self, detail: Detail) -> Self {
        if detail < Detail::For {
            (self.for_tag, self.for_site) = (None, None);
        }
        if detail < Detail::Site {
            self.site = None;
        }
        if detail < Detail::Tag {
            (self.tag, self.ended_by) = (None, None);
        }
        if detail < Detail::Who {
            (self.process, self.thread) = (None, None);
        }
        self
    }
}

/// What ended a wait if the recording has no end of it.
const NOBODY: &str = "(nobody)";

/// What ended a wait if the path cannot follow the thread that did.
const UNFOLLOWED: &str = "(not followed)";

/// A name as people read it: `worker runs pool2!new_check`.
pub(crate) fn text(name: &Name) -> String {
    let who = match (&name.process, &name.thread) {
        (Some(process), Some(thread)) => format!("{process} {thread} "),
        (Some(process), None) => format!("{process} "),
        _ => String::new(),
    };
    let site = name.site.as_ref().filter(|site| !site.starts_with('('));
    let tag = name.tag.as_ref().filter(|tag| site.is_none() || *tag != "Other");
    let place = match (site, tag) {
        (Some(site), Some(tag)) => format!(" {site} ({tag})"),
        (Some(place), None) | (None, Some(place)) => format!(" {place}"),
        (None, None) => String::new(),
    };
    let what = match name.state {
        "run" => match name.tag.as_deref().filter(|_| site.is_none()).and_then(bare) {
            Some(reason) => format!("{who}runs, {reason}"),
            None => format!("{who}runs{place}"),
        },
        "ready" => match (&name.site, &name.tag) {
            (Some(site), _) => format!("{who}ready while {site} had the CPU"),
            (None, Some(tag)) => format!("{who}ready, CPU: {tag}"),
            (None, None) => format!("{who}ready"),
        },
        "wait" => {
            let place = if place.is_empty() { String::new() } else { format!(" in{place}") };
            match name.ended_by.as_deref() {
                Some(NOBODY) => format!("{who}waits{place}, ended by nobody known"),
                Some(UNFOLLOWED) => format!("{who}waits{place}, ended by a thread that cannot be followed"),
                Some(what) => format!("{who}waits for {what}{place}"),
                None => format!("{who}waits{place}"),
            }
        }
        "" => String::new(),
        "outside" => "not in the window".to_owned(),
        _ => format!("{who}unknown{}", name.tag.as_ref().map(|tag| format!(": {tag}")).unwrap_or_default()),
    };
    let whom = name.for_site.as_ref().map(|site| format!(", for {site}")).unwrap_or_default();
    match name.disturbance {
        Some(kind) if what.is_empty() || name.process.is_none() => format!("disturbed: {kind}"),
        Some(kind) => format!("disturbed: {kind}: {what}{whom}"),
        None => format!("{what}{whom}"),
    }
}

/// What stands in brackets where a name is missing.
fn bare(text: &str) -> Option<&str> {
    text.strip_prefix('(')?.strip_suffix(')')
}

fn state(did: Did) -> &'static str {
    match did {
        Did::Run(_) => "run",
        Did::Ready(_) => "ready",
        Did::Wait(..) => "wait",
        Did::Unknown(_) | Did::NotSampled => "unknown",
    }
}

fn ended_by(ended: Ended) -> String {
    match ended {
        Ended::Interrupt(interrupt) => interrupt.word().to_owned(),
        Ended::Disk(Operation { disk, word }) => format!("disk {} {word}", disk_number(disk.into())),
        Ended::Nobody => NOBODY.to_owned(),
        Ended::Unfollowed => UNFOLLOWED.to_owned(),
    }
}

fn reason(gap: Gap) -> &'static str {
    match gap {
        Gap::BrokenChain => "switches are missing",
        Gap::NotSeenYet => "the thread was not seen yet",
        Gap::BeforeStart => "before the start of the thread",
        Gap::AfterEnd => "after the end of the thread",
        Gap::NoSwitches => "no switch of the thread",
        Gap::OutsideRecording => "outside of the recording",
    }
}
