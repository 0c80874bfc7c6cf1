//! One file of an answer: what every question takes from the description of a recording.

use std::path::{Path, PathBuf};

use tracesift_extract::input::test_name;
use tracesift_grammar::TestName;
use tracesift_trace::info::{IMPORTED, TraceInfo};
use tracesift_trace::rows::{CpuSampleRow, HealthRow, ProcessSummaryRow};
use tracesift_trace::schema::{Row as _, TableDefinition};

use crate::absence::Absence;
use crate::answer::{Fact, Kind, Section};
use crate::limit::{Limit, LimitKind};
use crate::time_format::{TimeFormat, TimeStyle, Zero};

/// The recordings that can have the rows of a table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RowSource {
    /// The profile of `tracesift record` that records them on Windows; `None`: recordings of Windows have none.
    pub windows: Option<&'static str>,
    /// The same for Linux.
    pub linux: Option<&'static str>,
}

impl RowSource {
    /// Rows of recordings of Linux.
    #[must_use]
    pub const fn linux(profile: &'static str) -> Self {
        Self { windows: None, linux: Some(profile) }
    }

    /// Rows of recordings of Windows.
    #[must_use]
    pub const fn windows(profile: &'static str) -> Self {
        Self { windows: Some(profile), linux: None }
    }

    /// Rows of recordings of both systems, with the profile of each.
    #[must_use]
    pub const fn both(windows: &'static str, linux: &'static str) -> Self {
        Self { windows: Some(windows), linux: Some(linux) }
    }

    /// The profile that records them on a system.
    #[must_use]
    pub const fn profile(self, is_linux: bool) -> Option<&'static str> {
        if is_linux { self.linux } else { self.windows }
    }
}

/// A recording as an answer names it.
#[derive(Clone, Debug, PartialEq)]
pub struct RecordingLabel {
    /// Path as it was found; the column `file`.
    pub path: PathBuf,
    /// Name without `.etl`, `.zip`, `.sift`: what `-f` matches.
    pub name: String,
    /// Time zero.
    pub zero: Zero,
    /// Start of the recorded span, ns since time zero.
    pub start: i64,
    /// End of the recorded span, ns since time zero.
    pub end: i64,
    /// The test that it recorded: its name says, else that name itself.
    pub test: String,
    /// What the test measured, ms, if the name says.
    pub test_ms: Option<u64>,
    /// The machine, as the recording has it, else as the name says.
    pub machine: Option<String>,
    /// When the test ran by the name, else when the recording began: the recorder's local time, `yyyy-MM-dd HH:mm:ss`.
    pub date: Option<String>,
    /// Whether it has samples of the CPU.
    pub has_samples: bool,
    /// Whether another tool's extract was imported: sums without events.
    pub is_imported: bool,
    /// Whether it has CPU sums that were imported, and so no samples that they are of.
    pub has_imported_sums: bool,
    /// Tables that the extract was told to leave out.
    pub left_out: Vec<String>,
    /// Tables whose events were enabled, as far as the recording tells.
    pub enabled: Vec<String>,
    /// Losses and what else limits the figures, one sentence each.
    pub warnings: Vec<Limit>,
}

impl RecordingLabel {
    /// The file at `path` with what its description and its health table say.
    #[must_use]
    pub fn new(path: &Path, name: String, info: &TraceInfo, health: &[HealthRow]) -> Self {
        let zero = Zero { filetime: info.start_filetime, utc_offset_minutes: info.utc_offset_minutes };
        let test = test_name(&name);
        let performed_at = test.as_ref().and_then(TestName::time).map(|time| time.to_string());
        let local = TimeStyle { format: TimeFormat::Local, digits: 0 };
        let has_rows =
            |table: &TableDefinition| info.tables.iter().any(|found| found.name == table.name && found.rows > 0);
        Self {
            path: path.to_owned(),
            date: performed_at.or_else(|| zero.instant(0).map(|_| local.show(0, Some(zero)))),
            test_ms: test.as_ref().map(|test| test.duration_ms),
            machine: info.machine.clone().or_else(|| test.as_ref().map(|test| test.machine.clone())),
            test: test.map_or_else(|| name.clone(), |test| test.test),
            name,
            zero,
            start: info.start_ns,
            end: info.end_ns,
            has_samples: has_rows(CpuSampleRow::TABLE),
            is_imported: is_imported(info),
            has_imported_sums: is_imported(info) && has_rows(ProcessSummaryRow::TABLE),
            left_out: info.left_out.clone(),
            enabled: info.enabled.clone(),
            warnings: Limit::of_archive(info, health, is_imported(info)),
        }
    }

