//! Sets that a property of the runs makes: a parameter, a fact, a version, a date, or the duration itself.

use std::collections::BTreeSet;
use std::str::FromStr;

use tracesift_grammar::Patterns;
use tracesift_statistics::gaps::{largest_gap, modes};

use super::run::Run;

/// Values that are named where no run has those that somebody asked for.
const MOST_FOUND: usize = 12;

/// What tells the runs of two sets apart.
#[derive(Clone, Debug)]
pub enum Grouping {
    /// A property.
    By(Box<By>),
    /// The duration.
    Split(Split),
}

/// A property of runs, and the value that each set has.
#[derive(Clone, Debug)]
pub struct By {
    property: Property,
    /// The values as they were written, and as patterns.
    values: [(String, Patterns); 2],
}

/// A property of a run.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Property {
    /// A parameter of the test plan that it was a run of.
    Parameter(String),
    /// A fact, such as `kernel`.
    Fact(String),
    /// The version or the identity of a module.
    Version(String),
    /// The day, `yyyy-MM-dd`, on which the second set begins.
    Date,
    /// The session of the test plan.
    Session,
}

/// The error of a text that tells no property.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum GroupingError {
    /// Neither of the forms.
    #[error("it must be PARAMETER=A..B, fact:KEY=A..B, version:MODULE=A..B, date:2026-11-20, or session:A..B")]
    Form,
    /// No limit.
    #[error("it must be slow, or slow:SECONDS such as slow:2.5")]
    Limit,
}

impl FromStr for By {
    type Err = GroupingError;

    fn from_str(text: &str) -> Result<Self, GroupingError> {
        if let Some(day) = text.strip_prefix("date:") {
            let is_day = chrono::NaiveDate::parse_from_str(day, "%Y-%m-%d").is_ok() && day.len() == 10;
            let values = [(day.to_owned(), Patterns::default()), (day.to_owned(), Patterns::default())];
            return if is_day { Ok(Self { property: Property::Date, values }) } else { Err(GroupingError::Form) };
        }
        let sessions = text.strip_prefix("session:").map(|values| ("session:", values));
        let (key, values) = sessions.or_else(|| text.split_once('=')).ok_or(GroupingError::Form)?;
        let (a, b) = values.split_once("..").ok_or(GroupingError::Form)?;
        let property = match key.split_once(':') {
            Some(("session", "")) => Property::Session,
            Some(("fact", key)) => Property::Fact(key.to_owned()),
            Some(("version", module)) => Property::Version(module.to_lowercase()),
            Some(_) => return Err(GroupingError::Form),
            None => Property::Parameter(key.to_owned()),
        };
        if [key, a, b].contains(&"") {
            return Err(GroupingError::Form);
        }
        let pattern = |text: &str| (text.to_owned(), Patterns::parse(text));
        Ok(Self { property, values: [pattern(a), pattern(b)] })
    }
}

impl By {
    /// The labels of the two sets.
    fn labels(&self) -> [String; 2] {
        let [(a, _), (b, _)] = &self.values;
        match &self.property {
            Property::Date => [format!("before {a}"), format!("from {b}")],
            Property::Session => [format!("session {a}"), format!("session {b}")],
            // A number alone would be taken for a figure.
            Property::Parameter(key) if [a, b].iter().any(|value| value.starts_with(|c: char| c.is_ascii_digit())) => {
                [format!("{key}={a}"), format!("{key}={b}")]
            }
            _ => [a.clone(), b.clone()],
        }
    }

