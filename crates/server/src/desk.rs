//! What the routes ask of the hub, one trait a noun, in the words of the wire.
//!
//! A handler translates HTTP and calls one method; what the answer is, and who may see which object, the hub
//! decides with the principal it is given.

mod artifacts;
mod calls;
mod duty;
mod hub;
mod integration;
mod loops;
mod records;
mod reports;
mod schedules;
pub(crate) mod silent;
mod turns;
mod webhooks;
mod work;

pub use artifacts::{Artifacts, Download, Incoming};
pub use calls::Calls;
pub use duty::{Answers, Duty};
pub use hub::doors;
pub(crate) use hub::live::read_events;
pub(crate) use hub::tokens::stored_token;
pub use integration::Integration;
pub use loops::Loops;
pub use records::{Addresses, Agents, Connections, Memberships, Tokens};
pub use reports::Reports;
pub use schedules::Schedules;
pub use turns::{TurnNews, Turns};
pub use webhooks::Webhooks;
pub use work::{Inbox, Outbox, Refusals, Sends, TestEnd, Threads};

use loom_domain::Principal;

/// How a change is meant, and by whom.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Intent {
    /// Who acts.
    pub principal: Principal,
    /// Whether only the plan is wanted; nothing is written then.
    pub dry_run: bool,
}

/// Everything the routes ask of the hub.
pub trait Desk:
    Agents
    + Connections
    + Tokens
    + Addresses
    + Memberships
    + Threads
    + Inbox
    + Refusals
    + Sends
    + Outbox
    + Artifacts
    + Answers
    + Calls
    + Duty
    + Reports
    + Schedules
    + Integration
    + Turns
    + Loops
    + Webhooks
{
}

impl<T> Desk for T where
    T: Agents
        + Connections
        + Tokens
        + Addresses
        + Memberships
        + Threads
        + Inbox
        + Refusals
        + Sends
        + Outbox
        + Artifacts
        + Answers
        + Calls
        + Duty
        + Reports
        + Schedules
        + Integration
        + Turns
        + Loops
        + Webhooks
{
}

/// Declares the trait of a noun; each method is async and answers with the one error object. It also
/// makes the desk of a server without a hub, which answers every call with `not_found` and the method's name.
macro_rules! desk {
    ($(#[$doc:meta])* $name:ident { $($(#[$fdoc:meta])* $method:ident($($arg:ident: $type:ty),*) -> $answer:ty;)* }) => {
        $(#[$doc])*
        #[async_trait::async_trait]
        pub trait $name: Send + Sync + 'static {
            $($(#[$fdoc])* async fn $method(&self, $($arg: $type),*) -> Result<$answer, loom_domain::Error>;)*
        }

        #[async_trait::async_trait]
        impl $name for crate::desk::silent::Silent {
            $(async fn $method(&self, $($arg: $type),*) -> Result<$answer, loom_domain::Error> {
                Err(crate::desk::silent::reached(stringify!($method), &[$(&format!("{:?}", $arg)),*]))
            })*
        }
    };
}
pub(crate) use desk;
