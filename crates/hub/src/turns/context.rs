//! Reads the thread of a message at claim time, within a budget. A failure never holds the Turn back.

use std::time::Duration;

use loom_channels::HistoryQuery;
use loom_domain::{
    Message,
    decision::{CONTEXT_BYTES_MAX, CONTEXT_CHARS_MAX, CONTEXT_MESSAGES_MAX},
    message::{ContextMessage, ContextRole, ThreadContext},
};
use loom_store::ops::turns::Claimed;

use crate::hub::Hub;

const BUDGET: Duration = Duration::from_secs(10);
const READ_MAX: usize = 64;
const REASON_BYTES_MAX: usize = 1_024;

/// The context of the message's thread; `None` when it is in none.
pub(super) async fn read(hub: &Hub, claimed: &Claimed, message: &Message) -> Option<ThreadContext> {
    let thread = message.conversation.thread_id.clone()?;
    if message.thread_context.is_some() {
        return message.thread_context.clone();
    }
    let connection = claimed.connection.as_ref()?;
    let Some(channel) = hub.channel(&connection.id) else {
        return Some(unavailable("no gateway serves this Connection"));
    };
    let query = HistoryQuery {
        conversation_id: message.conversation.conversation_id.clone(),
        thread_id: Some(thread.clone()),
        after: None,
        since: None,
        limit: READ_MAX,
    };
    match tokio::time::timeout(BUDGET, channel.history(query)).await {
        Ok(Ok(page)) => Some(without_secrets(hub, select(claimed, message, &thread, page))),
        Ok(Err(fault)) => Some(unavailable(&fault.to_string())),
        Err(_) => Some(unavailable("the thread could not be read in time")),
    }
}

/// What people wrote of our own secrets is kept from the Agent and the store alike.
fn without_secrets(hub: &Hub, mut context: ThreadContext) -> ThreadContext {
    for entry in &mut context.messages {
        if hub.redactor().holds_exact(&entry.text) {
            entry.text = hub.stored_text(&entry.text);
        }
    }
    context
}

fn unavailable(why: &str) -> ThreadContext {
    ThreadContext {
        unavailable_reason: Some(loom_domain::text::prefix(why, REASON_BYTES_MAX).to_owned()),
        ..ThreadContext::default()
    }
}

/// Root and latest replies, within the limits; blocked senders, the message itself and empty ones are left out.
fn select(
    claimed: &Claimed,
    message: &Message,
    thread: &str,
    page: loom_channels::HistoryPage,
) -> ThreadContext {
    let blocked = claimed.address.as_ref().map(|a| a.block_actors.clone()).unwrap_or_default();
    let mut context = ThreadContext { truncated: page.truncated, ..ThreadContext::default() };
    let mut kept = Vec::new();
    for entry in page.messages {
        let id = entry.event.conversation.message_id.clone().unwrap_or_default();
        let sender = entry.event.sender.as_ref().map(|s| s.external_id.clone()).unwrap_or_default();
        let is_current = message.conversation.message_id.as_deref() == Some(id.as_str());
        if blocked.contains(&sender) {
            context.left_out = context.left_out.saturating_add(1);
            continue;
        }
        if is_current || id.is_empty() || entry.event.content.text.trim().is_empty() {
            continue;
        }
        kept.push(entry_of(id, sender, thread, &entry.event));
    }
    limit(&mut context, kept);
    context
}

fn entry_of(id: String, sender: String, thread: &str, event: &loom_domain::InboundEvent) -> ContextMessage {
    let text: String = event.content.text.chars().take(CONTEXT_CHARS_MAX).collect();
    ContextMessage {
        role: if id == thread { ContextRole::Root } else { ContextRole::Reply },
        message_id: id,
        sender_id: sender,
        truncated: text.len() < event.content.text.len(),
        text,
        at: event.occurred_at,
    }
}

fn limit(context: &mut ThreadContext, kept: Vec<ContextMessage>) {
    let (mut bytes, total) = (0, kept.len());
    let mut picked: Vec<ContextMessage> = Vec::new();
    let root = kept.iter().find(|m| m.role == ContextRole::Root).cloned();
    let room = CONTEXT_MESSAGES_MAX.saturating_sub(usize::from(root.is_some()));
    for message in kept.into_iter().rev().filter(|m| m.role == ContextRole::Reply) {
        if picked.len() >= room || bytes + message.text.len() > CONTEXT_BYTES_MAX {
            break;
        }
        bytes += message.text.len();
        picked.push(message);
    }
    picked.extend(root.filter(|root| bytes + root.text.len() <= CONTEXT_BYTES_MAX));
    picked.reverse();
    context.truncated |= picked.len() < total;
    context.messages = picked;
}
