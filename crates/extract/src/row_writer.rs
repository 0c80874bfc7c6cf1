//! Receives the rows of an extract.

use tracesift_archive::ArchiveWriter;
use tracesift_trace::rows::{ModuleRow, SymbolRow};
use tracesift_trace::sink::EventsApart;
use tracesift_trace::{Population, RowSink, event_tables, rows};

use crate::kept_rows::{Identities, keep};
use crate::table_choice::{TableChoice, WantedTables};

/// Writes an archive, and keeps what its summaries are made of as long as that is little.
pub(crate) struct RowWriter {
    pub(crate) archive: ArchiveWriter,
    /// Which tables are written.
    pub(crate) tables: TableChoice,
    wanted: WantedTables,
    /// Whom the rows are about, once that is written.
    pub(crate) identities: Identities,
    /// Names that the recording gives, held back where symbol files may add to them.
    pub(crate) held: Option<Vec<SymbolRow>>,
}

impl RowWriter {
    /// `memory` bounds what is kept, in bytes. With `names_to_come` the table `symbols` is not written here.
    pub(crate) fn new(archive: ArchiveWriter, tables: TableChoice, memory: usize, names_to_come: bool) -> Self {
        let (archive, wanted) = (archive.keeping(keep(memory)), WantedTables::from(&tables));
        Self { archive, tables, wanted, identities: Identities::default(), held: names_to_come.then(Vec::new) }
    }

    /// Whether writing has failed, so that producing more rows is of no use.
    pub(crate) fn has_failed(&self) -> bool {
        self.archive.has_failed()
    }

    /// Writes the tables of those whom the rows are about.
    pub(crate) fn write_identities(&mut self, modules: Vec<ModuleRow>, population: &Population) {
        self.archive.write_table(&modules);
        self.archive.write_each(|write| population.processes().for_each(|row| write(&row)));
        self.archive.write_each(|write| population.threads().for_each(|row| write(&row)));
        if self.archive.keeps_all() {
            let (processes, threads) = (population.processes().collect(), population.threads().collect());
            self.identities = Identities { modules, processes, threads };
        }
    }
}

macro_rules! sink {
    (
        $($(#[$doc:meta])* $method:ident($row:ident) in $table:ident),+;
        $($(#[$optional_doc:meta])* $optional:ident($optional_row:ident) in $optional_table:ident),+
    ) => {
        impl RowSink for RowWriter {
            fn events_apart(&mut self) -> Option<Box<dyn EventsApart>> {
                if self.wanted.events { self.archive.events_apart() } else { None }
            }

            $(sink!(@always $method($row));)+
            $(
                #[inline]
                fn $optional(&mut self, row: &rows::$optional_row) {
                    if self.wanted.$optional_table {
                        self.archive.$optional(row);
                    }
                }
            )+
        }
    };
    (@always symbol($row:ident)) => {
        fn symbol(&mut self, row: &rows::$row) {
            match &mut self.held {
                Some(held) => held.push(row.clone()),
                None => self.archive.symbol(row),
            }
        }
    };
    (@always $method:ident($row:ident)) => {
        #[inline]
        fn $method(&mut self, row: &rows::$row) {
            self.archive.$method(row);
        }
    };
}
event_tables!(sink);
