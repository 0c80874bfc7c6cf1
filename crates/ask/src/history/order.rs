//! The order of the runs of a history.

use std::cmp::Ordering;
use std::str::FromStr;

use crate::compare::run::Run;
use crate::compare::times::of_one_clock;

/// The order of runs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum RunsOrder {
    /// By the time of the recording.
    #[default]
    Time,
    /// By the version of a module, with or without its extension; runs of the same version by time.
    Version(String),
}

/// The error of a text that tells no order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("it must be time, or version:MODULE such as version:app.exe")]
pub struct OrderError;

impl FromStr for RunsOrder {
    type Err = OrderError;

    fn from_str(text: &str) -> Result<Self, OrderError> {
        match text.split_once(':') {
            None if text == "time" => Ok(Self::Time),
            Some(("version", module)) if !module.is_empty() => Ok(Self::Version(module.to_lowercase())),
            _ => Err(OrderError),
        }
    }
}

impl RunsOrder {
    /// The runs in this order, and those that have no place in it: nothing tells when they were recorded, or they do not tell the
    /// version.
    pub(super) fn sorted(&self, mut runs: Vec<Run>) -> (Vec<Run>, Vec<Run>) {
        of_one_clock(&mut runs);
        let (mut runs, without_time): (Vec<_>, Vec<_>) = runs.into_iter().partition(|run| run.time != 0);
        runs.sort_by(|a, b| a.order().cmp(&b.order()));
        let Self::Version(module) = self else { return (runs, without_time) };
        let versioned = runs.into_iter().map(|run| (version(&run, module), run));
        let (mut known, unknown): (Vec<_>, Vec<_>) = versioned.partition(|(version, _)| version.is_some());
        // Runs of equal versions stay in the order of time.
        known.sort_by(|(a, _), (b, _)| by_version(a.as_deref().unwrap_or_default(), b.as_deref().unwrap_or_default()));
        let runs = |list: Vec<(Option<String>, Run)>| list.into_iter().map(|(_, run)| run).collect();
        (runs(known), runs(unknown).into_iter().chain(without_time).collect())
    }
}

/// The version of a module of a run.
fn version(run: &Run, name: &str) -> Option<String> {
    // The main program of a test has the name of its library: `app.dll` for `app.exe`.
    let stem = |name: &str| name.rsplit_once('.').map_or(name.to_owned(), |(stem, _)| stem.to_owned());
    let is_meant = |module: &str| module == name || stem(module) == name || stem(module) == stem(name);
    let mut modules: Vec<_> = run.modules.iter().filter(|(module, _)| is_meant(module)).collect();
    modules.sort_by_key(|(module, _)| *module != name);
    modules.into_iter().find_map(|(_, module)| module.version.clone())
}

/// Versions by their numbers: 1.10 comes after 1.9. Other characters by themselves.
fn by_version(a: &str, b: &str) -> Ordering {
    let (mut a, mut b) = (a, b);
    loop {
        let digits = |text: &str| text.bytes().take_while(u8::is_ascii_digit).count();
        let numbers = [digits(a), digits(b)];
        if numbers[0] > 0 && numbers[1] > 0 {
            let [of_a, of_b] = [a[..numbers[0]].trim_start_matches('0'), b[..numbers[1]].trim_start_matches('0')];
            let order = of_a.len().cmp(&of_b.len()).then_with(|| of_a.cmp(of_b));
            if order != Ordering::Equal {
                return order;
            }
            (a, b) = (&a[numbers[0]..], &b[numbers[1]..]);
            continue;
        }
        let (mut rest_a, mut rest_b) = (a.chars(), b.chars());
        match (rest_a.next(), rest_b.next()) {
            (None, None) => return Ordering::Equal,
            (x, y) if x == y => (a, b) = (rest_a.as_str(), rest_b.as_str()),
            (x, y) => return x.cmp(&y),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::cmp::Ordering;

    use super::{OrderError, RunsOrder, by_version};

    #[test]
    fn orders_as_people_write_them() {
        let order = |text: &str| text.parse::<RunsOrder>();
        assert_eq!(order("time"), Ok(RunsOrder::Time));
        assert_eq!(order("version:App.exe"), Ok(RunsOrder::Version("app.exe".to_owned())));
        for text in ["", "version", "version:", "date:x"] {
            assert_eq!(order(text), Err(OrderError), "{text}");
        }
    }

    #[test]
    fn versions_are_ordered_by_their_numbers() {
        let ascending = ["", "1.2", "1.9.3", "1.10", "1.10 (beta)", "1.10.1", "2.0", "2.0a", "x"];
        for pair in ascending.windows(2) {
            assert_eq!(by_version(pair[0], pair[1]), Ordering::Less, "{pair:?}");
            assert_eq!(by_version(pair[1], pair[0]), Ordering::Greater, "{pair:?}");
        }
        assert_eq!(by_version("1.02", "1.2"), Ordering::Equal);
        assert_eq!(by_version("99999999999999999999", "100000000000000000000"), Ordering::Less);
    }
}
