//! Brings an event into its limits without losing the message.

use crate::InboundEvent;
use crate::artifact::{FILES_PER_MESSAGE_MAX, TEXT_BYTES_MAX};
use crate::message::{AttachmentStatus, ThreadContext};

/// Messages of a supplied thread context.
pub const CONTEXT_MESSAGES_MAX: usize = 16;
/// Characters of one context message.
pub const CONTEXT_CHARS_MAX: usize = 6_000;
/// Bytes of a whole context.
pub const CONTEXT_BYTES_MAX: usize = 65_536;
/// Raw payload, bytes.
pub const RAW_BYTES_MAX: usize = 262_144;

/// Cuts long text, lists surplus files as `dropped`, leaves out a context that breaks its limits.
pub fn normalise(event: &mut InboundEvent) {
    if event.content.text.len() > TEXT_BYTES_MAX {
        event.content.text = crate::text::prefix(&event.content.text, TEXT_BYTES_MAX).to_owned();
        event.content.truncated = true;
    }
    for surplus in event.content.attachments.iter_mut().skip(FILES_PER_MESSAGE_MAX) {
        surplus.status = AttachmentStatus::Dropped;
        surplus.reason = Some("more files than a message may have".to_owned());
    }
    if event.thread_context.as_ref().is_some_and(|context| !fits(context)) {
        event.thread_context = None;
    }
}

fn fits(context: &ThreadContext) -> bool {
    let bytes: usize = context.messages.iter().map(|message| message.text.len()).sum();
    context.messages.len() <= CONTEXT_MESSAGES_MAX
        && bytes <= CONTEXT_BYTES_MAX
        && context.messages.iter().all(|message| message.text.chars().count() <= CONTEXT_CHARS_MAX)
}
