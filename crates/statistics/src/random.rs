//! Random numbers that are the same on every machine and in every version.

/// SplitMix64 (Steele, Lea and Flood 2014).
#[derive(Clone, Debug)]
pub struct SplitMix64(u64);

impl SplitMix64 {
    /// A generator that starts at `seed`.
    #[must_use]
    pub fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// The next 64 bits.
    pub fn next_u64(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ z >> 30).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ z >> 27).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ z >> 31
    }

    /// A number below `limit`, each equally likely; 0 when `limit` is 0.
    pub fn below(&mut self, limit: u64) -> u64 {
        // Lemire 2019: the low half of the product tells the few draws that would favour small numbers.
        let surplus = limit.wrapping_neg().checked_rem(limit).unwrap_or(0);
        loop {
            let product = u128::from(self.next_u64()) * u128::from(limit);
            if product as u64 >= surplus {
                return (product >> 64) as u64;
            }
        }
    }
}

/// A seed for the labellings of these runs: the FNV-1a hash of their sorted ids. Each id is followed by a byte that
/// occurs in no UTF-8 text, so that `["ab", "c"]` and `["a", "bc"]` differ.
#[must_use]
pub fn seed_of(ids: &[&str]) -> u64 {
    let mut sorted = ids.to_vec();
    sorted.sort_unstable();
    let bytes = sorted.iter().flat_map(|id| id.bytes().chain([0xFF]));
    bytes.fold(0xCBF2_9CE4_8422_2325, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01B3))
}

#[cfg(test)]
mod tests {
    use super::{SplitMix64, seed_of};

    #[test]
    fn the_published_stream() {
        let mut random = SplitMix64::new(1_234_567);
        let first = [(); 3].map(|()| random.next_u64());
        assert_eq!(first, [6_457_827_717_110_365_317, 3_203_168_211_198_807_973, 9_817_491_932_198_370_423]);
    }

    #[test]
    fn seeds_do_not_depend_on_the_order_of_ids() {
        assert_eq!(seed_of(&["b", "a"]), seed_of(&["a", "b"]));
        assert_ne!(seed_of(&["ab", "c"]), seed_of(&["a", "bc"]));
        // FNV-1a of the bytes `a` and 0xFF.
        assert_eq!(seed_of(&["a"]), (0xAF63_DC4C_8601_EC8C_u64 ^ 0xFF).wrapping_mul(0x0100_0000_01B3));
    }

    #[test]
    fn numbers_below_a_limit_are_equally_likely() {
        let mut random = SplitMix64::new(7);
        let mut counts = [0u32; 6];
        for _ in 0..60_000 {
            counts[random.below(6) as usize] += 1;
        }
        assert!(counts.iter().all(|&count| count.abs_diff(10_000) < 400), "{counts:?}");
        assert_eq!(random.below(0), 0);
        assert_eq!(random.below(1), 0);
    }
}
