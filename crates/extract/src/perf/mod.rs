//! From a Linux recording to its archive, in two passes as with a Windows one: who lived and what was mapped where is known
//! late, also here (a process' name when it starts its program, losses and identities of files at the end).

mod cpu_event;
mod cpu_limits;
mod cpus;
mod describe;
mod enabled;
mod event_types;
pub mod events;
mod inventory;
mod names;
mod namespaces;
mod power_facts;
mod second_pass;
mod survey;
mod time;
mod tracepoint;

use std::sync::Arc;

use tracesift_archive::{ArchiveWriter, TargetLock};
use tracesift_perf::{AttrFlags, DamageLog, MergeOptions, Metadata, PerfFile, SampleFormat};
use tracesift_symbols::machine::{KERNEL, VDSO};
use tracesift_trace::HealthKind;
use tracesift_trace::code_map::CodeMap;
use tracesift_trace::methods::MethodsBuilder;
use tracesift_trace::stack_keys::StackKeysBuilder;
use tracesift_trace::stacks::Stacks;
use tracesift_trace::{Clock, Health, RowSink as _};

use crate::error::Error;
use crate::image_files::ImageFiles;
use crate::opened::OpenedRecording;
use crate::options::{Budget, Options};
use crate::progress::{Progress, WATCH_EVERY, Watch};
use crate::recorder_facts::RecorderFacts;
use crate::row_writer::RowWriter;
use crate::seal::{PassResults, Report, seal, trace_id};
use crate::vdso::Vdso;
use cpu_event::Roles;
pub(crate) use cpu_event::is_named;
use inventory::{Inventory, needs_whole_samples};
use names::BuildIds;
use namespaces::Namespace;
use second_pass::{ChainCache, EndNames, EventTable, Finished, Rows, SecondPass, StackEnds, UserStacks};
pub(crate) use survey::start_and_end;
pub use survey::{LinuxSurvey, survey_linux};
use time::TICKS_PER_SECOND;

/// What all steps of an extract look at.
#[derive(Clone, Copy)]
struct Source<'a> {
    recording: &'a OpenedRecording,
    file: &'a PerfFile,
    options: &'a Options,
}

/// Extracts a recording into the archive that `lock` holds.
pub(crate) fn extract_recording(
    recording: &OpenedRecording,
    file: &PerfFile,
    lock: TargetLock,
    options: &Options,
    watch: &mut Watch<'_>,
) -> Result<Report, Error> {
    let target = lock.target().to_owned();
    let source = Source { recording, file, options };
    let mut progress = Progress::new(&recording.name, file.bytes(), watch);
    let mut facts = RecorderFacts::beside(&recording.sources);
    let arguments = facts.take_arguments(file.metadata().clock_name());
    let inventory = source.take_inventory(Inventory::new().with_arguments(arguments), &mut progress)?;
    let roles = source.roles(&inventory)?;
    let more = [inventory.zero().to_le_bytes(), file.bytes().to_le_bytes()];
    let archive =
        ArchiveWriter::create_locked(lock, options.budget.writer(trace_id(&recording.sources, more.into_iter())))?;
    let mut writer =
        RowWriter::new(archive, options.tables.clone(), options.budget.kept_rows(), options.symbols.is_some());
    let clock = Clock::new(inventory.zero(), TICKS_PER_SECOND);
    let found = FirstPass { inventory, facts, roles, clock };
    let results = source.write_rows(found, &mut writer, &mut progress)?;
    progress.pass_done();
    seal(target, writer, results, clock, options, &mut progress)
}

/// What the first pass found.
struct FirstPass {
    inventory: Inventory,
    facts: RecorderFacts,
    roles: Roles,
    clock: Clock,
}

