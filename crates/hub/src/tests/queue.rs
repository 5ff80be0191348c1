//! Items on their way to a Turn and out of it.

use std::time::Duration;

use loom_api::request::{AddressPolicy, Content, Reply, SetMembership};
use loom_channels::Mark;
use loom_domain::{
    Principal, ReplyPolicy,
    connection::{ConnectionState, GatewayMode},
    inbox::State,
};

use super::house::{House, until};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn msg_129_a_busy_agent_is_no_fault() {
    let house = House::up().await;
    let script = house.gated("gate", "done");
    let (platform, connection, _) = house.furnish(&script, &["C1", "C2"]).await;
    let first = house.say(&platform, "C1", "1.1").await;
    house.item_is(&first, State::Handling).await;
    let second = house.say(&platform, "C2", "1.2").await;
    let waiting = house.item(&second).await;
    assert_eq!(waiting.entry.item.state, State::Queued);
    assert!(waiting.position.is_some_and(|place| place.contains("behind trn_")));
    let blocked = waiting.entry.item.blocked_by.as_ref().map(ToString::to_string);
    assert_eq!(blocked.as_deref(), Some("agent_busy"));
    let health = house.hub().connection_health(&connection.id);
    assert_eq!((health.state, health.last_error), (ConnectionState::Connected, None));
    house.open_gate("gate");
    house.item_is(&second, State::Handled).await;
    house.end().await;
}

/// RT-5, P-4: the Turn of a lost lease is reconciled while the hub runs, and the Agent goes on.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn rt_5_p_4_a_lost_lease_strands_no_turn() {
    let mut house = House::prepare().await;
    house.leases_last_ms(900);
    house.start();
    let script = house.gated("gate", "done");
    let (platform, _, _) = house.furnish(&script, &["C1", "C2"]).await;
    let first = house.say(&platform, "C1", "1.1").await;
    let handling = house.item_is(&first, State::Handling).await;
    let second = house.say(&platform, "C2", "1.2").await;
    let lease = format!("agent:{}", handling.entry.item.agent_id);
    house.store().lease(house.act(), lease, 900, None).await.unwrap();
    until("the first item has an end", || async {
        (house.item(&first).await.entry.item.state != State::Handling).then_some(())
    })
    .await;
    let open = house.store().open_turns().await.unwrap();
    assert!(open.iter().all(|claimed| claimed.item.id != first), "{open:?}");
    house.open_gate("gate");
    house.item_is(&second, State::Handled).await;
    house.end().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn msg_151_the_working_mark_comes_and_goes_and_nothing_polls() {
    let house = House::up().await;
    let script = house.gated("gate", "done");
    let (platform, _, address) = house.furnish(&script, &[]).await;
    let item = house.event(&platform, house.dm("D1", "1.1")).await;
    assert_eq!(house.item(&item).await.entry.item.state, State::PendingAccess);
    assert!(platform.with(|s| s.marks.is_empty()));
    house.allow_dm(&address, "D1").await;
    until("the mark is set", || async {
        platform.with(|s| s.marks == [("1.1".to_owned(), Mark::Working)]).then_some(())
    })
    .await;
    house.open_gate("gate");
    house.item_is(&item, State::Handled).await;
    until("the mark is removed", || async {
        platform.with(|s| s.marks.last() == Some(&("1.1".to_owned(), Mark::None))).then_some(())
    })
    .await;
    let calls = platform.calls();
    tokio::time::sleep(Duration::from_millis(500)).await;
    assert_eq!(platform.calls(), calls);
    house.end().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn msg_134_an_explicit_reply_goes_out_and_the_final_text_does_not() {
    let house = House::up().await;
    let agent = house.agent("docs", &house.gated("gate", "late words")).await;
    let (platform, connection) = house.connect("A1", GatewayMode::Managed).await;
    let address = house.bind("docs", &connection, AddressPolicy::default()).await;
    let explicit = SetMembership { reply_policy: Some(ReplyPolicy::Explicit), ..SetMembership::default() };
    house.channel(&address, "C1").await;
    let set = house.store().set_membership(house.act(), address, "C1".to_owned(), explicit, false);
    set.await.unwrap();
    let item = house.say(&platform, "C1", "1.1").await;
    house.item_is(&item, State::Handling).await;
    let reply = Reply {
        content: Content { text: "decided".to_owned(), ..Content::default() },
        idempotency_key: Some("k1".to_owned()),
        ..Reply::default()
    };
    let who = Principal::Agent(agent.id);
    house.hub().reply(who, item.clone(), reply, Duration::from_secs(20)).await.unwrap();
    house.open_gate("gate");
    house.item_is(&item, State::Handled).await;
    until("the Turn ends", || async {
        let attempts = house.item(&item).await.attempts;
        attempts.iter().all(|attempt| attempt.ended_at.is_some()).then_some(())
    })
    .await;
    assert_eq!(platform.texts("C1"), ["decided"]);
    house.end().await;
}

/// The Turn of a panicking Agent is reconciled, and others go on.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_panic_in_the_work_of_an_agent_is_counted_and_leaves_the_agent_free() {
    let house = House::up().await;
    let agent = house.agent("docs", "cat").await;
    let work = async { panic!("no such runtime") };
    let freed = crate::turns::dispatch::guarded(house.hub().clone(), agent.id.clone(), work).await;
    assert_eq!(freed, agent.id);
    assert!(house.hub().metrics().text().contains("task=\"turn\""));
    house.end().await;
}
