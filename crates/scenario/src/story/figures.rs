//! The figures of the story, for tests and for whoever wants to check an answer.

use super::cast::symbols;
use super::plot::{PLOTS, Plot};
use super::scenes::{HARD_FAULTS, WRITE_BYTES, WRITES};
use crate::machine::MethodName;

/// A stack tag of the story: it matches stacks in which a function of `module` begins with `function`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tag {
    /// Name.
    pub name: &'static str,
    /// File name of the module.
    pub module: &'static str,
    /// Beginning of the function's name; empty: any function of the module.
    pub function: &'static str,
}

/// The stack tags of the story. Of those that match a stack, the match nearest the leaf wins.
pub const TAGS: [Tag; 3] = [
    Tag { name: "NTFS Checkpoint Volume", module: "Ntfs.sys", function: "NtfsCheckpointVolume" },
    Tag { name: "Windows Defender", module: "WdFilter.sys", function: "" },
    Tag { name: "Thread Sleep", module: "ntdll.dll", function: "NtDelayExecution" },
];

/// What one method must show. Milliseconds; `None` where the story does not say.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MethodFigure {
    /// Process.
    pub process: &'static str,
    /// Method as a reader without symbols names it.
    pub method: MethodName,
    /// Name of a native function, which needs symbols.
    pub symbol: Option<&'static str>,
    /// Inclusive sampled CPU, ms.
    pub cpu: usize,
    /// Wait of all its threads, ms: a plain sum, and a union where one thread waits.
    pub wait: Option<usize>,
    /// Ready time of all its threads, ms.
    pub ready: Option<usize>,
    /// From the first to the last time at which it is seen, ms.
    pub span: Option<usize>,
}

/// What one stack tag must show, ms.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TagFigure {
    /// Process.
    pub process: &'static str,
    /// Tag.
    pub tag: Tag,
    /// Sampled CPU.
    pub cpu: usize,
    /// Plain sum of the waits.
    pub wait: usize,
}

/// What one recording must show.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoryFigures {
    /// File name without `.etl`.
    pub recording: String,
    /// Name of the test.
    pub test: &'static str,
    /// Duration that the test measured, ms; in the file name, and the exit code of FileWriter.
    pub milliseconds: usize,
    /// Methods.
    pub methods: Vec<MethodFigure>,
    /// Stack tags.
    pub tags: Vec<TagFigure>,
    /// Disk writes, their bytes in all and their service time in all, ms.
    pub disk_writes: (usize, u64, usize),
    /// Hard faults.
    pub hard_faults: usize,
    /// Cycles per 100 instructions of the process that writes files.
    pub cpi: u64,
    pub(super) index: usize,
}

/// The figures of all recordings, in the order in which they were made.
#[must_use]
pub fn figures() -> Vec<StoryFigures> {
    PLOTS
        .iter()
        .enumerate()
        .map(|(index, plot)| StoryFigures {
            recording: super::file_stem(plot),
            test: plot.test,
            milliseconds: plot.milliseconds,
            methods: methods(plot),
            tags: tags(plot),
            disk_writes: (WRITES, WRITES as u64 * u64::from(WRITE_BYTES), 53),
            hard_faults: HARD_FAULTS + plot.cold_faults.len(),
            cpi: plot.cpi,
            index,
        })
        .collect()
}

fn managed(module: &str, function: &str) -> MethodName {
    MethodName { module: Some(module.to_owned()), function: function.to_owned() }
}

/// The name of a native function before symbols are loaded.
fn native(module: &str, function: &str) -> MethodName {
    let symbol = symbols().into_iter().find(|symbol| symbol.module == module && symbol.function == function);
    let rva = symbol.map_or(0, |symbol| symbol.return_rva);
    MethodName { module: Some(module.to_owned()), function: format!("{module}+0x{rva:x}") }
}

