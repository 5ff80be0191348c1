//! Threads, Inbox, Refusals, sends and Outbox of a hub.

use std::time::Duration;

use async_trait::async_trait;
use loom_api::{Mutation, Page, query, request, view};
use loom_domain::decision::Limits;
use loom_domain::inbox::Item;
use loom_domain::message::{Attachment, AttachmentStatus};
use loom_domain::{ArtifactId, Code, Error, Event, EventId, InboxId, OutboxId, PartId, Principal};
use loom_store::Topic;
use loom_store::ops::inbound::Offer;
use loom_store::ops::inbox::ThreadText;
use loom_store::ops::outbox::OwnerSettle;

use super::HubDesk;
use crate::desk::{Inbox, Intent, Outbox, Refusals, Sends, Threads};

#[async_trait]
impl Threads for HubDesk {
    async fn thread(
        &self,
        who: Principal,
        agent: String,
        query: query::Paging,
    ) -> Result<Page<view::TurnEntry>, Error> {
        self.hub.store().turns_of(who, agent, query).await
    }
    async fn thread_input(
        &self,
        who: Principal,
        agent: String,
        input: request::ThreadInput,
        wait: Duration,
    ) -> Result<view::ThreadInputResult, Error> {
        let mut files = Vec::new();
        for file in input.files {
            files.push(self.attachment(file).await?);
        }
        let text = self.hub.stored_text(&input.text);
        let item = self
            .hub
            .store()
            .thread_input(self.act(who.clone()), agent, ThreadText { text, files, id: None })
            .await?;
        let item = self.ended(item, wait).await?;
        let answer = match &item.turn_id {
            Some(turn) => self.hub.store().turn(who, turn.clone()).await?.turn.answer,
            None => None,
        };
        Ok(view::ThreadInputResult { item_id: item.id, state: item.state, turn_id: item.turn_id, answer })
    }
}

impl HubDesk {
    async fn attachment(&self, file: request::File) -> Result<Attachment, Error> {
        let id: ArtifactId = file.artifact_id.as_deref().unwrap_or_default().parse()?;
        let artifact = self.hub.store().artifact(id).await?;
        Ok(Attachment {
            reference: artifact.id.to_string(),
            name: file.name.unwrap_or(artifact.name),
            mime_type: Some(artifact.mime_type),
            size: Some(artifact.size),
            status: AttachmentStatus::Ready,
            reason: None,
            artifact_id: Some(artifact.id),
            sha256: Some(artifact.sha256),
        })
    }

    /// Waits until an item has its final state, or for the given time.
    async fn ended(&self, mut item: Item, wait: Duration) -> Result<Item, Error> {
        let deadline = tokio::time::Instant::now() + wait;
        let mut wakes = self.hub.store().watch(Topic::Feed);
        while !item.state.is_final() && tokio::time::timeout_at(deadline, wakes.changed()).await.is_ok() {
            item = self.hub.store().inbox_item(item.id).await?;
        }
        Ok(item)
    }

    /// Refuses a dry run where the hub has none, so that nothing is written by mistake.
    pub(super) fn real(&self, intent: Intent) -> Result<loom_store::Act, Error> {
        match intent.dry_run {
            true => Err(Error::invalid("dryRun", "this change has no dry run")),
            false => Ok(self.act(intent.principal)),
        }
    }

    async fn outbox_change(&self, id: OutboxId) -> Result<Mutation<view::OutboxEntry>, Error> {
        let (item, parts, _) = self.hub.store().outbox_item(id).await?;
        let entry = view::OutboxEntry { item, parts, duplicate: false };
        Ok(Mutation::changed(entry, vec!["state".to_owned()]))
    }
}

fn moved(item: Item) -> Mutation<Item> {
    Mutation::changed(item, vec!["state".to_owned()])
}

#[async_trait]
impl Inbox for HubDesk {
    async fn inbox(&self, who: Principal, query: query::Inbox) -> Result<Page<view::InboxEntry>, Error> {
        self.hub.store().list_inbox(who, query, self.hub.now()).await
    }
    async fn inbox_item(&self, who: Principal, id: String) -> Result<view::InboxDetail, Error> {
        self.hub.store().inbox_detail(who, id).await
    }
    async fn reply(
        &self,
        who: Principal,
        id: InboxId,
        reply: request::Reply,
        wait: Duration,
    ) -> Result<view::OutboxEntry, Error> {
        self.hub.reply(who, id, reply, wait).await
    }
    async fn no_reply(
        &self,
        intent: Intent,
        id: InboxId,
        change: request::NoReply,
    ) -> Result<Mutation<Item>, Error> {
        let act = self.real(intent)?;
        let before = self.hub.store().inbox_item(id.clone()).await?;
        let after = self.hub.store().no_reply(act, id, change).await?;
        let is_repeat = before.version == after.version;
        Ok(if is_repeat { Mutation::changed(after, Vec::new()) } else { moved(after) })
    }
    async fn defer(
        &self,
        intent: Intent,
        id: InboxId,
        change: request::Defer,
    ) -> Result<Mutation<Item>, Error> {
        Ok(moved(self.hub.store().defer(self.real(intent)?, id, change).await?))
    }
    async fn retry_inbox(
        &self,
        intent: Intent,
        id: InboxId,
        change: request::Retry,
    ) -> Result<Mutation<Item>, Error> {
        Ok(moved(self.hub.store().retry_item(self.real(intent)?, id, change).await?))
    }
    async fn cancel_inbox(
        &self,
        intent: Intent,
        id: InboxId,
        change: request::Cancel,
    ) -> Result<Mutation<Item>, Error> {
        Ok(moved(self.hub.store().cancel_item(self.real(intent)?, id, change).await?))
    }
    async fn release_attachment(
        &self,
        intent: Intent,
        id: InboxId,
        artifact: ArtifactId,
    ) -> Result<Mutation<Item>, Error> {
        self.hub.store().release_attachment(self.real(intent)?, id.clone(), artifact).await?;
        let item = self.hub.store().inbox_item(id).await?;
        Ok(Mutation::changed(item, vec!["attachments".to_owned()]))
    }
}

