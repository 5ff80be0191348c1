//! The channel against the twin.

mod directory;
mod inbound;
mod outbound;
mod outcomes;
mod proxy;
mod sockets;
mod stage;

pub(super) use stage::text_part;