fn methods(plot: &Plot) -> Vec<MethodFigure> {
    let sum = |value: &dyn Fn(&super::plot::Writing) -> usize| plot.writers.iter().map(value).sum::<usize>();
    let core = "System.Private.CoreLib.dll";
    let wait = sum(&|writing| writing.wait.0) + plot.stall() * plot.writers.len();
    let ready = sum(&|writing| writing.ready());
    let writer = |module: &str, function: &str, cpu| MethodFigure {
        process: "FileWriter.exe",
        method: managed(module, function),
        symbol: None,
        cpu,
        wait: None,
        ready: None,
        span: None,
    };
    let handler = "System.Runtime.CompilerServices.DefaultInterpolatedStringHandler";
    let mut figures = vec![
        writer(core, "System.IO.StreamWriter.WriteLine", sum(&|writing| writing.work.write_line())),
        writer(core, "System.IO.Strategies.OSFileStreamStrategy..ctor", sum(&|writing| writing.work.open())),
        writer(core, "System.IO.StreamWriter.Dispose", sum(&|writing| writing.work.dispose())),
        writer(core, &format!("{handler}.ToStringAndClear"), sum(&|writing| writing.work.to_string)),
        writer(core, &format!("{handler}.AppendFormatted"), sum(&|writing| writing.work.append)),
        writer(
            core,
            "System.Buffers.TlsOverPerCoreLockedStacksArrayPool`1[System.Char].Rent",
            sum(&|writing| writing.work.rent),
        ),
    ];
    let work = if plot.serial() {
        "FileWriter.DataGenerator.CreateFiles"
    } else {
        "FileWriter.DataGenerator+<>c__DisplayClass9_0.<CreateFilesParallel>b__0"
    };
    figures.push(MethodFigure {
        wait: Some(wait),
        ready: Some(ready),
        // The parallel work begins and ends a little inside of what the main thread measures.
        span: Some(if plot.serial() { plot.milliseconds } else { plot.milliseconds - 8 }),
        ..writer("FileWriter.dll", work, sum(&|writing| writing.work.total()))
    });
    if !plot.serial() {
        figures.push(MethodFigure {
            wait: Some(plot.milliseconds + 1 - 7),
            ready: Some(0),
            span: Some(plot.milliseconds),
            ..writer("FileWriter.dll", "FileWriter.DataGenerator.CreateFilesParallel", 7)
        });
    }
    if !plot.cold_faults.is_empty() {
        figures.push(MethodFigure {
            process: "FileWriter.exe",
            method: native("ntoskrnl.exe", "MiIssueHardFault"),
            symbol: Some("MiIssueHardFault"),
            cpu: 0,
            wait: Some(plot.cold_faults.iter().sum()),
            ready: Some(0),
            span: None,
        });
    }
    if !plot.episodes.is_empty() {
        figures.push(MethodFigure {
            process: "System",
            method: native("Ntfs.sys", "NtfsCheckpointVolume"),
            symbol: Some("NtfsCheckpointVolume"),
            cpu: plot.episodes.iter().map(|episode| episode.cpu).sum(),
            wait: Some(plot.episodes.iter().map(|episode| episode.wait).sum()),
            ready: Some(0),
            span: None,
        });
    }
    figures
}

fn tags(plot: &Plot) -> Vec<TagFigure> {
    let [checkpoint, defender, sleep] = TAGS;
    let mut figures = vec![
        TagFigure { process: "FileWriter.exe", tag: sleep, cpu: 0, wait: 750 },
        TagFigure {
            process: "FileWriter.exe",
            tag: defender,
            cpu: plot.writers.iter().map(|writing| writing.work.scanned()).sum(),
            wait: if plot.scanned { plot.writers.iter().map(|writing| writing.wait.0).sum() } else { 0 },
        },
    ];
    if !plot.episodes.is_empty() {
        figures.push(TagFigure {
            process: "System",
            tag: checkpoint,
            cpu: plot.episodes.iter().map(|episode| episode.cpu - episode.elsewhere).sum(),
            wait: plot.episodes.iter().map(|episode| episode.wait).sum(),
        });
    }
    figures
}
