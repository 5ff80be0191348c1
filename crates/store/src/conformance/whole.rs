//! What looks at everything: figures, facts of reports, and the configuration as one tree.

use loom_domain::integration::{Kind, Plan};
use loom_domain::{Code, Principal, Timestamp};
use serde_json::json;

use super::{both, world::World};
use crate::ops::integration::Apply;

fn apply(plan: Plan) -> Apply {
    Apply { plan, revision: "r1".to_owned(), reverts: None, groups: Vec::new(), installed: Vec::new() }
}

/// CAP-134, CAP-144: figures and facts are those of the rows, and a window holds what was recorded in it.
#[test]
fn cap_134_cap_144_figures_and_facts_are_those_of_the_rows() {
    both(async |world: &World| {
        world.channel("C1").await;
        let start = world.now();
        world.queued("C1", "170.1").await;
        world.take(world.mention("Ev9", "C9", "170.9")).await;
        let store = world.store();
        let figures = store.figures().await.unwrap();
        assert_eq!(figures.stats.inbox, [("queued".to_owned(), 1)]);
        let queue = &figures.queues[0];
        assert_eq!(
            (queue.agent.as_str(), queue.open, queue.queued, queue.oldest.is_some()),
            ("docs", 1, 1, true)
        );
        let fence = world.agent_fence().await;
        let claimed = world.claim(fence).await.unwrap();
        store.finish_turn(world.act(), claimed.turn.id, fence, World::answer("seen")).await.unwrap();
        let end = world.now().plus_ms(1);
        let facts = store.report_facts(start, end).await.unwrap();
        let items: Vec<&str> = facts.items.records.iter().map(|item| item.agent.as_str()).collect();
        assert_eq!((items, facts.turns.records.len(), facts.refusals.records.len()), (vec!["docs"], 1, 1));
        assert_eq!((facts.connections.records[0].events, facts.connections.records[0].refused), (2, 1));
        assert_eq!(facts.turns.records[0].tokens, None, "absent is absent");
        let before = store.report_facts(Timestamp(1), start).await.unwrap();
        assert_eq!((before.items.records.len(), before.turns.records.len()), (0, 0));
        assert_eq!(before.connections.records[0].events, 0);
    });
}

/// CAP-132: a plan is applied whole or not at all, only to the configuration it was made for, and by the owner.
#[test]
fn cap_132_a_plan_is_applied_whole_or_not_at_all() {
    both(async |world: &World| {
        world.channel("C1").await;
        let store = world.store();
        let before = store.integration_tree().await.unwrap();
        let mut wanted = before.clone();
        for (key, fields) in &mut wanted.objects {
            match key.kind {
                Kind::Connections => fields.insert("apiUrl".into(), json!("https://slack.example/api/")),
                Kind::Addresses => fields.insert("allowActors".into(), json!(["U0ANN"])),
                Kind::Memberships => fields.insert("purpose".into(), json!("questions")),
            };
        }
        let plan = Plan::between(&before, &wanted);
        assert_eq!(plan.changes.len(), 3);
        let mut broken = wanted.clone();
        let bad = broken.objects.iter_mut().find(|(key, _)| key.kind == Kind::Memberships).unwrap();
        bad.1.insert("ttlSeconds".into(), json!(1));
        let refused = store.apply_integration(world.act(), apply(Plan::between(&before, &broken))).await;
        assert!(refused.unwrap_err().detail["object"].as_str().unwrap().starts_with("memberships/"));
        assert_eq!(store.integration_tree().await.unwrap(), before, "nothing of it is there");
        let viewer = store.apply_integration(world.act_as(Principal::Viewer), apply(plan.clone())).await;
        assert_eq!(viewer.unwrap_err().code, Code::Forbidden);
        let forged = Plan { plan_digest: "sha256:0".to_owned(), ..plan.clone() };
        let forged = store.apply_integration(world.act(), apply(forged)).await;
        assert_eq!(forged.unwrap_err().code, Code::PlanChanged);
        let done = store.apply_integration(world.act(), apply(plan.clone())).await.unwrap();
        assert_eq!(store.integration_tree().await.unwrap(), wanted);
        assert_eq!(done.after_digest, wanted.digest());
        let again = store.apply_integration(world.act(), apply(plan)).await;
        assert_eq!(again.unwrap_err().code, Code::VersionConflict, "it was made for another configuration");
        let back = Plan::between(&wanted, &before);
        store.apply_integration(world.act(), apply(back)).await.unwrap();
        assert_eq!(store.integration_tree().await.unwrap().digest(), before.digest());
        assert_eq!(store.integration_applies().await.unwrap().len(), 2);
        assert_eq!(store.integration_apply(done.apply_id).await.unwrap().before, before.to_objects());
        let told = store.report_facts(Timestamp(1), world.now().plus_ms(1)).await.unwrap();
        assert_eq!(told.applies.records.len(), 2);
    });
}
