//! From our figures to the texts of ETWAnalyzer's CSV.

use chrono::{DateTime, FixedOffset};
use tracesift_ask::answer::{Column, Value};
use tracesift_ask::time_format::{TimeFormat, TimeStyle, Zero, decimal};
use tracesift_extract::input::test_name;
use tracesift_grammar::TestName;

use super::layout::Layout;
use crate::output::csv::inert;

/// Status of a DNS query that no server answered in time.
const TIMED_OUT: i64 = 1460;

/// Where the text of a cell comes from.
#[derive(Clone, Copy, Debug)]
pub(super) enum Source {
    /// The command line, once.
    Options,
    /// Tracesift has no such figure.
    Nothing,
    /// A column of ours; of several the first that says something.
    Of(&'static [&'static str], As),
    /// `name(pid)`
    Process,
    /// 1 for a DNS query that timed out: a server did not answer it in time, or its status says so.
    TimedOut,
    /// Directory of the row's file, else the directory or drive that the row is of.
    FileDirectory,
    /// Vendor and category of a driver, and what the module's version resource says.
    ModuleInfo,
}

/// How a figure is written there.
#[derive(Clone, Copy, Debug)]
pub(super) enum As {
    /// As it is.
    Plain,
    /// The names of counts, without the counts.
    Names,
    /// A line for each of several words.
    Lines,
    /// Whole milliseconds of nanoseconds.
    Milliseconds,
    /// Whole microseconds of nanoseconds.
    Microseconds,
    /// Microseconds of nanoseconds, to the nanosecond.
    FineMicroseconds,
    /// Seconds of nanoseconds, to a tenth of a millisecond.
    Seconds,
    /// Seconds of nanoseconds, to the nanosecond.
    FineSeconds,
    /// MiB of bytes, to a thousandth.
    Mebibytes,
    /// Whole minutes of nanoseconds.
    Minutes,
    /// One digit behind the point.
    Tenths,
    /// A date of the test.
    Date,
    /// A date in UTC as one of the recorder's.
    LocalOfUtc,
    /// The test that the name of a file says, else that name.
    TestName,
    /// What that test measured, ms.
    TestMs,
    /// When that test ran, else when the recording began.
    TestDate,
    /// An instant as a date of the recorder's.
    Local,
    /// An instant in the format of the command line.
    Time,
    /// An instant in the format of first times.
    First,
    /// An instant in the format of last times.
    Last,
    /// 1 where it says something, else 0.
    IsThere,
    /// Name of a file, without directory and ending.
    FileStem,
    /// Name of a file, without directory.
    FileName,
    /// Directory of a file.
    Directory,
}

/// One row of an answer.
pub(super) struct Row<'a> {
    /// The answer's columns.
    pub(super) columns: &'a [Column],
    /// One value per column.
    pub(super) values: &'a [Value],
    /// Time zero of its recording.
    pub(super) zero: Option<Zero>,
    /// How the file looks.
    pub(super) layout: &'a Layout,
}

