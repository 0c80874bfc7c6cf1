//! JIT code, from what its process wrote down of it: a dump with times and lines, or a plain map.

use crate::jitdump::JitDump;
use crate::{Error, Table, perf_map};

/// Names of the JIT code of one process.
#[derive(Debug, Default)]
pub struct JitCode {
    /// Each knows more than the next one.
    tables: Vec<Table>,
    /// That of the first table.
    dump: Option<JitDump>,
}

/// Where a name stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Known {
    /// Number of the table.
    pub table: usize,
    /// The address in it.
    pub address: u64,
}

impl JitCode {
    /// Adds the bytes of a `jit-PID.dump`.
    ///
    /// # Errors
    /// As [`JitDump::read`], and [`Error::OtherBinary`] if another process wrote it.
    pub fn add_dump(&mut self, bytes: &[u8], process: u32) -> Result<(), Error> {
        let dump = JitDump::read(bytes)?;
        if dump.process != process {
            let (wanted, found) = (format!("process {process}"), format!("process {}", dump.process));
            return Err(Error::OtherBinary { wanted, found });
        }
        self.tables.insert(0, dump.table.clone());
        self.dump = Some(dump);
        Ok(())
    }

    /// Adds the bytes of a `perf-PID.map`.
    ///
    /// # Errors
    /// As [`perf_map::read`].
    pub fn add_map(&mut self, bytes: &[u8]) -> Result<(), Error> {
        self.tables.extend(perf_map::read(bytes)?);
        Ok(())
    }

    /// Whether nothing is known.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.tables.is_empty()
    }

    /// The tables, by their numbers.
    #[must_use]
    pub fn tables(&self) -> &[Table] {
        &self.tables
    }

    /// Where the name of the code stands that was at an address of the process.
    #[must_use]
    pub fn find(&self, address: u64) -> Option<Known> {
        let dump = usize::from(self.dump.is_some());
        let dumped = self.dump.as_ref().and_then(|dump| dump.lasting_place(address));
        let dumped = dumped.map(|address| Known { table: 0, address });
        dumped.or_else(|| {
            let has = |table: &Table| table.frames(address).next().is_some();
            let table = self.tables.iter().enumerate().skip(dump).find(|(_, table)| has(table))?.0;
            Some(Known { table, address })
        })
    }
}
