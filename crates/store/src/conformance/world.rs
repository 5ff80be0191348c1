//! One hub's data with an Agent on Slack, and the words that the tests speak in.

use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use loom_api::request::{AddressPolicy, Bind, Connect, CreateAgent, SetMembership};
use loom_domain::{
    AddressId, Agent, AgentId, Connection, ConnectionId, ConversationType, Expectation, InboundEvent,
    InboxId, MembershipId, Principal, RuntimeKind, TextFormat, Timestamp,
    decision::{AgentGate, Limits},
    inbox::State,
    message::{Content, ConversationRef, EventKind, Mention, Sender, SenderKind},
};

use super::cluster;
use crate::{
    Act, Store, StoreConfig, StoreUrl,
    ops::{
        inbound::{Judged, Offer},
        turns::{Claim, Claimed, Reply, TurnEnd},
    },
};

pub(super) const START: i64 = 1_800_000_000_000;
pub(super) const BOT: &str = "U0BOT";

pub(super) struct World {
    store: Mutex<Option<Store>>,
    config: StoreConfig,
    now: AtomicI64,
    _home: tempfile::TempDir,
    made: Mutex<Option<(AgentId, ConnectionId, AddressId)>>,
}

fn entropy() -> u128 {
    static NEXT: AtomicU64 = AtomicU64::new(1);
    u128::from(NEXT.fetch_add(1, Ordering::Relaxed))
}

impl World {
    fn open(url: StoreUrl) -> World {
        let home = tempfile::tempdir().unwrap();
        let config = StoreConfig { url, ..StoreConfig::new(home.path(), "n1") };
        let store = Store::open(config.clone(), Timestamp(START)).unwrap();
        World {
            store: Mutex::new(Some(store)),
            config,
            now: AtomicI64::new(START),
            _home: home,
            made: Mutex::new(None),
        }
    }

    pub(super) fn sqlite() -> World {
        World::open(StoreUrl::Sqlite)
    }

    pub(super) fn postgres() -> World {
        World::open(StoreUrl::Postgres(cluster::new_database()))
    }

    pub(super) fn is_postgres(&self) -> bool {
        matches!(self.config.url, StoreUrl::Postgres(_))
    }

    pub(super) fn config(&self) -> &StoreConfig {
        &self.config
    }

    pub(super) fn store(&self) -> Store {
        self.store.lock().unwrap().clone().unwrap()
    }

    /// Closes the store and opens it again.
    pub(super) async fn reopen(&self) {
        let old = self.store.lock().unwrap().take();
        let config = self.config.clone();
        let opened = tokio::task::spawn_blocking(move || {
            drop(old);
            Store::open(config, Timestamp(START)).unwrap()
        });
        let opened = opened.await.unwrap();
        *self.store.lock().unwrap() = Some(opened);
    }

    /// A second node on the same data.
    pub(super) async fn other_node(&self) -> Store {
        let config = StoreConfig { node: "n2".to_owned(), ..self.config.clone() };
        tokio::task::spawn_blocking(move || Store::open(config, Timestamp(START)).unwrap()).await.unwrap()
    }

    pub(super) fn now(&self) -> Timestamp {
        Timestamp(self.now.load(Ordering::Relaxed))
    }

    pub(super) fn pass_ms(&self, ms: i64) {
        self.now.fetch_add(ms, Ordering::Relaxed);
    }

    pub(super) fn act(&self) -> Act {
        self.act_as(Principal::Owner)
    }

    pub(super) fn act_as(&self, principal: Principal) -> Act {
        Act { principal, now: self.now(), entropy: Arc::new(entropy) }
    }

    /// Makes the Agent `docs` on a Slack Connection with an enabled Address.
    pub(super) async fn furnish(&self) {
        let agent = self.agent("docs").await;
        let connection = self.connect("A0APP").await;
        let address = self.bind(
            "docs",
            &connection.id,
            BOT,
            AddressPolicy { enabled: Some(true), ..AddressPolicy::default() },
        );
        let address = address.await;
        *self.made.lock().unwrap() = Some((agent.id, connection.id, address));
    }

    pub(super) async fn agent(&self, name: &str) -> Agent {
        let request = Self::agent_request(name);
        self.store().create_agent(self.act(), request, false).await.unwrap().object
    }