impl Row<'_> {
    /// The text of a cell. `options` is taken by the first cell that wants it.
    pub(super) fn cell(&self, source: Source, options: &mut Option<&str>) -> String {
        match source {
            // Written by the user, not by strangers.
            Source::Options => options.take().unwrap_or_default().to_owned(),
            Source::Nothing => String::new(),
            Source::Of(keys, how) => self.shown(keys, how),
            Source::Process => match (self.value("process"), self.value("pid")) {
                (Some(Value::Text(name)), Some(Value::Int(pid))) => inert(format!("{name}({pid})")),
                _ => String::new(),
            },
            Source::FileDirectory => match self.value("path") {
                Some(_) => self.shown(&["path"], As::Directory),
                None => self.shown(&["dir", "drive"], As::Plain),
            },
            Source::ModuleInfo => self.module_info(),
            Source::TimedOut => {
                let late = matches!(self.value("late"), Some(Value::List(servers)) if !servers.is_empty());
                let by_status = self.value("status_code") == Some(&Value::Int(TIMED_OUT));
                i32::from(late || by_status).to_string()
            }
        }
    }

    /// The value of a column, unless it is not known.
    fn value(&self, key: &str) -> Option<&Value> {
        let at = self.columns.iter().position(|column| column.key == key)?;
        self.values.get(at).filter(|value| **value != Value::None)
    }

    fn shown(&self, keys: &[&str], how: As) -> String {
        let value = keys.iter().find_map(|key| self.value(key));
        let time = |value: &Value, style: TimeStyle| match value {
            Value::Int(ns) => style.show(*ns, self.zero),
            _ => String::new(),
        };
        let scaled = |value: &Value, shift: u8, digits: u8| match value {
            Value::Int(ns) => decimal(*ns, shift, digits),
            _ => String::new(),
        };
        let text = |value: &Value| match value {
            Value::Text(text) => text.clone(),
            _ => String::new(),
        };
        match (how, value) {
            (As::IsThere, value) => i32::from(value.is_some()).to_string(),
            (_, None) => String::new(),
            (As::Names, Some(Value::Map(counts))) => {
                inert(counts.iter().map(|(name, _)| name.as_str()).collect::<Vec<_>>().join(" "))
            }
            (As::Lines, Some(Value::List(texts))) => inert(texts.join("\n")),
            (As::Plain | As::Names | As::Lines, Some(value)) => plain(value),
            (As::Milliseconds, Some(value)) => scaled(value, 6, 0),
            (As::Microseconds, Some(value)) => scaled(value, 3, 0),
            (As::FineMicroseconds, Some(value)) => scaled(value, 3, 3),
            (As::Seconds, Some(value)) => scaled(value, 9, 4),
            (As::Mebibytes, Some(Value::Int(bytes))) => format!("{:.3}", *bytes as f64 / f64::from(1 << 20)),
            (As::FineSeconds, Some(value)) => scaled(value, 9, 9),
            (As::Minutes, Some(Value::Int(ns))) => decimal(ns / 60, 9, 0),
            (As::Tenths, Some(Value::Float(value))) if value.is_finite() => format!("{value:.1}"),
            (As::Minutes | As::Tenths | As::Mebibytes, Some(_)) => String::new(),
            (As::Date, Some(value)) => self.date(&text(value)),
            (As::LocalOfUtc, Some(value)) => self.local_of_utc(&text(value)).unwrap_or_default(),
            (As::TestName, Some(value)) => {
                let name = tracesift_ask::recording::name_of(text(value).as_ref());
                inert(test_name(&name).map_or(name, |test| test.test))
            }
            (As::TestMs, Some(value)) => {
                test_of(&text(value)).map_or_else(String::new, |test| test.duration_ms.to_string())
            }
            (As::TestDate, Some(value)) => {
                let named = test_of(&text(value)).as_ref().and_then(TestName::time).map(|time| format!("{time}.000"));
                named.unwrap_or_else(|| self.start().unwrap_or_default())
            }
            (As::Local, Some(value)) => time(value, TimeStyle { format: TimeFormat::Local, digits: 3 }),
            (As::Time, Some(value)) => time(value, self.layout.times),
            (As::First, Some(value)) => time(value, self.layout.first),
            (As::Last, Some(value)) => time(value, self.layout.last),
            (As::FileStem, Some(value)) => {
                let path = text(value);
                inert(tracesift_ask::recording::name_of(path.as_ref()))
            }
            (As::FileName, Some(value)) => {
                let path = text(value);
                inert(path.rsplit_once(['/', '\\']).map_or(path.clone(), |(_, name)| name.to_owned()))
            }
            (As::Directory, Some(value)) => {
                let path = text(value);
                // Paths of Windows are taken apart on every system.
                inert(path.rsplit_once(['/', '\\']).map_or_else(String::new, |(directory, _)| directory.to_owned()))
            }
        }
    }

    /// Names of tests know no more than seconds; where the recording began is known better.
    fn date(&self, date: &str) -> String {
        self.start().filter(|start| start.starts_with(&format!("{date}."))).unwrap_or_else(|| format!("{date}.000"))
    }

    /// When the recording began, in the recorder's time.
    fn start(&self) -> Option<String> {
        let zero = self.zero.filter(|zero| zero.instant(0).is_some())?;
        Some(TimeStyle { format: TimeFormat::Local, digits: 3 }.show(0, Some(zero)))
    }

    fn local_of_utc(&self, text: &str) -> Option<String> {
        let utc = DateTime::parse_from_rfc3339(text).ok()?;
        let offset = FixedOffset::west_opt(self.zero?.utc_offset_minutes.checked_mul(60)?)?;
        Some(utc.with_timezone(&offset).format("%Y-%m-%d %H:%M:%S%.3f").to_string())
    }

    fn module_info(&self) -> String {
        let text = |key: &str| self.value(key).map(plain).filter(|text| !text.is_empty());
        let labelled = |label: &str, key: &str| text(key).map(|text| format!("{label}: {text}"));
        let driver = [("Vendor", "driver_vendor"), ("Category", "driver_category")];
        let version = [
            ("FileVersion", "binary_file_version"),
            ("VersionString", "file_version"),
            ("ProductVersion", "product_version"),
            ("ProductName", "product"),
            ("Description", "description"),
        ];
        let list = |of: &[(&str, &str)], between: &str| {
            of.iter().filter_map(|(label, key)| labelled(label, key)).collect::<Vec<_>>().join(between)
        };
        [list(&driver, " "), list(&version, ", ")]
            .into_iter()
            .filter(|text| !text.is_empty())
            .collect::<Vec<_>>()
            .join(" ")
    }
}

fn test_of(path: &str) -> Option<TestName> {
    test_name(&tracesift_ask::recording::name_of(path.as_ref()))
}

fn plain(value: &Value) -> String {
    match value {
        Value::None | Value::Table(_) => String::new(),
        Value::Bool(value) => if *value { "True" } else { "False" }.to_owned(),
        Value::Int(value) => value.to_string(),
        Value::Float(value) if value.is_finite() => value.to_string(),
        Value::Float(_) => String::new(),
        Value::Text(text) => inert(text.clone()),
        Value::List(texts) => inert(texts.join(" ")),
        Value::Integers(values) => values.iter().map(i64::to_string).collect::<Vec<_>>().join(" "),
        Value::Map(values) => {
            values.iter().map(|(key, value)| format!("{key}={}", plain(value))).collect::<Vec<_>>().join(" ")
        }
    }
}
