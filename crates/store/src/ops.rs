//! Whole operations, one file per noun. Each is a method of [`crate::Store`]; what several operations share
//! works on a [`crate::Unit`].

pub mod addresses;
pub mod agents;
pub mod artifacts;
pub mod audit_read;
pub mod audit_write;
pub mod candidates;
pub(crate) mod change;
pub mod connections;
pub(crate) mod fairness;
pub mod feed;
pub mod figures;
pub mod gates;
pub mod glance;
pub mod grants;
pub mod history_cursor;
pub mod inbound;
pub mod inbox;
pub mod integration;
pub(crate) mod items;
pub mod leases;
pub mod ledger;
pub(crate) mod lookup;
pub mod memberships;
pub mod notices;
pub mod outbox;
pub mod outbox_read;
pub mod policy;
pub mod report;
pub mod retention;
pub mod schedules;
pub mod stats;
pub mod threads;
pub mod tokens;
pub mod turns;
pub mod webhooks;
