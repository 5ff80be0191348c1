use std::path::Path;
use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use loom_domain::{Code, Result, TurnId};
use loom_transport::MockBackend;
use loom_twins::github::{GithubTwin, Issue, Repo};
use serde_json::json;

use super::*;
use crate::{Catalog, NoObserver, PayloadStore, World};

const RESULT_ROWS: usize = 10;

fn room(home: &Path) -> TurnRoom {
    TurnRoom::new(home, PayloadStore::new(home))
}

fn reads(base: &str, number: u64) -> TurnCall {
    let url = format!("https://github.com/acme/tool/issues/{number}");
    TurnCall {
        input: json!({"url": url, "fetch_metadata": true}),
        api_url: Some(base.to_owned()),
        ..TurnCall::of("github-public-probe")
    }
}

async fn twin() -> GithubTwin {
    let repo = Repo::new("acme/tool").issue(Issue::new(1, 0)).issue(Issue::new(2, 0)).issue(Issue::new(3, 0));
    GithubTwin::builder().repo(repo).start().await.unwrap()
}

fn engine<'a>(catalog: &'a Catalog, observer: &'a mut NoObserver) -> Engine<'a> {
    Engine { world: World::of_process(), catalog, agents: None, observer }
}

async fn begin(room: &TurnRoom, order: TurnOrder) -> Result<Ran> {
    Box::pin(engine(&Catalog::builtin(), &mut NoObserver).begin(room, order)).await
}

async fn resume(room: &TurnRoom, id: &TurnId) -> Result<Ran> {
    Box::pin(engine(&Catalog::builtin(), &mut NoObserver).resume(room, id)).await
}

/// CAP-126: killed behind any row, a Turn goes on from there: what was read is not read again.
#[tokio::test]
async fn cap_126_a_turn_goes_on_behind_every_row() {
    let twin = twin().await;
    let home = tempfile::tempdir().unwrap();
    let order =
        TurnOrder { connectors: (1..=3).map(|n| reads(&twin.base_url(), n)).collect(), ..TurnOrder::new() };
    let ran = begin(&room(home.path()), order).await.unwrap();
    assert_eq!((ran.turn.state, ran.payloads.len(), ran.turn.rows), (TurnState::Completed, 3, 8));
    assert_eq!(ran.turn.effects.external_reads, 3);
    let id: TurnId = ran.turn.turn_id.parse().unwrap();
    let journal = std::fs::read_to_string(home.path().join(format!("turns/{id}.ndjson"))).unwrap();
    let lines: Vec<&str> = journal.lines().collect();
    for kept in 1..=lines.len() {
        let died = tempfile::tempdir().unwrap();
        std::fs::create_dir_all(died.path().join("turns")).unwrap();
        copy(&home.path().join("payloads"), &died.path().join("payloads"));
        let torn = lines.get(kept).map(|next| &next[..next.len() / 2]).unwrap_or_default();
        let text = format!("{}\n{torn}", lines[..kept].join("\n"));
        std::fs::write(died.path().join(format!("turns/{id}.ndjson")), text).unwrap();
        let room = room(died.path());
        let before = room.view(&id).unwrap();
        let expected = match kept {
            1 => TurnState::Planned,
            8 => TurnState::Completed,
            _ => TurnState::Interrupted,
        };
        assert_eq!(before.state, expected);
        twin.clear_requests();
        let again = resume(&room, &id).await.unwrap();
        let done = before.connectors.iter().filter(|one| one.state == ConnectorState::Done).count();
        assert_eq!(twin.requests().len(), 3 - done, "behind row {kept}");
        assert_eq!((again.turn.state, again.payloads.len()), (TurnState::Completed, 3));
        for (one, first) in again.payloads.iter().zip(&ran.payloads) {
            assert_eq!(one["content_digest"], first["content_digest"]);
            assert_eq!(one["turn_id"], id.as_str());
        }
        assert!(room.rows(&id).unwrap().len() <= RESULT_ROWS);
    }
}

