//! Images that were rearranged after the link: their addresses are not those of the symbols.
//!
//! The PDB of such an image has a map of addresses, "OMAP to source": ascending addresses of the image, each with the address of
//! the original it stands for, up to the next one; 0 stands for what the tool has put in. Debuggers map an address through it and
//! then look for symbols; here all names are mapped once, the other way round.

use std::io::{Read, Seek};

use super::dbi::{DebugInfo, Extra};
use super::msf::Msf;
use super::pieces::{Piece, Pieces};
use crate::Error;
use crate::fields::Fields;

/// Ranges of a rearranged image that stand for a range of the original, by its address there.
#[derive(Debug)]
pub(super) struct Omap(Vec<MovedRange>);

#[derive(Clone, Copy, Debug)]
struct MovedRange {
    source: u32,
    image: u32,
    length: u32,
    /// The highest end, in the original, of this one and all before.
    reach: u32,
}

/// A piece lies in a range, or in a few: so many per piece and range, on average, only a forged map has.
const MAX_SHOWN: usize = 16;

impl Omap {
    pub(super) fn read<R: Read + Seek>(msf: &mut Msf<R>, debug: &DebugInfo) -> Result<Option<Self>, Error> {
        let Some(stream) = debug.extra(Extra::OmapToSource) else { return Ok(None) };
        let stream = msf.stream(stream.into())?;
        Ok((!stream.is_empty()).then(|| Self::new(&stream)))
    }

    fn new(stream: &[u8]) -> Self {
        let mut fields = Fields::new(stream);
        let mut entries: Vec<(u32, u32)> = std::iter::from_fn(|| Some((fields.u32()?, fields.u32()?))).collect();
        entries.sort_by_key(|(image, _)| *image);
        let ends = entries.iter().skip(1).map(|(image, _)| *image).chain([u32::MAX]);
        let mut ranges: Vec<MovedRange> = entries
            .iter()
            .zip(ends)
            .map(|((image, source), end)| MovedRange { source: *source, image: *image, length: end - image, reach: 0 })
            .filter(|range| range.source != 0 && range.length > 0)
            .collect();
        ranges.sort_by_key(|range| range.source);
        let mut reach = 0;
        for range in &mut ranges {
            reach = reach.max(range.source.saturating_add(range.length));
            range.reach = reach;
        }
        Self(ranges)
    }

    /// The same names, in the same order, at the addresses of the rearranged image.
    pub(super) fn convert(&self, pieces: &Pieces) -> Result<Pieces, Error> {
        let pieces = pieces.as_slice();
        let mut left = (pieces.len() + self.0.len()).saturating_mul(MAX_SHOWN);
        let mut converted = Vec::new();
        for piece in pieces {
            let first = self.0.partition_point(|range| range.reach <= piece.start);
            for range in self.0[first..].iter().take_while(|range| range.source < piece.end) {
                let start = piece.start.max(range.source) - range.source;
                let end = (piece.end - range.source).min(range.length);
                if start < end {
                    let at = |offset: u32| range.image.saturating_add(offset);
                    converted.push(Piece { start: at(start), end: at(end), location: piece.location });
                }
                left = left
                    .checked_sub(1)
                    .ok_or_else(|| Error::Malformed("its map of addresses shows everything everywhere".to_owned()))?;
            }
        }
        Ok(Pieces::from(converted))
    }
}
