//! The Inbox: lists and details, decisions of owner and Agent, Refusals, and what the hub's workers look up.

mod decide;
mod input;
mod read;
mod refusals;
mod work;

pub use input::ThreadText;
pub(crate) use read::{attempts_of, event_of_message, find_item};
pub use work::ActiveMark;