/// CAP-126: a payload that could not be kept is told as lost when the Turn goes on, and its step is not repeated.
#[tokio::test]
async fn cap_126_a_payload_that_was_not_kept_is_told_as_lost() {
    let twin = twin().await;
    let home = tempfile::tempdir().unwrap();
    // Nothing can be kept where a file stands in the folder's place.
    std::fs::write(home.path().join("payloads"), b"").unwrap();
    let connectors = vec![reads(&twin.base_url(), 1), reads(&twin.base_url(), 2)];
    let ran = begin(&room(home.path()), TurnOrder { connectors, ..TurnOrder::new() }).await.unwrap();
    assert_eq!(ran.turn.state, TurnState::Completed);
    assert_eq!((ran.payloads.len(), &ran.payloads[0]["ok"]), (2, &json!(true)));
    assert_eq!(ran.payloads[0]["warnings"], json!(["payload_not_saved"]));
    assert!(ran.turn.connectors.iter().all(|one| one.payload_lost && one.payload_id.is_none()));
    let id: TurnId = ran.turn.turn_id.parse().unwrap();
    let file = home.path().join(format!("turns/{id}.ndjson"));
    let journal = std::fs::read_to_string(&file).unwrap();
    let behind_first: Vec<&str> = journal.lines().take(3).collect();
    std::fs::write(&file, format!("{}\n", behind_first.join("\n"))).unwrap();
    std::fs::remove_file(home.path().join("payloads")).unwrap();
    twin.clear_requests();
    let again = resume(&room(home.path()), &id).await.unwrap();
    assert_eq!((again.turn.state, twin.requests().len()), (TurnState::Completed, 1));
    let told = &again.payloads[0];
    assert_eq!((&told["ok"], &told["error"]["code"]), (&json!(false), &json!("artifact_missing")));
    assert_eq!(
        (&told["connector_id"], &again.payloads[1]["ok"]),
        (&json!("github_public_probe"), &json!(true))
    );
    let shown = super::agent::input_of(&again.payloads, "go on", "b0b0");
    assert!(shown.contains("artifact_missing"), "{shown}");
}

fn copy(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).unwrap();
    for entry in std::fs::read_dir(from).unwrap().flatten() {
        let target = to.join(entry.file_name());
        match entry.path().is_dir() {
            true => copy(&entry.path(), &target),
            false => drop(std::fs::copy(entry.path(), target).unwrap()),
        }
    }
}

/// CAP-126: the same key is the same Turn, also from the library; other inputs are refused.
#[tokio::test]
async fn cap_126_a_key_is_one_turn() {
    let twin = twin().await;
    let home = tempfile::tempdir().unwrap();
    let room = room(home.path());
    let call = reads(&twin.base_url(), 1);
    let order =
        TurnOrder { connectors: vec![call.clone()], turn_key: Some("daily".to_owned()), ..TurnOrder::new() };
    let first = begin(&room, order.clone()).await.unwrap();
    let second = begin(&room, order.clone()).await.unwrap();
    assert_eq!((second.turn.turn_id, twin.requests().len()), (first.turn.turn_id.clone(), 1));
    assert_eq!(second.payloads, first.payloads);
    let other = TurnOrder { connectors: vec![reads(&twin.base_url(), 2)], ..order.clone() };
    assert_eq!(begin(&room, other).await.unwrap_err().code, Code::InvalidInput);
    let mut same = Turn::builder().home(home.path()).turn_key("daily").build();
    same.add_connector("github_public_probe").input(json!({}));
    assert_eq!(same.run_async().await.unwrap_err().code, Code::InvalidInput);
    assert_eq!(room.list(10).len(), 1);
    let without = begin(&room, TurnOrder { turn_key: None, ..order }).await.unwrap();
    assert_ne!(without.turn.turn_id, first.turn.turn_id);
}

