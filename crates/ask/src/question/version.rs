//! `dump version`: which modules were loaded, in which version.

use std::cmp::Ordering;

use clap::{Args, ValueEnum};
use rustc_hash::{FxHashMap, FxHashSet};
use tracesift_archive::Error;
use tracesift_grammar::Patterns;
use tracesift_trace::rows::{ModuleRow, ProcessModuleRow, ProcessRow};
use tracesift_trace::{ModuleId, ProcessId};

use crate::answer::{Column, ColumnOf, Fact, Kind, Section, View};
use crate::ask::{Ask, When, WhenOptions};
use crate::candidates::Candidates;
use crate::columns::Columns;
use crate::etwanalyzer::{Legacy, To, switch};
use crate::filter::ProcessFilter;
use crate::module_columns::{self as of_module, OfModule};
use crate::options::{Form, Plan, QuestionOptions};
use crate::order::Top;
use crate::process_columns::{self as of_process, OfProcess};
use crate::processes::Processes;
use crate::recording::OpenRecording;
use crate::recording_label::RecordingLabel;
use crate::usage_error::UsageError;
use tracesift_grammar::TimeRange;

/// Order of the rows, ascending.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum Sort {
    /// Module name, then path, then process.
    #[default]
    Name,
    /// Path.
    Path,
    /// File version text.
    Version,
    /// Size of the image.
    Size,
    /// Number of processes that loaded it.
    Processes,
}

/// What is asked.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Question {
    /// Modules of these processes.
    pub filter: ProcessFilter,
    /// Modules that were loaded in this range.
    pub time: TimeRange,
    /// Module name, with or without extension.
    pub module: Patterns,
    /// Path or one of the version texts.
    pub version: Patterns,
    /// Vendor or category of well-known drivers.
    pub driver: Patterns,
    /// A row per process and module in place of a row per module.
    pub per_process: bool,
    /// Order of the rows.
    pub sort: Sort,
    /// How many rows per file.
    pub top: Top,
}

/// The options.
#[derive(Args, Debug)]
#[command(next_help_heading = "Rows")]
pub struct Options {
    #[command(flatten)]
    filter: ProcessFilter,
    #[command(flatten)]
    when: WhenOptions,
    #[command(flatten)]
    top: Top,
    /// Only these modules, with or without extension
    #[arg(long, value_name = "PATTERNS", default_value = "", hide_default_value = true)]
    dll: Patterns,
    /// Only modules with such a path, version, product, company or description
    #[arg(long, value_name = "PATTERNS", default_value = "", hide_default_value = true)]
    version_filter: Patterns,
    /// Only well-known filter drivers of such a vendor or category ('*antivirus*', '*backup*'); '*': all of them
    #[arg(long, value_name = "PATTERNS", default_value = "", hide_default_value = true)]
    driver_filter: Patterns,
    /// A row per process and module in place of a row per module
    #[arg(long)]
    per_process: bool,
    /// Order of the rows; the largest stands last
    #[arg(long, value_name = "KEY", default_value = "name")]
    sort: Sort,
}

impl QuestionOptions for Options {
    const FORMS: &'static [Form] = &[Form::usual("version", || COLUMNS.descriptions())];
    const SHORT: &'static [&'static str] =
        &["process", "top", "dll", "version_filter", "driver_filter", "per_process", "sort", "csv", "details"];
    const EXAMPLES: &'static [(&'static str, &'static str)] = &[
        ("tracesift dump version X.sift --dll '*clr*'", "which version of a module"),
        ("tracesift dump version X.sift --driver-filter '*'", "virus scanners, backup, encryption"),
        ("tracesift dump version X.sift -p App --per-process", "what a process loaded"),
    ];
    const VARIANTS: &'static [&'static [&'static str]] = &[&["--per-process"], &["--driver-filter=*"]];
    const LEGACY: Option<Legacy> = Some(Legacy {
        name: "version",
        switches: &[
            switch(&["dll"], To::Value("--per-process --dll")),
            switch(&["modulefilter"], To::Value("--dll")),
            switch(&["versionfilter"], To::Value("--version-filter")),
            switch(&["missingpdb"], To::Instead("symbols missing", "--pdb")),
        ],
    });

    fn when(&self) -> When {
        self.when.when()
    }

    fn plan(&self, _: &mut dyn FnMut(&str)) -> Result<Plan, UsageError> {
        Ok(Plan::from(Question {
            filter: self.filter.clone(),
            time: TimeRange::default(),
            module: self.dll.clone(),
            version: self.version_filter.clone(),
            driver: self.driver_filter.clone(),
            per_process: self.per_process,
            sort: self.sort,
            top: self.top,
        }))
    }
}

