//! Sends and replies: files resolved, text cut for the platform, stored in one commit, then waited for.

use std::time::Duration;

use loom_api::{request, view};
use loom_domain::{
    Address, AgentId, Artifact, Code, Connection, ConnectionId, Error, InboxId, MembershipId, OutboxId,
    Principal, Result, TextFormat,
    admission::{CHUNKS_MAX, SendFile, SendTarget},
    artifact::FILES_PER_SEND_MAX,
    outbox::{State, Target},
};
use loom_store::{
    Topic,
    ops::{
        artifacts::Standing,
        outbox::{Draft, DraftFile, Sent, To},
    },
};

use crate::hub::Hub;

/// Longest wait of a call for a delivery.
const WAIT_MAX: Duration = Duration::from_secs(60);

/// A send as it was asked for.
#[derive(Debug, Clone)]
pub struct Wanted {
    /// Where.
    pub target: SendTarget,
    /// Sending Agent of a proactive send.
    pub from: Option<AgentId>,
    /// Text and files.
    pub content: request::Content,
    /// Thread or message of a proactive send.
    pub place: Target,
    /// Whether an answer is expected.
    pub expect_reply: Option<loom_domain::Expectation>,
    /// Key.
    pub key: Option<String>,
    /// Time to live, seconds.
    pub ttl_seconds: Option<u64>,
    /// Ignores quiet hours.
    pub urgent: bool,
    /// Allowed after a partly delivered reply.
    pub after_partial: bool,
}

impl Hub {
    /// Stores a send and waits for its end, at most `wait`.
    pub async fn send(
        &self,
        principal: Principal,
        send: request::Send,
        wait: Duration,
    ) -> Result<view::OutboxEntry> {
        let wanted = self.wanted(&principal, send).await?;
        self.send_wanted(principal, wanted, wait).await
    }

    /// Whether a send would be taken; nothing is stored.
    pub async fn admission(&self, principal: Principal, send: request::Send) -> Result<view::Admission> {
        let mut wanted = self.wanted(&principal, send).await?;
        let announced = std::mem::take(&mut wanted.content.files);
        let (to, mut draft) = self.draft(&principal, &wanted).await?;
        draft.files = self.announced(&principal, &announced).await?;
        let parts = u32::try_from(draft.chunks.len() + draft.files.len()).unwrap_or(u32::MAX);
        self.store().check_admission(self.act(principal), to, draft).await?;
        Ok(view::Admission { admitted: true, held: None, parts })
    }

    /// Answers an Inbox item, with the given content or the preserved final answer.
    pub async fn reply(
        &self,
        principal: Principal,
        id: InboxId,
        reply: request::Reply,
        wait: Duration,
    ) -> Result<view::OutboxEntry> {
        let mut content = reply.content;
        if reply.from_answer {
            principal.require_owner()?;
            content.text = self.store().preserved_answer(id.clone()).await?;
        }
        let wanted = Wanted {
            target: SendTarget::Reply(id),
            from: None,
            content,
            place: Target::default(),
            expect_reply: reply.expect_reply,
            key: reply.idempotency_key,
            ttl_seconds: reply.ttl_seconds,
            urgent: false,
            after_partial: reply.after_partial,
        };
        self.send_wanted(principal, wanted, wait).await
    }

    async fn wanted(&self, principal: &Principal, send: request::Send) -> Result<Wanted> {
        let target = SendTarget::parse(send.inbox_item_id.as_deref(), send.membership_id.as_deref())?;
        let from = match (&send.from, principal) {
            (Some(name), _) => Some(self.store().agent_by(name.clone()).await?.id),
            (None, Principal::Agent(id)) => Some(id.clone()),
            (None, _) => None,
        };
        if let (Principal::Agent(own), Some(named)) = (principal, &from)
            && own != named
        {
            return Err(Error::new(Code::Forbidden, "an Agent sends as itself only"));
        }
        Ok(Wanted {
            target,
            from,
            content: send.content,
            place: send.target.unwrap_or_default(),
            expect_reply: send.expect_reply,
            key: send.idempotency_key,
            ttl_seconds: send.ttl_seconds,
            urgent: send.urgent,
            after_partial: false,
        })
    }

