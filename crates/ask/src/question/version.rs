//! `dump version`: which modules were loaded, in which version.

use std::cmp::Ordering;

use rustc_hash::{FxHashMap, FxHashSet};
use tracesift_extract::input::Patterns;
use tracesift_trace::rows::{ModuleRow, ProcessModuleRow, ProcessRow};
use tracesift_trace::{ModuleId, ProcessId};

use crate::answer::{ColumnOf, Fact, Kind, Section, values};
use crate::file::File;
use crate::filter::ProcessFilter;
use crate::order::Top;
use crate::time_range::TimeRange;
use crate::tree::Tree;

/// Order of the rows, ascending.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
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
    /// A row per process and module in place of a row per module.
    pub per_process: bool,
    /// Order of the rows.
    pub sort: Sort,
    /// How many rows per file.
    pub top: Top,
}

/// One module of the answer.
#[derive(Clone, Debug, PartialEq)]
pub struct Row {
    /// Path of the file.
    pub file: String,
    /// Name and pid of the process, in rows per process.
    pub process: Option<(String, i64)>,
    /// Number of processes that loaded it.
    pub processes: usize,
    /// The module.
    pub module: ModuleRow,
    /// Losses of the file.
    pub warnings: Vec<String>,
}

/// The columns, in the order of every format.
pub const COLUMNS: &[ColumnOf<Row>] = &[
    ColumnOf::machine("file", "File", Kind::Text, |r| (&r.file).into(), "Path of the archive or recording."),
    ColumnOf::machine(
        "process",
        "Process name",
        Kind::Text,
        |r| r.process.as_ref().map(|(name, _)| name).into(),
        "Process that loaded the module; empty in rows per file.",
    ),
    ColumnOf::machine(
        "pid",
        "Pid",
        Kind::Id,
        |r| r.process.as_ref().map(|(_, pid)| *pid).into(),
        "Its process id; empty in rows per file.",
    ),
    ColumnOf::people(
        "process_label",
        "Process",
        Kind::Text,
        |r| r.process.as_ref().map(|(name, pid)| format!("{name}({pid})")).into(),
        "Name and pid, in rows per process.",
    ),
    ColumnOf::always("module", "Module", Kind::Text, |r| (&r.module.name).into(), "File name of the image."),
    ColumnOf::always(
        "processes",
        "Processes",
        Kind::Count,
        |r| r.processes.into(),
        "Number of processes that loaded it.",
    ),
    ColumnOf::always(
        "file_version",
        "File version",
        Kind::Text,
        |r| r.module.file_version.clone().into(),
        "File version text of the version resource.",
    ),
    ColumnOf::details(
        "binary_file_version",
        "Binary version",
        Kind::Text,
        |r| r.module.binary_file_version.clone().into(),
        "File version as four numbers.",
    ),
    ColumnOf::always(
        "product_version",
        "Product version",
        Kind::Text,
        |r| r.module.product_version.clone().into(),
        "Product version text.",
    ),
    ColumnOf::always("product", "Product", Kind::Text, |r| r.module.product_name.clone().into(), "Product name."),
    ColumnOf::details("company", "Company", Kind::Text, |r| r.module.company.clone().into(), "Company name."),
    ColumnOf::details(
        "description",
        "Description",
        Kind::Text,
        |r| r.module.description.clone().into(),
        "File description.",
    ),
    ColumnOf::machine(
        "original_file_name",
        "Original name",
        Kind::Text,
        |r| r.module.original_file_name.clone().into(),
        "Original file name of the version resource.",
    ),
    ColumnOf::details("size_bytes", "Size", Kind::Bytes, |r| r.module.size.into(), "Size of the image in memory."),
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
    ColumnOf::machine(
        "warnings",
        "Warnings",
        Kind::List,
        |r| r.warnings.as_slice().into(),
        "What makes the figures of this file less than exact.",
    ),
];

/// Answers the question for one file.
#[must_use]
pub fn answer(
    file: &File,
    processes: &[ProcessRow],
    modules: &[ModuleRow],
    loads: &[ProcessModuleRow],
    question: &Question,
) -> Section {
    let rows = rows(file, processes, modules, loads, question);
    let facts = vec![Fact::new("rows", Kind::Count, rows.len())];
    Section { facts, rows: values(COLUMNS, &rows), ..file.section() }
}

/// The rows for one file, in order.
#[must_use]
pub fn rows(
    file: &File,
    processes: &[ProcessRow],
    modules: &[ModuleRow],
    loads: &[ProcessModuleRow],
    question: &Question,
) -> Vec<Row> {
    let tree = Tree::new(processes);
    let shown: FxHashMap<ProcessId, &ProcessRow> = processes
        .iter()
        .enumerate()
        .filter(|(index, process)| {
            let parent = tree.parent(*index).and_then(|parent| processes.get(parent));
            question.filter.accepts(process, parent)
        })
        .map(|(_, process)| (process.process, process))
        .collect();
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
    let path = file.path_text();
    let mut rows = Vec::new();
    for module in modules.iter().filter(|module| passes(module, question)) {
        let Some(users) = users.get(&module.module) else { continue };
        let row = |process| Row {
            file: path.clone(),
            process,
            processes: users.len(),
            module: module.clone(),
            warnings: file.warnings.clone(),
        };
        if question.per_process {
            rows.extend(users.iter().map(|user| row(Some((user.name.clone(), user.pid)))));
        } else {
            rows.push(row(None));
        }
    }
    rows.sort_by(|a, b| compare(question.sort, a, b));
    question.top.apply(&mut rows);
    rows
}

fn passes(module: &ModuleRow, question: &Question) -> bool {
    let stem = module.name.rsplit_once('.').map_or(module.name.as_str(), |(stem, _)| stem);
    let versions = [
        Some(&module.path),
        module.file_version.as_ref(),
        module.binary_file_version.as_ref(),
        module.product_version.as_ref(),
        module.product_name.as_ref(),
        module.company.as_ref(),
        module.description.as_ref(),
    ];
    let versions: Vec<&str> = versions.into_iter().flatten().map(String::as_str).collect();
    (question.module.is_empty() || question.module.matches_any(&[&module.name, stem]))
        && (question.version.is_empty() || question.version.matches_any(&versions))
}

fn compare(sort: Sort, a: &Row, b: &Row) -> Ordering {
    let (x, y) = (&a.module, &b.module);
    let by_name = || {
        x.name
            .to_lowercase()
            .cmp(&y.name.to_lowercase())
            .then_with(|| x.path.cmp(&y.path))
            .then_with(|| x.file_version.cmp(&y.file_version))
            .then_with(|| a.process.cmp(&b.process))
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
