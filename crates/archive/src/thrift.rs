//! Walks Thrift's compact encoding without building anything.
//!
//! Parquet's footer and page headers are Thrift structures that state lengths and counts. The decoder behind us allocates
//! by some of them before it looks at the data, so they are checked first: every text and list must fit into the bytes
//! that are left, and structures must not nest without end.

/// Deepest nesting that is followed; Parquet's own structures stay below 10.
const MAX_DEPTH: usize = 16;

/// Where a value stands: the field numbers from the outermost structure inwards. Elements of a list have its path.
pub(crate) type Path<'a> = &'a [i16];

/// What stands there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Item {
    /// An integer.
    Integer(i64),
    /// A list with so many elements; they follow.
    List(usize),
}

/// Walks the structure at the start of `bytes` and shows `visit` its integers and lists. Returns the bytes it takes;
/// `None` when it is malformed or longer than `bytes`.
pub(crate) fn walk(bytes: &[u8], visit: &mut dyn FnMut(Path<'_>, Item)) -> Option<usize> {
    let mut walker = Walker { bytes, at: 0, path: Vec::with_capacity(MAX_DEPTH), visit };
    walker.structure()?;
    Some(walker.at)
}

struct Walker<'a> {
    bytes: &'a [u8],
    at: usize,
    path: Vec<i16>,
    visit: &'a mut dyn FnMut(Path<'_>, Item),
}

impl Walker<'_> {
    fn structure(&mut self) -> Option<()> {
        if self.path.len() >= MAX_DEPTH {
            return None;
        }
        let mut field = 0_i16;
        loop {
            let header = self.byte()?;
            if header == 0 {
                return Some(());
            }
            field = match header >> 4 {
                0 => i16::try_from(zigzag(self.varint()?)).ok()?,
                delta => field.checked_add(i16::from(delta))?,
            };
            self.path.push(field);
            match header & 0x0f {
                // A truth value is in the type itself.
                1 | 2 => {}
                kind => self.value(kind)?,
            }
            self.path.pop();
        }
    }

    fn value(&mut self, kind: u8) -> Option<()> {
        match kind {
            // As an element of a list a truth value takes a byte.
            1..=3 => self.skip(1),
            4..=6 => {
                let value = zigzag(self.varint()?);
                (self.visit)(&self.path, Item::Integer(value));
                Some(())
            }
            7 => self.skip(8),
            8 => {
                let length = usize::try_from(self.varint()?).ok()?;
                self.skip(length)
            }
            9 | 10 => self.list(),
            12 => self.structure(),
            // Maps and sets of maps do not occur in Parquet.
            _ => None,
        }
    }

    fn list(&mut self) -> Option<()> {
        let header = self.byte()?;
        let count = match header >> 4 {
            15 => usize::try_from(self.varint()?).ok()?,
            count => usize::from(count),
        };
        // Every element takes at least a byte.
        if count > self.bytes.len() - self.at || self.path.len() >= MAX_DEPTH {
            return None;
        }
        (self.visit)(&self.path, Item::List(count));
        let field = *self.path.last()?;
        self.path.push(field);
        for _ in 0..count {
            self.value(header & 0x0f)?;
        }
        self.path.pop();
        Some(())
    }

    fn byte(&mut self) -> Option<u8> {
        let byte = *self.bytes.get(self.at)?;
        self.at += 1;
        Some(byte)
    }

    fn skip(&mut self, length: usize) -> Option<()> {
        if length > self.bytes.len() - self.at {
            return None;
        }
        self.at += length;
        Some(())
    }

    fn varint(&mut self) -> Option<u64> {
        let mut value = 0_u64;
        for shift in (0..64).step_by(7) {
            let byte = self.byte()?;
            value |= u64::from(byte & 0x7f) << shift;
            if byte & 0x80 == 0 {
                return Some(value);
            }
        }
        None
    }
}

fn zigzag(value: u64) -> i64 {
    (value >> 1).cast_signed() ^ -(value & 1).cast_signed()
}

#[cfg(test)]
mod tests {
    use super::{Item, walk};
    use proptest::prelude::*;

    type Seen = Vec<(Vec<i16>, Item)>;

    fn items(bytes: &[u8]) -> Option<(usize, Seen)> {
        let mut seen = Vec::new();
        let length = walk(bytes, &mut |path, item| seen.push((path.to_vec(), item)))?;
        Some((length, seen))
    }

    #[test]
    fn reads_integers_lists_and_nested_structures() {
        // 1: i32 = -3, 2: list of two i32 (1, 2), 4: struct { 1: i64 = 150 }
        let bytes = [0x15, 0x05, 0x19, 0x25, 0x02, 0x04, 0x2c, 0x16, 0xac, 0x02, 0x00, 0x00, 0xff];
        let (length, seen) = items(&bytes).expect("well-formed");
        assert_eq!(length, 12);
        let expected = vec![
            (vec![1], Item::Integer(-3)),
            (vec![2], Item::List(2)),
            (vec![2, 2], Item::Integer(1)),
            (vec![2, 2], Item::Integer(2)),
            (vec![4, 1], Item::Integer(150)),
        ];
        assert_eq!(seen, expected);
    }

    #[test]
    fn refuses_what_cannot_fit() {
        // A list of 2^28 structures, a text of 2^28 bytes, and structures inside structures without end.
        assert_eq!(items(&[0x19, 0xfc, 0xff, 0xff, 0xff, 0x7f, 0x00]), None);
        assert_eq!(items(&[0x18, 0xff, 0xff, 0xff, 0x7f, 0x00]), None);
        assert_eq!(items(&[0x1c; 100_000]), None);
    }

    proptest! {
        #[test]
        fn any_bytes_end(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
            if let Some((length, _)) = items(&bytes) {
                prop_assert!(length <= bytes.len());
            }
        }
    }
}
