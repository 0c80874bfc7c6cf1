//! The figures of a run beside its time: CPU, memory, disks, faults. Each is a column of the answer of a command; the list is a
//! text file, whose head describes its format.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use tracesift_statistics::robust::median;
use tracesift_statistics::split::{ByCounters, Counted};
use tracesift_statistics::welch::mean;

use super::calls::Calls;
use super::run::Run;
use super::units::Units;
use crate::answer::Failure;
use crate::asked::{Amount, Answers, Average, Fold, Gaps, Told};
use crate::recording::OpenRecording;

/// The list that the program has.
pub const BUILT_IN: &str = include_str!("metrics.txt");

/// A test reads the list, so there is no error.
static LIST: LazyLock<MetricList> =
    LazyLock::new(|| MetricList::read(BUILT_IN).expect("a test reads the built-in list"));

/// A list of metrics.
#[derive(Clone, Debug)]
pub(crate) struct MetricList {
    /// Its version.
    pub(crate) version: u32,
    /// By the order of the file.
    pub(crate) metrics: Vec<Metric>,
}

/// A figure of a run.
#[derive(Clone, Debug)]
pub(crate) struct Metric {
    /// Its name.
    pub(crate) name: String,
    /// Whose it is.
    whose: Whose,
    /// The system calls that a recording of Linux must have for it.
    needs: Option<Calls>,
    /// The words of the command with their gaps.
    pub(crate) words: Vec<String>,
    /// The column.
    pub(crate) fold: Fold,
    /// What it is, for people.
    pub(crate) says: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Whose {
    Test,
    Machine,
    Others,
}

/// The metrics of a run by name, or why the recording does not tell them.
pub(crate) type RunMetrics = BTreeMap<String, Result<Amount, String>>;

impl MetricList {
    /// The list that the program has.
    pub(crate) fn built_in() -> &'static Self {
        &LIST
    }

    /// Reads a list. An error has the number of its line.
    pub(crate) fn read(text: &str) -> Result<Self, String> {
        let mut version = None;
        let mut metrics: Vec<Metric> = Vec::new();
        for (line, content) in (1..).zip(text.lines()) {
            let content = content.trim();
            if content.is_empty() || content.starts_with('#') {
                continue;
            }
            let wrong = |problem: String| format!("line {line}: {problem}");
            let (key, value) = content.split_once(char::is_whitespace).unwrap_or((content, ""));
            let value = value.trim();
            if key == "metric" {
                if metrics.iter().any(|metric| metric.name == value) {
                    return Err(wrong(format!("the metric `{value}` is in the list already")));
                }
                metrics.push(Metric::new(value));
                continue;
            }
            match (key, metrics.last_mut()) {
                ("version", None) => version = value.parse().ok().filter(|version| *version > 0),
                (_, Some(metric)) => metric.set(key, value).map_err(wrong)?,
                _ => return Err(wrong(format!("`{key}` stands before the first metric"))),
            }
        }
        let version = version.ok_or("the list begins with `version` and a number above 0")?;
        match metrics.iter().find(|metric| metric.words.is_empty() || metric.says.is_empty()) {
            Some(metric) => Err(format!("metric `{}`: it needs `look`, `figure` and `says`", metric.name)),
            None => Ok(Self { version, metrics }),
        }
    }

    /// The metrics of a run.
    ///
    /// # Errors
    /// When a table cannot be read.
    pub(super) fn measure(&self, recording: &OpenRecording, gaps: Gaps, has_test: bool) -> Result<RunMetrics, Failure> {
        let mut answers = Answers::new(recording, gaps);
        let mut found = RunMetrics::new();
        for metric in &self.metrics {
            let told = match metric.whose {
                Whose::Machine => metric.of(&mut answers, false)?,
                _ if !has_test => Err("nothing tells which program is tested: name it with -p".to_owned()),
                Whose::Test => metric.of(&mut answers, true)?,
                Whose::Others => match (metric.of(&mut answers, false)?, metric.of(&mut answers, true)?) {
                    (Ok(all), Ok(own)) => Ok(all.map(|all| all.less(own))),
                    (Err(why), _) | (_, Err(why)) => Err(why),
                },
            };
            let told = told.and_then(|amount| amount.ok_or_else(|| "no such rows".to_owned()));
            // What is there can be a part of what the metric counts.
            let lacking = metric.needs.and_then(|calls| calls.lacking(recording.info()));
            let told = told.and_then(|amount| lacking.map_or(Ok(amount), Err));
            found.insert(metric.name.clone(), told);
        }
        Ok(found)
    }
}