    /// Whether the cases of a plan, by the values of their parameters, can have both sets. `Err`: why not.
    ///
    /// # Errors
    /// A sentence: no case has the parameter, or none has one of the values.
    pub fn check<'a>(&self, cases: impl Iterator<Item = &'a [(String, String)]>) -> Result<(), String> {
        let Property::Parameter(key) = &self.property else { return Ok(()) };
        let pairs = cases.flatten().filter(|(parameter, _)| parameter == key);
        let found: BTreeSet<String> = pairs.map(|(_, value)| value.clone()).collect();
        if found.is_empty() {
            return Err(format!("no case of the plan has a parameter `{key}`"));
        }
        match self.values.iter().find(|(_, patterns)| !found.iter().any(|value| patterns.matches(value))) {
            Some((text, _)) => Err(format!("no case of the plan has `{key}` = {text}; they have {}", some(&found))),
            None => Ok(()),
        }
    }

    /// The set that a run belongs to.
    fn place(&self, run: &Run) -> Option<usize> {
        let of_modules: Vec<String>;
        let session: String;
        let values: Vec<&str> = match &self.property {
            Property::Parameter(key) => run.values.get(key).map(String::as_str).into_iter().collect(),
            Property::Fact(key) => run.facts.get(key).map(String::as_str).into_iter().collect(),
            Property::Version(module) => {
                of_modules = versions(run, module);
                of_modules.iter().map(String::as_str).collect()
            }
            Property::Session => {
                session = run.session?.to_string();
                vec![&session]
            }
            Property::Date => {
                let day = run.date.as_deref()?.get(..10)?;
                return Some(usize::from(day >= self.values[0].0.as_str()));
            }
        };
        let has = |patterns: &Patterns| values.iter().any(|value| patterns.matches(value));
        match (has(&self.values[0].1), has(&self.values[1].1)) {
            (true, false) => Some(0),
            (false, true) => Some(1),
            _ => None,
        }
    }

    /// Which values of the property runs have, as a sentence.
    fn found<'a>(&self, runs: impl Iterator<Item = &'a Run>) -> String {
        let (mut values, mut keys) = (BTreeSet::new(), BTreeSet::new());
        for run in runs {
            match &self.property {
                Property::Parameter(key) => {
                    values.extend(run.values.get(key).cloned());
                    keys.extend(run.values.keys().cloned());
                }
                Property::Fact(key) => {
                    values.extend(run.facts.get(key).cloned());
                    keys.extend(run.facts.keys().cloned());
                }
                Property::Version(module) => values.extend(versions(run, module)),
                Property::Session => values.extend(run.session.map(|session| session.to_string())),
                Property::Date => values.extend(run.date.as_deref().and_then(|date| date.get(..10)).map(str::to_owned)),
            }
        }
        let (name, kind) = match &self.property {
            Property::Parameter(key) => (format!("`{key}`"), "parameters"),
            Property::Fact(key) => (format!("the fact `{key}`"), "facts"),
            Property::Version(module) => (format!("a version of `{module}`"), "modules"),
            Property::Date => ("a date".to_owned(), "dates"),
            Property::Session => ("a session".to_owned(), "sessions"),
        };
        match (values.is_empty(), keys.is_empty()) {
            (false, _) => format!("the runs have {name} = {}", some(&values)),
            (true, false) => format!("no run has {name}; the {kind} are {}", some(&keys)),
            (true, true) => format!("no run has {name}"),
        }
    }

    /// The case of a run without the property that tells the sets apart.
    fn case(&self, run: &Run) -> String {
        match (&self.property, &run.test) {
            (Property::Parameter(key), Some(test)) => {
                let others = run.values.iter().filter(|(parameter, _)| *parameter != key);
                others.fold(test.clone(), |name, (parameter, value)| format!("{name} {parameter}={value}"))
            }
            _ => run.case.clone(),
        }
    }
}

/// The first texts of a list.
fn some(texts: &BTreeSet<String>) -> String {
    let mut some: Vec<&str> = texts.iter().take(MOST_FOUND).map(String::as_str).collect();
    if texts.len() > MOST_FOUND {
        some.push("…");
    }
    some.join(", ")
}

/// The versions and the identities of a module, with or without its extension.
fn versions(run: &Run, name: &str) -> Vec<String> {
    let is_meant = |module: &str| module == name || module.rsplit_once('.').is_some_and(|(stem, _)| stem == name);
    let modules = run.modules.iter().filter(|(module, _)| is_meant(module)).map(|(_, module)| module);
    modules.flat_map(|module| module.version.iter().chain(&module.identity).cloned()).collect()
}

/// A limit between fast and slow runs.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Split {
    /// Seconds; `None`: the largest gap between durations.
    seconds: Option<f64>,
}

impl FromStr for Split {
    type Err = GroupingError;

    fn from_str(text: &str) -> Result<Self, GroupingError> {
        match text.split_once(':') {
            None if text == "slow" => Ok(Self { seconds: None }),
            Some(("slow", seconds)) => {
                let seconds = seconds.trim_end_matches('s').parse::<f64>().ok();
                let seconds = seconds.filter(|seconds| seconds.is_finite() && *seconds > 0.0);
                seconds.map(|seconds| Self { seconds: Some(seconds) }).ok_or(GroupingError::Limit)
            }
            _ => Err(GroupingError::Limit),
        }
    }
}

