//! The plan of runs: a file in TOML.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde::Deserialize;
use tracesift_grammar::Pattern;
use tracesift_grammar::quantity;

use super::case::{self, Case};
use super::settings::{Cache, DurationFrom, FailedWhen};
use crate::options::Options;
use crate::{CallGraph, Rate, profiles};

/// More runs than anybody waits for.
const MOST_CASES: usize = 10_000;

/// A plan.
#[derive(Clone, Debug)]
pub struct Plan {
    /// Where the recordings go; relative to the plan.
    pub out: PathBuf,
    /// What is recorded.
    pub options: Options,
    /// The cases, in the order of the file and of the values of their parameters.
    pub cases: Vec<Case>,
}

/// What a plan says wrong.
#[derive(Debug, thiserror::Error)]
pub enum PlanError {
    /// The file cannot be read.
    #[error("{path}: {error}")]
    File {
        /// The file.
        path: PathBuf,
        /// Why.
        error: std::io::Error,
    },
    /// It is no TOML, or has other keys or values than a plan.
    #[error("{path}: {said}")]
    Text {
        /// The file.
        path: PathBuf,
        /// Where and what.
        said: String,
    },
    /// A value makes no sense.
    #[error("{path}: {place}: {said}")]
    Value {
        /// The file.
        path: PathBuf,
        /// The test, or the key.
        place: String,
        /// What, and what it may be.
        said: String,
    },
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
struct PlanText {
    out: Option<PathBuf>,
    profiles: Option<Vec<String>>,
    rate: Option<String>,
    call_graph: Option<String>,
    #[serde(default)]
    defaults: Defaults,
    test: Vec<TestText>,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
struct Defaults {
    repetitions: Option<u32>,
    overhead: Option<u32>,
    settle: Option<String>,
    timeout: Option<String>,
    cache: Option<Cache>,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
struct TestText {
    name: String,
    command: Vec<String>,
    #[serde(default)]
    matrix: toml::Table,
    #[serde(default)]
    environment: BTreeMap<String, String>,
    directory: Option<PathBuf>,
    #[serde(default)]
    set_up: Vec<Vec<String>>,
    #[serde(default)]
    clean_up: Vec<Vec<String>>,
    duration: Option<DurationText>,
    #[serde(default)]
    failed_when: FailedText,
    repetitions: Option<u32>,
    overhead: Option<u32>,
    settle: Option<String>,
    timeout: Option<String>,
    cache: Option<Cache>,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
struct DurationText {
    from: Option<String>,
    line: Option<String>,
    json: Option<String>,
    unit: Option<String>,
    file: Option<PathBuf>,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
struct FailedText {
    exit_code_not: Option<Vec<i32>>,
    output: Option<String>,
    longer_than: Option<String>,
}

/// A message about a value, without the file and the place.
type Said<T> = Result<T, String>;

impl Plan {
    /// Reads a plan. Paths in it are relative to its directory.
    ///
    /// # Errors
    ///
    /// [`PlanError`].
    pub fn read(path: &Path) -> Result<Self, PlanError> {
        let text = std::fs::read_to_string(path).map_err(|error| PlanError::File { path: path.to_owned(), error })?;
        let directory = path.parent().unwrap_or(Path::new(""));
        Self::parse(&text, path, directory)
    }

