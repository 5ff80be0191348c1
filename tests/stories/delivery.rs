//! Delivery truth: what people see is what the store says, whatever the network does to the answers.

use std::time::Duration;

use loom_twins::slack::{Fault, FaultAction, Post, SlackTwin};

use crate::harness::{LONG, SOON, Scene, eventually, stays};

#[tokio::test(flavor = "multi_thread")]
async fn msg_183_a_lost_answer_is_settled_by_look_up_to_one_message() {
    let scene = Scene::new().await;
    scene.world.twin.drop_next_answer("chat.postMessage");
    scene.ann_writes("the answer gets lost");
    scene.reply_is("the answer gets lost", "unknown", SOON).await;
    let waiting = scene.item("the answer gets lost").await;
    assert_eq!(waiting["item"]["state"], "awaiting_delivery", "not handled before the proof");
    let settled = scene.reply_is("the answer gets lost", "sent", LONG).await;
    let receipt = &settled["parts"][0]["receipt"];
    assert!(["settlement", "echo"].contains(&receipt["via"].as_str().unwrap()), "{receipt:#}");
    let message = receipt["externalMessageId"].as_str().unwrap();
    assert!(scene.world.twin.ledger().message("D0ANN", message).is_some());
    assert_eq!(scene.seen_times("the answer gets lost"), 1);
    scene.item_is("the answer gets lost", "handled").await;
}

/// The call never reached Slack, so settlement finds nothing twice and sends it then, once.
#[tokio::test(flavor = "multi_thread")]
async fn msg_183_p_3_a_call_that_never_arrived_is_sent_once_after_two_looks() {
    let scene = Scene::new().await;
    scene.world.twin.fault(Fault::once("chat.postMessage", FaultAction::DropRequest));
    scene.ann_writes("the call gets lost");
    scene.reply_is("the call gets lost", "sent", LONG).await;
    assert_eq!(scene.seen_times("the call gets lost"), 1);
    assert_eq!(scene.world.twin.requests_of("chat.postMessage").len(), 2);
}

#[tokio::test(flavor = "multi_thread")]
async fn msg_190_a_rate_stop_is_waited_out_and_counts_no_try() {
    let scene = Scene::new().await;
    let action = FaultAction::RateLimited { retry_after_secs: Some(2) };
    scene.world.twin.fault(Fault::once("chat.postMessage", action));
    scene.ann_writes("told to wait");
    scene.seen("echo: told to wait").await;
    let reply = scene.reply_is("told to wait", "sent", SOON).await;
    assert_eq!(reply["parts"][0]["attemptCount"], 0, "{reply:#}");
    assert_eq!(reply["attempts"][0]["outcome"], "rate_limited", "{reply:#}");
    let calls = scene.world.twin.requests_of("chat.postMessage");
    assert_eq!(calls.iter().map(|call| call.status).collect::<Vec<_>>(), [429, 200]);
    assert!(calls[1].at_ms - calls[0].at_ms >= 2_000, "it waited as long as it was told");
}

