//! Statistics of an `.etl`: every record is counted, nothing is extracted.

use rustc_hash::FxHashSet;
use tracesift_etl::counts::{Counts, Key, cpus_seen};
use tracesift_etl::format::event_flag;
use tracesift_etl::payload::{Payload as _, Stack, StackReference};
use tracesift_etl::schema::{EventNames, Schemas};
use tracesift_etl::time::filetime_text;
use tracesift_etl::{
    BufferReader, DamageCount, DamageLog, EtlFile, EventClass, Group, Guid, ItemKind, LogfileHeader, Record,
};
use tracesift_extract::Machine;
use tracesift_trace::info::TraceInfo;

use super::raw::{Damaged, health};
use super::stacks::Recent;
use super::timeline::{Recorded, Slices, Timeline};
use super::{Container, Row, counts};
use crate::limit::{Limit, LimitKind};
use crate::time_format::Zero;

/// Ticks of 100 ns, the unit of FILETIME.
const FILETIME_PER_SECOND: i128 = 10_000_000;

/// The row of one file, without its path.
pub(super) fn row(file: &EtlFile) -> Row {
    let counted = Counted::of(file);
    describe(file, &counted)
}

/// What was counted, with all that the recording says of its events.
#[derive(Default)]
pub(super) struct Counted {
    pub(super) counts: Counts,
    schemas: Schemas,
    /// Events of providers that bring their names and fields with them.
    self_describing: FxHashSet<Key>,
    /// Events of providers that are a text and nothing else.
    texts: FxHashSet<Key>,
    /// By number of the key.
    timelines: Vec<Timeline>,
    machine: Machine,
    damage: Vec<DamageLog>,
}

impl Counted {
    fn of(file: &EtlFile) -> Self {
        let mut counted = Self::default();
        let mut slices = Slices::of(recorded(file));
        let mut recent = Recent::new();
        let mut reader = BufferReader::default();
        for buffer in file.buffers() {
            for record in reader.records(file, buffer) {
                counted.record(&record, &mut slices, &mut recent);
            }
        }
        counted.damage = vec![file.damage().clone(), reader.damage().clone()];
        counted.schemas.settle();
        counted
    }

    fn record(&mut self, record: &Record<'_>, slices: &mut Slices, recent: &mut Recent) {
        let (number, has_stack) = self.counts.add(record);
        let group = record.hook().map(|hook| Group(hook.to_be_bytes()[0]));
        // Of the kernel's own records few describe anything, and they are nearly all.
        if group.is_none_or(|group| group == Group::SYSTEM_CONFIG) {
            self.machine.record(record);
            if record.kind().is_event() {
                self.event(Key::of(record), record);
            }
            if Schemas::has_schema(record) {
                self.schemas.learn(record);
            }
        }
        if self.timelines.len() <= number.index() {
            self.timelines.resize(number.index() + 1, Timeline::default());
        }
        if let Some(timeline) = self.timelines.get_mut(number.index()) {
            timeline.add(slices.at(record.time()));
        }
        match owner_time(record) {
            Some(time) => {
                if let Some(owner) = recent.owner(time) {
                    self.counts.add_stack(owner);
                }
            }
            None => recent.record(record.time(), number, has_stack),
        }
    }
}

impl Counted {
    fn event(&mut self, key: Key, record: &Record<'_>) {
        if record.extended_item(ItemKind::SCHEMA).is_some() {
            self.self_describing.insert(key);
        } else if record.event_flags() & event_flag::STRING_ONLY != 0 {
            self.texts.insert(key);
        }
    }

    fn timeline(&self, key: Key) -> Option<&Timeline> {
        self.timelines.get(self.counts.number_of_key(key)?.index())
    }

    pub(super) fn describes_itself(&self, key: Key) -> bool {
        self.self_describing.contains(&key)
    }

    /// The names by which all questions know the records of a key.
    pub(super) fn names(&self, key: Key) -> EventNames {
        let class = match key {
            Key::Kernel { hook, version } => EventClass::from_hook(hook, version),
            Key::Classic { guid, opcode, version } => EventClass::from_guid(guid, opcode, version),
            Key::Event { provider, id, version } => EventClass::Event { provider, id, version },
            Key::Message { guid, number } => EventClass::Message { guid, number },
        };
        let schema = self.schemas.of(class, self.texts.contains(&key));
        let names = self.schemas.names(class, schema.as_deref());
        match key {
            Key::Event { provider, .. } if names.provider.is_none() => {
                EventNames { provider: self.provider_name(provider), ..names }
            }
            _ => names,
        }
    }

    pub(super) fn provider_name(&self, provider: Guid) -> Option<String> {
        self.counts.provider_name(provider).or_else(|| self.schemas.provider_name(provider)).map(str::to_owned)
    }
}

/// Time of the record that a stack record belongs to.
fn owner_time(record: &Record<'_>) -> Option<i64> {
    let [opcode, group] = record.hook()?.to_le_bytes();
    if group != Group::STACK_WALK.0 {
        return None;
    }
    let (payload, version, pointer_size) = (record.payload(), record.version(), record.pointer_size());
    let time = match opcode {
        Stack::OPCODE => Stack::parse(payload, version, pointer_size).ok()?.event_timestamp,
        StackReference::KERNEL | StackReference::USER => {
            StackReference::parse(payload, version, pointer_size).ok()?.event_timestamp
        }
        _ => return None,
    };
    Some(time.cast_signed())
}

