//! The content of `trace.json` for a Windows recording: facts about the machine and the session,
//! and its losses.

use rustc_hash::FxHashMap;
use tracesift_analysis::summaries::METHODS_PER_PROCESS;
use tracesift_etl::EtlFile;
use tracesift_etl::format::file_mode;
use tracesift_etl::payload::SampleInterval;
use tracesift_trace::info::{SampleSource, TraceInfo};
use tracesift_trace::{Clock, Health, HealthKind};

use super::clock::start_filetime;
use super::inventory::{Inventory, ProfileSource};
use super::paths::PathMap;
use crate::counters::{SampledCounter, roles_of_sources};
use crate::opened::OpenedRecording;

/// The description, as far as the first pass knows it.
pub(super) fn describe(
    recording: &OpenedRecording,
    files: &[EtlFile],
    inventory: &Inventory,
    paths: &PathMap,
    clock: Clock,
) -> TraceInfo {
    let sessions: Vec<&str> = files.iter().map(|file| file.header().session_name.as_str()).collect();
    let mut info = TraceInfo {
        name: recording.name.clone(),
        kind: "etl".to_owned(),
        sources: recording.sources.clone(),
        volumes: paths.volumes().to_vec(),
        start_filetime: start_filetime(files, clock),
        counters: inventory.counters.clone(),
        sample_sources: sources(inventory),
        method_summary_cut: METHODS_PER_PROCESS as u32,
        enabled: inventory.enabled.tables(&sessions),
        ..TraceInfo::default()
    };
    info.events_lost = files.iter().map(|file| u64::from(file.header().events_lost)).sum();
    info.buffers_lost = files.iter().map(|file| u64::from(file.header().buffers_lost)).sum();
    if let Some(file) = files.iter().min_by_key(|file| file.header().zero_ticks()) {
        let header = file.header();
        info.pointer_size = u8::try_from(header.pointer_size).unwrap_or(8);
        info.cpu_count = header.cpu_count;
        info.cpu_mhz = Some(header.cpu_mhz).filter(|mhz| *mhz > 0);
        info.clock = header.clock().name().to_owned();
        if header.present {
            info.os_build = Some(header.os_version());
            info.start_time_utc = header.start_time_utc();
            info.boot_time_utc = header.boot_time_utc();
            info.utc_offset_minutes = header.utc_offset_minutes();
            info.session_name = Some(header.session_name.clone()).filter(|name| !name.is_empty());
        }
    }
    inventory.machine.describe(&mut info);
    info
}

fn sources(inventory: &Inventory) -> Vec<SampleSource> {
    let sources = inventory.sources.iter().map(|(number, source)| SampleSource {
        number: *number,
        name: source.name.clone().unwrap_or_else(|| if *number == 0 { "Timer".to_owned() } else { String::new() }),
        interval_ns: if *number == 0 { i64::from(source.interval) * 100 } else { 0 },
    });
    sources.collect()
}

/// The hardware counters that are sampled.
pub(super) fn sampled_counters(inventory: &Inventory) -> FxHashMap<u16, SampledCounter> {
    let roles = roles_of_sources(&sources(inventory));
    let counters = inventory.sources.iter().filter(|(number, _)| **number != SampleInterval::TIMER);
    let counter = |(number, source): (&u32, &ProfileSource)| {
        let number = u16::try_from(*number).ok()?;
        let period = Some(i64::from(source.interval)).filter(|period| *period > 0);
        Some((number, SampledCounter { period, role: roles.get(&i32::from(number)).copied().flatten() }))
    };
    counters.filter_map(counter).collect()
}

/// Counts what the recorder says that it lost, and the buffers that are missing.
pub(super) fn count_losses(health: &mut Health, file: &EtlFile, label: &str) {
    let header = file.header();
    health
        .add(HealthKind::EVENTS_LOST, i64::from(header.events_lost), None, || format!("{label}: the recorder says so"));
    health.add(HealthKind::BUFFERS_LOST, i64::from(header.buffers_lost), None, || {
        format!("{label}: the recorder says so")
    });
    let (written, found) = (i64::from(header.buffers_written), i64::try_from(file.buffers().len()).unwrap_or(i64::MAX));
    if header.log_file_mode & file_mode::CIRCULAR == 0 && found < written {
        health.add(HealthKind::MISSING_BUFFERS, written - found, None, || {
            format!("{label}: {found} of {written} buffers are there")
        });
    }
    let flagged = i64::try_from(file.buffers_with_lost_events()).unwrap_or(i64::MAX);
    health.add(HealthKind::BUFFERS_WITH_LOST_EVENTS, flagged, None, || format!("{label}: flagged buffers"));
    let after = i64::try_from(file.buffers_after_lost_buffers()).unwrap_or(i64::MAX);
    health.add(HealthKind::BUFFERS_AFTER_LOST_BUFFERS, after, None, || format!("{label}: flagged buffers"));
}
