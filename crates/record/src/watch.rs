//! Conditions that end a recording: load, a file that appears, time.

use std::path::PathBuf;
use std::str::FromStr;
use std::time::{Duration, Instant};

use crate::Error;
use crate::load::{self, CpuTime};
use tracesift_grammar::quantity;

/// A condition that ends a recording.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Condition {
    /// The share of all CPUs over one second, in per cent.
    Cpu(Bound, u8),
    /// Memory in use, in per cent of what the machine has.
    MemoryShare(Bound, u8),
    /// Memory in use, in bytes.
    Memory(Bound, u64),
    /// The file exists, which did not at the start.
    File(PathBuf),
    /// So much time has gone by.
    Time(Duration),
}

/// On which side of the figure the condition holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Bound {
    /// Beyond it.
    Above,
    /// Below it.
    Below,
}

impl Bound {
    fn holds<T: PartialOrd>(self, value: &T, limit: &T) -> bool {
        match self {
            Self::Above => value > limit,
            Self::Below => value < limit,
        }
    }
}

impl FromStr for Condition {
    type Err = Error;

    /// `cpu>90%`, `cpu<5%`, `memory>8GiB`, `memory>90%`, `file=PATH`, `time=30s`.
    fn from_str(text: &str) -> Result<Self, Error> {
        let unknown = || Error::UnknownCondition(text.to_owned());
        let at = text.find(['>', '<', '=']).ok_or_else(unknown)?;
        let (what, rest) = text.split_at(at);
        let (sign, limit) = rest.split_at(1);
        let bound = if sign == ">" { Bound::Above } else { Bound::Below };
        match (what.trim().to_ascii_lowercase().as_str(), sign) {
            ("file", "=") if !limit.is_empty() => Ok(Self::File(limit.into())),
            ("time", "=") => quantity::parse_duration(limit).ok().map(Self::Time).ok_or_else(unknown),
            ("cpu", ">" | "<") => {
                quantity::parse_percent(limit).ok().map(|limit| Self::Cpu(bound, limit)).ok_or_else(unknown)
            }
            ("memory", ">" | "<") => {
                let share = quantity::parse_percent(limit).ok().map(|limit| Self::MemoryShare(bound, limit));
                share
                    .or_else(|| quantity::parse_bytes(limit).ok().map(|limit| Self::Memory(bound, limit)))
                    .ok_or_else(unknown)
            }
            _ => Err(unknown()),
        }
    }
}

impl std::fmt::Display for Condition {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let sign = |bound: &Bound| if *bound == Bound::Above { '>' } else { '<' };
        match self {
            Self::Cpu(bound, limit) => write!(f, "cpu{}{limit}%", sign(bound)),
            Self::MemoryShare(bound, limit) => write!(f, "memory{}{limit}%", sign(bound)),
            Self::Memory(bound, limit) => write!(f, "memory{}{limit}B", sign(bound)),
            Self::File(path) => write!(f, "file={}", path.display()),
            Self::Time(time) => write!(f, "time={}ms", time.as_millis()),
        }
    }
}

/// Looks again and again whether a condition holds.
#[derive(Debug)]
pub(crate) struct Watch {
    conditions: Vec<Condition>,
    started: Instant,
    /// CPU time at the beginning of the second over which it is measured.
    cpu: Option<(Instant, CpuTime)>,
    /// Share of the CPUs in the last whole second, in per cent.
    busy: Option<u8>,
}

impl Watch {
    /// Begins to watch. Files that are there already are nothing to wait for: that they appear is what is meant.
    pub(crate) fn new(conditions: &[Condition]) -> Self {
        let is_open = |condition: &&Condition| !matches!(condition, Condition::File(path) if path.exists());
        Self {
            conditions: conditions.iter().filter(is_open).cloned().collect(),
            started: Instant::now(),
            cpu: None,
            busy: None,
        }
    }

    /// The first condition that holds now.
    pub(crate) fn holds(&mut self) -> Option<Condition> {
        if self.conditions.iter().any(|condition| matches!(condition, Condition::Cpu(..))) {
            self.measure();
        }
        self.conditions.iter().find(|condition| self.is_met(condition)).cloned()
    }

    fn is_met(&self, condition: &Condition) -> bool {
        match condition {
            Condition::Cpu(bound, limit) => self.busy.is_some_and(|busy| bound.holds(&busy, limit)),
            Condition::MemoryShare(bound, limit) => load::memory().is_some_and(|memory| {
                let share = memory.used.saturating_mul(100) / memory.total.max(1);
                bound.holds(&share, &u64::from(*limit))
            }),
            Condition::Memory(bound, limit) => load::memory().is_some_and(|memory| bound.holds(&memory.used, limit)),
            Condition::File(path) => path.exists(),
            Condition::Time(time) => self.started.elapsed() >= *time,
        }
    }

    fn measure(&mut self) {
        let Some(now) = load::cpu_time() else { return };
        match &self.cpu {
            None => self.cpu = Some((Instant::now(), now)),
            Some((since, before)) if since.elapsed() >= Duration::from_secs(1) => {
                self.busy = now.busy_since(before);
                self.cpu = Some((Instant::now(), now));
            }
            Some(_) => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn conditions_as_people_write_them() {
        for (text, condition) in [
            ("cpu>90%", Condition::Cpu(Bound::Above, 90)),
            ("CPU<5%", Condition::Cpu(Bound::Below, 5)),
            ("memory>8GiB", Condition::Memory(Bound::Above, 8 << 30)),
            ("memory>90%", Condition::MemoryShare(Bound::Above, 90)),
            ("file=/tmp/a=b", Condition::File("/tmp/a=b".into())),
            ("time=30s", Condition::Time(Duration::from_secs(30))),
        ] {
            assert_eq!(text.parse::<Condition>().unwrap(), condition, "{text}");
        }
        for text in ["cpu", "cpu=90%", "cpu>90", "cpu>101%", "disk>3%", "file=", "memory>8", "time>3s", ""] {
            assert!(text.parse::<Condition>().is_err(), "{text}");
        }
    }

    #[test]
    fn a_file_must_appear() {
        let directory = tempfile::TempDir::new().unwrap();
        let [there, new] = ["there", "new"].map(|name| directory.path().join(name));
        std::fs::write(&there, "").unwrap();
        let mut watch = Watch::new(&[Condition::File(there), Condition::File(new.clone())]);
        assert_eq!(watch.holds(), None);
        std::fs::write(&new, "").unwrap();
        assert_eq!(watch.holds(), Some(Condition::File(new)));
    }
}
