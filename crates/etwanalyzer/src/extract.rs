//! Makes rows of an archive from the documents of an extract. It opens and writes no file.

use tracesift_trace::HealthKind;
use tracesift_trace::info::TraceInfo;
use tracesift_trace::rows::{
    AllocationSummaryRow, BranchRow, CounterSummaryRow, CpuRow, DiskSummaryRow, FileRow, FileSummaryRow, FrameRow,
    MarkRow, MethodSummaryRow, ModuleRow, ProcessModuleRow, ProcessRow, ProcessSummaryRow, StackRow, SymbolRow,
    TagSummaryRow, ThreadRow,
};
use tracesift_trace::{Clock, Health, ProcessId, RowSink};

use crate::caveats::{caveats, not_imported};
use crate::document::{Cost, Cpu, CpuTopology, Document, Methods, Moment, Number, Parts, ProcessMethods};
use crate::error::Error;
use crate::identity::Identities;
use crate::limits::{Limits, METHODS, TextBudget};
use crate::machine::describe;
use crate::methods::{self, MethodName};
use crate::modules::ModuleRows;
use crate::processes::{self, CpuSums, ms};
use crate::sections::Sections;
use crate::tags::{self, TagRow, TagSource};

/// Ticks per second of the times in an extract.
const FREQUENCY: i64 = 10_000_000;

/// An extract as rows.
#[derive(Debug)]
pub struct Extract {
    /// What was recorded, and what limits the figures; without name, sources and tables.
    pub info: TraceInfo,
    /// Table `processes`: those of the document in its order, then those that only other parts name.
    pub processes: Vec<ProcessRow>,
    /// Table `process_summary`: a row per process of which the extract has figures.
    pub process_summary: Vec<ProcessSummaryRow>,
    /// Table `modules`.
    pub modules: Vec<ModuleRow>,
    /// Table `process_modules`.
    pub process_modules: Vec<ProcessModuleRow>,
    /// Table `cpus`.
    pub cpus: Vec<CpuRow>,
    /// Table `marks`.
    pub marks: Vec<MarkRow>,
    /// Figures per stack tag.
    pub tags: Vec<TagRow>,
    /// What could not be used.
    pub health: Health,
    methods: MethodRows,
    sections: Sections,
}

/// Table `method_summary` in the form that the document has it: made into rows one by one, since those repeat the names.
#[derive(Debug, Default)]
struct MethodRows {
    names: Vec<String>,
    of_processes: Vec<(ProcessId, Vec<Cost>)>,
    has_waits: bool,
    has_ready: bool,
}

impl Extract {
    /// Makes rows of the documents. `name` stands for the main one in errors.
    ///
    /// # Errors
    /// [`Error::NotAnExtract`] and [`Error::TooMuchText`].
    pub fn of(name: &str, mut document: Document, mut parts: Parts, limits: &Limits) -> Result<Self, Error> {
        let zero = document.session_start.filter(|start| start.is_known());
        let zero = zero.ok_or_else(|| Error::NotAnExtract { document: name.to_owned() })?;
        let too_much = || Error::TooMuchText { document: name.to_owned(), limit: limits.row_texts };
        let mut budget = TextBudget(limits.row_texts);
        let mut health = Health::new();
        let mut identities = Identities::new(&document.processes.0);
        let mut info = describe(&document, zero);
        let sections =
            Sections::take(&mut document, &mut parts, (zero, info.end_ns), &mut identities, &mut budget, &mut health)
                .ok_or_else(too_much)?;

        let has_waits = has_waits(&document);
        let cpu = document.cpu.as_ref();
        let mut sums = cpu.map(|cpu| CpuSums::read(cpu, &mut identities, &mut health)).unwrap_or_default();
        let tags =
            [(&document.summary_stack_tags, TagSource::Summary), (&document.special_stack_tags, TagSource::Special)]
                .into_iter()
                .filter_map(|(part, source)| Some((part.as_ref()?, source)))
                .flat_map(|(part, source)| tags::rows(part, source, zero, has_waits, &mut identities, &mut health))
                .collect();
        let part = parts.modules.as_ref().map(|part| ModuleRows::read(part, &mut identities, &mut budget, &mut health));
        let ModuleRows { modules, process_modules } =
            part.map_or(Some(ModuleRows::default()), |part| part).ok_or_else(too_much)?;
        let methods = cpu.and_then(|cpu| cpu.methods.as_ref());
        let methods = methods
            .map_or(Some(MethodRows::default()), |methods| {
                MethodRows::read(methods, has_waits, &mut identities, &mut sums, &mut budget, &mut health)
            })
            .ok_or_else(too_much)?;

        let listed = document.processes.0.iter().enumerate();
        let mut processes: Vec<ProcessRow> =
            listed.map(|(index, process)| processes::listed(ProcessId::from_index(index), process, zero)).collect();
        processes.extend(identities.unlisted().map(|(process, key)| processes::unlisted(process, key, zero)));
        processes::link_parents(&mut processes);
        info.caveats = caveats(&document, has_waits, &health);
        info.caveats.extend(not_imported(&parts));
        Ok(Self {
            process_summary: sums.finish(),
            cpus: document.cpu.as_ref().map(cpus).unwrap_or_default(),
            marks: marks(&document, zero),
            info,
            processes,
            modules,
            process_modules,
            tags,
            health,
            methods,
            sections,
        })
    }

