//! Accounts that are kept in the user's cache, so that a second comparison of the same archives reads no switches.

use std::io::Read as _;
use std::path::PathBuf;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};

use serde_json::{Map, Value, json};
use tracesift_analysis::disturbances::Kind;
use tracesift_archive::{Archive, head_hash};
use tracesift_cache::{Folder, directory};

use super::account::Account;
use super::metrics::MetricList;
use super::modules::Module;
use crate::asked::Amount;
use crate::path::AccountQuery;
use crate::path::account::Level;
use crate::path::rows::{Name, Row};
use crate::tag_cache::tables_hash;

/// Version of what is kept; another one is another account.
pub(super) const VERSION: u32 = 4;

/// Bytes that the accounts of all archives may take: some 20 KiB per archive and window.
const SIZE: u64 = 256 << 20;
/// How many accounts are written between two looks at the size.
const LOOK_AFTER: usize = 256;
/// No account is as large.
const LARGEST: u64 = 16 << 20;

/// States of rows.
const STATES: [&str; 4] = ["run", "ready", "wait", "unknown"];

/// Accounts in a directory. What cannot be read or written is computed again.
#[derive(Debug)]
pub struct KeptAccounts {
    folder: Folder,
    written: AtomicUsize,
}

impl KeptAccounts {
    /// Those in a directory, which need not exist.
    #[must_use]
    pub fn new(directory: PathBuf) -> Self {
        Self { folder: Folder::new(directory, ".account"), written: AtomicUsize::new(0) }
    }

    /// Those of the user, if there is a place for them.
    #[must_use]
    pub fn of_user() -> Option<Self> {
        directory("accounts").map(Self::new)
    }

    /// The account of an archive.
    pub(super) fn get(&self, archive: &Archive, query: &AccountQuery) -> Option<Account> {
        let key = key(archive, query);
        let path = self.folder.path(&key);
        let file = std::fs::File::open(path).ok()?;
        let facts = file.metadata().ok().filter(|facts| facts.is_file() && facts.len() <= LARGEST)?;
        let mut bytes = Vec::new();
        file.take(LARGEST).read_to_end(&mut bytes).ok()?;
        let account = read(&serde_json::from_slice(&bytes).ok()?)?;
        facts.modified().ok().into_iter().for_each(|modified| self.folder.note_use(&key, modified));
        Some(account)
    }

    /// Keeps it, unless somebody cancelled the reading: something may be missing in it.
    pub(super) fn put(&self, archive: &Archive, query: &AccountQuery, account: &Account) {
        if archive.watch().is_cancelled() {
            return;
        }
        // The next comparison is only slower without it.
        let bytes = write(account).to_string().into_bytes();
        if bytes.len() as u64 > LARGEST || self.folder.put(&key(archive, query), &[&bytes]).is_err() {
            return;
        }
        if self.written.fetch_add(1, Ordering::Relaxed).is_multiple_of(LOOK_AFTER) {
            let _ = self.folder.prune(Some(SIZE), None);
        }
    }
}

/// What an account depends on: the tables of the archive, the window, the rules for tags and for disturbances, and the program.
fn key(archive: &Archive, query: &AccountQuery) -> String {
    let tags = query.tags.as_ref().map(|set| set.hash()).unwrap_or_default();
    let disturbances = (query.disturbances.version(), query.disturbances.kinds());
    let metrics = MetricList::built_in().version;
    let AccountQuery { windows, follow, repetitions, .. } = query;
    let program = program();
    let asked = format!("{VERSION} {program} {metrics} {windows:?} {follow:?} {repetitions} {disturbances:?} {tags}");
    // Reading from memory cannot fail.
    format!("{}-{}", tables_hash(archive), head_hash(asked.as_bytes()).unwrap_or_default())
}

/// What tells this program from another build of it: the length of its file, and when it was written.
fn program() -> &'static str {
    static PROGRAM: OnceLock<String> = OnceLock::new();
    PROGRAM.get_or_init(|| {
        let facts = std::env::current_exe().and_then(std::fs::metadata).ok();
        let written = facts.as_ref().and_then(|facts| facts.modified().ok());
        let since = written.and_then(|time| time.duration_since(std::time::UNIX_EPOCH).ok());
        let length = facts.map_or(0, |facts| facts.len());
        format!("{} {length} {}", env!("CARGO_PKG_VERSION"), since.map_or(0, |since| since.as_nanos()))
    })
}

pub(super) fn write(account: &Account) -> Value {
    let rows: Vec<Value> = account.rows.iter().map(write_row).collect();
    let module = |(name, module): (&String, &Module)| (name.clone(), json!([module.identity, module.version]));
    let modules: Map<String, Value> = account.modules.iter().map(module).collect();
    let metric = |(name, told): (&String, &Result<Amount, String>)| (name.clone(), write_metric(told));
    let metrics: Map<String, Value> = account.metrics.iter().map(metric).collect();
    json!({
        "window": account.window,
        "level": account.level.word(),
        "rows": rows,
        "modules": modules,
        "processes": account.processes,
        "metrics": metrics,
    })
}

/// A number with its unit, or why there is none.
fn write_metric(told: &Result<Amount, String>) -> Value {
    match told {
        Ok(Amount::Time(number)) => json!(["time", number]),
        Ok(Amount::Count(number)) => json!(["count", number]),
        Ok(Amount::Bytes(number)) => json!(["bytes", number]),
        Ok(Amount::Number(number)) => json!(["number", number]),
        Err(why) => json!(why),
    }
}

