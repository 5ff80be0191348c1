//! Endpoints, deliveries and inbound routes.

use loom_api::query;
use loom_domain::webhook::{
    Delivery, DeliveryState, Endpoint, Envelope, FAILING_MS, OVERLAP_MS, REMEMBERED_MS, TTL_MS, Tried,
};
use loom_domain::{Code, Principal};
use serde_json::json;

use super::{both, world::World};
use crate::Act;
use crate::ops::webhooks::{ENDED_MAX, EndpointChange, NewDelivery, NewHook, Recorded};

fn change(secret: &str) -> EndpointChange {
    EndpointChange {
        name: "hooks".to_owned(),
        url: "https://hooks.example/in".to_owned(),
        secret_ref: secret.to_owned(),
        event_types: Vec::new(),
        envelope: Envelope::Standard,
        scheme: "standard".to_owned(),
    }
}

fn delivery(id: &str) -> NewDelivery {
    NewDelivery {
        id: id.to_owned(),
        endpoint: "hooks".to_owned(),
        event_type: "a.b".to_owned(),
        body: "{}".to_owned(),
        data_sha256: "sha256:1".to_owned(),
        headers: Vec::new(),
    }
}

fn hub(world: &World) -> Act {
    world.act_as(Principal::Hub)
}

async fn take(world: &World) -> Option<(Delivery, Endpoint)> {
    world.store().take_delivery(hub(world)).await.unwrap()
}

async fn ends(world: &World, id: &str, status: u16) -> Delivery {
    let all = world.store().deliveries(None, query::Paging::default()).await.unwrap().items;
    let attempt = all.iter().find(|delivery| delivery.id == id).unwrap().attempts;
    ends_nth(world, id, attempt, status).await
}

async fn ends_nth(world: &World, id: &str, attempt: u32, status: u16) -> Delivery {
    let tried = Tried { status: Some(status), ..Tried::default() };
    world.store().end_attempt(hub(world), (id.to_owned(), attempt), tried, 0.5).await.unwrap()
}

async fn notices(world: &World, kind: &str) -> usize {
    let all = world.store().list_notices(query::Notices::default()).await.unwrap().items;
    all.iter().filter(|notice| notice.kind == kind).count()
}

/// CAP-111: ten failures end as a dead letter with the owner told; the id stays; a restart loses nothing.
#[test]
fn cap_111_ten_failures_are_a_dead_letter() {
    both(async |world: &World| {
        let store = world.store();
        let agent = world.act_as(Principal::Agent(world.agent_id()));
        assert_eq!(store.put_endpoint(agent, change("env:A")).await.unwrap_err().code, Code::Forbidden);
        store.put_endpoint(world.act(), change("env:A")).await.unwrap();
        let first = store.add_delivery(world.act(), delivery("msg1")).await.unwrap();
        assert_eq!(
            store.add_delivery(world.act(), delivery("msg1")).await.unwrap(),
            first,
            "one id, one delivery"
        );
        drop(store);
        for attempt in 1..=10 {
            let due = world.store().next_delivery_at().await.unwrap().unwrap();
            world.pass_ms(due.since_ms(world.now()));
            if attempt == 3 {
                world.reopen().await;
            }
            let (taken, _) = take(world).await.unwrap();
            assert_eq!((taken.id.as_str(), taken.attempts), ("msg1", attempt));
            assert!(take(world).await.is_none(), "it is on its way");
            let after = ends(world, "msg1", 500).await;
            let wanted = if attempt < 10 { DeliveryState::Pending } else { DeliveryState::Dead };
            assert_eq!(after.state, wanted, "{attempt}");
        }
        assert_eq!(world.store().next_delivery_at().await.unwrap(), None);
        assert_eq!(notices(world, "webhook_dead_letter").await, 1);
    });
}

/// CAP-111: an attempt that another one has overtaken settles nothing.
#[test]
fn cap_111_an_overtaken_attempt_changes_nothing() {
    both(async |world: &World| {
        let store = world.store();
        store.put_endpoint(world.act(), change("env:A")).await.unwrap();
        store.add_delivery(world.act(), delivery("msg1")).await.unwrap();
        take(world).await.unwrap();
        world.pass_ms(60_001);
        let (second, _) = take(world).await.unwrap();
        assert_eq!(second.attempts, 2);
        assert_eq!(ends_nth(world, "msg1", 1, 500).await, second);
        assert_eq!(ends_nth(world, "msg1", 2, 200).await.state, DeliveryState::Delivered);
    });
}

