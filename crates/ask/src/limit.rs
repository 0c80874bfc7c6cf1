//! Limits of the figures of a recording. Each limit has a kind, so that two lines tell the limits
//! of many files.

use tracesift_extract::caveat;
use tracesift_trace::health_kinds::Severity;
use tracesift_trace::info::TraceInfo;
use tracesift_trace::rows::HealthRow;
use tracesift_trace::{Health, HealthKind};

use crate::answer::{Section, Value};

/// What kind of limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LimitKind {
    /// The recorder lost events or buffers.
    Lost,
    /// The recorder stopped sampling for a while.
    Paused,
    /// The recording was not read in full: a part of the file is missing or damaged, or a class of its events stops before the end.
    CutShort,
    /// The switched-out thread is not the one that was running: what lies between is unknown time.
    BrokenSwitchChains,
    /// Context switches are samples, or those of single tasks only.
    PartialSwitches,
    /// None of the events is CPU time.
    NoCpuEvent,
    /// Samples of CPU time have no time: only sums over the whole recording hold.
    SamplesWithoutTime,
    /// Ends of disk operations are missing.
    OpenDiskOperations,
    /// Files of programs were not found, so that their stacks end early.
    MissingFiles,
    /// The extract was told to leave a table out.
    LeftOut,
    /// A landmark or a time of day means nothing in the recording.
    NoSuchTime,
    /// Sums of another tool.
    Imported,
    /// Anything else.
    Other,
}

impl LimitKind {
    /// The kind that a counter of an archive's health table makes.
    fn of_counter(kind: HealthKind) -> Self {
        match kind {
            HealthKind::BROKEN_SWITCH_CHAIN => Self::BrokenSwitchChains,
            HealthKind::SAMPLED_SWITCHES | HealthKind::SWITCHES_OF_SINGLE_TASKS => Self::PartialSwitches,
            HealthKind::NO_CPU_EVENT => Self::NoCpuEvent,
            HealthKind::SAMPLES_WITHOUT_TIME => Self::SamplesWithoutTime,
            HealthKind::DISK_COMPLETIONS_MISSING => Self::OpenDiskOperations,
            _ => Self::Other,
        }
    }

    /// Whether only figures from context switches are less than exact.
    #[must_use]
    pub fn is_of_switches(self) -> bool {
        matches!(self, Self::BrokenSwitchChains | Self::PartialSwitches)
    }

    fn is_of_chains(self) -> bool {
        self == Self::BrokenSwitchChains
    }

    /// Whether something is missing in the recording itself.
    fn is_loss(self) -> bool {
        matches!(self, Self::Lost | Self::Paused | Self::CutShort)
    }

    /// What is true of several recordings, and what it means for figures. `None`: they have sentences of their own.
    fn of_many(self) -> Option<(&'static str, &'static str)> {
        match self {
            Self::Lost => Some(("lost events", "their figures may be too small")),
            Self::CutShort => Some(("could not be read in full", "what is missing is in no figure")),
            Self::MissingFiles => Some((
                "have call stacks that end early, as files of programs are not here",
                "`tracesift extract --sysroot DIR` says where they are",
            )),
            Self::Paused => Some(("paused sampling", "their CPU may be too small")),
            Self::BrokenSwitchChains => {
                Some(("have broken switch chains", "some of their run, wait and ready time is unknown"))
            }
            _ => None,
        }
    }
}

/// Counters of parts of a file that are not there or cannot be read. Single records that do not fit their layout are none of them.
const DAMAGE: [HealthKind; 14] = [
    HealthKind::MISSING_BUFFERS,
    HealthKind::TRUNCATED_BUFFER,
    HealthKind::BAD_BUFFER_HEADER,
    HealthKind::UNDECODABLE_BUFFER,
    HealthKind::BAD_RECORD,
    HealthKind::MISSING_HEADER_BUFFER,
    HealthKind::ZEROED_REGION,
    HealthKind::UNKNOWN_BUFFER_KIND,
    HealthKind::UNSUPPORTED_COMPRESSION,
    HealthKind::UNREADABLE_BUFFER,
    HealthKind::TRUNCATED,
    HealthKind::WALK_STOPPED,
    HealthKind::UNDECODABLE,
    HealthKind::UNREADABLE,
];

/// Stacks that end early are worth a word if they are one of so many samples.
const TELLING_PART: u64 = 20;

/// One limit of one recording.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Limit {
    /// Its kind.
    pub kind: LimitKind,
    /// The sentence: an item of the column `warnings`.
    pub text: String,
}

impl Limit {
    /// A limit.
    pub fn new(kind: LimitKind, text: impl Into<String>) -> Self {
        Self { kind, text: text.into() }
    }

