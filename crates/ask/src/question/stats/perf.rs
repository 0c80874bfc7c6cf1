//! Statistics of a `perf.data`: every record is counted, nothing is extracted.

use std::collections::BTreeMap;

use rustc_hash::FxHashMap;
use tracesift_extract::linux_events::{PERF, name_of_record, names_of_event};
use tracesift_perf::{Counts, DamageCount, DamageLog, Kind, Losses, Metadata, Mode, PerfFile, Record};

use super::counts::{self, CountRow};
use super::raw::{Damaged, health};
use super::{LinuxRecording, RecordedEvent, Row};
use crate::limit::{Limit, LimitKind};

/// Times of perf are nanoseconds.
const TICKS_PER_SECOND: i64 = 1_000_000_000;

/// The row of one file, without its path.
pub(super) fn row(file: &PerfFile) -> Row {
    let counted = Counted::of(file);
    describe(file, &counted)
}

/// What a record counts as: samples by event, others by kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Key {
    Sample(Option<usize>),
    Record(Kind),
}

/// Records of one key.
#[derive(Default)]
struct Count {
    records: u64,
    bytes: u64,
    stacks: u64,
    times: Option<(u64, u64)>,
}

#[derive(Default)]
struct Counted {
    counts: Counts,
    by_key: FxHashMap<Key, Count>,
    losses: Losses,
    pauses: u64,
}

impl Counted {
    fn of(file: &PerfFile) -> Self {
        let mut counted = Self::default();
        let mut records = file.records();
        while let Some(record) = records.next() {
            counted.record(&record);
        }
        counted.counts.finish(&records);
        counted
    }

    fn record(&mut self, record: &Record<'_>) {
        self.counts.add(record);
        let kind = record.kind();
        let key = if kind == Kind::Sample { Key::Sample(record.event()) } else { Key::Record(kind) };
        let count = self.by_key.entry(key).or_default();
        count.records += 1;
        count.bytes += u64::from(record.size());
        if let Some(time) = record.time() {
            let (first, last) = count.times.get_or_insert((time, time));
            *first = time.min(*first);
            *last = time.max(*last);
        }
        match kind {
            Kind::Sample => {
                let chain = record.sample().ok().and_then(|sample| sample.callchain);
                count.stacks += u64::from(chain.is_some_and(|chain| !chain.is_empty()));
            }
            Kind::Lost | Kind::LostSamples => {
                if let Ok(payload) = record.payload() {
                    self.losses.add(&payload);
                }
            }
            Kind::Throttle => self.pauses += 1,
            _ => {}
        }
    }
}

fn describe(file: &PerfFile, counted: &Counted) -> Row {
    let counts = &counted.counts;
    let metadata = counts.metadata.as_ref().unwrap_or_else(|| file.metadata());
    let features = &metadata.features;
    let lost = counted.losses.total(metadata);
    let span = counts.record_times.map(|(first, last)| last - first);
    Row {
        bytes: Some(file.bytes()),
        os_name: Some("Linux".to_owned()),
        machine: features.hostname.clone(),
        pointer_size: features.pointer_size().map(u32::from),
        cpu_count: features.cpus.map(|cpus| cpus.online),
        cpu_name: features.cpu_description.clone(),
        memory_mib: features.total_memory_kib.map(|kib| kib >> 10),
        perf_freq: Some(TICKS_PER_SECOND),
        clock: Some(metadata.clock_name().to_owned()),
        duration_s: span.map(|ns| ns as f64 / 1e9),
        events_lost: Some(lost),
        total_records: Some(counts.total_records()),
        linux: Some(recording(metadata, counts)),
        counts: Some(counts::table(&rows(counted, metadata))),
        health: health([file.damage(), &counts.damage].into_iter().flat_map(DamageLog::kinds).map(damaged).collect()),
        warnings: warnings(counted, lost),
        ..Row::default()
    }
}

