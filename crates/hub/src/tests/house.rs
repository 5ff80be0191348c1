//! One hub in a directory of its own, with a clock that a test may move.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::atomic::{AtomicI64, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use loom_api::{
    query,
    request::{AddressPolicy, Bind, Connect, Content, CreateAgent, EnableMembership, Send, SetMembership},
    view,
};
use loom_channels::Channel;
use loom_domain::{
    AddressId, Agent, Connection, ConversationType, Expectation, InboundEvent, InboxId, MembershipId,
    OutboundPolicy, OutboxId, Principal, RuntimeKind, TextFormat, Timestamp,
    connection::GatewayMode,
    inbox,
    message::{Content as Words, ConversationRef, EventKind, Mention, Sender, SenderKind},
};
use loom_secrets::{Redactor, Resolver};
use loom_store::{Act, Store, StoreConfig};
use tokio::time::Instant;

use super::script::Script;
use crate::{Clock, Config, Hub, Parts, home::Home};

const START: i64 = 1_800_000_000_000;
const SOON: Duration = Duration::from_secs(60);
pub(super) const BOT: &str = "U0BOT";

/// A wall clock that runs, and that a test may push.
#[derive(Debug)]
struct HouseClock {
    since: Instant,
    pushed_ms: AtomicI64,
}

impl Clock for HouseClock {
    fn now(&self) -> Timestamp {
        let run = i64::try_from(self.since.elapsed().as_millis()).unwrap();
        Timestamp(START + run + self.pushed_ms.load(Ordering::Relaxed))
    }
}

pub(super) struct House {
    parts: Parts,
    running: Option<Hub>,
    clock: Arc<HouseClock>,
    scripts: Arc<Mutex<HashMap<String, Arc<Script>>>>,
    pub(super) made: Arc<AtomicUsize>,
    dir: tempfile::TempDir,
}

fn entropy() -> u128 {
    static NEXT: AtomicU64 = AtomicU64::new(1);
    u128::from(NEXT.fetch_add(1, Ordering::Relaxed))
}

