//! The machine and the session, as `trace.json` describes them.

use tracesift_trace::info::{Disk, IMPORTED, NetworkCard, TraceInfo};

use crate::document::{DiskInformation, Document, Moment, NetworkInterface};

/// Describes the recording that the extract is of.
pub(crate) fn describe(document: &Document, zero: Moment) -> TraceInfo {
    let header = document.trace_header.unwrap_or_default();
    let end = document.session_end.map_or(0, |end| end.ns_since(zero));
    let disks = document.disk.iter().flat_map(|disk| &disk.disk_information.0).enumerate();
    TraceInfo {
        kind: IMPORTED.to_owned(),
        machine: text(&document.computer_name),
        os_name: text(&document.os_name),
        os_build: text(&document.os_version),
        cpu_count: document.number_of_processors.unwrap_or(0),
        cpu_mhz: document.cpu_speed_mhz.filter(|mhz| *mhz > 0),
        cpu_name: text(&document.cpu_name).or_else(|| text(&document.cpu_vendor)),
        memory_mib: document
            .memory_size_mb
            .map(|mb| (u128::from(mb) * 1_000_000) >> 20)
            .and_then(|mib| mib.try_into().ok()),
        disks: disks.filter_map(|(number, disk)| Some(self::disk(u32::try_from(number).ok()?, disk))).collect(),
        network_cards: document.network_interfaces.0.iter().map(card).collect(),
        start_time_utc: Some(zero.utc_text()),
        start_filetime: zero.filetime(),
        utc_offset_minutes: zero.utc_offset_minutes(),
        boot_time_utc: document.boot_time.filter(|boot| boot.is_known()).map(Moment::utc_text),
        end_ns: end.max(0),
        clock: "system time".to_owned(),
        events_lost: header.events_lost.unwrap_or(0),
        buffers_lost: header.buffers_lost.unwrap_or(0),
        events: "none".to_owned(),
        facts: counts(document),
        ..TraceInfo::default()
    }
}

/// Numbers of events of which the extract has only some.
fn counts(document: &Document) -> Vec<(String, String)> {
    let counts = [
        ("etwanalyzer.exceptions", document.exceptions.as_ref().and_then(|part| part.count.count())),
        (
            "etwanalyzer.thread_pool_events",
            document.thread_pool.as_ref().and_then(|part| part.thread_pool_event_count.count()),
        ),
    ];
    let known = counts.into_iter().filter_map(|(name, count)| Some((name, count.filter(|count| *count > 0)?)));
    known.map(|(name, count)| (name.to_owned(), count.to_string())).collect()
}

/// Disks have no number in an extract: they are counted in their order.
fn disk(number: u32, disk: &DiskInformation) -> Disk {
    let bytes = disk.capacity_gib.unwrap_or(0.0) * f64::from(1_u32 << 30);
    let drives = disk.partitions.0.iter().filter_map(|partition| text(&partition.drive));
    Disk {
        number,
        model: text(&disk.model).unwrap_or_default(),
        // A cast of what is no number, or below zero, gives 0.
        size: bytes.round() as u64,
        drives: drives.map(|drive| if drive.ends_with(':') { drive } else { format!("{drive}:") }).collect(),
    }
}

fn card(card: &NetworkInterface) -> NetworkCard {
    NetworkCard {
        description: text(&card.nic_description).unwrap_or_default(),
        addresses: text(&card.ip_addresses).unwrap_or_default(),
        dns_servers: text(&card.dns_server_addresses).unwrap_or_default(),
        mac: text(&card.physical_address).unwrap_or_default().replace('-', ":").to_lowercase(),
    }
}

/// A text that says something.
fn text(text: &Option<String>) -> Option<String> {
    text.as_deref().map(str::trim).filter(|text| !text.is_empty()).map(str::to_owned)
}
