//! Deduplication, two Addresses, bot budgets, Refusals.

use loom_api::{
    query,
    request::{AddressPolicy, PolicyExplain, UpdateAddress},
};
use loom_domain::{
    Principal,
    message::{Decision, Mention, SenderKind},
    reason::EventReason,
};

use super::{both, world::World};
use crate::ops::policy::PolicyDraft;

#[test]
fn msg_103_of_64_copies_of_an_event_one_is_accepted() {
    both(async |world: &World| {
        world.channel("C1").await;
        let mut copies = tokio::task::JoinSet::new();
        for _ in 0..64 {
            let (store, act, offer) = (world.store(), world.act(), world.offer());
            let event = world.mention("Ev1", "C1", "170.1");
            copies
                .spawn(async move { store.record_inbound(act, offer, vec![event]).await.unwrap().remove(0) });
        }
        let judged = copies.join_all().await;
        assert_eq!(judged.iter().filter(|j| j.decision == Decision::Queued).count(), 1);
        assert_eq!(judged.iter().filter(|j| j.decision == Decision::Duplicate).count(), 63);
        assert!(judged.iter().all(|j| j.item_id == judged[0].item_id && j.item_id.is_some()));
        assert_eq!((world.count("inbox").await, world.count("messages").await), (1, 1));
    });
}

#[test]
fn msg_104_a_message_under_eleven_event_ids_is_one_item() {
    both(async |world: &World| {
        world.channel("C1").await;
        for n in 0..11 {
            let judged = world.take(world.mention(&format!("Ev{n}"), "C1", "170.1")).await;
            assert_eq!(judged.decision == Decision::Queued, n == 0);
        }
        assert_eq!(world.count("inbox").await, 1);
    });
}

#[test]
fn msg_101_equal_times_in_two_channels_and_two_addresses_are_two_items() {
    both(async |world: &World| {
        world.channel("C1").await;
        world.channel("C2").await;
        world.queued("C1", "170.1").await;
        world.queued("C2", "170.1").await;
        assert_eq!(world.count("inbox").await, 2);

        let policy = AddressPolicy { enabled: Some(true), ..AddressPolicy::default() };
        let other = world.bind("docs", &world.connection_id(), "U0OTHER", policy).await;
        let request = loom_api::request::SetMembership { enabled: Some(true), ..Default::default() };
        world.store().set_membership(world.act(), other, "C1".to_owned(), request, false).await.unwrap();
        let mut event = world.mention("Ev9", "C1", "170.9");
        event.mentions.push(Mention { external_id: "U0OTHER".to_owned(), display_name: None });
        world.take(event).await;
        assert_eq!(world.count("inbox").await, 4);
        assert_eq!(world.count("messages").await, 4);
    });
}

#[test]
fn msg_107_two_events_of_a_message_are_one_item_with_the_stronger_evidence() {
    both(async |world: &World| {
        world.channel("C1").await;
        for (ts, mention_first) in [("170.1", true), ("170.2", false)] {
            let mut plain = world.mention(&format!("EvP{ts}"), "C1", ts);
            plain.mentions.clear();
            let mention = world.mention(&format!("EvM{ts}"), "C1", ts);
            let events = if mention_first { [mention, plain] } else { [plain, mention] };
            let before = world.count("inbox").await;
            let mut queued = None;
            for event in events {
                let judged = world.take(event).await;
                queued = queued.or(judged.item_id);
            }
            assert_eq!(world.count("inbox").await, before + 1, "mention first: {mention_first}");
            let item = world.store().inbox_item(queued.unwrap()).await.unwrap();
            assert!(world.store().message(item.message_id).await.unwrap().evidence.mentioned);
        }
    });
}

#[test]
fn msg_105_a_redelivery_after_hours_and_restarts_is_a_duplicate() {
    both(async |world: &World| {
        world.channel("C1").await;
        world.queued("C1", "170.1").await;
        world.reopen().await;
        world.pass_ms(7 * 3_600_000);
        world.reopen().await;
        let mut event = world.mention("EvLate", "C1", "170.1");
        event.occurred_at = Some(loom_domain::Timestamp(super::world::START));
        assert_eq!(world.take(event).await.decision, Decision::Duplicate);
        assert_eq!((world.count("inbox").await, world.count("outbox").await), (1, 0));
    });
}

