//! The demo: the story of the post "PDD Profiler Driven Development" as recordings.
//!
//! FileWriter writes 5000 files, serial and parallel: while a virus scanner checks every file, while the file system makes
//! checkpoints that stop everybody, and undisturbed. Every figure is known; [`figures`] lists those that the post states and
//! those that must add up with them.

mod cast;
mod counters;
mod figures;
mod others;
mod plot;
mod scenes;
mod stage;
mod symbol_files;

use std::path::{Path, PathBuf};

use tracesift_etl::write::WriteError;

use crate::rng::SplitMix64;
use crate::{KeyStyle, Recording, Scenario, StackStyle};
use cast::Cast;
use plot::{PLOTS, Plot};

pub use cast::{Symbol, symbols};
pub use figures::{MethodFigure, StoryFigures, TAGS, Tag, TagFigure, figures};
pub use symbol_files::{SymbolFile, symbol_files};

/// 2022-04-04 08:15:00 UTC, 10:15 on the recorder's clock.
const FIRST_FILETIME: i64 = 132_935_337_000_000_000;
const MINUTE: i64 = 600_000_000;

/// A recording that [`demo`] wrote.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DemoRecording {
    /// File.
    pub path: PathBuf,
    /// What it must show.
    pub figures: StoryFigures,
}

/// Why the demo could not be written.
#[derive(Debug, thiserror::Error)]
pub enum DemoError {
    /// A file or the folder could not be written.
    #[error("cannot write {path}: {source}", path = path.display())]
    File {
        /// File or folder.
        path: PathBuf,
        /// Reason.
        source: std::io::Error,
    },
    /// A recording could not be encoded.
    #[error(transparent)]
    Recording(#[from] WriteError),
}

/// Writes the recordings of the story into `folder`, which is created when it is missing, and smaller recordings into
/// directories in it.
///
/// # Errors
/// A folder or file that cannot be written.
pub fn demo(folder: &Path) -> Result<Vec<DemoRecording>, DemoError> {
    let failed = |path: &Path| {
        let path = path.to_owned();
        |source| DemoError::File { path, source }
    };
    std::fs::create_dir_all(folder).map_err(failed(folder))?;
    let mut written = Vec::new();
    for figures in figures() {
        let path = folder.join(format!("{}.etl", figures.recording));
        let bytes = scenario(&figures).bytes()?;
        std::fs::write(&path, bytes).map_err(failed(&path))?;
        written.push(DemoRecording { path, figures });
    }
    for other in others::OTHERS {
        let path = folder.join(other.path);
        let bytes = (other.bytes)()?;
        let created = std::fs::create_dir_all(path.parent().unwrap_or(folder));
        created.and_then(|()| std::fs::write(&path, bytes)).map_err(failed(&path))?;
    }
    Ok(written)
}

/// Writes the symbol files of the story's images into `folder`, as a symbol store.
///
/// # Errors
/// A folder or file that cannot be written.
pub fn write_symbol_files(folder: &Path) -> Result<usize, DemoError> {
    let files = symbol_files();
    for file in &files {
        let path = folder.join(&file.path);
        let written =
            std::fs::create_dir_all(path.parent().unwrap_or(folder)).and_then(|()| std::fs::write(&path, &file.text));
        written.map_err(|source| DemoError::File { path, source })?;
    }
    Ok(files.len())
}

/// The scenario behind a recording of the story.
#[must_use]
pub fn scenario(figures: &StoryFigures) -> Scenario {
    let plot = &PLOTS[figures.index];
    let strategy = if plot.serial() { "serial" } else { "parallel -threads 4" };
    let mut cast = Cast::new(&format!(r"FileWriter.exe -generate C:\temp\Test {strategy}"));
    cast.machine.start_filetime = FIRST_FILETIME + plot.minute * MINUTE;
    let mut rng = SplitMix64::new(2022 + figures.index as u64);
    let scene = scenes::scene(plot, &mut cast, &mut rng);
    let slots = scene.stage.slots;
    let mut records = scene.stage.play(&mut cast, &mut rng);
    records.extend(scene.records);
    let mut machine = cast.machine;
    for record in &records {
        match record.event {
            crate::Event::ProcessStart { process, .. } => machine.processes[process].start = Some(record.ticks),
            crate::Event::ProcessEnd { process, .. } => {
                machine.processes[process].end = Some(record.ticks);
                // The exit code of FileWriter is the duration that it measured.
                machine.processes[process].exit_code = plot.milliseconds as i32;
            }
            crate::Event::ThreadStart { thread, .. } => machine.threads[thread].start = Some(record.ticks),
            crate::Event::ThreadEnd { thread } => machine.threads[thread].end = Some(record.ticks),
            _ => {}
        }
    }
    let mut recording = Recording::new(machine.zero_ticks + slots as i64 * stage::SLOT);
    recording.stacks = StackStyle::Keys(KeyStyle { create: false, capacity: None, rundown: true });
    recording.compress = true;
    recording.counter_names = counters::NAMES.map(str::to_owned).into();
    recording.rundown_after_end = true;
    recording.files = scenes::files();
    Scenario { machine, records, recording }
}

fn file_stem(plot: &Plot) -> String {
    let minutes = 15 + plot.minute;
    format!("{}_{}ms_TRACESIFT_CLT_TestStatus-Passed_20220404-10{minutes:02}00", plot.test, plot.milliseconds)
}