    /// The clock of its times: 100 ns of the system time.
    #[must_use]
    pub fn clock(&self) -> Clock {
        Clock::new(self.info.start_filetime, FREQUENCY)
    }

    /// Table `files`.
    #[must_use]
    pub fn files(&self) -> &[FileRow] {
        &self.sections.files.rows
    }

    /// Table `threads`: those that sections name.
    #[must_use]
    pub fn threads(&self) -> &[ThreadRow] {
        &self.sections.threads.rows
    }

    /// Table `stacks`.
    #[must_use]
    pub fn stacks(&self) -> &[StackRow] {
        &self.sections.stacks.rows
    }

    /// Table `frames`: those of stacks and branches, of which the names alone are known.
    #[must_use]
    pub fn frames(&self) -> &[FrameRow] {
        &self.sections.code.frames
    }

    /// Table `symbols`: the names of these frames.
    #[must_use]
    pub fn symbols(&self) -> &[SymbolRow] {
        &self.sections.code.symbols
    }

    /// Table `branches`.
    #[must_use]
    pub fn branches(&self) -> &[BranchRow] {
        &self.sections.branches
    }

    /// Table `disk_summary`.
    #[must_use]
    pub fn disk_sums(&self) -> &[DiskSummaryRow] {
        &self.sections.disk.sums
    }

    /// Table `file_summary`, row by row.
    pub fn for_each_file_sum(&self, visit: impl FnMut(&FileSummaryRow)) {
        self.sections.file_sums.for_each(visit);
    }

    /// Table `allocation_summary`.
    #[must_use]
    pub fn allocation_sums(&self) -> &[AllocationSummaryRow] {
        &self.sections.allocations.sums
    }

    /// Table `counter_summary`, row by row.
    pub fn for_each_counter(&self, visit: impl FnMut(&CounterSummaryRow)) {
        self.sections.counters.for_each(visit);
    }

    /// Writes connections, DNS queries, memory, power settings, events of thread pools, exceptions, events of providers, allocations,
    /// handles and objects.
    pub fn write_sections(&self, sink: &mut impl RowSink) {
        self.sections.write(sink);
    }

    /// Table `method_summary`, row by row.
    pub fn for_each_method(&self, mut visit: impl FnMut(&MethodSummaryRow)) {
        let names = methods::names(&self.methods.names);
        let mut row = no_method();
        for (process, costs) in &self.methods.of_processes {
            row.process = *process;
            for cost in costs {
                if let Some(name) = names.get(cost.method as usize) {
                    self.methods.fill(&mut row, *name, cost);
                    visit(&row);
                }
            }
        }
    }

    /// Table `tag_summary`, row by row.
    pub fn for_each_tag(&self, mut visit: impl FnMut(&TagSummaryRow)) {
        self.tags.iter().for_each(|tag| visit(&tag.row()));
    }
}

impl MethodRows {
    /// Keeps what makes sense, in the order of the processes; `None` when the names of all rows exceed the budget.
    fn read(
        part: &Methods,
        has_waits: bool,
        identities: &mut Identities,
        sums: &mut CpuSums,
        budget: &mut TextBudget,
        health: &mut Health,
    ) -> Option<Self> {
        let mut rows = Self { names: part.method_names.0.clone(), has_waits, ..Self::default() };
        for ProcessMethods { process, costs } in &part.method_stats_per_process.0 {
            let Some(process) = identities.find(process, health) else { continue };
            if costs.unreadable > 0 {
                let count = i64::try_from(costs.unreadable).unwrap_or(i64::MAX);
                health.add(HealthKind::UNREADABLE_METHOD_ROWS, count, None, || costs.example.clone());
            }
            let mut kept = Vec::with_capacity(costs.rows.len());
            for cost in &costs.rows {
                let Some(name) = rows.names.get(cost.method as usize) else {
                    health.count(HealthKind::UNREADABLE_METHOD_ROWS, None, || {
                        format!("method {} of {}", cost.method, rows.names.len())
                    });
                    continue;
                };
                budget.spend(name)?;
                sums.method(process);
                // Without ready events all of them are 0.
                rows.has_ready |=
                    cost.ready_ms.is_some_and(|ms| ms > 0) || cost.ready_average_us.is_some_and(|us| us > 0);
                kept.push(*cost);
            }
            rows.of_processes.push((process, kept));
        }
        rows.of_processes.sort_by_key(|(process, _)| *process);
        Some(rows)
    }

