//! What the processes of an Agent can reach, and for how long.

use crate::harness::{SOON, Scene, eventually};

/// Leaves a process behind that asks the hub as nobody, once its own parents are gone.
const LEAVES_A_PROCESS: &str = r#"#!/bin/sh
cat >/dev/null
(setsid sh -c ': >away; sleep 1; env -i LOOM_HOME="$LOOM_TEST_HOME" "$LOOM_TEST_BIN" agent list --json >asked 2>&1; mv asked answered' </dev/null >/dev/null 2>&1 &)
until [ -e away ]; do sleep 0.05; done
echo left
"#;

/// ID-6: a process that detached itself from its runtime never counts as the owner at the socket.
#[tokio::test(flavor = "multi_thread")]
async fn id_6_a_process_that_a_runtime_left_behind_is_not_the_owner() {
    let scene = Scene::new().await;
    let home = scene.world.home().to_string_lossy().into_owned();
    let script = LEAVES_A_PROCESS
        .replace("$LOOM_TEST_HOME", &home)
        .replace("$LOOM_TEST_BIN", env!("CARGO_BIN_EXE_loom"));
    std::fs::write(scene.world.work().join("agent.sh"), script).unwrap();
    scene.ann_writes("leave something");
    scene.seen("left").await;
    let answered = scene.world.work().join("answered");
    let said =
        eventually("an answer to the process", SOON, || async { std::fs::read_to_string(&answered).ok() })
            .await;
    assert!(said.contains("\"unauthenticated\"") && !said.contains("\"items\""), "{said}");
    scene.world.loom(&["agent", "list", "--json"]).await.ok();
}
