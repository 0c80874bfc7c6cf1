//! A limit for a change, as people write it: `undisturbed > +5%`, `method:*Parse* +20ms`, `page-faults < -10%`.

use std::fmt;
use std::str::FromStr;

use thiserror::Error;
use tracesift_grammar::Patterns;
use tracesift_grammar::quantity::{TimeUnit, parse_size, parse_time};
use tracesift_statistics::gate::{Gate as Test, Limit};

use super::metrics::MetricList;
use super::run::Run;
use crate::asked::Amount;
use crate::method_patterns::MethodPatterns;
use crate::path::rows::{Name, Row};

/// A limit for the change of a figure from the first set to the second.
#[derive(Clone, Debug, PartialEq)]
pub struct Gate {
    /// What is limited.
    pub(super) figure: GateFigure,
    /// Whether a change above the limit fails; else one below it.
    is_above: bool,
    limit: Limit,
    /// The unit of the limit.
    pub(super) unit: GateUnit,
    text: String,
}

/// A figure of a run that can be limited.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum GateFigure {
    Duration,
    Undisturbed,
    /// A metric, by its name.
    Metric(&'static str),
    /// Time on the path of code and of waits with a stack tag.
    Tag(Patterns),
    /// Time on the path of code of a method.
    Method(MethodPatterns),
    /// Time on the path of waits in a method.
    Wait(MethodPatterns),
    /// Time on the path of threads of a process.
    Process(Patterns),
}

/// The unit of a limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GateUnit {
    /// A share of the first set.
    Ratio,
    /// ns.
    Time,
    /// Bytes.
    Bytes,
    /// Things, or another number without a unit.
    Count,
}

impl GateUnit {
    /// The word for it.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Ratio => "ratio",
            Self::Time => "ns",
            Self::Bytes => "bytes",
            Self::Count => "number",
        }
    }
}

/// A text that is no gate.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum GateError {
    /// It does not end with a limit.
    #[error("`{0}` does not end with a limit, such as `undisturbed > +5%` or `duration > +20ms`")]
    Limit(String),
    /// Nothing stands before the limit.
    #[error("`{0}` does not begin with a figure, as `undisturbed > +5%` does")]
    NoFigure(String),
    /// A fall without `<` could be meant in two ways.
    #[error("`{0}`: write `< -…` for a limit of a fall, or `> -…` for a gain that is wanted")]
    Direction(String),
    /// Nothing has this name.
    #[error(
        "`{name}` is no figure of a run; use duration, undisturbed, tag:…, method:…, wait:…, process:…, or one of {known}"
    )]
    Figure {
        /// The name.
        name: String,
        /// The names of metrics.
        known: String,
    },
    /// Accounts have no CPU time by method.
    #[error("`{0}`: the CPU time of single methods is not known of each run; `method:…` limits their time on the path")]
    Cpu(String),
    /// The kind of pattern is followed by nothing.
    #[error("`{0}` has no pattern behind the colon")]
    Pattern(String),
    /// The unit is not one of the figure.
    #[error("`{0}` is a time; its limit needs %, ms or s")]
    Time(String),
    /// A figure cannot fall by more than all of it.
    #[error("`{0}`: a share is above -100%")]
    Share(String),
}

impl FromStr for Gate {
    type Err = GateError;

    fn from_str(text: &str) -> Result<Self, GateError> {
        let text = text.trim();
        if text.starts_with(['>', '<', '+', '-', '−']) {
            return Err(GateError::NoFigure(text.to_owned()));
        }
        let wrong = || GateError::Limit(text.to_owned());
        let (before, amount) = split_limit(text).ok_or_else(wrong)?;
        let (name, sign) = comparator(before);
        let is_fall = amount.starts_with(['-', '−']);
        let is_above = match sign {
            Some(sign) => sign == '>',
            None if is_fall => return Err(GateError::Direction(text.to_owned())),
            None => true,
        };
        let figure = GateFigure::read(name)?;
        let (limit, unit, amount) = limit(amount).ok_or_else(wrong)?;
        if matches!(limit, Limit::Ratio(ratio) if ratio <= -1.0) {
            return Err(GateError::Share(text.to_owned()));
        }
        let is_time = !matches!(figure, GateFigure::Metric(_));
        if is_time && !matches!(unit, GateUnit::Ratio | GateUnit::Time) {
            return Err(GateError::Time(name.to_owned()));
        }
        let text = format!("{name} {} {amount}", if is_above { '>' } else { '<' });
        Ok(Self { figure, is_above, limit, unit, text })
    }
}

impl Gate {
    /// Whether a change lies beyond the limit.
    pub(super) fn is_beyond(&self, change: f64) -> bool {
        let (Limit::Ratio(limit) | Limit::Difference(limit)) = self.limit;
        if self.is_above { change > limit } else { change < limit }
    }
}

