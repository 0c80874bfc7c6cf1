//! Times of a recording on the clock of the recorded machine.

use std::time::{Duration, SystemTime};

use tracesift_trace::info::TraceInfo;

/// Seconds from 1601, where FILETIME begins, to 1970.
const TO_1970: u64 = 11_644_473_600;

/// The wall time of a time in the recording (ns since time zero). If the recording does not tell
/// the wall time of time zero, the last change of its file counts as its end. That time has whole
/// seconds, so the result may be up to one second late. `None` if that time is not known either.
pub(super) fn at(info: &TraceInfo, ns: i64) -> Option<SystemTime> {
    if let Some(ticks) = u64::try_from(info.start_filetime).ok().filter(|ticks| *ticks > 0) {
        let since_1601 = Duration::from_secs(ticks / 10_000_000) + Duration::from_nanos(ticks % 10_000_000 * 100);
        let zero = SystemTime::UNIX_EPOCH.checked_add(since_1601.checked_sub(Duration::from_secs(TO_1970))?)?;
        return moved(zero, ns);
    }
    let modified = info.sources.first().and_then(|source| u64::try_from(source.modified).ok()).filter(|time| *time > 0);
    let end = SystemTime::UNIX_EPOCH.checked_add(Duration::from_secs(modified?.saturating_add(1)))?;
    moved(end, ns.checked_sub(info.end_ns)?)
}

fn moved(time: SystemTime, ns: i64) -> Option<SystemTime> {
    let distance = Duration::from_nanos(ns.unsigned_abs());
    if ns < 0 { time.checked_sub(distance) } else { time.checked_add(distance) }
}

#[cfg(test)]
mod tests {
    use tracesift_trace::info::SourceFile;

    use super::*;

    #[test]
    fn times_are_those_of_the_clock_on_the_wall() {
        let mut info = TraceInfo { start_filetime: 132_264_173_104_203_138, ..TraceInfo::default() };
        // date --date '2020-02-17T12:48:30.4203138Z' +%s.%N
        let expected = SystemTime::UNIX_EPOCH + Duration::new(1_581_943_710, 420_313_800);
        assert_eq!(at(&info, 0), Some(expected));
        assert_eq!(at(&info, 1_500), Some(expected + Duration::from_nanos(1_500)));
        assert_eq!(at(&info, -1), Some(expected - Duration::from_nanos(1)));
        info.start_filetime = 0;
        assert_eq!(at(&info, 0), None);
        info.sources = vec![SourceFile { modified: 1_000, ..SourceFile::default() }];
        info.end_ns = 30_000_000_000;
        assert_eq!(at(&info, 10_000_000_000), Some(SystemTime::UNIX_EPOCH + Duration::from_secs(981)));
    }
}
