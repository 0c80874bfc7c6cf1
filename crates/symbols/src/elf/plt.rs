//! Stubs through which functions of other libraries are called (System V ABI, AMD64 supplement, chapter 5; ELF for the Arm 64-bit
//! Architecture, "Procedure Linkage Table").
//!
//! They have no symbols. What a stub calls is told by the slot in the global offset table that it jumps through, and that by the relocation
//! which has the loader fill the slot.

use std::fmt::Debug;
use std::io::{Read, Seek};

use foldhash::fast::FixedState;
use hashbrown::HashMap;
use object::elf;
use object::read::elf::{Rela as _, Sym as _};
use object::{Endian as _, Endianness};

use super::file::{ElfFile, records};
use super::names::STUB;
use crate::Error;

/// Names may be this long.
const MAX_NAME: usize = 4 << 10;

/// A stub.
#[derive(Clone, Debug)]
pub(super) struct Stub {
    pub(super) address: u64,
    pub(super) size: u64,
    /// As debuggers write it: `function@plt`.
    pub(super) name: String,
}

/// Reads the stubs of x86-64 and AArch64; others have none here.
pub(super) fn read<F: Read + Seek + Debug>(file: &mut ElfFile<F>) -> Result<Vec<Stub>, Error> {
    let slot: fn(u64, &[u8]) -> Option<u64> = match file.machine {
        elf::EM_X86_64 => slot_x86_64,
        elf::EM_AARCH64 => slot_aarch64,
        _ => return Ok(Vec::new()),
    };
    if !file.wide {
        return Ok(Vec::new());
    }
    let called = called(file)?;
    let mut stubs = Vec::new();
    for (name, size) in
        [(".plt", 16), (".plt.sec", 16), (".plt.got", if file.machine == elf::EM_X86_64 { 8 } else { 16 })]
    {
        let Some(section) = file.section(name).filter(|_| !called.is_empty()) else { continue };
        let contents = file.contents(&section)?;
        for (address, code) in (section.address..).step_by(size).zip(contents.chunks_exact(size)) {
            if let Some(name) = slot(address, code).and_then(|slot| called.get(&slot)) {
                stubs.push(Stub { address, size: size as u64, name: format!("{name}{STUB}") });
            }
        }
    }
    Ok(stubs)
}

/// Names of functions by the slots that the loader fills with their addresses.
fn called<F: Read + Seek + Debug>(file: &mut ElfFile<F>) -> Result<HashMap<u64, String, FixedState>, Error> {
    let endian = file.endian;
    let mut called = HashMap::default();
    let Some(section) = file.section(".dynsym") else { return Ok(called) };
    let symbols = file.contents(&section)?;
    let symbols = records::<elf::Sym64<Endianness>>(&symbols);
    let Some(names) = file.section_at(section.link) else { return Ok(called) };
    let names = file.contents(&names)?;
    let mut budget = names.len().saturating_mul(4);
    for name in [".rela.plt", ".rela.dyn"] {
        let Some(section) = file.section(name) else { continue };
        let contents = file.contents(&section)?;
        for relocation in records::<elf::Rela64<Endianness>>(&contents) {
            let kind = relocation.r_type(endian, false);
            let fills_slot = match file.machine {
                elf::EM_X86_64 => kind == elf::R_X86_64_JUMP_SLOT || kind == elf::R_X86_64_GLOB_DAT,
                _ => kind == elf::R_AARCH64_JUMP_SLOT || kind == elf::R_AARCH64_GLOB_DAT,
            };
            let symbol = symbols.get(relocation.r_sym(endian, false) as usize).filter(|_| fills_slot);
            let name = symbol.and_then(|symbol| names.get(symbol.st_name(endian) as usize..));
            let Some(name) = name.map(|name| &name[..name.len().min(MAX_NAME)]) else { continue };
            let Some(name) = name.split(|byte| *byte == 0).next().filter(|name| !name.is_empty()) else { continue };
            let Some(left) = budget.checked_sub(name.len()) else { return Ok(called) };
            budget = left;
            called.insert(relocation.r_offset(endian), String::from_utf8_lossy(name).into_owned());
        }
    }
    Ok(called)
}

/// The slot that `jmp *slot(%rip)` jumps through, behind `endbr64` and with `bnd` where that is used.
fn slot_x86_64(address: u64, code: &[u8]) -> Option<u64> {
    const JMP: [u8; 2] = [0xff, 0x25];
    let start = [0, 1, 4, 5].into_iter().find(|start| {
        let before: &[u8] = match start {
            1 => &[0xf2],
            4 => &[0xf3, 0x0f, 0x1e, 0xfa],
            5 => &[0xf3, 0x0f, 0x1e, 0xfa, 0xf2],
            _ => &[],
        };
        code.strip_prefix(before).is_some_and(|rest| rest.starts_with(&JMP))
    })?;
    let distance = i32::from_le_bytes(*code.get(start + 2..)?.first_chunk()?);
    Some(address.wrapping_add(start as u64 + 6).wrapping_add_signed(distance.into()))
}

/// The slot that `adrp x16, page; ldr x17, [x16, #offset]` loads from, behind `bti c` where that is used.
fn slot_aarch64(address: u64, code: &[u8]) -> Option<u64> {
    const BTI_C: u32 = 0xd503_245f;
    let word =
        |at: usize| code.get(at..).and_then(|rest| rest.first_chunk()).map(|bytes| Endianness::Little.read_u32(*bytes));
    let start = if word(0)? == BTI_C { 4 } else { 0 };
    let (adrp, ldr) = (word(start)?, word(start + 4)?);
    if adrp & 0x9f00_001f != 0x9000_0010 || ldr & 0xffc0_03ff != 0xf940_0211 {
        return None;
    }
    let pages = (adrp >> 5 & 0x7_ffff) << 2 | adrp >> 29 & 3;
    // 21 bits with a sign.
    let pages = i64::from((pages << 11).cast_signed() >> 11);
    let page = (address.wrapping_add(start as u64) & !0xfff).wrapping_add_signed(pages << 12);
    Some(page.wrapping_add(u64::from(ldr >> 10 & 0xfff) * 8))
}
