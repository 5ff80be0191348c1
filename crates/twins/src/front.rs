//! What the reading twins (GitHub, SEC) share: the listener, the ledger of requests, planned failures, seeded facts.

pub(crate) mod answer;
#[cfg(test)]
pub(crate) mod client;
pub(crate) mod clock;
mod control;
mod fault;
mod ledger;
mod listen;
mod seeded;

pub use fault::Fault;
pub use ledger::Request;

pub(crate) use control::handle as control;
pub(crate) use fault::Faults;
pub(crate) use ledger::Ledger;
pub(crate) use listen::{Call, Front, Service};
pub(crate) use seeded::{Dice, instant};
