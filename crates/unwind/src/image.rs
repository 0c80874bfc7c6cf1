//! A mapped file with its unwind information.

use gimli::{BaseAddresses, UnwindContext};
use thiserror::Error;

use crate::architecture::Architecture;
use crate::elf::{Elf, ElfError, Segment};
use crate::frames::{Frames, Kind, Row};
use crate::rule::Rule;
use crate::source::Source;

/// Why a file is of no use for unwinding.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum ImageError {
    /// The file itself.
    #[error(transparent)]
    Elf(#[from] ElfError),
    /// More than the caller has room for.
    #[error("its unwind information takes {bytes} bytes, more than the memory budget")]
    TooLarge {
        /// Bytes of the section.
        bytes: u64,
    },
}

/// Unwind information of a file, in memory; the file itself is no longer needed.
#[derive(Debug)]
pub struct Image {
    architecture: Architecture,
    segments: Vec<Segment>,
    frames: Vec<Frames>,
}

/// What an image says of an address.
#[derive(Debug)]
pub(crate) enum FoundRule {
    /// The rule, and the section that it is from.
    Rule(Rule, usize),
    Nothing,
    Damaged,
}

impl Image {
    /// Reads the unwind information of a file whose head was read and whose identity was found right. Takes at most about
    /// twice `budget` bytes, with the index.
    ///
    /// # Errors
    ///
    /// It cannot be read, or is too large. That a file has none is no error.
    pub fn read(elf: Elf, source: &mut impl Source, budget: usize) -> Result<Self, ImageError> {
        let architecture = elf.architecture();
        let names: [&[u8]; 4] = [b".eh_frame", b".debug_frame", b".text", b".got"];
        let [eh_frame, debug_frame, text, got] = elf.sections(source, names)?;
        let mut frames = Vec::new();
        for (kind, section) in [(Kind::EhFrame, eh_frame), (Kind::DebugFrame, debug_frame)] {
            let Some(section) = section.filter(|section| section.size > 0 && !section.compressed) else { continue };
            let length = usize::try_from(section.size).ok().filter(|size| *size <= budget);
            let length = length.ok_or(ImageError::TooLarge { bytes: section.size })?;
            let data = source.read(section.offset, length).map_err(ElfError::Read)?.into_boxed_slice();
            let mut bases = BaseAddresses::default();
            bases = if kind == Kind::EhFrame { bases.set_eh_frame(section.address) } else { bases };
            bases = text.map_or(bases.clone(), |text| bases.set_text(text.address));
            bases = got.map_or(bases.clone(), |got| bases.set_got(got.address));
            frames.push(Frames::new(kind, architecture, data, bases));
        }
        Ok(Self { architecture, segments: elf.segments, frames })
    }

    /// Whose code it is.
    #[must_use]
    pub fn architecture(&self) -> Architecture {
        self.architecture
    }

    /// Bytes that it takes.
    #[must_use]
    pub fn bytes(&self) -> usize {
        let segments = self.segments.len() * size_of::<Segment>();
        size_of::<Self>() + segments + self.frames.iter().map(Frames::bytes).sum::<usize>()
    }

    /// The address, as the file counts them, of a byte of the file.
    #[must_use]
    pub fn address_of(&self, offset: u64) -> Option<u64> {
        let within = |segment: &&Segment| offset.checked_sub(segment.offset).is_some_and(|at| at < segment.size);
        // Segments share pages of the file at their edges; code is in those that are executable.
        let mut holding = self.segments.iter().filter(within);
        let first = holding.clone().next();
        let segment = holding.find(|segment| segment.executable).or(first)?;
        segment.address.checked_add(offset - segment.offset)
    }

    /// The section of a rule.
    pub(crate) fn data(&self, section: usize) -> &[u8] {
        self.frames.get(section).map_or(&[], Frames::data)
    }

    /// The rule for an address as the file counts them, and what it cost.
    pub(crate) fn rule(&self, address: u64, context: &mut UnwindContext<usize>) -> (FoundRule, usize) {
        let (mut found, mut total) = (FoundRule::Nothing, 0_usize);
        for (section, frames) in self.frames.iter().enumerate() {
            let (row, cost) = frames.row(address, context);
            total = total.saturating_add(cost);
            match row {
                Row::Known(rule) => return (FoundRule::Rule(rule, section), total),
                Row::Damaged => found = FoundRule::Damaged,
                Row::Absent => {}
            }
        }
        (found, total)
    }
}