impl Source<'_> {
    /// The first pass.
    fn take_inventory(&self, mut inventory: Inventory, progress: &mut Progress<'_, '_>) -> Result<Inventory, Error> {
        let merged = self.file.merged(merge_options(&self.options.budget));
        let mut ahead = merged.skip_known_threads(needs_whole_samples).ahead();
        let mut position = 0;
        while ahead.advance() {
            if let Some(metadata) = ahead.metadata() {
                inventory.learn(metadata);
            }
            let Some(record) = ahead.current() else { break };
            inventory.record(&record);
            // Batches come after so many bytes of the recording, however few of its records are handed out.
            if ahead.position() != position {
                position = ahead.position();
                progress.at("reading", position)?;
            }
        }
        inventory.arguments_until(i64::MAX);
        let merged = ahead.finish();
        inventory.metadata = Some(merged.metadata().clone());
        inventory.left_out(merged.left_out());
        inventory.count_unrecorded_cpus(merged.metadata());
        inventory.forget_the_living();
        progress.pass_done();
        Ok(inventory)
    }

    /// Which event is CPU time: the one that was asked for, else the best.
    fn roles(&self, inventory: &Inventory) -> Result<Roles, Error> {
        let metadata = inventory.metadata.as_ref().unwrap_or_else(|| self.file.metadata());
        let Some(wanted) = &self.options.cpu_event else { return Ok(Roles::of(metadata, &inventory.samples)) };
        Roles::with_cpu_event(metadata, wanted).ok_or_else(|| Error::NoSuchEvent {
            name: self.recording.name.clone(),
            event: wanted.clone(),
            known: (0..metadata.events.len()).map(|index| metadata.event_name(index)).collect(),
        })
    }

    /// The second pass, and the tables that are known at its end.
    fn write_rows(
        &self,
        found: FirstPass,
        writer: &mut RowWriter,
        progress: &mut Progress<'_, '_>,
    ) -> Result<PassResults, Error> {
        let Self { recording, file, options } = *self;
        let FirstPass { inventory, mut facts, roles, clock } = found;
        let metadata = inventory.metadata.clone().unwrap_or_else(|| file.metadata().clone());
        let mut info = describe::describe(recording, &metadata, &inventory, &roles);
        let selection = options.kept_events();
        info.events = selection.name().to_owned();
        let (marks, memory) = (facts.take_marks(&info.clock), facts.take_memory(&info.clock));
        let energy = facts.take_energy(&info.clock);
        let processes = facts.take_process_memory(&info.clock);
        let looks = facts.take_descriptors(&info.clock);
        let (records, of_tasks, start) = (inventory.records, inventory.of_tasks, inventory.start());
        let kernel = BuildIds::of(&metadata.features.build_ids).of_path(KERNEL);
        let kernel = kernel.or_else(|| inventory.mappings.build_id_of(KERNEL));
        let vdso = Vdso::of_recording(&mut facts, metadata.features.os_release.as_deref(), kernel.as_deref());
        facts.describe(&mut info);
        let mut rows = self.freeze(inventory, &metadata, vdso, clock, writer);
        power_facts::rows(&info).iter().for_each(|row| rows.sink.power_setting(row));
        let limits = cpu_limits::of(&info);
        tell_limits_of_samples(&mut rows.health, &roles, &metadata);
        let events = EventTable::new(metadata.clone(), &selection);
        let watch = || progress.at("extracting", 0);
        let ids = Namespace::of(file, &metadata, merge_options(&options.budget), watch)?;
        let watch = || progress.at("extracting", 0);
        let names = EndNames::of(file, &metadata, merge_options(&options.budget), &looks.end, watch)?;
        let pass = SecondPass::new(rows, &metadata, roles, (start, of_tasks), events);
        let pass = pass.with_marks(marks).with_memory(memory, processes).with_energy(energy);
        let mut pass = pass.with_descriptors(looks, names).with_limits(&limits).with_ids(ids);
        let mut ahead = file.merged(merge_options(&options.budget)).ahead();
        let mut count = 0_u64;
        while ahead.advance() {
            if let Some(soon) = &ahead.soon() {
                pass.ask_for(soon);
            }
            let Some(record) = &ahead.current() else { break };
            pass.record(record);
            count += 1;
            if count.is_multiple_of(WATCH_EVERY) {
                progress.at("extracting", ahead.position())?;
                if pass.sink().has_failed() {
                    break;
                }
            }
        }
        let Finished { rows, has_switches, has_ready, disks, syscall_names, files, counters, branches } =
            pass.finish(info.end_ns);
        info.disks = disks;
        let (counters, sources) = counters.finish(&info.sample_sources);
        info.counters = counters;
        info.sample_sources.extend(sources);
        info.has_switches = has_switches;
        info.has_ready = has_ready;
        let Rows { population, stacks, stack_ends, mut health, chains, user_stacks, .. } = rows;
        drop((chains, user_stacks));
        let modules = stacks.into_modules();
        let label = recording.labels.first().map_or("", String::as_str);
        for log in [file.damage(), ahead.finish().damage()] {
            count_damage(&mut health, log, label);
        }
        writer.archive.write_table(&stack_ends.finish());
        writer.archive.write_table(&branches.finish());
        writer.archive.write_table(&syscall_names);
        writer.archive.write_table(&files);
        let topology = metadata.features.topology.as_ref();
        let packages = topology.into_iter().flat_map(|topology| topology.cpus.iter().map(|(_, package)| *package));
        writer.archive.write_table(&cpus::rows(&metadata.features.core_types, packages, &limits));
        writer.write_identities(modules, &population);
        Ok(PassResults { info, health, records })
    }

    /// Settles what the first pass found: the state that the second one makes rows from.
    fn freeze<'w>(
        &self,
        inventory: Inventory,
        metadata: &Metadata,
        vdso: Option<Vdso>,
        clock: Clock,
        writer: &'w mut RowWriter,
    ) -> Rows<'w, RowWriter> {
        let Inventory { lifetimes, mappings, mut health, losses, .. } = inventory;
        let lost = losses.total(metadata);
        health.add(HealthKind::EVENTS_LOST, i64::try_from(lost).unwrap_or(i64::MAX), None, || {
            "the recorder says so".to_owned()
        });
        let mut population = lifetimes.freeze(clock, 0);
        let pointer_size = metadata.features.pointer_size().unwrap_or(8);
        let kernel_from = if pointer_size == 4 { mappings.kernel_start().unwrap_or(0xc000_0000) } else { 1 << 63 };
        let build_ids = BuildIds::of(&metadata.features.build_ids);
        let of_vdso = |path: &str| vdso.as_ref().filter(|_| path == VDSO).map(Vdso::build_id);
        let build_id = |path: &str| build_ids.of_path(path).or_else(|| of_vdso(path));
        let modules = writer.archive.write_each(|visit| mappings.freeze(clock, &mut population, build_id, visit));
        let methods = MethodsBuilder::new().freeze(&mut population, &modules);
        let code = Arc::new(CodeMap { modules, methods, kernel_from });
        let budget = &self.options.budget;
        let keys = StackKeysBuilder::new(budget.temporary.clone()).seal();
        let files = ImageFiles::new(self.options.sysroot.clone()).with_vdso(vdso);
        Rows {
            clock,
            now: clock.zero,
            population,
            // Chains are looked up whole: half of it is not used.
            stacks: Stacks::new(Arc::new(keys), code, budget.memory / 2),
            chains: ChainCache::new(budget.memory / 16),
            user_stacks: UserStacks::new(metadata, files, budget.memory / 8),
            stack_ends: StackEnds::default(),
            health,
            sink: writer,
        }
    }
}

