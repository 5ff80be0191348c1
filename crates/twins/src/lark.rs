//! A simulated Feishu / Lark open platform, as far as an app reads it: tokens that end, chats, members, messages page
//! by page, documents, and the platform's own envelope of codes.
//!
//! An app sends, answers, uploads and reacts, as far as a sending client goes: a uuid makes one message within its
//! hour ([`World::uuid_memory_ms`]), a post is read back in other tags than it was sent in, groups may know no topics
//! ([`World::topics`]), and an answer can be lost after the message was made ([`FaultAction::DropAfterActing`]).
//!
//! The client under test gets [`LarkTwin::base_url`] with [`LarkTwin::app`]. A test reads what was asked
//! ([`LarkTwin::requests`]), makes tokens end ([`LarkTwin::end_tokens`]) and requests fail ([`LarkTwin::fault`]).
//!
//! The same over HTTP: `GET /twin/requests`, `GET /twin/faults`, `POST /twin/fault` with a [`Fault`] of
//! [`FaultAction`], `POST /twin/clear`.
//!
//! # Sources
//!
//! «Obtain a tenant access token of a custom app», «Obtain the list of groups», «Obtain group member list», «Obtain chat
//! history», «Obtain the content of a message», «Obtain bot information», «Obtain plain text content of a document»:
//! <https://open.feishu.cn/document/server-docs/>. Page sizes of at most 50 messages, 100 chats and members.

mod act;
mod media;
mod post;
mod serve;
mod twin;
mod world;

pub use crate::front::{Fault, Request};
pub use serve::FaultAction;
pub use twin::LarkTwin;
pub use world::{LarkFile, LarkMessage, LarkReaction, World};
