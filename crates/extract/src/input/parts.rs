//! Decides which files are parts of one recording.
//!
//! Recorders often write several sessions side by side: the kernel's, the providers', and the runtime's rundown at the
//! end. Their names make them candidates; whether they belong together is told by their headers alone.

use super::file_kind;
use tracesift_grammar::pattern::fold;

/// What the header of one `.etl` says about when and where it was written.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PartFacts {
    /// File name, or name of the member, with its extension.
    pub name: String,
    /// Ticks per second of the recorder's clock.
    pub frequency: i64,
    /// Boot time of the machine as FILETIME; 0 when the header has none.
    pub boot_time: i64,
    /// Start of the session as FILETIME.
    pub start: i64,
    /// End of the session as FILETIME; when the header has none because recording was cut off, the time of the last
    /// record.
    pub end: i64,
}

/// 100 ns units in a second.
const SECOND: i64 = 10_000_000;

/// Windows computes the boot time anew for every session from the current time and the uptime, so sessions of one boot
/// differ by a little.
const BOOT_TIME_TOLERANCE: i64 = 2 * SECOND;

/// A rundown session is opened when the recording it completes is already being closed.
const RUNDOWN_DELAY: i64 = 60 * SECOND;

/// Splits parts into recordings: each inner list holds the indices of one recording's parts, in the order given.
///
/// Two parts belong together when clock frequency and boot time agree and their times overlap; belonging together is
/// handed on from part to part. A part named as the rundown of another (`X.clrRundown.etl`) may also begin up to a
/// minute after that one's end.
pub fn group(parts: &[PartFacts]) -> Vec<Vec<usize>> {
    let mut recording: Vec<usize> = (0..parts.len()).collect();
    for later in 1..parts.len() {
        for earlier in 0..later {
            let (from, to) = (recording[later], recording[earlier]);
            if from != to && belong_together(&parts[earlier], &parts[later]) {
                let (from, to) = (from.max(to), from.min(to));
                recording.iter_mut().filter(|number| **number == from).for_each(|number| *number = to);
            }
        }
    }
    let mut recordings: Vec<Vec<usize>> = vec![Vec::new(); parts.len()];
    for (index, number) in recording.into_iter().enumerate() {
        recordings[number].push(index);
    }
    recordings.retain(|indices| !indices.is_empty());
    recordings
}

fn belong_together(a: &PartFacts, b: &PartFacts) -> bool {
    a.frequency == b.frequency
        && a.boot_time.abs_diff(b.boot_time) <= BOOT_TIME_TOLERANCE as u64
        && (overlap(a, b, 0)
            || is_rundown_of(a, b) && overlap(a, b, RUNDOWN_DELAY)
            || is_rundown_of(b, a) && overlap(a, b, RUNDOWN_DELAY))
}

fn overlap(a: &PartFacts, b: &PartFacts, gap: i64) -> bool {
    // An end before the start is no end: such a part counts as the moment of its start.
    let starts_before_end = |x: &PartFacts, y: &PartFacts| x.start <= y.end.max(y.start).saturating_add(gap);
    starts_before_end(a, b) && starts_before_end(b, a)
}

fn is_rundown_of(rundown: &PartFacts, main: &PartFacts) -> bool {
    let base = part_of(file_kind::stem(&rundown.name));
    base.is_some_and(|(base, suffix)| {
        same_name(suffix, "clrRundown") && same_name(last_component(base), last_component(file_kind::stem(&main.name)))
    })
}

/// For the stem of a part (`X.kernel`, `X.kernel.1`, `X.user_paged.1`, `X.clrRundown`): the stem of the recording that
/// it is a part of, and the rest.
pub fn part_of(stem: &str) -> Option<(&str, &str)> {
    let lower: String = stem.chars().map(|c| c.to_ascii_lowercase()).collect();
    // ASCII folding keeps every byte offset, so positions in `lower` hold in `stem`.
    let dot = [".kernel", ".user_", ".clrrundown"].iter().filter_map(|mark| lower.rfind(mark)).max()?;
    let (base, suffix) = (&stem[..dot], &stem[dot + 1..]);
    let is_part = match lower[dot + 1..].strip_prefix("clrrundown") {
        Some(rest) => rest.is_empty(),
        None => true,
    };
    (is_part && !base.is_empty()).then_some((base, suffix))
}

/// Names as the recorder's file system compares them: without case.
pub(crate) fn same_name(a: &str, b: &str) -> bool {
    a.chars().map(fold).eq(b.chars().map(fold))
}

