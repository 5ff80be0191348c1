//! Reading messages: thread context, lookups, target checks.

use loom_domain::message::{
    Attachment, AttachmentStatus, Content, ConversationRef, EventKind, Mention, Sender, SenderKind,
    TextFormat,
};
use loom_domain::{Expectation, InboundEvent, Timestamp, text::prefix};
use serde_json::Value;

use super::Inner;
use super::api::Call;
use super::wire::{data, flag, is_message, is_thread, list, text, time_ms};
use crate::{CheckTarget, Fault, FaultClass, HistoryMessage, HistoryPage, HistoryQuery};

/// Messages of one query.
const MESSAGES_MAX: usize = 1_000;
/// Messages of one page.
const PAGE: usize = 50;
/// Text that is kept, bytes.
const TEXT_BYTES_MAX: usize = 256 * 1024;
/// Mentions and attachments of one message that are listed.
const LISTED_MAX: usize = 100;
/// Deepest nesting of a post that is read.
const DEPTH_MAX: usize = 8;
/// Types of messages that are a file.
const FILES: &[&str] = &["image", "file", "audio", "media"];

/// Which messages are read.
pub(super) struct Window<'a> {
    pub(super) conversation: &'a str,
    pub(super) thread: Option<&'a str>,
    pub(super) since: Option<Timestamp>,
    pub(super) limit: usize,
}

impl Inner {
    pub(super) async fn history(&self, query: &HistoryQuery) -> Result<HistoryPage, Fault> {
        let window = Window {
            conversation: &query.conversation_id,
            thread: query.thread_id.as_deref().filter(|id| is_thread(id)),
            since: query.since,
            limit: query.limit.clamp(1, MESSAGES_MAX),
        };
        let (mut items, truncated) = self.items(&window).await?;
        if let Some(after) = &query.after
            && let Some(at) = items.iter().position(|item| text(item, "message_id") == Some(after))
        {
            items.drain(..=at);
        }
        let read = |item: &Value| self.read(item);
        Ok(HistoryPage { messages: items.iter().filter_map(read).collect(), truncated })
    }

    /// The newest messages of a window, oldest first, and whether there are more.
    pub(super) async fn items(&self, window: &Window<'_>) -> Result<(Vec<Value>, bool), Fault> {
        let (kind, id) = match window.thread {
            Some(thread) => ("thread", thread),
            None => ("chat", window.conversation),
        };
        let from_ms = window.since.map_or(0, |since| since.0.max(0));
        let (mut items, mut token) = (Vec::new(), String::new());
        let mut truncated = false;
        while items.len() < window.limit {
            let mut call = Call::get("history", "im/v1/messages")
                .query("container_id_type", kind)
                .query("container_id", id)
                .query("sort_type", "ByCreateTimeDesc")
                .query("page_size", PAGE.to_string());
            // A thread takes no range of time.
            if from_ms > 0 && kind == "chat" {
                call = call.query("start_time", (from_ms / 1_000).to_string());
            }
            if !token.is_empty() {
                call = call.query("page_token", token.clone());
            }
            let body = self.api.call(&call).await?;
            let page = data(&body);
            let is_within = |item: &&Value| time_ms(item, "create_time").is_none_or(|at| at >= from_ms);
            let found = list(page, "items");
            items.extend(found.iter().filter(is_within).cloned());
            let next = text(page, "page_token").unwrap_or("");
            let is_past = found.last().is_some_and(|item| !is_within(&item));
            truncated = flag(page, "has_more") && !is_past;
            if !truncated || next.is_empty() || next == token {
                break;
            }
            next.clone_into(&mut token);
        }
        truncated |= items.len() > window.limit;
        items.truncate(window.limit);
        items.reverse();
        Ok((items, truncated))
    }

    /// A message of a history as an event.
    fn read(&self, item: &Value) -> Option<HistoryMessage> {
        let id = text(item, "message_id")?;
        if flag(item, "deleted") {
            return None;
        }
        let words = words(item);
        let thread = text(item, "thread_id").map(str::to_owned);
        let event = InboundEvent {
            event_id: format!("history/{id}"),
            kind: EventKind::Message,
            occurred_at: time_ms(item, "create_time").map(Timestamp),
            conversation: ConversationRef {
                conversation_id: text(item, "chat_id").unwrap_or("").to_owned(),
                thread_id: thread,
                message_id: Some(id.to_owned()),
                conversation_type: None,
                platform_type: None,
            },
            parent_type: None,
            sender: sender(item),
            content: Content {
                text: prefix(&words, TEXT_BYTES_MAX).to_owned(),
                format: TextFormat::Plain,
                truncated: words.len() > TEXT_BYTES_MAX,
                attachments: attachment(item, id).into_iter().collect(),
            },
            mentions: list(item, "mentions").iter().take(LISTED_MAX).filter_map(mention).collect(),
            dispatch: false,
            reply_expected: Expectation::Optional,
            target_message_id: None,
            message_key: Some(id.to_owned()),
            bare_mention: false,
            thread_context: None,
            fact: None,
            cursor: None,
            raw: Value::Null,
        };
        Some(HistoryMessage { event, own: self.is_own(item), part: None })
    }

