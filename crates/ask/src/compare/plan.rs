//! What the runner of test plans wrote down beside its recordings: which case a recording is a run of.

use std::collections::{BTreeMap, HashMap};
use std::ffi::OsString;
use std::io::Read as _;
use std::path::{Path, PathBuf};

use serde_json::Value;

/// The document of `tracesift run`.
const NAME: &str = "tracesift-run.json";

/// A longer document is none of the runner.
const LONGEST: u64 = 64 << 20;

/// What is known of a run of a plan.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct PlannedRun {
    /// The name of its test.
    pub(super) test: Option<String>,
    /// The name of its case: the test with the values of its parameters.
    pub(super) case: Option<String>,
    /// The values of its parameters.
    pub(super) values: BTreeMap<String, String>,
    /// The session that it belongs to; 0: none.
    pub(super) session: u32,
    /// The duration that the test told itself, ns.
    pub(super) duration: Option<i64>,
    /// Whether it failed.
    pub(super) has_failed: bool,
}

/// The runs of the plans beside some archives. The document of a directory is read once.
#[derive(Debug, Default)]
pub(super) struct Plans {
    /// By directory, and by the name of the recording without its end.
    runs: HashMap<PathBuf, HashMap<OsString, PlannedRun>>,
}

impl Plans {
    /// Those beside these archives.
    pub(super) fn beside<'a>(archives: impl IntoIterator<Item = &'a Path>) -> Self {
        let mut plans = Self::default();
        for archive in archives {
            let directory = archive.parent().unwrap_or(Path::new("")).to_owned();
            plans.runs.entry(directory).or_insert_with_key(|directory| runs_in(directory).unwrap_or_default());
        }
        plans
    }

    /// The run that an archive is of; `None` where no plan tells of it.
    pub(super) fn run_of(&self, archive: &Path) -> Option<&PlannedRun> {
        self.runs.get(archive.parent().unwrap_or(Path::new("")))?.get(archive.file_stem()?)
    }
}

/// The runs of a directory; of several with the same recording the first counts.
fn runs_in(directory: &Path) -> Option<HashMap<OsString, PlannedRun>> {
    let document = read(&directory.join(NAME))?;
    let mut runs = HashMap::new();
    for run in document.get("runs")?.as_array()? {
        let recording = run.get("recording").and_then(Value::as_str).and_then(|path| Path::new(path).file_stem());
        if let Some(recording) = recording {
            runs.entry(recording.to_owned()).or_insert_with(|| planned(run));
        }
    }
    Some(runs)
}

fn planned(run: &Value) -> PlannedRun {
    let text = |key: &str| run.get(key).and_then(Value::as_str).map(str::to_owned);
    let values = run.get("values").and_then(Value::as_object).into_iter().flatten();
    let values = values.filter_map(|(key, value)| Some((key.clone(), value.as_str()?.to_owned()))).collect();
    // The wall clock is the recorder's, not the test's.
    let is_told = run.get("duration_from").and_then(Value::as_str).is_some_and(|from| from != "wall");
    let duration = run.get("duration_ns").and_then(Value::as_i64).filter(|_| is_told);
    let has_failed = run.get("failure").is_some_and(|failure| !failure.is_null());
    let session = run.get("session").and_then(Value::as_u64).and_then(|number| number.try_into().ok()).unwrap_or(0);
    PlannedRun { test: text("test"), case: text("case"), values, session, duration, has_failed }
}

fn read(path: &Path) -> Option<Value> {
    let file = std::fs::File::open(path).ok()?;
    let length = file.metadata().ok().filter(std::fs::Metadata::is_file)?.len();
    let mut bytes = Vec::new();
    file.take(LONGEST).read_to_end(&mut bytes).ok()?;
    serde_json::from_slice(&bytes).ok().filter(|_| length <= LONGEST)
}

#[cfg(test)]
mod tests {
    use super::{NAME, PlannedRun, Plans};

    #[test]
    fn a_run_is_found_by_its_recording() {
        let directory = tempfile::tempdir().expect("temporary directory");
        let document = r#"{"format":1,"runs":[
            {"case":"io","kind":"bare","recording":null,"duration_ns":5,"duration_from":"wall","failure":null},
            {"case":"io-threads3","test":"io","values":{"threads":"3"},"session":2,"kind":"recorded","recording":"io_1.data",
             "duration_ns":7,"duration_from":"output","failure":null},
            {"case":"io","kind":"recorded","recording":"io_2.data","duration_ns":9,"duration_from":"wall","failure":"exit code 1"}
        ]}"#;
        std::fs::write(directory.path().join(NAME), document).expect("written");
        let run = |name: &str| {
            let archive = directory.path().join(name);
            Plans::beside([archive.as_path()]).run_of(&archive).cloned()
        };
        let expected = PlannedRun {
            test: Some("io".to_owned()),
            case: Some("io-threads3".to_owned()),
            values: [("threads".to_owned(), "3".to_owned())].into(),
            session: 2,
            duration: Some(7),
            has_failed: false,
        };
        assert_eq!(run("io_1.sift"), Some(expected));
        let failed = run("io_2.sift").expect("a run");
        assert_eq!((failed.duration, failed.has_failed, failed.session), (None, true, 0));
        assert_eq!(run("io_3.sift"), None);
        std::fs::write(directory.path().join(NAME), "{").expect("written");
        assert_eq!(run("io_1.sift"), None);
    }
}
