//! Cutting a text into messages: paragraph, line, sentence, word, grapheme, in that order.

mod cut;
mod lines;

use crate::Limit;
use cut::Cutter;

/// One message's text and how much of it the chunker added.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Chunk {
    /// Text to send.
    pub text: String,
    head: usize,
    tail: usize,
}

impl Chunk {
    /// The part of the text that came from the source.
    pub fn body(&self) -> &str {
        self.text.get(self.head..self.text.len().saturating_sub(self.tail)).unwrap_or("")
    }
}

/// The text needs more messages than allowed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the text needs more than {chunks_max} messages")]
pub struct TooLong {
    /// Messages that were allowed.
    pub chunks_max: usize,
}

/// Cuts a text into messages of at most `limit`, keeping how each was made.
pub fn split_chunks(text: &str, limit: Limit, chunks_max: usize) -> Result<Vec<Chunk>, TooLong> {
    let mut cutter = Cutter::new(text, limit);
    let mut chunks = Vec::new();
    while let Some(chunk) = cutter.next_chunk() {
        if chunks.len() == chunks_max {
            return Err(TooLong { chunks_max });
        }
        chunks.push(chunk);
    }
    Ok(chunks)
}

/// Cuts a text into messages of at most `limit`. An empty text gives none.
pub fn split(text: &str, limit: Limit, chunks_max: usize) -> Result<Vec<String>, TooLong> {
    Ok(split_chunks(text, limit, chunks_max)?.into_iter().map(|chunk| chunk.text).collect())
}

/// The first message of a text that is too long to be sent whole.
pub fn first_chunk(text: &str, limit: Limit) -> String {
    Cutter::new(text, limit).next_chunk().map(|chunk| chunk.text).unwrap_or_default()
}

/// The source text of the chunks: everything but the added fence lines.
pub fn join(chunks: &[Chunk]) -> String {
    chunks.iter().map(Chunk::body).collect()
}