/// CAP-126: a process that died between the key and the journal leaves a key that still makes one Turn.
#[tokio::test]
async fn cap_126_a_key_without_a_journal_makes_its_turn() {
    let home = tempfile::tempdir().unwrap();
    let room = room(home.path());
    let order = TurnOrder {
        connectors: vec![TurnCall::of("finance_probe")],
        turn_key: Some("k".to_owned()),
        ..TurnOrder::new()
    };
    let first = begin(&room, order.clone()).await.unwrap().turn.turn_id;
    let journal = home.path().join(format!("turns/{first}.ndjson"));
    std::fs::remove_file(&journal).unwrap();
    assert_eq!(begin(&room, order.clone()).await.unwrap().turn.turn_id, first);
    std::fs::write(&journal, "").unwrap();
    let ran = begin(&room, order.clone()).await.unwrap().turn;
    assert_eq!((ran.turn_id, ran.state), (first, TurnState::Completed));
    let keys = home.path().join("turns/keys");
    let key = std::fs::read_dir(keys).unwrap().next().unwrap().unwrap().path();
    std::fs::write(&key, "half of an id").unwrap();
    let anew = begin(&room, order.clone()).await.unwrap().turn.turn_id;
    assert_eq!(begin(&room, order).await.unwrap().turn.turn_id, anew);
}

/// CAP-127: of two that resume one works and one is locked; a broken journal goes nowhere.
#[tokio::test]
async fn cap_127_one_resumes_and_a_broken_journal_does_not() {
    let home = tempfile::tempdir().unwrap();
    let room = room(home.path());
    let order = TurnOrder { connectors: vec![TurnCall::of("finance_probe")], ..TurnOrder::new() };
    let id: TurnId = begin(&room, order).await.unwrap().turn.turn_id.parse().unwrap();
    let held = room.take(&id).unwrap();
    assert_eq!(resume(&room, &id).await.unwrap_err().code, Code::Locked);
    drop(held);
    assert_eq!(resume(&room, &id).await.unwrap().turn.state, TurnState::Completed);
    let path = home.path().join(format!("turns/{id}.ndjson"));
    let text = std::fs::read_to_string(&path).unwrap().replace("\"ok\":true", "\"ok\":null");
    std::fs::write(&path, text).unwrap();
    assert_eq!(resume(&room, &id).await.unwrap_err().code, Code::IntegrityError);
    assert_eq!(room.view(&id).unwrap_err().code, Code::IntegrityError);
}

/// CAP-011: an unknown id, or a write, leaves neither journal nor payload.
#[tokio::test]
async fn cap_011_what_cannot_run_leaves_nothing() {
    let home = tempfile::tempdir().unwrap();
    let home = home.path().join("home");
    let unknown = TurnOrder {
        connectors: vec![TurnCall::of("finance_probe"), TurnCall::of("finance_prob")],
        ..TurnOrder::new()
    };
    let error = begin(&room(&home), unknown).await.unwrap_err();
    assert_eq!((error.code, &error.detail["nearest"][0]), (Code::ConnectorNotFound, &json!("finance_probe")));
    let post = TurnCall {
        input: json!({"url": "https://hooks.example/x", "method": "POST", "json": {}}),
        ..TurnCall::of("http_webhook")
    };
    let writes = TurnOrder { connectors: vec![post], ..TurnOrder::new() };
    assert_eq!(begin(&room(&home), writes).await.unwrap_err().code, Code::ApprovalRequired);
    assert!(!home.exists());
}

