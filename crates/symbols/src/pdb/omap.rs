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

/// Stretches of a rearranged image that stand for a stretch of the original, by its address there.
#[derive(Debug)]
pub(super) struct Omap(Vec<Stretch>);

#[derive(Clone, Copy, Debug)]
struct Stretch {
    source: u32,
    image: u32,
    length: u32,
    /// The highest end, in the original, of this one and all before.
    reach: u32,
}

/// A piece lies in a stretch, or in a few: so many per piece and stretch, on average, only a forged map has.
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
        let mut stretches: Vec<Stretch> = entries
            .iter()
            .zip(ends)
            .map(|((image, source), end)| Stretch { source: *source, image: *image, length: end - image, reach: 0 })
            .filter(|stretch| stretch.source != 0 && stretch.length > 0)
            .collect();
        stretches.sort_by_key(|stretch| stretch.source);
        let mut reach = 0;
        for stretch in &mut stretches {
            reach = reach.max(stretch.source.saturating_add(stretch.length));
            stretch.reach = reach;
        }
        Self(stretches)
    }

    /// The same names, in the same order, at the addresses of the rearranged image.
    pub(super) fn convert(&self, pieces: &Pieces) -> Result<Pieces, Error> {
        let pieces = pieces.as_slice();
        let mut left = (pieces.len() + self.0.len()).saturating_mul(MAX_SHOWN);
        let mut converted = Vec::new();
        for piece in pieces {
            let first = self.0.partition_point(|stretch| stretch.reach <= piece.start);
            for stretch in self.0[first..].iter().take_while(|stretch| stretch.source < piece.end) {
                let start = piece.start.max(stretch.source) - stretch.source;
                let end = (piece.end - stretch.source).min(stretch.length);
                if start < end {
                    let at = |offset: u32| stretch.image.saturating_add(offset);
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
