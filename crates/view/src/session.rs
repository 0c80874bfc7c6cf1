//! `session`: what the page knows at its start.

use std::ops::ControlFlow;

use serde::Serialize;
use serde_json::{Value, json};
use tracesift_archive::{Archive, Table};
use tracesift_ask::question::overview::absent_parts;
use tracesift_extract::counters::are_there;
use tracesift_trace::rows::{
    ContextSwitchRow, CounterValueRow, CpuFrequencyRow, CpuSampleRow, DiskIoRow, EventRow, FileIoRow, GcCollectionRow,
    HealthRow, JitMethodRow, MarkRow, MemoryProcessRow, MemoryStateRow, NetworkIoRow, PageFaultRow, SyscallRow,
    TimelineProcessRow,
};
use tracesift_trace::{HealthKind, Severity, view};

use crate::recording::{Opened, TagFile};

/// Marks that the page is told of at once.
const MOST_MARKS: usize = 1_000;

view! {
    /// A mark.
    #[derive(Clone, Debug)]
    struct Mark of MarkRow { time, text }
}

/// What the page shows first.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Start {
    /// The name of the recording.
    pub recording: String,
    /// The time range, ns since time zero.
    pub time: Option<(i64, i64)>,
    /// A pattern of processes.
    pub process: Option<String>,
    /// The panel.
    pub panel: Option<String>,
    /// The name of a view.
    pub view: Option<String>,
}

/// The answer to `session`.
pub(crate) fn of(recordings: &[Opened], tag_files: &[TagFile], views: &[Value], start: &Start) -> Value {
    let tag_files: Vec<Value> = tag_files.iter().map(|file| json!({ "id": file.id, "name": file.name })).collect();
    let recordings: Vec<Value> =
        recordings.iter().enumerate().map(|(place, opened)| recording(place, opened)).collect();
    json!({
        "version": env!("CARGO_PKG_VERSION"),
        "platform": if cfg!(windows) { "windows" } else { "linux" },
        "recordings": recordings,
        "tag_files": tag_files,
        "views": views,
        "start": start,
    })
}

fn recording(place: usize, opened: &Opened) -> Value {
    let (file, archive) = (&opened.recording.file, opened.recording.archive());
    let info = opened.recording.info();
    let health: Vec<Value> =
        file.warnings.iter().map(|limit| json!({ "level": "warning", "text": limit.text })).collect();
    let missing: Vec<Value> = absent_parts(file, archive)
        .into_iter()
        .map(|part| {
            let cure = part.profile.map(|profile| format!("record with the profile {profile}"));
            json!({ "what": part.what, "why": part.why.to_string(), "cure": cure })
        })
        .collect();
    let rows: serde_json::Map<String, Value> =
        info.tables.iter().map(|table| (table.name.clone(), table.rows.into())).collect();
    let has_calendar = file.zero.filetime != 0;
    json!({
        "id": format!("r{place}"),
        "file": opened.given.file,
        "name": file.name,
        "machine": file.machine,
        "format": info.kind,
        "cpus": info.cpu_count,
        "start_ns": file.start,
        "end_ns": file.end,
        "wall_start": file.zero.iso_utc(0),
        "offset_minutes": has_calendar.then(|| info.utc_offset_minutes.saturating_neg()),
        "has": has(archive, info.has_switches),
        "rows": rows,
        "bucket_ns": bucket(archive),
        "health": health,
        "missing": missing,
        "losses": losses(archive),
        "marks": marks(archive),
    })
}

/// Length of the shortest buckets of the timeline tables, ns; `None`: there are none.
fn bucket(archive: &Archive) -> Option<i64> {
    let tiles = archive.tiles_of::<TimelineProcessRow>().ok().flatten();
    tiles.map(|tiles| tiles.width)
}

/// What a recording has.
fn has(archive: &Archive, has_switches: bool) -> Value {
    fn any<T: Table>(archive: &Archive) -> bool {
        archive.row_count::<T>() > 0
    }
    json!({
        "samples": any::<CpuSampleRow>(archive),
        "switches": has_switches && any::<ContextSwitchRow>(archive),
        "disk": any::<DiskIoRow>(archive),
        "file": any::<FileIoRow>(archive),
        "events": any::<EventRow>(archive),
        "memory": any::<MemoryStateRow>(archive) || any::<MemoryProcessRow>(archive),
        "network": any::<NetworkIoRow>(archive),
        "gc": any::<GcCollectionRow>(archive),
        "jit": any::<JitMethodRow>(archive),
        "faults": any::<PageFaultRow>(archive),
        "frequencies": any::<CpuFrequencyRow>(archive),
        "counters": are_there(archive) || any::<CounterValueRow>(archive),
        "marks": any::<MarkRow>(archive),
        "syscalls": any::<SyscallRow>(archive),
    })
}

/// What the recorder lost, and what could not be read, as the health table has it: how often, and when first.
fn losses(archive: &Archive) -> Vec<Value> {
    let rows: Vec<HealthRow> = archive.rows().unwrap_or_default();
    let loss = |row: &HealthRow| {
        let kind = HealthKind::of_word(&row.kind)?;
        let is_loss = matches!(kind.severity(), Severity::Lost | Severity::Unreadable)
            || [HealthKind::BROKEN_SWITCH_CHAIN, HealthKind::CPU_DROPPED_RECORDS].contains(&kind);
        is_loss.then(|| json!({ "ns": row.first_time, "count": row.count, "text": kind.meaning() }))
    };
    rows.iter().filter_map(loss).collect()
}

/// The first marks. A table that cannot be read has none: the session says what can be said.
fn marks(archive: &Archive) -> Vec<Value> {
    let mut marks = Vec::new();
    let read = archive.scan_while(None, |row: &Mark| {
        marks.push(json!({ "ns": row.time, "name": row.text }));
        if marks.len() < MOST_MARKS { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
    });
    read.map_or_else(|_| Vec::new(), |_| marks)
}