/// CAP-111: 410 switches the endpoint off at once, days of failures do in the end; the owner is told of either.
#[test]
fn cap_111_an_endpoint_that_is_gone_is_switched_off() {
    both(async |world: &World| {
        let store = world.store();
        store.put_endpoint(world.act(), change("env:A")).await.unwrap();
        store.add_delivery(world.act(), delivery("msg1")).await.unwrap();
        store.add_delivery(world.act(), delivery("msg2")).await.unwrap();
        take(world).await.unwrap();
        assert_eq!(ends(world, "msg1", 410).await.state, DeliveryState::Dead);
        let endpoint = store.endpoint("hooks".to_owned()).await.unwrap();
        assert_eq!((endpoint.enabled, endpoint.disabled_reason.as_deref()), (false, Some("gone")));
        assert_eq!(store.add_delivery(world.act(), delivery("msg3")).await.unwrap_err().code, Code::Disabled);
        assert!(take(world).await.is_none(), "what waits for it waits on");
        store.switch_endpoint(world.act(), "hooks".to_owned(), true).await.unwrap();
        take(world).await.unwrap();
        ends(world, "msg2", 302).await;
        world.pass_ms(FAILING_MS + 1);
        store.add_delivery(world.act(), delivery("msg4")).await.unwrap();
        ends(world, "msg4", 500).await;
        let endpoint = store.endpoint("hooks".to_owned()).await.unwrap();
        assert_eq!((endpoint.enabled, endpoint.disabled_reason.as_deref()), (false, Some("failing")));
        assert_eq!(notices(world, "webhook_disabled").await, 1, "told once while it is not acknowledged");
    });
}

async fn all(world: &World) -> Vec<Delivery> {
    let page = query::Paging { limit: Some(200), cursor: None };
    world.store().deliveries(None, page).await.unwrap().items
}

/// CAP-111: an id stands for its data; the same id with other data is a conflict.
#[test]
fn cap_111_an_id_with_other_data_is_a_conflict() {
    both(async |world: &World| {
        let store = world.store();
        store.put_endpoint(world.act(), change("env:A")).await.unwrap();
        store.add_delivery(world.act(), delivery("msg1")).await.unwrap();
        let other = NewDelivery { data_sha256: "sha256:2".to_owned(), ..delivery("msg1") };
        let refused = store.add_delivery(world.act(), other).await.unwrap_err();
        assert_eq!(refused.code, Code::IdempotencyConflict);
        let repeated = NewDelivery { body: "{\"later\":1}".to_owned(), ..delivery("msg1") };
        assert_eq!(store.add_delivery(world.act(), repeated).await.unwrap().body, "{}");
    });
}

/// CAP-111: what is past its time is given up with its notice, whether its endpoint is on or off.
#[test]
fn cap_111_what_is_past_its_time_is_given_up() {
    both(async |world: &World| {
        let store = world.store();
        store.put_endpoint(world.act(), change("env:A")).await.unwrap();
        store.add_delivery(world.act(), delivery("msg1")).await.unwrap();
        store.switch_endpoint(world.act(), "hooks".to_owned(), false).await.unwrap();
        world.pass_ms(TTL_MS - 1);
        assert_eq!(store.expire_deliveries(hub(world)).await.unwrap(), 0);
        world.pass_ms(1);
        assert_eq!(store.expire_deliveries(hub(world)).await.unwrap(), 1);
        assert_eq!(store.expire_deliveries(hub(world)).await.unwrap(), 0);
        store.switch_endpoint(world.act(), "hooks".to_owned(), true).await.unwrap();
        store.add_delivery(world.act(), delivery("msg2")).await.unwrap();
        world.pass_ms(TTL_MS);
        store.add_delivery(world.act(), delivery("msg3")).await.unwrap();
        assert_eq!(take(world).await.unwrap().0.id, "msg3", "msg2 is not given out");
        let ended: Vec<_> = all(world).await.into_iter().filter(|d| d.state == DeliveryState::Dead).collect();
        let told: Vec<_> = ended.iter().map(|d| (d.id.as_str(), d.last_error.as_deref())).collect();
        assert_eq!(told, [("msg2", Some("delivery_expired")), ("msg1", Some("delivery_expired"))]);
        assert_eq!(notices(world, "webhook_dead_letter").await, 2);
    });
}