/// A plan judges the readiness of a call by the call's own credentials.
#[tokio::test]
async fn cap_012_a_plan_reads_the_calls_own_settings() {
    let call = |refs: &[(&str, &str)]| TurnCall {
        operation: "chats".to_owned(),
        credential_refs: refs
            .iter()
            .map(|(name, text)| ((*name).to_owned(), loom_secrets::CredentialRef::parse(text).unwrap()))
            .collect(),
        ..TurnCall::of("lark_probe")
    };
    let mut statuses = Vec::new();
    for call in [call(&[]), call(&[("lark", "env:LARK_APP")])] {
        let order = TurnOrder { connectors: vec![call], ..TurnOrder::new() };
        let plan = TurnPlan::make(&World::of_process(), &Catalog::builtin(), &order).await.unwrap();
        statuses.push(plan.connectors[0].readiness);
    }
    assert_eq!(statuses, [crate::Status::CredentialMissing, crate::Status::Ready]);
}

/// A Turn ends at the first connector that fails, unless it is told to go on.
#[tokio::test]
async fn a_failed_connector_ends_the_turn() {
    let twin = twin().await;
    let home = tempfile::tempdir().unwrap();
    let connectors = vec![reads(&twin.base_url(), 99), reads(&twin.base_url(), 1)];
    let order = TurnOrder { connectors, ..TurnOrder::new() };
    let ran = begin(&room(home.path()), order.clone()).await.unwrap();
    assert_eq!((ran.turn.state, ran.payloads.len()), (TurnState::Failed, 1));
    assert_eq!(ran.turn.error.unwrap().code, Code::ProviderHttpError);
    let ran = begin(&room(home.path()), TurnOrder { on_error: OnError::Continue, ..order }).await.unwrap();
    assert_eq!((ran.turn.state, ran.payloads.len()), (TurnState::Completed, 2));
}

/// A wish to stop reaches a run in another process; the Turn can be resumed.
#[tokio::test]
async fn a_stopped_turn_can_be_resumed() {
    let twin = twin().await;
    twin.set_latency(std::time::Duration::from_secs(60));
    let home = tempfile::tempdir().unwrap();
    let order = TurnOrder {
        connectors: vec![TurnCall::of("finance_probe"), reads(&twin.base_url(), 1)],
        ..TurnOrder::new()
    };
    let other = room(home.path());
    let stopping = async {
        twin.wait_for_requests(1).await;
        let id: TurnId = other.list(1)[0].turn_id.parse().unwrap();
        assert_eq!(other.view(&id).unwrap().state, TurnState::Running);
        other.stop(&id).unwrap();
        id
    };
    let (ran, id) = tokio::join!(begin(&other, order), stopping);
    let turn = ran.unwrap().turn;
    assert_eq!((turn.state, turn.reason.as_deref()), (TurnState::Interrupted, Some("cancelled")));
    assert_eq!(other.held_payloads().len(), 1);
    twin.set_latency(std::time::Duration::ZERO);
    assert_eq!(resume(&other, &id).await.unwrap().turn.state, TurnState::Completed);
    assert!(other.held_payloads().is_empty());
}

/// The deadline of a Turn ends it for good.
#[tokio::test]
async fn a_deadline_fails_the_turn() {
    let twin = twin().await;
    twin.set_latency(std::time::Duration::from_secs(60));
    let home = tempfile::tempdir().unwrap();
    let order = TurnOrder {
        connectors: vec![reads(&twin.base_url(), 1)],
        deadline_seconds: Some(1),
        ..TurnOrder::new()
    };
    let turn = begin(&room(home.path()), order).await.unwrap().turn;
    assert_eq!((turn.state, turn.error.unwrap().code), (TurnState::Failed, Code::DeadlineExceeded));
}

/// An agent that notes what it was asked.
#[derive(Default)]
struct Parrot(Mutex<Vec<AgentCall>>);

#[async_trait]
impl AgentStep for Parrot {
    async fn run(&self, call: AgentCall) -> Result<AgentEnd> {
        self.0.lock().unwrap().push(call);
        Ok(AgentEnd {
            state: AgentState::Done,
            item_id: None,
            agent_turn_id: None,
            answer: Some("done".to_owned()),
            tokens: None,
            outbox_items: vec!["out_1".to_owned()],
            error: None,
        })
    }
}

