//! One look-up as a machine without I/O: it asks for files as values and is told what became of them.
//!
//! So the order of the search and what is believed can be tested without files and without a network, and there is one place that touches
//! them: the driver in `fetch`.

use std::collections::VecDeque;
use std::sync::Arc;

use crate::identity::{BuildId, PdbId};

use super::attempt::{Attempt, Why};
use super::candidates::{At, Candidate, Goal, Packing, Place};
use super::origin::Scope;
use super::pointer::pointed_at;
use super::request::{Answer, Contents, FileNumber, Request, Step};
use super::wanted::{Identity, Image, Key, Source, shown_name};

/// The search for the names of one binary.
#[derive(Debug)]
pub struct Lookup {
    scope: Arc<Scope>,
    image: Image,
    goals: VecDeque<Aim>,
    /// Where the goal at hand may be; empty between goals.
    queue: VecDeque<Candidate>,
    aim: Option<Aim>,
    asked: Asked,
    next: Option<Request>,
    tried: Vec<Attempt>,
    /// An image that named its PDB, kept for its exports.
    held: Option<FileNumber>,
    main: Option<Main>,
    is_done: bool,
}

/// What is done with a file of a goal.
#[derive(Clone, Debug)]
enum Aim {
    /// Its names are wanted.
    Names(Goal),
    /// It tells which PDB is wanted.
    PdbOf(Goal),
    /// The names of the image that told.
    Held(Identity),
}

/// What the answer will be about.
#[derive(Debug)]
enum Asked {
    Nothing,
    Cache,
    File(Candidate),
    Tiers(Candidate),
    Pointer(Candidate, FileNumber),
    Expanded(Candidate),
    Pdb(Candidate, FileNumber),
    Read(Option<Candidate>, FileNumber),
    Kept(Option<PdbId>),
    Discarded,
}

/// A file that waits for one that it shares with others.
#[derive(Debug)]
struct Main {
    candidate: Option<Candidate>,
    file: FileNumber,
    queue: VecDeque<Candidate>,
}

impl Lookup {
    /// The names of an image's machine code.
    #[must_use]
    pub fn new(image: &Image, scope: &Arc<Scope>) -> Self {
        let mut goals = Vec::new();
        if let Some(pdb) = &image.pdb {
            goals.extend(of_pdb(pdb, image));
            let identity = image.image.clone().map_or(Identity::Pdb(pdb.clone()), Identity::Image);
            goals.extend(Goal::image(&identity, image, false).map(Aim::Names));
        } else if let Some(id) = &image.image {
            let identity = Identity::Image(id.clone());
            goals.extend(Goal::image(&identity, image, true).map(Aim::PdbOf));
            goals.push(Aim::Held(identity));
        }
        if let Some(build) = &image.build_id {
            goals.extend(Goal::debug(build, Some(image)).map(Aim::Names));
            goals.extend(Goal::elf(build, image).map(Aim::Names));
            goals.extend(Goal::breakpad_of_elf(build, image).map(Aim::Names));
        }
        Self::of(goals, image, scope)
    }

    /// The names of an image's managed code, by the portable PDB.
    #[must_use]
    pub fn managed(pdb: &PdbId, image: &Image, scope: &Arc<Scope>) -> Self {
        // An image is looked for on this machine only, so it comes before servers that may have a PDB.
        let goals = [Goal::embedded(pdb, image), Goal::pdb(pdb, true, image)];
        Self::of(goals.into_iter().flatten().map(Aim::Names).collect(), image, scope)
    }

    fn of(goals: Vec<Aim>, image: &Image, scope: &Arc<Scope>) -> Self {
        let mut tried = Vec::new();
        if goals.is_empty() {
            let has_identity = image.pdb.is_some() || image.managed_pdb.is_some() || image.image.is_some();
            let why = match has_identity || image.build_id.is_some() {
                true => "its identity cannot be the name of a file",
                false => "the recording says no identity of it",
            };
            tried.push(Attempt { place: shown_name(&image.name), why: Why::Refused(why.to_owned()) });
        }
        Self {
            scope: Arc::clone(scope),
            image: image.clone(),
            goals: goals.into(),
            queue: VecDeque::new(),
            aim: None,
            asked: Asked::Nothing,
            next: None,
            tried,
            held: None,
            main: None,
            is_done: false,
        }
    }

    /// What was asked in vain so far.
    #[must_use]
    pub fn tried(&self) -> &[Attempt] {
        &self.tried
    }

    /// How it goes on. Asks the same again until [`Lookup::answer`] was told.
    pub fn step(&mut self) -> Step {
        loop {
            if self.is_done {
                return Step::Done;
            }
            if let Some(request) = &self.next {
                return Step::Ask(request.clone());
            }
            if let Some(candidate) = self.queue.pop_front() {
                self.ask_for(candidate, false);
            } else if let Some(main) = self.main.take() {
                // What it shares is nowhere: it must do without.
                self.queue = main.queue;
                self.read(main.candidate, main.file, Some(None));
            } else if let Some(aim) = self.goals.pop_front() {
                self.begin(aim);
            } else {
                return Step::Missing;
            }
        }
    }