/// Tells of what samples of CPU time lack for the whole recording.
fn tell_limits_of_samples(health: &mut Health, roles: &Roles, metadata: &Metadata) {
    let event = roles.cpu_event();
    let attr = event.and_then(|event| metadata.events.get(event)).map(|event| &event.attr);
    health.add(HealthKind::NO_CPU_EVENT, event.is_none().into(), None, || {
        "no event is a clock, or cycles recorded with a frequency: there is no CPU time".to_owned()
    });
    let has_no_kernel = attr.is_some_and(|attr| attr.flags.contains(AttrFlags::EXCLUDE_KERNEL));
    health.add(HealthKind::ONLY_USER_MODE, has_no_kernel.into(), None, || {
        "CPU time was sampled in user mode only: time in the kernel is in no figure".to_owned()
    });
    let has_no_time = attr.is_some_and(|attr| !attr.sample_format.contains(SampleFormat::TIME));
    health.add(HealthKind::SAMPLES_WITHOUT_TIME, has_no_time.into(), None, || {
        "samples of CPU time have no time: only sums over the whole recording hold".to_owned()
    });
}

fn count_damage(health: &mut Health, log: &DamageLog, label: &str) {
    for damage in log.kinds() {
        let first = damage.examples.first();
        let place = first.map_or_else(String::new, |damage| format!("at byte {}: {}", damage.offset, damage.detail));
        let count = i64::try_from(damage.count).unwrap_or(i64::MAX);
        health.add(HealthKind::of_damage(damage.kind), count, None, || format!("{label}: {place}"));
    }
}

fn merge_options(budget: &Budget) -> MergeOptions {
    MergeOptions { memory_limit: budget.memory / 4 }
}
