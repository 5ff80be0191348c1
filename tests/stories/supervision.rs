//! One owner, one socket, and a state that tells the truth.

use std::time::Duration;

use loom_twins::slack::{Action, Post};
use serde_json::Value;

use crate::harness::{ECHO, LONG, SOON, Scene, Setup, eventually, stays};

async fn health(scene: &Scene) -> Value {
    scene.json(&["integration", "status", &scene.connection]).await
}

async fn reason_is(scene: &Scene, reason: &str, limit: Duration) -> Value {
    eventually(&format!("the reason {reason}"), limit, || async {
        let shown = health(scene).await;
        (shown["reason"] == reason).then_some(shown)
    })
    .await
}

#[tokio::test(flavor = "multi_thread")]
async fn msg_221_op_5_a_second_hub_on_the_same_home_is_locked_out() {
    let scene = Scene::new().await;
    let second = scene.world.loom(&["up", "--json"]).await;
    second.fails("locked", 5);
    scene.ann_writes("the first one serves");
    scene.seen("echo: the first one serves").await;
    assert_eq!(scene.world.twin.counters().sockets_open, 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn msg_222_op_4_after_down_nothing_calls_the_provider() {
    let mut scene = Scene::new().await;
    scene.ann_writes("last words");
    scene.seen("echo: last words").await;
    scene.item_is("last words", "handled").await;
    scene.world.line("down").await.ok();
    assert_eq!(scene.world.hub.as_mut().unwrap().wait().await, 0);
    let calls = scene.world.twin.requests().len();
    scene.world.loom(&["status", "--json"]).await.fails("hub_unreachable", 7);
    scene.ann_writes("nobody is there");
    let twin = &scene.world.twin;
    stays("silence", Duration::from_secs(3), || async {
        twin.requests().len() == calls && twin.counters().sockets_open == 0
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn msg_222_msg_223_a_disabled_connection_is_silent_and_never_connected() {
    let scene = Scene::new().await;
    scene.world.loom(&["integration", "disable", &scene.connection, "--json"]).await.ok();
    let none = |twin: &loom_twins::slack::SlackTwin| (twin.counters().sockets_open == 0).then_some(());
    scene.world.twin.wait_for(SOON, none).await.unwrap();
    eventually("disabled", SOON, || async { (health(&scene).await["state"] == "disabled").then_some(()) })
        .await;
    let calls = scene.world.twin.requests().len();
    stays("no provider call", Duration::from_secs(3), || async {
        scene.world.twin.requests().len() == calls && health(&scene).await["state"] == "disabled"
    })
    .await;
    scene.world.loom(&["integration", "enable", &scene.connection, "--json"]).await.ok();
    scene.world.connected(&scene.connection).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn op_4_a_terminated_hub_lets_a_running_turn_end_and_answers_once() {
    let script = "#!/bin/sh\nlast=$(sed -n 's/^| //p' | tail -n 1)\nsleep 2\necho \"slow: $last\"\n";
    let mut scene = Scene::with(Setup::default(), script).await;
    scene.ann_writes("while stopping");
    scene.item_is("while stopping", "handling").await;
    assert_eq!(scene.world.terminate().await, 0);
    scene.world.up().await;
    scene.seen("slow: while stopping").await;
    scene.item_is("while stopping", "handled").await;
    assert_eq!(scene.seen_times("while stopping"), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn msg_212_p_11_flaps_never_open_more_than_two_sockets() {
    let scene = Scene::new().await;
    let twin = &scene.world.twin;
    for n in 0..50 {
        let before = twin.counters().sockets_total;
        match n % 10 {
            9 => drop(twin.act(Action::DropSockets {}).unwrap()),
            _ => twin.disconnect("refresh_requested"),
        }
        let again = |twin: &loom_twins::slack::SlackTwin| {
            let counters = twin.counters();
            (counters.sockets_total > before && counters.sockets_open >= 1).then_some(())
        };
        twin.wait_for(LONG, again).await.unwrap_or_else(|_| panic!("no socket came back after flap {n}"));
    }
    let at_rest = |twin: &loom_twins::slack::SlackTwin| (twin.counters().sockets_open == 1).then_some(());
    twin.wait_for(SOON, at_rest).await.unwrap();
    assert!(twin.counters().sockets_max <= 2, "{}", twin.counters().sockets_max);
    scene.world.connected(&scene.connection).await;
    scene.ann_writes("after the storm");
    scene.seen("echo: after the storm").await;
    assert_eq!(scene.seen_times("after the storm"), 1);
}

/// The socket answers pings and delivers nothing; the history probe notices and catches up.
#[tokio::test(flavor = "multi_thread")]
async fn msg_211_p_11_a_deaf_socket_is_found_by_the_probe() {
    let settings = "[connections]\nprobe_s = 2\n".to_owned();
    let scene = Scene::with(Setup { settings, ..Setup::default() }, ECHO).await;
    scene.world.twin.knobs(|knobs| knobs.silent = true);
    scene.ann_mentions("can you hear me");
    let twin = &scene.world.twin;
    let before = twin.counters().sockets_total;
    let answered = |twin: &loom_twins::slack::SlackTwin| {
        twin.ledger().by_app().any(|message| message.text.contains("can you hear me")).then_some(())
    };
    twin.wait_for(LONG, answered).await.expect("the message was caught up");
    let replaced =
        |twin: &loom_twins::slack::SlackTwin| (twin.counters().sockets_total > before).then_some(());
    twin.wait_for(SOON, replaced).await.expect("and the socket was replaced");
    twin.knobs(|knobs| knobs.silent = false);
    scene.ann_writes("and now");
    scene.seen("echo: and now").await;
    assert_eq!(scene.seen_times("can you hear me"), 1);
}

/// Half-open: the TCP connection stands, nothing is read or written.
#[tokio::test(flavor = "multi_thread")]
async fn msg_213_p_11_a_stalled_socket_is_replaced_within_its_window() {
    let scene = Scene::new().await;
    let before = scene.world.twin.counters().sockets_total;
    scene.world.twin.act(Action::StallSockets {}).unwrap();
    scene.ann_writes("into the void");
    let again = |twin: &loom_twins::slack::SlackTwin| (twin.counters().sockets_total > before).then_some(());
    scene.world.twin.wait_for(Duration::from_secs(90), again).await.expect("a new socket");
    let answered = |twin: &loom_twins::slack::SlackTwin| {
        twin.ledger().by_app().any(|message| message.text.contains("into the void")).then_some(())
    };
    scene.world.twin.wait_for(Duration::from_secs(60), answered).await.expect("answered in the end");
    scene.world.connected(&scene.connection).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn msg_219_msg_008_the_status_names_the_cause() {
    let scene = Scene::new().await;
    let shown = health(&scene).await;
    assert_eq!(
        (&shown["state"], &shown["reason"], &shown["lastError"]),
        (&"connected".into(), &"ok".into(), &Value::Null)
    );
    assert!(shown["health"]["provedAliveSecondsAgo"].is_number(), "{shown:#}");
    scene.world.loom(&["integration", "status", &scene.connection, "--check", "--json"]).await.ok();
    scene.world.twin.act(Action::RevokeTokens {}).unwrap();
    scene.world.twin.act(Action::DropSockets {}).unwrap();
    let shown = reason_is(&scene, "auth_failed", SOON).await;
    assert!(shown["lastError"].is_object() && shown["state"] != "connected", "{shown:#}");
    let checked = scene.world.loom(&["integration", "status", &scene.connection, "--check", "--json"]).await;
    assert_eq!(checked.code, 4, "{checked}");
    scene.world.twin.act(Action::RestoreTokens {}).unwrap();
    for verb in ["disable", "enable"] {
        scene.world.loom(&["integration", verb, &scene.connection, "--json"]).await.ok();
    }
    scene.world.connected(&scene.connection).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn msg_129_msg_115_a_busy_agent_makes_items_wait_and_the_connection_stays_healthy() {
    let script = "#!/bin/sh\nsleep 1\ncat > /dev/null\necho done\n";
    let scene = Scene::with(Setup::default(), script).await;
    scene.ann_writes("first of three");
    scene.item_is("first of three", "handling").await;
    scene.world.twin.post(Post::mention("C0GENERAL", "U0BOB", "second of three")).unwrap();
    let waiting = scene.item_is("second of three", "queued").await;
    assert_eq!(waiting["item"]["blockedBy"], "agent_busy", "{waiting:#}");
    let shown = health(&scene).await;
    assert_eq!((&shown["state"], &shown["lastError"]), (&"connected".into(), &Value::Null));
    scene.item_is("second of three", "handled").await;
}
