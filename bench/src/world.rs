//! A store with an Agent on one Connection, and traffic for it.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use loom_api::request::{AddressPolicy, Bind, Cancel, Connect, CreateAgent, SetMembership};
use loom_domain::message::{Content, ConversationRef, EventKind, Mention, Sender, SenderKind};
use loom_domain::{
    AgentId, ConnectionId, ConversationType, Expectation, InboundEvent, MembershipId, OutboundPolicy,
    Principal, RuntimeKind, TextFormat, Timestamp, decision::Limits,
};
use loom_store::ops::inbound::{Judged, Offer};
use loom_store::{Act, Store, StoreConfig};

/// Where the wall clock of the world begins.
pub(crate) const START: Timestamp = Timestamp(1_800_000_000_000);
const BOT: &str = "U0BOT";
/// Conversations that messages spread over.
pub(crate) const CONVERSATIONS: usize = 256;
/// Events in one offer when a store is filled.
const FILL_BATCH: usize = 50;
/// Time that passes with each act, milliseconds: limits count by the minute and the hour.
const STEP_MS: u64 = 100;
/// Largest lease.
const LEASE_MS: i64 = 3_600_000;

/// A furnished store.
pub(crate) struct World {
    pub(crate) store: Store,
    pub(crate) agent: AgentId,
    pub(crate) connection: ConnectionId,
    pub(crate) channels: Vec<MembershipId>,
    ids: Arc<AtomicU64>,
}

impl World {
    /// Opens a store in the folder and makes Agent, Connection, Address and the channels.
    pub(crate) async fn new(home: &Path, seed: u64) -> anyhow::Result<Self> {
        let config = StoreConfig::new(home, "bench");
        let store = tokio::task::spawn_blocking(move || Store::open(config, START)).await??;
        let ids = Arc::new(AtomicU64::new(seed << 32));
        let (agent, connection, channels) = furnish(&store, &act_of(&ids), 0).await?;
        Ok(World { store, agent, connection, channels, ids })
    }

    /// One more Agent on a Connection of its own.
    pub(crate) async fn another(&self, n: usize) -> anyhow::Result<ConnectionId> {
        Ok(furnish(&self.store, &act_of(&self.ids), n).await?.1)
    }

    /// The owner acts.
    pub(crate) fn act(&self) -> Act {
        act_of(&self.ids)()
    }

    /// Records events in one commit.
    pub(crate) async fn record(&self, events: Vec<InboundEvent>) -> anyhow::Result<Vec<Judged>> {
        self.record_on(&self.connection, events).await
    }

    /// Records events of a Connection in one commit.
    pub(crate) async fn record_on(
        &self,
        connection: &ConnectionId,
        events: Vec<InboundEvent>,
    ) -> anyhow::Result<Vec<Judged>> {
        let offer = Offer {
            connection_id: connection.clone(),
            fence: None,
            own_ids: vec![],
            limits: Limits::default(),
        };
        Ok(self.store.record_inbound(self.act(), offer, events).await?)
    }

    /// Stores messages `from..to` and closes their items: an Agent may have only so many open.
    pub(crate) async fn fill(&self, from: usize, to: usize) -> anyhow::Result<()> {
        let mut at = from;
        while at < to {
            let next = (at + FILL_BATCH).min(to);
            let judged = self.record((at..next).map(event).collect()).await?;
            let items = judged.into_iter().filter_map(|one| one.item_id);
            let closed = items.map(|item| self.store.cancel_item(self.act(), item, Cancel::default()));
            futures_util::future::try_join_all(closed).await?;
            at = next;
        }
        Ok(())
    }

    /// The fence of a fresh lease on the Connection.
    pub(crate) async fn fence(&self) -> anyhow::Result<u64> {
        let name = format!("connection:{}", self.connection);
        Ok(self.store.lease(self.act(), name, LEASE_MS, None).await?.fence)
    }
}

