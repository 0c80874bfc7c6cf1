//! From the files of one Windows recording to its archive.

use std::path::PathBuf;

use tracesift_analysis::summaries::METHODS_PER_PROCESS;
use tracesift_archive::{ArchiveWriter, TargetLock};
use tracesift_etl::format::file_mode;
use tracesift_etl::schema::Schemas;
use tracesift_etl::{DamageLog, EtlFile, Merge, MergeOptions, Record};
use tracesift_trace::HealthKind;
use tracesift_trace::info::{SampleSource, SourceFile, TraceInfo};
use tracesift_trace::rows::FileRow;
use tracesift_trace::stacks::Stacks;
use tracesift_trace::{Clock, FileId, Health};

use crate::caveats::caveats;
use crate::clock::{clock, recorded_span, start_filetime};
use crate::error::Error;
use crate::event_kinds::EventChoice;
use crate::events::{Events, Known, brings_stacks};
use crate::inventory::{Inventory, LEAD_NS, LateStacks, Machine};
use crate::kept_rows::KeptRows;
use crate::paths::PathMap;
use crate::progress::{Progress, WATCH_EVERY, Watch};
use crate::recorder_facts::RecorderFacts;
use crate::row_writer::RowWriter;
use crate::summaries::summarise;
use crate::summaries_in_rounds::write_summaries;
use crate::symbols::{Earlier, NAMELESS, NameSource, Named, Names, WithNames, nameless};
use crate::table_choice::WantedTables;
use crate::target::Options;

/// Bounds of an extract.
#[derive(Clone, Debug)]
pub struct Budget {
    /// Bytes of anonymous memory that one recording may take, symbols apart.
    pub memory: usize,
    /// Directory for temporary files; `None`: the system's.
    pub temporary: Option<PathBuf>,
}

impl Default for Budget {
    fn default() -> Self {
        Self { memory: 512 << 20, temporary: None }
    }
}

impl Budget {
    /// Bytes of rows that are kept for the summaries.
    pub(crate) fn kept_rows(&self) -> usize {
        self.memory / 8
    }

    /// Bytes of the sums that summaries are made of.
    pub(crate) fn summaries(&self) -> usize {
        self.memory / 4
    }
}

/// Most CPUs that a header is believed to name; buffers number theirs in 11 bits.
const MAX_CPUS: u32 = 2048;

/// One Windows recording, opened.
#[derive(Clone, Copy)]
pub(crate) struct Recording<'a> {
    pub(crate) name: &'a str,
    pub(crate) files: &'a [EtlFile],
    /// Names of the files without their directories, for the health table; in the same order.
    pub(crate) labels: &'a [String],
    pub(crate) sources: &'a [SourceFile],
}

/// The events that are kept one by one.
struct Kept {
    /// The selection's word for them.
    word: &'static str,
    /// Their kinds; `None` where nothing is kept.
    choice: Option<EventChoice>,
}

/// What an extract found.
#[derive(Clone, Debug)]
pub struct Report {
    /// The archive.
    pub archive: PathBuf,
    /// What was recorded.
    pub info: TraceInfo,
    /// What could not be used.
    pub health: Health,
    /// Records read.
    pub records: u64,
    /// What symbol files said, where they were asked.
    pub named: Option<Named>,
}

/// Extracts a recording into the archive that `lock` holds.
pub(crate) fn extract_recording(
    recording: &Recording<'_>,
    lock: TargetLock,
    options: &Options,
    watch: &mut Watch<'_>,
) -> Result<Report, Error> {
    let target = lock.target().to_owned();
    let (budget, symbols) = (&options.budget, options.symbols.as_deref());
    let selection = options.kept_events();
    let files = recording.files;
    let clock = clock(files);
    let mut progress = Progress::new(recording.name, files.iter().map(EtlFile::bytes).sum(), watch);

    let kept = Kept { word: selection.name(), choice: selection.choice() };

    let inventory = take_inventory(recording, clock, &kept, budget, &mut progress)?;
    let archive = ArchiveWriter::create_locked(lock, trace_id(recording.sources, header_times(files)))?;
    let mut writer = RowWriter::new(archive, options.tables.clone(), budget.kept_rows(), symbols.is_some());
    let mut outcome = write_events(recording, inventory, clock, kept, budget, &mut writer, &mut progress)?;
    progress.pass_done();
    for (file, label) in files.iter().zip(recording.labels) {
        count_losses(&mut outcome.health, file, label);
    }

    seal(target, writer, outcome, clock, symbols, budget, &mut progress)
}