    /// Those that an archive tells of: losses, damage, and what its counters or its import say.
    pub(crate) fn of_archive(info: &TraceInfo, health: &[HealthRow], is_imported: bool) -> Vec<Self> {
        let mut limits = Self::losses(info.events_lost, info.buffers_lost);
        let counters = health.iter().filter_map(|row| Some((HealthKind::of_word(&row.kind)?, row)));
        let counters = counters.map(|(kind, row)| (kind, row.count, row.example.as_deref()));
        limits.extend(Self::damage(counters.filter(|(kind, ..)| DAMAGE.contains(kind))));
        if is_imported {
            limits.extend(info.caveats.iter().map(|text| Self::new(LimitKind::Imported, text)));
        } else {
            limits.extend(health.iter().filter_map(|row| {
                let kind = HealthKind::of_word(&row.kind)?;
                let text = caveat(kind, row.count, row.example.as_deref())?;
                Some(Self::new(LimitKind::of_counter(kind), text))
            }));
        }
        limits
    }

    /// What somebody should know who has just made an archive, of so many samples: what was lost, what could not be read, and what he can
    /// do about it. What only some figures depend on, their answers say.
    #[must_use]
    pub fn of_extract(info: &TraceInfo, health: &Health, samples: u64) -> Vec<Self> {
        let mut limits = Self::losses(info.events_lost, info.buffers_lost);
        let counters = health.iter().map(|(kind, counter)| (kind, counter.count, counter.example.as_deref()));
        let is_missing =
            |kind: HealthKind| kind == HealthKind::MISSING_BUFFERS || kind.severity() == Severity::Unreadable;
        limits.extend(Self::damage(counters.filter(|(kind, ..)| is_missing(*kind))));
        for (kind, counter) in health.iter().filter(|(kind, _)| !LimitKind::of_counter(*kind).is_of_chains()) {
            let text = caveat(kind, counter.count, counter.example.as_deref());
            limits.extend(text.map(|text| Self::new(LimitKind::of_counter(kind), text)));
        }
        let without_file = u64::try_from(health.get(HealthKind::USER_STACKS_WITHOUT_FILE.word())).unwrap_or(0);
        // Every recording has some: a stack or two through something that nobody has a file of.
        if without_file.saturating_mul(TELLING_PART) > samples.max(1) {
            limits.push(Self::new(
                LimitKind::MissingFiles,
                format!(
                    "{without_file} call stacks end early, as files of programs are not here: `tracesift extract --sysroot DIR` says where they are"
                ),
            ));
        }
        limits
    }

    /// What is missing in a file or could not be read, by these counters: one sentence each.
    fn damage<'a>(counters: impl Iterator<Item = (HealthKind, i64, Option<&'a str>)>) -> Vec<Self> {
        let (mut missing, mut unreadable, mut example) = (0_i64, 0_i64, None);
        for (kind, count, of_kind) in counters {
            if kind == HealthKind::MISSING_BUFFERS {
                missing = missing.saturating_add(count);
            } else {
                unreadable = unreadable.saturating_add(count);
                example = example.or(of_kind);
            }
        }
        let missing = match missing {
            0 => None,
            1 => Some("1 buffer of the file is missing".to_owned()),
            _ => Some(format!("{missing} buffers of the file are missing")),
        };
        let example = example.map(|text| format!(", such as {text}")).unwrap_or_default();
        let unreadable = match unreadable {
            0 => None,
            1 => Some(format!("1 part of it could not be read{example}")),
            _ => Some(format!("{unreadable} parts of it could not be read{example}")),
        };
        let sentences = [missing, unreadable].into_iter().flatten();
        let limit = |what| Self::new(LimitKind::CutShort, format!("{what}: what is missing is in no figure"));
        sentences.map(limit).collect()
    }

    /// What the recorder says it lost, one sentence each.
    pub(crate) fn losses(events: u64, buffers: u64) -> Vec<Self> {
        let sentence = |count: u64, one: &str, many: &str| match count {
            0 => None,
            1 => Some(format!("1 {one} was lost while recording: figures may be too small")),
            _ => Some(format!("{count} {many} were lost while recording: figures may be too small")),
        };
        let sentences = [sentence(events, "event", "events"), sentence(buffers, "buffer", "buffers")];
        sentences.into_iter().flatten().map(|text| Self::new(LimitKind::Lost, text)).collect()
    }

    /// The sentences as a value of the column `warnings`.
    #[must_use]
    pub fn texts(limits: &[Self]) -> Value {
        Value::List(limits.iter().map(|limit| limit.text.clone()).collect())
    }
}

impl From<String> for Limit {
    fn from(text: String) -> Self {
        Self::new(LimitKind::Other, text)
    }
}

impl From<&str> for Limit {
    fn from(text: &str) -> Self {
        Self::new(LimitKind::Other, text)
    }
}

