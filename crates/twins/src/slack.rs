//! A simulated Slack: Web API, Socket Mode, files, and the people on the other side.
//!
//! It is one team with one app on one loopback port. The client under test gets [`SlackTwin::base_url`]
//! and the tokens of [`Config`]; a test plays the people through [`SlackTwin::act`] and its shorthands,
//! makes things fail with [`Fault`] and [`Knobs`], and reads what people saw from [`SlackTwin::ledger`].
//!
//! The same over HTTP, for another process or for curl (all JSON, loopback only):
//!
//! - `GET /twin/ledger`, `/twin/requests`, `/twin/counters`, `/twin/knobs`, `/twin/faults`, `/twin/world`
//! - `POST /twin/<action>` with the fields of the [`Action`], e.g.
//!   `curl -d '{"channel":"C0GENERAL","user":"U0ANN","text":"hi","mention":true}' $TWIN/twin/post`
//! - `POST /twin/deliver` with an [`HttpDelivery`]: a signed HTTP delivery, answered with status and body
//! - `POST /twin/knobs` with the [`Knobs`] to change
//!
//! # Transcript
//!
//! The ledger is a published format (`loom-slack-transcript/1`), so that someone with a real workspace can
//! replay a run and compare. It is one object `{format, team, app, messages}`; each message, in the order
//! people saw them over all conversations, is `{channel, ts, thread_ts, broadcast, author, by_app, text,
//! blocks, files:[{id,name,size,sha256}], metadata, pings, edits:[{ts,previous_text}], deleted,
//! reactions:[{name,users}], ephemeral_to}`. To compare two runs, number the `ts` and file ids by first
//! appearance. Timestamps follow the wall clock; every other id is a function of the seed.
//!
//! What it never does: talk to anything but loopback, or hand out a token it was not given.

use crate::front::{answer, clock};

mod action;
mod api;
mod blocks;
mod config;
mod control;
mod delivery;
mod error;
mod events;
mod faulty;
mod files;
mod http;
mod ids;
mod knobs;
mod ledger;
mod limits;
mod message;
mod multipart;
mod params;
mod people;
mod requests;
mod share;
mod shared;
mod signed;
mod socket;
mod transfer;
mod twin;
mod world;

#[cfg(test)]
mod tests;

pub use action::Action;
pub use blocks::escape;
pub use config::{ChannelKind, ChannelSpec, Config, DEFAULT_SCOPES};
pub use delivery::{Ack, Unacked};
pub use error::TwinError;
pub use knobs::{Fault, FaultAction, Knobs};
pub use ledger::{Ledger, LedgerEdit, LedgerFile, LedgerMessage, LedgerReaction, TRANSCRIPT_FORMAT};
pub use people::{NewFile, Post, Posted};
pub use requests::{Counters, Request};
pub use signed::{HttpDelivery, signature};
pub use twin::SlackTwin;
