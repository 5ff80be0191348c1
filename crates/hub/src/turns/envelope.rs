//! Gathers the facts of a Turn and builds its one text document.

use loom_domain::{
    Message,
    envelope::{
        AttachmentFact, ContextFact, ConversationFact, EnvelopeInput, Facts, MembershipFact, OwnerContext,
        PriorAttempt, SenderFact, Times, build as build_envelope, trust_of,
    },
    message::{AttachmentStatus, ThreadContext},
    turn::AttemptStatus,
};
use loom_store::ops::turns::Claimed;

use super::files::Copy;
use crate::hub::Hub;

/// The envelope, and its facts as a runtime with JSON input takes them.
pub(super) fn build(
    hub: &Hub,
    claimed: &Claimed,
    message: &Message,
    context: Option<&ThreadContext>,
    copies: &[Copy],
) -> (String, serde_json::Value) {
    let facts = facts(hub, claimed, message, context, copies);
    let owner = claimed.membership.as_ref().map(|m| OwnerContext {
        purpose: m.purpose.clone(),
        role: m.role.clone(),
        guidance: m.guidance.clone(),
    });
    let input = EnvelopeInput {
        facts: &facts,
        owner_context: owner.as_ref(),
        context,
        message: &message.id,
        text: &message.current().text,
    };
    let entropy = hub.inner.parts.entropy.clone();
    let text = build_envelope(&input, || entropy());
    let mut json = serde_json::to_value(&facts).unwrap_or_default();
    if let Some(object) = json.as_object_mut() {
        object.insert(
            "message".to_owned(),
            serde_json::json!({"id": message.id, "text": message.current().text}),
        );
    }
    (text, json)
}

fn facts(
    hub: &Hub,
    claimed: &Claimed,
    message: &Message,
    context: Option<&ThreadContext>,
    copies: &[Copy],
) -> Facts {
    let conversation = &message.conversation;
    Facts {
        turn: claimed.turn.id.clone(),
        item: claimed.item.id.clone(),
        agent: claimed.agent.name.clone(),
        origin: message.origin,
        trust: trust_of(message.origin),
        provider: message.provider.clone(),
        address: claimed.address.as_ref().map(|a| a.id.clone()),
        membership: claimed.membership.as_ref().map(|m| MembershipFact {
            id: m.id.clone(),
            version: m.version,
            name: m.display_name.clone(),
        }),
        conversation: ConversationFact {
            id: conversation.conversation_id.clone(),
            kind: conversation.conversation_type,
            thread: conversation.thread_id.clone(),
        },
        sender: SenderFact {
            id: message.sender.external_id.clone(),
            kind: message.sender.kind,
            name: message.sender.display_name.clone(),
        },
        message_id: conversation.message_id.clone(),
        edited: claimed.item.flags.edited,
        attempt: claimed.attempt.n,
        prior_attempt: claimed.prior_attempt.then(|| PriorAttempt {
            n: claimed.attempt.n.saturating_sub(1).max(1),
            status: AttemptStatus::Interrupted,
        }),
        times: Times { sent: message.occurred_at, received: message.received_at, now: hub.now() },
        reply_policy: claimed.attempt.effective_reply_policy,
        expectation: message.response_expectation,
        outbound_policy: claimed.membership.as_ref().map(|m| m.outbound_policy),
        trust_domain: claimed.address.as_ref().map(|a| a.trust_domain.clone()),
        attachments: attachments(message, copies),
        context: ContextFact {
            messages: context.map_or(0, |c| c.messages.len()),
            truncated: context.is_some_and(|c| c.truncated),
            unavailable: context.and_then(|c| c.unavailable_reason.clone()),
        },
    }
}

fn attachments(message: &Message, copies: &[Copy]) -> Vec<AttachmentFact> {
    message
        .current()
        .attachments
        .iter()
        .map(|attachment| AttachmentFact {
            artifact: attachment.artifact_id.clone().filter(|_| attachment.status == AttachmentStatus::Ready),
            name: attachment.name.clone(),
            mime: attachment.mime_type.clone(),
            size: attachment.size,
            sha256: attachment.sha256.clone(),
            status: attachment.status,
            path: copies
                .iter()
                .find(|copy| attachment.artifact_id.as_ref() == Some(&copy.artifact_id))
                .map(|copy| copy.path.display().to_string()),
        })
        .collect()
}