fn last_component(name: &str) -> &str {
    name.rsplit('/').next().unwrap_or(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    const BOOT: i64 = 132_445_960_215_000_000;

    fn part(name: &str, start_s: i64, end_s: i64) -> PartFacts {
        PartFacts {
            name: name.into(),
            frequency: 10_000_000,
            boot_time: BOOT,
            start: BOOT + start_s * SECOND,
            end: BOOT + end_s * SECOND,
        }
    }

    #[test]
    fn sessions_of_one_diagnostics_run() {
        // Header values of the four members of a Visual Studio diagnostics session.
        let part = |name: &str, start, end| PartFacts {
            name: format!("session/{name}"),
            frequency: 10_000_000,
            boot_time: BOOT,
            start,
            end,
        };
        let parts = [
            part("diaghub.etl", 132_445_973_972_118_091, 132_445_974_102_913_851),
            part("diaghub.kernel.1.etl", 132_445_973_972_118_091, 132_445_974_102_913_851),
            part("diaghub.user_injected.1.etl", 132_445_973_987_492_807, 132_445_974_109_243_187),
            part("diaghub.user_paged.1.etl", 132_445_973_974_145_474, 132_445_974_106_105_145),
        ];
        assert_eq!(group(&parts), [vec![0, 1, 2, 3]]);
    }

    #[test]
    fn frequency_boot_time_and_overlap_must_all_agree() {
        let main = part("a.etl", 100, 110);
        let agreeing = part("b.etl", 105, 120);
        assert_eq!(group(&[main.clone(), agreeing.clone()]), [vec![0, 1]]);
        for (what, other) in [
            ("another clock", PartFacts { frequency: 3_000_000, ..agreeing.clone() }),
            ("another boot", PartFacts { boot_time: BOOT + 3 * SECOND, ..agreeing.clone() }),
            ("no boot time", PartFacts { boot_time: 0, ..agreeing.clone() }),
            ("afterwards", part("b.etl", 111, 120)),
            ("before", part("b.etl", 90, 99)),
        ] {
            assert_eq!(group(&[main.clone(), other]), [vec![0], vec![1]], "{what}");
        }
        let rounded = PartFacts { boot_time: BOOT - 2 * SECOND, ..agreeing };
        assert_eq!(group(&[main, rounded]), [vec![0, 1]]);
    }

    #[test]
    fn belonging_is_handed_on_and_order_is_kept() {
        let parts = [part("a", 0, 10), part("x", 100, 110), part("c", 18, 30), part("b", 9, 20), part("y", 110, 120)];
        assert_eq!(group(&parts), [vec![0, 2, 3], vec![1, 4]]);
        assert_eq!(group(&[]), Vec::<Vec<usize>>::new());
    }

    #[test]
    fn a_rundown_may_follow_its_recording_only() {
        let main = part("dir/X.etl", 0, 10);
        let rundown = part("dir/X.clrRundown.etl", 12, 20);
        assert_eq!(group(&[rundown.clone(), main.clone()]), [vec![0, 1]]);
        assert_eq!(group(&[main.clone(), part("Y.clrRundown.etl", 12, 20)]).len(), 2);
        assert_eq!(group(&[main.clone(), part("X.kernel.etl", 12, 20)]).len(), 2);
        assert_eq!(group(&[main, part("X.clrRundown.etl", 71, 80)]).len(), 2);
    }

    #[test]
    fn a_part_without_end_counts_as_its_start() {
        let cut_off = PartFacts { end: 0, ..part("a", 5, 5) };
        assert_eq!(group(&[cut_off.clone(), part("b", 0, 10)]), [vec![0, 1]]);
        assert_eq!(group(&[cut_off, part("b", 6, 10)]).len(), 2);
    }

    #[test]
    fn names_of_parts() {
        for (stem, expected) in [
            ("X.kernel", Some(("X", "kernel"))),
            ("X.Kernel.1", Some(("X", "Kernel.1"))),
            ("X.kernel_2", Some(("X", "kernel_2"))),
            ("X.user_paged.1", Some(("X", "user_paged.1"))),
            ("a.b.clrRundown", Some(("a.b", "clrRundown"))),
            ("PerfViewData.clrRundown2", None),
            ("X", None),
            ("X.user", None),
            (".kernel", None),
            ("ÄÖ.KERNEL", Some(("ÄÖ", "KERNEL"))),
        ] {
            assert_eq!(part_of(stem), expected, "{stem}");
        }
    }
}