#[tokio::test(flavor = "multi_thread")]
async fn msg_192_a_permanent_error_in_one_chat_is_one_try_and_nobody_elses() {
    let scene = Scene::new().await;
    let action = FaultAction::Error { code: "is_archived".into() };
    scene.world.twin.fault(Fault::once("chat.postMessage", action));
    scene.ann_mentions("into the archive");
    let dead = scene.reply_is("into the archive", "failed", SOON).await;
    assert!(dead["lastError"].to_string().contains("is_archived"), "{dead:#}");
    let listed = scene.json(&["outbox", "--dead"]).await;
    assert_eq!(listed["items"][0]["id"], dead["id"]);
    scene.ann_writes("elsewhere it works");
    scene.seen("echo: elsewhere it works").await;
    let status = scene.json(&["integration", "status", &scene.connection]).await;
    assert_eq!((&status["state"], &status["lastError"]), (&"connected".into(), &serde_json::Value::Null));
    assert_eq!(scene.seen_times("into the archive"), 0);
    let id = dead["id"].as_str().unwrap();
    scene.world.loom(&["outbox", "retry", id, "--json"]).await.ok();
    scene.seen("into the archive").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn msg_194_a_reset_after_bytes_of_a_publish_call_is_repeated_by_no_http_layer() {
    let scene = Scene::new().await;
    scene.world.twin.fault(Fault::once("chat.postMessage", FaultAction::ResetAfterBytes { bytes: 5 }));
    scene.ann_writes("cut in the middle");
    scene.reply_is("cut in the middle", "sent", LONG).await;
    assert_eq!(scene.world.twin.requests_of("chat.postMessage").len(), 1);
    assert_eq!(scene.seen_times("cut in the middle"), 1);
}

/// After text and file one, the hub dies in the publish call of file two; nothing is sent twice.
#[tokio::test(flavor = "multi_thread")]
async fn msg_189_msg_182_a_crash_in_the_middle_of_the_files_sends_only_what_is_missing() {
    let mut scene = Scene::new().await;
    let work = scene.world.work();
    for name in ["a.txt", "b.txt"] {
        std::fs::write(work.join(name), name).unwrap();
    }
    let set = ["conversation", "set", &scene.address, "D0ANN", "--outbound-policy", "proactive", "--json"];
    scene.world.loom(&set).await.ok();
    // One pass is file one; then the answer to the second publish call hangs, and the hub is killed in it.
    scene.world.twin.fault(Fault {
        method: "files.completeUploadExternal".into(),
        skip: 1,
        times: 1,
        action: FaultAction::HangAfterActing,
    });
    let words = [
        "integration",
        "send",
        "--from",
        "echo",
        "--to",
        &scene.dm,
        "--idempotency-key",
        "files",
        "--file",
        "a.txt",
        "--file",
        "b.txt",
        "--async",
        "--json",
        "with files",
    ];
    let id = scene.world.loom(&words).await.ok().json()["id"].as_str().unwrap().to_owned();
    let calls =
        |twin: &SlackTwin| (twin.requests_of("files.completeUploadExternal").len() == 2).then_some(());
    scene.world.twin.wait_for(SOON, calls).await.unwrap();
    scene.world.kill().await;
    scene.world.up().await;
    let done = eventually("the item as sent", LONG, || async {
        let item = scene.json(&["outbox", "get", &id]).await;
        (item["state"] == "sent").then_some(item)
    })
    .await;
    assert_eq!(done["parts"].as_array().unwrap().len(), 3);
    let ledger = scene.world.twin.ledger();
    let files: Vec<&str> =
        ledger.by_app().flat_map(|m| m.files.iter().map(|file| file.name.as_str())).collect();
    assert_eq!(files, ["a.txt", "b.txt"]);
    assert_eq!(scene.seen_times("with files"), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn msg_185_a_provider_that_cannot_answer_leaves_it_to_the_owner() {
    let scene = Scene::new().await;
    scene.world.twin.knobs(|knobs| {
        knobs.history_disabled = true;
        knobs.echo_own = false;
    });
    scene.world.twin.drop_next_answer("chat.postMessage");
    scene.ann_writes("nobody can say");
    let unknown = scene.reply_is("nobody can say", "unknown", SOON).await;
    let id = unknown["id"].as_str().unwrap();
    // A message in another conversation goes out and comes back meanwhile; the unknown one is not touched.
    scene.ann_mentions("others go on");
    scene.seen("others go on").await;
    stays("the unknown reply", Duration::from_secs(20), || async {
        scene.json(&["outbox", "get", id]).await["state"] == "unknown"
    })
    .await;
    assert_eq!(scene.seen_times("nobody can say"), 1, "nothing is sent again by itself");
    scene.world.loom(&["outbox", "cancel", id, "--json"]).await.fails("invalid_state", 1);
    scene.world.loom(&["outbox", "settle", id, "--sent", "--json"]).await.fails("confirmation_required", 3);
    let shown = scene.seen("nobody can say").await.ts;
    let words = ["outbox", "settle", id, "--sent", "--external-id", &shown, "--confirm", id, "--json"];
    scene.world.loom(&words).await.ok();
    let settled = scene.json(&["outbox", "get", id]).await;
    assert_eq!(
        (&settled["state"], &settled["parts"][0]["receipt"]["via"]),
        (&"sent".into(), &"owner".into())
    );
    scene.item_is("nobody can say", "handled").await;
    assert_eq!(scene.seen_times("nobody can say"), 1);
}

/// A provider that hides metadata gives look-ups nothing to match; that is not a proof of absence.
#[tokio::test(flavor = "multi_thread")]
async fn msg_185_hidden_metadata_never_leads_to_a_second_message() {
    let scene = Scene::new().await;
    scene.world.twin.knobs(|knobs| {
        knobs.metadata_hidden = true;
        knobs.echo_own = false;
    });
    scene.world.twin.drop_next_answer("chat.postMessage");
    scene.ann_writes("without marks");
    let unknown = scene.reply_is("without marks", "unknown", SOON).await;
    let id = unknown["id"].as_str().unwrap();
    let before = scene.world.twin.requests_of("conversations.history").len();
    let looked = |twin: &SlackTwin| (twin.requests_of("conversations.history").len() > before).then_some(());
    scene.world.twin.wait_for(LONG, looked).await.unwrap();
    stays("the unknown reply", Duration::from_secs(15), || async {
        scene.json(&["outbox", "get", id]).await["state"] == "unknown"
    })
    .await;
    assert_eq!(scene.seen_times("without marks"), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn msg_197_p_5_a_burst_to_one_chat_keeps_its_order_and_meets_no_rate_stop() {
    let scene = Scene::new().await;
    scene.world.twin.knobs(|knobs| knobs.rate_limits = true);
    for n in 0..8 {
        scene.world.twin.post(Post::new("D0ANN", "U0ANN", &format!("burst {n}"))).unwrap();
    }
    scene.seen("echo: burst 7").await;
    let ledger = scene.world.twin.ledger();
    let texts: Vec<&str> = ledger.by_app().map(|message| message.text.as_str()).collect();
    assert_eq!(texts, (0..8).map(|n| format!("echo: burst {n}")).collect::<Vec<_>>());
    assert!(scene.world.twin.requests_of("chat.postMessage").iter().all(|call| call.status == 200));
}
