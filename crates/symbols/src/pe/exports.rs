//! The export table as names.

use std::io::{Read, Seek};

use super::file::Section;
use super::{EXCEPTION, EXPORT, Image, MACHINE_AMD64, MACHINE_ARM64};
use crate::fields::{Fields, u16_at, u32_at};
use crate::undecorate::undecorate;
use crate::{Error, Table, TableBuilder};

/// Ordinals are 16 bits wide.
const MAX_EXPORTS: usize = 1 << 16;
/// Of a name. Compilers stop at 4 KiB.
const MAX_NAME: usize = 1 << 13;
/// `UNW_FLAG_CHAININFO` of an x64 unwind information's first byte: it continues another function.
const CHAINED: u8 = 4 << 3;

/// An exported function.
struct Export {
    rva: u32,
    /// Empty where it has a number only.
    name: Vec<u8>,
    ordinal: u32,
}

pub(super) fn table<R: Read + Seek>(image: &mut Image<R>, identity: &str) -> Result<Table, Error> {
    let mut exports = exports(image)?;
    // Of several names the first by the alphabet, as the table has them; a name comes before a number.
    exports.sort_by(|a, b| (a.rva, a.name.is_empty(), &a.name).cmp(&(b.rva, b.name.is_empty(), &b.name)));
    exports.dedup_by_key(|export| export.rva);
    let starts = function_starts(image)?;
    let mut builder = TableBuilder::new();
    for (at, export) in exports.iter().enumerate() {
        let Some(section) = code_section(&image.file.sections, export.rva) else { continue };
        let after = starts.partition_point(|start| *start <= export.rva);
        let next = exports.get(at + 1).map_or(u32::MAX, |next| next.rva);
        let end =
            next.min(starts.get(after).copied().unwrap_or(u32::MAX)).min(section.rva.saturating_add(section.size));
        let name = if export.name.is_empty() {
            // As debuggers call what has no name.
            format!("Ordinal{}", export.ordinal)
        } else {
            String::from_utf8_lossy(&export.name).into_owned()
        };
        let undecorated = undecorate(&name);
        let function = builder.function(&undecorated.name, undecorated.arguments.as_deref(), "export");
        let location = builder.location(None, function, None, 0);
        builder.add(export.rva.into(), end.into(), location);
    }
    if builder.is_empty() { Err(Error::Empty) } else { Ok(builder.finish(identity)) }
}

fn code_section(sections: &[Section], rva: u32) -> Option<&Section> {
    sections.iter().find(|section| section.executable && section.holds(rva))
}

/// All exports but those that another image serves.
fn exports<R: Read + Seek>(image: &mut Image<R>) -> Result<Vec<Export>, Error> {
    let directory = image.directories[EXPORT];
    if directory.rva == 0 {
        return Err(Error::Empty);
    }
    let damaged = || Error::Malformed("its export table is cut short".to_owned());
    let header = image.file.at(directory.rva, 40)?;
    let field = |offset: usize| u32_at(&header, offset).ok_or_else(damaged);
    let (base, functions, names) = (field(16)?, field(20)?, field(24)?);
    let (functions_at, names_at, ordinals_at) = (field(28)?, field(32)?, field(36)?);
    let count = |count: u32| usize::try_from(count).unwrap_or(usize::MAX).min(MAX_EXPORTS);
    let addresses = image.file.at(functions_at, count(functions) * 4)?;
    let address = |index: usize| {
        let rva = u32_at(&addresses, index.checked_mul(4)?)?;
        // What lies in the export table itself is the name of a function elsewhere.
        let forwarded = rva.checked_sub(directory.rva).is_some_and(|offset| offset < directory.size);
        Some(rva).filter(|rva| *rva != 0 && !forwarded)
    };
    let unnamed = |index: u16| {
        Some(Export { rva: address(index.into())?, name: Vec::new(), ordinal: base.saturating_add(index.into()) })
    };
    let mut exports: Vec<Export> = (0..=u16::MAX).take(addresses.len() / 4).filter_map(unnamed).collect();
    if names == 0 {
        return Ok(exports);
    }
    let name_addresses = image.file.at(names_at, count(names) * 4)?;
    let ordinals = image.file.at(ordinals_at, count(names) * 2)?;
    // The names lie together, mostly behind the export table's arrays: one read for all of them.
    let texts = Texts::new(image, &name_addresses)?;
    for index in 0..name_addresses.len() / 4 {
        let Some(ordinal) = u16_at(&ordinals, index * 2) else { break };
        let Some(rva) = address(ordinal.into()) else { continue };
        let Some(name) = u32_at(&name_addresses, index * 4).and_then(|rva| texts.at(rva)) else { continue };
        exports.push(Export { rva, name: name.to_vec(), ordinal: base.saturating_add(ordinal.into()) });
    }
    Ok(exports)
}

/// The section that holds the names.
struct Texts {
    rva: u32,
    bytes: Vec<u8>,
}

impl Texts {
    fn new<R: Read + Seek>(image: &mut Image<R>, addresses: &[u8]) -> Result<Self, Error> {
        let (addresses, _) = addresses.as_chunks::<4>();
        let addresses = addresses.iter().map(|address| u32::from_le_bytes(*address));
        let (first, last) = addresses.fold((u32::MAX, 0), |(first, last), rva| (first.min(rva), last.max(rva)));
        let length = usize::try_from(last.saturating_sub(first)).unwrap_or(usize::MAX).saturating_add(MAX_NAME);
        Ok(Self { rva: first, bytes: image.file.at(first, length)? })
    }

    fn at(&self, rva: u32) -> Option<&[u8]> {
        let bytes = self.bytes.get(usize::try_from(rva.checked_sub(self.rva)?).ok()?..)?;
        Fields::new(&bytes[..bytes.len().min(MAX_NAME)]).text().filter(|name| !name.is_empty())
    }
}

/// Where functions start by the image's unwind information, ascending; nothing for processors without any.
fn function_starts<R: Read + Seek>(image: &mut Image<R>) -> Result<Vec<u32>, Error> {
    let entry = match image.machine {
        MACHINE_AMD64 => 12,
        MACHINE_ARM64 => 8,
        _ => return Ok(Vec::new()),
    };
    let directory = image.directories[EXCEPTION];
    if directory.rva == 0 || image.file.place(directory.rva).is_none() {
        return Ok(Vec::new());
    }
    let entries = image.file.at(directory.rva, usize::try_from(directory.size).unwrap_or(usize::MAX))?;
    let mut starts: Vec<(u32, u32)> = entries
        .chunks_exact(entry)
        .filter_map(|entry| Some((u32_at(entry, 0)?, u32_at(entry, entry.len() - 4)?)))
        .collect();
    if image.machine == MACHINE_AMD64 {
        let first = starts.iter().map(|(_, unwind)| *unwind).min().unwrap_or(0);
        let last = starts.iter().map(|(_, unwind)| *unwind).max().unwrap_or(0);
        let length = usize::try_from(last - first).unwrap_or(usize::MAX).saturating_add(1);
        let unwind = if image.file.place(first).is_some() { image.file.at(first, length)? } else { Vec::new() };
        let flags = |rva: u32| unwind.get(usize::try_from(rva - first).ok()?);
        starts.retain(|(_, at)| flags(*at).is_none_or(|flags| flags & CHAINED == 0));
    }
    let mut starts: Vec<u32> = starts.into_iter().map(|(start, _)| start).collect();
    starts.sort_unstable();
    Ok(starts)
}
