//! Schedules, and their times that are taken once.

use loom_domain::schedule::{Kind, Occurrence, Outcome, Schedule, Slot, Task, Work};
use loom_domain::{Code, Principal, Timestamp};

use super::{both, world::World};
use crate::ops::schedules::{Ended, Take};

fn wanted(name: &str, task: Task) -> Schedule {
    Schedule {
        name: name.to_owned(),
        seq: 0,
        cron: "@daily".to_owned(),
        tz: "UTC".to_owned(),
        enabled: true,
        task,
        seen_until: Timestamp(0),
        created_at: Timestamp(0),
        updated_at: Timestamp(0),
        version: 0,
    }
}

fn report() -> Task {
    Task::Report {
        profile: "daily".to_owned(),
        window: "yesterday".to_owned(),
        lang: "en".to_owned(),
        formats: vec!["html".to_owned()],
        to: Vec::new(),
    }
}

fn turn() -> Task {
    Task::Turn { config: serde_json::json!({"connectors": [{"connector": "x"}]}) }
}

async fn add(world: &World, schedule: Schedule) -> Schedule {
    world.store().add_schedule(world.act(), schedule, Vec::new(), false).await.unwrap().object
}

/// A time that many minutes after now.
fn slot(world: &World, minutes: i64) -> Slot {
    let at = world.now().plus_ms(minutes * 60_000);
    Slot { local: format!("2027-01-15T{minutes:02}"), at }
}

async fn take(world: &World, schedule: &Schedule, due: Slot, missed: Vec<Slot>) -> Option<Occurrence> {
    let take = Take { schedule: schedule.name.clone(), version: schedule.version, due, missed };
    world.store().take_occurrence(world.act_as(Principal::Hub), take).await.unwrap()
}

async fn end(world: &World, occurrence: &Occurrence, outcome: Outcome) {
    let work = Work { reason: Some("why".to_owned()), ..Work::default() };
    let ended = Ended { outcome, work };
    world.store().end_occurrence(world.act_as(Principal::Hub), occurrence.key.clone(), ended).await.unwrap();
}

async fn told(world: &World, schedule: &Schedule) -> Vec<(String, Outcome, Option<String>)> {
    let all = world.store().occurrences(schedule, 2_000).await.unwrap();
    all.into_iter().rev().map(|one| (one.local, one.outcome, one.work.reason)).collect()
}

/// CAP-134, CAP-128: the owner adds, switches and removes; a dry run leaves nothing, and a name is one schedule's.
#[test]
fn cap_134_cap_128_schedules_are_the_owners() {
    both(async |world: &World| {
        let store = world.store();
        let dry = store.add_schedule(world.act(), wanted("a", report()), vec!["w".to_owned()], true);
        let dry = dry.await.unwrap();
        assert!(dry.dry_run && dry.created && dry.warnings == ["w"], "{dry:?}");
        assert!(store.schedules(Kind::Report).await.unwrap().is_empty());
        let agent = world.act_as(Principal::Agent(world.agent_id()));
        let refused = store.add_schedule(agent, wanted("a", report()), Vec::new(), false).await.unwrap_err();
        assert_eq!(refused.code, Code::Forbidden);
        for name in ["", "A", "-a", "a_b", "../a", &"a".repeat(49)] {
            let refused = store.add_schedule(world.act(), wanted(name, report()), Vec::new(), false).await;
            assert_eq!(refused.unwrap_err().code, Code::InvalidArgument, "{name}");
        }
        let first = add(world, wanted("a", report())).await;
        add(world, wanted("b", turn())).await;
        let again = store.add_schedule(world.act(), wanted("a", turn()), Vec::new(), false).await;
        assert_eq!(again.unwrap_err().code, Code::AlreadyExists);
        assert_eq!(store.schedules(Kind::Report).await.unwrap(), std::slice::from_ref(&first));
        let other = store.schedule(Kind::Turn, "a".to_owned()).await.unwrap_err();
        assert_eq!(
            (other.code, other.hint.as_deref()),
            (Code::NotFound, Some("see `loom turn schedule list`"))
        );
        let key = (Kind::Report, "a".to_owned());
        world.pass_ms(5_000);
        let off = store.switch_schedule(world.act(), key.clone(), false, false).await.unwrap();
        assert_eq!((off.changed, off.object.version), (vec!["enabled".to_owned()], first.version + 1));
        assert_eq!(off.object.seen_until, world.now(), "what is due while it is off does not count");
        assert_eq!(store.enabled_schedules().await.unwrap().len(), 1);
        let same = store.switch_schedule(world.act(), key.clone(), false, false).await.unwrap();
        assert!(same.changed.is_empty());
        store.remove_schedule(world.act(), key.clone(), true).await.unwrap();
        store.remove_schedule(world.act(), key.clone(), false).await.unwrap();
        assert_eq!(store.remove_schedule(world.act(), key, false).await.unwrap_err().code, Code::NotFound);
        for n in 0..99 {
            add(world, wanted(&format!("n{n}"), report())).await;
        }
        let full = store.add_schedule(world.act(), wanted("more", report()), Vec::new(), false).await;
        assert_eq!(full.unwrap_err().code, Code::TooMany);
    });
}

