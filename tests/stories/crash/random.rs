//! Small repeatable randomness (xorshift64*).

/// A seeded generator.
pub(super) struct Random(u64);

impl Random {
    pub(super) fn new(seed: u64) -> Self {
        Random(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1)
    }

    /// A number below `end`.
    pub(super) fn below(&mut self, end: u32) -> u32 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        let high = self.0.wrapping_mul(0x2545_F491_4F6C_DD1D) >> 33;
        u32::try_from(high % u64::from(end.max(1))).unwrap()
    }

    /// True once in `n`.
    pub(super) fn once_in(&mut self, n: u32) -> bool {
        self.below(n) == 0
    }
}
