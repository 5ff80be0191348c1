//! Objects for tests.

use crate::message::{Content, ConversationRef, EventKind, Sender, SenderKind};
use crate::*;

pub(crate) const NOW: Timestamp = Timestamp(1_800_000_000_000);

pub(crate) fn connection() -> Connection {
    Connection {
        id: ConnectionId::new(1, 1),
        version: 1,
        seq: 1,
        provider: "slack".to_owned(),
        account_ref: "A0APP".to_owned(),
        scope_ref: Some("T1".to_owned()),
        brand: None,
        credential_ref: "env:X".to_owned(),
        api_url: None,
        proxy_url: None,
        allow_http: false,
        gateway_mode: connection::GatewayMode::Managed,
        capabilities: connection::default_capabilities("slack"),
        enabled: true,
        superseded_by: None,
        archived_at: None,
        first_connected_at: Some(NOW.plus_ms(-86_400_000 * 7)),
        created_at: Timestamp(0),
        updated_at: Timestamp(0),
    }
}

pub(crate) fn address() -> Address {
    Address {
        id: AddressId::new(1, 2),
        version: 3,
        seq: 2,
        agent_id: AgentId::new(1, 3),
        connection_id: ConnectionId::new(1, 1),
        external_identity: "slack://T1/UBOT".to_owned(),
        display_name: "docs".to_owned(),
        trigger_policy: TriggerPolicy::Mention,
        reply_policy: ReplyPolicy::FinalAnswer,
        dm_policy: DmPolicy::Managed,
        trust_domain: "local".to_owned(),
        allow_actors: vec![],
        allow_conversations: vec![],
        block_actors: vec![],
        block_conversations: vec![],
        allow_bots: vec![],
        attachment_policy: AttachmentPolicy::Safe,
        refusal_body: RefusalBody::Drop,
        enabled: true,
        superseded_by: None,
        archived_at: None,
        deleted_at: None,
        created_at: Timestamp(0),
        updated_at: Timestamp(0),
    }
}

pub(crate) fn membership(kind: ConversationType) -> Membership {
    Membership {
        id: MembershipId::new(1, 4),
        version: 4,
        seq: 3,
        address_id: AddressId::new(1, 2),
        conversation_id: "C1".to_owned(),
        conversation_type: kind,
        actor_id: kind.is_dm().then(|| "U1".to_owned()),
        display_name: "#docs".to_owned(),
        purpose: "Questions on the manual".to_owned(),
        role: String::new(),
        guidance: String::new(),
        trigger_policy: None,
        reply_policy: None,
        outbound_policy: OutboundPolicy::ReplyOnly,
        trust_domain: "local".to_owned(),
        quiet_hours: None,
        ttl_seconds: membership::TTL_SECONDS,
        proactive_per_hour: membership::PROACTIVE_PER_HOUR,
        enabled: true,
        first_enabled_at: Some(Timestamp(1)),
        enabled_by: Some("owner".to_owned()),
        superseded_by: None,
        archived_at: None,
        created_at: Timestamp(0),
        updated_at: Timestamp(0),
    }
}

pub(crate) fn event() -> InboundEvent {
    InboundEvent {
        event_id: "Ev1".to_owned(),
        kind: EventKind::Message,
        occurred_at: Some(NOW.plus_ms(-1_000)),
        conversation: ConversationRef {
            conversation_id: "C1".to_owned(),
            thread_id: None,
            message_id: Some("170.1".to_owned()),
            conversation_type: Some(ConversationType::Channel),
            platform_type: Some("channel".to_owned()),
        },
        parent_type: None,
        sender: Some(Sender {
            external_id: "U1".to_owned(),
            display_name: Some("Ann".to_owned()),
            kind: SenderKind::Human,
        }),
        content: Content {
            text: "hello".to_owned(),
            format: TextFormat::Plain,
            truncated: false,
            attachments: vec![],
        },
        mentions: vec![],
        dispatch: false,
        reply_expected: Expectation::Optional,
        target_message_id: None,
        message_key: None,
        bare_mention: false,
        thread_context: None,
        fact: None,
        cursor: None,
        raw: serde_json::Value::Null,
    }
}

pub(crate) fn item() -> inbox::Item {
    inbox::Item {
        id: InboxId::new(1, 5),
        version: 1,
        seq: 10,
        agent_id: AgentId::new(1, 3),
        address_id: Some(AddressId::new(1, 2)),
        message_id: MessageId::new(1, 6),
        membership_id: Some(MembershipId::new(1, 4)),
        queue_key: "k".to_owned(),
        state: inbox::State::Queued,
        state_reason: None,
        outcome: None,
        note: None,
        available_at: None,
        blocked_by: None,
        attempt_count: 0,
        start_failures: 0,
        active_attempt_id: None,
        turn_id: None,
        outbox_ids: vec![],
        flags: inbox::Flags::default(),
        trace_id: "0".repeat(32),
        created_at: Timestamp(0),
        updated_at: Timestamp(0),
    }
}

pub(crate) fn part() -> Part {
    Part {
        id: PartId::new(1, 7),
        outbox_id: OutboxId::new(1, 8),
        seq: 1,
        n: 1,
        kind: outbox::PartKind::Text,
        text: Some("hi".to_owned()),
        artifact_id: None,
        name: None,
        mime_type: None,
        size: None,
        sha256: None,
        state: outbox::PartState::Pending,
        until: None,
        attempt_count: 0,
        settle_count: 0,
        absent_reads: 0,
        absent_at: None,
        lease_until: None,
        fence: 0,
        blocked_by: None,
        receipt: None,
        duplicate_receipts: vec![],
        last_error: None,
    }
}
