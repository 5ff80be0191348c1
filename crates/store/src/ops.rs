//! Whole operations, one file per noun. Each is a method of [`crate::Store`]; what several operations share
//! works on a [`crate::Unit`].

pub(crate) mod fairness;
pub mod inbound;
pub(crate) mod items;
pub mod leases;
pub(crate) mod notices;
pub mod outbox;
pub mod turns;