/// One module of the answer.
#[derive(Clone, Debug, PartialEq)]
pub struct Row {
    /// The process, in rows per process.
    pub process: Option<ProcessRow>,
    /// Number of processes that loaded it.
    pub processes: usize,
    /// The module.
    pub module: ModuleRow,
}

impl OfProcess for Row {
    fn process(&self) -> Option<&ProcessRow> {
        self.process.as_ref()
    }
}

impl OfModule for Row {
    fn module(&self) -> Option<&ModuleRow> {
        Some(&self.module)
    }
}

/// The columns.
pub const COLUMNS: Columns<Row> = Columns(&[
    of_process::name().titled("Process name").meaning("Process that loaded the module; empty in rows per file."),
    of_process::pid().meaning("Its process id; empty in rows per file."),
    ColumnOf::people(
        "process_label",
        "Process",
        Kind::Text,
        |r| r.process.as_ref().map(|process| format!("{}({})", process.name, process.pid)).into(),
        "Name and pid, in rows per process.",
    ),
    of_module::name(),
    of_module::driver_vendor().shown(View::Details),
    of_module::driver_category().shown(View::Details),
    ColumnOf::always(
        "processes",
        "Processes",
        Kind::Count,
        |r| r.processes.into(),
        "Number of processes that loaded it.",
    ),
    of_module::file_version(),
    of_module::binary_file_version().shown(View::Details),
    of_module::product_version(),
    of_module::product(),
    of_module::company().shown(View::Details),
    of_module::description().shown(View::Details),
    ColumnOf::machine(
        "original_file_name",
        "Original name",
        Kind::Text,
        |r| r.module.original_file_name.clone().into(),
        "Original file name of the version resource.",
    ),
    ColumnOf::details(
        "size_bytes",
        "Size",
        Kind::Bytes,
        |r| Some(r.module.size).filter(|size| *size > 0).into(),
        "Size of the image in memory.",
    ),
    ColumnOf::machine(
        "time_date_stamp",
        "Time stamp",
        Kind::Id,
        |r| r.module.time_date_stamp.into(),
        "Time stamp of the PE header: with the size the identity of the image.",
    ),
    ColumnOf::details("pdb_name", "PDB", Kind::Text, |r| r.module.pdb_name.clone().into(), "Name of the PDB."),
    ColumnOf::details("pdb_guid", "PDB guid", Kind::Text, |r| r.module.pdb_guid.clone().into(), "GUID of the PDB."),
    ColumnOf::details("pdb_age", "PDB age", Kind::Id, |r| r.module.pdb_age.into(), "Age of the PDB."),
    ColumnOf::always(
        "path",
        "Path",
        Kind::LongText,
        |r| (&r.module.path).into(),
        "Path, with drive letter where the volume mapping is known, else as recorded.",
    ),
]);

impl Ask for Question {
    fn name(&self) -> &'static str {
        "version"
    }

    fn processes(&self) -> Option<&ProcessFilter> {
        Some(&self.filter)
    }

    fn candidates(&self, recording: &OpenRecording) -> Result<Vec<Candidates>, Error> {
        let modules: Vec<ModuleRow> = recording.archive().rows()?;
        let mut all = Vec::new();
        if !self.module.is_empty() {
            let names = modules.iter().map(|row| (row.name.clone(), 0));
            let what = ["module", "modules"];
            let passes = |name: &str| is_named(name, &self.module);
            all.push(Candidates::of("--dll", what, &self.module.to_string(), names, passes));
        }
        let mut of_rows = |option, patterns: &Patterns, passes: &dyn Fn(&ModuleRow) -> bool| {
            let passing = modules.iter().filter(|row| passes(row)).count();
            let (what, patterns) = (["module", "modules"], patterns.to_string());
            all.push(Candidates { option, what, patterns, passing, ..Candidates::default() });
        };
        if !self.version.is_empty() {
            of_rows("--version-filter", &self.version, &|row| of_module::version_matches(row, &self.version));
        }
        if !self.driver.is_empty() {
            of_rows("--driver-filter", &self.driver, &|row| of_module::driver_matches(row, &self.driver));
        }
        Ok(all)
    }

    fn sorted_by(&self) -> Option<&'static str> {
        Some(match self.sort {
            Sort::Name => "module",
            Sort::Path => "path",
            Sort::Version => "file_version",
            Sort::Size => "size_bytes",
            Sort::Processes => "processes",
        })
    }

    fn columns(&self) -> Vec<Column> {
        let mut columns = COLUMNS.descriptions();
        if !self.driver.is_empty() {
            of_module::show(&mut columns, &["driver_vendor", "driver_category"]);
        }
        columns
    }

    fn within(&self, time: TimeRange, _: i64) -> Box<dyn Ask> {
        Box::new(Self { time, ..self.clone() })
    }

    fn sums_suffice(&self) -> bool {
        true
    }

    fn section(&self, recording: &OpenRecording) -> Result<Section, Error> {
        let archive = recording.archive();
        let processes: Vec<ProcessRow> = archive.rows()?;
        let modules: Vec<ModuleRow> = archive.rows()?;
        let loads: Vec<ProcessModuleRow> = archive.rows()?;
        Ok(answer(&recording.file, &processes, &modules, &loads, self))
    }
}