    pub(super) fn agent_request(name: &str) -> CreateAgent {
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

    pub(super) fn connect_request(account: &str) -> Connect {
        Connect {
            provider: "slack".to_owned(),
            account_ref: account.to_owned(),
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

    pub(super) async fn connect(&self, account: &str) -> Connection {
        let request = World::connect_request(account);
        self.store().connect(self.act(), request, vec![], false).await.unwrap().object
    }

    pub(super) async fn bind(
        &self,
        agent: &str,
        connection: &ConnectionId,
        identity: &str,
        policy: AddressPolicy,
    ) -> AddressId {
        let request =
            Bind { connection_id: connection.to_string(), external_identity: identity.to_owned(), policy };
        self.store().bind(self.act(), agent.to_owned(), request, vec![], false).await.unwrap().object.id
    }

    pub(super) fn agent_id(&self) -> AgentId {
        self.made.lock().unwrap().clone().unwrap().0
    }

    pub(super) fn connection_id(&self) -> ConnectionId {
        self.made.lock().unwrap().clone().unwrap().1
    }

    pub(super) fn address_id(&self) -> AddressId {
        self.made.lock().unwrap().clone().unwrap().2
    }

    /// An enabled Membership of a channel that allows proactive sends.
    pub(super) async fn channel(&self, id: &str) -> MembershipId {
        let request = SetMembership {
            conversation_type: Some(ConversationType::Channel),
            outbound_policy: Some(loom_domain::OutboundPolicy::Proactive),
            enabled: Some(true),
            ..SetMembership::default()
        };
        self.set(id, request).await
    }

    /// A disabled DM Membership.
    pub(super) async fn dm_draft(&self, id: &str, actor: &str) -> MembershipId {
        let request = SetMembership {
            conversation_type: Some(ConversationType::Dm),
            actor_id: Some(actor.to_owned()),
            ..SetMembership::default()
        };
        self.set(id, request).await
    }

    pub(super) async fn set(&self, id: &str, request: SetMembership) -> MembershipId {
        let answer =
            self.store().set_membership(self.act(), self.address_id(), id.to_owned(), request, false).await;
        answer.unwrap().object.id
    }

    /// A mention of the bot in a channel.
    pub(super) fn mention(&self, event: &str, conversation: &str, ts: &str) -> InboundEvent {
        let mut inbound = self.message(event, conversation, ConversationType::Channel, ts);
        inbound.mentions.push(Mention { external_id: BOT.to_owned(), display_name: None });
        inbound
    }

    /// A DM.
    pub(super) fn dm(&self, event: &str, conversation: &str, ts: &str) -> InboundEvent {
        self.message(event, conversation, ConversationType::Dm, ts)
    }

    fn message(&self, event: &str, conversation: &str, kind: ConversationType, ts: &str) -> InboundEvent {
        InboundEvent {
            event_id: event.to_owned(),
            kind: EventKind::Message,
            occurred_at: Some(self.now()),
            conversation: ConversationRef {
                conversation_id: conversation.to_owned(),
                thread_id: None,
                message_id: Some(ts.to_owned()),
                conversation_type: Some(kind),
                platform_type: None,
            },
            parent_type: None,
            sender: Some(Sender {
                external_id: "U0ANN".to_owned(),
                display_name: Some("Ann".to_owned()),
                kind: SenderKind::Human,
            }),
            content: Content {
                text: format!("text {ts}"),
                format: TextFormat::Plain,
                truncated: false,
                attachments: vec![],
            },
            mentions: vec![],
            dispatch: false,
            reply_expected: Expectation::Optional,
            target_message_id: None,
            message_key: Some(format!("T1/{conversation}/{ts}")),
            bare_mention: false,
            thread_context: None,
            fact: None,
            cursor: None,
            raw: serde_json::json!({"ts": ts}),
        }
    }

    pub(super) fn offer(&self) -> Offer {
        Offer { connection_id: self.connection_id(), fence: None, own_ids: vec![], limits: Limits::default() }
    }

    pub(super) async fn take(&self, event: InboundEvent) -> Judged {
        let judged = self.store().record_inbound(self.act(), self.offer(), vec![event]).await.unwrap();
        judged.into_iter().next().unwrap()
    }

    /// A queued item from a mention in a channel.
    pub(super) async fn queued(&self, conversation: &str, ts: &str) -> InboxId {
        let judged = self.take(self.mention(&format!("Ev{conversation}{ts}"), conversation, ts)).await;
        judged.item_id.unwrap_or_else(|| panic!("refused: {}", judged.reason))
    }

    pub(super) async fn state(&self, id: &InboxId) -> State {
        self.store().inbox_item(id.clone()).await.unwrap().state
    }

    pub(super) async fn count(&self, table: &'static str) -> i64 {
        self.store().read(move |tx| tx.number(&format!("SELECT COUNT(*) FROM {table}"), &[])).await.unwrap()
    }

    /// The fence of a fresh lease.
    pub(super) async fn lease(&self, name: String) -> u64 {
        self.store().lease(self.act(), name, 30_000, None).await.unwrap().fence
    }

    pub(super) async fn agent_fence(&self) -> u64 {
        self.lease(format!("agent:{}", self.agent_id())).await
    }

    pub(super) async fn connection_fence(&self) -> u64 {
        self.lease(format!("connection:{}", self.connection_id())).await
    }

    pub(super) fn claim_of(&self, fence: u64) -> Claim {
        Claim { agent_id: self.agent_id(), fence, gate: AgentGate::default(), limits: Limits::default() }
    }

    pub(super) async fn claim(&self, fence: u64) -> Option<Claimed> {
        self.store().claim_turn(self.act(), self.claim_of(fence)).await.unwrap()
    }

    /// A Turn's good end with an answer.
    pub(super) fn answer(text: &str) -> TurnEnd {
        let draft = crate::ops::outbox::Draft {
            text: text.to_owned(),
            chunks: vec![text.to_owned()],
            ..crate::ops::outbox::Draft::default()
        };
        TurnEnd::Completed {
            answer: Some(text.to_owned()),
            reply: Some(Reply { draft }),
            refused: None,
            usage: serde_json::Value::Null,
        }
    }
}