/// Closes the event tables, adds names and summaries and puts the archive in its place.
pub(crate) fn seal(
    target: PathBuf,
    writer: RowWriter,
    mut outcome: Outcome,
    clock: Clock,
    symbols: Option<&dyn NameSource>,
    budget: &Budget,
    progress: &mut Progress<'_, '_>,
) -> Result<Report, Error> {
    outcome.info.caveats = caveats(&outcome.health);
    outcome.info.symbols_loaded = symbols.is_some();
    outcome.info.left_out = writer.tables.left_out().iter().map(|table| (*table).to_owned()).collect();
    // What was left out is not there for the summaries either.
    let has_switches = writer.tables.wants("context_switches");
    outcome.info.has_switches &= has_switches;
    outcome.info.has_ready &= has_switches;
    let recording = tracesift_analysis::Recording::from(&outcome.info);
    let file = outcome.info.sources.first().map(|source| PathBuf::from(&source.path)).unwrap_or_default();
    let RowWriter { archive, identities, held, .. } = writer;
    let mut sealing = archive.seal(outcome.info, &clock);
    let kept = KeptRows::new(sealing.take_kept(), identities);
    let memory = budget.summaries();
    let (sealed, contradictions, named) = match symbols.zip(held) {
        None => {
            progress.at("summarising", 0)?;
            let early = kept.as_ref().map(|rows| summarise(recording, rows, memory)).transpose()?;
            let mut sealed = sealing.wait()?;
            let archive = sealed.archive().clone();
            let contradictions = write_summaries(recording, early, &archive, memory, &mut sealed)?;
            (sealed, contradictions, None)
        }
        Some((symbols, held)) => {
            let mut sealed = sealing.wait()?;
            progress.at("naming", 0)?;
            let archive = sealed.archive().clone();
            let names = Names::find(&archive, Earlier::Rows(&held), &file, symbols)?;
            let mut written = Ok(());
            sealed.write_each(|write| written = names.for_each(write));
            written?;
            progress.at("summarising", 0)?;
            let early = kept.as_ref().map(|rows| summarise(recording, &WithNames { rows, names: &names }, memory));
            let source = WithNames { rows: &archive, names: &names };
            let contradictions = write_summaries(recording, early.transpose()?, &source, memory, &mut sealed)?;
            let named = names.named().clone();
            (sealed, contradictions, Some(named))
        }
    };
    let contradictions = i64::try_from(contradictions).unwrap_or(i64::MAX);
    // Giving the memory back takes time, which passes while the last rows are encoded.
    drop(kept);
    let health = &mut outcome.health;
    health.add(HealthKind::CONTRADICTING_ROWS, contradictions, None, || {
        "switch rows that contradict each other or the thread table".to_owned()
    });
    if let Some((count, example)) = named.as_ref().and_then(nameless) {
        health.add(NAMELESS, count, None, || example);
    }
    let info = sealed.archive().info().clone();
    sealed.finish(&outcome.health, &clock)?;
    Ok(Report { archive: target, info, health: outcome.health, records: outcome.records, named })
}

/// What both passes gave, beside the rows.
pub(crate) struct Outcome {
    pub(crate) info: TraceInfo,
    pub(crate) health: Health,
    /// Records read.
    pub(crate) records: u64,
}