    /// Whether a thread or message belongs to the conversation.
    pub(super) async fn check_target(&self, target: &CheckTarget) -> Result<bool, Fault> {
        let call = match (&target.message_id, &target.thread_id) {
            (Some(id), _) | (None, Some(id)) if is_message(id) => {
                Call::get("message", format!("im/v1/messages/{id}"))
            }
            (None, Some(id)) if is_thread(id) => Call::get("thread", "im/v1/messages")
                .query("container_id_type", "thread")
                .query("container_id", id.as_str())
                .query("page_size", "1"),
            (None, None) => return Ok(self.conversation(&target.conversation_id).await.is_ok()),
            _ => return Ok(false),
        };
        match self.api.call(&call).await {
            Ok(body) => Ok(list(data(&body), "items").first().is_some_and(|item| {
                let is_there = text(item, "chat_id") == Some(target.conversation_id.as_str());
                let wanted = target.thread_id.as_deref().filter(|id| is_thread(id));
                is_there && wanted.is_none_or(|thread| text(item, "thread_id") == Some(thread))
            })),
            Err(fault) if fault.class == FaultClass::Permanent => Ok(false),
            Err(fault) => Err(fault),
        }
    }
}

fn sender(item: &Value) -> Option<Sender> {
    let sender = item.get("sender")?;
    let kind = if text(sender, "sender_type") == Some("user") { SenderKind::Human } else { SenderKind::App };
    Some(Sender { external_id: text(sender, "id")?.to_owned(), display_name: None, kind })
}

fn mention(one: &Value) -> Option<Mention> {
    Some(Mention {
        external_id: text(one, "id")?.to_owned(),
        display_name: text(one, "name").map(str::to_owned),
    })
}

fn content(item: &Value) -> Value {
    let text = item.get("body").and_then(|body| text(body, "content")).unwrap_or("");
    serde_json::from_str(text).unwrap_or_default()
}

/// A file; its reference says where it is fetched.
fn attachment(item: &Value, message: &str) -> Option<Attachment> {
    let kind = text(item, "msg_type").filter(|kind| FILES.contains(kind))?;
    let content = content(item);
    let key = text(&content, if kind == "image" { "image_key" } else { "file_key" })?;
    Some(Attachment {
        reference: format!("{message}/{key}/{}", if kind == "image" { "image" } else { "file" }),
        name: text(&content, "file_name").unwrap_or(key).to_owned(),
        mime_type: None,
        size: None,
        status: AttachmentStatus::Pending,
        reason: None,
        artifact_id: None,
        sha256: None,
    })
}

/// The words of a message, each paragraph a line.
pub(super) fn words(item: &Value) -> String {
    let content = content(item);
    match text(item, "msg_type") {
        Some("text") => text(&content, "text").unwrap_or("").to_owned(),
        Some("post") => {
            let mut out = text(&content, "title").map(|title| format!("{title}\n")).unwrap_or_default();
            post(content.get("content").unwrap_or(&Value::Null), 0, &mut out);
            out.trim_end_matches('\n').to_owned()
        }
        _ => String::new(),
    }
}

fn post(node: &Value, depth: usize, out: &mut String) {
    match node {
        Value::Array(nodes) if depth < DEPTH_MAX => {
            for node in nodes {
                post(node, depth + 1, out);
                if depth == 0 {
                    out.push('\n');
                }
            }
        }
        Value::Object(_) => match text(node, "tag") {
            Some("at") => out.push_str(&format!("@{}", text(node, "user_name").unwrap_or(""))),
            Some("a") => {
                let (label, href) = (text(node, "text").unwrap_or(""), text(node, "href").unwrap_or(""));
                out.push_str(&format!("[{label}]({href})"));
            }
            _ => out.push_str(node.get("text").and_then(Value::as_str).unwrap_or("")),
        },
        _ => {}
    }
}
