//! What regions are asked for: files of definitions, and pairs of events.

use std::fmt;
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::sync::Arc;

use tracesift_analysis::regions::definition::guid;
use tracesift_analysis::regions::{
    BUILT_IN, Definition, Definitions, EventPattern, EventSelector, Keys, ProviderSelector,
};
use tracesift_grammar::Patterns;

use crate::usage_error::UsageError;

/// What stands for our own definitions.
const OWN: &str = "builtin";
/// More than any tool would write.
const LARGEST: u64 = 64 << 20;

/// Two events, of which one begins a region and the other one ends it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pair {
    text: String,
    start: EventPattern,
    stop: EventPattern,
}

/// A text that names no two events.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("it must be two events, each with its provider, such as 'raw_syscalls/sys_enter;raw_syscalls/sys_exit'")]
pub struct PairError;

impl FromStr for Pair {
    type Err = PairError;

    fn from_str(text: &str) -> Result<Self, PairError> {
        let (start, stop) = text.split_once(';').ok_or(PairError)?;
        let pair = Self { text: text.to_owned(), start: event(start)?, stop: event(stop)? };
        // Each event would be both.
        if pair.start == pair.stop { Err(PairError) } else { Ok(pair) }
    }
}

impl fmt::Display for Pair {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

/// `PROVIDER/EVENT`. Names of providers have no slash; those of events may.
fn event(text: &str) -> Result<EventPattern, PairError> {
    let (provider, event) = text.split_once('/').ok_or(PairError)?;
    let (provider, event) = (provider.trim(), event.trim());
    if provider.is_empty() || event.is_empty() || event.contains(';') {
        return Err(PairError);
    }
    let named = || ProviderSelector::Named(Patterns::parse(provider));
    let provider = guid(provider).map_or_else(named, ProviderSelector::Guid);
    let id = event.parse().map(EventSelector::Id);
    let event = id.unwrap_or_else(|_| EventSelector::Named(Patterns::parse(event)));
    Ok(EventPattern { provider, event, version: None, fields: Vec::new() })
}

/// What both events of a pair have in common, by the words of `--match`: `thread`, `process`, `activity`, names of fields.
fn keys(words: &[String]) -> Keys {
    let mut keys = Keys::default();
    for word in words {
        match word.to_ascii_lowercase().as_str() {
            "thread" => (keys.process, keys.thread) = (true, true),
            "process" => keys.process = true,
            "activity" => keys.activity = true,
            _ => keys.fields.push((word.clone(), word.clone())),
        }
    }
    keys
}

/// The definitions of files and pairs; our own where there is neither.
///
/// # Errors
/// When a file cannot be read, or is no file of regions.
pub(crate) fn load(files: &[PathBuf], pairs: &[Pair], matching: &[String]) -> Result<Arc<Definitions>, UsageError> {
    let mut all = Definitions::default();
    let own = [PathBuf::from(OWN)];
    for file in if files.is_empty() && pairs.is_empty() { &own } else { files } {
        let content = if file == Path::new(OWN) { BUILT_IN.as_bytes().to_vec() } else { content_of(file)? };
        let read = Definitions::read(&file.display().to_string(), &content);
        all.append(read.map_err(|error| UsageError { message: error.to_string(), hint: None })?);
    }
    let keys = keys(matching);
    for pair in pairs {
        all.all.push(Definition {
            name: pair.text.clone(),
            path: pair.text.clone(),
            starts: vec![pair.start.clone()],
            stops: vec![pair.stop.clone()],
            // A field that both have in common says which of them a region is.
            name_field: keys.fields.first().map(|(field, _)| field.clone()),
            keys: keys.clone(),
            self_nest: true,
            ..Definition::default()
        });
    }
    Ok(Arc::new(all))
}

fn content_of(file: &Path) -> Result<Vec<u8>, UsageError> {
    let cannot = |why: &str| {
        let hint = "--region-file takes a file of regions of interest, or `builtin`";
        UsageError::new(format!("{}: {why}", file.display()), hint)
    };
    match std::fs::metadata(file) {
        Ok(facts) if !facts.is_file() => Err(cannot("is no file")),
        Ok(facts) if facts.len() > LARGEST => Err(cannot("is too large")),
        Ok(_) => std::fs::read(file).map_err(|error| cannot(&error.to_string())),
        Err(error) => Err(cannot(&error.to_string())),
    }
}

#[cfg(test)]
mod tests {
    use super::{Pair, PairError, keys};

    #[test]
    fn pairs_are_two_events_with_their_providers() {
        for right in ["raw_syscalls/sys_enter;raw_syscalls/sys_exit", "Shop/1;Shop/2", "*/GC/Start;*/GC/Stop"] {
            assert_eq!(right.parse::<Pair>().map(|pair| pair.to_string()).as_deref(), Ok(right));
        }
        for wrong in ["", "a/b", "a;b", "a/b;a/b", "a/;a/c", "a/b;a/c;a/d"] {
            assert_eq!(wrong.parse::<Pair>(), Err(PairError), "{wrong}");
        }
    }

    #[test]
    fn words_of_match() {
        let of = |words: &[&str]| keys(&words.iter().map(|word| (*word).to_owned()).collect::<Vec<_>>());
        assert!(of(&["thread"]).process && of(&["Thread"]).thread && !of(&["process"]).thread);
        assert!(of(&["activity"]).activity);
        assert_eq!(of(&["process", "RequestId"]).fields, [("RequestId".to_owned(), "RequestId".to_owned())]);
    }
}
