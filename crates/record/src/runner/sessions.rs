//! Sessions: a session runs all cases of a plan anew, so that its runs can be compared with those before it.

use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::case::Case;
use super::plan::Plan;
use super::state::{Kind, Run, State};
use crate::Error;

/// A session that was begun. Runs outside of sessions belong to the last one that was whole, or to number 0.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Session {
    /// Its number, from 1.
    number: u32,
    /// What it runs: the cases, and the files that their commands name.
    fingerprint: u64,
    /// Whether all its runs were made.
    is_whole: bool,
}

/// How a session begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Begun {
    /// With its first run.
    New,
    /// Where it was interrupted.
    Continued,
    /// With its first run, as a file or a case has changed since the one before was interrupted.
    Changed,
}

impl State {
    /// Begins a session of a plan: from now on [`State::runs_of`] tells of its runs alone. If the newest one was interrupted, and neither
    /// the cases nor the files that their commands name have changed, it goes on. Nothing is written before the first run.
    pub fn begin_session(&mut self, plan: &Plan) -> Begun {
        let fingerprint = fingerprint(plan);
        let interrupted = self.sessions.last().filter(|session| !session.is_whole);
        let begun = match interrupted {
            Some(session) if session.fingerprint == fingerprint => Begun::Continued,
            Some(_) => Begun::Changed,
            None => Begun::New,
        };
        if begun != Begun::Continued {
            let number = self.sessions.last().map_or(1, |session| session.number.saturating_add(1));
            self.sessions.push(Session { number, fingerprint, is_whole: false });
        }
        self.session = self.sessions.last().map(|session| session.number);
        begun
    }

    /// Writes down that all runs of the session were made.
    ///
    /// # Errors
    /// [`Error::File`].
    pub fn end_session(&mut self) -> Result<(), Error> {
        let number = self.session;
        if let Some(session) = self.sessions.iter_mut().find(|session| Some(session.number) == number) {
            session.is_whole = true;
            self.write()?;
        }
        Ok(())
    }

    /// The number of the session that was begun; `None`: runs count whatever session they are of.
    #[must_use]
    pub fn session(&self) -> Option<u32> {
        self.session
    }

    /// The runs of a case that passed, of the newest session before the one that was begun which has any. Sessions that were
    /// interrupted and did not go on are left out.
    #[must_use]
    pub fn earlier(&self, case: &Case) -> Vec<&Run> {
        let is_whole = |number: u32| {
            let session = self.sessions.iter().find(|session| session.number == number);
            session.is_none_or(|session| session.is_whole)
        };
        let runs = self
            .runs_of_any_session(case, Kind::Recorded)
            .filter(|run| run.finished.failure.is_none() && Some(run.session) != self.session && is_whole(run.session));
        let runs: Vec<&Run> = runs.collect();
        let newest = runs.iter().map(|run| run.session).max();
        runs.into_iter().filter(|run| Some(run.session) == newest).collect()
    }

    /// The session that runs outside of sessions belong to.
    pub(super) fn last_whole(&self) -> u32 {
        self.sessions.iter().rev().find(|session| session.is_whole).map_or(0, |session| session.number)
    }
}

/// A number that is another one when a case, or a file that a command names, has changed.
fn fingerprint(plan: &Plan) -> u64 {
    let mut hasher = DefaultHasher::new();
    for case in &plan.cases {
        (&case.name, case.fingerprint(), case.repetitions, case.overhead).hash(&mut hasher);
        for file in files(case) {
            let about = file.path.metadata().ok();
            let about = about.map(|about| (about.len(), about.modified().ok()));
            (file.name, about).hash(&mut hasher);
        }
    }
    hasher.finish()
}

/// A file that a command names.
#[derive(PartialEq, Eq)]
struct NamedFile {
    /// Its path from the directory of the plan, so that it does not depend on how the plan's path is spelled.
    name: PathBuf,
    /// Where it is.
    path: PathBuf,
}