/// CAP-111: how long an endpoint fails is no change of its record; that it was switched off is.
#[test]
fn cap_111_failures_alone_are_no_new_version() {
    both(async |world: &World| {
        let store = world.store();
        store.put_endpoint(world.act(), change("env:A")).await.unwrap();
        store.add_delivery(world.act(), delivery("msg1")).await.unwrap();
        let endpoint = async || store.endpoint("hooks".to_owned()).await.unwrap();
        let before = endpoint().await;
        ends(world, "msg1", 500).await;
        assert_eq!(endpoint().await, Endpoint { failing_since: Some(world.now()), ..before.clone() });
        ends(world, "msg1", 200).await;
        assert_eq!(endpoint().await, before);
        store.add_delivery(world.act(), delivery("msg2")).await.unwrap();
        ends(world, "msg2", 410).await;
        assert_eq!((endpoint().await.version, endpoint().await.enabled), (before.version + 1, false));
    });
}

/// CAP-111: a removal gives up what waits in steps, the endpoint last.
#[test]
fn cap_111_a_removal_gives_up_in_steps() {
    both(async |world: &World| {
        let store = world.store();
        store.put_endpoint(world.act(), change("env:A")).await.unwrap();
        for n in 0..=ENDED_MAX {
            store.add_delivery(world.act(), delivery(&format!("msg{n}"))).await.unwrap();
        }
        let name = || "hooks".to_owned();
        assert_eq!(store.remove_endpoint_step(world.act(), name()).await.unwrap(), None);
        let waiting = all(world).await.iter().filter(|d| d.state == DeliveryState::Pending).count();
        assert_eq!(waiting, 1);
        store.remove_endpoint(world.act(), name()).await.unwrap();
        assert_eq!(store.endpoint(name()).await.unwrap_err().code, Code::NotFound);
        assert!(all(world).await.iter().all(|d| d.last_error.as_deref() == Some("endpoint_removed")));
    });
}

/// CAP-110: while one secret replaces another both count, for a day.
#[test]
fn cap_110_both_secrets_count_for_a_day() {
    both(async |world: &World| {
        let store = world.store();
        store.put_endpoint(world.act(), change("env:A")).await.unwrap();
        let rotated = store.put_endpoint(world.act(), change("env:B")).await.unwrap();
        assert_eq!(rotated.secrets(world.now()), ["env:B", "env:A"]);
        assert_eq!(rotated.secrets(world.now().plus_ms(OVERLAP_MS)), ["env:B"]);
        store.remove_endpoint(world.act(), "hooks".to_owned()).await.unwrap();
        assert_eq!(store.endpoint("hooks".to_owned()).await.unwrap_err().code, Code::NotFound);
    });
}

/// CAP-112, CAP-113: an id counts once for two days; refusals have one reason each and a limit.
#[test]
fn cap_112_cap_113_an_id_is_recorded_once() {
    both(async |world: &World| {
        let store = world.store();
        let event =
            |key: &str| NewHook { event_key: key.to_owned(), event_type: None, data: json!({"a": 1}) };
        let record = async |delivery: &str, keys: &[&str]| {
            let events = keys.iter().map(|key| event(key)).collect();
            let (route, delivery) = ("hooks".to_owned(), delivery.to_owned());
            world.store().record_hook(hub(world), route, delivery, events).await.unwrap()
        };
        assert_eq!(record("a", &["a"]).await, Recorded::Accepted);
        assert_eq!(record("a", &["a"]).await, Recorded::Duplicate);
        assert_eq!(record("a", &["c"]).await, Recorded::Duplicate, "one delivery, read in another way");
        assert_eq!(record("d", &["a", "b"]).await, Recorded::Accepted);
        assert_eq!(record("e", &["b"]).await, Recorded::Duplicate, "an event of another delivery");
        let all = store.hook_events("hooks".to_owned(), query::Paging::default()).await.unwrap().items;
        assert_eq!(all.len(), 2);
        world.pass_ms(REMEMBERED_MS + 1);
        assert_eq!(store.prune_hooks(hub(world), 30).await.unwrap(), 4);
        assert_eq!(record("a", &["a"]).await, Recorded::Accepted);
        for _ in 0..3 {
            store.refuse_hook(hub(world), "hooks".to_owned(), "stale".to_owned()).await.unwrap();
        }
        let refused = store.hook_refusals("hooks".to_owned(), query::Paging::default()).await.unwrap().items;
        assert_eq!((refused.len(), refused[0].reason.as_str()), (3, "stale"));
    });
}
