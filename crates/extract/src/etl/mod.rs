//! From the files of one Windows recording to its archive, in two passes: much of what explains a record comes late in the
//! recording (lifetimes, images, methods, stacks).

mod brought_stacks;
pub(crate) mod clock;
mod describe;
mod file_sources;
mod first_pass;
mod inventory;
mod machine;
mod network_sources;
mod no_return;
mod paths;
mod scheduling;
mod second_pass;
mod slice_scheduling;
mod slice_source;
mod slice_threads;
mod slice_worker;
mod slices;
mod survey;
mod worked_slice;

use std::path::PathBuf;
use std::sync::Arc;

use tracesift_archive::{ArchiveWriter, TargetLock};
use tracesift_etl::{EtlFile, MergeOptions};
use tracesift_trace::code_map::CodeMap;
use tracesift_trace::rows::{CpuRow, FileRow};
use tracesift_trace::stacks::Stacks;
use tracesift_trace::switches::Deaths;
use tracesift_trace::{Clock, FileId, HealthKind};

use crate::error::Error;
use crate::event_kinds::{EventChoice, WantedHooks};
use crate::event_selection::EventSelection;
use crate::opened::OpenedRecording;
use crate::options::{Budget, Options};
use crate::progress::{Progress, Watch};
use crate::recorder_facts::RecorderFacts;
use crate::row_writer::RowWriter;
use crate::seal::{PassResults, Report, seal, trace_id};
use crate::stage::{Stage, StageWatch, watched};
use crate::symbols::{NameSource, Recorded};
use crate::table_choice::WantedTables;
use clock::{clock, recorded_span};
use describe::{count_losses, describe, sampled_counters};
use first_pass::FirstPass;
use inventory::{Inventory, StackInventory};
pub use machine::Machine;
use no_return::NoReturn;
use paths::PathMap;
use second_pass::{Known, SecondPass, SliceRows, Told};
use slice_source::SliceSource;
use slice_threads::{Done, each_slice};
use slices::{Cut, Slices};
pub use survey::{Survey, survey};

/// Most CPUs that a header is believed to name; buffers number theirs in 11 bits.
const MAX_CPUS: u32 = 2048;

/// What all steps of an extract look at.
#[derive(Clone, Copy)]
struct Source<'a> {
    recording: &'a OpenedRecording,
    files: &'a [EtlFile],
    clock: Clock,
    budget: &'a Budget,
    without_stacks: bool,
    /// Where names of code come from.
    symbols: Option<&'a dyn NameSource>,
    stages: Option<&'a Arc<dyn StageWatch>>,
}

/// The events that are kept one by one.
struct Kept {
    /// The selection's word for them.
    word: &'static str,
    /// Whether all events are asked for, in whichever tables.
    is_all: bool,
    /// Their kinds; `None` where nothing is kept.
    choice: Option<EventChoice>,
}

/// Extracts a recording into the archive that `lock` holds.
pub(crate) fn extract_recording(
    recording: &OpenedRecording,
    files: &[EtlFile],
    lock: TargetLock,
    options: &Options,
    watch: &mut Watch<'_>,
) -> Result<Report, Error> {
    let target = lock.target().to_owned();
    let budget = &options.budget;
    let symbols = options.symbols.as_deref();
    let without_stacks = options.without_stacks;
    let source = Source {
        recording,
        files,
        clock: clock(files),
        budget,
        without_stacks,
        symbols,
        stages: options.stages.as_ref(),
    };
    let mut progress = Progress::new(&recording.name, files.iter().map(EtlFile::bytes).sum(), watch);

    let selection = options.kept_events();
    let is_all = matches!(options.events, Some(EventSelection::All));
    let kept = Kept { word: selection.name(), is_all, choice: selection.choice() };
    let found = source.first_pass(&mut progress)?;
    let archive =
        ArchiveWriter::create_locked(lock, options.budget.writer(trace_id(&recording.sources, header_times(files))))?;
    let mut writer = RowWriter::new(archive, options.tables.clone(), budget.kept_rows(), options.symbols.is_some());
    let mut results = source.write_rows(found, kept, &mut writer, &mut progress)?;
    progress.pass_done();
    for (file, label) in files.iter().zip(&recording.labels) {
        count_losses(&mut results.health, file, label);
    }
    seal(target, writer, results, source.clock, options, &mut progress)
}

