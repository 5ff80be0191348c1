//! Two Turns of the real Codex in one thread, with the hub killed between them, during one, and around one.

use loom_twins::model::ModelTwin;

use crate::harness::{SOON, Scene, Setup, World};
use crate::peers_codex::program;

/// The scene with a Codex Agent that talks to a model twin.
async fn scene(model: &ModelTwin) -> Scene {
    let mut world = World::new(Setup::default()).await;
    world.up().await;
    let (program, cwd, endpoint) = (program(), world.work(), model.v1_url());
    let words = [
        "agent",
        "create",
        "echo",
        "--runtime",
        "codex",
        "--cwd",
        &cwd.to_string_lossy(),
        "--model",
        "fake-model",
        "--endpoint",
        &endpoint,
        "--json",
        "--",
        &program.to_string_lossy(),
    ];
    world.loom(&words).await.ok();
    Scene::of(world).await
}

/// Kills the hub, lets it start once more with a fail point armed, and waits until it died there.
async fn die_at(scene: &mut Scene, point: &str, text: &str) {
    scene.world.kill().await;
    scene.world.up_with(&[("LOOM_FAILPOINTS", &format!("{point}=kill"))]).await;
    scene.ann_writes(text);
    let end = scene.world.hub.as_mut().unwrap().wait().await;
    assert_eq!(end, -9, "the hub dies at {point}");
    scene.world.up().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn p_6_msg_145_rt_2_rt_5_codex_is_resumed_reconciled_and_never_run_twice() {
    let model = ModelTwin::start(0).await.unwrap();
    let mut scene = scene(&model).await;
    scene.ann_writes("first turn");
    scene.seen("echo: first turn").await;
    // Killed between two Turns: the thread is resumed with its history.
    scene.world.kill().await;
    scene.world.up().await;
    scene.ann_writes("COUNT");
    scene.seen("users=2").await;
    // Killed during a Turn: its fate is told, nothing runs again.
    scene.ann_writes("SLOW:60");
    tokio::time::timeout(SOON, model.wait_calls(3)).await.expect("the Turn began");
    scene.world.kill().await;
    scene.world.up().await;
    let broken = scene.item_is("SLOW:60", "interrupted").await;
    assert_eq!(model.calls_with("SLOW:60"), 1, "a broken Turn is not run again");
    let id = broken["item"]["id"].as_str().unwrap();
    scene.world.loom(&["inbox", "no-reply", id, "--reason", "broken", "--json"]).await.ok();
    // Killed before the start: it runs once.
    die_at(&mut scene, "turn.before_start", "before the start").await;
    scene.seen("echo: before the start").await;
    assert_eq!(model.calls_with("before the start"), 1);
    // Killed after the end, before the answer was stored: the answer goes out, once, without another run.
    die_at(&mut scene, "turn.finish.before_commit", "after the end").await;
    scene.seen("echo: after the end").await;
    assert_eq!((model.calls_with("after the end"), scene.seen_times("after the end")), (1, 1));
    scene.ann_writes("last turn");
    scene.seen("echo: last turn").await;
    for text in ["first turn", "COUNT", "before the start", "last turn"] {
        assert_eq!(model.calls_with(text), 1, "{text}");
    }
    let agent = scene.json(&["agent", "get", "echo"]).await;
    assert!(agent["agent"]["threadRef"].is_string(), "{agent:#}");
}

/// The runtime dies, not the hub: an accepted start whose answer never came is reconciled, not repeated.
#[tokio::test(flavor = "multi_thread")]
async fn msg_144_p_6_a_start_that_was_accepted_is_found_and_not_repeated() {
    let model = ModelTwin::start(0).await.unwrap();
    let mut scene = scene(&model).await;
    scene.ann_writes("warm up");
    scene.seen("echo: warm up").await;
    die_at(&mut scene, "turn.after_start", "SLOW:1").await;
    scene.item_is("SLOW:1", "interrupted").await;
    assert!(model.calls_with("SLOW:1") <= 1);
    scene.ann_writes("goes on");
    scene.seen("echo: goes on").await;
}