/// Answers the question for one file.
#[must_use]
pub fn answer(
    file: &RecordingLabel,
    processes: &[ProcessRow],
    modules: &[ModuleRow],
    loads: &[ProcessModuleRow],
    question: &Question,
) -> Section {
    let rows = rows(processes, modules, loads, question);
    let what = if question.per_process { "loaded modules" } else { "modules" };
    COLUMNS.section(file, &rows, vec![Fact::new(what, Kind::Count, rows.len())])
}

/// The rows for one file, in order.
#[must_use]
pub fn rows(
    processes: &[ProcessRow],
    modules: &[ModuleRow],
    loads: &[ProcessModuleRow],
    question: &Question,
) -> Vec<Row> {
    let accepted = Processes::new(processes);
    let shown: FxHashMap<ProcessId, &ProcessRow> =
        accepted.accepted(&question.filter).map(|(_, process)| (process.process, process)).collect();
    // A module that is loaded, unloaded and loaded again in a process is one row.
    let mut seen: FxHashSet<(ModuleId, ProcessId)> = FxHashSet::default();
    let mut users: FxHashMap<ModuleId, Vec<&ProcessRow>> = FxHashMap::default();
    for load in loads.iter().filter(|load| question.time.overlaps(load.load, load.unload)) {
        if let Some(process) = shown.get(&load.process)
            && seen.insert((load.module, load.process))
        {
            users.entry(load.module).or_default().push(process);
        }
    }
    let mut rows = Vec::new();
    for module in modules.iter().filter(|module| passes(module, question)) {
        let Some(users) = users.get(&module.module) else { continue };
        let row = |process: Option<&ProcessRow>| Row {
            process: process.cloned(),
            processes: users.len(),
            module: module.clone(),
        };
        if question.per_process {
            rows.extend(users.iter().map(|user| row(Some(user))));
        } else {
            rows.push(row(None));
        }
    }
    rows.sort_by(|a, b| compare(question.sort, a, b));
    question.top.apply(&mut rows);
    rows
}

/// Whether a module is among those, with or without its extension.
fn is_named(module: &str, patterns: &Patterns) -> bool {
    let stem = module.rsplit_once('.').map_or(module, |(stem, _)| stem);
    patterns.matches_any(&[module, stem])
}

fn passes(module: &ModuleRow, question: &Question) -> bool {
    (question.module.is_empty() || is_named(&module.name, &question.module))
        && of_module::version_matches(module, &question.version)
        && of_module::driver_matches(module, &question.driver)
}

fn compare(sort: Sort, a: &Row, b: &Row) -> Ordering {
    let (x, y) = (&a.module, &b.module);
    let by_name = || {
        x.name
            .to_lowercase()
            .cmp(&y.name.to_lowercase())
            .then_with(|| x.path.cmp(&y.path))
            .then_with(|| x.file_version.cmp(&y.file_version))
            .then_with(|| name_and_pid(a).cmp(&name_and_pid(b)))
            .then(x.module.cmp(&y.module))
    };
    let order = match sort {
        Sort::Name => Ordering::Equal,
        Sort::Path => x.path.to_lowercase().cmp(&y.path.to_lowercase()),
        Sort::Version => x.file_version.cmp(&y.file_version),
        Sort::Size => x.size.cmp(&y.size),
        Sort::Processes => a.processes.cmp(&b.processes),
    };
    order.then_with(by_name)
}

fn name_and_pid(row: &Row) -> Option<(&str, i64)> {
    row.process.as_ref().map(|process| (process.name.as_str(), process.pid))
}