/// What stands before a limit, and the limit. A pattern can have blanks, `<` and `>` of its own, so it is read from the end.
fn split_limit(text: &str) -> Option<(&str, &str)> {
    let rest = text.trim_end_matches(|c: char| c.is_ascii_alphabetic() || c == '%').trim_end();
    let rest = rest.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.');
    let rest = rest.strip_suffix(['+', '-', '−']).unwrap_or(rest);
    let (before, limit) = text.split_at(rest.len());
    (before.ends_with([' ', '\t', '>', '<']) && !before.trim().is_empty()).then(|| (before.trim(), limit.trim()))
}

/// A name, and the sign behind it. Behind a pattern the sign is a word of its own: `method:List<T>` has none.
fn comparator(text: &str) -> (&str, Option<char>) {
    let Some((place, sign)) = text.char_indices().next_back().filter(|(_, sign)| matches!(sign, '<' | '>')) else {
        return (text, None);
    };
    let before = &text[..place];
    if before.contains(':') && !before.ends_with(char::is_whitespace) {
        return (text, None);
    }
    (before.trim_end(), Some(sign))
}

/// A limit with its unit, and as it is shown: `+5 %`, `-20 ms`, `+100`.
fn limit(text: &str) -> Option<(Limit, GateUnit, String)> {
    let (is_fall, rest) = match text.strip_prefix(['-', '−']) {
        Some(rest) => (true, rest),
        None => (false, text.strip_prefix('+').unwrap_or(text)),
    };
    let unit = rest.trim_start_matches(|c: char| c.is_ascii_digit() || c == '.').trim();
    let number = rest.get(..rest.len() - rest.trim_start_matches(|c: char| c.is_ascii_digit() || c == '.').len())?;
    let value: f64 = number.parse().ok().filter(|value: &f64| value.is_finite())?;
    let sign = if is_fall { -1.0 } else { 1.0 };
    let whole = format!("{number}{unit}");
    let (limit, kind) = match unit {
        "%" => (Limit::Ratio(sign * value / 100.0), GateUnit::Ratio),
        "" => (Limit::Difference(sign * value), GateUnit::Count),
        "ns" | "us" | "ms" | "s" | "min" => {
            let ns = parse_time(&whole, TimeUnit::Seconds).ok()?;
            (Limit::Difference(sign * ns as f64), GateUnit::Time)
        }
        _ => (Limit::Difference(sign * parse_size(&whole).ok()? as f64), GateUnit::Bytes),
    };
    let sign = if is_fall { '-' } else { '+' };
    let gap = if unit.is_empty() { "" } else { " " };
    Some((limit, kind, format!("{sign}{number}{gap}{unit}")))
}

impl GateFigure {
    fn read(name: &str) -> Result<Self, GateError> {
        let Some((kind, pattern)) = name.split_once(':') else {
            let metrics = &MetricList::built_in().metrics;
            return match (name, metrics.iter().find(|metric| metric.name == name)) {
                ("duration", _) => Ok(Self::Duration),
                ("undisturbed", _) => Ok(Self::Undisturbed),
                (_, Some(metric)) => Ok(Self::Metric(&metric.name)),
                (_, None) => {
                    let known: Vec<&str> = metrics.iter().map(|metric| metric.name.as_str()).collect();
                    Err(GateError::Figure { name: name.to_owned(), known: known.join(", ") })
                }
            };
        };
        let pattern = pattern.trim();
        if pattern.is_empty() {
            return Err(GateError::Pattern(name.to_owned()));
        }
        match kind.trim() {
            "tag" => Ok(Self::Tag(Patterns::parse(pattern))),
            "method" => Ok(Self::Method(MethodPatterns::parse(pattern, false))),
            "wait" => Ok(Self::Wait(MethodPatterns::parse(pattern, false))),
            "process" => Ok(Self::Process(Patterns::parse(pattern))),
            "cpu" => Err(GateError::Cpu(name.to_owned())),
            _ => Err(GateError::Figure { name: name.to_owned(), known: "the metrics without a colon".to_owned() }),
        }
    }

    /// The figure of each run; an error says why it is not known.
    pub(super) fn values(&self, runs: &[Run]) -> Result<Vec<f64>, String> {
        let of_rows = |is_meant: &dyn Fn(&Name) -> bool| {
            let rows = |run: &Run| -> Vec<i64> {
                let rows = run.rows.iter().filter(|row: &&Row| is_meant(&row.name));
                rows.map(|row| row.time).collect()
            };
            let rows: Vec<Vec<i64>> = runs.iter().map(rows).collect();
            if rows.iter().all(Vec::is_empty) {
                return Err("no run has such a row on its path".to_owned());
            }
            let sum = |times: &Vec<i64>| times.iter().fold(0_i64, |sum, time| sum.saturating_add(*time)) as f64;
            Ok(rows.iter().map(sum).collect())
        };
        match self {
            Self::Duration => Ok(runs.iter().map(|run| run.duration().max(1) as f64).collect()),
            Self::Undisturbed => Ok(runs.iter().map(|run| run.undisturbed().max(1) as f64).collect()),
            Self::Metric(name) => {
                let of_run = |run: &Run| {
                    run.metric(name).map(Amount::number).map_err(|why| format!("not known of {}: {why}", run.name))
                };
                runs.iter().map(of_run).collect()
            }
            Self::Tag(patterns) => of_rows(&|name| {
                matches!(name.state, "run" | "wait") && name.tag.as_deref().is_some_and(|tag| patterns.matches(tag))
            }),
            Self::Method(patterns) => of_rows(&|name| name.state == "run" && is_at(name, patterns)),
            Self::Wait(patterns) => of_rows(&|name| name.state == "wait" && is_at(name, patterns)),
            Self::Process(patterns) => of_rows(&|name| {
                let matches = |role: &str| patterns.matches_any(&[role, &format!("{role}.exe")]);
                name.process.as_deref().is_some_and(matches)
            }),
        }
    }