/// From the first buffer to the end that the header states, if that is later; else to the last buffer. Rundown is
/// written after the end.
fn recorded(file: &EtlFile) -> Recorded {
    let times = || file.buffers().iter().filter_map(|buffer| buffer.first_time);
    let start = times().min().unwrap_or_default();
    let last = times().max().unwrap_or(start);
    let header = file.header();
    let stated = (header.start_time != 0 && header.end_time > header.start_time).then(|| {
        let length = i128::from(header.end_time) - i128::from(header.start_time);
        let ticks = length * i128::from(header.frequency()) / FILETIME_PER_SECOND + i128::from(header.zero_ticks());
        i64::try_from(ticks).unwrap_or(i64::MAX)
    });
    Recorded { start, end: stated.filter(|end| *end > start).unwrap_or(last) }
}

/// Whether another session can take the class over: the system has one source of it, shared by few sessions. Stack records only
/// follow other records.
fn has_one_owner(key: Key) -> bool {
    match key {
        Key::Kernel { hook, .. } => {
            let [_, group] = hook.to_le_bytes();
            !matches!(Group(group), Group::STACK_WALK | Group::EVENT_TRACE)
        }
        _ => false,
    }
}

fn describe(file: &EtlFile, counted: &Counted) -> Row {
    let header: &LogfileHeader = file.header();
    let known = |value: i64| (value != 0).then_some(value);
    let recorded_from = file.begins_late().then(|| first_live_record(&counted.counts)).flatten();
    let recorded_from = recorded_from.map(|ticks| header.filetime(ticks)).filter(|from| *from > header.start_time);
    let span = recorded_from
        .or(known(header.start_time))
        .zip(known(header.end_time))
        .map(|(start, end)| end.saturating_sub(start).max(0));
    let total = counted.counts.total();
    let (table, silent) = counts::of_etl(counted, header, |key| {
        has_one_owner(key) && counted.timeline(key).is_some_and(Timeline::stops_early)
    });
    let mut info = TraceInfo { cpu_mhz: Some(header.cpu_mhz).filter(|mhz| *mhz > 0), ..TraceInfo::default() };
    counted.machine.describe(&mut info);
    let text = |text: &String| Some(text.clone()).filter(|text| !text.is_empty());
    Row {
        zero: known(header.start_time)
            .map(|filetime| Zero { filetime, utc_offset_minutes: header.utc_offset_minutes() }),
        bytes: Some(file.bytes()),
        os_build: header.present.then(|| header.os_version()),
        pointer_size: Some(header.pointer_size),
        cpu_count: Some(header.cpu_count),
        session_name: header.present.then(|| header.session_name.clone()),
        perf_freq: Some(header.performance_frequency),
        clock_type: Some(header.clock_number),
        clock: text(&header.clock().name().to_owned()),
        timer_resolution: Some(header.timer_resolution),
        start_time_utc: header.start_time_utc(),
        recorded_from_utc: recorded_from.map(filetime_text),
        end_time_utc: header.end_time_utc(),
        boot_time_utc: header.boot_time_utc(),
        utc_offset_minutes: header.present.then(|| header.utc_offset_minutes()),
        // Seven digits behind the point: a double holds them exactly enough for a session of years.
        duration_s: span.map(|ticks| ticks as f64 / 1e7),
        events_lost: Some(header.events_lost.into()),
        buffers_lost: Some(header.buffers_lost.into()),
        total_records: Some(total.map_or(0, |total| total.records)),
        container: Some(container(file, counted)),
        counts: Some(table),
        health: health(counted.damage.iter().flat_map(DamageLog::kinds).map(damaged).collect()),
        warnings: warnings(header, &silent),
        ..Row::of_machine(&info)
    }
}

/// The first record but for the descriptions of the session, which have the time of its start.
fn first_live_record(counts: &Counts) -> Option<i64> {
    let is_live = |key: &Key| match key {
        Key::Kernel { hook, .. } => Group(hook.to_be_bytes()[0]) != Group::EVENT_TRACE,
        _ => true,
    };
    counts.by_key().iter().filter(|(key, _)| is_live(key)).map(|(_, count)| count.first_time).min()
}

fn container(file: &EtlFile, counted: &Counted) -> Container {
    let counts = &counted.counts;
    let header = file.header();
    let is_header = |key: &Key| matches!(key, Key::Kernel { hook: 0, .. });
    Container {
        buffer_size: header.buffer_size,
        buffers_written: header.buffers_written,
        log_file_mode: header.log_file_mode,
        buffers_in_file: file.buffers().len(),
        compressed_buffers: file.buffers().iter().filter(|buffer| buffer.is_compressed()).count(),
        cpus_seen_in_buffers: cpus_seen(file),
        buffers_flagged_events_lost: file.buffers_with_lost_events(),
        buffers_flagged_buffer_lost: file.buffers_after_lost_buffers(),
        logfile_header_records: counts
            .by_key()
            .iter()
            .filter(|(key, _)| is_header(key))
            .map(|(_, count)| count.records)
            .sum(),
        first_timestamp_raw: counts.total().map(|total| total.first_time),
        last_timestamp_raw: counts.total().map(|total| total.last_time),
        records_by_header_type: counts
            .by_header()
            .into_iter()
            .map(|(kind, count)| (kind.name().to_owned(), count))
            .collect(),
        tracelogging_events: counts::self_describing(counted),
    }
}

fn warnings(header: &LogfileHeader, silent: &[String]) -> Vec<Limit> {
    let mut warnings = Limit::losses(header.events_lost.into(), header.buffers_lost.into());
    warnings.extend(silent.iter().map(|class| {
        let text = format!("{class} stops well before the end: another session may have taken it over");
        Limit::new(LimitKind::CutShort, text)
    }));
    warnings
}

fn damaged(count: &DamageCount) -> Damaged {
    Damaged {
        kind: count.kind,
        count: count.count,
        bytes: Some(count.bytes),
        example: count.examples.first().map(|damage| format!("at byte {}: {}", damage.offset, damage.detail)),
    }
}
