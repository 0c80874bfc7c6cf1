//! When runs were recorded, by one clock.

use std::collections::BTreeSet;

use super::run::Run;

/// Gives all runs times of one clock: those that the recordings tell, or, if these tell fewer runs apart, the dates that answers show,
/// which the names of the files may tell. These clocks may differ by hours. A run without such a time has none, 0.
pub(crate) fn of_one_clock(runs: &mut [Run]) {
    let dates: Vec<i64> = runs.iter().map(|run| run.date.as_deref().and_then(filetime).unwrap_or(0)).collect();
    let different =
        |times: &mut dyn Iterator<Item = i64>| times.filter(|time| *time != 0).collect::<BTreeSet<i64>>().len();
    if different(&mut dates.iter().copied()) > different(&mut runs.iter().map(|run| run.time)) {
        runs.iter_mut().zip(dates).for_each(|(run, date)| run.time = date);
    }
}

/// `yyyy-MM-dd HH:mm:ss` in 100 ns since 1601.
fn filetime(date: &str) -> Option<i64> {
    const OF_1970: i64 = 11_644_473_600;
    let date = chrono::NaiveDateTime::parse_from_str(date, "%Y-%m-%d %H:%M:%S%.f").ok()?;
    date.and_utc().timestamp().checked_add(OF_1970)?.checked_mul(10_000_000)
}

#[cfg(test)]
mod tests {
    use super::{filetime, of_one_clock};
    use crate::compare::run::Run;

    #[test]
    fn names_tell_times() {
        assert_eq!(filetime("1601-01-01 00:00:01"), Some(10_000_000));
        assert_eq!(filetime("2022-04-04 10:15:00.5"), Some(132_935_409_000_000_000));
        assert_eq!(filetime("yesterday"), None);
    }

    #[test]
    fn no_two_clocks_are_mixed() {
        let times = |runs: &[(i64, Option<&str>)]| {
            let run =
                |&(time, date): &(i64, Option<&str>)| Run { time, date: date.map(str::to_owned), ..Run::plain("run") };
            let mut runs: Vec<Run> = runs.iter().map(run).collect();
            of_one_clock(&mut runs);
            runs.iter().map(|run| run.time).collect::<Vec<_>>()
        };
        let [one, two] = [Some("1601-01-01 00:00:01"), Some("1601-01-01 00:00:02")];
        assert_eq!(times(&[(5, one), (6, None)]), [5, 6]);
        assert_eq!(times(&[(5, two), (0, one)]), [20_000_000, 10_000_000]);
        // All recordings have the same time, as those of a machine without a clock.
        assert_eq!(times(&[(5, two), (5, one)]), [20_000_000, 10_000_000]);
        assert_eq!(times(&[(5, None), (0, one)]), [5, 0]);
        assert_eq!(times(&[(0, None), (0, one), (7, two)]), [0, 10_000_000, 20_000_000]);
    }
}
