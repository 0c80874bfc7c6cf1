//! Arguments: a table per program, `--name VALUE` or `--name=VALUE`.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use serde_json::{Map, Value, json};

/// One option of a program.
#[derive(Clone, Copy, Debug)]
pub struct Opt {
    /// Without the dashes.
    pub name: &'static str,
    /// What may be given.
    pub kind: Kind,
    /// The value where none is given.
    pub default: &'static str,
    /// For the help.
    pub meaning: &'static str,
}

/// What an option takes.
#[derive(Clone, Copy, Debug)]
pub enum Kind {
    /// A whole number from this one on.
    Count(u64),
    /// Bytes, with `K`, `M` or `G` for powers of 1024.
    Size,
    /// A number with `us`, `ms` or `s`; seconds without one.
    Time,
    /// One of these words.
    Choice(&'static [&'static str]),
    /// A directory; nothing for the system's temporary one.
    Directory,
    /// A number of milliseconds, also 0.
    Milliseconds,
    /// `METHOD=MS`: milliseconds for a method; nothing for none.
    Addition,
}

/// What was given, or left at its default.
#[derive(Debug)]
pub struct Arguments(BTreeMap<&'static str, Given>);

#[derive(Debug, PartialEq)]
enum Given {
    Number(u64),
    Time(Duration),
    Word(&'static str),
    Path(Option<PathBuf>),
    Addition(Option<(String, Duration)>),
}

/// What a command line asks for.
#[derive(Debug)]
pub(crate) enum Asked {
    Help,
    Run(Arguments),
}

impl Arguments {
    /// Understands a command line without the program's name.
    pub(crate) fn parse(options: &[&[Opt]], given: impl IntoIterator<Item = OsString>) -> Result<Asked, String> {
        let all = || options.iter().copied().flatten();
        let mut values = BTreeMap::new();
        for option in all() {
            values.insert(option.name, option.read(&OsString::from(option.default))?);
        }
        let mut given = given.into_iter();
        while let Some(word) = given.next() {
            let text = word.to_str().unwrap_or_default();
            if matches!(text, "--help" | "-h") {
                return Ok(Asked::Help);
            }
            let (name, value) = match text.split_once('=') {
                Some((name, value)) => (name, Some(OsString::from(value))),
                None => (text, None),
            };
            let option = name.strip_prefix("--").and_then(|name| all().find(|option| option.name == name));
            let Some(option) = option else { return Err(format!("unknown argument {}", word.display())) };
            let Some(value) = value.or_else(|| given.next()) else {
                return Err(format!("--{} needs a value", option.name));
            };
            values.insert(option.name, option.read(&value)?);
        }
        Ok(Asked::Run(Self(values)))
    }

    /// An option of the kind `Count` or `Size`.
    pub fn number(&self, name: &str) -> u64 {
        match self.0.get(name) {
            Some(Given::Number(number)) => *number,
            other => unreachable!("--{name} is {other:?}"),
        }
    }

    /// As [`number`](Self::number), for what fits into memory.
    pub fn size(&self, name: &str) -> usize {
        usize::try_from(self.number(name)).unwrap_or(usize::MAX)
    }

    /// An option of the kind `Time` or `Milliseconds`.
    pub fn time(&self, name: &str) -> Duration {
        match self.0.get(name) {
            Some(Given::Time(time)) => *time,
            other => unreachable!("--{name} is {other:?}"),
        }
    }

    /// An option of the kind `Choice`.
    pub fn word(&self, name: &str) -> &'static str {
        match self.0.get(name) {
            Some(Given::Word(word)) => word,
            other => unreachable!("--{name} is {other:?}"),
        }
    }

    /// An option of the kind `Directory`.
    pub fn directory(&self, name: &str) -> PathBuf {
        match self.0.get(name) {
            Some(Given::Path(path)) => path.clone().unwrap_or_else(std::env::temp_dir),
            other => unreachable!("--{name} is {other:?}"),
        }
    }

    /// An option of the kind `Addition`: the method, and its time.
    pub(crate) fn addition(&self, name: &str) -> Option<(&str, Duration)> {
        match self.0.get(name) {
            Some(Given::Addition(addition)) => addition.as_ref().map(|(method, time)| (method.as_str(), *time)),
            other => unreachable!("--{name} is {other:?}"),
        }
    }

    /// All of them for the report, times in nanoseconds.
    pub(crate) fn report(&self) -> Map<String, Value> {
        let value = |given: &Given| match given {
            Given::Number(number) => json!(number),
            Given::Time(time) => json!(u64::try_from(time.as_nanos()).unwrap_or(u64::MAX)),
            Given::Word(word) => json!(word),
            Given::Path(path) => json!(path.as_ref().map(|path| path.display().to_string())),
            Given::Addition(addition) => {
                json!(addition.as_ref().map(|(method, time)| format!("{method}={}", time.as_secs_f64() * 1e3)))
            }
        };
        let name = |name: &str, given: &Given| match given {
            Given::Time(_) => format!("{name}_ns"),
            _ => name.to_owned(),
        };
        self.0.iter().map(|(key, given)| (name(key, given), value(given))).collect()
    }
}

impl Opt {
    fn read(&self, value: &OsString) -> Result<Given, String> {
        let text = value.to_str().unwrap_or_default();
        let wrong = |what: &str| format!("--{} takes {what}, not `{}`", self.name, value.display());
        match self.kind {
            Kind::Count(least) => text
                .parse()
                .ok()
                .filter(|number| *number >= least)
                .map(Given::Number)
                .ok_or_else(|| wrong(&format!("a whole number from {least} on"))),
            Kind::Size => size(text).map(Given::Number).ok_or_else(|| wrong("bytes such as 4096, 100K or 2M")),
            Kind::Time => time(text).map(Given::Time).ok_or_else(|| wrong("a time such as 2, 1.5s, 20ms or 100us")),
            Kind::Choice(words) => {
                let word = words.iter().find(|word| **word == text);
                word.map(|word| Given::Word(word)).ok_or_else(|| wrong(&words.join(" or ")))
            }
            Kind::Directory => Ok(Given::Path((!value.is_empty()).then(|| value.into()))),
            Kind::Milliseconds => milliseconds(text).map(Given::Time).ok_or_else(|| wrong("a number of milliseconds")),
            Kind::Addition if value.is_empty() => Ok(Given::Addition(None)),
            Kind::Addition => {
                let parts = text.split_once('=').filter(|(method, _)| !method.is_empty());
                let addition = parts.and_then(|(method, ms)| Some((method.to_owned(), milliseconds(ms)?)));
                let addition = addition.map(|addition| Given::Addition(Some(addition)));
                addition.ok_or_else(|| wrong("METHOD=MS, a method and a number of milliseconds"))
            }
        }
    }

    /// `--name VALUE`
    pub(crate) fn usage(&self) -> String {
        let value = match self.kind {
            Kind::Count(_) => "N",
            Kind::Size => "BYTES",
            Kind::Time => "TIME",
            Kind::Choice(words) => &words.join("|"),
            Kind::Directory => "DIR",
            Kind::Milliseconds => "MS",
            Kind::Addition => "METHOD=MS",
        };
        format!("--{} {value}", self.name)
    }
}

fn size(text: &str) -> Option<u64> {
    let (digits, shift) = match text.char_indices().last()? {
        (at, 'K' | 'k') => (&text[..at], 10),
        (at, 'M' | 'm') => (&text[..at], 20),
        (at, 'G' | 'g') => (&text[..at], 30),
        _ => (text, 0),
    };
    digits.parse::<u64>().ok()?.checked_mul(1 << shift).filter(|bytes| *bytes > 0)
}

fn time(text: &str) -> Option<Duration> {
    let (number, unit) = match text {
        _ if text.ends_with("us") => (text.strip_suffix("us")?, 1e-6),
        _ if text.ends_with("ms") => (text.strip_suffix("ms")?, 1e-3),
        _ => (text.strip_suffix('s').unwrap_or(text), 1.0),
    };
    seconds(number.parse::<f64>().ok()? * unit).filter(|time| !time.is_zero())
}

fn milliseconds(text: &str) -> Option<Duration> {
    seconds(text.strip_suffix("ms").unwrap_or(text).parse::<f64>().ok()? / 1e3)
}

/// At most a day, so that no sum of times gets out of hand.
fn seconds(seconds: f64) -> Option<Duration> {
    Duration::try_from_secs_f64(seconds).ok().filter(|time| *time <= Duration::from_secs(86_400))
}

#[cfg(test)]
mod tests {
    use super::*;

    const OPTIONS: &[Opt] = &[
        Opt { name: "threads", kind: Kind::Count(1), default: "2", meaning: "" },
        Opt { name: "size", kind: Kind::Size, default: "100K", meaning: "" },
        Opt { name: "seconds", kind: Kind::Time, default: "2", meaning: "" },
        Opt { name: "mode", kind: Kind::Choice(&["serial", "parallel"]), default: "serial", meaning: "" },
        Opt { name: "dir", kind: Kind::Directory, default: "", meaning: "" },
        Opt { name: "hold", kind: Kind::Milliseconds, default: "0", meaning: "" },
        Opt { name: "more", kind: Kind::Addition, default: "", meaning: "" },
    ];

    fn parse(words: &[&str]) -> Result<Asked, String> {
        Arguments::parse(&[OPTIONS], words.iter().map(OsString::from))
    }

    fn arguments(words: &[&str]) -> Arguments {
        match parse(words) {
            Ok(Asked::Run(arguments)) => arguments,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn defaults_count_where_nothing_is_given() {
        let arguments = arguments(&[]);
        assert_eq!((arguments.number("threads"), arguments.size("size")), (2, 102_400));
        assert_eq!((arguments.time("seconds"), arguments.word("mode")), (Duration::from_secs(2), "serial"));
        assert_eq!(arguments.directory("dir"), std::env::temp_dir());
        assert_eq!((arguments.time("hold"), arguments.addition("more")), (Duration::ZERO, None));
        assert_eq!(arguments.report()["seconds_ns"], 2_000_000_000_u64);
    }

    #[test]
    fn values_stand_behind_a_space_or_a_sign() {
        let arguments = arguments(&["--threads", "3", "--mode=parallel", "--size=2M", "--seconds=1.5s", "--dir", "/x"]);
        assert_eq!((arguments.number("threads"), arguments.size("size")), (3, 2 << 20));
        assert_eq!((arguments.time("seconds"), arguments.word("mode")), (Duration::from_millis(1500), "parallel"));
        assert_eq!(arguments.directory("dir"), PathBuf::from("/x"));
    }

    #[test]
    fn additions_are_milliseconds_of_a_method() {
        let ms = Duration::from_millis;
        for (word, method, time) in [("a=0", "a", ms(0)), ("b_c=120", "b_c", ms(120)), ("d=1500ms", "d", ms(1500))] {
            let arguments = arguments(&["--more", word, "--hold=2.5"]);
            assert_eq!(arguments.addition("more"), Some((method, time)));
            assert_eq!(arguments.time("hold"), Duration::from_micros(2500));
        }
        assert_eq!(arguments(&["--more=a=7"]).report()["more"], "a=7");
    }

    #[test]
    fn wrong_usage_is_said() {
        for (words, said) in [
            (&["--threads", "0"][..], "--threads takes a whole number from 1 on, not `0`"),
            (&["--threads"], "--threads needs a value"),
            (&["--thread", "1"], "unknown argument --thread"),
            (&["x"], "unknown argument x"),
            (&["--size", "-1"], "--size takes bytes such as 4096, 100K or 2M, not `-1`"),
            (&["--size", "99999999999G"], "--size takes bytes such as 4096, 100K or 2M, not `99999999999G`"),
            (&["--seconds", "nan"], "--seconds takes a time such as 2, 1.5s, 20ms or 100us, not `nan`"),
            (&["--mode", "both"], "--mode takes serial or parallel, not `both`"),
            (&["--hold", "-1"], "--hold takes a number of milliseconds, not `-1`"),
            (&["--more", "a"], "--more takes METHOD=MS, a method and a number of milliseconds, not `a`"),
            (&["--more", "=5"], "--more takes METHOD=MS, a method and a number of milliseconds, not `=5`"),
            (&["--more", "a=x"], "--more takes METHOD=MS, a method and a number of milliseconds, not `a=x`"),
        ] {
            assert_eq!(parse(words).map(|_| ()), Err(said.to_owned()));
        }
        assert!(matches!(parse(&["--threads", "1", "--help"]), Ok(Asked::Help)));
    }

    #[test]
    fn times_have_units() {
        let ms = Duration::from_millis;
        for (text, value) in [("2", ms(2000)), ("0.5", ms(500)), ("20ms", ms(20)), ("3s", ms(3000)), ("1000us", ms(1))]
        {
            assert_eq!(time(text), Some(value), "{text}");
        }
        for text in ["", "0", "-1", "1e9", "ms", "1 s", "inf"] {
            assert_eq!(time(text), None, "{text}");
        }
    }
}