/// Makes the `n`th Agent with its Connection, Address and channels.
async fn furnish(
    store: &Store,
    act: &impl Fn() -> Act,
    n: usize,
) -> anyhow::Result<(AgentId, ConnectionId, Vec<MembershipId>)> {
    let name = format!("bench-{n}");
    let agent = store.create_agent(act(), agent_request(&name), false).await?.object.id;
    let connection = store.connect(act(), connect_request(n), vec![], false).await?.object.id;
    let bind = Bind {
        connection_id: connection.to_string(),
        external_identity: BOT.to_owned(),
        policy: AddressPolicy { enabled: Some(true), ..AddressPolicy::default() },
    };
    let address = store.bind(act(), name, bind, vec![], false).await?.object.id;
    let mut channels = Vec::new();
    for n in 0..CONVERSATIONS {
        let set = store.set_membership(act(), address.clone(), channel(n), channel_request(), false);
        channels.push(set.await?.object.id);
    }
    Ok((agent, connection, channels))
}

fn act_of(ids: &Arc<AtomicU64>) -> impl Fn() -> Act + use<> {
    let ids = ids.clone();
    move || {
        let ids = ids.clone();
        let acts = ids.fetch_add(1, Ordering::Relaxed) & u64::from(u32::MAX);
        let now = START.plus_ms(i64::try_from(acts * STEP_MS).unwrap_or(i64::MAX));
        let entropy = Arc::new(move || u128::from(ids.fetch_add(1, Ordering::Relaxed)));
        Act { principal: Principal::Owner, now, entropy }
    }
}

fn channel(n: usize) -> String {
    format!("C{n:04}")
}

fn agent_request(name: &str) -> CreateAgent {
    CreateAgent {
        name: name.to_owned(),
        runtime: RuntimeKind::Command,
        cwd: None,
        model: None,
        effort: None,
        sandbox: None,
        approval: None,
        endpoint: None,
        profile: None,
        command: vec!["true".to_owned()],
        require_probe: false,
    }
}

fn connect_request(n: usize) -> Connect {
    Connect {
        provider: "slack".to_owned(),
        account_ref: format!("A{n}APP"),
        scope_ref: Some("T1".to_owned()),
        credential_ref: "env:SLACK".to_owned(),
        brand: None,
        api_url: None,
        proxy_url: None,
        capabilities: None,
        gateway_mode: None,
        allow_http: false,
    }
}

fn channel_request() -> SetMembership {
    SetMembership {
        conversation_type: Some(ConversationType::Channel),
        outbound_policy: Some(OutboundPolicy::Proactive),
        enabled: Some(true),
        ..SetMembership::default()
    }
}

pub(crate) fn event(n: usize) -> InboundEvent {
    let ts = format!("17{n:08}.{:06}", n % 1_000);
    let conversation = channel(n % CONVERSATIONS);
    InboundEvent {
        event_id: format!("Ev{n}"),
        kind: EventKind::Message,
        occurred_at: None,
        conversation: ConversationRef {
            conversation_id: conversation.clone(),
            thread_id: None,
            message_id: Some(ts.clone()),
            conversation_type: Some(ConversationType::Channel),
            platform_type: None,
        },
        parent_type: None,
        sender: Some(Sender {
            external_id: format!("U{:05}", n % 97),
            display_name: Some("Ann".to_owned()),
            kind: SenderKind::Human,
        }),
        content: Content {
            text: format!("Please look at build {n} and tell what broke it."),
            format: TextFormat::Plain,
            truncated: false,
            attachments: vec![],
        },
        mentions: vec![Mention { external_id: BOT.to_owned(), display_name: None }],
        dispatch: false,
        reply_expected: Expectation::Optional,
        target_message_id: None,
        message_key: Some(format!("T1/{conversation}/{ts}")),
        bare_mention: false,
        thread_context: None,
        fact: None,
        cursor: None,
        raw: serde_json::json!({"ts": ts, "type": "message"}),
    }
}