impl Source<'_> {
    /// The second pass, and the tables that are known at its end.
    fn write_rows(
        &self,
        FirstPass { mut inventory, stacks }: FirstPass,
        kept: Kept,
        writer: &mut RowWriter,
        progress: &mut Progress<'_, '_>,
    ) -> Result<PassResults, Error> {
        let Self { recording, files, clock, .. } = *self;
        let (records, has_system_calls) = (inventory.records, inventory.has_system_calls);
        let (start, end) = recorded_span(files, clock, inventory.span);
        inventory.paths.infer_system_volume(inventory.images.paths());
        let paths = std::mem::take(&mut inventory.paths);

        let mut info = describe(recording, files, &inventory, &paths, clock);
        RecorderFacts::beside(&recording.sources).describe(&mut info);
        info.start_ns = clock.ns(start);
        info.end_ns = end;
        info.events = kept.word.to_owned();
        let lossy = info.events_lost > 0 || info.buffers_lost > 0;

        let mut wanted = WantedTables::from(&writer.tables);
        // There are millions of them, and few people ask for them.
        wanted.object_references &= kept.is_all;
        let Frozen { mut known, stacks, cpus } =
            self.freeze((inventory, stacks), &paths, kept.choice, lossy, wanted, writer);
        if let Some(symbols) = self.symbols.filter(|_| has_system_calls && wanted.syscalls) {
            let path = info.sources.first().map(|source| PathBuf::from(&source.path)).unwrap_or_default();
            let recorded = Recorded { path: &path, machine: info.machine.as_deref(), began: None };
            known.no_return = NoReturn::find(symbols, &recorded, &known.stacks.modules().modules);
        }
        let rows = SliceRows::start(writer.archive.scheduling_apart(), wanted.context_switches, self.stages.cloned());
        let mut pass = SecondPass::new((clock, start), known, wanted, rows, writer);
        pass.late_stacks(&stacks.late);
        self.second_pass(&mut pass, &stacks, progress)?;
        let finished = pass.finish(end);
        info.has_switches = finished.has_switches;
        info.has_ready = finished.has_ready;

        let used: Vec<FileRow> = finished
            .files
            .iter()
            .enumerate()
            .map(|(index, path)| FileRow { file: FileId::from_index(index), path: paths.display(path) })
            .collect();
        writer.archive.write_table(&used);
        writer.archive.write_table(&finished.branches.finish());
        writer.archive.write_table(&cpus);
        writer.write_identities(finished.stacks.into_modules(), &finished.population);
        Ok(PassResults { info, health: finished.health, records })
    }

    /// Settles what the first pass found.
    fn freeze(
        &self,
        (mut inventory, found_stacks): (Inventory, StackInventory),
        paths: &PathMap,
        choice: Option<EventChoice>,
        lossy: bool,
        wanted: WantedTables,
        writer: &mut RowWriter,
    ) -> Frozen {
        let Self { files, clock, budget, .. } = *self;
        let pointer_size = files.first().map_or(8, |file| file.header().pointer_size);
        let kernel_from: u64 = if pointer_size == 4 { 0x8000_0000 } else { 1 << 63 };
        let cpus = files.iter().map(|file| file.header().cpu_count).max().unwrap_or(0).min(MAX_CPUS);
        let mut population = inventory.take_lifetimes().freeze(clock, u16::try_from(cpus).unwrap_or(u16::MAX));
        let is_kernel = |address| address >= kernel_from;
        let sampled_counters = sampled_counters(&inventory);
        let images = inventory.images;
        let modules = writer
            .archive
            .write_each(|visit| images.freeze(clock, &mut population, |path| paths.display(path), is_kernel, visit));
        let methods = inventory.methods.freeze(&mut population, &modules);
        let code = Arc::new(CodeMap { modules, methods, kernel_from });
        let keys = Arc::new(found_stacks.keys.seal());
        let stacks = Stacks::new(Arc::clone(&keys), Arc::clone(&code), budget.memory / 4);

        let (mut late, mut health) = (found_stacks.late, inventory.health);
        health.merge(&found_stacks.health);
        late.settle(budget.records_ahead());
        health.add(HealthKind::LATE_STACKS_OVER_BUDGET, late.dropped, None, || {
            "halves of stacks that came seconds late".to_owned()
        });
        let mut schemas = inventory.schemas;
        schemas.settle();
        let problems = i64::try_from(schemas.problems().len()).unwrap_or(i64::MAX);
        health.add(HealthKind::UNREADABLE_EVENT_METADATA, problems, None, || {
            schemas.problems().first().cloned().unwrap_or_default()
        });
        let (owners, deaths) = (population.share(), Deaths::from(population.deaths()));
        let events = choice.map(|choice| {
            let hooks = WantedHooks::of(&schemas, &choice);
            (choice, hooks)
        });
        let hooks = events.as_ref().map(|(_, hooks)| hooks.clone());
        let intervals = inventory.intervals;
        let known = Known {
            population,
            deaths: Arc::clone(&deaths),
            stacks,
            intervals: intervals.clone(),
            sampled_counters,
            files: inventory.files,
            registry_keys: inventory.registry_keys,
            health,
            lossy,
            memory: inventory.machine.memory(),
            schemas,
            events,
            network: inventory.network,
            file_sources: inventory.file_sources,
            object_types: inventory.object_types,
            profiles: std::mem::take(&mut inventory.processors.profiles),
            no_return: NoReturn::default(),
            has_stacks: !self.without_stacks,
        };
        let stacks = SliceSource {
            clock,
            has_stacks: !self.without_stacks,
            owners,
            deaths,
            intervals,
            keys,
            code,
            lead: late.lead(),
            late,
            cuts: found_stacks.cuts,
            lossy,
            has_system_calls: inventory.has_system_calls && wanted.syscalls,
            wanted,
            follows_switches: follows_switches(&wanted, hooks.is_some()),
            events: hooks,
            pace: budget.pace(),
            budget: budget.worker(),
            stages: self.stages.cloned(),
        };
        Frozen { known, stacks: Arc::new(stacks), cpus: inventory.processors.into_rows() }
    }

    /// Makes rows of all records: threads find the stacks of slices, and this one takes the slices in their order.
    fn second_pass(
        &self,
        pass: &mut SecondPass<'_, RowWriter>,
        stacks: &Arc<SliceSource>,
        progress: &mut Progress<'_, '_>,
    ) -> Result<(), Error> {
        let (lead, workers) = (stacks.lead, self.budget.workers());
        // What is looked ahead is looked at twice: not for each short slice.
        let length = if self.budget.slice_records.is_none() { lead / 2 } else { 0 };
        let cut = Cut { records: self.budget.cut_records(), bytes: self.budget.cut_bytes(), length, lead };
        let slices = Slices::new(self.files, merge_options(self.budget), cut);
        let mut told: Vec<Told> = (0..workers).map(|_| Told::new(stacks.owners.process_count())).collect();
        each_slice(slices, stacks, workers, |Done { number, slice, found, worker }| {
            if let Some(told) = told.get_mut(*worker) {
                let walked = stacks.before(slice).stack_records;
                let join = || pass.slice(slice, found, told, walked);
                watched(stacks.stages.as_deref(), Stage::Join, *number, join);
            }
            progress.at("extracting", slice.bytes_read)?;
            Ok(!pass.sink.has_failed())
        })
    }
}

