//! ELF files: names from their debug information and symbol tables.
//!
//! Addresses in the table are offsets in the file that was mapped, as recorders have them. Where there is debug information
//! (DWARF), it names the function, those inlined into it, file and line; elsewhere the function has the name of its symbol. Symbols come from
//! `.symtab`, or, where that was taken out, from `.dynsym` and the small table that some distributions leave in
//! (`.gnu_debugdata`); stubs that call functions of other libraries are named `function@plt`.
//!
//! Debug information may lie in up to three files: the binary itself, one that was split from it (found by build id or
//! [`debug_link`]), and one that several of these share ([`debug_alt_link`]).

mod address_ranges;
mod code;
mod compressed;
mod dwarf;
mod exported;
mod file;
mod names;
mod places;
mod plt;
mod symbols;

use std::fmt::Debug;
use std::io::{Cursor, Read, Seek};

use object::Endianness;

use crate::{BuildId, Error, FileId, FunctionId, LocationId, Table, TableBuilder};
use address_ranges::{Piece, outside};
use code::Code;
use dwarf::{NONE, Name, Scope, Sections, UnitCode};
pub use exported::exported;
use file::ElfFile;
use names::Names;
pub use places::Places;
use plt::Stub;
use symbols::Symbols;

/// How the source of a name is called.
const DWARF: &str = "dwarf";
const ELF: &str = "elf";

/// Which file holds the debug information that was split from a binary (`.gnu_debuglink`).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DebugLink {
    /// Name of the file, without its path.
    pub name: String,
    /// CRC-32 of the whole file, as of zlib and gzip.
    pub crc: u32,
}

/// Which file holds what debug information shares with that of other binaries (`.gnu_debugaltlink`, made by `dwz`).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DebugAltLink {
    /// Path of the file, from the directory of the one that names it unless it has a root.
    pub path: String,
    /// Its build id.
    pub build_id: BuildId,
}

/// Files that go with the one that is read. Whoever opens them has made sure that they belong to it.
#[derive(Debug)]
pub struct Companions<F> {
    /// The binary that was mapped, where the file is one with debug information that was split from it: it has what such files lack, the
    /// binary's program headers, its dynamic symbols and stubs.
    pub image: Option<F>,
    /// The file that [`debug_alt_link`] names.
    pub supplementary: Option<F>,
}

impl<F> Default for Companions<F> {
    fn default() -> Self {
        Self { image: None, supplementary: None }
    }
}

/// What tells a file from all others; `None` for one that was linked without a build id.
///
/// # Errors
/// It cannot be read, or is no ELF file.
pub fn build_id(file: impl Read + Seek + Debug) -> Result<Option<BuildId>, Error> {
    ElfFile::open(file)?.build_id()
}

/// The build id among notes of this machine's own byte order, as the kernel shows those of itself and of its modules.
#[must_use]
pub fn build_id_of_notes(notes: &[u8]) -> Option<BuildId> {
    file::build_id(notes, Endianness::default(), 4).map(|id| BuildId(id.to_vec()))
}

/// Which file holds the debug information that was split from this one.
///
/// # Errors
/// It cannot be read, or is no ELF file.
pub fn debug_link(file: impl Read + Seek + Debug) -> Result<Option<DebugLink>, Error> {
    let mut file = ElfFile::open(file)?;
    let Some((name, rest)) = link(&mut file, ".gnu_debuglink")? else { return Ok(None) };
    // The sum stands at the next multiple of four.
    let crc = rest.get((name.len() + 1).wrapping_neg() % 4..).and_then(|rest| rest.first_chunk());
    let crc = crc.map(|bytes| object::Endian::read_u32(file.endian, *bytes));
    Ok(crc.map(|crc| DebugLink { name, crc }))
}