    /// What became of the last request.
    pub fn answer(&mut self, answer: Answer) {
        self.next = None;
        match (std::mem::replace(&mut self.asked, Asked::Nothing), answer) {
            (Asked::Cache, Answer::Named) => self.is_done = true,
            (Asked::Cache, _) => self.search(),
            (Asked::Tiers(candidate), Answer::Yes) => self.ask_for(candidate, true),
            (Asked::Tiers(candidate), _) => self.queue.retain(|other| {
                !matches!(&other.at, At::Url { server, two_tiers: true, .. } if Some(server) == candidate.server())
            }),
            (Asked::File(candidate), Answer::File(file)) => self.opened(candidate, file),
            (Asked::Pointer(candidate, file), Answer::Text(text)) => self.follow(&candidate, file, &text),
            (Asked::Expanded(candidate), Answer::File(file)) => self.use_file(candidate, file),
            (Asked::Pdb(candidate, file), Answer::Pdb(pdb)) => self.identified(&candidate, file, pdb),
            (Asked::Read(candidate, file), Answer::Needs(build, path)) if self.main.is_none() => {
                self.wait_for(candidate, file, &build, &path);
            }
            (Asked::Read(candidate, file), Answer::Named) => match candidate.filter(|one| !one.keep.is_empty()) {
                Some(candidate) => {
                    self.next = Some(Request::Keep { file, places: candidate.keep });
                    self.asked = Asked::Kept(None);
                }
                None => self.is_done = true,
            },
            (Asked::Kept(pdb), answer) => {
                if let Answer::Refused(why) = answer {
                    self.failed("kept".to_owned(), Why::Refused(why));
                }
                match self.held {
                    Some(_) => self.go_on_with(pdb),
                    None => self.is_done = true,
                }
            }
            (Asked::Nothing | Asked::Discarded, _) => {}
            (asked, answer) => self.in_vain(asked, answer),
        }
    }

    fn begin(&mut self, aim: Aim) {
        let key = match &aim {
            Aim::Names(goal) => Key::new(&goal.identity, goal.source),
            Aim::Held(identity) => Key::new(identity, Source::Image),
            Aim::PdbOf(_) => None,
        };
        self.aim = Some(aim);
        match key {
            Some(key) => {
                self.next = Some(Request::Cached(key));
                self.asked = Asked::Cache;
            }
            None => self.search(),
        }
    }

    /// There is no table yet: lists where the file may be.
    fn search(&mut self) {
        match &self.aim {
            Some(Aim::Names(goal) | Aim::PdbOf(goal)) => self.queue = self.candidates(goal),
            Some(Aim::Held(_)) => {
                if let Some(file) = self.held {
                    self.read(None, file, None);
                }
            }
            None => {}
        }
    }

    fn candidates(&self, goal: &Goal) -> VecDeque<Candidate> {
        // What lies on this machine first, whatever the order of the search path: asking a server for it would be a waste.
        let roots = self.scope.roots.iter().flat_map(|root| goal.in_root(root));
        let mut candidates: VecDeque<Candidate> = roots.collect();
        candidates.extend(self.scope.origins.iter().flat_map(|origin| goal.at(origin)));
        candidates
    }

    fn ask_for(&mut self, candidate: Candidate, has_tiers: bool) {
        let contents = match (candidate.packing, &self.aim) {
            (Packing::Cabinet, _) => Contents::Cabinet,
            (_, Some(Aim::Names(goal) | Aim::PdbOf(goal))) => Contents::Of(goal.source),
            (_, _) => Contents::Of(Source::Image),
        };
        self.next = Some(match &candidate.at {
            At::File(place) => Request::Open(place.clone()),
            At::Url { server, two_tiers: true, .. } if !has_tiers => Request::HasTwoTiers(Arc::clone(server)),
            At::Url { server, url, .. } => Request::Download {
                server: Arc::clone(server),
                url: url.clone(),
                contents,
                kept: candidate.keep.clone(),
            },
        });
        let asks_for_tiers = matches!(self.next, Some(Request::HasTwoTiers(_)));
        self.asked = if asks_for_tiers { Asked::Tiers(candidate) } else { Asked::File(candidate) };
    }

    fn opened(&mut self, candidate: Candidate, file: FileNumber) {
        match candidate.packing {
            Packing::Plain => self.use_file(candidate, file),
            Packing::Cabinet => {
                self.next = Some(Request::Expand(file));
                self.asked = Asked::Expanded(candidate);
            }
            Packing::Pointer => {
                self.next = Some(Request::Pointer(file));
                self.asked = Asked::Pointer(candidate, file);
            }
        }
    }

    fn use_file(&mut self, candidate: Candidate, file: FileNumber) {
        if let Some(main) = self.main.take() {
            self.queue = main.queue;
            return self.read(main.candidate, main.file, Some(Some(file)));
        }
        match &self.aim {
            Some(Aim::PdbOf(goal)) => {
                self.next = Some(Request::Identify { file, identity: goal.identity.clone() });
                self.asked = Asked::Pdb(candidate, file);
            }
            _ => self.read(Some(candidate), file, None),
        }
    }

