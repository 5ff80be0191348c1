//! Threads, Inbox, Refusals, sends and Outbox.

use std::time::Duration;

use loom_api::{Mutation, Page, query, request, view};
use loom_domain::{ArtifactId, Event, EventId, InboxId, OutboxId, Principal, inbox};
use serde::Serialize;

use super::{Intent, desk};

/// End of a Membership's test.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(untagged)]
pub enum TestEnd {
    /// A message was sent.
    Outbound(Box<view::OutboxEntry>),
    /// A message with a code was waited for.
    Inbound(view::InboundTest),
}

desk! {
    /// An Agent's Thread.
    Threads {
        /// Lists its Turns.
        thread(principal: Principal, agent: String, query: query::Paging) -> Page<view::TurnEntry>;
        /// Puts the owner's words into its Inbox, and waits for the answer if asked.
        thread_input(principal: Principal, agent: String, input: request::ThreadInput, wait: Duration) -> view::ThreadInputResult;
    }
}

desk! {
    /// The Inbox.
    Inbox {
        /// Lists items.
        inbox(principal: Principal, query: query::Inbox) -> Page<view::InboxEntry>;
        /// Reads one by its own, its Message's or its Event's id.
        inbox_item(principal: Principal, id: String) -> view::InboxDetail;
        /// Replies.
        reply(principal: Principal, id: InboxId, reply: request::Reply, wait: Duration) -> view::OutboxEntry;
        /// Decides that no reply will be sent.
        no_reply(intent: Intent, id: InboxId, change: request::NoReply) -> Mutation<inbox::Item>;
        /// Puts it off.
        defer(intent: Intent, id: InboxId, change: request::Defer) -> Mutation<inbox::Item>;
        /// Tries it again.
        retry_inbox(intent: Intent, id: InboxId, change: request::Retry) -> Mutation<inbox::Item>;
        /// Cancels it.
        cancel_inbox(intent: Intent, id: InboxId, change: request::Cancel) -> Mutation<inbox::Item>;
        /// Lets a held attachment through.
        release_attachment(intent: Intent, id: InboxId, artifact: ArtifactId) -> Mutation<inbox::Item>;
    }
}

desk! {
    /// Refused Events.
    Refusals {
        /// Lists them.
        refusals(principal: Principal, query: query::Refusals) -> Page<Event>;
        /// Counts them by reason.
        refusal_counts(principal: Principal, query: query::Refusals) -> Page<view::ReasonCount>;
        /// Reads one with the steps that refused it.
        refusal(principal: Principal, id: EventId) -> view::RefusalDetail;
        /// Judges one again.
        replay_refusal(principal: Principal, id: EventId) -> view::ReplayedEvent;
    }
}

desk! {
    /// Sends.
    Sends {
        /// Admits, stores, and waits for the end if asked.
        send(principal: Principal, send: request::Send, wait: Duration) -> view::OutboxEntry;
        /// Admits only.
        admission(principal: Principal, send: request::Send) -> view::Admission;
    }
}

desk! {
    /// The Outbox.
    Outbox {
        /// Lists items.
        outbox(principal: Principal, query: query::Outbox) -> Page<view::OutboxEntry>;
        /// Lists those that wait for a release.
        releases(principal: Principal, query: query::Paging) -> Page<view::OutboxEntry>;
        /// Reads one, at its end if asked to wait.
        outbox_item(principal: Principal, id: OutboxId, wait: Duration) -> view::OutboxDetail;
        /// Tries it again.
        retry_outbox(intent: Intent, id: OutboxId, change: request::Retry) -> Mutation<view::OutboxEntry>;
        /// Cancels what is not in flight.
        cancel_outbox(intent: Intent, id: OutboxId, change: request::Cancel) -> Mutation<view::OutboxEntry>;
        /// Takes the owner's word on unknown Parts.
        settle(intent: Intent, id: OutboxId, change: request::Settle) -> Mutation<view::OutboxEntry>;
    }
}
