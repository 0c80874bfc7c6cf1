//! The content of `trace.json` for a Linux recording: facts about the machine and the recording.

use tracesift_analysis::summaries::METHODS_PER_PROCESS;
use tracesift_etl::time::filetime_text;
use tracesift_perf::Metadata;
use tracesift_trace::info::{SampleSource, TraceInfo};

use super::cpu_event::{Role, Roles, Weight};
use super::enabled;
use super::inventory::Inventory;
use super::time::TICKS_PER_SECOND;
use crate::opened::OpenedRecording;

/// 100 ns from 1601, the origin of FILETIME, to 1970.
const FILETIME_OF_1970: i64 = 116_444_736_000_000_000;

/// The description.
pub(super) fn describe(
    recording: &OpenedRecording,
    metadata: &Metadata,
    inventory: &Inventory,
    roles: &Roles,
) -> TraceInfo {
    let features = &metadata.features;
    let zero = inventory.zero();
    let start_filetime = start_filetime(metadata, zero).unwrap_or(0);
    TraceInfo {
        name: recording.name.clone(),
        kind: "perf".to_owned(),
        sources: recording.sources.clone(),
        machine: features.hostname.clone(),
        os_name: Some("Linux".to_owned()),
        os_build: features.os_release.clone(),
        pointer_size: features.pointer_size().unwrap_or(8),
        cpu_count: features.cpus.map_or(0, |cpus| cpus.online),
        cpu_name: features.cpu_description.clone(),
        memory_mib: features.total_memory_kib.map(|kib| kib >> 10),
        session_name: (!features.command_line.is_empty()).then(|| features.command_line.join(" ")),
        start_filetime,
        start_time_utc: (start_filetime != 0).then(|| filetime_text(start_filetime)),
        start_ns: inventory.start().saturating_sub(zero),
        end_ns: inventory.end_ns(),
        clock: metadata.clock_name().to_owned(),
        clock_frequency: TICKS_PER_SECOND,
        clock_zero: zero,
        events_lost: inventory.losses.total(metadata),
        sample_sources: sources(metadata, roles),
        cpu_event: roles.cpu_event().map(|event| metadata.event_name(event)),
        method_summary_cut: METHODS_PER_PROCESS as u32,
        enabled: enabled::tables(metadata),
        ..TraceInfo::default()
    }
}

fn sources(metadata: &Metadata, roles: &Roles) -> Vec<SampleSource> {
    let source = |index: usize| {
        let interval_ns = match roles.get(index) {
            Role::Cpu(Weight::Period(ns) | Weight::Fixed(ns)) => ns,
            Role::Counter(_) => 0,
            Role::Other => return None,
        };
        let number = u32::try_from(index).unwrap_or(u32::MAX);
        Some(SampleSource { number, name: metadata.event_name(index), interval_ns })
    };
    (0..metadata.events.len()).filter_map(source).collect()
}

/// Time zero on the calendar, where the recorder noted one moment in both clocks.
pub(super) fn start_filetime(metadata: &Metadata, zero: i64) -> Option<i64> {
    let moment = metadata.features.clock_data?;
    let (wall, clock) = (i64::try_from(moment.wall_ns).ok()?, i64::try_from(moment.clock_ns).ok()?);
    let ns = wall.checked_add(zero.checked_sub(clock)?)?;
    ns.div_euclid(100).checked_add(FILETIME_OF_1970)
}
