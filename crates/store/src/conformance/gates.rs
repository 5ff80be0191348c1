//! Plans, gates and grants.

use std::collections::BTreeMap;

use loom_api::query;
use loom_domain::{
    Code, Error, Gate, OperationId, Principal, Timestamp,
    connector_plan::{CallOrder, PlannedCall},
    gate::{OPEN_MS, Outcome, State},
    grant::GrantEffect,
};

use super::{both, world::World};
use crate::ops::gates::{Decision, NewPlan};
use crate::ops::grants::NewGrant;

fn call(name: &str, digest: &str) -> PlannedCall {
    PlannedCall {
        call_id: name.to_owned(),
        connector_id: "local/tickets".to_owned(),
        connector_version: "1.0.0".to_owned(),
        operation: "comment".to_owned(),
        target_ref: "POST https://tickets.example/comments".to_owned(),
        sender_identity: None,
        effect: "write".to_owned(),
        resources: BTreeMap::new(),
        content: Some("hello".to_owned()),
        content_digest: Some("sha256:c".to_owned()),
        call_digest: digest.to_owned(),
        gate: None,
        gated: true,
        readiness: "ready".to_owned(),
        risks: Vec::new(),
    }
}

fn new_plan(n: u128, digests: &[&str]) -> NewPlan {
    let calls = digests.iter().enumerate().map(|(at, digest)| call(&format!("call-{at}"), digest));
    NewPlan {
        id: OperationId::new(1, n),
        objective: None,
        notes: BTreeMap::new(),
        calls: calls.collect(),
        orders: digests.iter().map(|_| CallOrder::default()).collect(),
    }
}

async fn submitted(world: &World, who: Principal, n: u128, digests: &[&str]) -> Vec<Gate> {
    let (plan, gates) = world.store().submit_plan(world.act_as(who), new_plan(n, digests)).await.unwrap();
    assert_eq!(plan.calls.len(), digests.len());
    gates
}

async fn decide(world: &World, who: Principal, gate: &Gate, decision: Decision) -> Result<Gate, Error> {
    let (plan, id, digest) = (gate.plan_id.clone(), gate.id.clone(), gate.call_digest.clone());
    world.store().decide_gate(world.act_as(who), plan, id, digest, decision, false).await
}

async fn begin(world: &World, gate: &Gate, digest: &str) -> Result<Gate, Error> {
    let (act, id) = (world.act_as(Principal::Hub), gate.id.clone());
    world.store().begin_gate(act, id, digest.to_owned(), "op_run".to_owned()).await
}

async fn now(world: &World, gate: &Gate) -> Gate {
    let (_, gates) = world.store().connector_plan(Principal::Owner, gate.plan_id.clone()).await.unwrap();
    gates.into_iter().find(|found| found.id == gate.id).unwrap()
}

const FOR_A_MINUTE: Decision = Decision::Approve { seconds: 60 };

/// CAP-115: approved once, used once, for its bytes alone; its approval survives a restart.
#[test]
fn cap_115_a_gate_is_used_once_and_for_its_bytes() {
    both(async |world: &World| {
        let gate = &submitted(world, Principal::Owner, 1, &["sha256:a"]).await[0];
        assert_eq!(begin(world, gate, "sha256:a").await.unwrap_err().code, Code::ApprovalRequired);
        decide(world, Principal::Owner, gate, FOR_A_MINUTE).await.unwrap();
        world.reopen().await;
        assert_eq!(begin(world, gate, "sha256:b").await.unwrap_err().code, Code::ApprovalInvalid);
        assert_eq!(begin(world, gate, "sha256:a").await.unwrap().outcome, Some(Outcome::Attempting));
        assert_eq!(begin(world, gate, "sha256:a").await.unwrap_err().code, Code::ApprovalInvalid);
        let hub = world.act_as(Principal::Hub);
        world.store().end_gate(hub, gate.id.clone(), Outcome::Confirmed, None).await.unwrap();
        let again = world.store().submit_plan(world.act(), new_plan(1, &["sha256:a"])).await.unwrap_err();
        assert_eq!(again.code, Code::AlreadyExists, "one id, one plan");
    });
}