    pub(super) async fn send_wanted(
        &self,
        principal: Principal,
        wanted: Wanted,
        wait: Duration,
    ) -> Result<view::OutboxEntry> {
        if *self.inner.phase.borrow() >= crate::Phase::Draining {
            return Err(Error::new(Code::HubDraining, "the hub is shutting down"));
        }
        let (to, draft) = self.draft(&principal, &wanted).await?;
        let sent = self.store().send(self.act(principal), to, draft).await?;
        let Sent { item, parts, duplicate } = sent;
        let entry = view::OutboxEntry { item, parts, duplicate };
        if is_settled(entry.item.state) || wait.is_zero() {
            return Ok(entry);
        }
        let (item, parts) = self.wait_outbox(entry.item.id.clone(), wait).await?;
        Ok(view::OutboxEntry { item, parts, duplicate })
    }

    /// Waits until an Outbox item is final, unknown or held, or the time is over; gives it as it is then.
    pub async fn wait_outbox(
        &self,
        id: OutboxId,
        wait: Duration,
    ) -> Result<(loom_domain::OutboxItem, Vec<loom_domain::Part>)> {
        let deadline = tokio::time::Instant::now() + wait.min(WAIT_MAX);
        let mut wakes = self.store().watch(Topic::Outbox);
        loop {
            wakes.borrow_and_update();
            let (item, parts, _) = self.store().outbox_item(id.clone()).await?;
            if is_settled(item.state) || tokio::time::Instant::now() >= deadline {
                return Ok((item, parts));
            }
            tokio::select! {
                _ = wakes.changed() => {}
                () = tokio::time::sleep_until(deadline) => {}
            }
        }
    }

    async fn draft(&self, principal: &Principal, wanted: &Wanted) -> Result<(To, Draft)> {
        let (to, connection) = match &wanted.target {
            SendTarget::Reply(item) => (To::Item(item.clone()), self.connection_of_item(item).await?),
            SendTarget::Membership(membership) => {
                let (connection, owner, conversation) = self.connection_of_membership(membership).await?;
                let from = wanted.from.clone().unwrap_or(owner);
                let belongs = self.target_belongs(&connection, &conversation, &wanted.place).await?;
                (
                    To::Membership { membership: membership.clone(), from, target_belongs: belongs },
                    Some(connection),
                )
            }
        };
        let format = wanted.content.format.unwrap_or(TextFormat::Markdown);
        let text = self.outbound_text(&wanted.content.text)?;
        let chunks = self.split_for(connection.as_ref(), &text, format, CHUNKS_MAX)?;
        let files = self.files(principal, &wanted.content.files).await?;
        let draft = Draft {
            text,
            format: Some(format),
            chunks,
            files,
            target: wanted.place.clone(),
            expect_reply: wanted.expect_reply,
            idempotency_key: wanted.key.clone(),
            ttl_seconds: wanted.ttl_seconds,
            urgent: wanted.urgent,
            after_partial: wanted.after_partial,
            platform_file_bytes_max: None,
        };
        Ok((to, draft))
    }

    /// The Connection of an item; absent when the item does not exist or is internal, which admission tells.
    async fn connection_of_item(&self, id: &InboxId) -> Result<Option<Connection>> {
        match self.store().address_of_item(id.clone()).await? {
            Some(address) => Ok(Some(self.store().connection(address.connection_id).await?)),
            None => Ok(None),
        }
    }

    async fn connection_of_membership(&self, id: &MembershipId) -> Result<(Connection, AgentId, String)> {
        let membership = self.store().membership(id.clone()).await.map_err(|error| match error.code {
            Code::NotFound => Error::new(Code::MembershipRequired, "no such Membership"),
            _ => error,
        })?;
        let address: Address = self.store().address(membership.address_id).await?;
        let connection = self.store().connection(address.connection_id).await?;
        Ok((connection, address.agent_id, membership.conversation_id))
    }

    /// Whether a given thread or message is of the conversation: the ledger first, else the provider.
    async fn target_belongs(
        &self,
        connection: &Connection,
        conversation: &str,
        place: &Target,
    ) -> Result<Option<bool>> {
        let Some(wanted) = place.thread_id.as_ref().or(place.message_id.as_ref()) else { return Ok(None) };
        let id: ConnectionId = connection.id.clone();
        if self.store().knows_message(id.clone(), conversation.to_owned(), wanted.clone()).await? {
            return Ok(Some(true));
        }
        let Some(channel) = self.channel(&id) else { return Ok(None) };
        let question = loom_channels::CheckTarget {
            conversation_id: conversation.to_owned(),
            thread_id: place.thread_id.clone(),
            message_id: place.message_id.clone(),
        };
        Ok(channel.check_target(question).await.ok())
    }

