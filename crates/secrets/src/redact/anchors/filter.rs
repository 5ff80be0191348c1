//! Passes over text at two bytes a look-up and stops where an anchor may stand.
//!
//! An anchor has two grams of three bytes at successive offsets, one of which falls on an even place of the
//! text. So only even places are looked up, in a bitmap that fits the fastest cache. Letters are compared
//! without their case; what passes is looked at exactly.

use super::{ANCHOR_BYTES, Anchor, fits};

const GRAM_BYTES: usize = 3;
/// Text places between two look-ups.
const STEP: usize = ANCHOR_BYTES - GRAM_BYTES + 1;
const GRAM_MASK: u32 = 0x00ff_ffff;
/// Sets the bit that tells lower from upper case, in every byte.
const FOLD: u64 = 0x2020_2020_2020_2020;
const FOLD_BYTE: u8 = 0x20;
const HASH_FACTOR: u32 = 0x9E37_79B1;
const WORD_BITS: u32 = 10;
const WORDS: usize = 1 << WORD_BITS;
const BLOCK_BYTES: usize = 8;

/// The grams of a list of anchors.
#[derive(Debug)]
pub(super) struct Filter {
    bitmap: Box<[u64; WORDS]>,
}

impl Filter {
    pub(super) fn new<'a>(anchors: impl Iterator<Item = &'a Anchor>) -> Self {
        let mut filter = Filter { bitmap: Box::new([0; WORDS]) };
        for anchor in anchors {
            for gram in anchor.classes.as_bytes().windows(GRAM_BYTES) {
                filter.add(gram, anchor.folded);
            }
        }
        filter
    }

    fn add(&mut self, classes: &[u8], folded: bool) {
        let mut grams = vec![0_u32];
        for class in classes.iter().rev() {
            let mut bytes: Vec<u8> =
                (0..=u8::MAX).filter(|byte| fits(*class, *byte, folded)).map(fold).collect();
            bytes.sort_unstable();
            bytes.dedup();
            let longer =
                |gram: &u32| bytes.iter().map(|byte| gram << 8 | u32::from(*byte)).collect::<Vec<_>>();
            grams = grams.iter().flat_map(longer).collect();
        }
        for gram in grams {
            let (word, a, b) = place(gram);
            if let Some(word) = self.bitmap.get_mut(word) {
                *word |= 1 << a | 1 << b;
            }
        }
    }

    /// Stops at every place at which, or one byte after which, an anchor may begin, and returns the place from
    /// which on the caller looks everywhere; so it does at the first place.
    pub(super) fn scan(&self, text: &[u8], mut stop: impl FnMut(usize)) -> usize {
        let (blocks, _) = text.as_chunks::<BLOCK_BYTES>();
        let mut before = 0;
        for (at, block) in (0..).step_by(BLOCK_BYTES).zip(blocks) {
            let word = u64::from_le_bytes(*block) | FOLD;
            let grams = [low(before >> 48 | word << 16), low(word), low(word >> 16), low(word >> 32)];
            let [a, b, c, d] = grams.map(|gram| self.bit(gram));
            if (a | b | c | d) & 1 != 0 {
                self.stop_at(at, grams, &mut stop);
            }
            before = word;
        }
        (blocks.len() * BLOCK_BYTES).saturating_sub(STEP + 1).max(1)
    }

    /// The grams begin two bytes before the block, and an anchor a byte before its second gram.
    #[inline(never)]
    fn stop_at(&self, block: usize, grams: [u32; 4], stop: &mut impl FnMut(usize)) {
        for (place, gram) in (block..).step_by(STEP).zip(grams) {
            let first = place.checked_sub(STEP + 1).filter(|_| self.bit(gram) & 1 != 0);
            if let Some(first) = first {
                stop(first);
            }
        }
    }

    /// The lowest bit tells whether the gram is one of an anchor's.
    #[inline]
    fn bit(&self, gram: u32) -> u64 {
        let (word, a, b) = place(gram);
        self.bitmap.get(word).map_or(0, |word| word >> a & word >> b)
    }
}

fn fold(byte: u8) -> u8 {
    byte | FOLD_BYTE
}

#[inline]
#[expect(clippy::cast_possible_truncation, reason = "the mask leaves three bytes")]
fn low(word: u64) -> u32 {
    word as u32 & GRAM_MASK
}

/// The word of a gram and its two bits there.
#[inline]
fn place(gram: u32) -> (usize, u32, u32) {
    let hash = gram.wrapping_mul(HASH_FACTOR);
    ((hash >> (u32::BITS - WORD_BITS)) as usize, hash >> 16 & 63, hash >> 10 & 63)
}
