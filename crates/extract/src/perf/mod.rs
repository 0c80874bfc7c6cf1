//! From a Linux recording to its archive, in two passes as with a Windows one: who lived and what was mapped where is known
//! late, also here (a process' name when it starts its program, losses and identities of files at the end).

mod call_chain;
mod chain_cache;
mod container;
mod counters;
mod cpu_event;
mod cpus;
mod describe;
mod disk;
pub mod events;
mod inventory;
mod names;
mod namespaces;
mod page_faults;
mod pass;
mod power;
mod programs;
mod rows;
mod samples;
mod scheduler;
mod stack_ends;
mod survey;
mod syscalls;
mod task_state;
mod tracepoint;
mod user_stacks;

use tracesift_archive::{ArchiveWriter, TargetLock};
use tracesift_perf::{DamageLog, MergeOptions, PerfFile};
use tracesift_symbols::machine::{KERNEL, VDSO};
use tracesift_trace::HealthKind;
use tracesift_trace::methods::MethodsBuilder;
use tracesift_trace::stack_keys::StackKeysBuilder;
use tracesift_trace::stacks::Stacks;
use tracesift_trace::{Clock, Health};

use crate::error::Error;
use crate::image_files::ImageFiles;
use crate::large_blocks::give_back_free_memory;
use crate::opened::OpenedRecording;
use crate::pipeline::{Budget, Outcome, Report, seal, trace_id};
use crate::progress::{Progress, WATCH_EVERY, Watch};
use crate::recorder_facts::RecorderFacts;
use crate::row_writer::RowWriter;
use crate::target::Options;
use crate::vdso::Vdso;
use chain_cache::ChainCache;
use cpu_event::Roles;
pub(crate) use cpu_event::is_named;
use events::EventRows;
use inventory::Inventory;
use namespaces::Namespace;
use pass::{Finished, Pass};
use programs::needs_whole_samples;
use rows::Rows;
use stack_ends::StackEnds;
pub(crate) use survey::calendar_of_linux;
pub use survey::{LinuxSurvey, survey_linux};
use user_stacks::UserStacks;

/// perf's times are nanoseconds.
const TICKS_PER_SECOND: i64 = 1_000_000_000;

/// Extracts a recording into the archive that `lock` holds.
pub(crate) fn extract_recording(
    recording: &OpenedRecording,
    file: &PerfFile,
    lock: TargetLock,
    options: &Options,
    watch: &mut Watch<'_>,
) -> Result<Report, Error> {
    let target = lock.target().to_owned();
    let (budget, symbols) = (&options.budget, options.symbols.as_deref());
    let mut progress = Progress::new(&recording.name, file.bytes(), watch);
    let mut facts = RecorderFacts::beside(&recording.sources);
    let arguments = facts.take_arguments(file.metadata().clock_name());
    let inventory = take_inventory(file, Inventory::new().with_arguments(arguments), budget, &mut progress)?;
    let roles = roles(recording, file, &inventory, options.cpu_event.as_deref())?;
    let more = [inventory.zero().to_le_bytes(), file.bytes().to_le_bytes()];
    let archive = ArchiveWriter::create_locked(lock, trace_id(&recording.sources, more.into_iter()))?;
    let mut writer = RowWriter::new(archive, options.tables.clone(), budget.kept_rows(), symbols.is_some());
    let clock = Clock::new(inventory.zero(), TICKS_PER_SECOND);
    let outcome = write_rows(recording, file, inventory, facts, roles, clock, options, &mut writer, &mut progress)?;
    progress.pass_done();
    seal(target, writer, outcome, clock, symbols, budget, &mut progress)
}

fn take_inventory(
    file: &PerfFile,
    mut inventory: Inventory,
    budget: &Budget,
    progress: &mut Progress<'_, '_>,
) -> Result<Inventory, Error> {
    let mut ahead = file.merged(merge_options(budget)).outline(needs_whole_samples).ahead();
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
    inventory.forget_the_living();
    progress.pass_done();
    Ok(inventory)
}

/// Which event is CPU time: the one that was asked for, else the best.
fn roles(
    recording: &OpenedRecording,
    file: &PerfFile,
    inventory: &Inventory,
    cpu_event: Option<&str>,
) -> Result<Roles, Error> {
    let metadata = inventory.metadata.as_ref().unwrap_or_else(|| file.metadata());
    let Some(wanted) = cpu_event else { return Ok(Roles::of(metadata, &inventory.samples)) };
    Roles::with_cpu_event(metadata, wanted).ok_or_else(|| Error::NoSuchEvent {
        name: recording.name.clone(),
        event: wanted.to_owned(),
        known: (0..metadata.events.len()).map(|index| metadata.event_name(index)).collect(),
    })
}