#[test]
fn msg_112_a_bots_budget_outlives_a_restart() {
    both(async |world: &World| {
        world.channel("C1").await;
        let policy = AddressPolicy { allow_bots: Some(vec!["B1".to_owned()]), ..AddressPolicy::default() };
        let request = UpdateAddress { policy, ..UpdateAddress::default() };
        world.store().update_address(world.act(), world.address_id(), request, vec![], false).await.unwrap();
        let bot = |n: u32| {
            let mut event = world.mention(&format!("Ev{n}"), "C1", &format!("170.{n}"));
            let sender = event.sender.as_mut().unwrap();
            sender.external_id = "B1".to_owned();
            sender.kind = SenderKind::Bot;
            event
        };
        for n in 0..3 {
            assert_eq!(world.take(bot(n)).await.reason, EventReason::Accepted, "{n}");
        }
        world.reopen().await;
        assert_eq!(world.take(bot(3)).await.reason, EventReason::BotLoopBudget);
        world.queued("C1", "171.0").await;
        for n in 4..21 {
            if n % 3 == 1 {
                world.queued("C1", &format!("171.{n}")).await;
            }
            assert_eq!(world.take(bot(n)).await.reason, EventReason::Accepted, "{n}");
        }
        world.reopen().await;
        world.queued("C1", "172.0").await;
        assert_eq!(world.take(bot(21)).await.reason, EventReason::BotLoopBudget, "21 in an hour");
    });
}

#[test]
fn msg_097_a_refusal_shows_its_reason_and_deciding_step() {
    both(async |world: &World| {
        let judged = world.take(world.mention("Ev1", "C9", "170000000.000001")).await;
        assert_eq!(judged.reason, EventReason::MembershipMissing);
        let id = judged.record.unwrap();
        let detail = world.store().refusal(Principal::Owner, id.clone()).await.unwrap();
        assert_eq!((detail.event.step.as_str(), detail.steps.last().unwrap().step.as_str()), ("15a", "15a"));
        assert!(detail.event.inbound.content.text.is_empty(), "bodies are dropped by default");
        let counts = world.store().refusal_counts().await.unwrap();
        assert_eq!((counts[0].reason, counts[0].count), (EventReason::MembershipMissing, 1));
        let link = "https://acme.slack.com/archives/C9/p170000000000001".to_owned();
        let path = world.store().where_is(Principal::Owner, link).await.unwrap();
        assert_eq!((path.verdict.as_str(), path.reason.as_deref()), ("REFUSED", Some("membership_missing")));
        let store = world.store();
        let listed = store.list_refusals(Principal::Owner, query::Refusals::default(), world.now());
        assert_eq!(listed.await.unwrap().items.len(), 1);
    });
}

#[test]
fn msg_127_explaining_a_stored_event_gives_the_stored_decision() {
    both(async |world: &World| {
        world.channel("C1").await;
        let mut refused = world.mention("Ev2", "C1", "170.2");
        refused.mentions.clear();
        for event in [world.mention("Ev1", "C1", "170.1"), refused, world.dm("Ev3", "D1", "170.3")] {
            let judged = world.take(event).await;
            let before = world.count("changes").await;
            let id = Some(judged.record.unwrap().to_string());
            let request = PolicyExplain { id, ..PolicyExplain::default() };
            let told = world.store().explain(request, PolicyDraft::default(), world.now()).await.unwrap();
            assert_eq!((told.decision, told.reason), (judged.decision, judged.reason));
            assert_eq!(world.count("changes").await, before, "nothing is written");
        }
        let since = world.now().plus_ms(-1_000);
        let same = world.store().replay_policy(since, None, PolicyDraft::default()).await.unwrap();
        assert_eq!((same.judged, same.items.len()), (3, 0));
        let mut address = world.store().address(world.address_id()).await.unwrap();
        address.trigger_policy = loom_domain::TriggerPolicy::All;
        let draft = PolicyDraft { addresses: vec![address], ..PolicyDraft::default() };
        let changed = world.store().replay_policy(since, None, draft).await.unwrap();
        assert_eq!(changed.items.len(), 1);
        assert_eq!(changed.items[0].after.reason, EventReason::Accepted);
    });
}