impl Metric {
    fn new(name: &str) -> Self {
        let (name, fold) = (name.to_owned(), Fold::sum(""));
        Self { name, whose: Whose::Test, needs: None, words: Vec::new(), fold, says: String::new() }
    }

    fn set(&mut self, key: &str, value: &str) -> Result<(), String> {
        match key {
            "of" => {
                self.whose = match value {
                    "test" => Whose::Test,
                    "machine" => Whose::Machine,
                    "others" => Whose::Others,
                    other => return Err(format!("`{other}` is none of `test`, `machine` and `others`")),
                }
            }
            "needs" => self.needs = Some(Calls::read(value)?),
            "look" if value.starts_with("dump ") => {
                self.words = value.split_whitespace().map(str::to_owned).collect();
            }
            "look" => return Err(format!("`{value}` is no command `dump …`")),
            "figure" => self.fold = Fold::read(value)?,
            "says" => value.clone_into(&mut self.says),
            other => return Err(format!("`{other}` is no key of a metric")),
        }
        Ok(())
    }

    fn of(&self, answers: &mut Answers<'_>, is_of_test: bool) -> Result<Told<Amount>, Failure> {
        Ok(answers.of(&self.words, is_of_test)?.and_then(|answer| answer.figure(&self.fold)))
    }
}

/// A metric of two sets.
#[derive(Clone, Debug)]
pub struct ComparedMetric {
    /// Its name.
    pub name: &'static str,
    /// What it is, for people.
    pub text: &'static str,
    /// Means of the two sets.
    pub means: [Average; 2],
    /// Medians of the two sets.
    pub medians: [Average; 2],
    /// The p within the family of all rows and metrics; `None`: it was not tested.
    pub p: Option<f64>,
    /// Whether the difference is no chance.
    pub is_flagged: bool,
    /// By run.
    values: Vec<f64>,
    /// What one count of it is worth.
    quantum: f64,
}

/// A metric that not all runs have.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MissingMetric {
    /// Its name.
    pub name: &'static str,
    /// What it is, for people.
    pub text: &'static str,
    /// Why one of the runs lacks it.
    pub why: String,
}

/// The metrics of two sets.
#[derive(Clone, Debug, Default)]
pub struct Metrics {
    /// Those that all runs have, and that are not 0 in all of them.
    pub compared: Vec<ComparedMetric>,
    /// Those that a run lacks.
    pub missing: Vec<MissingMetric>,
    /// The difference of the CPU time for which counters are known, in parts that add up to it.
    pub by_counters: Option<ByCounters>,
}

impl Metrics {
    /// Those of the runs before `split` and of the others.
    pub(super) fn of(runs: &[Run], split: usize) -> Self {
        let mut metrics = Self::default();
        for metric in &MetricList::built_in().metrics {
            let Metric { name, says, .. } = metric;
            let of_runs: Result<Vec<Amount>, String> = runs.iter().map(|run| run.metric(name)).collect();
            match of_runs {
                Ok(amounts) if amounts.iter().any(|amount| amount.number() != 0.0) => {
                    metrics.compared.extend(ComparedMetric::of(metric, &amounts, split));
                }
                Ok(_) => {}
                Err(why) => metrics.missing.push(MissingMetric { name, text: says, why }),
            }
        }
        let counted = |set: usize| {
            let mean = |name: &str| {
                let of_name = metrics.compared.iter().find(|metric| metric.name == name)?;
                Some(of_name.means[set].number())
            };
            Some(Counted { ns: mean("counted-cpu")?, instructions: mean("instructions")?, cycles: mean("cycles")? })
        };
        metrics.by_counters = counted(0).zip(counted(1)).and_then(|(a, b)| ByCounters::of(a, b));
        metrics
    }
}