/// What stands below an answer: at most one line about what is missing in recordings and one about everything else, for all of them
/// together. With `refer` they name the question that has the details.
#[must_use]
pub fn in_two_lines(sections: &[Section], refer: bool) -> Vec<String> {
    let mut kinds: Vec<(LimitKind, Vec<&Limit>, usize)> = Vec::new();
    for section in sections {
        let mut counted: Vec<LimitKind> = Vec::new();
        for limit in &section.warnings {
            let is_first = !counted.contains(&limit.kind);
            counted.push(limit.kind);
            match kinds.iter_mut().find(|(kind, ..)| *kind == limit.kind) {
                Some((_, limits, files)) => {
                    limits.push(limit);
                    *files += usize::from(is_first);
                }
                None => kinds.push((limit.kind, vec![limit], 1)),
            }
        }
    }
    [true, false]
        .into_iter()
        .filter_map(|losses| {
            let of_line: Vec<_> = kinds.iter().filter(|(kind, ..)| kind.is_loss() == losses).collect();
            let sentences: Vec<String> =
                of_line.iter().map(|(kind, limits, files)| sentence(*kind, limits, *files, sections.len())).collect();
            let has_details = of_line.iter().any(|(kind, ..)| kind.of_many().is_some());
            let details = if refer && has_details { " (`tracesift dump stats` tells more)" } else { "" };
            (!sentences.is_empty()).then(|| format!("{}{details}", sentences.join("; ")))
        })
        .collect()
}

/// One kind of limit that so many of the files have.
fn sentence(kind: LimitKind, limits: &[&Limit], files: usize, of: usize) -> String {
    match (kind.of_many(), limits) {
        (Some((what, means)), _) if of > 1 => {
            let recordings = if files == of && of > 1 { format!("all {of}") } else { format!("{files} of {of}") };
            format!("{recordings} recordings {what}: {means}")
        }
        (_, [one]) if of == 1 => one.text.clone(),
        (_, limits) => {
            // Recordings of one kind mostly say the same.
            let mut texts: Vec<&str> = Vec::new();
            for limit in limits {
                if !texts.contains(&limit.text.as_str()) {
                    texts.push(&limit.text);
                }
            }
            let more = texts.len().saturating_sub(2);
            let mut text = texts.into_iter().take(2).collect::<Vec<_>>().join("; ");
            if more > 0 {
                text.push_str(&format!("; and {more} more"));
            }
            if of > 1 { format!("{files} of {of} recordings: {text}") } else { text }
        }
    }
}

#[cfg(test)]
mod tests {
    use tracesift_trace::info::TraceInfo;
    use tracesift_trace::rows::HealthRow;

    use super::{Limit, LimitKind, in_two_lines};
    use crate::answer::Section;

    fn section(limits: Vec<Limit>) -> Section {
        Section { warnings: limits, ..Section::default() }
    }

    fn lossy() -> Limit {
        Limit::losses(7, 0).pop().unwrap()
    }

    fn broken() -> Limit {
        Limit::new(LimitKind::BrokenSwitchChains, "broken")
    }

    #[test]
    fn six_files_have_two_lines() {
        let sections: Vec<Section> = (0..6)
            .map(|n| match n {
                0 | 1 => section(vec![lossy(), Limit::losses(0, 2).pop().unwrap(), broken()]),
                2 => section(vec![lossy()]),
                3 => section(vec!["it is odd".into()]),
                _ => section(Vec::new()),
            })
            .collect();
        assert_eq!(
            in_two_lines(&sections, true),
            [
                "3 of 6 recordings lost events: their figures may be too small (`tracesift dump stats` tells more)",
                "2 of 6 recordings have broken switch chains: some of their run, wait and ready time is unknown; 1 of 6 \
                 recordings: it is odd (`tracesift dump stats` tells more)",
            ]
        );
    }

    #[test]
    fn damage_of_a_file_is_a_limit() {
        let row = |kind: &str, count: i64, example: &str| HealthRow {
            kind: kind.to_owned(),
            count,
            example: Some(example.to_owned()),
            ..HealthRow::default()
        };
        let health = [
            row("missing_buffers", 159, "201 of 360 buffers are there"),
            row("truncated_buffer", 1, "the file ends in it"),
            row("undefined_stack_key", 9, "a key"),
            row("undecodable_payload", 3, "an event"),
        ];
        let limits = Limit::of_archive(&TraceInfo::default(), &health, false);
        let expected = [
            "159 buffers of the file are missing: what is missing is in no figure",
            "1 part of it could not be read, such as the file ends in it: what is missing is in no figure",
        ];
        assert_eq!(limits, expected.map(|text| Limit::new(LimitKind::CutShort, text)));
        assert_eq!(
            in_two_lines(&[section(limits), section(Vec::new())], false),
            ["1 of 2 recordings could not be read in full: what is missing is in no figure"]
        );
        assert!(Limit::of_archive(&TraceInfo::default(), &health[2..], false).is_empty());
    }

    #[test]
    fn one_file_says_how_many() {
        assert_eq!(
            in_two_lines(&[section(vec![lossy()])], false),
            ["7 events were lost while recording: figures may be too small"]
        );
        assert!(in_two_lines(&[section(Vec::new())], true).is_empty());
        let many = section((0..9).map(|n| Limit::from(format!("text {n}"))).collect());
        assert_eq!(in_two_lines(&[many], true), ["text 0; text 1; and 7 more"]);
    }
}
