//! Names of code without a file that has an identity: the kernel and its modules, the code that the
//! kernel maps into every process, and programs that were linked without a build id.

use std::path::Path;

use tracesift_symbols::machine::{KERNEL, VDSO, host_name, kernel_module_name};
use tracesift_symbols::search::Image;
use tracesift_symbols::{Error, Table};

use super::Finder;
use crate::recorder_facts::RecorderFacts;
use crate::symbols::source::{ModuleNames, Recorded, Wanted};
use crate::vdso::Vdso;

impl Finder {
    /// The names of a module that the search did not find; `None` if it is none of these.
    pub(super) fn of_linux(
        &self,
        recorded: &Recorded<'_>,
        wanted: &Wanted<'_>,
        image: &Image,
    ) -> Option<Result<ModuleNames, String>> {
        let path = wanted.module.path.as_str();
        let at_start = |table| ModuleNames { table, base: 0 };
        let found = match (&image.build_id, kernel_module_name(path).filter(|_| wanted.kernel_base.is_some())) {
            (Some(id), _) if path == KERNEL => {
                self.machine.kernel(id).map(|placed| ModuleNames { table: placed.table, base: placed.base })
            }
            (Some(id), Some(module)) => {
                let placed = self.machine.kernel_module(&module, id);
                placed.map(|placed| ModuleNames { table: placed.table, base: placed.base })
            }
            (Some(id), _) if path == VDSO => {
                let kept = RecorderFacts::beside_file(recorded.path).take_vdso().and_then(Vdso::new);
                let kept = kept.and_then(|vdso| vdso.names(id).ok());
                kept.map_or_else(|| self.machine.vdso(id), Ok).map(at_start)
            }
            (None, _) if path.starts_with('/') && wanted.kernel_base.is_none() => {
                self.unidentified(recorded, path)?.map(at_start)
            }
            _ => return None,
        };
        Some(found.map_err(|error| error.to_string()))
    }

    /// The names of a file that nothing but its path is known of: below a root that the user vouches for, or on the recorded machine itself while it
    /// is as it was. `None` where no such file is known.
    fn unidentified(&self, recorded: &Recorded<'_>, path: &str) -> Option<Result<Table, Error>> {
        let mut last = None;
        for root in &self.options.roots {
            let since = if root.as_path() == Path::new("/") {
                let Some(began) = recorded.began.filter(|_| is_here(recorded)) else { continue };
                Some(began)
            } else {
                None
            };
            match self.symbols.of_path(root, path, since) {
                Ok(table) => return Some(Ok(table)),
                Err(Error::Io(error)) if error.kind() == std::io::ErrorKind::NotFound => {}
                Err(error) => last = Some(error),
            }
        }
        last.map(Err)
    }
}

/// Whether this is the recorded machine.
pub(super) fn is_here(recorded: &Recorded<'_>) -> bool {
    recorded.machine.is_some_and(|machine| host_name().is_some_and(|name| name == machine))
}

/// Where offset 0 of a module lies in the table that was found for it: at 0, but of the kernel at the begin of its code.
pub(super) fn base_of(wanted: &Wanted<'_>, table: &Table) -> u64 {
    if wanted.module.path == KERNEL { table.code_ranges().next().map_or(0, |(start, _)| start) } else { 0 }
}
