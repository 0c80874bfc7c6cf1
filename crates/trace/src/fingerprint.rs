//! A short stand-in for the content of a sequence.

/// Two independent 64-bit hashes: 128 bits stand for a content.
pub(crate) type Fingerprint = (u64, u64);

// Odd numbers with as many ones as zeros: the keys of wyhash.
const LOW: u64 = 0x2d35_8dcc_aa6c_78a5;
const HIGH: u64 = 0x8bb8_4b93_962e_acc9;
const MIX: u64 = 0x4b33_a62e_d433_d4a3;

/// The fingerprint of words.
#[inline]
pub(crate) fn fingerprint(mut words: impl Iterator<Item = u64>) -> Fingerprint {
    let (mut low, mut high) = (LOW, HIGH);
    let mut length = 0_u64;
    // Two words a step: each multiplication waits for the one before.
    while let Some(word) = words.next() {
        let next = words.next();
        length += if next.is_some() { 2 } else { 1 };
        let next = next.unwrap_or(0);
        low = fold(low ^ word, next ^ HIGH);
        high = fold(high ^ next, word ^ MIX);
    }
    (fold(low ^ length, high ^ MIX), fold(high ^ length, low ^ LOW))
}

/// Both halves of the product.
#[inline]
fn fold(a: u64, b: u64) -> u64 {
    let product = u128::from(a) * u128::from(b);
    (product as u64) ^ (product >> 64) as u64
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::fingerprint;

    #[test]
    fn order_and_length_count() {
        let of = |words: &[u64]| fingerprint(words.iter().copied());
        let all = [
            of(&[]),
            of(&[0]),
            of(&[0, 0]),
            of(&[0, 0, 0]),
            of(&[1, 2]),
            of(&[2, 1]),
            of(&[1, 2, 3, 4]),
            of(&[3, 4, 1, 2]),
        ];
        assert_eq!(all.iter().collect::<HashSet<_>>().len(), all.len());
        assert_eq!(all.iter().map(|both| both.0).collect::<HashSet<_>>().len(), all.len());
        assert_eq!(all.iter().map(|both| both.1).collect::<HashSet<_>>().len(), all.len());
    }
}
