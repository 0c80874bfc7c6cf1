//! Symbol tables (System V ABI, chapter 4, "Symbol Table").

use std::cmp::{Ordering, Reverse};
use std::fmt::Debug;
use std::io::{Read, Seek};

use object::Endianness;
use object::elf;
use object::read::elf::Sym;

use super::address_ranges::{Piece, flatten};
use super::code::Code;
use super::file::{ElfFile, records};
use crate::Error;

/// Bytes of a name; compilers write names of a few thousand at most.
const MAX_NAME: usize = 64 << 10;

/// A function, or a label in code.
#[derive(Clone, Copy, Debug)]
pub(super) struct Symbol {
    pub(super) address: u64,
    /// Bytes of its code; 0 where the table does not say.
    size: u64,
    /// Where its name begins among the names.
    name: u32,
    /// Bytes of its name, and how many underscores it begins with.
    length: u32,
    underscores: u32,
    binding: elf::SymbolBind,
    pub(super) is_label: bool,
}

/// The symbols of code, with their names.
#[derive(Debug, Default)]
pub(super) struct Symbols {
    names: Vec<u8>,
    pub(super) symbols: Vec<Symbol>,
}

impl Symbols {
    /// Reads the first of the sections `names` that the file has.
    pub(super) fn read<F: Read + Seek + Debug>(file: &mut ElfFile<F>, sections: &[&str]) -> Result<Self, Error> {
        let Some(section) = sections.iter().find_map(|name| file.section(name)) else { return Ok(Self::default()) };
        let table = file.contents(&section)?;
        let names = match file.section_at(section.link) {
            Some(names) => file.contents(&names)?,
            None => Vec::new(),
        };
        let mut found = Self { names, symbols: Vec::new() };
        let (endian, machine) = (file.endian, file.machine);
        let code: Vec<bool> = file.sections.iter().map(|section| section.is_code()).collect();
        if file.wide {
            found.collect::<elf::Sym64<Endianness>>(&table, endian, machine, &code);
        } else {
            found.collect::<elf::Sym32<Endianness>>(&table, endian, machine, &code);
        }
        Ok(found)
    }

    fn collect<S: Sym<Endian = Endianness>>(
        &mut self,
        table: &[u8],
        endian: Endianness,
        machine: elf::Machine,
        code: &[bool],
    ) {
        // Names may share their ends, but hardly more.
        let mut budget = self.names.len().saturating_mul(4).max(1 << 20);
        for symbol in records::<S>(table) {
            let is_label = match symbol.st_type() {
                elf::STT_FUNC | elf::STT_GNU_IFUNC => false,
                elf::STT_NOTYPE => true,
                _ => continue,
            };
            // Sections beyond 65,279 have their numbers elsewhere.
            let section = symbol.st_shndx(endian);
            if section != elf::SHN_XINDEX && code.get(usize::from(section.0)) != Some(&true) {
                continue;
            }
            let mut found = Symbol {
                address: symbol.st_value(endian).into(),
                size: symbol.st_size(endian).into(),
                name: symbol.st_name(endian),
                length: 0,
                underscores: 0,
                binding: symbol.st_bind(),
                is_label,
            };
            let name = usize::try_from(found.name).ok().and_then(|start| self.names.get(start..)).unwrap_or_default();
            let name = &name[..name.len().min(MAX_NAME)];
            let name = &name[..name.iter().position(|byte| *byte == 0).unwrap_or(name.len())];
            let Some(left) = budget.checked_sub(name.len()) else { return };
            budget = left;
            // `$x` and its like say which instruction set follows.
            if name.is_empty() || is_label && name.starts_with(b"$") {
                continue;
            }
            found.length = u32::try_from(name.len()).unwrap_or(0);
            found.underscores = u32::try_from(name.iter().take_while(|byte| **byte == b'_').count()).unwrap_or(0);
            if machine == elf::EM_ARM {
                // The lowest bit says that the function is Thumb code.
                found.address &= !1;
            }
            self.symbols.push(found);
        }
    }

    pub(super) fn name(&self, symbol: &Symbol) -> &[u8] {
        let rest = self.names.get(symbol.name as usize..).unwrap_or_default();
        rest.get(..symbol.length as usize).unwrap_or_default()
    }

    /// The code of each symbol as offsets in the file, by the number of the symbol.
    ///
    /// Of several symbols for an address one is chosen as perf does it (`choose_best_symbol` in tools/perf/util/symbol.c): one with a size,
    /// a function rather than a label, one that is not weak, a global one, fewer leading underscores, the longer name. Symbols without
    /// a size reach to the next symbol or to the end of their section, but lie below those that have one.
    pub(super) fn pieces(&self, code: &Code) -> Vec<Piece> {
        let mut order: Vec<u32> = (0..u32::try_from(self.symbols.len()).unwrap_or(u32::MAX)).collect();
        let symbol = |number: &u32| &self.symbols[*number as usize];
        order.retain(|number| code.end(symbol(number).address).is_some());
        order.sort_by(|a, b| {
            symbol(a).address.cmp(&symbol(b).address).then_with(|| self.preference(symbol(b), symbol(a)))
        });
        order.dedup_by_key(|number| symbol(number).address);
        let place = |number: u32, size: u64| {
            let start = symbol(&number).address;
            let (start, end) = code.offsets(start, start.checked_add(size)?)?;
            Some(Piece { start, end, of: number })
        };
        let mut sized: Vec<Piece> = order.iter().filter_map(|number| place(*number, symbol(number).size)).collect();
        let sized = flatten(&mut sized);
        let ends = order[1.min(order.len())..].iter().map(|next| symbol(next).address).chain([u64::MAX]);
        let unsized_pieces = order.iter().zip(ends).filter(|(number, _)| symbol(number).size == 0);
        let mut all: Vec<Piece> =
            unsized_pieces.filter_map(|(number, end)| place(*number, end - symbol(number).address)).collect();
        if all.is_empty() {
            return sized;
        }
        let covered: Vec<(u64, u64)> = sized.iter().map(|piece| (piece.start, piece.end)).collect();
        let mut all = super::address_ranges::outside(&flatten(&mut all), &covered);
        all.extend(sized);
        all.sort_unstable_by_key(|piece| piece.start);
        all
    }

    /// Greater is better.
    fn preference(&self, a: &Symbol, b: &Symbol) -> Ordering {
        let rank = |symbol: &Symbol| {
            (
                symbol.size > 0,
                !symbol.is_label,
                symbol.binding != elf::STB_WEAK,
                symbol.binding == elf::STB_GLOBAL,
                Reverse(symbol.underscores),
                symbol.length,
            )
        };
        // Last of all the text: the same file always gives the same table.
        rank(a).cmp(&rank(b)).then_with(|| self.name(b).cmp(self.name(a)))
    }
}
