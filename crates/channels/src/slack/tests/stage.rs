//! A twin, a channel and a hub that only takes notes.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_trait::async_trait;
use loom_domain::connection::Proof;
use loom_domain::outbox::{PartKind, Step, Target};
use loom_domain::{AttemptId, InboundEvent, OutboxId, PartId, TextFormat, Timestamp};
use loom_secrets::Secret;
use loom_transport::{ProxySetting, Transport};
use loom_twins::slack::{Config, SlackTwin};
use sha2::{Digest, Sha256};
use tokio::sync::{Notify, watch};
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

use crate::slack::{SlackChannel, SlackSettings};
use crate::{
    Channel, Fault, Ingress, IngressFault, Judged, Monitor, OutFile, Progress, SendOutcome, SendPart,
    SentIds, Session, SessionEnd, SettlePart, Settlement,
};

/// Longest wait for anything.
pub(super) const LIMIT: Duration = Duration::from_secs(20);

/// A text Part with fixed ids.
pub(in crate::slack) fn text_part(channel: &str, text: &str) -> SendPart {
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

/// A file Part over a file with these bytes.
pub(super) fn file_part(
    dir: &tempfile::TempDir,
    channel: &str,
    n: u32,
    name: &str,
    bytes: &[u8],
) -> SendPart {
    let path = dir.path().join(name);
    std::fs::write(&path, bytes).unwrap();
    let file = OutFile {
        path,
        name: name.to_owned(),
        mime_type: "application/octet-stream".to_owned(),
        size: bytes.len() as u64,
        sha256: hex::encode(Sha256::digest(bytes)),
    };
    SendPart {
        part_id: PartId::new(1, u128::from(n)),
        n,
        kind: PartKind::File,
        text: None,
        file: Some(file),
        ..text_part(channel, "")
    }
}

/// A twin and a channel that speaks to it.
pub(super) struct Stage {
    pub(super) twin: SlackTwin,
    pub(super) channel: Arc<SlackChannel>,
}

impl Stage {
    pub(super) async fn start() -> Stage {
        Stage::with(Config { time_scale: 0.1, ..Config::default() }).await
    }

    pub(super) async fn with(config: Config) -> Stage {
        let (bot, app) = (config.bot_tokens[0].clone(), config.app_tokens[0].clone());
        let twin = SlackTwin::start(config).await.unwrap();
        let channel = channel(&twin, &bot, &app);
        Stage { twin, channel }
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

    /// Asks what became of a Part that was just sent.
    pub(super) async fn settle(&self, part: SendPart, provider_key: Option<String>) -> Settlement {
        let at = self.twin.requests().last().map_or(0, |request| i64::try_from(request.at_ms).unwrap());
        self.channel.settle(SettlePart { part, provider_key, attempted_at: Timestamp(at) }).await
    }

    pub(super) fn calls(&self, method: &str) -> usize {
        self.twin.requests_of(method).len()
    }

    /// Serves a session.
    pub(super) fn serve(&self, hub: &Arc<Hub>) -> Served {
        let (stop, reconnect) = (CancellationToken::new(), Arc::new(Notify::new()));
        let session = Session {
            ingress: Arc::clone(hub) as Arc<dyn Ingress>,
            monitor: Arc::clone(hub) as Arc<dyn Monitor>,
            stop: stop.clone(),
            reconnect: Arc::clone(&reconnect),
        };
        let channel = Arc::clone(&self.channel);
        Served { task: tokio::spawn(async move { channel.serve(session).await }), stop, reconnect }
    }

    /// Serves a session and waits for its registration.
    pub(super) async fn connected(&self, hub: &Arc<Hub>) -> Served {
        let served = self.serve(hub);
        self.twin.wait_for_sockets(1, LIMIT).await.unwrap();
        hub.until(|notes| notes.registered > 0).await;
        served
    }
}

/// A channel with these tokens.
pub(super) fn channel(twin: &SlackTwin, bot: &str, app: &str) -> Arc<SlackChannel> {
    proxied(twin, bot, app, None)
}

/// A channel with these tokens and a proxy of its own.
pub(super) fn proxied(
    twin: &SlackTwin,
    bot: &str,
    app: &str,
    proxy: Option<ProxySetting>,
) -> Arc<SlackChannel> {
    let transport = Transport::builder().local_origin(&twin.origin()).build().unwrap();
    let settings = SlackSettings {
        api_url: Some(twin.base_url()),
        bot_token: Secret::new(bot),
        app_token: Some(Secret::new(app)),
        proxy,
    };
    Arc::new(SlackChannel::new(transport, settings).unwrap())
}

/// A running session.
pub(super) struct Served {
    task: JoinHandle<SessionEnd>,
    pub(super) stop: CancellationToken,
    pub(super) reconnect: Arc<Notify>,
}

impl Served {
    pub(super) async fn end(mut self) -> SessionEnd {
        tokio::time::timeout(LIMIT, &mut self.task).await.expect("the session ends").unwrap()
    }

    pub(super) async fn stop(self) -> SessionEnd {
        self.stop.cancel();
        self.end().await
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        self.task.abort();
    }
}

/// What the hub noted.
#[derive(Debug, Clone, Default)]
pub(super) struct Notes {
    pub(super) events: Vec<InboundEvent>,
    pub(super) registered: u32,
    pub(super) sockets: u32,
    pub(super) sockets_max: u32,
    pub(super) foreign: u32,
    pub(super) pongs: u32,
    pub(super) faults: Vec<Fault>,
}

/// A hub that stores in memory. `answers` come first; then everything is taken.
pub(super) struct Hub {
    notes: watch::Sender<Notes>,
    answers: Mutex<VecDeque<IngressFault>>,
    gate: tokio::sync::Semaphore,
}

impl Hub {
    pub(super) fn new() -> Arc<Hub> {
        Hub::gated(tokio::sync::Semaphore::MAX_PERMITS)
    }

    /// A hub that commits only that many offers.
    pub(super) fn gated(permits: usize) -> Arc<Hub> {
        let gate = tokio::sync::Semaphore::new(permits);
        Arc::new(Hub { notes: watch::Sender::new(Notes::default()), answers: Mutex::default(), gate })
    }

    pub(super) fn answer(&self, fault: IngressFault) {
        self.answers.lock().unwrap().push_back(fault);
    }

    pub(super) fn notes(&self) -> Notes {
        self.notes.borrow().clone()
    }

    /// Waits for notes that satisfy.
    pub(super) async fn until(&self, is_there: impl Fn(&Notes) -> bool) -> Notes {
        let mut seen = self.notes.subscribe();
        let waited = tokio::time::timeout(LIMIT, seen.wait_for(|notes| is_there(notes))).await;
        waited.unwrap_or_else(|_| panic!("not in time: {:?}", self.notes())).unwrap().clone()
    }

    pub(super) async fn events(&self, count: usize) -> Vec<InboundEvent> {
        self.until(|notes| notes.events.len() >= count).await.events
    }
}

#[async_trait]
impl Ingress for Hub {
    async fn offer(&self, events: Vec<InboundEvent>) -> Result<Vec<Judged>, IngressFault> {
        let answer = self.answers.lock().unwrap().pop_front();
        if let Some(fault) = answer {
            return Err(fault);
        }
        self.gate.acquire().await.unwrap().forget();
        self.notes.send_modify(|notes| notes.events.extend(events));
        Ok(Vec::new())
    }
}

impl Monitor for Hub {
    fn connecting(&self) {}
    fn registered(&self, _sockets: u32) {
        self.notes.send_modify(|notes| notes.registered += 1);
    }
    fn alive(&self, proof: Proof) {
        if proof == Proof::Pong {
            self.notes.send_modify(|notes| notes.pongs += 1);
        }
    }
    fn fault(&self, fault: &Fault) {
        self.notes.send_modify(|notes| notes.faults.push(fault.clone()));
    }
    fn sockets(&self, open: u32) {
        self.notes.send_modify(|notes| {
            notes.sockets = open;
            notes.sockets_max = notes.sockets_max.max(open);
        });
    }
    fn foreign_connection(&self, total: u32) {
        self.notes.send_modify(|notes| notes.foreign = total);
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
    async fn step(&self, step: Step, provider_key: Option<String>) -> Result<(), loom_domain::Error> {
        if self.refuse == Some(step) {
            return Err(loom_domain::Error::new(loom_domain::Code::LeaseLost, "the lease was lost"));
        }
        self.taken.lock().unwrap().push((step, provider_key));
        Ok(())
    }
}
