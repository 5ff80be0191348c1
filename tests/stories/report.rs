//! A report of a busy hub: the same bytes each time, and one message in the conversation, however often it is run.

use loom_domain::Timestamp;
use loom_hub::{Clock as _, SystemClock};
use serde_json::Value;

use crate::harness::{SOON, Scene, eventually};

/// The days until this minute.
fn window() -> String {
    let now: Timestamp = SystemClock.now();
    format!("{}..{now}", now.plus_ms(-7 * 86_400_000))
}

/// A busy hub: answers, a refusal, an item that waits, a failed and a good run of a connector.
async fn busy() -> Scene {
    let scene = Scene::new().await;
    for n in 0..4 {
        scene.ann_writes(&format!("busy {n}"));
        scene.seen(&format!("echo: busy {n}")).await;
        scene.item_is(&format!("busy {n}"), "handled").await;
    }
    scene.world.twin.post(loom_twins::slack::Post::mention("C0DOCS", "U0ANN", "refused")).unwrap();
    eventually("a refusal", SOON, || async {
        let list = scene.json(&["inbox", "refused"]).await;
        list["items"].as_array()?.first().map(|_| ())
    })
    .await;
    let probe = "value-connectors github-public-probe --url https://github.com/owner/repo/issues/123 --json";
    scene.world.line(probe).await.ok();
    let set = format!("conversation set {} C0GENERAL --outbound-policy proactive --json", scene.address);
    scene.world.line(&set).await.ok();
    scene
}

/// CAP-134, CAP-135: one command renders Markdown, HTML and JSON; twice gives equal bytes; the conversation gets it
/// once, with a receipt, and a second run sends nothing.
#[tokio::test(flavor = "multi_thread")]
async fn cap_134_cap_135_a_report_is_the_same_each_time_and_arrives_once() {
    let scene = busy().await;
    let window = window();
    let run = async |folder: &str, more: &[&str]| {
        let mut words = vec!["periodic-report", "run", "--window", &window, "--tz", "UTC", "--out", folder];
        words.extend(["--as", "markdown,html,json", "--json"]);
        words.extend(more);
        scene.world.loom(&words).await
    };
    let first = run("one", &["--to", &scene.channel]).await.ok().json();
    assert_eq!((&first["created"], &first["hub"]), (&true.into(), &"running".into()), "{first:#}");
    assert_eq!(first["deliveries"][0]["state"], "sent", "{first:#}");
    assert_eq!(first["deliveries"][0]["duplicate"], false);
    scene.seen("Loom report: weekly").await;
    let item = scene.json(&["outbox", "get", first["deliveries"][0]["outbox_id"].as_str().unwrap()]).await;
    let parts = item["parts"].as_array().unwrap();
    assert!(parts.len() >= 4, "a text and three files: {item:#}");
    assert!(parts.iter().all(|part| part["receipt"].is_object()), "{item:#}");
    let calls = scene.world.twin.requests_of("chat.postMessage").len();
    let second = run("two", &["--to", &scene.channel]).await.ok().json();
    assert_eq!((&second["created"], &second["deliveries"][0]["duplicate"]), (&false.into(), &true.into()));
    assert_eq!(second["deliveries"][0]["outbox_id"], first["deliveries"][0]["outbox_id"]);
    assert_eq!(scene.world.twin.requests_of("chat.postMessage").len(), calls, "a second run sends nothing");
    assert_eq!(scene.seen_times("Loom report: weekly"), 1);
    for file in ["report.md", "report.html", "report.json"] {
        let read = |folder: &str| std::fs::read(scene.world.work().join(folder).join(file)).unwrap();
        assert_eq!(read("one"), read("two"), "{file}");
    }
    let id = first["report"]["report_id"].as_str().unwrap();
    assert_eq!(scene.json(&["periodic-report", "show", id]).await, first["report"]);
    let kept = scene.json(&["periodic-report", "history"]).await;
    assert_eq!(kept["items"].as_array().unwrap().len(), 1, "{kept:#}");
    let report = &first["report"];
    let summary = |key: &str| {
        let lines = report["summary"].as_array().unwrap();
        lines.iter().find(|line| line["key"] == key).unwrap_or(&Value::Null)["value"].clone()
    };
    assert_eq!(
        (summary("parts_delivered"), summary("messages_received")),
        ("4".into(), "4".into()),
        "{report:#}"
    );
    assert_eq!(summary("turns_started"), "4");
    let charts = report["charts"].as_array().unwrap();
    let refusals = charts.iter().find(|chart| chart["id"] == "refusals_by_reason").unwrap();
    let place = refusals["labels"].as_array().unwrap().iter().position(|label| label == "membership_missing");
    assert_eq!(refusals["series"][0]["values"][place.unwrap()], 1, "{refusals:#}");
    let text = std::fs::read_to_string(scene.world.work().join("one/report.html")).unwrap();
    assert!(
        !text.contains("busy 1") && text.contains("github_public_probe"),
        "no body of a message is in it"
    );
}

/// CAP-135: a delivery that failed leaves the report, names the Membership, and goes on without rendering again.
#[tokio::test(flavor = "multi_thread")]
async fn cap_135_a_failed_delivery_is_resumed() {
    let scene = busy().await;
    let window = window();
    let words = ["periodic-report", "run", "--window", &window, "--tz", "UTC", "--json", "--to", &scene.dm];
    let refused = scene.world.loom(&words).await;
    assert_ne!(refused.code, 0, "the DM takes no proactive message: {refused}");
    let error = refused.json()["error"].clone();
    assert_eq!(error["detail"]["membership_id"], scene.dm.as_str(), "{refused}");
    let kept = scene.json(&["periodic-report", "history"]).await;
    assert_eq!(kept["items"][0]["report_id"], error["detail"]["report_id"], "{kept:#}");
    let set = ["conversation", "set", &scene.address, "D0ANN", "--outbound-policy", "proactive", "--json"];
    scene.world.loom(&set).await.ok();
    let resumed = scene.world.loom(&words).await.ok().json();
    assert_eq!((&resumed["created"], &resumed["deliveries"][0]["state"]), (&false.into(), &"sent".into()));
    assert_eq!(resumed["report"]["report_id"], error["detail"]["report_id"]);
}

/// CAP-006: without a hub the bare command tells what it can, and writes nothing.
#[tokio::test(flavor = "multi_thread")]
async fn cap_006_the_bare_report_needs_no_hub() {
    let world = crate::harness::World::new(crate::harness::Setup::default()).await;
    let before = std::fs::read_dir(world.home()).unwrap().count();
    let told = world.line("periodic-report --json").await.ok().json();
    assert_eq!((&told["hub"], &told["report"]["profile"]), (&"not_running".into(), &"weekly".into()));
    let states: Vec<&str> =
        told["report"]["sources"].as_array().unwrap().iter().map(|s| s["state"].as_str().unwrap()).collect();
    assert!(states.contains(&"not_observed") && states.contains(&"complete"), "{told:#}");
    assert!(world.line("periodic-report").await.ok().stdout.starts_with("# Loom report: weekly"));
    assert_eq!(std::fs::read_dir(world.home()).unwrap().count(), before, "it writes nothing");
    let failed = world.line("periodic-report run --to mem_01arz3ndektsv4rrffq69g5fav --json").await;
    failed.fails("hub_unreachable", 7);
}