fn count_damage(health: &mut Health, log: &DamageLog, label: &str) {
    for damage in log.kinds() {
        let first = damage.examples.first();
        let place = first.map_or_else(String::new, |damage| format!("at byte {}: {}", damage.offset, damage.detail));
        let count = i64::try_from(damage.count).unwrap_or(i64::MAX);
        health.add(HealthKind::of_damage(damage.kind), count, None, || format!("{label}: {place}"));
    }
}

#[expect(clippy::too_many_arguments, reason = "the parts of one extract, named alike at the only caller")]
fn write_rows(
    recording: &OpenedRecording,
    file: &PerfFile,
    inventory: Inventory,
    mut facts: RecorderFacts,
    roles: Roles,
    clock: Clock,
    options: &Options,
    writer: &mut RowWriter,
    progress: &mut Progress<'_, '_>,
) -> Result<Outcome, Error> {
    let metadata = inventory.metadata.clone().unwrap_or_else(|| file.metadata().clone());
    let mut info = describe::describe(recording, &metadata, &inventory, &roles);
    let selection = options.kept_events();
    info.events = selection.name().to_owned();
    let marks = facts.take_marks(&info.clock);
    let build_ids = names::BuildIds::of(&metadata.features.build_ids);
    let kernel = build_ids.of_path(KERNEL).or_else(|| inventory.mappings.build_id_of(KERNEL));
    let vdso = Vdso::of_recording(&mut facts, metadata.features.os_release.as_deref(), kernel.as_deref());
    facts.describe(&mut info);

    let Inventory { lifetimes, mappings, mut health, losses, of_tasks, records, .. } = inventory;
    let lost = losses.total(&metadata);
    health.add(HealthKind::EVENTS_LOST, i64::try_from(lost).unwrap_or(i64::MAX), None, || {
        "the recorder says so".to_owned()
    });
    health.add(HealthKind::NO_CPU_EVENT, roles.cpu_event().is_none().into(), None, || {
        "no event is a clock, or cycles recorded with a frequency: there is no CPU time".to_owned()
    });
    let mut population = lifetimes.freeze(clock, 0);
    let kernel_from = if info.pointer_size == 4 { mappings.kernel_start().unwrap_or(0xc000_0000) } else { 1 << 63 };
    let of_vdso = |path: &str| vdso.as_ref().filter(|_| path == VDSO).map(Vdso::build_id);
    let build_id = |path: &str| build_ids.of_path(path).or_else(|| of_vdso(path));
    let modules = writer.archive.write_each(|visit| mappings.freeze(clock, &mut population, build_id, visit));
    let methods = MethodsBuilder::new().freeze(&mut population, &modules);
    give_back_free_memory();
    let budget = &options.budget;
    let keys = StackKeysBuilder::new(budget.temporary.clone()).seal();
    let stacks = Stacks::new(keys, modules, methods, kernel_from, budget.memory / 4);
    let chains = ChainCache::new(budget.memory / 16);

    let files = ImageFiles::new(options.sysroot.clone()).with_vdso(vdso);
    let user_stacks = UserStacks::new(&metadata, files, budget.memory / 8);
    let rows = Rows {
        clock,
        now: clock.zero,
        population,
        stacks,
        chains,
        user_stacks,
        stack_ends: StackEnds::default(),
        health,
        sink: writer,
    };
    let cpus = cpus::rows(&metadata.features.core_types);
    let events = EventRows::new(metadata.clone(), &selection);
    let namespace = Namespace::of(file, &metadata, merge_options(budget), || progress.at("extracting", 0))?;
    let mut pass = Pass::new(rows, &metadata, roles, of_tasks, events).with_marks(marks).in_namespace(namespace);
    let mut ahead = file.merged(merge_options(budget)).ahead();
    let mut count = 0_u64;
    while let Some(record) = &ahead.next() {
        pass.record(record);
        count += 1;
        if count.is_multiple_of(WATCH_EVERY) {
            progress.at("extracting", ahead.position())?;
            if pass.sink().has_failed() {
                break;
            }
        }
    }
    let Finished { rows, has_switches, has_ready, disks, syscall_names, counters } = pass.finish(info.end_ns);
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
    writer.archive.write_table(&syscall_names);
    writer.archive.write_table(&cpus);
    writer.write_identities(modules, &population);
    drop(population);
    give_back_free_memory();
    Ok(Outcome { info, health, records })
}

fn merge_options(budget: &Budget) -> MergeOptions {
    MergeOptions { memory_limit: budget.memory / 4 }
}