#[async_trait]
impl Refusals for HubDesk {
    async fn refusals(&self, who: Principal, query: query::Refusals) -> Result<Page<Event>, Error> {
        self.hub.store().list_refusals(who, query, self.hub.now()).await
    }
    async fn refusal_counts(
        &self,
        _: Principal,
        _: query::Refusals,
    ) -> Result<Page<view::ReasonCount>, Error> {
        Ok(Page { items: self.hub.store().refusal_counts().await?, next_cursor: None })
    }
    async fn refusal(&self, who: Principal, id: EventId) -> Result<view::RefusalDetail, Error> {
        self.hub.store().refusal(who, id).await
    }
    async fn replay_refusal(&self, who: Principal, id: EventId) -> Result<view::ReplayedEvent, Error> {
        let refused = self.hub.store().refusal(who.clone(), id.clone()).await?.event;
        let text = self.hub.dropped_text(&refused).await?;
        let max_age_ms = self.hub.config().inbound.max_age_s.saturating_mul(1_000);
        let offer = Offer {
            connection_id: refused.connection_id,
            fence: None,
            own_ids: Vec::new(),
            limits: Limits { max_age_ms },
        };
        let judged = self.hub.store().replay_refusal(self.act(who), id.clone(), offer, text).await?;
        Ok(view::ReplayedEvent {
            event_id: id,
            decision: judged.decision,
            reason: judged.reason,
            item_id: judged.item_id,
        })
    }
}

#[async_trait]
impl Sends for HubDesk {
    async fn send(
        &self,
        who: Principal,
        send: request::Send,
        wait: Duration,
    ) -> Result<view::OutboxEntry, Error> {
        self.hub.send(who, send, wait).await
    }
    async fn admission(&self, who: Principal, send: request::Send) -> Result<view::Admission, Error> {
        self.hub.admission(who, send).await
    }
}

#[async_trait]
impl Outbox for HubDesk {
    async fn outbox(&self, who: Principal, query: query::Outbox) -> Result<Page<view::OutboxEntry>, Error> {
        self.hub.store().list_outbox(who, query, self.hub.now()).await
    }
    async fn releases(&self, who: Principal, query: query::Paging) -> Result<Page<view::OutboxEntry>, Error> {
        let held = query::Outbox {
            state: Some("held".to_owned()),
            limit: query.limit,
            cursor: query.cursor,
            ..query::Outbox::default()
        };
        self.hub.store().list_outbox(who, held, self.hub.now()).await
    }
    async fn outbox_item(
        &self,
        who: Principal,
        id: OutboxId,
        wait: Duration,
    ) -> Result<view::OutboxDetail, Error> {
        let found = self.hub.store().outbox_detail(who.clone(), id.clone()).await?;
        if wait.is_zero() {
            return Ok(found);
        }
        self.hub.wait_outbox(id.clone(), wait).await?;
        self.hub.store().outbox_detail(who, id).await
    }
    async fn retry_outbox(
        &self,
        intent: Intent,
        id: OutboxId,
        _: request::Retry,
    ) -> Result<Mutation<view::OutboxEntry>, Error> {
        self.hub.store().retry_outbox(self.real(intent)?, id.clone()).await?;
        self.outbox_change(id).await
    }
    async fn cancel_outbox(
        &self,
        intent: Intent,
        id: OutboxId,
        change: request::Cancel,
    ) -> Result<Mutation<view::OutboxEntry>, Error> {
        self.hub.store().cancel_outbox(self.real(intent)?, id.clone(), change.reason).await?;
        self.outbox_change(id).await
    }
    async fn settle(
        &self,
        intent: Intent,
        id: OutboxId,
        change: request::Settle,
    ) -> Result<Mutation<view::OutboxEntry>, Error> {
        if change.confirm.as_deref() != Some(id.as_str()) {
            return Err(Error::new(Code::ConfirmationRequired, format!("confirm with {id}"))
                .with_hint(format!("repeat with --confirm {id}")));
        }
        let part = change.part.as_deref().map(str::parse::<PartId>).transpose()?;
        let word = match change.outcome {
            request::Settlement::Sent => OwnerSettle::Sent { external_id: change.external_id },
            request::Settlement::Resend => OwnerSettle::Resend,
            request::Settlement::Failed => OwnerSettle::Failed,
        };
        self.hub.store().settle_outbox(self.real(intent)?, id.clone(), part, word).await?;
        self.outbox_change(id).await
    }
}