/// CAP-128: the Agent reads the payloads in blocks, once; its key is the Turn.
#[tokio::test]
async fn cap_128_an_agent_turn_gives_the_payloads_to_the_agent() {
    let home = tempfile::tempdir().unwrap();
    let (room, parrot, catalog) = (room(home.path()), Arc::new(Parrot::default()), Catalog::builtin());
    let world = World::over(Arc::new(MockBackend::new()));
    let order = TurnOrder {
        connectors: vec![TurnCall::of("github_public_probe")],
        agent: Some("docs".to_owned()),
        prompt: Some("Say what this is.".to_owned()),
        ..TurnOrder::new()
    };
    let observer = &mut NoObserver;
    let mut with = Engine { world, catalog: &catalog, agents: Some(parrot.clone()), observer };
    let ran = Box::pin(with.begin(&room, order.clone())).await.unwrap();
    let agent = ran.turn.agent.unwrap();
    assert_eq!((ran.turn.state, agent.answer.as_deref()), (TurnState::Completed, Some("done")));
    assert_eq!(agent.outbox_items, ["out_1"]);
    let calls = parrot.0.lock().unwrap().clone();
    assert_eq!((calls.len(), calls[0].key.as_str()), (1, ran.turn.turn_id.as_str()));
    assert!(
        calls[0].text.contains("connector=github_public_probe")
            && calls[0].text.ends_with("Say what this is.")
    );
    // Without a hub it stops before the Agent, and goes on there later.
    let stopped = begin(&room, order).await.unwrap_err();
    assert_eq!(stopped.code, Code::HubUnreachable);
    let open = room.list(5).into_iter().find(|turn| turn.state == TurnState::Interrupted).unwrap();
    let resumed = Box::pin(with.resume(&room, &open.turn_id.parse().unwrap())).await.unwrap();
    assert_eq!(resumed.turn.state, TurnState::Completed);
    assert_eq!(parrot.0.lock().unwrap().len(), 2);
}

/// CAP-126: what is past its retention goes with the name of its key; what is not over, or young, stays.
#[tokio::test]
async fn cap_126_old_turns_are_removed_with_their_keys() {
    let twin = twin().await;
    let home = tempfile::tempdir().unwrap();
    let room = room(home.path());
    let order = TurnOrder {
        connectors: vec![reads(&twin.base_url(), 1)],
        turn_key: Some("once".to_owned()),
        ..TurnOrder::new()
    };
    let ran = begin(&room, order).await.unwrap();
    let id: TurnId = ran.turn.turn_id.parse().unwrap();
    let journal = format!("turns/{id}.ndjson");
    let rows = std::fs::read_to_string(home.path().join(&journal)).unwrap();
    let key = std::fs::read_dir(home.path().join("turns/keys")).unwrap().next().unwrap().unwrap().file_name();
    let age = |name: &str| {
        let long_ago = std::time::UNIX_EPOCH + std::time::Duration::from_secs(1_000);
        let file = std::fs::File::options().write(true).open(home.path().join(name)).unwrap();
        file.set_modified(long_ago).unwrap();
    };
    let before = loom_domain::Timestamp(2_000_000);
    assert_eq!(room.prune(before), 0, "a young one stays");
    std::fs::write(home.path().join(&journal), format!("{}\n", rows.lines().next().unwrap())).unwrap();
    age(&journal);
    age(&format!("turns/keys/{}", key.to_str().unwrap()));
    assert_eq!(room.prune(before), 0, "one that is not over stays");
    std::fs::write(home.path().join(&journal), rows).unwrap();
    age(&journal);
    assert_eq!(room.prune(before), 1);
    assert_eq!(room.view(&id).unwrap_err().code, Code::NotFound);
    assert_eq!(std::fs::read_dir(home.path().join("turns/keys")).unwrap().count(), 0);
}