/// Which file holds what this one shares with others.
///
/// # Errors
/// It cannot be read, or is no ELF file.
pub fn debug_alt_link(file: impl Read + Seek + Debug) -> Result<Option<DebugAltLink>, Error> {
    let link = link(&mut ElfFile::open(file)?, ".gnu_debugaltlink")?;
    Ok(link.map(|(path, rest)| DebugAltLink { path, build_id: BuildId(rest) }))
}

/// The text that a section begins with, and what stands behind its 0.
fn link<F: Read + Seek + Debug>(file: &mut ElfFile<F>, name: &str) -> Result<Option<(String, Vec<u8>)>, Error> {
    /// A path and a sum.
    const MOST: u64 = 8 << 10;
    let Some(section) = file.section(name).filter(|section| section.size <= MOST) else { return Ok(None) };
    let contents = file.contents(&section)?;
    let Some(end) = contents.iter().position(|byte| *byte == 0) else { return Ok(None) };
    let text = String::from_utf8_lossy(&contents[..end]).into_owned();
    Ok(Some((text, contents[end + 1..].to_vec())))
}

/// The table of a binary, from the binary itself or from the file with debug information that was split from it.
///
/// # Errors
/// [`Error::OtherBinary`] if it has another build id than the wanted one, which need not have more bytes than recorders keep
/// ([`BuildId::is_recorded_as`]); [`Error::OtherFormat`] if it is no program or shared library (kernel modules are not linked, and are named by `kallsyms`);
/// [`Error::Malformed`] if nothing in it can be used or, of a file that was split off, nothing says where the code was;
/// [`Error::Empty`] if it has no names.
pub fn read<F: Read + Seek + Debug>(
    file: F,
    companions: Companions<F>,
    wanted: Option<&BuildId>,
) -> Result<Table, Error> {
    let mut file = ElfFile::open(file)?;
    if !file.is_linked {
        return Err(Error::OtherFormat("a program or a shared library"));
    }
    let found = file.build_id()?;
    if let Some(wanted) = wanted
        && !found.as_ref().is_some_and(|found| found.is_recorded_as(wanted))
    {
        let found = found.map_or("a file without a build id".to_owned(), |found| found.to_string());
        return Err(Error::OtherBinary { wanted: wanted.to_string(), found });
    }
    let identity = found.or_else(|| wanted.cloned()).map(|id| id.to_string()).unwrap_or_default();
    let mut image = companions.image.map(ElfFile::open).transpose()?;
    let headers = image.as_ref().unwrap_or(&file);
    let code = Code::new(&headers.segments, &headers.sections).ok_or_else(|| {
        Error::Malformed("it does not say where the code lies in the binary that it was split from".to_owned())
    })?;
    if code.is_empty() {
        return Err(Error::Empty);
    }
    // What is wrong with the debug information costs no symbols, and the other way round.
    let mut wrong = None;
    let mut note = |error: Error| wrong = Some(error);
    let debug = Sections::read(&mut file).unwrap_or_else(|error| {
        note(error);
        None
    });
    let shared = companions.supplementary.map(|shared| Sections::read(&mut ElfFile::open(shared)?));
    let shared = shared.transpose().unwrap_or_else(|error| {
        note(error);
        None
    });
    let shared = shared.flatten();
    let units = debug.as_ref().map(|debug| debug.code(shared.as_ref(), &code)).transpose().unwrap_or_else(|error| {
        note(error);
        None
    });
    let symbols = symbols(&mut file, image.as_mut()).unwrap_or_else(|error| {
        note(error);
        Vec::new()
    });
    let stubs = plt::read(image.as_mut().unwrap_or(&mut file)).unwrap_or_default();
    let table = table(&units.unwrap_or_default(), &symbols, &stubs, &code, &identity)?;
    match wrong {
        Some(error) if table.is_empty() => Err(error),
        _ if table.is_empty() => Err(Error::Empty),
        _ => Ok(table),
    }
}