/// The files that a command names: its program and, of a script, what the interpreter reads.
fn files(case: &Case) -> Vec<NamedFile> {
    let directory = case.directory_or_here();
    // A plan that names no directory means its own.
    let named = &case.named_directory;
    let named = if named.as_os_str().is_empty() { Path::new(".") } else { named };
    let beside = |word: &String| [word.clone(), format!("{word}{}", std::env::consts::EXE_SUFFIX)];
    let in_plan = |word: String| NamedFile { name: named.join(&word), path: directory.join(&word) };
    let mut files: Vec<NamedFile> = case.command.iter().flat_map(beside).map(in_plan).collect();
    if let Some(program) = case.command.first().filter(|program| !program.contains(['/', '\\'])) {
        let directories = std::env::var_os("PATH").unwrap_or_default();
        let on_path = std::env::split_paths(&directories)
            .flat_map(|directory| beside(program).map(|program| directory.join(program)));
        files.extend(on_path.map(|path| NamedFile { name: path.clone(), path }));
    }
    files.retain(|file| file.path.is_file());
    files.dedup();
    files
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use crate::runner::Finished;

    const PLAN: &str = "[defaults]\nrepetitions = 2\n[[test]]\nname = \"A\"\ncommand = [\"./app\"]\n\
                        [[test]]\nname = \"B\"\ncommand = [\"./app\", \"b\"]\n";

    fn plan(directory: &Path) -> Plan {
        fs::write(directory.join("plan.toml"), PLAN).unwrap();
        Plan::read(&directory.join("plan.toml")).unwrap()
    }

    fn add(state: &mut State, case: &Case, name: &str, failure: Option<&str>) {
        fs::write(state.directory().join(name), "").unwrap();
        let finished = Finished {
            duration_ns: 1,
            duration_from: "wall".to_owned(),
            failure: failure.map(str::to_owned),
            exit_code: Some(0),
            cold: false,
        };
        state.add(Run::new(case, Kind::Recorded, Some(name.to_owned()), None, finished)).unwrap();
    }

    fn names(runs: &[&Run]) -> Vec<String> {
        runs.iter().filter_map(|run| run.recording.clone()).collect()
    }

    #[test]
    fn each_session_is_compared_with_the_newest_whole_one_before_it() {
        let directory = tempfile::TempDir::new().unwrap();
        let plan = plan(directory.path());
        let (a, b) = (&plan.cases[0], &plan.cases[1]);
        let read = || State::of(directory.path()).unwrap();

        // Outside of sessions.
        let mut state = read();
        add(&mut state, a, "a0.data", None);
        add(&mut state, b, "b0.data", Some("exit code 1"));
        assert_eq!((state.session(), state.runs[0].session), (None, 0));

        let mut state = read();
        assert_eq!(state.begin_session(&plan), Begun::New);
        assert_eq!((state.session(), state.runs_of(a, Kind::Recorded).count()), (Some(1), 0), "all runs are made anew");
        assert_eq!(read().sessions, [], "nothing is written before the first run");
        assert_eq!((names(&state.earlier(a)), names(&state.earlier(b))), (vec!["a0.data".to_owned()], vec![]));
        add(&mut state, a, "a1.data", None);

        // It was interrupted, and goes on.
        let mut state = read();
        assert_eq!(state.begin_session(&plan), Begun::Continued);
        assert_eq!((state.session(), state.runs_of(a, Kind::Recorded).count()), (Some(1), 1));
        add(&mut state, b, "b1.data", None);
        state.end_session().unwrap();

        let mut state = read();
        assert_eq!(state.begin_session(&plan), Begun::New);
        assert_eq!(
            (names(&state.earlier(a)), names(&state.earlier(b))),
            (vec!["a1.data".into()], vec!["b1.data".into()])
        );
        add(&mut state, a, "a2.data", None);

        // The program has changed since that one was interrupted: it is nobody's yardstick, and does not go on.
        fs::write(directory.path().join("app"), "new").unwrap();
        let mut state = read();
        assert_eq!(state.begin_session(&plan), Begun::Changed);
        assert_eq!((state.session(), names(&state.earlier(a))), (Some(3), vec!["a1.data".to_owned()]));

        // Outside of sessions all of them count, and a further run belongs to the last that was whole.
        let mut state = read();
        assert_eq!(state.runs_of(a, Kind::Recorded).count(), 3);
        add(&mut state, a, "a3.data", None);
        assert_eq!(state.runs.last().map(|run| run.session), Some(1));

        // What somebody has removed is no yardstick either.
        for name in ["a1.data", "a3.data"] {
            fs::remove_file(directory.path().join(name)).unwrap();
        }
        let mut state = read();
        state.begin_session(&plan);
        assert_eq!(names(&state.earlier(a)), ["a0.data"]);
    }

    /// The tests of a night are not run again because somebody types the path of the plan in another way.
    #[test]
    fn a_plan_is_the_same_however_its_path_is_spelled() {
        let directory = tempfile::TempDir::new().unwrap();
        let plan = plan(directory.path());
        fs::write(directory.path().join("app"), "program").unwrap();
        fs::create_dir(directory.path().join("other")).unwrap();
        let spelled = Plan::read(&directory.path().join("other/../plan.toml")).unwrap();
        assert_ne!(plan.cases[0].directory, spelled.cases[0].directory);

        let mut state = State::of(directory.path()).unwrap();
        state.begin_session(&plan);
        add(&mut state, &plan.cases[0], "a1.data", None);
        let mut state = State::of(directory.path()).unwrap();
        assert_eq!(state.begin_session(&spelled), Begun::Continued);
        assert_eq!(state.runs_of(&spelled.cases[0], Kind::Recorded).count(), 1);

        // What counts is what the plan itself says: where it is read in its own directory, both are the same.
        let here = plan.cases[0].clone();
        let here = Case { directory: here.named_directory.clone(), ..here };
        assert_eq!((here.directory.as_os_str().is_empty(), here.fingerprint()), (true, plan.cases[0].fingerprint()));
        let moved = Case { named_directory: "elsewhere".into(), ..here };
        assert_ne!(moved.fingerprint(), plan.cases[0].fingerprint());
    }
}
