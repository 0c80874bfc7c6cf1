//! Types and ids that one module takes from another: after link-time code generation numbers with the highest bit set count them.
//!
//! Such a number has the imported module in bits 20 to 30, by its place in the module's list of imports, and in those below an entry of
//! that one's list. That is a number of the other module, whose exports say which one it is in the streams of types and ids.

use std::io::{Read, Seek};

use foldhash::fast::FixedState;
use hashbrown::HashMap;

use super::dbi::{DebugInfo, Module};
use super::lines::{Names, subsections};
use super::msf::Msf;
use crate::fields::Fields;

const IMPORTS: u32 = 0xf7;
const EXPORTS: u32 = 0xf8;
const FOREIGN: u32 = 1 << 31;

/// What modules take from each other.
#[derive(Debug, Default)]
pub(super) struct Imports {
    /// Of the module at hand: the place of the other one's name, and its numbers.
    imports: Vec<(u32, Vec<u32>)>,
    /// Of other modules, by the place of their name.
    exports: HashMap<u32, HashMap<u32, u32, FixedState>, FixedState>,
}

impl Imports {
    /// Reads what a module imports, and from modules that were not met before what they export.
    pub(super) fn read<R: Read + Seek>(&mut self, lines: &[u8], names: &Names, debug: &DebugInfo, msf: &mut Msf<R>) {
        self.imports.clear();
        for content in subsections(lines, IMPORTS) {
            let mut fields = Fields::new(content);
            while let (Some(name), Some(count)) = (fields.u32(), fields.u32()) {
                let Some(numbers) = usize::try_from(count).ok().and_then(|count| fields.bytes(count.checked_mul(4)?))
                else {
                    break;
                };
                let (numbers, _) = numbers.as_chunks::<4>();
                self.imports.push((name, numbers.iter().map(|number| u32::from_le_bytes(*number)).collect()));
            }
        }
        for (name, _) in &self.imports {
            self.exports.entry(*name).or_insert_with(|| exports_of(names.at(*name), debug, msf).unwrap_or_default());
        }
    }

    /// The number in the streams of types and ids for one in the module at hand.
    pub(super) fn resolve(&self, number: u32) -> Option<u32> {
        if number & FOREIGN == 0 {
            return Some(number);
        }
        let (name, numbers) = self.imports.get(usize::try_from(number >> 20 & 0x7ff).ok()?)?;
        let number = numbers.get(usize::try_from(number & 0xf_ffff).ok()?)?;
        self.exports.get(name)?.get(number).copied()
    }
}

fn exports_of<R: Read + Seek>(
    name: Option<&[u8]>,
    debug: &DebugInfo,
    msf: &mut Msf<R>,
) -> Option<HashMap<u32, u32, FixedState>> {
    let name = name?;
    let module = debug.modules().find(|module| module.name.eq_ignore_ascii_case(name))?;
    let stream = msf.stream(module.stream.into()).ok()?;
    let mut exports = HashMap::default();
    for content in subsections(lines_of(&module, &stream), EXPORTS) {
        let mut fields = Fields::new(content);
        while let (Some(own), Some(global)) = (fields.u32(), fields.u32()) {
            exports.insert(own, global);
        }
    }
    Some(exports)
}

/// The part of a module's stream with its subsections.
pub(super) fn lines_of<'a>(module: &Module<'_>, stream: &'a [u8]) -> &'a [u8] {
    let start = usize::try_from(u64::from(module.symbols) + u64::from(module.old_lines)).unwrap_or(usize::MAX);
    let rest = stream.get(start..).unwrap_or_default();
    &rest[..rest.len().min(usize::try_from(module.lines).unwrap_or(usize::MAX))]
}