/// CAP-116: an approval touches only the gate it names, and expiry is told exactly once.
#[test]
fn cap_116_each_gate_is_its_own_and_expires_once() {
    both(async |world: &World| {
        let gates = submitted(world, Principal::Owner, 2, &["sha256:a", "sha256:b", "sha256:c"]).await;
        decide(world, Principal::Owner, &gates[1], Decision::Approve { seconds: 3_600 }).await.unwrap();
        world.reopen().await;
        let states = async || {
            let (_, all) =
                world.store().connector_plan(Principal::Owner, gates[0].plan_id.clone()).await.unwrap();
            all.iter().map(|gate| gate.state).collect::<Vec<_>>()
        };
        assert_eq!(states().await, [State::Open, State::Approved, State::Open]);
        let store = world.store();
        let wrong = store.decide_gate(
            world.act(),
            gates[0].plan_id.clone(),
            gates[0].id.clone(),
            "sha256:b".to_owned(),
            FOR_A_MINUTE,
            false,
        );
        assert_eq!(wrong.await.unwrap_err().code, Code::ApprovalInvalid, "the digest is another gate's");
        world.pass_ms(3_600_000);
        let sweep = async || world.store().expire_gates(world.act_as(Principal::Hub)).await.unwrap();
        assert_eq!((sweep().await, sweep().await), (1, 0));
        assert_eq!(states().await, [State::Open, State::Expired, State::Open]);
        world.pass_ms(OPEN_MS);
        assert_eq!((sweep().await, sweep().await), (2, 0));
        let told = world.store().changes_since(0, vec!["gate.expired".to_owned()], None, 100).await.unwrap();
        let mut told: Vec<_> = told.into_iter().map(|change| change.object_id).collect();
        told.sort();
        let mut all: Vec<_> = gates.iter().map(|gate| gate.id.to_string()).collect();
        all.sort();
        assert_eq!(told, all);
    });
}

/// CAP-115: a dry run of a decision refuses what the decision would, and decides nothing.
#[test]
fn cap_115_a_dry_run_of_an_approval_checks_its_digest() {
    both(async |world: &World| {
        let gate = &submitted(world, Principal::Owner, 9, &["sha256:a"]).await[0];
        let dry = async |digest: &str| {
            let (plan, id, digest) = (gate.plan_id.clone(), gate.id.clone(), digest.to_owned());
            world.store().decide_gate(world.act(), plan, id, digest, FOR_A_MINUTE, true).await
        };
        assert_eq!(dry("sha256:b").await.unwrap_err().code, Code::ApprovalInvalid);
        assert_eq!(dry("sha256:a").await.unwrap().state, State::Approved);
        assert_eq!((now(world, gate).await.state, now(world, gate).await.version), (State::Open, 1));
    });
}

/// CAP-117: nobody but the owner decides; an Agent sees its own plans only, and the owner is told of them.
#[test]
fn cap_117_only_the_owner_decides() {
    both(async |world: &World| {
        let agent = Principal::Agent(world.agent_id());
        let gate = &submitted(world, agent.clone(), 3, &["sha256:a"]).await[0];
        let mine = &submitted(world, Principal::Owner, 4, &["sha256:a"]).await[0];
        for who in [agent.clone(), Principal::Viewer, Principal::Hub] {
            for decision in [FOR_A_MINUTE, Decision::Deny { reason: None }, Decision::Settle { sent: true }] {
                assert_eq!(
                    decide(world, who.clone(), gate, decision).await.unwrap_err().code,
                    Code::Forbidden
                );
            }
        }
        assert_eq!(now(world, gate).await.state, State::Open);
        let hidden = world.store().connector_plan(agent.clone(), mine.plan_id.clone()).await.unwrap_err();
        assert_eq!(hidden.code, Code::NotFound);
        let list = world.store().list_connector_plans(agent, query::Paging::default()).await.unwrap().items;
        assert_eq!(list.len(), 1);
        let notices = world.store().list_notices(query::Notices::default()).await.unwrap().items;
        assert_eq!(notices.iter().filter(|notice| notice.kind == "gate_open").count(), 1);
    });
}

/// CAP-118: what a crash leaves between the intent and the answer is unknown, and settled by word alone.
#[test]
fn cap_118_a_lost_attempt_is_unknown_until_it_is_settled() {
    both(async |world: &World| {
        let gate = &submitted(world, Principal::Owner, 5, &["sha256:a"]).await[0];
        decide(world, Principal::Owner, gate, FOR_A_MINUTE).await.unwrap();
        begin(world, gate, "sha256:a").await.unwrap();
        world.reopen().await;
        let other = world.other_node().await;
        assert_eq!(
            other.recover_gates(world.act_as(Principal::Hub), true).await.unwrap(),
            0,
            "it may still live"
        );
        let recovered = world.store().recover_gates(world.act_as(Principal::Hub), true).await.unwrap();
        assert_eq!(recovered, 1);
        assert_eq!(now(world, gate).await.outcome, Some(Outcome::OutcomeUnknown));
        assert_eq!(begin(world, gate, "sha256:a").await.unwrap_err().code, Code::ApprovalInvalid);
        world.pass_ms(40 * 24 * 3_600_000);
        let prune = async || world.store().prune_plans(world.act_as(Principal::Hub), 30).await.unwrap();
        assert_eq!(prune().await, 0, "what is unknown is kept");
        let settled = decide(world, Principal::Owner, gate, Decision::Settle { sent: true }).await.unwrap();
        assert_eq!((settled.outcome, settled.settled_by_owner), (Some(Outcome::Confirmed), true));
        assert_eq!((prune().await, world.count("gates").await), (1, 0));
    });
}