/// CAP-135: a time is taken once, by whoever comes first; earlier ones that nobody was there for are listed.
#[test]
fn cap_135_an_occurrence_is_taken_once() {
    both(async |world: &World| {
        let schedule = add(world, wanted("a", report())).await;
        let (missed, due) = (slot(world, 1), slot(world, 2));
        let both = tokio::join!(
            take(world, &schedule, due.clone(), vec![missed.clone()]),
            take(world, &schedule, due.clone(), vec![missed.clone()]),
        );
        let taken = both.0.or(both.1).unwrap();
        assert_eq!((taken.outcome, taken.local.as_str()), (Outcome::Started, due.local.as_str()));
        assert!(take(world, &schedule, due.clone(), vec![missed.clone()]).await.is_none());
        assert!(take(world, &schedule, missed.clone(), Vec::new()).await.is_none(), "the clock went back");
        world.reopen().await;
        assert!(take(world, &schedule, due.clone(), Vec::new()).await.is_none());
        assert_eq!(world.store().started_occurrences().await.unwrap(), std::slice::from_ref(&taken));
        // While it is at work, the next one is left out.
        assert!(take(world, &schedule, slot(world, 3), Vec::new()).await.is_none());
        end(world, &taken, Outcome::Done).await;
        end(world, &taken, Outcome::Failed).await;
        let last = take(world, &schedule, slot(world, 4), Vec::new()).await.unwrap();
        end(world, &last, Outcome::Failed).await;
        let why = |text: &str| Some(text.to_owned());
        let wanted = [
            ("2027-01-15T01".to_owned(), Outcome::Skipped, why("missed")),
            ("2027-01-15T02".to_owned(), Outcome::Done, why("why")),
            ("2027-01-15T03".to_owned(), Outcome::Skipped, why("previous_running")),
            ("2027-01-15T04".to_owned(), Outcome::Failed, why("why")),
        ];
        assert_eq!(told(world, &schedule).await, wanted);
        let notices = world.store().list_notices(loom_api::query::Notices::default()).await.unwrap().items;
        assert_eq!(notices.iter().filter(|one| one.kind == "schedule_failed").count(), 1);
        let act = world.act();
        world.store().switch_schedule(act, (Kind::Report, "a".to_owned()), false, false).await.unwrap();
        assert!(take(world, &schedule, slot(world, 9), Vec::new()).await.is_none(), "it is off");
    });
}

/// CAP-135: two nodes on one database take a time once.
#[test]
fn cap_135_two_nodes_take_a_time_once() {
    both(async |world: &World| {
        if !world.is_postgres() {
            return;
        }
        let schedule = add(world, wanted("a", report())).await;
        let (other, due) = (world.other_node().await, slot(world, 2));
        let taking = Take { schedule: "a".to_owned(), version: 1, due: due.clone(), missed: Vec::new() };
        let (here, there) = tokio::join!(
            take(world, &schedule, due, Vec::new()),
            other.take_occurrence(world.act_as(Principal::Hub), taking),
        );
        assert_eq!(usize::from(here.is_some()) + usize::from(there.unwrap().is_some()), 1);
    });
}

/// CAP-135: the newest thousand are kept, and none for ever.
#[test]
fn cap_135_old_occurrences_are_removed() {
    both(async |world: &World| {
        let schedule = add(world, wanted("a", report())).await;
        for batch in 0..11 {
            let missed = (0..100).map(|n| slot(world, batch * 101 + n + 1)).collect();
            let taken = take(world, &schedule, slot(world, batch * 101 + 101), missed).await.unwrap();
            end(world, &taken, Outcome::Done).await;
        }
        assert_eq!(told(world, &schedule).await.len(), 1_000);
        world.pass_ms(90 * 86_400_000 + 1);
        let removed = world.store().prune_occurrences(world.act_as(Principal::Hub), 90).await.unwrap();
        assert_eq!((removed, told(world, &schedule).await.len()), (1_000, 0));
    });
}