    fn read(&mut self, candidate: Option<Candidate>, file: FileNumber, shared: Option<Option<FileNumber>>) {
        let (identity, source) = match &self.aim {
            Some(Aim::Names(goal) | Aim::PdbOf(goal)) => (goal.identity.clone(), goal.source),
            Some(Aim::Held(identity)) => (identity.clone(), Source::Image),
            None => return,
        };
        let Some(key) = Key::new(&identity, source) else { return };
        self.next = Some(Request::Read { file, source, identity, key, shared });
        self.asked = Asked::Read(candidate, file);
    }

    /// Searches for a file that another one shares with others.
    fn wait_for(&mut self, candidate: Option<Candidate>, file: FileNumber, build: &BuildId, path: &str) {
        let goal = Goal::debug(build, None).map(|goal| goal.with_shared_path(path));
        let queue = goal.map(|goal| self.candidates(&goal)).unwrap_or_default();
        self.main = Some(Main { candidate, file, queue: std::mem::replace(&mut self.queue, queue) });
    }

    fn identified(&mut self, candidate: &Candidate, file: FileNumber, pdb: Option<PdbId>) {
        self.held = Some(file);
        self.queue.clear();
        if candidate.keep.is_empty() {
            return self.go_on_with(pdb);
        }
        self.next = Some(Request::Keep { file, places: candidate.keep.clone() });
        self.asked = Asked::Kept(pdb);
    }

    /// The image is known: what its PDB says counts before what it says itself.
    fn go_on_with(&mut self, pdb: Option<PdbId>) {
        if !matches!(self.aim, Some(Aim::PdbOf(_))) {
            self.is_done = true;
            return;
        }
        if let Some(pdb) = pdb {
            for aim in of_pdb(&pdb, &self.image).into_iter().rev() {
                self.goals.push_front(aim);
            }
        }
    }

    /// Follows a pointer, if it stays in its store.
    fn follow(&mut self, candidate: &Candidate, file: FileNumber, text: &str) {
        self.next = Some(Request::Discard(file));
        self.asked = Asked::Discarded;
        let At::File(place) = &candidate.at else { return };
        match pointed_at(text, &place.root) {
            Ok(below) => {
                let place = Place { root: Arc::clone(&place.root), below };
                let is_cabinet = place.below.name().is_some_and(|name| name.as_str().ends_with('_'));
                let packing = if is_cabinet { Packing::Cabinet } else { Packing::Plain };
                self.queue.push_front(Candidate { at: At::File(place), packing, keep: candidate.keep.clone() });
            }
            Err(why) => self.failed(shown(candidate), Why::Refused(why)),
        }
    }

    /// Notes why a candidate gave nothing, and what else is not worth asking.
    fn in_vain(&mut self, asked: Asked, answer: Answer) {
        let why = match answer {
            Answer::Refused(why) => Why::Refused(why),
            Answer::Unreachable => Why::Unreachable,
            Answer::Cancelled => Why::Cancelled,
            Answer::AbsentLately => Why::AbsentLately,
            _ => Why::Absent,
        };
        let (candidate, file) = match asked {
            Asked::File(candidate) | Asked::Expanded(candidate) => (Some(candidate), None),
            Asked::Pointer(candidate, file) | Asked::Pdb(candidate, file) => (Some(candidate), Some(file)),
            Asked::Read(candidate, file) => (candidate, Some(file)),
            _ => return,
        };
        if let (Why::Unreachable | Why::Cancelled, Some(server)) =
            (&why, candidate.as_ref().and_then(Candidate::server))
        {
            self.queue.retain(|other| other.server() != Some(server));
        }
        let place = match &candidate {
            // Where a file may be in a folder is nobody's concern, but that the folder has none.
            Some(Candidate { at: At::File(place), .. }) if why == Why::Absent => place.root.display().to_string(),
            Some(Candidate { at: At::Url { server, .. }, .. }) if matches!(why, Why::Unreachable | Why::Cancelled) => {
                server.to_string()
            }
            Some(candidate) => shown(candidate),
            None => shown_name(&self.image.name),
        };
        self.failed(place, why);
        if let Some(file) = file {
            self.next = Some(Request::Discard(file));
            self.asked = Asked::Discarded;
        }
    }

    fn failed(&mut self, place: String, why: Why) {
        let attempt = Attempt { place, why };
        if !self.tried.contains(&attempt) {
            self.tried.push(attempt);
        }
    }
}

fn of_pdb(pdb: &PdbId, image: &Image) -> Vec<Aim> {
    [Goal::pdb(pdb, false, image), Goal::breakpad_of_pdb(pdb)].into_iter().flatten().map(Aim::Names).collect()
}

fn shown(candidate: &Candidate) -> String {
    match &candidate.at {
        At::File(place) => place.to_string(),
        At::Url { url, .. } => url.clone(),
    }
}
