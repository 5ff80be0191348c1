//! Event streams: resumable, bounded, kept alive by comments, cut when the reader is too slow (ID-10).

mod feed;
mod turn;
mod wire;

pub(crate) use feed::{Feed, Filter, Span};
pub(crate) use turn::TurnFeed;
pub(crate) use wire::answer;
