//! Crashes at named points, disk errors, the audit chain. Each crash happens to a process of its own: this test
//! program, called for one test that does nothing elsewhere.

use std::process::Command;
use std::sync::atomic::Ordering;
use std::time::Duration;

use loom_api::request::SetMembership;
use loom_domain::{Code, Timestamp, decision::Limits, message::Decision};

use super::{both, world::World};
use crate::{Store, StoreConfig, StoreUrl, docs, fail, ops::inbound::Offer, params, records::StoredItem};

const HOME: &str = "LOOM_CONFORMANCE_HOME";
const URL: &str = "LOOM_CONFORMANCE_URL";
const EVENT: &str = "LOOM_CONFORMANCE_EVENT";
const POINTS: &str = "LOOM_CONFORMANCE_POINTS";

/// Runs one test of this program on the world's data, with a fail point armed; says whether it ended well.
async fn apart(world: &World, test: &str, points: &str, event: &loom_domain::InboundEvent) -> bool {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["--exact", &format!("conformance::durability::{test}")]);
    command.env(HOME, &world.config().home).env(POINTS, points);
    let offered =
        serde_json::json!({"connection": world.connection_id(), "now": world.now(), "event": event});
    command.env(EVENT, offered.to_string());
    if let StoreUrl::Postgres(url) = &world.config().url {
        command.env(URL, url);
    }
    tokio::task::spawn_blocking(move || command.output().unwrap().status.success()).await.unwrap()
}

/// What the test that calls this program hands over; nothing when no test calls.
fn handed_over() -> Option<(Store, crate::Act, Offer, loom_domain::InboundEvent)> {
    let text = std::env::var(EVENT).ok()?;
    let offered: serde_json::Value = serde_json::from_str(&text).unwrap();
    let url = std::env::var(URL).map_or(StoreUrl::Sqlite, StoreUrl::Postgres);
    let config = StoreConfig { url, ..StoreConfig::new(std::env::var(HOME).unwrap(), "n1") };
    let now: Timestamp = serde_json::from_value(offered["now"].clone()).unwrap();
    let store = Store::open(config, now).unwrap();
    fail::arm(&std::env::var(POINTS).unwrap());
    let entropy = std::sync::Arc::new(|| u128::from(std::process::id()) << 32 | u128::from(rand_bits()));
    let act = crate::Act { principal: loom_domain::Principal::Owner, now, entropy };
    let connection_id = serde_json::from_value(offered["connection"].clone()).unwrap();
    let offer = Offer { connection_id, fence: None, own_ids: vec![], limits: Limits::default() };
    Some((store, act, offer, serde_json::from_value(offered["event"].clone()).unwrap()))
}

fn rand_bits() -> u32 {
    use std::sync::atomic::AtomicU32;
    static NEXT: AtomicU32 = AtomicU32::new(1);
    NEXT.fetch_add(1, Ordering::Relaxed)
}

fn block_on<T>(work: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(work)
}

/// The part of the crash tests that happens in a process of its own.
#[test]
fn takes_one_event() {
    let Some((store, act, offer, event)) = handed_over() else { return };
    let judged = block_on(store.record_inbound(act, offer, vec![event])).unwrap();
    assert_eq!(judged.len(), 1);
}

/// The part of the disk tests that happens in a process of its own.
#[test]
fn meets_a_bad_disk() {
    let Some((store, act, offer, event)) = handed_over() else { return };
    let refused =
        block_on(store.record_inbound(act.clone(), offer.clone(), vec![event.clone()])).unwrap_err();
    assert_eq!(refused.code, Code::HubReadOnly);
    assert!(store.health().borrow().fault.is_some());
    fail::arm("");
    let judged = block_on(store.record_inbound(act, offer, vec![event])).unwrap();
    assert_eq!(judged[0].decision, Decision::Queued, "nothing of the refused commit was kept");
    assert!(store.health().borrow().fault.is_none());
}

/// P-9: whatever the point of a crash, a redelivery makes exactly one item.
#[test]
fn msg_119_a_crash_around_the_commit_and_a_redelivery_make_one_item() {
    both(async |world: &World| {
        world.channel("C1").await;
        let points = ["inbound.before_commit", "store.commit.before", "store.commit.after"];
        for (n, point) in points.into_iter().enumerate() {
            let event = world.mention(&format!("Ev{n}"), "C1", &format!("170.{n}"));
            assert!(!apart(world, "takes_one_event", &format!("{point}=kill"), &event).await, "{point}");
            world.reopen().await;
            let stored = world.count("inbox").await;
            let judged = world.take(event).await;
            assert!(judged.item_id.is_some(), "{point}");
            assert_eq!(world.count("inbox").await, i64::try_from(n).unwrap() + 1, "{point}");
            let was_kept = judged.decision == Decision::Duplicate;
            assert_eq!(was_kept, stored == i64::try_from(n).unwrap() + 1, "{point}");
            assert_eq!(world.count("messages").await, world.count("inbox").await);
            world.store().verify_audit().await.unwrap();
        }
    });
}