/// Looks again and again until there is something, for a minute.
pub(super) async fn until<T, F: Future<Output = Option<T>>>(what: &str, mut look: impl FnMut() -> F) -> T {
    let deadline = Instant::now() + SOON;
    loop {
        if let Some(found) = look().await {
            return found;
        }
        assert!(Instant::now() < deadline, "this did not happen: {what}");
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
}

impl House {
    /// A hub that was not started.
    pub(super) async fn prepare() -> House {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().join("home");
        let home = Home::new(&root);
        home.prepare().unwrap();
        let settings = StoreConfig::new(&root, "nod_test");
        let opening = tokio::task::spawn_blocking(move || Store::open(settings, Timestamp(START)));
        let clock = Arc::new(HouseClock { since: Instant::now(), pushed_ms: AtomicI64::new(0) });
        let scripts = Arc::new(Mutex::new(HashMap::<String, Arc<Script>>::new()));
        let (known, made) = (scripts.clone(), Arc::new(AtomicUsize::new(0)));
        let counted = made.clone();
        let redactor = Redactor::new();
        let parts = Parts {
            config: Config::default(),
            home,
            store: opening.await.unwrap().unwrap(),
            clock: clock.clone(),
            entropy: Arc::new(entropy),
            resolver: Arc::new(Resolver::new(
                redactor.clone(),
                Arc::new(|_| Some("xoxb-1-test-value-of-no-account".to_owned())),
            )),
            redactor,
            make_channel: Arc::new(move |connection: &Connection, _| {
                counted.fetch_add(1, Ordering::SeqCst);
                let script = known.lock().unwrap().get(&connection.account_ref).cloned();
                Ok(script.expect("a script for each Connection") as Arc<dyn Channel>)
            }),
            lent: crate::Lent {
                world: loom_capabilities::World::over(Arc::new(loom_transport::MockBackend::new())),
                ..crate::Lent::nothing()
            },
            socket: root.join("run/loom.sock"),
        };
        House { parts, running: None, clock, scripts, made, dir }
    }

    /// Agents' leases last so long.
    pub(super) fn leases_last_ms(&mut self, ms: i64) {
        self.parts.config.lease.agent_ttl_ms = ms;
    }

    pub(super) fn start(&mut self) {
        self.running = Some(Hub::start(self.parts.clone()));
    }

    pub(super) async fn up() -> House {
        let mut house = House::prepare().await;
        house.start();
        house
    }

    pub(super) async fn end(self) {
        self.hub().stop(Duration::ZERO).await;
    }

    pub(super) fn hub(&self) -> &Hub {
        self.running.as_ref().unwrap()
    }

    pub(super) fn store(&self) -> &Store {
        &self.parts.store
    }

    pub(super) fn blobs(&self) -> crate::Blobs {
        crate::Blobs::new(self.parts.home.join("blobs"))
    }

    pub(super) fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    pub(super) fn now(&self) -> Timestamp {
        self.clock.now()
    }

    pub(super) fn pass_s(&self, seconds: i64) {
        self.clock.pushed_ms.fetch_add(seconds * 1_000, Ordering::Relaxed);
    }

    pub(super) fn act(&self) -> Act {
        Act { principal: Principal::Owner, now: self.now(), entropy: Arc::new(entropy) }
    }

    /// An Agent whose Turns run a shell script.
    pub(super) async fn agent(&self, name: &str, script: &str) -> Agent {
        let request = CreateAgent {
            name: name.to_owned(),
            runtime: RuntimeKind::Command,
            cwd: None,
            model: None,
            effort: None,
            sandbox: None,
            approval: None,
            endpoint: None,
            profile: None,
            command: ["/bin/sh", "-c", script].map(str::to_owned).to_vec(),
            require_probe: false,
        };
        self.store().create_agent(self.act(), request, false).await.unwrap().object
    }

    /// A script that answers with a text once a file is there.
    pub(super) fn gated(&self, gate: &str, answer: &str) -> String {
        let gate = self.path(gate);
        format!("cat >/dev/null; while [ ! -e {} ]; do sleep 0.05; done; echo {answer}", gate.display())
    }

    pub(super) fn open_gate(&self, gate: &str) {
        std::fs::write(self.path(gate), b"").unwrap();
    }

    /// A Connection with its scripted channel.
    pub(super) async fn connect(&self, account: &str, mode: GatewayMode) -> (Arc<Script>, Connection) {
        let script = Script::new(account);
        (script.clone(), self.connect_to(account, mode, script).await)
    }

    pub(super) async fn connect_to(
        &self,
        account: &str,
        mode: GatewayMode,
        script: Arc<Script>,
    ) -> Connection {
        self.scripts.lock().unwrap().insert(account.to_owned(), script);
        let request = Connect {
            provider: "slack".to_owned(),
            account_ref: account.to_owned(),
            scope_ref: Some("T1".to_owned()),
            credential_ref: "env:SLACK".to_owned(),
            brand: None,
            api_url: None,
            proxy_url: None,
            capabilities: None,
            gateway_mode: Some(mode),
            allow_http: false,
        };
        let connection = self.store().connect(self.act(), request, vec![], false).await.unwrap().object;
        if connection.enabled {
            return connection;
        }
        self.switch(&connection, true).await
    }

    pub(super) async fn switch(&self, connection: &Connection, enabled: bool) -> Connection {
        let switched =
            self.store().set_connection_enabled(self.act(), connection.id.clone(), enabled, None, false);
        switched.await.unwrap().object
    }

    pub(super) async fn bind(
        &self,
        agent: &str,
        connection: &Connection,
        policy: AddressPolicy,
    ) -> AddressId {
        let request = Bind {
            connection_id: connection.id.to_string(),
            external_identity: BOT.to_owned(),
            policy: AddressPolicy { enabled: Some(true), ..policy },
        };
        self.store().bind(self.act(), agent.to_owned(), request, vec![], false).await.unwrap().object.id
    }

    /// An enabled Membership of a channel.
    pub(super) async fn channel(&self, address: &AddressId, id: &str) -> MembershipId {
        let request = SetMembership {
            conversation_type: Some(ConversationType::Channel),
            outbound_policy: Some(OutboundPolicy::Proactive),
            enabled: Some(true),
            ..SetMembership::default()
        };
        let set = self.store().set_membership(self.act(), address.clone(), id.to_owned(), request, false);
        set.await.unwrap().object.id
    }

    /// An Agent with a served Connection and the channels.
    pub(super) async fn furnish(
        &self,
        script: &str,
        channels: &[&str],
    ) -> (Arc<Script>, Connection, AddressId) {
        self.agent("docs", script).await;
        let (platform, connection) = self.connect("A1", GatewayMode::Managed).await;
        let address = self.bind("docs", &connection, AddressPolicy::default()).await;
        for channel in channels {
            self.channel(&address, channel).await;
        }
        self.served(&platform).await;
        (platform, connection, address)
    }

    pub(super) async fn served(&self, platform: &Script) {
        until("a session", || async { platform.is_served().then_some(()) }).await;
    }

    /// A mention of the bot.
    pub(super) fn mention(&self, conversation: &str, message: &str) -> InboundEvent {
        InboundEvent {
            event_id: format!("Ev{conversation}{message}"),
            kind: EventKind::Message,
            occurred_at: Some(self.now()),
            conversation: ConversationRef {
                conversation_id: conversation.to_owned(),
                thread_id: None,
                message_id: Some(message.to_owned()),
                conversation_type: Some(ConversationType::Channel),
                platform_type: None,
            },
            parent_type: None,
            sender: Some(Sender {
                external_id: "U0ANN".to_owned(),
                display_name: Some("Ann".to_owned()),
                kind: SenderKind::Human,
            }),
            content: Words {
                text: format!("text {message}"),
                format: TextFormat::Plain,
                truncated: false,
                attachments: vec![],
            },
            mentions: vec![Mention { external_id: BOT.to_owned(), display_name: None }],
            dispatch: false,
            reply_expected: Expectation::Optional,
            target_message_id: None,
            message_key: Some(format!("T1/{conversation}/{message}")),
            bare_mention: false,
            thread_context: None,
            fact: None,
            cursor: None,
            raw: serde_json::json!({"ts": message}),
        }
    }

    /// The platform sends an event; gives its item.
    pub(super) async fn event(&self, platform: &Script, event: InboundEvent) -> InboxId {
        let session = until("a session", || async { platform.with(|s| s.session.clone()) }).await;
        let judged = session.ingress.offer(vec![event]).await.unwrap().remove(0);
        judged.item_id.unwrap_or_else(|| panic!("refused: {}", judged.reason))
    }

    /// A direct message of somebody who was not approved.
    pub(super) fn dm(&self, conversation: &str, message: &str) -> InboundEvent {
        let mut event = self.mention(conversation, message);
        event.conversation.conversation_type = Some(ConversationType::Dm);
        event.mentions.clear();
        event
    }

    /// The owner approves the direct messages of Ann.
    pub(super) async fn allow_dm(&self, address: &AddressId, id: &str) {
        let request = SetMembership {
            conversation_type: Some(ConversationType::Dm),
            actor_id: Some("U0ANN".to_owned()),
            ..SetMembership::default()
        };
        let draft = self.store().set_membership(self.act(), address.clone(), id.to_owned(), request, false);
        let id = draft.await.unwrap().object.id;
        let enable = EnableMembership::default();
        self.store().enable_membership(self.act(), id, enable, false).await.unwrap();
    }

    /// Somebody mentions the bot in a served conversation.
    pub(super) async fn say(&self, platform: &Script, conversation: &str, message: &str) -> InboxId {
        self.served(platform).await;
        self.event(platform, self.mention(conversation, message)).await
    }

    pub(super) async fn item(&self, id: &InboxId) -> view::InboxDetail {
        self.store().inbox_detail(Principal::Owner, id.to_string()).await.unwrap()
    }

    pub(super) async fn item_is(&self, id: &InboxId, state: inbox::State) -> view::InboxDetail {
        until(&format!("{id} is {state}"), || async {
            let detail = self.item(id).await;
            (detail.entry.item.state == state).then_some(detail)
        })
        .await
    }

    /// A send of the Agent's own accord; it is not waited for.
    pub(super) async fn send(&self, membership: &MembershipId, send: Send) -> OutboxId {
        let send = Send {
            from: Some("docs".to_owned()),
            membership_id: Some(membership.to_string()),
            idempotency_key: Some(format!("k{}", entropy())),
            ..send
        };
        self.hub().send(Principal::Owner, send, Duration::ZERO).await.unwrap().item.id
    }

    pub(super) async fn send_text(&self, membership: &MembershipId, text: &str) -> OutboxId {
        let content = Content { text: text.to_owned(), ..Content::default() };
        self.send(membership, Send { content, ..Send::default() }).await
    }

    pub(super) async fn outbox(&self, id: &OutboxId) -> view::OutboxDetail {
        self.store().outbox_detail(Principal::Owner, id.clone()).await.unwrap()
    }

    pub(super) async fn outbox_is(
        &self,
        id: &OutboxId,
        state: loom_domain::outbox::State,
    ) -> view::OutboxDetail {
        until(&format!("{id} is {state}"), || async {
            let detail = self.outbox(id).await;
            (detail.entry.item.state == state).then_some(detail)
        })
        .await
    }

    /// Texts of the Notices of a kind.
    pub(super) async fn notices(&self, kind: &str) -> Vec<String> {
        let all = self.store().list_notices(query::Notices::default()).await.unwrap().items;
        all.into_iter().filter(|notice| notice.kind == kind).map(|notice| notice.text).collect()
    }
}