/// The symbols of a binary, those that count more first: all that it was linked with, else what was left of them.
fn symbols<F: Read + Seek + Debug>(
    file: &mut ElfFile<F>,
    mut image: Option<&mut ElfFile<F>>,
) -> Result<Vec<Symbols>, Error> {
    let all = Symbols::read(file, &[".symtab"])?;
    if !all.symbols.is_empty() {
        return Ok(vec![all]);
    }
    if let Some(image) = &mut image {
        let all = Symbols::read(*image, &[".symtab"])?;
        if !all.symbols.is_empty() {
            return Ok(vec![all]);
        }
    }
    let file = image.unwrap_or(file);
    let mut found = vec![Symbols::read(file, &[".dynsym"])?];
    if let Some(section) = file.section(".gnu_debugdata") {
        let mut inner = ElfFile::open(Cursor::new(compressed::xz(&file.contents(&section)?)?))?;
        found.push(Symbols::read(&mut inner, &[".symtab"])?);
    }
    Ok(found)
}

/// Everything on top of each other: debug information on what has only lines, on symbols, on stubs.
fn table<'a>(
    units: &[UnitCode<'a>],
    symbols: &'a [Symbols],
    stubs: &'a [Stub],
    code: &Code,
    identity: &str,
) -> Result<Table, Error> {
    let mut builder = TableBuilder::new();
    let (linked, linked_names) = linked(symbols, stubs, code);
    // The whole name of a function that debug information calls by the word in the source alone.
    let mangled = |entry: u64| {
        let piece = linked.binary_search_by_key(&entry, |piece| piece.start).ok().map(|at| linked[at])?;
        linked_names.get(piece.of as usize).copied().filter(|name| name.starts_with(b"_Z") || name.starts_with(b"_R"))
    };
    let mut names = Names::new(DWARF);
    let mut name = |scope: &Scope<'a>| match scope.name {
        _ if !scope.used => NONE,
        Name { text, is_linkage: true } => names.add(text),
        Name { text, .. } => names.add(mangled(scope.entry).unwrap_or(text)),
    };
    let scopes: Vec<Vec<u32>> = units.iter().map(|unit| unit.scopes.iter().map(&mut name).collect()).collect();
    let functions = names.resolve(&mut builder)?;

    let mut names = Names::new(ELF);
    let visible = outside(&linked, &covered(units));
    let numbers: Vec<u32> = visible.iter().map(|piece| names.add(linked_names[piece.of as usize])).collect();
    let lined = lined(units, &linked);
    let lined_numbers: Vec<u32> = lined.iter().map(|(_, piece)| names.add(linked_names[piece.of as usize])).collect();
    let symbol_functions = names.resolve(&mut builder)?;
    for (piece, number) in visible.iter().zip(numbers) {
        let location = builder.location(None, symbol_functions[number as usize], None, 0);
        builder.add(piece.start, piece.end, location);
    }
    for ((place, piece), number) in lined.iter().zip(lined_numbers) {
        let file = place.file.map(|file| builder.file(file));
        let location = builder.location(None, symbol_functions[number as usize], file, place.line);
        builder.add(piece.start, piece.end, location);
    }
    // Where units overlap the first one counts, so it comes last.
    for (unit, scopes) in units.iter().zip(&scopes).rev() {
        add_unit(&mut builder, unit, scopes, &functions);
    }
    Ok(builder.finish(identity))
}

