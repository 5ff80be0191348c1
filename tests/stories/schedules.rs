//! Schedules of the real program: a minute comes, a report arrives once and a Turn runs, also past a kill.

use serde_json::{Value, json};

use crate::harness::{LONG, Scene, eventually};

async fn proactive() -> Scene {
    let scene = Scene::new().await;
    let set = format!("conversation set {} C0GENERAL --outbound-policy proactive --json", scene.address);
    scene.world.line(&set).await.ok();
    scene
}

async fn add_report(scene: &Scene) {
    let words =
        ["periodic-report", "schedule", "add", "minutes", "--cron", "* * * * *", "--tz", "Europe/Berlin"];
    let more = ["--window", "last-month", "--to", &scene.channel, "--enable", "--json"];
    let added = scene.world.loom(&[&words[..], &more[..]].concat()).await.ok().json();
    assert_eq!((&added["object"]["enabled"], &added["created"]), (&true.into(), &true.into()), "{added:#}");
    assert_eq!(added["warnings"], json!([]), "{added:#}");
}

/// The oldest occurrence once it has an end.
async fn first_end(scene: &Scene, command: &str) -> Value {
    eventually("an occurrence that has ended", LONG, || async {
        let shown = scene.json(&[command, "schedule", "show", "minutes"]).await;
        let first = shown["occurrences"].as_array()?.last()?.clone();
        (first["outcome"] != "started").then_some(first)
    })
    .await
}

/// CAP-134, CAP-135, CAP-128, MSG-155: in the next minute the conversation has the report, once, with its receipt, and
/// a Turn was run; both are told by `show`.
#[tokio::test(flavor = "multi_thread")]
async fn cap_134_cap_135_cap_128_msg_155_a_schedule_delivers_a_report_and_runs_a_turn() {
    let scene = proactive().await;
    add_report(&scene).await;
    let config = json!({"schema_version": "loom.turn_config/v1", "connectors": [{"connector": "github_public_probe"}]});
    std::fs::write(scene.world.work().join("turn.json"), config.to_string()).unwrap();
    let words =
        ["turn", "schedule", "add", "turns", "--cron", "* * * * *", "--tz", "UTC", "--config", "turn.json"];
    let taken = scene.world.loom(&[&words[..2], &["add", "minutes"], &words[4..]].concat()).await;
    assert_ne!(taken.code, 0, "a name is one schedule's: {taken}");
    scene.world.loom(&words).await.ok();
    let shown = scene.json(&["turn", "schedule", "show", "turns"]).await;
    assert_eq!((&shown["enabled"], shown["next"].as_array().unwrap().len()), (&false.into(), 3), "{shown:#}");
    scene.world.line("turn schedule enable turns").await.ok();
    let first = first_end(&scene, "periodic-report").await;
    assert_eq!((&first["outcome"], &first["reason"]), (&"done".into(), &Value::Null), "{first:#}");
    assert_eq!(first["deliveries"][0]["state"], "sent", "{first:#}");
    let item = scene.json(&["outbox", "get", first["deliveries"][0]["outbox_id"].as_str().unwrap()]).await;
    assert!(item["parts"].as_array().unwrap().iter().all(|part| part["receipt"].is_object()), "{item:#}");
    let report = scene.json(&["periodic-report", "show", first["report_id"].as_str().unwrap()]).await;
    assert_eq!(report["window"]["zone"], "Europe/Berlin", "{report:#}");
    let turn = eventually("a Turn", LONG, || async {
        let shown = scene.json(&["turn", "schedule", "show", "turns"]).await;
        let first = shown["occurrences"].as_array()?.last()?.clone();
        (first["outcome"] == "done").then_some(first)
    })
    .await;
    let turn = scene.json(&["turn", "show", turn["turn_id"].as_str().unwrap()]).await;
    assert_eq!(turn["state"], "completed", "{turn:#}");
    // The window of the next minute is the same day's, so its report is the same one, and it is not sent again.
    assert_eq!(scene.seen_times("Loom report: weekly"), 1);
    let listed = scene.world.line("periodic-report schedule list").await.ok();
    assert!(listed.stdout.contains("minutes") && listed.stdout.contains("done"), "{listed}");
    for line in ["periodic-report schedule remove minutes", "turn schedule remove turns"] {
        scene.world.line(line).await.ok();
    }
    scene.world.line("turn schedule show turns --json").await.fails("not_found", 1);
}

/// CAP-135: a hub that dies between taking a time and writing down its end delivers the report once all the same.
#[tokio::test(flavor = "multi_thread")]
async fn cap_135_a_kill_in_an_occurrence_delivers_once() {
    for point in ["schedule.taken", "schedule.before_end"] {
        let mut scene = proactive().await;
        scene.world.kill().await;
        scene.world.up_with(&[("LOOM_FAILPOINTS", &format!("{point}=kill"))]).await;
        scene.world.connected(&scene.connection).await;
        add_report(&scene).await;
        let mut hub = scene.world.hub.take().unwrap();
        assert_eq!(hub.wait().await, -9, "it died of the point");
        let before = scene.seen_times("Loom report: weekly");
        assert_eq!(before, usize::from(point == "schedule.before_end"), "{point}");
        scene.world.up().await;
        let first = first_end(&scene, "periodic-report").await;
        assert_eq!((&first["outcome"], &first["reason"]), (&"done".into(), &Value::Null), "{first:#}");
        scene.seen("Loom report: weekly").await;
        assert_eq!(scene.seen_times("Loom report: weekly"), 1);
    }
}
