//! Statistics of an archive: what its description and its health table say.

use tracesift_archive::Error;
use tracesift_trace::info::TableFile;
use tracesift_trace::rows::HealthRow;

use super::Row;
use crate::answer::{ColumnOf, Kind, Table, descriptions, values};
use crate::recording::OpenRecording;

/// The row of an archive.
///
/// # Errors
/// When its health table cannot be read.
pub fn archive(recording: &OpenRecording) -> Result<Row, Error> {
    let (file, info) = (&recording.file, recording.info());
    let mut health: Vec<HealthRow> = recording.archive().rows()?;
    health.sort_by(|a, b| a.count.cmp(&b.count).then_with(|| a.kind.cmp(&b.kind)));
    let length = info.end_ns.saturating_sub(info.start_ns);
    Ok(Row {
        file: file.path_text(),
        member: None,
        zero: Some(file.zero),
        bytes: Some(info.tables.iter().map(|table| table.bytes).fold(0, u64::saturating_add)),
        os_build: info.os_build.clone(),
        // An import does not know it.
        pointer_size: Some(info.pointer_size.into()).filter(|size| *size > 0),
        cpu_count: Some(info.cpu_count),
        session_name: info.session_name.clone(),
        perf_freq: Some(info.clock_frequency),
        clock: Some(info.clock.clone()).filter(|clock| !clock.is_empty()),
        start_time_utc: info.start_time_utc.clone(),
        recorded_from_utc: (info.start_ns > 0).then(|| file.zero.iso_utc(info.start_ns)).flatten(),
        end_time_utc: file.zero.iso_utc(info.end_ns),
        boot_time_utc: info.boot_time_utc.clone(),
        utc_offset_minutes: Some(info.utc_offset_minutes),
        duration_s: Some(length as f64 / 1e9),
        events_lost: Some(info.events_lost),
        buffers_lost: Some(info.buffers_lost),
        tables: Some(tables(&info.tables)),
        health: (!health.is_empty()).then(|| health_table(&health)),
        warnings: file.warnings.clone(),
        ..Row::of_machine(info)
    })
}

fn tables(tables: &[TableFile]) -> Table {
    const COLUMNS: &[ColumnOf<TableFile>] = &[
        ColumnOf::always("name", "Table", Kind::Text, |t| (&t.name).into(), "Name."),
        ColumnOf::always("rows", "Rows", Kind::Count, |t| t.rows.into(), "Rows."),
        ColumnOf::always("bytes", "Size", Kind::Bytes, |t| t.bytes.into(), "Bytes of the file."),
    ];
    let mut sorted = tables.to_vec();
    sorted.sort_by(|a, b| a.bytes.cmp(&b.bytes).then_with(|| a.name.cmp(&b.name)));
    Table { columns: descriptions(COLUMNS), rows: values(COLUMNS, &sorted), is_sparse: true }
}

fn health_table(rows: &[HealthRow]) -> Table {
    const COLUMNS: &[ColumnOf<HealthRow>] = &[
        ColumnOf::always("kind", "Kind", Kind::Text, |h| (&h.kind).into(), "What is wrong."),
        ColumnOf::always("count", "Count", Kind::Count, |h| h.count.into(), "How often."),
        ColumnOf::always(
            "first_time_ns",
            "First",
            Kind::Time,
            |h| h.first_time.into(),
            "Time of the first occurrence.",
        ),
        ColumnOf::always("example", "Example", Kind::LongText, |h| h.example.clone().into(), "The first occurrence."),
    ];
    Table { columns: descriptions(COLUMNS), rows: values(COLUMNS, rows), is_sparse: true }
}
