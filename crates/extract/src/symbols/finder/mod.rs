//! Names from symbol files in folders, on servers, and on this machine.

mod jit_code;
mod linux;

use std::fmt;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use tracesift_symbols::fetch::{Observer, Options, Resolution, Symbols, beside};
use tracesift_symbols::jit_code::JitCode;
use tracesift_symbols::machine::Machine;
use tracesift_symbols::search::{Attempt, Image, SearchPath, Why};
use tracesift_symbols::{FileNames, FormatReaders, ImageId, PdbId, Table};
use tracesift_trace::modules::file_name;
use tracesift_trace::rows::ModuleRow;

use super::source::{Assembly, JitProcess, ModuleNames, NameSource, Recorded, Wanted};

/// Finds names along a search path.
pub struct Finder {
    path: SearchPath,
    options: Options,
    symbols: Symbols,
    machine: Machine,
    observer: Arc<dyn Observer + Send>,
    cancel: Arc<AtomicBool>,
}

impl Finder {
    /// Searches along a path. `observer` learns about the progress. When `cancel` becomes true,
    /// downloads end, and the search goes on with the files of this machine.
    #[must_use]
    pub fn new(
        path: SearchPath,
        options: Options,
        observer: Arc<dyn Observer + Send>,
        cancel: Arc<AtomicBool>,
    ) -> Self {
        let symbols = Symbols::new(&path, options.clone());
        Self { path, options, symbols, machine: Machine::default(), observer, cancel }
    }
}

impl Finder {
    /// The names of an image, a PDB, an ELF or a Breakpad file.
    ///
    /// # Errors
    /// The file has another format, is damaged, or has no names.
    pub fn of_file(&self, path: &Path) -> Result<FileNames, tracesift_symbols::Error> {
        self.symbols.of_file(path, &*self.observer, &self.cancel)
    }

    fn resolve(&self, recording: &Path, images: &[Image]) -> Vec<Resolution> {
        // Folders that the recorder left serve this recording only.
        let folders = beside(recording);
        let own = (!folders.is_empty()).then(|| {
            let mut options = self.options.clone();
            options.beside.extend(folders);
            Symbols::new(&self.path, options)
        });
        let symbols = own.as_ref().unwrap_or(&self.symbols);
        symbols.resolve(images, &FormatReaders, &*self.observer, &self.cancel)
    }
}

impl NameSource for Finder {
    fn names(&self, recorded: &Recorded<'_>, wanted: &[Wanted<'_>]) -> Vec<Result<ModuleNames, String>> {
        let images: Vec<Image> = wanted.iter().map(|wanted| image(wanted.module)).collect();
        let found = self.resolve(recorded.path, &images);
        wanted
            .iter()
            .zip(images)
            .zip(found)
            .map(|((wanted, image), found)| match found.table {
                Some(table) => Ok(ModuleNames { base: linux::base_of(wanted, &table), table }),
                None => self.of_linux(recorded, wanted, &image).unwrap_or_else(|| Err(why(&found.tried))),
            })
            .collect()
    }

    fn lines(&self, recorded: &Recorded<'_>, assemblies: &[Assembly]) -> Vec<Option<Table>> {
        let image = |assembly: &Assembly| Image {
            name: file_name(&assembly.path).to_owned(),
            path: Some(assembly.path.clone()).filter(|path| !path.is_empty()),
            managed_pdb: Some(assembly.pdb.clone()),
            ..Image::default()
        };
        let images: Vec<Image> = assemblies.iter().map(image).collect();
        self.resolve(recorded.path, &images).into_iter().map(|found| found.managed).collect()
    }

    fn jit_code(&self, recorded: &Recorded<'_>, processes: &[JitProcess]) -> Vec<JitCode> {
        processes.iter().map(|process| jit_code::names(process, recorded, &self.options.roots)).collect()
    }
}

impl fmt::Debug for Finder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Finder").field("path", &self.path).finish_non_exhaustive()
    }
}

/// The facts about a binary in the archive.
fn image(row: &ModuleRow) -> Image {
    let pdb = |name: &Option<String>, guid: &Option<String>, age: Option<i32>| {
        Some(PdbId { name: name.clone()?, guid: guid.as_ref()?.parse().ok()?, age: age?.cast_unsigned() })
    };
    let size = u32::try_from(row.size).ok().filter(|size| *size > 0);
    let stamp = row.time_date_stamp.and_then(|stamp| u32::try_from(stamp).ok()).filter(|stamp| *stamp > 0);
    Image {
        name: row.name.clone(),
        path: Some(row.path.clone()).filter(|path| !path.is_empty()),
        pdb: pdb(&row.pdb_name, &row.pdb_guid, row.pdb_age),
        managed_pdb: pdb(&row.managed_pdb_name, &row.managed_pdb_guid, row.managed_pdb_age),
        image: stamp.zip(size).map(|(time_date_stamp, size)| ImageId { name: row.name.clone(), time_date_stamp, size }),
        build_id: row.build_id.as_ref().and_then(|id| id.parse().ok()),
    }
}

/// The reason why nothing was found, in a few words. A useless file tells more than a missing one.
fn why(tried: &[Attempt]) -> String {
    let refused = tried.iter().find_map(|attempt| match &attempt.why {
        Why::Refused(reason) => Some(format!("{}: {reason}", attempt.place)),
        _ => None,
    });
    let place_of = |wanted: &Why| tried.iter().find(|attempt| attempt.why == *wanted).map(|attempt| &attempt.place);
    refused
        .or_else(|| place_of(&Why::Cancelled).map(|_| "the downloads were ended".to_owned()))
        .or_else(|| place_of(&Why::Unreachable).map(|place| format!("{place} cannot be reached")))
        .or_else(|| place_of(&Why::AbsentLately).map(|_| "was not found lately; --retry asks again".to_owned()))
        .unwrap_or_else(|| match tried.len() {
            0 => "nowhere to look".to_owned(),
            1 => format!("not in {}", tried[0].place),
            places => format!("not in {places} places"),
        })
}
