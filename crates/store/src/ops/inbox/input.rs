//! Owner input: a message to an Agent's Thread that goes to no platform.

use loom_domain::{
    Agent, Code, Error, Expectation, InboxId, Message, MessageId, Result, TextFormat,
    artifact::{FILES_PER_SEND_MAX, TEXT_BYTES_MAX},
    fairness::OWNER_KEY,
    inbox::{Flags, Item, State},
    message::{Attachment, Content, ConversationRef, Evidence, Origin, Sender, SenderKind},
    validate::check_text,
};
use serde_json::json;

use crate::{Act, Audit, Store, Topic, Unit, docs, ops::lookup, params, records::StoredItem};

/// What the owner writes; files are in the store.
#[derive(Debug, Clone, Default)]
pub struct ThreadText {
    /// Text.
    pub text: String,
    /// Stored files.
    pub files: Vec<Attachment>,
    /// Id of the item, where the caller has one: asked again with it, the item that is there is given.
    pub id: Option<InboxId>,
}

impl Store {
    /// Queues owner input for an Agent's Thread.
    pub async fn thread_input(&self, act: Act, agent: String, input: ThreadText) -> Result<Item> {
        self.write(act, move |unit| put(unit, &agent, &input)).await
    }
}

fn put(unit: &mut Unit<'_>, agent: &str, input: &ThreadText) -> Result<Item> {
    unit.principal.require_owner()?;
    if let Some(id) = &input.id
        && let Some(known) = docs::get::<StoredItem>(unit.tx, id.as_str())?
    {
        return Ok(known.item);
    }
    check_text("text", &input.text, TEXT_BYTES_MAX)?;
    if input.text.trim().is_empty() && input.files.is_empty() {
        return Err(Error::new(Code::MissingField, "give a text or a file"));
    }
    if input.files.len() > FILES_PER_SEND_MAX {
        return Err(Error::new(Code::TooMany, format!("at most {FILES_PER_SEND_MAX} files")));
    }
    let agent: Agent = lookup::agent(unit.tx, agent)?;
    if agent.archived_at.is_some() {
        return Err(Error::new(Code::Archived, format!("the agent {} is archived", agent.name)));
    }
    let message = message_of(unit, input)?;
    docs::insert(unit.tx, &message)?;
    for file in input.files.iter().filter_map(|file| file.artifact_id.as_ref()) {
        unit.tx.execute(
            "INSERT INTO artifact_refs (artifact_id, owner_id) VALUES (?1, ?2) ON CONFLICT (artifact_id, owner_id) DO NOTHING",
            &params![file.as_str(), message.id.as_str()],
        )?;
    }
    let mut item = item_of(unit, &agent, &message)?;
    if let Some(id) = &input.id {
        item.id.clone_from(id);
    }
    let stored = StoredItem {
        item,
        conversation_id: "owner".to_owned(),
        sender_id: "owner".to_owned(),
        origin: Origin::Owner.as_str().to_owned(),
    };
    docs::insert(unit.tx, &stored)?;
    let id = stored.item.id.to_string();
    unit.change("inbox.changed", &id, Some(agent.id.as_str()), 1, &["state"])?;
    unit.audit(&Audit {
        action: "thread.input",
        object: &id,
        versions: (None, Some(1)),
        outcome: "ok",
        detail: json!({"agent": agent.id, "message": message.id}),
    })?;
    unit.wake(Topic::Inbox);
    Ok(stored.item)
}

fn message_of(unit: &mut Unit<'_>, input: &ThreadText) -> Result<Message> {
    Ok(Message {
        id: MessageId::new(unit.now.0, unit.random()),
        seq: unit.seq()?,
        origin: Origin::Owner,
        provider: None,
        connection_id: None,
        conversation: ConversationRef {
            conversation_id: "owner".to_owned(),
            thread_id: None,
            message_id: None,
            conversation_type: None,
            platform_type: None,
        },
        sender: Sender { external_id: "owner".to_owned(), display_name: None, kind: SenderKind::Human },
        content: Content {
            text: input.text.clone(),
            format: TextFormat::Markdown,
            truncated: false,
            attachments: input.files.clone(),
        },
        mentions: Vec::new(),
        evidence: Evidence { direct: true, ..Evidence::default() },
        thread_context: None,
        response_expectation: Expectation::Optional,
        occurred_at: unit.now,
        received_at: unit.now,
        revisions: Vec::new(),
        answers_outbox_id: None,
        trace_id: format!("{:032x}", unit.random()),
    })
}

fn item_of(unit: &mut Unit<'_>, agent: &Agent, message: &Message) -> Result<Item> {
    Ok(Item {
        id: InboxId::new(unit.now.0, unit.random()),
        version: 1,
        seq: unit.seq()?,
        agent_id: agent.id.clone(),
        address_id: None,
        message_id: message.id.clone(),
        membership_id: None,
        queue_key: OWNER_KEY.to_owned(),
        state: State::Queued,
        state_reason: None,
        outcome: None,
        note: None,
        available_at: None,
        blocked_by: None,
        attempt_count: 0,
        start_failures: 0,
        active_attempt_id: None,
        turn_id: None,
        outbox_ids: Vec::new(),
        flags: Flags::default(),
        trace_id: message.trace_id.clone(),
        created_at: unit.now,
        updated_at: unit.now,
    })
}
