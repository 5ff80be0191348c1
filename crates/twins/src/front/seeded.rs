//! Facts as functions of the seed: nothing is stored, and every run says the same.

use jiff::Timestamp;

/// A source of numbers that look random and depend on the seed and the asked subject alone.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Dice(u64);

impl Dice {
    pub(crate) fn new(seed: u64) -> Self {
        Self(mix(seed))
    }

    /// The dice of a part of the subject.
    pub(crate) fn of(self, part: &str) -> Self {
        let fold = |hash: u64, byte: &u8| (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3);
        Self(mix(part.as_bytes().iter().fold(self.0, fold)))
    }

    /// The dice of one of many.
    pub(crate) fn at(self, number: u64) -> Self {
        Self(mix(self.0 ^ mix(number)))
    }

    /// A number below `end`.
    pub(crate) fn below(self, end: u64) -> u64 {
        mix(self.0) % end.max(1)
    }

    /// True in this many of a hundred cases.
    pub(crate) fn percent(self, share: u64) -> bool {
        self.below(100) < share
    }

    /// One of the words; empty when there are none.
    pub(crate) fn pick<'a>(self, words: &[&'a str]) -> &'a str {
        let at = self.below(u64::try_from(words.len()).unwrap_or(u64::MAX));
        usize::try_from(at).ok().and_then(|at| words.get(at)).copied().unwrap_or_default()
    }

    /// Forty hexadecimal digits, as of a git object.
    pub(crate) fn oid(self) -> String {
        let word = |n| mix(self.0 ^ n);
        format!("{:016x}{:016x}{:08x}", word(1), word(2), word(3) >> 32)
    }
}

/// The finalizer of `SplitMix64` (Steele, Lea, Flood: Fast splittable pseudorandom number generators, 2014).
fn mix(seed: u64) -> u64 {
    let mut z = seed.wrapping_add(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

/// `2026-01-02T03:04:05Z` of Unix seconds.
pub(crate) fn instant(unix_secs: u64) -> String {
    let at = i64::try_from(unix_secs).ok().and_then(|secs| Timestamp::from_second(secs).ok());
    at.unwrap_or(Timestamp::UNIX_EPOCH).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_subject_always_gives_the_same_number() {
        let dice = Dice::new(7).of("pull").at(12);
        assert_eq!(dice.below(1000), Dice::new(7).of("pull").at(12).below(1000));
        assert_ne!(dice.oid(), Dice::new(7).of("pull").at(13).oid());
        assert_eq!(dice.oid().len(), 40);
        let hits = (0..10_000).filter(|n| Dice::new(1).at(*n).percent(20)).count();
        assert!((1800..2200).contains(&hits), "{hits}");
    }

    #[test]
    fn instants_read_like_a_providers() {
        assert_eq!(instant(1_767_225_600), "2026-01-01T00:00:00Z");
    }
}
