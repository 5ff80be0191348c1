//! Generated ids: functions of the seed and a counter, so a run can be repeated.

use sha2::{Digest, Sha256};

use super::clock;

/// Smallest step between two message timestamps, in microseconds.
const TS_STEP_MICROS: u64 = 100;
/// Length of the random-looking tail of an id.
const TAIL_LEN: usize = 9;

/// Source of ids and timestamps.
#[derive(Debug)]
pub(super) struct Ids {
    seed: u64,
    counter: u64,
    last_micros: u64,
}

impl Ids {
    pub(super) fn new(seed: u64) -> Self {
        Self { seed, counter: 0, last_micros: 0 }
    }

    fn digest(&mut self) -> [u8; 32] {
        self.counter += 1;
        let mut hash = Sha256::new();
        hash.update(self.seed.to_be_bytes());
        hash.update(self.counter.to_be_bytes());
        hash.finalize().into()
    }

    /// A provider-looking id: prefix and capital letters or digits.
    pub(super) fn id(&mut self, prefix: &str) -> String {
        const ALPHABET: &[u8; 32] = b"ABCDEFGHJKLMNPQRSTUVWXYZ23456789";
        let tail = self.digest().into_iter().take(TAIL_LEN);
        let tail = tail.filter_map(|b| ALPHABET.get(usize::from(b % 32))).map(|b| char::from(*b));
        std::iter::once(prefix).map(String::from).chain(tail.map(String::from)).collect()
    }

    /// A UUID-looking id (version 4 layout).
    pub(super) fn uuid(&mut self) -> String {
        let h = hex::encode(self.digest());
        let part = |from: usize, to: usize| h.get(from..to).unwrap_or_default();
        format!("{}-{}-4{}-8{}-{}", part(0, 8), part(8, 12), part(13, 16), part(17, 20), part(20, 32))
    }

    /// A fresh secret-looking word.
    pub(super) fn secret(&mut self) -> String {
        hex::encode(self.digest()).get(..32).unwrap_or_default().to_owned()
    }

    /// The next message timestamp: wall clock, strictly growing over the whole team.
    pub(super) fn ts(&mut self) -> String {
        self.last_micros = clock::now_micros().max(self.last_micros + TS_STEP_MICROS);
        format!("{}.{:06}", self.last_micros / 1_000_000, self.last_micros % 1_000_000)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_repeat_with_the_seed_and_timestamps_grow() {
        let (mut a, mut b) = (Ids::new(7), Ids::new(7));
        assert_eq!(a.id("F"), b.id("F"));
        assert_eq!(a.uuid(), b.uuid());
        assert_eq!(a.uuid().len(), 36);
        let (first, second) = (a.ts(), a.ts());
        assert!(second > first, "{second} after {first}");
    }
}
