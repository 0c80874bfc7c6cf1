//! `symbols missing`: which modules have code without a name, and how much time hides behind it.

use std::cmp::Ordering;

use clap::{Args, ValueEnum};
use rustc_hash::{FxHashMap, FxHashSet};
use tracesift_analysis::{
    AttributedSample, AttributedSwitch, MethodAggregator, MethodId, RecordingFacts, Span, StackMethods,
};
use tracesift_archive::{Archive, Error};
use tracesift_grammar::Patterns;
use tracesift_trace::rows::{FrameRow, ModuleRow, ProcessRow, StackRow, SymbolRow, ThreadRow};
use tracesift_trace::{FrameId, ProcessId, view};

use crate::answer::{Column, ColumnOf, Fact, Kind, Section};
use crate::ask::{Ask, When, WhenOptions};
use crate::columns::Columns;
use crate::options::{Form, Plan, QuestionOptions};
use crate::order::Top;
use crate::processes::is_idle;
use crate::recording::OpenRecording;
use crate::usage_error::UsageError;
use tracesift_grammar::TimeRange;

view! {
    /// The module of a frame.
    #[derive(Clone, Copy, Debug)]
    struct ModuleOfFrame of FrameRow { frame, module }
}

view! {
    /// The frame of a symbol.
    #[derive(Clone, Copy, Debug)]
    struct NamedFrame of SymbolRow { frame }
}

/// Order of the rows, ascending.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum Sort {
    /// CPU, then wait.
    #[default]
    Cpu,
    /// Wait, then CPU.
    Wait,
    /// Number of frames without a name.
    Frames,
    /// Module name.
    Name,
}

/// What is asked.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Question {
    /// Samples and spans in this range.
    pub time: TimeRange,
    /// Module name, with or without extension.
    pub module: Patterns,
    /// Name of the symbol file.
    pub pdb: Patterns,
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
    top: Top,
    /// Only these modules, with or without extension
    #[arg(long, value_name = "PATTERNS", default_value = "", hide_default_value = true)]
    dll: Patterns,
    /// Only modules whose PDB, or other symbol file, has such a name
    #[arg(long, value_name = "PATTERNS", default_value = "", hide_default_value = true)]
    pdb: Patterns,
    /// Order of the rows; the largest stands last
    #[arg(long, value_name = "KEY", default_value = "cpu")]
    sort: Sort,
    #[command(flatten)]
    when: WhenOptions,
}

impl QuestionOptions for Options {
    const FORMS: &'static [Form] = &[Form::usual("symbols", || COLUMNS.descriptions())];
    const SHORT: &'static [&'static str] = &["dll", "top", "sort", "time", "csv"];
    const EXAMPLES: &'static [(&'static str, &'static str)] = &[
        ("tracesift symbols missing X.sift --top 10", "those that cost most"),
        ("tracesift symbols missing X.sift --dll '*clr*'", "of some modules"),
        ("tracesift symbols missing X.sift --pdb 'ntdll*'", "by the names of their PDBs"),
        ("tracesift symbols missing recordings/ --sort frames", "by the code that has no name"),
    ];

    fn when(&self) -> When {
        self.when.when()
    }

    fn plan(&self, _: &mut dyn FnMut(&str)) -> Result<Plan, UsageError> {
        Ok(Plan::from(Question {
            time: TimeRange::default(),
            module: self.dll.clone(),
            pdb: self.pdb.clone(),
            sort: self.sort,
            top: self.top,
        }))
    }
}

/// One module of the answer.
#[derive(Clone, Debug, PartialEq)]
pub struct Row {
    /// The module; `None`: code outside of any module.
    pub module: Option<ModuleRow>,
    /// Its frames without a name.
    pub frames: i64,
    /// Processes that have these addresses in their stacks.
    pub processes: i64,
    /// CPU of samples with such a frame in their stack, ns.
    pub cpu: i64,
    /// CPU of samples whose leaf is such a frame, ns.
    pub exclusive_cpu: i64,
    /// Samples with such a frame.
    pub samples: i64,
    /// Union per process of the waits below such a frame, summed over the processes, ns; `None` without switches.
    pub wait: Option<i64>,
}