impl Split {
    /// The limit between the runs of a case, ns. `None` where all take as long.
    fn limit(self, runs: &[Run]) -> Option<f64> {
        if let Some(seconds) = self.seconds {
            return Some(seconds * 1e9);
        }
        let values: Vec<f64> = runs.iter().map(|run| run.duration() as f64).collect();
        modes(&values).or_else(|| largest_gap(&values, 1)).map(|gap| gap.limit())
    }
}

impl Grouping {
    /// The labels of the two sets.
    pub(super) fn labels(&self) -> [String; 2] {
        match self {
            Self::By(by) => by.labels(),
            Self::Split(_) => ["fast".to_owned(), "slow".to_owned()],
        }
    }

    /// Which values of the property runs have; `None` for the duration.
    pub(super) fn found<'a>(&self, runs: impl Iterator<Item = &'a Run>) -> Option<String> {
        match self {
            Self::By(by) => Some(by.found(runs)),
            Self::Split(_) => None,
        }
    }

    /// The case of a run.
    pub(super) fn case(&self, run: &Run) -> String {
        match self {
            Self::By(by) => by.case(run),
            Self::Split(_) => run.case.clone(),
        }
    }

    /// The runs of a case in their sets, and how many belong to neither.
    pub(super) fn divide(&self, runs: Vec<Run>) -> ([Vec<Run>; 2], usize) {
        let limit = if let Self::Split(split) = self { split.limit(&runs) } else { None };
        let (mut sets, mut neither) = ([Vec::new(), Vec::new()], 0);
        for run in runs {
            let place = match self {
                Self::By(by) => by.place(&run),
                Self::Split(_) => limit.map(|limit| usize::from(run.duration() as f64 > limit)),
            };
            match place {
                Some(place) => sets[place].push(run),
                None => neither += 1,
            }
        }
        (sets, neither)
    }

    /// Whether the duration chooses the sets.
    pub(super) fn is_by_duration(&self) -> bool {
        matches!(self, Self::Split(_))
    }
}

#[cfg(test)]
mod tests {
    use super::{By, GroupingError, Property, Split};

    #[test]
    fn properties_as_people_write_them() {
        let property = |text: &str| text.parse::<By>().map(|by| (by.property.clone(), by.labels()));
        let labels = |a: &str, b: &str| [a.to_owned(), b.to_owned()];
        assert_eq!(property("build=old..new"), Ok((Property::Parameter("build".into()), labels("old", "new"))));
        assert_eq!(property("n=1..2"), Ok((Property::Parameter("n".into()), labels("n=1", "n=2"))));
        assert_eq!(property("fact:kernel=6.1*..6.8*"), Ok((Property::Fact("kernel".into()), labels("6.1*", "6.8*"))));
        assert_eq!(property("version:App=1..2"), Ok((Property::Version("app".into()), labels("1", "2"))));
        assert_eq!(property("session:1..2"), Ok((Property::Session, labels("session 1", "session 2"))));
        assert_eq!(property("date:2026-11-20"), Ok((Property::Date, labels("before 2026-11-20", "from 2026-11-20"))));
        for text in [
            "",
            "session:1",
            "session:..2",
            "build",
            "build=old",
            "=a..b",
            "build=..new",
            "build=old..",
            "day:x=a..b",
            "date:20",
            "date:2026-13-01",
        ] {
            assert_eq!(property(text), Err(GroupingError::Form), "{text}");
        }
    }

    #[test]
    fn a_plan_can_have_both_sets_or_not() {
        let cases: Vec<Vec<(String, String)>> =
            ["old", "new"].map(|build| vec![("build".to_owned(), build.to_owned())]).into();
        let check = |text: &str| text.parse::<By>().expect("a property").check(cases.iter().map(Vec::as_slice));
        assert_eq!(
            (check("build=old..new"), check("build=o*..n*"), check("fact:kernel=1..2")),
            (Ok(()), Ok(()), Ok(()))
        );
        assert_eq!(check("mode=a..b"), Err("no case of the plan has a parameter `mode`".to_owned()));
        let missing = "no case of the plan has `build` = newer; they have new, old".to_owned();
        assert_eq!(check("build=old..newer"), Err(missing));
    }

    #[test]
    fn limits_as_people_write_them() {
        let limit = |text: &str| text.parse::<Split>().map(|split| split.seconds);
        assert_eq!((limit("slow"), limit("slow:2.5"), limit("slow:3s")), (Ok(None), Ok(Some(2.5)), Ok(Some(3.0))));
        for text in ["", "fast", "slow:", "slow:x", "slow:-1", "slow:inf"] {
            assert_eq!(limit(text), Err(GroupingError::Limit), "{text}");
        }
    }
}
