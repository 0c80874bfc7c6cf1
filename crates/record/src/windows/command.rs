//! The command lines of wpr: from what is asked for to arguments, without looking at anything else.

use std::path::Path;

use crate::error::Shortfall;
use crate::options::{Options, Rate, Scope};
use crate::profiles::{self, Profile};
use crate::stacks::CallGraph;

/// The calls of wpr that make a recording, one after the other.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Plan {
    /// Before it starts: the sampling rate, which belongs to the machine.
    pub before: Vec<Vec<String>>,
    /// Starts the recording.
    pub start: Vec<String>,
    /// Ends it and writes the file.
    pub stop: Vec<String>,
    /// Ends it and throws it away.
    pub cancel: Vec<String>,
    /// After it, whatever became of it.
    pub after: Vec<Vec<String>>,
    /// What will be missing.
    pub shortfalls: Vec<Shortfall>,
}

/// Several recorders of different names can run at the same time.
const INSTANCE: [&str; 2] = ["-instancename", "tracesift"];
/// The rate of a machine that nobody has changed, in units of 100 ns.
const USUAL_RATE: &str = "10000";

/// Plans a recording with the profile in `profile_file`, which ends in `output`; what grows meanwhile lies in `temporary`.
#[must_use]
pub fn plan(options: &Options, profile_file: &Path, temporary: &Path, output: &Path) -> Plan {
    let mut start = Vec::new();
    for profile in started(&options.profiles) {
        start.extend(["-start".to_owned(), format!("{}!{}", profile_file.display(), profile.name)]);
    }
    for file in &options.profile_files {
        let name = file.profile.as_ref().map(|name| format!("!{name}")).unwrap_or_default();
        start.extend(["-start".to_owned(), format!("{}{name}", file.path.display())]);
    }
    if options.ring.is_none() {
        start.extend(words(&["-filemode", "-recordtempto"]));
        start.push(temporary.display().to_string());
    }
    start.extend(words(&INSTANCE));
    let mut stop = vec!["-stop".to_owned(), output.display().to_string()];
    // PDBs for precompiled code take minutes, and are not needed where symbols of .NET come with the rundown.
    stop.push("-skipPdbGen".to_owned());
    stop.extend(words(&INSTANCE));
    let (before, after) = if options.rate == Rate::default() {
        (Vec::new(), Vec::new())
    } else {
        let set = |interval: &str| words(&["-setprofint", interval]);
        (vec![set(&options.rate.hundred_ns().to_string())], vec![set(USUAL_RATE)])
    };
    let cancel = [words(&["-cancel"]), words(&INSTANCE)].concat();
    Plan { before, start, stop, cancel, after, shortfalls: shortfalls(options) }
}

/// The call of wpr that writes a mark.
#[must_use]
pub fn mark(text: &str) -> Vec<String> {
    [words(&["-marker", text]), words(&INSTANCE)].concat()
}

/// Each profile has what comes with it, so Default is started by itself only where it was asked for alone.
pub(super) fn started(chosen: &[&'static Profile]) -> Vec<&'static Profile> {
    let complete = profiles::complete(chosen);
    let others = complete.iter().any(|profile| profile.with_default);
    complete.into_iter().filter(|profile| profile.name != "Default" || !others).collect()
}

fn shortfalls(options: &Options) -> Vec<Shortfall> {
    let mut shortfalls = Vec::new();
    if options.scope != Scope::Machine {
        shortfalls.push(Shortfall::new(
            "events of the kernel are recorded of all processes: only other providers can be bound to one program",
        ));
    }
    if options.rotation.is_some() {
        shortfalls.push(Shortfall::with_remedy(
            "wpr cannot begin a new file while it records: one file is written",
            "--ring SIZE keeps what happened last",
        ));
    }
    if options.heap.is_some() {
        shortfalls.push(Shortfall::with_remedy(
            "--heap is for Linux: blocks of heaps are not recorded",
            "wpr -heaptracingconfig PROGRAM.exe enable, then wpr -start Heap",
        ));
    }
    if options.call_graph != CallGraph::default() {
        shortfalls.push(Shortfall::new("--call-graph is for Linux: Windows finds stacks by itself"));
    }
    shortfalls
}

fn words(words: &[&str]) -> Vec<String> {
    words.iter().map(|word| (*word).to_owned()).collect()
}