/// CAP-117: the gates that a plan would open count against those that may wait.
#[test]
fn cap_117_the_gates_of_a_new_plan_count() {
    both(async |world: &World| {
        let agent = Principal::Agent(world.agent_id());
        submitted(world, agent.clone(), 6, &["sha256:a"; 49]).await;
        submitted(world, agent.clone(), 7, &["sha256:a"; 50]).await;
        let store = world.store();
        let over = store.submit_plan(world.act_as(agent.clone()), new_plan(8, &["sha256:a"; 2]));
        assert_eq!(over.await.unwrap_err().code, Code::TooMany);
        submitted(world, agent, 9, &["sha256:a"]).await;
    });
}

/// CAP-120: grants that ran out leave their place to others.
#[test]
fn cap_120_expired_grants_do_not_count() {
    both(async |world: &World| {
        let store = world.store();
        let mut new = NewGrant {
            agent: "docs".to_owned(),
            capability_id: "github_public_probe".to_owned(),
            operations: vec!["probe".to_owned()],
            resources: BTreeMap::new(),
            effect: GrantEffect::Read,
            expires_at: Some(world.now().plus_ms(1_000)),
        };
        store.give_grant(world.act(), new.clone()).await.unwrap();
        new.expires_at = None;
        for _ in 1..500 {
            store.give_grant(world.act(), new.clone()).await.unwrap();
        }
        let refused = store.give_grant(world.act(), new.clone()).await.unwrap_err();
        assert_eq!(refused.code, Code::TooMany);
        assert!(refused.hint.unwrap().contains("capability revoke"));
        world.pass_ms(1_000);
        store.give_grant(world.act(), new).await.unwrap();
    });
}

/// CAP-120: grants are listed with who gave them and when, and taken back for good.
#[test]
fn cap_120_grants_are_given_listed_and_revoked() {
    both(async |world: &World| {
        let store = world.store();
        let new = NewGrant {
            agent: "docs".to_owned(),
            capability_id: "github_public_probe".to_owned(),
            operations: vec!["probe".to_owned()],
            resources: BTreeMap::from([("repo".to_owned(), vec!["acme/*".to_owned()])]),
            effect: GrantEffect::Read,
            expires_at: None,
        };
        let agent = world.act_as(Principal::Agent(world.agent_id()));
        assert_eq!(store.give_grant(agent.clone(), new.clone()).await.unwrap_err().code, Code::Forbidden);
        let past = NewGrant { expires_at: Some(Timestamp(1)), ..new.clone() };
        assert_eq!(store.give_grant(world.act(), past).await.unwrap_err().code, Code::InvalidTime);
        let grant = store.give_grant(world.act(), new).await.unwrap();
        let listed = store.grants_of(world.agent_id()).await.unwrap();
        assert_eq!((listed[0].granted_by.as_str(), listed[0].granted_at), ("owner", world.now()));
        assert_eq!(store.revoke_grant(agent, grant.id.clone()).await.unwrap_err().code, Code::Forbidden);
        store.revoke_grant(world.act(), grant.id.clone()).await.unwrap();
        assert_eq!(
            store.revoke_grant(world.act(), grant.id).await.unwrap().version,
            2,
            "a repeat changes nothing"
        );
        assert!(store.grants_of(world.agent_id()).await.unwrap().is_empty());
    });
}

/// Few plans that hold much are held back as many are, a day long; the owner's are not.
#[test]
fn an_agent_stores_so_many_bytes_of_plans_in_a_day() {
    both(async |world: &World| {
        let agent = Principal::Agent(world.agent_id());
        let large = |n: u128| {
            let mut plan = new_plan(n, &["sha256:a"]);
            plan.calls[0].content = Some("x".repeat(3_500_000));
            plan
        };
        let submit = async |who: &Principal, n: u128| {
            world.store().submit_plan(world.act_as(who.clone()), large(n)).await.map(drop)
        };
        for n in 100..104 {
            submit(&agent, n).await.unwrap();
        }
        let refused = submit(&agent, 104).await.unwrap_err();
        assert_eq!(refused.code, Code::TooMany, "{refused}");
        assert!(refused.message.contains("bytes"), "{refused}");
        submitted(world, agent.clone(), 105, &["sha256:a"]).await;
        submit(&Principal::Owner, 106).await.unwrap();
        world.pass_ms(24 * 3_600_000 + 1);
        submit(&agent, 104).await.unwrap();
    });
}