    fn fill(&self, row: &mut MethodSummaryRow, name: MethodName<'_>, cost: &Cost) {
        match name.module {
            Some(module) => module.clone_into(row.module.get_or_insert_default()),
            None => row.module = None,
        }
        name.function.clone_into(&mut row.function);
        row.cpu = ms(cost.cpu_ms.into());
        row.wait = self.has_waits.then(|| ms(cost.wait_ms.into()));
        row.ready = cost.ready_ms.filter(|_| self.has_waits && self.has_ready).map(|ready| ms(ready.into()));
        row.switches = cost.switches.filter(|_| self.has_waits).map(i64::from);
        row.threads = i32::try_from(cost.threads).unwrap_or(i32::MAX);
        (row.first, row.last) = (cost.first, cost.last);
    }
}

/// Whether waits of 0 mean no wait. Old extracts do not say whether switches were recorded: there is no recording with switches in which
/// nothing ever waits for a millisecond.
fn has_waits(document: &Document) -> bool {
    let methods = document.cpu.as_ref().and_then(|cpu: &Cpu| cpu.methods.as_ref());
    let in_methods = || {
        let rows = methods
            .into_iter()
            .flat_map(|methods| &methods.method_stats_per_process.0)
            .flat_map(|rows| &rows.costs.rows);
        rows.into_iter().any(|cost| cost.wait_ms > 0)
    };
    let in_tags = || {
        let parts = [&document.summary_stack_tags, &document.special_stack_tags].into_iter().flatten();
        parts.flat_map(|part| &part.stats.0).flat_map(|stats| &stats.value.0).any(|tag| tag.wait_ms > 0)
    };
    methods.and_then(|methods| methods.has_switches).unwrap_or_else(|| in_methods() || in_tags())
}

/// In order of the CPUs; figures that cannot be are unknown.
fn cpus(cpu: &Cpu) -> Vec<CpuRow> {
    let whole =
        |number: Number, most: f64| number.0.filter(|number| (0.0..=most).contains(number) && number.fract() == 0.0);
    let row = |(number, facts): &(String, CpuTopology)| {
        Some(CpuRow {
            cpu: number.parse().ok().filter(|cpu| *cpu >= 0)?,
            core_type: None,
            efficiency_class: whole(facts.efficiency_class, i8::MAX.into()).map(|class| class as i8),
            nominal_khz: whole(facts.nominal_mhz, 1e6).filter(|mhz| *mhz > 0.0).map(|mhz| mhz as i64 * 1000),
            package: None,
            max_khz: None,
        })
    };
    let mut rows: Vec<CpuRow> = cpu.topology.0.iter().filter_map(row).collect();
    rows.sort_by_key(|row| row.cpu);
    rows.dedup_by_key(|row| row.cpu);
    rows
}

/// In order of time. Which CPU and who wrote them an extract does not say: the CPU is -1.
fn marks(document: &Document, zero: Moment) -> Vec<MarkRow> {
    let row = |mark: &crate::document::Mark| MarkRow {
        time: mark.time.ns_since(zero),
        cpu: -1,
        process: None,
        thread: None,
        text: mark.mark_message.clone().unwrap_or_default(),
    };
    let mut rows: Vec<MarkRow> = document.marks.0.iter().map(row).collect();
    rows.sort_by_key(|row| row.time);
    rows
}

/// What is not known and cannot be null in this table is 0: samples, and exclusive CPU.
fn no_method() -> MethodSummaryRow {
    MethodSummaryRow {
        process: ProcessId(0),
        module: None,
        function: String::new(),
        samples: 0,
        cpu: 0,
        exclusive_cpu: 0,
        wait: None,
        wait_sum: None,
        wait_count: None,
        wait_longest: None,
        ready: None,
        ready_sum: None,
        ready_count: None,
        ready_longest: None,
        switches: None,
        threads: 0,
        first: 0,
        last: 0,
    }
}

const _: () = assert!(METHODS <= u32::MAX as usize, "places of methods are 32-bit numbers");
