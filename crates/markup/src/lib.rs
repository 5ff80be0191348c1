//! Agent Markdown to each platform's text, platform text to plain text, and splitting within limits.
//!
//! What it is not: it knows no platform API, no network, and no policy.
//!
//! Invariants
//! - No character of the text is lost: a conversion changes its form, the chunker only cuts it.
//! - Every chunk fits the limit in the platform's own unit, added fence lines included.
//! - Agent text never becomes a mention or a broadcast unless the caller allowed that very id.

pub mod chunk;
pub mod feishu;
mod fence;
mod limit;
mod link;
pub mod slack;
mod table;

pub use chunk::{Chunk, TooLong, first_chunk, join, split, split_chunks};
pub use limit::{Limit, Unit};
pub use table::tables_to_fences;
