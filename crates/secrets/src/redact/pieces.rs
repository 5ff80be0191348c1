//! Registered values in what is too large to be held at once.

use std::io::{self, Read};

use super::Redactor;
use super::scan::Engine;

/// Bytes before a place that tell whether a value begins there.
const LOOKBEHIND_BYTES: usize = 1024;
/// New bytes that are looked through at once, at least.
const WORK_BYTES: usize = 128 * 1024;

impl Redactor {
    /// Whether what is read holds a registered value in any form. Few bytes are held at once, and a value
    /// that lies across two readings is found.
    pub fn holds_exact_in(&self, mut source: impl Read) -> io::Result<bool> {
        let engine = self.engine();
        let overlap = engine.overlap_bytes();
        let (mut buffer, mut from) = (Vec::new(), 0);
        loop {
            let wanted = WORK_BYTES.max(overlap);
            let read =
                source.by_ref().take(u64::try_from(wanted).unwrap_or(u64::MAX)).read_to_end(&mut buffer)?;
            let is_last = read < wanted;
            let cut = if is_last { buffer.len() } else { buffer.len().saturating_sub(overlap) };
            if engine.holds_exact_between(&buffer, from, cut) {
                return Ok(true);
            }
            if is_last {
                return Ok(false);
            }
            let gone = cut.saturating_sub(LOOKBEHIND_BYTES);
            buffer.drain(..gone);
            from = cut - gone;
        }
    }
}

impl Engine {
    /// Whether a registered value begins between the places.
    fn holds_exact_between(&self, text: &[u8], from: usize, to: usize) -> bool {
        self.exact(text).iter().any(|hit| (from..to).contains(&hit.start))
    }
}
