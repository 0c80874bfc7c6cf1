//! Numbers in as few bytes as they need: seven bits each, the low ones first, the eighth says that more follow.

/// Appends a number.
pub(crate) fn put(into: &mut Vec<u8>, mut value: u64) {
    while value >= 0x80 {
        into.push(value as u8 | 0x80);
        value >>= 7;
    }
    into.push(value as u8);
}

/// Appends how far `value` is from `before`, in either direction.
pub(crate) fn put_step(into: &mut Vec<u8>, before: u64, value: u64) {
    let step = value.wrapping_sub(before).cast_signed();
    put(into, (step << 1 ^ step >> 63).cast_unsigned());
}

/// Reads what was put. Where nothing is left all numbers are 0.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Reader<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl<'a> Reader<'a> {
    pub(crate) fn new(bytes: &'a [u8], at: usize) -> Self {
        Self { bytes, at }
    }

    /// A byte as it is; `None` at the end.
    pub(crate) fn byte(&mut self) -> Option<u8> {
        let byte = *self.bytes.get(self.at)?;
        self.at += 1;
        Some(byte)
    }

    pub(crate) fn next(&mut self) -> u64 {
        let mut value = 0;
        for shift in (0..u64::BITS).step_by(7) {
            let Some(byte) = self.byte() else { break };
            value |= u64::from(byte & 0x7f) << shift;
            if byte < 0x80 {
                break;
            }
        }
        value
    }

    pub(crate) fn next_step(&mut self, before: u64) -> u64 {
        let step = self.next();
        before.wrapping_add(step >> 1 ^ (step & 1).wrapping_neg())
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::{Reader, put, put_step};

    proptest! {
        #[test]
        fn what_was_put_comes_back(values: Vec<u64>, steps: Vec<(u64, u64)>) {
            let mut bytes = Vec::new();
            values.iter().for_each(|value| put(&mut bytes, *value));
            steps.iter().for_each(|(before, value)| put_step(&mut bytes, *before, *value));
            let mut reader = Reader::new(&bytes, 0);
            values.iter().for_each(|value| assert_eq!(reader.next(), *value));
            steps.iter().for_each(|(before, value)| assert_eq!(reader.next_step(*before), *value));
            prop_assert_eq!(reader.byte(), None);
            prop_assert_eq!(reader.next(), 0);
        }
    }
}
