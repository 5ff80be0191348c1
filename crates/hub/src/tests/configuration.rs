//! What the owner wrote, and what does not touch it.

use loom_api::request::SetMembership;
use loom_domain::{Principal, connection::Proof, inbox::State, reason::EventReason};
use loom_store::Topic;
use tokio::sync::broadcast::error::TryRecvError;

use super::house::{House, until};

/// Answers with the Membership of its envelope, and the guidance.
const OWNER_WORDS: &str =
    "sed -n 's/.* owner-context \\(mem_[a-z0-9]* v[0-9]*\\) .*/\\1/p; s/^guidance: //p'";

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn msg_082_new_guidance_reaches_the_turns_of_its_conversation_only() {
    let house = House::up().await;
    let (platform, _, address) = house.furnish(OWNER_WORDS, &["C1", "C2"]).await;
    let agent = house.store().agent_by("docs".to_owned()).await.unwrap();
    let guidance = SetMembership { guidance: Some("answer in verse".to_owned()), ..SetMembership::default() };
    let set = house.store().set_membership(house.act(), address.clone(), "C1".to_owned(), guidance, false);
    let edited = set.await.unwrap().object;
    let other = house.channel(&address, "C2").await;
    let other = house.store().membership(other).await.unwrap();
    assert_eq!((edited.version, other.version), (2, 1));
    for conversation in ["C1", "C2"] {
        let item = house.say(&platform, conversation, "1.1").await;
        let detail = house.item_is(&item, State::Handled).await;
        let membership = if conversation == "C1" { &edited } else { &other };
        assert_eq!(detail.attempts[0].membership_version, Some(membership.version));
    }
    assert_eq!(platform.texts("C1"), [format!("{} v2\nanswer in verse", edited.id)]);
    assert_eq!(platform.texts("C2"), [format!("{} v1", other.id)]);
    let after = house.store().agent_by("docs".to_owned()).await.unwrap();
    assert_eq!((after.profile, after.version), (agent.profile, agent.version));
    house.end().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn msg_232_heartbeats_refusals_and_output_rewrite_no_configuration() {
    let house = House::up().await;
    let (platform, connection, address) = house.furnish(&house.gated("gate", "done"), &["C1"]).await;
    let item = house.say(&platform, "C1", "1.1").await;
    let turn = house.item_is(&item, State::Handling).await.entry.item.turn_id.unwrap();
    let turn = house.store().turn(Principal::Owner, turn).await.unwrap().turn;
    // A first Turn leaves the labels of its trust domain on the Thread.
    until("a Thread with labels", || async {
        let agent = house.store().agent_by("docs".to_owned()).await.unwrap();
        (!agent.thread_labels.is_empty()).then_some(())
    })
    .await;
    let configuration = async || {
        let (store, docs) = (house.store(), "docs".to_owned());
        let agent = store.agent_by(docs).await.unwrap();
        let connection = store.connection(connection.id.clone()).await.unwrap();
        let address = store.address(address.clone()).await.unwrap();
        let memberships = store.list_memberships(Principal::Owner, loom_api::query::Memberships::default());
        (agent, connection, address, memberships.await.unwrap().items)
    };
    let before = configuration().await;
    let (_, newest) = house.store().feed_range().await.unwrap();

    let session = platform.with(|s| s.session.clone()).unwrap();
    for n in 0..200 {
        session.monitor.alive(Proof::Heartbeat);
        let refused = session.ingress.offer(vec![house.mention("C9", &format!("9.{n}"))]).await.unwrap();
        assert_eq!(refused[0].reason, EventReason::MembershipMissing);
    }
    let mut outputs = house.hub().feed().outputs();
    let (work, calls) = (house.store().watch(Topic::Outbox), platform.calls());
    for _ in 0..5_000 {
        house.hub().feed().output(&turn, "item", "token ");
    }
    assert!(outputs.try_recv().is_err_and(|error| error != TryRecvError::Empty), "a reader was told");
    assert!(!work.has_changed().unwrap(), "output wakes no delivery");
    assert_eq!(platform.calls(), calls);

    assert_eq!(configuration().await, before, "versions and times too");
    let kinds = ["config.changed", "connection.changed", "address.changed", "membership.changed"];
    let changes = house.store().changes_since(newest, kinds.map(str::to_owned).to_vec(), None, 10);
    assert_eq!(changes.await.unwrap(), []);
    house.open_gate("gate");
    house.item_is(&item, State::Handled).await;
    house.end().await;
}
