//! The figures of each disk. They are the only figures of an overview that no other question has.

use std::collections::BTreeMap;

use tracesift_analysis::{DescendingUnion, Span};
use tracesift_archive::{Archive, Error};
use tracesift_trace::info::TraceInfo;
use tracesift_trace::rows::{DiskIoRow, DiskOperation};
use tracesift_trace::view;

use crate::answer::{ColumnOf, Kind};

view! {
    /// The columns of an operation that the figures of a disk need.
    #[derive(Clone, Copy, Debug)]
    struct OperationOfDisk of DiskIoRow { time, disk, operation, start, size }
}

/// The operations of one disk.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DiskPart {
    /// Its number.
    pub disk: i32,
    /// What people call it: number and drives, of Linux `major:minor`.
    pub name: String,
    /// Reads.
    pub reads: i64,
    /// Bytes read.
    pub read_bytes: i64,
    /// Writes.
    pub writes: i64,
    /// Bytes written.
    pub written_bytes: i64,
    /// Flushes.
    pub flushes: i64,
    /// Sum of the operations' durations, ns.
    pub time: i64,
    /// Time at which at least one operation was under way, ns.
    pub busy: i64,
    /// The longest operation, ns.
    pub longest: i64,
}

/// The columns of the objects in `disks`.
pub(super) const COLUMNS: &[ColumnOf<DiskPart>] = &[
    ColumnOf::always("disk", "Disk", Kind::Id, |d| d.disk.into(), "Disk number; of Linux major × 2^20 + minor."),
    ColumnOf::always("name", "Name", Kind::Text, |d| (&d.name).into(), "What people call it."),
    ColumnOf::always("reads", "Reads", Kind::Count, |d| d.reads.into(), "Completed reads."),
    ColumnOf::always("read_bytes", "Read", Kind::Bytes, |d| d.read_bytes.into(), "Bytes read."),
    ColumnOf::always("writes", "Writes", Kind::Count, |d| d.writes.into(), "Completed writes."),
    ColumnOf::always("written_bytes", "Written", Kind::Bytes, |d| d.written_bytes.into(), "Bytes written."),
    ColumnOf::always("flushes", "Flushes", Kind::Count, |d| d.flushes.into(), "Completed flushes."),
    ColumnOf::always(
        "time_ns",
        "Sum",
        Kind::Milliseconds,
        |d| d.time.into(),
        "Sum of the operations' durations, from the request to its completion.",
    ),
    ColumnOf::always(
        "busy_ns",
        "Busy",
        Kind::Milliseconds,
        |d| d.busy.into(),
        "Time at which at least one operation was under way.",
    ),
    ColumnOf::always("longest_ns", "Longest", Kind::Milliseconds, |d| d.longest.into(), "The longest operation."),
];

/// The disks of a recording, the busiest last.
pub(super) fn read(archive: &Archive) -> Result<Vec<DiskPart>, Error> {
    let mut disks: BTreeMap<i32, (DiskPart, DescendingUnion)> = BTreeMap::new();
    // The table is sorted by completion: backwards two numbers are enough for the time at which a disk was busy.
    archive.scan_backwards(None, |row: &OperationOfDisk| {
        let (part, union) = disks.entry(row.disk).or_default();
        let span = Span::new(row.start.min(row.time), row.time);
        union.add(span);
        part.time = part.time.saturating_add(span.length());
        part.longest = part.longest.max(span.length());
        match row.operation {
            DiskOperation::Read => {
                part.reads += 1;
                part.read_bytes = part.read_bytes.saturating_add(row.size);
            }
            DiskOperation::Write => {
                part.writes += 1;
                part.written_bytes = part.written_bytes.saturating_add(row.size);
            }
            DiskOperation::Flush => part.flushes += 1,
        }
    })?;
    let info = archive.info();
    let mut parts: Vec<DiskPart> = disks
        .into_iter()
        .map(|(disk, (part, union))| DiskPart { disk, name: name(disk, info), busy: union.covered(), ..part })
        .collect();
    parts.sort_by_key(|part| (part.busy, part.time, part.disk));
    Ok(parts)
}

fn name(disk: i32, info: &TraceInfo) -> String {
    if info.kind == "perf" {
        return format!("{}:{}", disk >> 20, disk & 0xf_ffff);
    }
    let known = u32::try_from(disk).ok().and_then(|number| info.disks.iter().find(|disk| disk.number == number));
    match known.filter(|disk| !disk.drives.is_empty()) {
        Some(known) => format!("{disk} ({})", known.drives.join(" ")),
        None => disk.to_string(),
    }
}
