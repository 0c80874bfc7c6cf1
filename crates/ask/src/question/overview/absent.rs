//! Subjects that a recording does not contain, and the profile that records them.

use tracesift_archive::Archive;
use tracesift_trace::info::TraceInfo;
use tracesift_trace::rows::{ContextSwitchRow, CpuSampleRow, DiskIoRow, FileIoRow, PageFaultRow, SyscallRow};
use tracesift_trace::schema::Row as _;

use crate::absence::Absence;
use crate::answer::{ColumnOf, Kind};
use crate::question::faults::Faults;
use crate::question::syscalls::Syscalls;
use crate::recording_label::{RecordingLabel, RowSource};
use crate::table_question::TableQuestion as _;

/// Something that is not in a recording.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AbsentPart {
    /// What nobody can ask of it.
    pub what: &'static str,
    /// Why.
    pub why: Absence,
    /// The profile of `tracesift record` that records it.
    pub profile: Option<&'static str>,
}

/// The columns of the objects in `absent`.
pub(super) const COLUMNS: &[ColumnOf<AbsentPart>] = &[
    ColumnOf::always("what", "What", Kind::Text, |a| a.what.into(), "The subject that the recording does not contain."),
    ColumnOf::always(
        "why",
        "Why",
        Kind::Text,
        |a| a.why.to_string().into(),
        "`not recorded`, or `not extracted` where the extract was told to leave it out. `none, though their events were enabled`: nothing happened.",
    ),
    ColumnOf::always(
        "profile",
        "Profile",
        Kind::Text,
        |a| a.profile.into(),
        "The profile of `tracesift record` that records it; null where extracting the recording again is enough.",
    ),
];

/// What the tables of an archive stand for.
struct Kept {
    table: &'static str,
    what: &'static str,
    profile: &'static str,
    /// Whether only recordings of Linux have it.
    is_linux: bool,
    has: fn(&Archive) -> bool,
}

const KEPT: &[Kept] = &[
    Kept {
        table: CpuSampleRow::TABLE.name,
        what: "CPU per function",
        profile: "Default",
        is_linux: false,
        has: |archive| archive.row_count::<CpuSampleRow>() > 0,
    },
    Kept {
        table: ContextSwitchRow::TABLE.name,
        what: "waits and ready times",
        profile: "CSwitch",
        is_linux: false,
        has: |archive| archive.row_count::<ContextSwitchRow>() > 0,
    },
    Kept {
        table: DiskIoRow::TABLE.name,
        what: "disk operations",
        profile: "Default",
        is_linux: false,
        has: |archive| archive.row_count::<DiskIoRow>() > 0,
    },
    Kept {
        table: FileIoRow::TABLE.name,
        what: "operations on files",
        profile: "File",
        is_linux: false,
        has: |archive| archive.row_count::<FileIoRow>() > 0,
    },
    Kept {
        table: SyscallRow::TABLE.name,
        what: Syscalls::WHAT[1],
        profile: linux_profile(Syscalls::SOURCE),
        is_linux: Syscalls::SOURCE.windows.is_none(),
        has: |archive| archive.row_count::<SyscallRow>() > 0,
    },
    Kept {
        table: PageFaultRow::TABLE.name,
        what: Faults::WHAT[1],
        profile: linux_profile(Faults::SOURCE),
        is_linux: true,
        has: |archive| archive.row_count::<PageFaultRow>() > 0,
    },
];

/// The profile that records rows on Linux.
const fn linux_profile(source: RowSource) -> &'static str {
    source.linux.expect("recordings of Linux have these rows")
}

/// What the recording has nothing of. A profile that was recorded and found nothing is no reason to record it again.
#[must_use]
pub fn of(file: &RecordingLabel, archive: &Archive) -> Vec<AbsentPart> {
    if file.is_imported {
        return vec![AbsentPart {
            what: "call stacks, and single events of most kinds",
            why: "an import has what the extract of ETWAnalyzer has".into(),
            profile: None,
        }];
    }
    let info = archive.info();
    let profiles = recorded_profiles(info);
    let is_linux = info.kind == "perf";
    let mut absent = Vec::new();
    for kept in KEPT.iter().filter(|kept| is_linux || !kept.is_linux) {
        if (kept.has)(archive) || profiles.contains(&kept.profile) {
            continue;
        }
        let why = file.absence_of(kept.table);
        let profile = (why == Absence::NotRecorded).then_some(kept.profile);
        absent.push(AbsentPart { what: kept.what, why, profile });
    }
    if info.has_switches && !info.has_ready {
        absent.push(AbsentPart { what: "who woke whom", why: Absence::NotRecorded, profile: Some("CSwitch") });
    }
    absent
}

/// The profiles that our own recorder noted.
#[must_use]
pub(crate) fn recorded_profiles(info: &TraceInfo) -> Vec<&str> {
    let profiles = info.facts.iter().filter(|(path, _)| path.starts_with("recording.profiles."));
    profiles.map(|(_, name)| name.as_str()).collect()
}

/// The profiles that are named.
#[must_use]
pub fn profiles() -> Vec<&'static str> {
    KEPT.iter().map(|kept| kept.profile).collect()
}