fn recording(metadata: &Metadata, counts: &Counts) -> LinuxRecording {
    let features = &metadata.features;
    let events = metadata.events.all().iter().enumerate().map(|(index, event)| RecordedEvent {
        index,
        name: metadata.event_name(index),
        kind: event.attr.kind,
        config: event.attr.config,
        sample_type: event.attr.sample_format.bits(),
        ids: event.ids.len(),
        frequency: event.attr.frequency(),
        period: event.attr.period(),
        samples: counts.samples.get(index).copied().unwrap_or_default(),
    });
    LinuxRecording {
        mode: if metadata.mode == Mode::File { "file" } else { "pipe" },
        os_release: features.os_release.clone(),
        arch: features.arch.clone(),
        perf_version: features.perf_version.clone(),
        command_line: (!features.command_line.is_empty()).then(|| features.command_line.join(" ")),
        cpus: features.cpus.map(|cpus| [cpus.available.into(), cpus.online.into()]),
        events: events.collect(),
        total_samples: counts.total_samples(),
        records: by_name(&counts.outer),
        records_inside_compressed: by_name(&counts.nested),
        sample_times: counts.sample_times,
        record_times: counts.record_times,
        walk_stopped: counts.stop.as_ref().map(ToString::to_string),
    }
}

/// Records by the name of their kind, the most frequent first.
fn by_name(kinds: &BTreeMap<Kind, u64>) -> Vec<(String, u64)> {
    let mut named: Vec<(String, u64)> = kinds.iter().map(|(kind, count)| (name_of_record(*kind), *count)).collect();
    named.sort_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
    named
}

/// The rows, the most frequent last.
fn rows(counted: &Counted, metadata: &Metadata) -> Vec<CountRow> {
    let zero = counted.counts.record_times.map_or(0, |times| times.0);
    let since_zero = |time: u64| i64::try_from(time.saturating_sub(zero)).unwrap_or(i64::MAX);
    let row = |(key, count): (&Key, &Count)| {
        let unknown = || (PERF.to_owned(), "unknown event".to_owned());
        let (kind, id, (provider, name)) = match key {
            Key::Sample(Some(event)) => {
                ("sample", u32::try_from(*event).ok(), names_of_event(metadata, *event).unwrap_or_else(unknown))
            }
            Key::Sample(None) => ("sample", None, unknown()),
            Key::Record(kind) => ("record", Some(kind.number()), (PERF.to_owned(), name_of_record(*kind))),
        };
        CountRow {
            kind,
            id,
            provider_name: Some(provider),
            name: Some(name),
            count: count.records,
            bytes: count.bytes,
            stacks: count.stacks,
            first_ns: count.times.map(|times| since_zero(times.0)),
            last_ns: count.times.map(|times| since_zero(times.1)),
            ..CountRow::default()
        }
    };
    let mut rows: Vec<CountRow> = counted.by_key.iter().map(row).collect();
    rows.sort_by(|a, b| a.count.cmp(&b.count).then_with(|| (a.kind, &a.name, a.id).cmp(&(b.kind, &b.name, b.id))));
    rows
}

fn warnings(counted: &Counted, lost: u64) -> Vec<Limit> {
    let mut warnings = Limit::losses(lost, 0);
    match counted.pauses {
        0 => {}
        1 => warnings.push(Limit::new(
            LimitKind::Paused,
            "sampling paused once because it was too frequent: figures may be too small",
        )),
        pauses => warnings.push(Limit::new(
            LimitKind::Paused,
            format!("sampling paused {pauses} times because it was too frequent: figures may be too small"),
        )),
    }
    let stop = counted.counts.stop.as_ref();
    warnings.extend(stop.map(|stop| Limit::new(LimitKind::CutShort, format!("not read to its end: {stop}"))));
    warnings
}

fn damaged(count: &DamageCount) -> Damaged {
    Damaged {
        kind: count.kind,
        count: count.count,
        bytes: None,
        example: count.examples.first().map(|damage| format!("at byte {}: {}", damage.offset, damage.detail)),
    }
}
