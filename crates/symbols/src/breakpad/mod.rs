//! Breakpad symbol files (`.sym`): texts with functions, inlined calls, lines and public symbols of one build.
//!
//! They are read line by line; in memory are the table and the function at hand. A line that is not understood costs itself only.

mod function;
mod lines;
mod record;

use std::collections::HashMap;
use std::fmt;
use std::io::Read;

use foldhash::fast::RandomState;

use crate::error::Error;
use crate::identity::PdbId;
use crate::names;
use crate::table::{FileId, FunctionId, Table, TableBuilder};
use function::Function;
use lines::Lines;
use record::{Code, Record, module, record};

const SOURCE: &str = "breakpad";
const FORMAT: &str = "a Breakpad symbol file";

/// A symbol file whose first line was read.
pub struct SymbolFile<R> {
    id: PdbId,
    lines: Lines<R>,
}

impl<R: Read> SymbolFile<R> {
    /// Reads what the file is of.
    ///
    /// Of the wanted identity GUID and age are compared; files are renamed.
    ///
    /// # Errors
    /// [`Error::OtherFormat`] when the first line is no `MODULE`, [`Error::OtherBinary`] when it is of another build than wanted,
    /// [`Error::Io`].
    pub fn read(file: R, wanted: Option<&PdbId>) -> Result<Self, Error> {
        let mut lines = Lines::new(file);
        let first = lines.next()?.and_then(|line| str::from_utf8(line).ok());
        let id = first.and_then(module).ok_or(Error::OtherFormat(FORMAT))?;
        match wanted {
            Some(wanted) if (wanted.guid, wanted.age) != (id.guid, id.age) => {
                Err(Error::OtherBinary { wanted: wanted.digits(), found: id.digits() })
            }
            _ => Ok(Self { id, lines }),
        }
    }

    /// What it is of: of a Windows image the PDB.
    #[must_use]
    pub fn id(&self) -> &PdbId {
        &self.id
    }

    /// All names. Addresses are relative to the image. `identity` is kept in the table.
    ///
    /// # Errors
    /// [`Error::Empty`] when no code is named, [`Error::Io`].
    pub fn table(mut self, identity: &str) -> Result<Table, Error> {
        let mut reader = Reader::default();
        while let Some(line) = self.lines.next()? {
            reader.add(record(&String::from_utf8_lossy(line)));
        }
        reader.finish(identity)
    }
}

impl<R> fmt::Debug for SymbolFile<R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SymbolFile").field("id", &self.id).finish_non_exhaustive()
    }
}

/// What the lines so far said.
#[derive(Default)]
struct Reader {
    table: TableBuilder,
    files: HashMap<u32, FileId, RandomState>,
    origins: HashMap<u32, FunctionId, RandomState>,
    /// The function whose lines are being read.
    function: Option<Function>,
    functions: Vec<Code>,
    publics: Vec<(u64, FunctionId)>,
}

impl Reader {
    fn add(&mut self, record: Record<'_>) {
        match record {
            Record::File { number, path } => {
                let file = self.table.file(path);
                self.files.insert(number, file);
            }
            Record::InlineOrigin { number, name } => {
                let origin = self.named(name);
                self.origins.insert(number, origin);
            }
            Record::Function { code, name } => {
                self.end_function();
                self.functions.push(code);
                let function = self.named(name);
                self.function = Some(Function::new(code, function));
            }
            Record::Lost => self.end_function(),
            Record::Inline(inline) => {
                let (origin, file) = (self.origins.get(&inline.origin), self.files.get(&inline.call_file));
                if let (Some(function), Some(origin)) = (&mut self.function, origin) {
                    function.add_inline(&inline, *origin, file.copied());
                }
            }
            Record::Line(line) => {
                if let Some(function) = &mut self.function {
                    function.add_line(line.code, self.files.get(&line.file).copied(), line.line);
                }
            }
            Record::Public { address, name } => {
                self.end_function();
                let public = self.named(name);
                self.publics.push((address, public));
            }
            Record::Other => {}
        }
    }

    fn named(&mut self, text: &str) -> FunctionId {
        let (name, arguments) = names::split(text);
        self.table.function(name, arguments, SOURCE)
    }

    fn end_function(&mut self) {
        if let Some(function) = self.function.take() {
            function.finish(&mut self.table);
        }
    }

    fn finish(mut self, identity: &str) -> Result<Table, Error> {
        self.end_function();
        self.add_publics();
        if self.table.is_empty() { Err(Error::Empty) } else { Ok(self.table.finish(identity)) }
    }

    /// A public symbol has no size: it reaches to the next function or public symbol. Within a function it says nothing new.
    fn add_publics(&mut self) {
        self.functions.sort_unstable_by_key(|code| code.start);
        // Of those at one address the first counts.
        self.publics.sort_by_key(|(address, _)| *address);
        self.publics.dedup_by_key(|(address, _)| *address);
        let mut functions = self.functions.iter().peekable();
        let mut covered = 0;
        let mut publics = self.publics.iter().peekable();
        while let Some((start, public)) = publics.next() {
            while let Some(function) = functions.next_if(|function| function.start <= *start) {
                covered = covered.max(function.end);
            }
            if *start >= covered {
                let next_public = publics.peek().map_or(u64::MAX, |(address, _)| *address);
                let end = functions.peek().map_or(next_public, |function| function.start.min(next_public));
                let location = self.table.location(None, *public, None, 0);
                self.table.add(*start, end, location);
            }
        }
    }
}