    /// Whether it is a part of the account of the window.
    pub(super) fn is_of_path(&self) -> bool {
        !matches!(self, Self::Duration | Self::Metric(_))
    }
}

/// Whether a row lies in a method.
fn is_at(name: &Name, patterns: &MethodPatterns) -> bool {
    name.site.as_deref().is_some_and(|site| match site.split_once('!') {
        Some((module, function)) => patterns.matches(Some(module), function),
        None => patterns.matches(None, site),
    })
}

impl Gate {
    /// The gate for the tests.
    pub(super) fn test(&self) -> Test {
        if self.is_above { Test::Above(self.limit) } else { Test::Below(self.limit) }
    }
}

impl fmt::Display for Gate {
    /// `undisturbed > +5 %`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

#[cfg(test)]
mod tests {
    use super::{Gate, GateError, GateFigure, GateUnit, Limit};

    fn gate(text: &str) -> Gate {
        text.parse().unwrap_or_else(|error| panic!("{text}: {error}"))
    }

    #[test]
    fn gates_as_people_write_them() {
        for (text, shown, limit, unit) in [
            ("duration +5%", "duration > +5 %", Limit::Ratio(0.05), GateUnit::Ratio),
            ("duration>5 %", "duration > +5 %", Limit::Ratio(0.05), GateUnit::Ratio),
            (" undisturbed  >  +20ms ", "undisturbed > +20 ms", Limit::Difference(2e7), GateUnit::Time),
            ("undisturbed < -1.5s", "undisturbed < -1.5 s", Limit::Difference(-1.5e9), GateUnit::Time),
            ("undisturbed > −5%", "undisturbed > -5 %", Limit::Ratio(-0.05), GateUnit::Ratio),
            ("peak-commit > 3MB", "peak-commit > +3 MB", Limit::Difference(3e6), GateUnit::Bytes),
            ("page-faults < -100", "page-faults < -100", Limit::Difference(-100.0), GateUnit::Count),
            ("method:a!f(int, b<c>) > 1%", "method:a!f(int, b<c>) > +1 %", Limit::Ratio(0.01), GateUnit::Ratio),
            ("method:List<T> 0%", "method:List<T> > +0 %", Limit::Ratio(0.0), GateUnit::Ratio),
            ("tag:Waits\\Lock* +2%", "tag:Waits\\Lock* > +2 %", Limit::Ratio(0.02), GateUnit::Ratio),
        ] {
            let gate = gate(text);
            assert_eq!((gate.to_string().as_str(), gate.limit, gate.unit), (shown, limit, unit), "{text}");
        }
        assert!(gate("duration < 5%").test() == super::Test::Below(Limit::Ratio(0.05)));
        assert_eq!(gate("wait +5%").figure, GateFigure::Metric("wait"));
        assert!(matches!(gate("wait:* +5%").figure, GateFigure::Wait(_)));
        assert!(matches!(gate("process:a b +5%").figure, GateFigure::Process(_)));
    }

    #[test]
    fn what_is_no_gate() {
        let error = |text: &str| text.parse::<Gate>().expect_err(text);
        for text in
            ["", "5%", "duration", "duration > %", "duration > +.%", "duration+5%", "duration > 1..2%", "duration > 5M"]
        {
            assert!(matches!(error(text), GateError::Limit(_)), "{text}: {:?}", error(text));
        }
        for text in ["+5%", "> +5%", "−5%"] {
            assert!(matches!(error(text), GateError::NoFigure(_)), "{text}: {:?}", error(text));
        }
        assert!(matches!(error("duration -5%"), GateError::Direction(_)));
        assert!(matches!(error("speed > 5%"), GateError::Figure { .. }));
        assert!(matches!(error("thread:main > 5%"), GateError::Figure { .. }));
        assert!(matches!(error("cpu:method:f > 5%"), GateError::Cpu(_)));
        assert!(matches!(error("method: > 5%"), GateError::Pattern(_)));
        assert!(matches!(error("duration > 5MB"), GateError::Time(_)));
        assert!(matches!(error("method:f > 5"), GateError::Time(_)));
        assert!(matches!(error("duration > -100%"), GateError::Share(_)));
    }
}
