//! Connections side by side: one's trouble is not another's, and their state is told truthfully.

use std::sync::{Arc, atomic::Ordering};
use std::time::Duration;

use loom_api::request::AddressPolicy;
use loom_channels::{Channel, Fault, FaultClass, Identity};
use loom_domain::{
    Code, Connection,
    connection::{ConnectionReason, ConnectionState, GatewayMode, Proof},
    inbox::State,
};

use super::house::{House, until};
use crate::{
    Phase,
    gateway::{SessionHolder, catchup},
    sweep,
};

const ECHO: &str = "cat >/dev/null; echo done";
/// Long enough for a call that must not come.
const A_WHILE: Duration = Duration::from_millis(300);

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn msg_003_one_connection_off_leaves_the_agent_and_its_other_address() {
    let house = House::up().await;
    let (first, off, _) = house.furnish(ECHO, &["C1"]).await;
    let (second, on) = house.connect("A2", GatewayMode::Managed).await;
    let address = house.bind("docs", &on, AddressPolicy::default()).await;
    house.channel(&address, "C2").await;
    house.served(&second).await;
    house.switch(&off, false).await;
    until("the first session ends", || async { (!first.is_served()).then_some(()) }).await;
    let item = house.say(&second, "C2", "1.1").await;
    let handled = house.item_is(&item, State::Handled).await;
    assert_eq!(handled.entry.agent_name, "docs");
    assert_eq!(second.texts("C2"), ["done"]);
    assert!(first.with(|s| s.sent.is_empty()));
    assert_eq!(house.hub().connection_health(&off.id).state, ConnectionState::Disabled);
    house.end().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn msg_039_eight_connections_answer_each_for_itself() {
    let house = House::up().await;
    house.agent("docs", ECHO).await;
    let mut items = Vec::new();
    for n in 1..=8 {
        let (platform, connection) = house.connect(&format!("A{n}"), GatewayMode::Managed).await;
        let address = house.bind("docs", &connection, AddressPolicy::default()).await;
        house.channel(&address, "C1").await;
        let item = house.say(&platform, "C1", "1.1").await;
        items.push((platform, connection, item));
    }
    for (platform, connection, item) in items {
        let detail = house.item_is(&item, State::Handled).await;
        let reply = house.outbox(&detail.entry.outbox_items[0].id).await;
        assert_eq!(reply.entry.item.conversation.connection_id, connection.id);
        let receipt = reply.entry.parts[0].receipt.clone().unwrap();
        let sent = platform.with(|s| s.sent.clone());
        assert_eq!(sent.len(), 1);
        assert_eq!(receipt.external_message_id.as_deref(), Some(sent[0].message.as_str()));
    }
    house.end().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn msg_215_ready_work_that_nobody_takes_is_stalled() {
    let house = House::up().await;
    let (platform, connection, _) = house.furnish(ECHO, &["C1"]).await;
    house.hub().inner.drain.cancel();
    let item = house.say(&platform, "C1", "1.1").await;
    let mut teller = sweep::Teller::default();
    teller.look(house.hub()).await;
    assert_ne!(house.hub().connection_health(&connection.id).reason, ConnectionReason::Stalled);
    house.pass_s(61);
    teller.look(house.hub()).await;
    until("the Connection counts as stalled", || async {
        let health = house.hub().connection_health(&connection.id);
        (health.state == ConnectionState::Degraded && health.reason == ConnectionReason::Stalled)
            .then_some(())
    })
    .await;
    let view = house.hub().health_view(&connection.id).await.unwrap();
    assert!(view.oldest_queued_seconds >= Some(61), "{view:?}");
    assert_eq!(house.item(&item).await.entry.item.state, State::Queued);
    house.end().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn msg_218_a_clock_jump_opens_the_session_again_and_reads_what_was_missed() {
    let house = House::up().await;
    let (platform, _, _) = house.furnish(ECHO, &["C1"]).await;
    let histories = until("a first catch-up", || async {
        Some(platform.with(|s| s.histories.len())).filter(|read| *read > 0)
    })
    .await;
    house.pass_s(3_600);
    let again =
        || async { platform.with(|s| s.sessions == 2 && s.histories.len() > histories).then_some(()) };
    until("a second session with its catch-up", again).await;
    house.end().await;
}

fn holder(house: &House, connection: Connection, channel: Arc<dyn Channel>) -> SessionHolder {
    SessionHolder {
        hub: house.hub().clone(),
        connection: Arc::new(connection),
        fence: 0,
        channel,
        identity: Arc::new(Identity::default()),
    }
}

/// Time that the machine slept away was not listened to, so the cursor of the history does not pass over it.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_history_cursor_follows_proofs_of_life_not_the_clock() {
    let house = House::up().await;
    let (platform, connection, _) = house.furnish(ECHO, &["C1"]).await;
    let holder = holder(&house, connection, platform.clone());
    let monitor = platform.with(|s| s.session.clone()).unwrap().monitor;
    let heard = || catchup::heard_until(&holder, house.now());
    let before = heard();
    house.pass_s(3_600);
    assert_eq!(heard(), before);
    monitor.alive(Proof::Pong);
    assert!(heard().since_ms(before) >= 3_600_000);
    house.end().await;
}

/// With many conversations and a rate limit, a reading that began again each time would never end.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_catch_up_that_was_interrupted_goes_on_where_it_stopped() {
    let house = House::up().await;
    let (_, connection, _) = house.furnish(ECHO, &["C1", "C2", "C3"]).await;
    let platform = super::script::Script::new("A1");
    let holder = holder(&house, connection, platform.clone());
    assert!(catchup::Pass::default().go_on(&holder, house.now()).await);
    let order = platform.with(|s| std::mem::take(&mut s.histories));
    let limit = || Fault::new(FaultClass::RateLimited, "ratelimited", "slow down");
    platform.fail_next(&format!("history of {}", order[1]), limit());
    platform.fail_next(&format!("history of {}", order[2]), limit());
    let mut pass = catchup::Pass::default();
    let mut ends = Vec::new();
    for _ in 0..3 {
        ends.push(pass.go_on(&holder, house.now()).await);
    }
    assert_eq!(ends, [false, false, true]);
    let read = platform.with(|s| s.histories.clone());
    assert_eq!(read, [&order[0], &order[1], &order[1], &order[2], &order[2]].map(String::clone));
    house.end().await;
}

/// P-1: a hub that dies in every pass still gets through all conversations, and reads only what is newer.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn p_1_a_pass_begins_with_what_was_read_longest_ago() {
    let house = House::up().await;
    let (_, connection, _) = house.furnish(ECHO, &["C1", "C2", "C3"]).await;
    let platform = super::script::Script::new("A1");
    let holder = holder(&house, connection, platform.clone());
    assert!(catchup::Pass::default().go_on(&holder, house.now()).await);
    let mut read = Vec::new();
    for _ in 0..3 {
        house.pass_s(1);
        platform.with(|s| s.histories.clear());
        let known = house.hub().store().known_conversations(holder.connection.id.clone()).await.unwrap();
        let second = &known[1].conversation_id;
        platform.fail_next(
            &format!("history of {second}"),
            Fault::new(FaultClass::RateLimited, "ratelimited", "slow down"),
        );
        assert!(!catchup::Pass::default().go_on(&holder, house.now()).await);
        read.push(platform.with(|s| s.histories[0].clone()));
    }
    read.sort();
    assert_eq!(read, ["C1", "C2", "C3"]);
    let since = platform.with(|s| s.since.last().copied().flatten()).unwrap();
    assert!(house.now().since_ms(since) <= 65_000, "{since:?}");
    house.end().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn msg_220_a_panic_in_a_reader_is_told_mended_and_touches_nobody_else() {
    let house = House::up().await;
    let (platform, connection, _) = house.furnish(ECHO, &["C1"]).await;
    let (other, _) = house.connect("A2", GatewayMode::Managed).await;
    house.served(&other).await;
    platform.with(|s| s.panics = 1);
    platform.with(|s| s.session.clone()).unwrap().reconnect.notify_one();
    let health = || house.hub().connection_health(&connection.id);
    let error = until("the panic is told", || async { health().last_error }).await;
    assert_eq!(error.code, Code::Internal);
    assert!(error.message.contains("the reader met something new"), "{}", error.message);
    until("the Connection is up again", || async {
        (health().state == ConnectionState::Connected).then_some(())
    })
    .await;
    let told = house.hub().health_view(&connection.id).await.unwrap();
    assert!(told.last_error.is_none() && told.last_error_resolved_at.is_some(), "{told:?}");
    assert_eq!(platform.with(|s| s.sessions), 3);
    assert_eq!(other.with(|s| s.sessions), 1);
    let item = house.say(&platform, "C1", "1.1").await;
    house.item_is(&item, State::Handled).await;
    house.end().await;
}

/// What is to be sent does not wait for a socket.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn sends_go_on_while_the_socket_is_down() {
    let house = House::up().await;
    let (platform, connection, address) = house.furnish(ECHO, &["C1"]).await;
    let membership = house.channel(&address, "C2").await;
    platform.with(|s| s.is_down = true);
    platform.with(|s| s.session.clone()).unwrap().reconnect.notify_one();
    until("the session ends", || async { (!platform.is_served()).then_some(()) }).await;
    let sent = house.send_text(&membership, "still here").await;
    house.outbox_is(&sent, loom_domain::outbox::State::Sent).await;
    assert_ne!(house.hub().connection_health(&connection.id).state, ConnectionState::Connected);
    house.end().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn msg_222_after_a_stop_no_call_reaches_the_platform() {
    let house = House::up().await;
    let (platform, connection, _) = house.furnish(ECHO, &["C1"]).await;
    let (other, _) = house.connect("A2", GatewayMode::Managed).await;
    house.served(&other).await;
    house.switch(&connection, false).await;
    until("the session ends", || async { (!platform.is_served()).then_some(()) }).await;
    let calls = platform.calls();
    tokio::time::sleep(A_WHILE).await;
    assert_eq!(platform.calls(), calls);
    assert!(other.is_served());
    house.hub().stop(Duration::ZERO).await;
    let calls = other.calls();
    tokio::time::sleep(A_WHILE).await;
    assert_eq!(other.calls(), calls);
    assert!(!other.is_served());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn msg_223_neither_heartbeats_nor_late_reports_make_connected() {
    let house = House::up().await;
    let script = super::script::Script::new("A1");
    script.with(|s| s.is_mute = true);
    let mute = house.connect_to("A1", GatewayMode::Managed, script.clone()).await;
    house.served(&script).await;
    let health = house.hub().connection_health(&mute.id);
    assert_eq!((health.state, health.proof), (ConnectionState::Connecting, Some(Proof::Heartbeat)));
    let (platform, connection) = house.connect("A2", GatewayMode::Managed).await;
    house.served(&platform).await;
    let monitor = platform.with(|s| s.session.clone()).unwrap().monitor;
    house.switch(&connection, false).await;
    until("the session ends", || async { (!platform.is_served()).then_some(()) }).await;
    monitor.registered(1);
    assert_eq!(house.hub().connection_health(&connection.id).state, ConnectionState::Disabled);
    house.end().await;
}

/// The words of readiness follow what is proven, and `Hub::start` itself calls nobody.
#[tokio::test]
async fn msg_224_a_start_makes_no_call_and_readiness_is_told_in_words() {
    let mut house = House::prepare().await;
    let script = super::script::Script::new("A1");
    script.hold("verify");
    let connection = house.connect_to("A1", GatewayMode::Managed, script.clone()).await;
    house.start();
    assert_eq!(house.made.load(Ordering::SeqCst), 0);
    assert_eq!(*house.hub().phase().borrow(), Phase::Serving);
    let word = || house.hub().connection_health(&connection.id).readiness();
    until("a first call", || async { (script.calls() > 0).then_some(()) }).await;
    assert_eq!(word(), "connecting");
    script.open("verify");
    until("the Connection lives", || async { (word() == "live").then_some(()) }).await;
    house.end().await;
}
