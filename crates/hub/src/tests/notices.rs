//! What the owner is told, once for as long as it lasts.

use loom_api::request::AddressPolicy;
use loom_channels::{Fault, FaultClass};
use loom_domain::{connection::GatewayMode, inbox::State, outbox};

use super::house::{House, until};
use crate::sweep;

const ECHO: &str = "cat >/dev/null; echo done";

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn msg_201_a_reply_that_no_gateway_sends_is_named_with_its_cause() {
    let house = House::up().await;
    house.agent("docs", ECHO).await;
    let (platform, connection) = house.connect("A1", GatewayMode::Managed).await;
    let address = house.bind("docs", &connection, AddressPolicy::default()).await;
    house.channel(&address, "C1").await;
    platform.hold("C1");
    let item = house.say(&platform, "C1", "1.1").await;
    house.item_is(&item, State::AwaitingDelivery).await;
    platform.with(|s| s.is_down = true);
    platform.with(|s| s.session.clone()).unwrap().reconnect.notify_one();
    until("the session ends", || async { (!platform.is_served()).then_some(()) }).await;
    let mut teller = sweep::Teller::default();
    teller.look(house.hub()).await;
    assert!(house.notices("delivery_waiting").await.is_empty());
    house.pass_s(15 * 60 + 1);
    teller.look(house.hub()).await;
    teller.look(house.hub()).await;
    let told = house.notices("delivery_waiting").await;
    assert_eq!(told.len(), 1);
    let names_all = told[0].contains(item.as_str()) && told[0].contains(connection.id.as_str());
    assert!(names_all && told[0].contains("(network)"), "{told:?}");
    platform.open("C1");
    house.end().await;
}

/// MSG-201: old queues, unknown deliveries and pending approvals are told of, by their ids alone.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn msg_201_what_waits_too_long_is_told_once() {
    let house = House::up().await;
    let (platform, _, address) = house.furnish(ECHO, &["C1"]).await;
    house.store().set_agent_paused(house.act(), "docs".to_owned(), true, None, false).await.unwrap();
    house.say(&platform, "C1", "1.1").await;
    let pending = house.event(&platform, house.dm("D1", "1.2")).await;
    let membership = house.channel(&address, "C2").await;
    platform.fail_next("C2", Fault::new(FaultClass::Unknown, "timeout", "no answer"));
    let sent = house.send_text(&membership, "hello").await;
    house.outbox_is(&sent, outbox::State::Unknown).await;
    let mut teller = sweep::Teller::default();
    teller.look(house.hub()).await;
    assert!(house.notices("queue_old").await.is_empty());
    assert!(house.notices("delivery_unknown").await.is_empty());
    let digest = house.notices("pending_access").await;
    assert_eq!(digest.len(), 1);
    assert!(digest[0].starts_with("1 messages") && digest[0].contains(pending.as_str()), "{digest:?}");
    assert!(!digest[0].contains("text 1.2"));
    house.pass_s(15 * 60 + 1);
    teller.look(house.hub()).await;
    teller.look(house.hub()).await;
    assert_eq!(house.notices("queue_old").await.len(), 1);
    assert_eq!(house.notices("delivery_unknown").await.len(), 1);
    house.end().await;
}
