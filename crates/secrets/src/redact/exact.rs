//! Finds the forms of registered values.
//!
//! Every form has eight 5-byte grams at successive offsets, one of which falls on a text position that is
//! a multiple of eight; where some form is too short for that, four and four. So only every eighth or fourth
//! position is looked up, first in a bitmap that fits the cache.

use std::collections::HashMap;

use zeroize::Zeroizing;

use super::forms::{Form, forms};
use crate::Secret;

/// Bytes of a gram.
const GRAM_BYTES: usize = 5;
/// Text positions between two look-ups.
const STEP: usize = 8;
/// The same, where some form is too short.
const STEP_SHORT: usize = 4;
const GRAM_MASK: u64 = (1 << (8 * GRAM_BYTES)) - 1;
const HASH_FACTOR: u64 = 0x9E37_79B9_7F4A_7C15;
const BITMAP_BITS_MIN: u32 = 15;
const BITMAP_BITS_MAX: u32 = 22;
/// Bits of the bitmap per gram. A gram sets two of them in one word, so of unrelated text one look-up in
/// 36 passes at most.
const BITS_PER_GRAM: usize = 12;

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
    /// Text positions between two look-ups.
    step: usize,
    shortest: usize,
    longest: usize,
    bytes: ByteSet,
}

/// The bytes that forms have.
#[derive(Debug)]
struct ByteSet([bool; 256]);

impl Default for ByteSet {
    fn default() -> Self {
        ByteSet([false; 256])
    }
}

impl ByteSet {
    fn has(&self, byte: u8) -> bool {
        self.0.get(usize::from(byte)).copied().unwrap_or_default()
    }
}

impl Index {
    /// Builds the index of the values.
    pub(super) fn new<'a>(values: impl Iterator<Item = &'a Secret>) -> Self {
        let all: Vec<Form> = values.flat_map(|value| forms(value.expose())).collect();
        let shortest = all.iter().map(|form| form.bytes.len()).min().unwrap_or_default();
        let step = if shortest >= window_bytes(STEP) { STEP } else { STEP_SHORT };
        let mut index = Index { step, shortest, ..Index::default() };
        for form in &all {
            index.add(form);
        }
        index.fill_bitmap();
        index
    }

    /// Length of the longest form.
    pub(super) fn longest(&self) -> usize {
        self.longest
    }

    /// Whether a form may stand across a break between two lines: around it are enough bytes that forms have.
    pub(super) fn may_cross(&self, before: &[u8], after: &[u8], line_bytes_min: usize) -> bool {
        let wanted = self.shortest.min(line_bytes_min);
        let has = |byte: &&u8| self.bytes.has(**byte);
        let count = before.iter().rev().take(wanted).take_while(has).count();
        count + after.iter().take(wanted).take_while(has).count() >= wanted
    }

    fn add(&mut self, form: &Form) {
        let id = self.stored.len();
        let (start, len) = (self.arena.len(), form.bytes.len());
        self.arena.extend_from_slice(&form.bytes);
        self.stored.push(Stored { start, len, before: form.before, after: form.after });
        self.longest = self.longest.max(len);
        for byte in form.bytes.iter() {
            if let Some(has) = self.bytes.0.get_mut(usize::from(*byte)) {
                *has = true;
            }
        }
        let first = self.rarest_window(&form.bytes);
        for offset in first..first + self.step {
            let gram = gram_at(&form.bytes, offset);
            self.grams.entry(gram).or_default().push(Entry { form: id, offset });
        }
    }

    /// Start of the window whose grams are used least, so that common prefixes cost nothing.
    fn rarest_window(&self, form: &[u8]) -> usize {
        let last = form.len().saturating_sub(window_bytes(self.step));
        let used = |first: usize| {
            let count = |offset| self.grams.get(&gram_at(form, offset)).map_or(0, Vec::len);
            (first..first + self.step).map(count).max()
        };
        [last / 2, last, last * 3 / 4, last / 4, 0].into_iter().min_by_key(|&first| used(first)).unwrap_or(0)
    }

    fn fill_bitmap(&mut self) {
        let wanted = (self.grams.len() * BITS_PER_GRAM).next_power_of_two().trailing_zeros();
        let bits = wanted.clamp(BITMAP_BITS_MIN, BITMAP_BITS_MAX);
        self.shift = 64 - (bits - 6);
        self.bitmap = vec![0; 1 << (bits - 6)];
        for gram in self.grams.keys() {
            let (word, bits) = place(*gram, self.shift);
            if let Some(word) = self.bitmap.get_mut(word) {
                *word |= bits;
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
        let places = (0..).step_by(8);
        if self.step == STEP {
            for (at, chunk) in places.zip(chunks) {
                self.look(text, at, *chunk, found);
            }
            return self.look(text, chunks.len() * 8, tail, found);
        }
        let mut before = 0;
        for (at, chunk) in places.zip(chunks) {
            before = self.look_twice(text, at, before, *chunk, found);
        }
        let at = chunks.len() * 8;
        let last = self.look_twice(text, at, before, tail, found);
        self.verify(text, at + STEP_SHORT, last >> 32, found);
    }

    /// Looks up the gram at the place.
    #[inline]
    fn look(&self, text: &[u8], at: usize, chunk: [u8; 8], found: &mut Vec<Found>) {
        let gram = u64::from_le_bytes(chunk) & GRAM_MASK;
        if self.maybe(gram) {
            self.verify(text, at, gram, found);
        }
    }

    /// Looks up the grams that begin four bytes before the chunk and at it.
    #[inline]
    fn look_twice(&self, text: &[u8], at: usize, before: u64, chunk: [u8; 8], found: &mut Vec<Found>) -> u64 {
        let word = u64::from_le_bytes(chunk);
        let high = (before >> 32 | word << 32) & GRAM_MASK;
        let low = word & GRAM_MASK;
        if self.maybe(high) | self.maybe(low) {
            if let Some(at) = at.checked_sub(STEP_SHORT) {
                self.verify(text, at, high, found);
            }
            self.verify(text, at, low, found);
        }
        word
    }

    #[inline]
    fn maybe(&self, gram: u64) -> bool {
        let (word, bits) = place(gram, self.shift);
        self.bitmap.get(word).is_some_and(|word| word & bits == bits)
    }

    #[inline(never)]
    fn verify(&self, text: &[u8], at: usize, gram: u64, found: &mut Vec<Found>) {
        if !self.maybe(gram) {
            return;
        }
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
#[expect(clippy::cast_possible_truncation, reason = "the hash is cut to at most 16 bits")]
fn place(gram: u64, shift: u32) -> (usize, u64) {
    let hash = gram.wrapping_mul(HASH_FACTOR);
    ((hash >> shift) as usize, 1 << (hash >> 42 & 63) | 1 << (hash >> 36 & 63))
}

/// Bytes of a form that its grams cover.
const fn window_bytes(step: usize) -> usize {
    GRAM_BYTES + step - 1
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