    fn parse(text: &str, path: &Path, directory: &Path) -> Result<Self, PlanError> {
        let wrong = |error: toml::de::Error| {
            // Line, column and what is wrong there; the marks below the line are for a screen of its own.
            let said = match error.span() {
                Some(span) => {
                    let before = text.get(..span.start).unwrap_or_default();
                    let line = before.matches('\n').count() + 1;
                    let column = before.rsplit('\n').next().unwrap_or_default().chars().count() + 1;
                    format!("line {line}, column {column}: {}", error.message())
                }
                None => error.message().to_owned(),
            };
            PlanError::Text { path: path.to_owned(), said }
        };
        let plan: PlanText = toml::from_str(text).map_err(wrong)?;
        let value =
            |place: &str, said: String| PlanError::Value { path: path.to_owned(), place: place.to_owned(), said };
        let options = plan.options().map_err(|(place, said)| value(place, said))?;
        let mut cases = Vec::new();
        for test in &plan.test {
            let place = format!("test `{}`", test.name);
            cases.extend(test.cases(&plan.defaults, directory).map_err(|said| value(&place, said))?);
            if cases.len() > MOST_CASES {
                return Err(value(&place, format!("more than {MOST_CASES} cases")));
            }
        }
        let mut names: Vec<&str> = cases.iter().map(|case| case.name.as_str()).collect();
        names.sort_unstable();
        if let Some(twice) = names.windows(2).find(|pair| pair[0].eq_ignore_ascii_case(pair[1])) {
            return Err(value(twice[0], "two cases have this name; recordings could not be told apart".to_owned()));
        }
        if cases.is_empty() {
            return Err(value("test", "there is none".to_owned()));
        }
        Ok(Self { out: directory.join(plan.out.unwrap_or_else(|| "recordings".into())), options, cases })
    }
}

impl PlanText {
    fn options(&self) -> Result<Options, (&'static str, String)> {
        let mut options = Options::default();
        if let Some(names) = &self.profiles {
            let find = |name: &String| {
                profiles::find(name).ok_or_else(|| crate::Error::UnknownProfile(name.clone()).to_string())
            };
            options.profiles = names.iter().map(find).collect::<Said<_>>().map_err(|said| ("profiles", said))?;
        }
        if let Some(rate) = &self.rate {
            options.rate = rate.parse::<Rate>().map_err(|error| ("rate", error.to_string()))?;
        }
        if let Some(way) = &self.call_graph {
            options.call_graph = way.parse::<CallGraph>().map_err(|error| ("call-graph", error.to_string()))?;
        }
        Ok(options)
    }
}

impl TestText {
    fn cases(&self, defaults: &Defaults, directory: &Path) -> Said<Vec<Case>> {
        if self.command.first().is_none_or(String::is_empty) {
            return Err("`command` names no program; it is a list of words: [\"program\", \"argument\"]".to_owned());
        }
        for words in self.set_up.iter().chain(&self.clean_up) {
            if words.first().is_none_or(String::is_empty) {
                return Err("a command of `set-up` and `clean-up` is a list of words".to_owned());
            }
        }
        let matrix = self.matrix.iter().map(|(name, values)| Ok((name.clone(), parameter(name, values)?)));
        let matrix: Vec<(String, Vec<String>)> = matrix.collect::<Said<_>>()?;
        let settle = self.settle.as_ref().or(defaults.settle.as_ref());
        let timeout = self.timeout.as_ref().or(defaults.timeout.as_ref());
        let model = Case {
            name: self.name.clone(),
            test: self.name.clone(),
            values: Vec::new(),
            command: self.command.clone(),
            environment: self.environment.clone(),
            directory: self.directory.as_ref().map_or_else(|| directory.to_owned(), |own| directory.join(own)),
            named_directory: self.directory.clone().unwrap_or_default(),
            set_up: self.set_up.clone(),
            clean_up: self.clean_up.clone(),
            duration: self.duration.as_ref().map_or(Ok(DurationFrom::Wall), DurationText::source)?,
            failed_when: self.failed_when.condition()?,
            repetitions: self.repetitions.or(defaults.repetitions).unwrap_or(1).max(1),
            overhead: self.overhead.or(defaults.overhead).unwrap_or(0),
            settle: settle.map_or(Ok(Duration::ZERO), |text| time("settle", text))?,
            timeout: timeout.map(|text| time("timeout", text)).transpose()?,
            cache: self.cache.or(defaults.cache).unwrap_or_default(),
        };
        case::expand(&model, &matrix, MOST_CASES)
    }
}

impl DurationText {
    fn source(&self) -> Said<DurationFrom> {
        let forms =
            "`from = \"wall\"`, `from = \"exit-code\"`, `line = \"took {ms} ms\"` or `json = \"key\"` with `unit`";
        match (&self.from, &self.line, &self.json) {
            (Some(from), None, None) => match from.as_str() {
                "wall" => Ok(DurationFrom::Wall),
                "exit-code" => Ok(DurationFrom::ExitCode),
                _ => Err(format!("`duration` is {forms}")),
            },
            (None, Some(line), None) => {
                let places = UNITS.iter().filter_map(|(name, unit)| {
                    let (before, behind) = line.split_once(&format!("{{{name}}}"))?;
                    Some(DurationFrom::Line { before: before.to_owned(), behind: behind.to_owned(), unit: *unit })
                });
                let mut places = places.collect::<Vec<_>>();
                match (places.pop(), places.is_empty()) {
                    (Some(place), true) => Ok(place),
                    _ => {
                        Err("`line` of `duration` has one of {s}, {ms}, {us} and {ns} where the figure stands"
                            .to_owned())
                    }
                }
            }
            (None, None, Some(json)) => {
                let unit = self.unit.as_deref().unwrap_or("ms");
                let unit = UNITS.iter().find(|(name, _)| *name == unit);
                let (_, unit) = unit.ok_or("`unit` of `duration` is s, ms, us or ns")?;
                let keys = json.split('.').map(str::to_owned).collect();
                Ok(DurationFrom::Json { keys, unit: *unit, file: self.file.clone() })
            }
            _ => Err(format!("`duration` is one of {forms}")),
        }
    }
}

/// Units of figures that programs tell, in ns.
const UNITS: [(&str, f64); 4] = [("s", 1e9), ("ms", 1e6), ("us", 1e3), ("ns", 1.0)];

impl FailedText {
    fn condition(&self) -> Said<FailedWhen> {
        Ok(FailedWhen {
            passing_codes: self.exit_code_not.clone(),
            output: self.output.as_deref().map(Pattern::new),
            longer_than: self.longer_than.as_ref().map(|text| time("longer-than", text)).transpose()?,
        })
    }
}

fn time(key: &str, text: &str) -> Said<Duration> {
    quantity::parse_duration(text)
        .ok()
        .ok_or_else(|| format!("`{key}` is a time such as \"500ms\", \"2s\" or \"5min\", not `{text}`"))
}

/// The values of a parameter: a list, or a range `"1..5"` with both ends.
fn parameter(name: &str, values: &toml::Value) -> Said<Vec<String>> {
    let forms = || format!("`{name}` of `matrix` is a list such as [1, 2, 4] or a range such as \"1..5\"");
    let text = |value: &toml::Value| match value {
        toml::Value::String(text) => Some(text.clone()),
        toml::Value::Integer(number) => Some(number.to_string()),
        toml::Value::Float(number) => Some(number.to_string()),
        toml::Value::Boolean(value) => Some(value.to_string()),
        _ => None,
    };
    let values: Option<Vec<String>> = match values {
        toml::Value::Array(values) => values.iter().map(text).collect(),
        toml::Value::String(range) => range.split_once("..").and_then(|(first, last)| {
            let (first, last): (i64, i64) = (first.trim().parse().ok()?, last.trim().parse().ok()?);
            let many = last.checked_sub(first)?;
            let few = usize::try_from(many).ok().is_some_and(|many| many < MOST_CASES);
            few.then(|| (first..=last).map(|value| value.to_string()).collect())
        }),
        _ => None,
    };
    values.filter(|values| !values.is_empty()).ok_or_else(forms)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> Result<Plan, PlanError> {
        Plan::parse(text, Path::new("plan.toml"), Path::new("/plans"))
    }

    fn error(text: &str) -> String {
        parse(text).unwrap_err().to_string()
    }

    #[test]
    fn every_key() {
        let plan = parse(
            r#"
            out = "there"
            profiles = ["Default", "CSwitch"]
            rate = "1kHz"
            call-graph = "dwarf"
            [defaults]
            repetitions = 3
            overhead = 1
            settle = "250ms"
            timeout = "5min"
            cache = "as-is"
            [[test]]
            name = "Writer"
            command = ["writer", "--threads", "{threads}", "--mode={mode}"]
            matrix = { threads = "2..3", mode = ["a b", "c"] }
            environment = { A = "{mode}" }
            directory = "here"
            set-up = [["mkdir", "x{threads}"]]
            clean-up = [["rm", "-r", "x{threads}"]]
            duration = { line = "took {ms} ms" }
            failed-when = { exit-code-not = [0, 3], output = "*FAILED*", longer-than = "9s" }
            [[test]]
            name = "Other"
            command = ["other"]
            repetitions = 1
            cache = "cold"
            duration = { json = "truth.write_ns", unit = "ns", file = "result.json" }
            "#,
        )
        .unwrap();
        assert_eq!(plan.out, Path::new("/plans/there"));
        let names: Vec<&str> = plan.cases.iter().map(|case| case.name.as_str()).collect();
        assert_eq!(
            names,
            [
                "Writer-threads2-mode-a-b",
                "Writer-threads2-mode-c",
                "Writer-threads3-mode-a-b",
                "Writer-threads3-mode-c",
                "Other"
            ]
        );
        let first = &plan.cases[0];
        assert_eq!(first.command, ["writer", "--threads", "2", "--mode=a b"]);
        assert_eq!((first.environment["A"].as_str(), first.set_up[0][1].as_str()), ("a b", "x2"));
        assert_eq!((first.repetitions, first.overhead, first.cache), (3, 1, Cache::AsIs));
        assert_eq!(first.directory, Path::new("/plans/here"));
        let last = &plan.cases[4];
        assert_eq!((last.repetitions, last.cache, last.settle), (1, Cache::Cold, Duration::from_millis(250)));
        let file = Some(PathBuf::from("result.json"));
        let keys = vec!["truth".to_owned(), "write_ns".to_owned()];
        assert_eq!(last.duration, DurationFrom::Json { keys, unit: 1.0, file });
    }

    #[test]
    fn what_is_wrong_is_said_with_its_place() {
        let test = |more: &str| format!("[[test]]\nname = \"A\"\ncommand = [\"a\"]\n{more}\n");
        assert_eq!(
            error("[[test]]\nname = 1\n"),
            "plan.toml: line 2, column 8: invalid type: integer `1`, expected a string"
        );
        assert!(
            error(&test("comand = 1")).contains("line 4, column 1: unknown field `comand`"),
            "{}",
            error(&test("comand = 1"))
        );
        assert!(error(&test("settle = \"5\"")).contains("test `A`: `settle` is a time such as"));
        assert!(error(&test("matrix = { n = \"5..1\" }")).contains("`n` of `matrix` is a list"));
        assert!(error(&test("duration = { line = \"took\" }")).contains("{ms}"));
        assert!(error(&test("duration = { }")).contains("`duration` is one of"));
        assert!(error(&test("clean-up = [[]]")).contains("a list of words"));
        assert!(error(&format!("{}{}", test(""), test(""))).contains("two cases have this name"));
        assert!(error("[[test]]\nname = \"A\"\ncommand = []").contains("names no program"));
        assert!(
            error(&format!("profiles = [\"Nothing\"]\n{}", test("")))
                .contains("profiles: there is no profile `Nothing`")
        );
        assert!(error(&test("command = [\"a\"]")).contains("duplicate key"));
        let unknown = "[[test]]\nname = \"A\"\ncommand = [\"a\", \"{n}\"]\nmatrix = { m = [1] }";
        assert!(error(unknown).contains("{n}"), "{}", error(unknown));
    }
}