/// What the first pass found, settled.
struct Frozen {
    known: Known,
    /// What stacks are found with.
    stacks: Arc<SliceSource>,
    cpus: Vec<CpuRow>,
}

/// Whether rows tell who ran: those of switches, and of records that do not name their thread.
fn follows_switches(wanted: &WantedTables, keeps_events: bool) -> bool {
    let of_memory = wanted.page_faults || wanted.allocations;
    let of_calls = wanted.syscalls || wanted.filter_calls || wanted.registry || wanted.handles;
    wanted.context_switches || keeps_events || wanted.interrupts || of_memory || of_calls
}

fn merge_options(budget: &Budget) -> MergeOptions {
    MergeOptions { memory_limit: budget.memory / 4 }
}

fn example(kind: &tracesift_etl::DamageCount) -> String {
    let first = kind.examples.first();
    first.map_or_else(String::new, |damage| format!("at byte {}: {}", damage.offset, damage.detail))
}

/// What tells files apart that begin with the same bytes.
fn header_times(files: &[EtlFile]) -> impl Iterator<Item = [u8; 8]> {
    files.iter().flat_map(|file| {
        let header = file.header();
        [header.start_time.to_le_bytes(), header.boot_time.to_le_bytes(), file.bytes().to_le_bytes()]
    })
}