/// The columns.
pub const COLUMNS: Columns<Row> = Columns(&[
    ColumnOf::always(
        "module",
        "Module",
        Kind::Text,
        |r| r.module.as_ref().map(|module| module.name.clone()).into(),
        "File name of the image; empty for code outside of any, such as that of a just-in-time compiler.",
    ),
    ColumnOf::always(
        "frames",
        "Frames",
        Kind::Count,
        |r| r.frames.into(),
        "Its code addresses in stacks that have no name.",
    ),
    ColumnOf::always(
        "cpu_ns",
        "CPU",
        Kind::Milliseconds,
        |r| r.cpu.into(),
        "Sampled CPU of the samples that have such an address in their stack.",
    ),
    ColumnOf::details(
        "exclusive_cpu_ns",
        "Exclusive CPU",
        Kind::Milliseconds,
        |r| r.exclusive_cpu.into(),
        "Sampled CPU of the samples that have such an address at the leaf of their stack.",
    ),
    ColumnOf::details(
        "samples",
        "Samples",
        Kind::Count,
        |r| r.samples.into(),
        "Samples that have such an address in their stack.",
    ),
    ColumnOf::always(
        "wait_ns",
        "Wait",
        Kind::Milliseconds,
        |r| r.wait.into(),
        "Time that threads waited with such an address in their stack: overlaps in a process counted once, summed over the processes.",
    ),
    ColumnOf::always(
        "processes",
        "Processes",
        Kind::Count,
        |r| r.processes.into(),
        "Processes that have these addresses in their stacks.",
    ),
    ColumnOf::always(
        "symbol_file",
        "Symbol file",
        Kind::Text,
        |r| r.module.as_ref().and_then(symbol_file).into(),
        "The PDB, or the image where it names none, that would have the names.",
    ),
    ColumnOf::always(
        "identity",
        "Identity",
        Kind::Text,
        |r| r.module.as_ref().and_then(identity).into(),
        "Its identity on symbol servers: GUID and age of the PDB, time stamp and size of the image, or the build id.",
    ),
    ColumnOf::details(
        "path",
        "Path",
        Kind::LongText,
        |r| r.module.as_ref().map(|module| module.path.clone()).into(),
        "Path of the image.",
    ),
]);

/// The file that has the names of a module's code.
fn symbol_file(module: &ModuleRow) -> Option<String> {
    match (&module.pdb_name, &module.build_id) {
        (Some(pdb), _) => Some(pdb.clone()),
        (None, Some(_)) => Some(format!("{}.debug", module.name)),
        (None, None) => module.time_date_stamp.map(|_| module.name.clone()),
    }
}

/// As in the paths of symbol servers.
fn identity(module: &ModuleRow) -> Option<String> {
    let pdb = module.pdb_guid.as_ref().zip(module.pdb_age);
    let image = module.time_date_stamp.filter(|_| module.size > 0);
    pdb.map(|(guid, age)| format!("{}{age:X}", guid.replace('-', "").to_uppercase()))
        .or_else(|| module.build_id.clone())
        .or_else(|| image.map(|stamp| format!("{stamp:08X}{:x}", module.size)))
}

impl Ask for Question {
    fn name(&self) -> &'static str {
        "symbols missing"
    }

    fn columns(&self) -> Vec<Column> {
        COLUMNS.descriptions()
    }

    fn within(&self, time: TimeRange, _: i64) -> Box<dyn Ask> {
        Box::new(Self { time, ..self.clone() })
    }

    fn sums_suffice(&self) -> bool {
        true
    }

    fn section(&self, recording: &OpenRecording) -> Result<Section, Error> {
        let archive = recording.archive();
        let mut rows = rows(archive, self)?;
        let frames = archive.row_count::<FrameRow>();
        let nameless = rows.iter().fold(0_i64, |sum, row| sum.saturating_add(row.frames));
        let facts = vec![
            Fact::new("modules", Kind::Count, rows.iter().filter(|row| row.module.is_some()).count()),
            Fact::new("frames without a name", Kind::Count, nameless),
            Fact::new("frames", Kind::Count, i64::try_from(frames).unwrap_or(i64::MAX)),
        ];
        self.top.apply(&mut rows);
        Ok(COLUMNS.section(&recording.file, &rows, facts))
    }
}

/// Stands for every frame that has a name.
const NAMED_CODE: MethodId = MethodId(0);
/// Stands for code without a name outside of any module; from here on come the modules.
const NO_MODULE: MethodId = MethodId(1);

