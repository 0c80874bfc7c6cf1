//! From the files of an extract to its archive.

use std::path::{Path, PathBuf};

use tracesift_archive::{Archive, ArchiveWriter, TargetLock, WhenBusy, WriterOptions, head_hash};
use tracesift_trace::RowSink as _;
use tracesift_trace::info::{IMPORTED, SourceFile};

use crate::error::Error;
use crate::extract::Extract;
use crate::limits::Limits;
use crate::source::{Documents, Source};

/// How to import.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// Directory for the archive; `None`: beside the extract.
    pub out: Option<PathBuf>,
    /// Import again what is up to date.
    pub overwrite: bool,
    /// What reading may cost.
    pub limits: Limits,
}

/// What became of an extract.
#[derive(Debug)]
pub enum Outcome {
    /// Its archive was written.
    Imported(Box<Report>),
    /// Its archive was there and is up to date.
    UpToDate(PathBuf),
}

/// What an import found.
#[derive(Debug)]
pub struct Report {
    /// The archive.
    pub archive: PathBuf,
    /// The rows, as far as they are kept in memory.
    pub extract: Extract,
}

/// Imports the extract at `path`: an `X.json` with the `X_Derived_*.json` beside it, or an `X.json7z`. The archive is `X.sift`.
///
/// # Errors
/// [`Error`]; then no archive was changed.
pub fn import(path: &Path, options: &Options) -> Result<Outcome, Error> {
    let source = Source::find(path, &options.limits)?;
    let directory = match &options.out {
        Some(out) => out.clone(),
        None => path.parent().map(Path::to_owned).unwrap_or_default(),
    };
    if !directory.as_os_str().is_empty() {
        std::fs::create_dir_all(&directory).map_err(|source| Error::Out { directory: directory.clone(), source })?;
    }
    let target = directory.join(format!("{}.sift", source.name));
    let lock = TargetLock::acquire(&target, WhenBusy::Wait)?;
    // What is no archive is the writer's to refuse; one that cannot be read may be replaced.
    if Archive::open(&target).is_ok_and(|archive| archive.info().kind != IMPORTED) {
        return Err(Error::ExtractIsThere { archive: target });
    }
    if !options.overwrite && Archive::is_current(&target, &source.files) {
        return Ok(Outcome::UpToDate(target));
    }
    let Documents { name, main, parts } = source.read(&options.limits)?;
    let extract = Extract::of(&name, main, parts, &options.limits)?;
    let archive = write(&extract, &source, lock)?;
    Ok(Outcome::Imported(Box::new(Report { archive, extract })))
}

fn write(extract: &Extract, source: &Source, lock: TargetLock) -> Result<PathBuf, Error> {
    let mut info = extract.info.clone();
    info.name.clone_from(&source.name);
    info.sources.clone_from(&source.files);
    let clock = extract.clock();
    let mut writer = ArchiveWriter::create_locked(
        lock,
        WriterOptions { trace: trace_id(&source.files, info.start_filetime), ..WriterOptions::default() },
    )?;
    writer.write_table(&extract.processes);
    writer.write_table(&extract.modules);
    writer.write_table(&extract.process_modules);
    writer.write_table(&extract.cpus);
    writer.write_table(extract.files());
    writer.write_table(extract.threads());
    writer.write_table(extract.frames());
    writer.write_table(extract.stacks());
    extract.marks.iter().for_each(|mark| writer.mark(mark));
    extract.write_sections(&mut writer);
    let mut sealed = writer.seal(info, &clock).wait()?;
    sealed.write_table(&extract.process_summary);
    sealed.write_table(extract.disk_sums());
    sealed.write_table(extract.allocation_sums());
    sealed.write_each(|write| extract.for_each_file_sum(write));
    sealed.write_table(extract.symbols());
    sealed.write_table(extract.branches());
    sealed.write_each(|write| extract.for_each_counter(write));
    sealed.write_each(|write| extract.for_each_method(write));
    sealed.write_each(|write| extract.for_each_tag(write));
    Ok(sealed.finish(&extract.health, &clock)?)
}

/// Id of an extract: the same for the same files, whatever their place and name.
fn trace_id(files: &[SourceFile], start: i64) -> String {
    let facts = |salt: u8| {
        let mut text = format!("{IMPORTED} {salt} {start}");
        for file in files {
            text.push_str(&format!(" {} {}", file.size, file.head_hash));
        }
        // Reading from memory cannot fail.
        head_hash(text.as_bytes()).unwrap_or_default()
    };
    format!("{}{}", facts(0), facts(1))
}
