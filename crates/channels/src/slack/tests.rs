//! The channel against the twin.

use loom_domain::outbox::{PartKind, Target};
use loom_domain::{AttemptId, OutboxId, PartId, TextFormat};

use crate::SendPart;

/// A text Part with fixed ids.
pub(super) fn text_part(channel: &str, text: &str) -> SendPart {
    SendPart {
        attempt_id: AttemptId::new(1, 1),
        outbox_id: OutboxId::new(1, 1),
        part_id: PartId::new(1, 1),
        n: 1,
        of: 1,
        conversation_id: channel.to_owned(),
        conversation_type: None,
        target: Target::default(),
        is_reply: false,
        kind: PartKind::Text,
        text: Some(text.to_owned()),
        format: TextFormat::Markdown,
        file: None,
    }
}
