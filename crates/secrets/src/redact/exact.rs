//! Finds the forms of registered values.
//!
//! Every form has four 5-byte grams at successive offsets, one of which falls on a text position that is
//! a multiple of four. So only every fourth position is looked up, first in a bitmap that fits the cache.

use std::collections::HashMap;

use zeroize::Zeroizing;

use super::forms::{Form, forms};
use crate::Secret;

/// Bytes of a gram.
const GRAM_BYTES: usize = 5;
/// Text positions between two look-ups.
const STEP: usize = 4;
/// Bytes of a form that its four grams cover.
const WINDOW_BYTES: usize = GRAM_BYTES + STEP - 1;
const GRAM_MASK: u64 = (1 << (8 * GRAM_BYTES)) - 1;
const HASH_FACTOR: u64 = 0x9E37_79B9_7F4A_7C15;
const BITMAP_BITS_MIN: u32 = 15;
const BITMAP_BITS_MAX: u32 = 22;
/// Bits per gram in the bitmap: one look-up in 24 of unrelated text passes at most.
const BITS_PER_GRAM: usize = 24;

/// A form found in a text.
#[derive(Debug, Clone, Copy)]
pub(super) struct Found {
    pub(super) start: usize,
    pub(super) end: usize,
    pub(super) before: bool,
    pub(super) after: bool,
}

#[derive(Debug, Clone, Copy)]
struct Stored {
    start: usize,
    len: usize,
    before: bool,
    after: bool,
}

#[derive(Debug, Clone, Copy)]
struct Entry {
    form: usize,
    offset: usize,
}

/// All forms of all registered values, ready to be looked up.
#[derive(Debug, Default)]
pub(super) struct Index {
    arena: Zeroizing<Vec<u8>>,
    stored: Vec<Stored>,
    bitmap: Vec<u64>,
    shift: u32,
    grams: HashMap<u64, Vec<Entry>, GramHash>,
    longest: usize,
}

impl Index {
    /// Builds the index of the values.
    pub(super) fn new<'a>(values: impl Iterator<Item = &'a Secret>) -> Self {
        let mut index = Index::default();
        for value in values {
            for form in forms(value.expose()) {
                index.add(&form);
            }
        }
        index.fill_bitmap();
        index
    }

    /// Length of the longest form.
    pub(super) fn longest(&self) -> usize {
        self.longest
    }

    fn add(&mut self, form: &Form) {
        let id = self.stored.len();
        let (start, len) = (self.arena.len(), form.bytes.len());
        self.arena.extend_from_slice(&form.bytes);
        self.stored.push(Stored { start, len, before: form.before, after: form.after });
        self.longest = self.longest.max(len);
        let first = self.rarest_window(&form.bytes);
        for offset in first..first + STEP {
            let gram = gram_at(&form.bytes, offset);
            self.grams.entry(gram).or_default().push(Entry { form: id, offset });
        }
    }

    /// Start of the window whose grams are used least, so that common prefixes cost nothing.
    fn rarest_window(&self, form: &[u8]) -> usize {
        let last = form.len().saturating_sub(WINDOW_BYTES);
        let used = |first: usize| {
            let count = |offset| self.grams.get(&gram_at(form, offset)).map_or(0, Vec::len);
            (first..first + STEP).map(count).max()
        };
        [last / 2, last, last * 3 / 4, last / 4, 0].into_iter().min_by_key(|&first| used(first)).unwrap_or(0)
    }

    fn fill_bitmap(&mut self) {
        let wanted = (self.grams.len() * BITS_PER_GRAM).next_power_of_two().trailing_zeros();
        let bits = wanted.clamp(BITMAP_BITS_MIN, BITMAP_BITS_MAX);
        self.shift = 64 - bits;
        self.bitmap = vec![0; 1 << (bits - 6)];
        for gram in self.grams.keys() {
            let (word, bit) = place(*gram, self.shift);
            if let Some(word) = self.bitmap.get_mut(word) {
                *word |= bit;
            }
        }
    }

    /// Reports every form in the text.
    pub(super) fn find(&self, text: &[u8], found: &mut Vec<Found>) {
        if self.stored.is_empty() {
            return;
        }
        let (chunks, rest) = text.as_chunks::<8>();
        let mut tail = [0; 8];
        for (to, from) in tail.iter_mut().zip(rest) {
            *to = *from;
        }
        let mut words = chunks.iter().chain([&tail]).map(|chunk| u64::from_le_bytes(*chunk));
        let Some(mut word) = words.next() else { return };
        for (at, next) in (0..).step_by(8).zip(words.chain([0])) {
            let low = word & GRAM_MASK;
            let high = (word >> 32 | next << 32) & GRAM_MASK;
            if self.maybe(low) | self.maybe(high) {
                self.verify(text, at, low, found);
                self.verify(text, at + STEP, high, found);
            }
            word = next;
        }
    }

    #[inline]
    fn maybe(&self, gram: u64) -> bool {
        let (word, bit) = place(gram, self.shift);
        self.bitmap.get(word).is_some_and(|word| word & bit != 0)
    }

    #[inline(never)]
    fn verify(&self, text: &[u8], at: usize, gram: u64, found: &mut Vec<Found>) {
        for entry in self.grams.get(&gram).map(Vec::as_slice).unwrap_or_default() {
            let Some(form) = self.stored.get(entry.form) else { continue };
            let Some(start) = at.checked_sub(entry.offset) else { continue };
            let here = text.get(start..start + form.len);
            if here.is_some() && here == self.arena.get(form.start..form.start + form.len) {
                let (before, after) = (form.before, form.after);
                found.push(Found { start, end: start + form.len, before, after });
            }
        }
    }
}

#[inline]
#[expect(clippy::cast_possible_truncation, reason = "the hash is cut to at most 22 bits")]
fn place(gram: u64, shift: u32) -> (usize, u64) {
    let hash = gram.wrapping_mul(HASH_FACTOR) >> shift;
    ((hash >> 6) as usize, 1 << (hash & 63))
}

fn gram_at(bytes: &[u8], offset: usize) -> u64 {
    let gram = bytes.get(offset..offset + GRAM_BYTES).unwrap_or_default();
    gram.iter().rev().fold(0, |gram, byte| gram << 8 | u64::from(*byte))
}

/// Hashes grams by one multiplication; the map is built from values that the user chose.
#[derive(Debug, Clone, Copy, Default)]
struct GramHash;

#[derive(Debug)]
struct GramHasher(u64);

impl std::hash::BuildHasher for GramHash {
    type Hasher = GramHasher;

    fn build_hasher(&self) -> GramHasher {
        GramHasher(0)
    }
}

impl std::hash::Hasher for GramHasher {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.write_u64(u64::from(*byte) ^ self.0);
        }
    }

    fn write_u64(&mut self, value: u64) {
        let product = value.wrapping_mul(HASH_FACTOR);
        self.0 = product ^ product >> 32;
    }
}