fn take_inventory(
    recording: &Recording<'_>,
    clock: Clock,
    kept: &Kept,
    budget: &Budget,
    progress: &mut Progress<'_, '_>,
) -> Result<Inventory, Error> {
    let files = recording.files;
    let mut inventory = Inventory::new(clock, start_filetime(files, clock), budget.temporary.clone());
    inventory.schemas = kept.choice.as_ref().map(|_| Schemas::new());
    let mut merge = Merge::new(files, merge_options(budget));
    while let Some(record) = merge.next() {
        inventory.record(&record).map_err(|source| Error::Temporary {
            directory: budget.temporary.clone().unwrap_or_else(std::env::temp_dir),
            source,
        })?;
        if inventory.records.is_multiple_of(WATCH_EVERY) {
            progress.at("reading", merge.bytes_read())?;
        }
    }
    for (part, file) in files.iter().enumerate() {
        for kind in merge.damage(part).into_iter().flat_map(DamageLog::kinds).chain(file.damage().kinds()) {
            let example = || format!("{}: {}", recording.labels[part], example(kind));
            inventory.health.add(
                HealthKind::of_damage(kind.kind),
                i64::try_from(kind.count).unwrap_or(i64::MAX),
                None,
                example,
            );
        }
    }
    progress.pass_done();
    Ok(inventory)
}

fn write_events(
    recording: &Recording<'_>,
    mut inventory: Inventory,
    clock: Clock,
    kept: Kept,
    budget: &Budget,
    writer: &mut RowWriter,
    progress: &mut Progress<'_, '_>,
) -> Result<Outcome, Error> {
    let (files, records) = (recording.files, inventory.records);
    let pointer_size = files.first().map_or(8, |file| file.header().pointer_size);
    let kernel_from: u64 = if pointer_size == 4 { 0x8000_0000 } else { 1 << 63 };
    let cpus = files.iter().map(|file| file.header().cpu_count).max().unwrap_or(0).min(MAX_CPUS);
    let cpus = u16::try_from(cpus).unwrap_or(u16::MAX);
    let (start, end) = recorded_span(files, clock, inventory.span);

    let mut population = inventory.take_lifetimes().freeze(clock, cpus);
    inventory.paths.infer_system_volume(inventory.images.paths());
    let paths = std::mem::take(&mut inventory.paths);
    let images = std::mem::take(&mut inventory.images);
    let is_kernel = |address| address >= kernel_from;
    let modules = writer
        .archive
        .write_each(|visit| images.freeze(clock, &mut population, |path| paths.display(path), is_kernel, visit));
    let methods = std::mem::take(&mut inventory.methods).freeze(&mut population, &modules);
    let keys = inventory.stack_keys.seal();
    let stacks = Stacks::new(keys, modules, methods, kernel_from, budget.memory / 4);

    let mut info = describe(recording, &inventory.machine, &paths, clock);
    RecorderFacts::beside(recording.sources).describe(&mut info);
    info.start_ns = clock.ns(start);
    info.end_ns = end;
    info.counters = inventory.counters.clone();
    info.sample_sources = inventory
        .sources
        .iter()
        .map(|(number, source)| SampleSource {
            number: *number,
            name: source.name.clone().unwrap_or_else(|| if *number == 0 { "Timer".to_owned() } else { String::new() }),
            interval_ns: if *number == 0 { i64::from(source.interval) * 100 } else { 0 },
        })
        .collect();
    info.events = kept.word.to_owned();
    info.method_summary_cut = METHODS_PER_PROCESS as u32;

    let cpus = std::mem::take(&mut inventory.processors).into_rows();
    let late = std::mem::replace(&mut inventory.late, LateStacks::new(clock));
    let mut health = std::mem::take(&mut inventory.health);
    health.add(HealthKind::LATE_STACKS_OVER_BUDGET, late.dropped, None, || {
        "halves of stacks that came seconds late".to_owned()
    });
    let lossy = info.events_lost > 0 || info.buffers_lost > 0;
    let schemas = inventory.schemas.take().map(|mut schemas| {
        schemas.settle();
        let problems = i64::try_from(schemas.problems().len()).unwrap_or(i64::MAX);
        health.add(HealthKind::UNREADABLE_EVENT_METADATA, problems, None, || {
            schemas.problems().first().cloned().unwrap_or_default()
        });
        schemas
    });
    let keeps_events = kept.choice.is_some();
    let known = Known {
        population,
        stacks,
        intervals: inventory.intervals,
        files: inventory.files,
        health,
        lossy,
        events: schemas.zip(kept.choice),
    };
    let wanted = WantedTables::from(&writer.tables);
    let mut events = Events::new(clock, start, known, wanted, writer);
    events.late_stacks(&late.halves, &late.frames);
    drop(late);

    let wanted = move |record: &Record<'_>| record.is_stack_walk() || keeps_events && brings_stacks(record);
    let mut ahead = Merge::of(files, merge_options(budget), wanted);
    let mut merge = Merge::new(files, merge_options(budget));
    let lead = clock.ticks(LEAD_NS).saturating_sub(clock.zero);
    let mut count = 0_u64;
    while let Some(time) = merge.peek_time() {
        while ahead.peek_time().is_some_and(|ahead| ahead <= time.saturating_add(lead)) {
            if let Some(record) = ahead.next() {
                events.stack_record(&record);
            }
        }
        let Some(record) = merge.next() else { break };
        events.record(&record);
        count += 1;
        if count.is_multiple_of(WATCH_EVERY) {
            progress.at("extracting", merge.bytes_read())?;
            if events.sink.has_failed() {
                break;
            }
        }
    }
    let finished = events.finish(end);
    info.has_switches = finished.has_switches;
    info.has_ready = finished.has_ready;

    let used: Vec<FileRow> = finished
        .files
        .iter()
        .enumerate()
        .map(|(index, path)| FileRow { file: FileId::from_index(index), path: paths.display(path) })
        .collect();
    writer.archive.write_table(&used);
    writer.archive.write_table(&cpus);
    writer.write_identities(finished.stacks.into_modules(), &finished.population);
    Ok(Outcome { info, health: finished.health, records })
}