#[test]
fn msg_230_a_full_or_broken_disk_acknowledges_nothing_and_recovers() {
    both(async |world: &World| {
        world.channel("C1").await;
        for (n, action) in ["full", "io"].into_iter().enumerate() {
            let event = world.mention(&format!("Ev{n}"), "C1", &format!("170.{n}"));
            let well =
                apart(world, "meets_a_bad_disk", &format!("store.commit.before={action}"), &event).await;
            assert!(well, "{action}");
            world.reopen().await;
            assert_eq!(world.take(event).await.decision, Decision::Duplicate);
        }
        assert_eq!(world.count("inbox").await, 2);
    });
}

#[test]
fn msg_229_every_change_is_audited_and_one_altered_row_breaks_the_chain() {
    both(async |world: &World| {
        world.channel("C1").await;
        world.queued("C1", "170.1").await;
        let verified = world.store().verify_audit().await.unwrap();
        let rows = world.store().audit_rows(None, 0, Some(500)).await.unwrap().items;
        assert_eq!(u64::try_from(rows.len()).unwrap(), verified.rows);
        for action in
            ["agent.create", "connection.create", "address.create", "membership.create", "event.judge"]
        {
            assert!(rows.iter().any(|row| row.action == action && row.principal == "owner"), "{action}");
        }
        let altered = async |to: &'static str, from: &'static str| {
            let store = world.store();
            let changed = store.write(world.act(), move |unit| {
                let sql = "UPDATE audit SET row_json = REPLACE(row_json, ?1, ?2) WHERE seq = 2";
                unit.tx.execute(sql, &params![from, to])
            });
            assert_eq!(changed.await.unwrap(), 1);
        };
        altered("viewer", "owner").await;
        let broken = world.store().verify_audit().await.unwrap_err();
        assert_eq!((broken.code, &broken.detail["seq"]), (Code::AuditBroken, &2.into()));
        assert_eq!(broken.code.exit() as i32, 6);
        altered("owner", "viewer").await;
    });
}

/// P-14: operations that wait together are one commit. A dry run, which writes and then refuses, leaves no trace in it
/// and takes no other along.
#[test]
fn p_14_a_refused_operation_takes_none_of_its_commit_along() {
    both(async |world: &World| {
        let (agents, changes) = (world.count("agents").await, world.count("changes").await);
        let rows = world.store().verify_audit().await.unwrap().rows;
        let store = world.store();
        let busy = store.write(world.act(), |_| {
            std::thread::sleep(Duration::from_millis(50));
            Ok(())
        });
        let made = (0..20).map(|n| {
            let request = World::agent_request(&format!("n{}", n / 2));
            store.create_agent(world.act(), request, n % 2 == 0)
        });
        let (busy, made) = futures_util::future::join(busy, futures_util::future::join_all(made)).await;
        busy.unwrap();
        assert!(made.iter().all(Result::is_ok), "a dry run takes no name: {made:?}");
        assert_eq!(world.count("agents").await, agents + 10);
        assert_eq!(world.count("changes").await, changes + 10, "nobody is told of what was refused");
        assert_eq!(world.store().verify_audit().await.unwrap().rows, rows + 10, "the chain has no gap");
    });
}

/// Items already waiting when the events arrive.
const WAITING: u32 = 9_000;

/// Whoever is told that an event was taken finds it on disk at once, however much waits and whoever else writes.
#[test]
fn msg_121_behind_a_long_queue_on_a_busy_disk_the_commit_still_comes_first() {
    both(async |world: &World| {
        world.channel("C1").await;
        queue_behind(world, &world.queued("C1", "170.0").await).await;
        let busy = std::sync::atomic::AtomicBool::new(true);
        let others = async {
            while busy.load(Ordering::Relaxed) {
                let edits = (0..4).map(|n| {
                    let purpose = SetMembership { purpose: Some(format!("{n}")), ..Default::default() };
                    world.set("C9", purpose)
                });
                futures_util::future::join_all(edits).await;
            }
        };
        let events = async {
            let mut last = 0;
            for n in 0..20 {
                let event = world.mention(&format!("EvN{n}"), "C1", &format!("171.{n}"));
                let judged = world.take(event).await;
                let (record, item) = (judged.record.unwrap(), judged.item_id.unwrap());
                // Read through a connection that sees committed rows only.
                let item = world.store().inbox_item(item).await.unwrap();
                assert!(item.seq > last, "the order of the items is the order of the commits");
                last = item.seq;
                let event = record.to_string();
                let stored = world.store().where_is(loom_domain::Principal::Owner, event).await.unwrap();
                assert!(!stored.steps.is_empty());
            }
            busy.store(false, Ordering::Relaxed);
        };
        tokio::join!(others, events);
        assert_eq!(world.count("inbox").await, i64::from(WAITING) + 21);
    });
}

/// Puts more items like that one into the queue.
async fn queue_behind(world: &World, like: &loom_domain::InboxId) {
    let like = like.clone();
    let store = world.store();
    let queued = store.write(world.act(), move |unit| {
        let pattern: StoredItem = docs::require(unit.tx, like.as_str())?;
        for _ in 0..WAITING {
            let mut stored = pattern.clone();
            stored.item.id = loom_domain::InboxId::new(unit.now.0, unit.random());
            stored.item.seq = unit.seq()?;
            stored.conversation_id = "C0OLD".to_owned();
            docs::insert(unit.tx, &stored)?;
        }
        Ok(())
    });
    queued.await.unwrap();
}