impl ComparedMetric {
    fn of(metric: &'static Metric, amounts: &[Amount], split: usize) -> Option<Self> {
        let values: Vec<f64> = amounts.iter().map(|amount| amount.number()).collect();
        let (a, b) = values.split_at(split.min(values.len()));
        let unit = *amounts.first()?;
        let zero = Average::of(amounts, 0.0)?;
        let of_sets = |value: fn(&[f64]) -> Option<f64>| {
            [a, b].map(|set| value(set).and_then(|number| Average::of(amounts, number)).unwrap_or(zero))
        };
        Some(Self {
            name: &metric.name,
            text: &metric.says,
            means: of_sets(mean),
            medians: of_sets(median),
            p: None,
            is_flagged: false,
            quantum: quantum(unit),
            values,
        })
    }

    /// The change of the means, as a ratio: 0.05 is 5 % more. `None`: the first set has none of it.
    #[must_use]
    pub fn change(&self) -> Option<f64> {
        let [a, b] = self.means.map(Average::number);
        (a != 0.0).then(|| b / a - 1.0)
    }

    /// Its values as they are tested, and what one count is worth.
    pub(super) fn tested(&self, units: &Units) -> (Vec<f64>, f64) {
        (units.means(&self.values), self.quantum)
    }
}

/// What one count of a metric is worth: a millisecond, as of a sample; a page of memory; one.
fn quantum(unit: Amount) -> f64 {
    match unit {
        Amount::Time(_) => 1e6,
        Amount::Bytes(_) => 4096.0,
        Amount::Count(_) | Amount::Number(_) => 1.0,
    }
}

#[cfg(test)]
mod tests {
    use super::{BUILT_IN, MetricList, Whose};
    use crate::options::Plan;
    use crate::question;

    #[test]
    fn every_command_of_the_built_in_list_can_be_asked_and_has_its_columns() {
        let list = MetricList::read(BUILT_IN).expect("the built-in list is sound");
        assert!(list.version > 0 && list.metrics.len() > 20);
        for metric in &list.metrics {
            let filled = |word: &String| match word.as_str() {
                "{process}" => vec!["-p".to_owned(), "7;12".to_owned()],
                "{window}" | "{life}" => vec!["--time=1s..2.5s".to_owned()],
                _ => vec![word.clone()],
            };
            // Lives are those of the processes of the test.
            assert!(metric.whose == Whose::Test || metric.words.iter().all(|word| word != "{life}"), "{}", metric.name);
            let words: Vec<String> = metric.words.iter().flat_map(filled).collect();
            let command = words[..2].join(" ");
            let known = question::DUMP.iter().find(|known| known.command == command).expect("a question");
            let options: Vec<&str> = words[2..].iter().map(String::as_str).collect();
            let (when, plan) = known.plan(&options).unwrap_or_else(|error| panic!("{}: {error:?}", metric.name));
            let Plan::Archives(asking) = plan else { panic!("{}: no question about archives", metric.name) };
            let keys: Vec<&str> = when.columns(&*asking.question).iter().map(|column| column.key).collect();
            let wanted = std::iter::once(&metric.fold.key).chain(metric.fold.kept.iter().map(|(key, _)| key));
            for key in wanted {
                assert!(keys.contains(&key.as_str()), "{}: {words:?} has no {key}: {keys:?}", metric.name);
            }
        }
    }

    #[test]
    fn lists_that_are_wrong_are_refused() {
        let error = |text: &str| MetricList::read(text).expect_err("an error");
        assert_eq!(error("metric a"), "the list begins with `version` and a number above 0");
        assert_eq!(error("version 1\nlook dump cpu"), "line 2: `look` stands before the first metric");
        assert_eq!(error("version 1\nmetric a\nmetric a"), "line 3: the metric `a` is in the list already");
        assert_eq!(error("version 1\nmetric a\nof b"), "line 3: `b` is none of `test`, `machine` and `others`");
        assert_eq!(error("version 1\nmetric a\nneeds b"), "line 3: `b` is none of `all-calls` and `file-calls`");
        assert_eq!(error("version 1\nmetric a\nlook cpu"), "line 3: `cpu` is no command `dump …`");
        assert_eq!(error("version 1\nmetric a"), "metric `a`: it needs `look`, `figure` and `says`");
    }
}