fn read_metric(value: &Value) -> Option<Result<Amount, String>> {
    if let Value::String(why) = value {
        return Some(Err(why.clone()));
    }
    let [unit, number] = value.as_array()?.as_slice() else { return None };
    Some(Ok(match unit.as_str()? {
        "time" => Amount::Time(number.as_i64()?),
        "count" => Amount::Count(number.as_i64()?),
        "bytes" => Amount::Bytes(number.as_i64()?),
        "number" => Amount::Number(number.as_f64()?),
        _ => return None,
    }))
}

fn write_row(row: &Row) -> Value {
    let Name { state, disturbance, process, thread, ended_by, tag, site, for_tag, for_site } = &row.name;
    let kind = disturbance.map(Kind::word);
    let names = json!([state, kind, process, thread, ended_by, tag, site, for_tag, for_site]);
    json!([names, row.time, row.leaves, row.longest, row.squares, row.samples])
}

pub(super) fn read(value: &Value) -> Option<Account> {
    let level = value.get("level")?.as_str()?;
    let level = [Level::Samples, Level::Switches, Level::Full].into_iter().find(|known| known.word() == level)?;
    let module = |(name, module): (&String, &Value)| {
        let [identity, version] = module.as_array()?.as_slice() else { return None };
        Some((name.clone(), Module { identity: text(identity)?, version: text(version)? }))
    };
    let process = |process: &Value| process.as_str().map(str::to_owned);
    let metric = |(name, told): (&String, &Value)| Some((name.clone(), read_metric(told)?));
    Some(Account {
        window: value.get("window")?.as_i64()?,
        level,
        rows: value.get("rows")?.as_array()?.iter().map(read_row).collect::<Option<_>>()?,
        modules: value.get("modules")?.as_object()?.iter().map(module).collect::<Option<_>>()?,
        processes: value.get("processes")?.as_array()?.iter().map(process).collect::<Option<_>>()?,
        metrics: value.get("metrics")?.as_object()?.iter().map(metric).collect::<Option<_>>()?,
    })
}

fn read_row(value: &Value) -> Option<Row> {
    let [names, time, leaves, longest, squares, samples] = value.as_array()?.as_slice() else { return None };
    let [state, kind, process, thread, ended_by, tag, site, for_tag, for_site] = names.as_array()?.as_slice() else {
        return None;
    };
    let state = state.as_str()?;
    let kind = text(kind)?;
    let kind = match &kind {
        Some(word) => Some(Kind::ALL.into_iter().find(|kind| kind.word() == word)?),
        None => None,
    };
    let name = Name {
        state: STATES.into_iter().find(|known| *known == state)?,
        disturbance: kind,
        process: text(process)?,
        thread: text(thread)?,
        ended_by: text(ended_by)?,
        tag: text(tag)?,
        site: text(site)?,
        for_tag: text(for_tag)?,
        for_site: text(for_site)?,
    };
    Some(Row {
        name,
        time: time.as_i64()?,
        leaves: if leaves.is_null() { None } else { Some(leaves.as_u64()?) },
        longest: if longest.is_null() { None } else { Some(longest.as_i64()?) },
        squares: squares.as_f64()?,
        samples: samples.as_u64()?,
    })
}

/// A text or null; `None`: something else.
fn text(value: &Value) -> Option<Option<String>> {
    match value {
        Value::Null => Some(None),
        Value::String(text) => Some(Some(text.clone())),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use std::collections::{BTreeMap, BTreeSet};

    use proptest::prelude::*;
    use tracesift_analysis::disturbances::Kind;

    use super::{Account, Amount, Level, Module, Name, Row, STATES, read, write};

    fn name() -> impl Strategy<Value = Name> {
        let text = || proptest::option::of("\\PC{0,8}");
        let texts = (text(), text(), text(), text(), text(), text(), text());
        (0..STATES.len(), proptest::option::of(0..Kind::ALL.len()), texts).prop_map(|(state, kind, texts)| {
            let (process, thread, ended_by, tag, site, for_tag, for_site) = texts;
            let (state, disturbance) = (STATES[state], kind.map(|kind| Kind::ALL[kind]));
            Name { state, disturbance, process, thread, ended_by, tag, site, for_tag, for_site }
        })
    }

    proptest! {
        #[test]
        fn what_is_kept_comes_back(
            names in prop::collection::vec(name(), 0..6),
            time: i64,
            squares in 0.0..1e30_f64,
            counts in proptest::option::of((any::<u64>(), any::<i64>())),
        ) {
            let (leaves, longest) = counts.unzip();
            let rows = names.into_iter().map(|name| Row { name, time, leaves, longest, squares, samples: 7 }).collect();
            let module = Module { identity: Some("1a2b".to_owned()), version: None };
            let account = Account {
                window: time,
                level: Level::Switches,
                rows,
                modules: BTreeMap::from([("app.dll".to_owned(), module)]),
                processes: BTreeSet::from(["app".to_owned()]),
                metrics: BTreeMap::from([
                    ("cpu".to_owned(), Ok(Amount::Time(time))),
                    ("clock".to_owned(), Ok(Amount::Number(squares))),
                    ("faults".to_owned(), Err("not recorded".to_owned())),
                ]),
            };
            let text = write(&account).to_string();
            let value = serde_json::from_str(&text).expect("JSON");
            prop_assert_eq!(read(&value), Some(account));
        }
    }

    #[test]
    fn what_is_damaged_is_not_there() {
        for text in ["{}", "[]", r#"{"window":1,"level":"odd","rows":[],"modules":{},"processes":[],"metrics":{}}"#] {
            assert_eq!(read(&serde_json::from_str(text).expect("JSON")), None, "{text}");
        }
    }
}