/// The rows for one archive, all of them, in order. What the idle loop does hides nothing and is left out.
///
/// # Errors
/// When a table cannot be read.
pub fn rows(archive: &Archive, question: &Question) -> Result<Vec<Row>, Error> {
    let modules: Vec<ModuleRow> = archive.rows()?;
    let mut named: FxHashSet<FrameId> = FxHashSet::default();
    archive.scan(None, |row: &NamedFrame| {
        named.insert(row.frame);
    })?;

    // A module is to the aggregator what a method is to others.
    let mut source = StackMethods::new();
    let mut frames: FxHashMap<MethodId, i64> = FxHashMap::default();
    archive.scan(None, |row: &ModuleOfFrame| {
        let module = row.module.filter(|module| modules.get(module.index()).is_some());
        let method = match module.map(|module| u32::try_from(module.index())) {
            _ if named.contains(&row.frame) => NAMED_CODE,
            Some(Ok(module)) => MethodId(NO_MODULE.0.saturating_add(1).saturating_add(module)),
            _ => NO_MODULE,
        };
        source.add_frame(row.frame, &[method]);
        *frames.entry(method).or_default() += 1;
    })?;
    archive.scan(None, |row: &StackRow| source.add_stack(row))?;

    let threads: Vec<ThreadRow> = archive.rows()?;
    let recording = RecordingFacts::from(archive.info());
    let (start, end) = question.time.bounds();
    let range = Span::new(start, end);
    let mut aggregator = MethodAggregator::new(&recording, range, &threads, source);
    let time = (!question.time.is_everything()).then_some(start..end);
    archive.scan(time.clone(), |row: &AttributedSample| aggregator.sample(row))?;
    archive.scan_around_backwards(time, |row: &AttributedSwitch| aggregator.switch(row))?;

    let processes: Vec<ProcessRow> = archive.rows()?;
    let idle: FxHashSet<ProcessId> = processes.iter().filter(|row| is_idle(*row)).map(|row| row.process).collect();
    let mut rows: FxHashMap<MethodId, Row> = FxHashMap::default();
    let mut processes: FxHashMap<MethodId, FxHashSet<ProcessId>> = FxHashMap::default();
    for (&method, &frames) in frames.iter().filter(|(method, _)| **method != NAMED_CODE) {
        let module = method.0.checked_sub(NO_MODULE.0 + 1).map(|index| modules[index as usize].clone());
        let wait = recording.has_switches.then_some(0);
        let row = Row { module, frames, processes: 0, cpu: 0, exclusive_cpu: 0, samples: 0, wait };
        rows.insert(method, row);
    }
    for total in aggregator.finish().methods {
        let Some(row) = rows.get_mut(&total.method).filter(|_| !idle.contains(&total.owner)) else { continue };
        processes.entry(total.method).or_default().insert(total.owner);
        row.cpu = row.cpu.saturating_add(total.cpu);
        row.exclusive_cpu = row.exclusive_cpu.saturating_add(total.exclusive_cpu);
        row.samples = row.samples.saturating_add(total.samples);
        row.wait = row.wait.map(|wait| wait.saturating_add(total.wait.union));
    }
    for (method, processes) in processes {
        if let Some(row) = rows.get_mut(&method) {
            row.processes = i64::try_from(processes.len()).unwrap_or(i64::MAX);
        }
    }
    let mut rows: Vec<Row> = rows.into_values().filter(|row| passes(row, question)).collect();
    rows.sort_by(|a, b| compare(question.sort, a, b));
    Ok(rows)
}

fn passes(row: &Row, question: &Question) -> bool {
    let name = row.module.as_ref().map_or("", |module| module.name.as_str());
    let stem = name.rsplit_once('.').map_or(name, |(stem, _)| stem);
    let symbols = row.module.as_ref().and_then(symbol_file).unwrap_or_default();
    (question.module.is_empty() || question.module.matches_any(&[name, stem]))
        && (question.pdb.is_empty() || question.pdb.matches(&symbols))
}

fn compare(sort: Sort, a: &Row, b: &Row) -> Ordering {
    let name = |row: &Row| row.module.as_ref().map(|module| (module.name.to_lowercase(), module.module));
    let by_cpu = || a.cpu.cmp(&b.cpu).then(a.wait.cmp(&b.wait));
    let by_wait = || a.wait.cmp(&b.wait).then(a.cpu.cmp(&b.cpu));
    let order = match sort {
        Sort::Cpu => by_cpu(),
        Sort::Wait => by_wait(),
        Sort::Frames => a.frames.cmp(&b.frames),
        Sort::Name => Ordering::Equal,
    };
    order
        .then_with(|| if sort == Sort::Name { Ordering::Equal } else { a.frames.cmp(&b.frames) })
        .then_with(|| name(a).cmp(&name(b)))
}