    /// The files of a send that is only asked about: stored ones, or what will be uploaded, by name, size and digest.
    async fn announced(&self, principal: &Principal, files: &[request::File]) -> Result<Vec<DraftFile>> {
        check_count(files)?;
        let mut out = Vec::new();
        for file in files {
            match (&file.artifact_id, file.size, &file.sha256) {
                (None, Some(size), Some(sha256)) => out.push(DraftFile {
                    artifact_id: loom_domain::ArtifactId::new(0, 0),
                    file: SendFile {
                        name: crate::safe_name(file.name.as_deref().unwrap_or("file")),
                        size,
                        sha256: sha256.clone(),
                    },
                    mime_type: "application/octet-stream".to_owned(),
                }),
                _ => out.extend(self.files(principal, std::slice::from_ref(file)).await?),
            }
        }
        Ok(out)
    }

    /// The stored files of a send. Bytes other than announced are `artifact_changed`.
    async fn files(&self, principal: &Principal, files: &[request::File]) -> Result<Vec<DraftFile>> {
        check_count(files)?;
        let mut out = Vec::new();
        for file in files {
            let id = file
                .artifact_id
                .as_deref()
                .ok_or_else(|| Error::new(Code::MissingField, "a file needs its artifactId"))?;
            let artifact = self.sendable(principal, id).await?;
            let is_same = file.sha256.as_ref().is_none_or(|sha| *sha == artifact.sha256)
                && file.size.is_none_or(|s| s == artifact.size);
            if !is_same {
                return Err(Error::new(
                    Code::ArtifactChanged,
                    format!("{id} holds other bytes than announced"),
                ));
            }
            self.refuse_secret(&artifact).await?;
            let name = file.name.as_deref().map_or_else(|| artifact.name.clone(), crate::safe_name);
            out.push(DraftFile {
                artifact_id: artifact.id,
                file: SendFile { name, size: artifact.size, sha256: artifact.sha256 },
                mime_type: artifact.mime_type,
            });
        }
        Ok(out)
    }

    /// A stored file that the principal may send. To an Agent, a file of somebody else is not in the store.
    async fn sendable(&self, principal: &Principal, id: &str) -> Result<Artifact> {
        let missing = || Error::new(Code::ArtifactMissing, format!("{id} is not in the store"));
        let artifact = self.store().artifact(id.parse()?).await.map_err(|error| match error.code {
            Code::NotFound => missing(),
            _ => error,
        })?;
        let standing = self.store().artifact_standing(principal.clone(), artifact.clone()).await?;
        match standing {
            Standing { is_known: false, .. } => Err(missing()),
            Standing { is_held: true, .. } => Err(Error::new(
                Code::FileRefused,
                format!("{id} is quarantined; the owner releases it with `loom inbox release`"),
            )),
            Standing { .. } => Ok(artifact),
        }
    }

    /// A file was stored before the secrets of today were known, or came from a platform: it is looked through
    /// each time it is sent.
    async fn refuse_secret(&self, artifact: &Artifact) -> Result<()> {
        let path = self.blobs().verified(&artifact.sha256).await?;
        let redactor = self.redactor().clone();
        let look = move || std::fs::File::open(path).and_then(|file| redactor.holds_exact_in(file));
        match tokio::task::spawn_blocking(look).await.map_err(Error::internal)? {
            Ok(false) => Ok(()),
            Ok(true) => Err(Error::new(Code::SecretInContent, "the file holds a secret and was not sent")),
            Err(cause) => {
                Err(Error::new(Code::ArtifactMissing, format!("a stored file cannot be read: {cause}")))
            }
        }
    }
}

fn check_count(files: &[request::File]) -> Result<()> {
    match files.len() {
        0..=FILES_PER_SEND_MAX => Ok(()),
        _ => Err(Error::new(Code::TooMany, format!("a send has at most {FILES_PER_SEND_MAX} files"))),
    }
}

/// Whether waiting longer changes nothing by itself soon.
fn is_settled(state: State) -> bool {
    !matches!(state, State::Pending | State::Sending | State::RetryWait)
}