fn merge_options(budget: &Budget) -> MergeOptions {
    MergeOptions { memory_limit: budget.memory / 4 }
}

/// The description of the recording, as far as the first pass knows it.
fn describe(recording: &Recording<'_>, machine: &Machine, paths: &PathMap, clock: Clock) -> TraceInfo {
    let mut info = TraceInfo {
        name: recording.name.to_owned(),
        kind: "etl".to_owned(),
        sources: recording.sources.to_vec(),
        volumes: paths.volumes().to_vec(),
        start_filetime: start_filetime(recording.files, clock),
        ..TraceInfo::default()
    };
    let files = recording.files;
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
    machine.describe(&mut info);
    info
}

fn count_losses(health: &mut Health, file: &EtlFile, label: &str) {
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

fn example(kind: &tracesift_etl::DamageCount) -> String {
    let first = kind.examples.first();
    first.map_or_else(String::new, |damage| format!("at byte {}: {}", damage.offset, damage.detail))
}

/// Id of a recording: the same for the same files, whatever their place and name. `more` tells files apart that begin alike.
pub(crate) fn trace_id(sources: &[SourceFile], more: impl Iterator<Item = [u8; 8]>) -> String {
    let mut hashes = [0xcbf2_9ce4_8422_2325_u64, 0x9e37_79b9_7f4a_7c15];
    let mut add = |bytes: &[u8]| {
        for byte in bytes {
            for hash in &mut hashes {
                *hash = (*hash ^ u64::from(*byte)).wrapping_mul(0x0000_0100_0000_01b3).rotate_left(7);
            }
        }
    };
    for source in sources {
        add(source.head_hash.as_bytes());
        add(&source.size.to_le_bytes());
        add(source.member.as_deref().unwrap_or("").as_bytes());
    }
    more.for_each(|bytes| add(&bytes));
    format!("{:016x}{:016x}", hashes[0], hashes[1])
}

/// What tells files apart that begin with the same bytes.
fn header_times(files: &[EtlFile]) -> impl Iterator<Item = [u8; 8]> {
    files.iter().flat_map(|file| {
        let header = file.header();
        [header.start_time.to_le_bytes(), header.boot_time.to_le_bytes(), file.bytes().to_le_bytes()]
    })
}