/// The code of symbols and stubs, and their names by the numbers in it.
fn linked<'a>(symbols: &'a [Symbols], stubs: &'a [Stub], code: &Code) -> (Vec<Piece>, Vec<&'a [u8]>) {
    let (mut linked, mut names) = (Vec::new(), Vec::new());
    let mut put = |pieces: Vec<Piece>, more: Vec<&'a [u8]>| {
        let covered: Vec<(u64, u64)> = linked.iter().map(|piece: &Piece| (piece.start, piece.end)).collect();
        let first = u32::try_from(names.len()).unwrap_or(NONE);
        let new = outside(&pieces, &covered);
        linked.extend(new.into_iter().map(|piece| Piece { of: piece.of.saturating_add(first), ..piece }));
        linked.sort_unstable_by_key(|piece| piece.start);
        names.extend(more);
    };
    for symbols in symbols {
        put(symbols.pieces(code), symbols.symbols.iter().map(|symbol| symbols.name(symbol)).collect());
    }
    let pieces = (0..).zip(stubs).filter_map(|(of, stub)| {
        let (start, end) = code.offsets(stub.address, stub.address.checked_add(stub.size)?)?;
        Some(Piece { start, end, of })
    });
    let mut pieces: Vec<Piece> = pieces.collect();
    put(address_ranges::flatten(&mut pieces), stubs.iter().map(|stub| stub.name.as_bytes()).collect());
    linked.retain(|piece| (piece.of as usize) < names.len());
    (linked, names)
}

/// The code that debug information names, in order and without overlap.
fn covered(units: &[UnitCode<'_>]) -> Vec<(u64, u64)> {
    let mut covered: Vec<(u64, u64)> = Vec::new();
    let join = |covered: &mut Vec<(u64, u64)>, (start, end): (u64, u64)| match covered.last_mut() {
        Some(last) if start >= last.0 && start <= last.1 => last.1 = last.1.max(end),
        _ => covered.push((start, end)),
    };
    for range in units.iter().flat_map(|unit| &unit.ranges).filter(|range| range.scope != NONE) {
        join(&mut covered, (range.start, range.end));
    }
    covered.sort_unstable();
    let mut joined = Vec::with_capacity(covered.len());
    covered.into_iter().for_each(|cover| join(&mut joined, cover));
    joined
}

/// A place in the source.
#[derive(Clone, Copy, Debug)]
struct Place<'a> {
    file: Option<&'a str>,
    line: u32,
}

/// Symbols whose lines are known, though nothing says which function they are.
fn lined<'a>(units: &'a [UnitCode<'_>], linked: &[Piece]) -> Vec<(Place<'a>, Piece)> {
    let mut lined = Vec::new();
    for unit in units.iter().rev() {
        for range in unit.ranges.iter().filter(|range| range.scope == NONE) {
            let file = unit.files.get(range.file as usize).and_then(Option::as_deref);
            let first = linked.partition_point(|piece| piece.end <= range.start);
            for piece in linked[first..].iter().take_while(|piece| piece.start < range.end) {
                let (start, end) = (piece.start.max(range.start), piece.end.min(range.end));
                lined.push((Place { file, line: range.line }, Piece { start, end, of: piece.of }));
            }
        }
    }
    lined
}

/// Adds what a unit says. `names` are those of its scopes, by number of the function.
fn add_unit(builder: &mut TableBuilder, unit: &UnitCode<'_>, names: &[u32], functions: &[FunctionId]) {
    let files: Vec<Option<FileId>> =
        unit.files.iter().map(|file| file.as_ref().map(|file| builder.file(file))).collect();
    let file = |number: u32| files.get(number as usize).copied().flatten();
    let function = |scope: u32| functions.get(*names.get(scope as usize)? as usize).copied();
    // Where each scope was called.
    let mut calls: Vec<Option<LocationId>> = Vec::with_capacity(unit.scopes.len());
    for scope in &unit.scopes {
        let outer = if scope.used { function(scope.parent) } else { None };
        let outer = outer.map(|outer| (outer, calls.get(scope.parent as usize).copied().flatten()));
        calls.push(outer.map(|(outer, call)| builder.location(call, outer, file(scope.call_file), scope.call_line)));
    }
    for range in &unit.ranges {
        if let Some(function) = function(range.scope) {
            let call = calls.get(range.scope as usize).copied().flatten();
            let location = builder.location(call, function, file(range.file), range.line);
            builder.add(range.start, range.end, location);
        }
    }
}
