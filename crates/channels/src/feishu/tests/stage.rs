//! A twin, a channel with a clock that is set, and a hub that only takes notes.

use std::sync::atomic::{AtomicI64, AtomicU32, Ordering};
use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use loom_domain::connection::Proof;
use loom_domain::outbox::{PartKind, Step, Target};
use loom_domain::{AttemptId, Error, InboundEvent, OutboxId, PartId, TextFormat, Timestamp};
use loom_secrets::Secret;
use loom_transport::{Clock, SystemClock, Transport};
use loom_twins::lark::{LarkMessage, LarkTwin, World};
use sha2::{Digest, Sha256};
use tokio::sync::Notify;

use crate::feishu::{Brand, FeishuChannel, FeishuSettings};
use crate::{
    Channel, Fault, Ingress, IngressFault, Judged, Monitor, OutFile, Progress, SendOutcome, SendPart,
    SentIds, SettlePart, Settlement,
};

/// The chat that the twin's app is in.
pub(super) const CHAT: &str = "oc_general";
/// Path of a send.
pub(super) const SEND: &str = "/open-apis/im/v1/messages";

/// The system's clock, moved.
#[derive(Debug, Default)]
pub(super) struct Moved(AtomicI64);

impl Moved {
    pub(super) fn by_ms(&self, ms: i64) {
        self.0.store(ms, Ordering::Relaxed);
    }
}

impl Clock for Moved {
    fn now(&self) -> Timestamp {
        SystemClock.now().plus_ms(self.0.load(Ordering::Relaxed))
    }
}

/// A text Part with fixed ids.
pub(super) fn text_part(n: u32, text: &str) -> SendPart {
    SendPart {
        attempt_id: AttemptId::new(1, 1),
        outbox_id: OutboxId::new(1, 1),
        part_id: PartId::new(1, u128::from(n)),
        n,
        of: 1,
        conversation_id: CHAT.to_owned(),
        conversation_type: None,
        target: Target::default(),
        is_reply: false,
        kind: PartKind::Text,
        text: Some(text.to_owned()),
        format: TextFormat::Markdown,
        file: None,
    }
}

/// A file Part over a file with these bytes.
pub(super) fn file_part(dir: &tempfile::TempDir, n: u32, name: &str, bytes: &[u8]) -> SendPart {
    let path = dir.path().join(name);
    std::fs::write(&path, bytes).unwrap();
    let file = OutFile {
        path,
        name: name.to_owned(),
        mime_type: "application/octet-stream".to_owned(),
        size: bytes.len() as u64,
        sha256: hex::encode(Sha256::digest(bytes)),
    };
    SendPart { kind: PartKind::File, text: None, file: Some(file), ..text_part(n, "") }
}

/// A twin and a channel that speaks to it.
pub(super) struct Stage {
    pub(super) twin: LarkTwin,
    pub(super) channel: FeishuChannel,
    pub(super) clock: Arc<Moved>,
}

impl Stage {
    pub(super) async fn start() -> Stage {
        let twin = LarkTwin::start(0, World::default()).await.unwrap();
        let clock = Arc::new(Moved::default());
        let (app_id, app_secret) = twin.app();
        let transport = Transport::builder().local_origin(&twin.base_url()).build().unwrap();
        let settings = FeishuSettings {
            api_url: Some(twin.base_url()),
            brand: Brand::Lark,
            app_id,
            app_secret: Secret::new(app_secret),
            proxy: None,
            clock: clock.clone(),
        };
        Stage { channel: FeishuChannel::new(transport, settings).unwrap(), twin, clock }
    }

    /// Delivers and expects success.
    pub(super) async fn sent(&self, part: SendPart) -> SentIds {
        match self.channel.deliver(part, &Steps::default()).await {
            SendOutcome::Sent(ids) => ids,
            SendOutcome::Failed(fault) => panic!("{fault}"),
        }
    }

    /// Delivers and expects a fault.
    pub(super) async fn failed(&self, part: SendPart) -> Fault {
        match self.channel.deliver(part, &Steps::default()).await {
            SendOutcome::Sent(ids) => panic!("{ids:?}"),
            SendOutcome::Failed(fault) => fault,
        }
    }

    /// Asks what became of a Part of an attempt that was made now, by the real clock.
    pub(super) async fn settle(&self, part: SendPart, provider_key: Option<String>) -> Settlement {
        let attempted_at = SystemClock.now();
        self.channel.settle(SettlePart { part, provider_key, attempted_at }).await
    }

    /// What the app sent.
    pub(super) fn messages(&self) -> Vec<LarkMessage> {
        self.twin.world().sent()
    }

    /// Requests of a path.
    pub(super) fn calls(&self, path: &str) -> usize {
        self.twin.requests().iter().filter(|request| request.method == "POST" && request.path == path).count()
    }
}

/// Steps that were committed; may refuse one.
#[derive(Debug, Default)]
pub(super) struct Steps {
    pub(super) taken: Mutex<Vec<(Step, Option<String>)>>,
    pub(super) refuse: Option<Step>,
}

#[async_trait]
impl Progress for Steps {
    async fn step(&self, step: Step, provider_key: Option<String>) -> Result<(), Error> {
        if self.refuse == Some(step) {
            return Err(Error::new(loom_domain::Code::LeaseLost, "the lease was lost"));
        }
        self.taken.lock().unwrap().push((step, provider_key));
        Ok(())
    }
}

/// A hub that takes notes.
#[derive(Debug, Default)]
pub(super) struct Hub {
    pub(super) registered: AtomicU32,
    pub(super) proofs: AtomicU32,
    pub(super) offered: AtomicU32,
    pub(super) proved: Notify,
}

#[async_trait]
impl Ingress for Hub {
    async fn offer(&self, _: Vec<InboundEvent>) -> Result<Vec<Judged>, IngressFault> {
        self.offered.fetch_add(1, Ordering::Relaxed);
        Ok(Vec::new())
    }
}

impl Monitor for Hub {
    fn connecting(&self) {}
    fn registered(&self, _: u32) {
        self.registered.fetch_add(1, Ordering::Relaxed);
    }
    fn alive(&self, _: Proof) {
        self.proofs.fetch_add(1, Ordering::Relaxed);
        self.proved.notify_one();
    }
    fn fault(&self, _: &Fault) {}
    fn sockets(&self, _: u32) {}
    fn foreign_connection(&self, _: u32) {}
}
