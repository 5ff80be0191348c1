//! Loops of Agents, and runs of connectors, as a hub keeps them.

use std::time::Duration;

use loom_capabilities::{chain_file, read_chain};
use loom_domain::{Code, OperationId, Principal, outbox};
use loom_secrets::Secret;
use serde_json::{Value, json};

use super::house::{House, until};

const SOON: Duration = Duration::from_secs(60);
const URL: &str = "https://github.com/acme/tool/issues/1";
const ECHO: &str = "cat >/dev/null; echo done";

/// A loop of the Agent `docs`, which is paused: its one lane-round stays open.
async fn begin(house: &House) -> OperationId {
    let file = json!({
        "schema_version": "loom.multi_agent/v1", "id": "one", "objective": "Look", "rounds": {"max": 1},
        "budget": {}, "lanes": [{"id": "scout", "agent": "docs"}],
    });
    let begun = Box::pin(house.hub().run_multi_agent(&Principal::Owner, &file, false)).await.unwrap();
    begun["run_id"].as_str().unwrap().parse().unwrap()
}

async fn paused() -> House {
    let house = House::up().await;
    house.agent("docs", ECHO).await;
    house.store().set_agent_paused(house.act(), "docs".to_owned(), true, None, false).await.unwrap();
    house
}

/// CAP-136: a run whose Agent works in another run does not go on, and its journal does not say that it does.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn cap_136_a_resume_that_is_locked_writes_nothing() {
    let house = paused().await;
    let first = begin(&house).await;
    house.hub().stop_multi_agent(&Principal::Owner, &first, Duration::ZERO).await.unwrap();
    // The end wakes whoever waits; there is no other look before the time is over.
    let stopped = house.hub().wait_multi_agent(&first, SOON).await.unwrap();
    assert_eq!((&stopped["state"], &stopped["reason"]), (&json!("ended"), &json!("stopped")));
    begin(&house).await;
    let refused = house.hub().resume_multi_agent(&Principal::Owner, &first, false).await.unwrap_err();
    assert_eq!(refused.code, Code::Locked);
    assert_eq!(house.hub().multi_agent(&first).await.unwrap(), stopped);
    let path = chain_file(&house.hub().home().join("multi-agent"), first.as_str());
    let rows = read_chain::<Value>(&path).unwrap();
    assert!(rows.iter().all(|row| row.body["kind"] != "resumed"), "{rows:#?}");
    house.end().await;
}

/// ID-18, CAP-136: what an Agent reports for its lane is kept and shown without the secrets that the hub knows.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn id_18_cap_136_a_report_is_kept_without_secrets() {
    let value = "correct horse battery 7Qx2";
    let house = House::up().await;
    let agent = Principal::Agent(house.agent("docs", ECHO).await.id);
    house.store().set_agent_paused(house.act(), "docs".to_owned(), true, None, false).await.unwrap();
    house.hub().redactor().register(&Secret::new(value));
    let run = begin(&house).await;
    let report: crate::Report = serde_json::from_value(json!({"summary": format!("found {value}")})).unwrap();
    until("the lane takes its report", || async {
        house.hub().report_lane(&agent, report.clone()).await.ok()
    })
    .await;
    let path = chain_file(&house.hub().home().join("multi-agent"), run.as_str());
    let text = std::fs::read_to_string(path).unwrap();
    assert!(text.contains("found [redacted:") && !text.contains(value), "{text}");
    house.end().await;
}

/// CAP-136: a run that is still open is taken up, however many newer ones there are.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn cap_136_an_open_run_is_taken_up_behind_many_newer_ones() {
    let mut house = paused().await;
    let run = begin(&house).await;
    house.hub().stop(Duration::ZERO).await;
    assert_eq!(house.hub().multi_agent(&run).await.unwrap()["state"], "interrupted");
    let folder = house.hub().home().join("multi-agent");
    for n in 0..250 {
        let newer = OperationId::new(house.now().plus_ms(1_000).0, n);
        std::fs::write(chain_file(&folder, newer.as_str()), b"").unwrap();
    }
    house.start();
    house.hub().loops_ready().await;
    assert_eq!(house.hub().multi_agent(&run).await.unwrap()["state"], "running");
    house.end().await;
}

/// CAP-035: whoever asks for runs as an Agent is refused beyond its places.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn cap_035_an_agent_with_too_many_runs_is_refused() {
    let house = House::up().await;
    let agent = Principal::Agent(house.agent("docs", ECHO).await.id);
    let entered: Vec<_> = (0..4).map(|_| house.hub().inner.runs.enter(&agent).unwrap()).collect();
    let ask = async || {
        let request = serde_json::from_value(json!({"operation": "probe", "input": {"url": URL}})).unwrap();
        let run = house.hub().run_capability(agent.clone(), "github_public_probe".to_owned(), request);
        let plan = OperationId::new(1, 1);
        let request = serde_json::from_value(json!({})).unwrap();
        let planned = house.hub().run_plan(agent.clone(), plan, request, SOON);
        (Box::pin(run).await.unwrap_err().code, Box::pin(planned).await.unwrap_err().code)
    };
    assert_eq!(ask().await, (Code::RateLimited, Code::RateLimited));
    drop(entered);
    assert_eq!(ask().await, (Code::Forbidden, Code::NotFound), "grants and plans are looked at again");
    house.end().await;
}

/// CAP-135: what goes to two conversations is stored once.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn cap_135_a_report_for_two_is_stored_once() {
    let house = House::up().await;
    let (_, _, address) = house.furnish(ECHO, &[]).await;
    let to = [house.channel(&address, "C1").await, house.channel(&address, "C2").await];
    let asked = loom_api::request::Report {
        forms: Some("markdown".to_owned()),
        to: to.iter().map(ToString::to_string).collect(),
        ..loom_api::request::Report::default()
    };
    let reported = house.hub().report(Principal::Owner, asked, Duration::ZERO).await.unwrap();
    let mut files = Vec::new();
    for delivery in &reported.deliveries {
        house.outbox_is(&delivery.outbox_id, outbox::State::Sent).await;
        let parts = house.outbox(&delivery.outbox_id).await.entry.parts;
        files.push(parts.into_iter().filter_map(|part| part.artifact_id).collect::<Vec<_>>());
    }
    assert_eq!(files[0].len(), 1, "{files:?}");
    assert_eq!(files[0], files[1]);
    house.end().await;
}