    /// Why there is nothing of a table: its events were not enabled, the extract was told to leave it out, or nothing happened.
    #[must_use]
    pub fn absence_of(&self, table: &str) -> Absence {
        let is_among = |tables: &[String]| tables.iter().any(|known| known == table);
        if is_among(&self.left_out) {
            Absence::NotExtracted
        } else if is_among(&self.enabled) {
            Absence::NothingHappened
        } else if self.is_imported {
            Absence::NotImported
        } else if self.is_cut_short() {
            Absence::NotInWhatIsLeft
        } else {
            Absence::NotRecorded
        }
    }

    /// Whether a part of the recording is missing or could not be read.
    fn is_cut_short(&self) -> bool {
        self.has_limit(LimitKind::CutShort)
    }

    /// Whether samples of CPU time have no time, so that no range of time can be compared with their sum.
    pub(crate) fn has_samples_without_time(&self) -> bool {
        self.has_limit(LimitKind::SamplesWithoutTime)
    }

    fn has_limit(&self, kind: LimitKind) -> bool {
        self.warnings.iter().any(|limit| limit.kind == kind)
    }

    /// Why there is nothing of a table, and the command that records it.
    #[must_use]
    pub fn absence_with_cure(&self, table: &str, source: RowSource, is_linux: bool) -> Absence {
        let of_system = || Absence::NotOfSystem(if is_linux { "Linux" } else { "Windows" });
        match (self.absence_of(table), source.profile(is_linux)) {
            (Absence::NotRecorded, Some(profile)) => Absence::NotRecordedWithout(profile),
            (Absence::NotRecorded | Absence::NotInWhatIsLeft, None) => of_system(),
            (why, _) => why,
        }
    }

    /// Why there is nothing of a table that recordings of all systems can have, and the command that records it.
    #[must_use]
    pub fn absence_with_cure_anywhere(&self, table: &str, profile: &'static str) -> Absence {
        self.absence_with_cure(table, RowSource::linux(profile), true)
    }

    /// Why CPU is not sampled where it comes from context switches.
    #[must_use]
    pub fn note_of_precise_cpu(&self) -> String {
        let why = match self.absence_of("cpu_samples") {
            Absence::NotExtracted => "CPU samples were not extracted",
            Absence::NothingHappened => "no CPU was sampled",
            _ => "no CPU samples were recorded",
        };
        format!("{why}: CPU is precise run time from context switches")
    }

    /// Says which of the tables that a question needs the extract was told to leave out.
    #[must_use]
    pub fn warning_of_left_out(&self, needed: &[&str]) -> Option<Limit> {
        let left_out = self.left_out.iter().filter(|table| needed.contains(&table.as_str()));
        let names: Vec<&str> = left_out.map(String::as_str).collect();
        (!names.is_empty()).then(|| {
            let names = names.join(" and ");
            let text = format!("extracted without {names}: `tracesift extract` without --tables writes all tables");
            Limit::new(LimitKind::LeftOut, text)
        })
    }

    /// The path as text, with `/` on every system so that answers compare across machines.
    #[must_use]
    pub fn path_text(&self) -> String {
        path_text(&self.path)
    }

    /// The section of a file that has nothing of the kind that was asked for, with the reason. Where nothing happened it is an answer.
    #[must_use]
    pub fn absent(&self, what: &'static str, why: impl Into<Absence>) -> Section {
        let why = why.into();
        let facts = vec![Fact::local(what, Kind::Text, why.to_string())];
        Section { facts, is_absent: !why.is_answer(), ..self.section() }
    }

    /// An empty section for this file.
    #[must_use]
    pub fn section(&self) -> Section {
        Section {
            title: self.name.clone(),
            path: Some(self.path.clone()),
            zero: Some(self.zero),
            warnings: self.warnings.clone(),
            ..Section::default()
        }
    }
}

/// Whether an archive is another tool's extract: sums without events.
#[must_use]
pub fn is_imported(info: &TraceInfo) -> bool {
    info.kind == IMPORTED
}

/// A path as text, with `/` on every system.
#[must_use]
pub fn path_text(path: &Path) -> String {
    let text = path.to_string_lossy();
    if cfg!(windows) { text.replace('\\', "/") } else { text.into_owned() }
}
