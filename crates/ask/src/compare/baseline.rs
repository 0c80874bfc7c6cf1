//! Runs in a file: what a comparison has to know of them, so that they can stand for a set when their recordings are gone.

use std::collections::BTreeMap;
use std::io::Read as _;
use std::path::Path;

use serde_json::{Map, Value, json};
use thiserror::Error;

use super::account::Account;
use super::kept::{self, VERSION};
use super::metrics::MetricList;
use super::run::{Measure, Run};
use crate::path::AccountQuery;
use crate::table_question::built_in_tags;

/// Version of the file.
const FORMAT: u64 = 1;

/// The word that tells the file from other JSON.
const KIND: &str = "tracesift-baseline";

/// No baseline is as large: a run takes some 20 KiB.
const LARGEST: u64 = 1 << 30;

/// Why a file cannot stand for a set.
#[derive(Debug, Error)]
pub enum BaselineError {
    /// It cannot be read.
    #[error("{0}")]
    Read(#[from] std::io::Error),
    /// It is something else, or damaged.
    #[error("this is no baseline: {0}")]
    Form(&'static str),
    /// Its runs were measured in another way.
    #[error("its {what} is `{found}`, and that of this comparison is `{asked}`")]
    Differs {
        /// What differs.
        what: String,
        /// In the file.
        found: String,
        /// In the comparison.
        asked: String,
    },
}

/// How runs are measured: what has to be the same in runs that are compared.
fn measured_by(query: &AccountQuery, measure: Measure) -> [(&'static str, String); 7] {
    let AccountQuery { windows, follow, disturbances, tags, repetitions } = query;
    let tags = tags.clone().unwrap_or_else(built_in_tags).hash();
    let kinds: Vec<&str> = disturbances.kinds().iter().map(|kind| kind.word()).collect();
    let follow =
        follow.map_or_else(|| "as the window implies".to_owned(), |follow| format!("{follow:?}").to_lowercase());
    [
        ("window", windows.whole()),
        ("measure", format!("{measure:?}").to_lowercase()),
        ("repetitions", repetitions.to_string()),
        ("follow", follow),
        ("list of disturbances", format!("version {}: {}", disturbances.version(), kinds.join(", "))),
        ("tag hash", tags),
        ("algorithm", format!("accounts {VERSION}, metrics {}", MetricList::built_in().version)),
    ]
}

/// The file of these runs.
#[must_use]
pub fn write(runs: &[Run], query: &AccountQuery, measure: Measure) -> String {
    let by: Map<String, Value> =
        measured_by(query, measure).into_iter().map(|(key, value)| (key.to_owned(), json!(value))).collect();
    let runs: Vec<Value> = runs.iter().map(write_run).collect();
    let tool = env!("CARGO_PKG_VERSION");
    format!("{}\n", json!({ "kind": KIND, "format": FORMAT, "tool_version": tool, "measured_by": by, "runs": runs }))
}

/// Reads the runs of a file.
///
/// # Errors
/// It is no baseline, or its runs were measured in another way than this comparison measures runs.
pub fn read(path: &Path, query: &AccountQuery, measure: Measure) -> Result<Vec<Run>, BaselineError> {
    let mut bytes = Vec::new();
    std::fs::File::open(path)?.take(LARGEST + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > LARGEST {
        return Err(BaselineError::Form("it is larger than 1 GiB"));
    }
    let value: Value = serde_json::from_slice(&bytes).map_err(|_| BaselineError::Form("it is no JSON"))?;
    parse(&value, query, measure)
}

fn parse(value: &Value, query: &AccountQuery, measure: Measure) -> Result<Vec<Run>, BaselineError> {
    if value.get("kind").and_then(Value::as_str) != Some(KIND) {
        return Err(BaselineError::Form("--save-baseline did not write it"));
    }
    let differs = |what: &str, found: &str, asked: &str| BaselineError::Differs {
        what: what.to_owned(),
        found: found.to_owned(),
        asked: asked.to_owned(),
    };
    let format = value.get("format").and_then(Value::as_u64);
    if format != Some(FORMAT) {
        let found = format.map_or_else(|| "unknown".to_owned(), |format| format.to_string());
        return Err(differs("format", &found, &FORMAT.to_string()));
    }
    let by = value.get("measured_by").ok_or(BaselineError::Form("it does not say how its runs were measured"))?;
    for (what, asked) in measured_by(query, measure) {
        let found = by.get(what).and_then(Value::as_str).unwrap_or("unknown");
        if found != asked {
            return Err(differs(what, found, &asked));
        }
    }
    let runs = value.get("runs").and_then(Value::as_array).ok_or(BaselineError::Form("it has no list of runs"))?;
    let runs: Option<Vec<Run>> = runs.iter().map(read_run).collect();
    runs.ok_or(BaselineError::Form("a run in it is damaged"))
}

fn write_run(run: &Run) -> Value {
    let account = Account {
        window: run.window,
        level: run.level,
        rows: run.rows.clone(),
        modules: run.modules.clone(),
        processes: run.processes.clone(),
        metrics: run.metrics.clone(),
    };
    json!({
        "file": run.file,
        "name": run.name,
        "id": run.id,
        "case": run.case,
        "test": run.test,
        "values": run.values,
        "time": run.time,
        "date": run.date,
        "duration_ns": run.duration(),
        "undisturbed_ns": run.undisturbed(),
        "reported_ns": run.reported,
        "kind": run.kind,
        "facts": run.facts,
        "warnings": run.warnings,
        "account": kept::write(&account),
    })
}

fn read_run(value: &Value) -> Option<Run> {
    let text = |key: &str| value.get(key)?.as_str().map(str::to_owned);
    let texts = |key: &str| -> Option<BTreeMap<String, String>> {
        let pairs = value.get(key)?.as_object()?.iter();
        pairs.map(|(key, value)| Some((key.clone(), value.as_str()?.to_owned()))).collect()
    };
    let warnings = value.get("warnings")?.as_array()?.iter().map(|warning| warning.as_str().map(str::to_owned));
    let Account { window, level, rows, modules, processes, metrics } = kept::read(value.get("account")?)?;
    let run = Run {
        file: text("file")?,
        name: text("name")?,
        id: text("id")?,
        case: text("case")?,
        test: text("test"),
        values: texts("values")?,
        session: None,
        time: value.get("time")?.as_i64()?,
        date: text("date"),
        reported: value.get("reported_ns")?.as_i64(),
        facts: texts("facts")?,
        warnings: warnings.collect::<Option<_>>()?,
        kind: text("kind")?,
        level,
        window,
        measured: value.get("duration_ns")?.as_i64()?,
        rows,
        modules,
        processes,
        metrics,
    };
    // The figures that people may have changed are those of the account.
    let sum: i128 = run.rows.iter().map(|row| i128::from(row.time)).sum();
    let undisturbed = value.get("undisturbed_ns")?.as_i64()?;
    (sum == i128::from(run.measured) && undisturbed == run.undisturbed()).then_some(run)
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::{AccountQuery, BaselineError, Measure, parse, write};

    fn error(change: impl Fn(&mut Value)) -> String {
        let query = AccountQuery::default();
        let mut value: Value = serde_json::from_str(&write(&[], &query, Measure::Window)).expect("JSON");
        change(&mut value);
        parse(&value, &query, Measure::Window).map_err(|error: BaselineError| error.to_string()).expect_err("an error")
    }

    #[test]
    fn a_baseline_of_another_measurement_is_refused_with_what_differs() {
        let query = AccountQuery::default();
        let whole: Value = serde_json::from_str(&write(&[], &query, Measure::Window)).expect("JSON");
        assert!(parse(&whole, &query, Measure::Window).is_ok_and(|runs| runs.is_empty()));
        let other = parse(&whole, &query, Measure::Reported).map(|_| ()).map_err(|error| error.to_string());
        assert_eq!(other, Err("its measure is `window`, and that of this comparison is `reported`".to_owned()));
        for key in ["window", "measure", "repetitions", "follow", "list of disturbances", "tag hash", "algorithm"] {
            let text = error(|value| value["measured_by"][key] = json!("odd"));
            assert!(text.starts_with(&format!("its {key} is `odd`, and that of this comparison is `")), "{text}");
        }
        assert_eq!(error(|value| value["format"] = json!(2)), "its format is `2`, and that of this comparison is `1`");
    }

    #[test]
    fn what_is_damaged_is_no_baseline() {
        assert!(error(|value| value["kind"] = json!("x")).contains("--save-baseline did not write it"));
        assert!(error(|value| *value = json!([])).contains("no baseline"));
        assert!(error(|value| value["runs"] = json!({})).contains("no list of runs"));
        assert!(error(|value| value["runs"] = json!([{}])).contains("a run in it is damaged"));
    }
}
