//! The end of a text stream, kept within a limit.

use std::collections::VecDeque;

/// Keeps the last bytes of a stream.
#[derive(Debug)]
pub(crate) struct Tail {
    bytes: VecDeque<u8>,
    bytes_max: usize,
}

impl Tail {
    /// Keeps this many bytes.
    pub(crate) fn new(bytes_max: usize) -> Self {
        Tail { bytes: VecDeque::new(), bytes_max }
    }

    /// Adds bytes and forgets the oldest ones.
    pub(crate) fn push(&mut self, bytes: &[u8]) {
        self.bytes.extend(bytes);
        let excess = self.bytes.len().saturating_sub(self.bytes_max);
        self.bytes.drain(..excess);
    }

    /// What is kept, as text.
    pub(crate) fn text(&self) -> String {
        let bytes: Vec<u8> = self.bytes.iter().copied().collect();
        String::from_utf8_lossy(&bytes).into_owned()
    }
}
