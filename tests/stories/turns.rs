//! Turns of connectors, killed in the middle and taken up again.

use std::path::Path;
use std::process::Stdio;

use loom_twins::github::{GithubTwin, Issue, Repo};
use serde_json::{Value, json};
use tokio::net::{TcpListener, TcpStream};
use tokio::process::Command;
use tokio::task::JoinHandle;

use crate::harness::{SOON, Scene, Setup, eventually};

fn loom(home: &Path, words: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_loom"));
    command.env_clear().env("LOOM_HOME", home).stdin(Stdio::null()).kill_on_drop(true);
    command.stdout(Stdio::piped()).stderr(Stdio::piped()).args(words);
    command
}

async fn json_of(home: &Path, words: &[&str]) -> (i32, Value) {
    let output = loom(home, words).arg("--json").output().await.unwrap();
    let said = String::from_utf8_lossy(&output.stdout);
    let document = serde_json::from_str(&said).unwrap_or_else(|error| panic!("{error}: {said}"));
    (output.status.code().unwrap(), document)
}

/// Passes connections on to a twin, but holds the first one for ever.
async fn door_that_holds_the_first(twin: std::net::SocketAddr) -> (String, JoinHandle<()>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let serving = tokio::spawn(async move {
        let (_held, _) = listener.accept().await.unwrap();
        loop {
            let (mut near, _) = listener.accept().await.unwrap();
            let mut far = TcpStream::connect(twin).await.unwrap();
            drop(tokio::io::copy_bidirectional(&mut near, &mut far).await);
        }
    });
    (url, serving)
}

/// CAP-126: a process that is killed while it reads leaves a Turn that another one ends; what was read is kept. While the
/// first one lives, nobody else has the Turn (CAP-127).
#[tokio::test]
async fn cap_126_cap_127_a_killed_turn_is_taken_up_by_another_process() {
    let repo = Repo::new("acme/tool").issue(Issue::new(1, 0)).issue(Issue::new(2, 0));
    let twin = GithubTwin::builder().repo(repo).start().await.unwrap();
    let (slow, serving) = door_that_holds_the_first(twin.address()).await;
    let dir = tempfile::tempdir().unwrap();
    let home = dir.path().join("home");
    let call = |number: u64, base: &str| {
        let url = format!("https://github.com/acme/tool/issues/{number}");
        json!({"connector": "github_public_probe", "input": {"url": url, "fetch_metadata": true}, "api_url": base})
    };
    let connectors = [call(1, &twin.base_url()), call(2, &slow)];
    let order =
        json!({"schema_version": "loom.turn_config/v1", "turn_key": "triage", "connectors": connectors});
    let file = dir.path().join("turn.json");
    std::fs::write(&file, order.to_string()).unwrap();
    let file = file.display().to_string();
    let line = ["turn", "run", "--config", file.as_str()];
    let mut first = loom(&home, &line).spawn().unwrap();
    let id = eventually("the second read", SOON, || async {
        let (_, list) = json_of(&home, &["turn", "list"]).await;
        let turn = list["items"].as_array()?.first()?;
        let reads = turn["connectors"][1]["state"] == "running";
        reads.then(|| turn["turn_id"].as_str().unwrap().to_owned())
    })
    .await;
    let (exit, locked) = json_of(&home, &["turn", "resume", &id]).await;
    assert_eq!((exit, &locked["error"]["code"]), (5, &json!("locked")));
    let (_, same) = json_of(&home, &line).await;
    assert_eq!((&same["turn_id"], &same["state"]), (&json!(id), &json!("running")));
    first.kill().await.unwrap();
    let (_, same) = json_of(&home, &line).await;
    assert_eq!((&same["turn_id"], &same["state"]), (&json!(id), &json!("interrupted")));
    let (exit, resumed) = json_of(&home, &["turn", "resume", &id]).await;
    assert_eq!((exit, &resumed["state"]), (0, &json!("completed")), "{resumed:#}");
    assert_eq!(twin.requests_to("/issues/1").len(), 1, "what was read is not read again");
    assert_eq!(resumed["payloads"].as_array().unwrap().len(), 2);
    serving.abort();
}

/// CAP-128, CAP-126: an Agent Turn of the hub reads its payloads in a block; its key is one Turn over HTTP and on the
/// command line; killed while the Agent works it is taken up and its input is not put there twice.
#[tokio::test(flavor = "multi_thread")]
async fn cap_126_cap_128_an_agent_turn_runs_in_the_hub() {
    let script = "#!/bin/sh\nid=$(sed -n 's/.*payload_id=\\(sha256:[0-9a-f]*\\).*/\\1/p' | head -n 1)\n\
                  LOOM turn payload $id --pointer /connector_id > piece.txt 2>&1\n\
                  LOOM turn payload sha256:000000000000 --json > none.txt 2>&1\necho ran >> runs.txt\nwhile test -e hold; do sleep 0.1; done\n\
                  echo done\n";
    let script = script.replace("LOOM", env!("CARGO_BIN_EXE_loom"));
    let mut scene = Scene::with(Setup::default(), &script).await;
    let work = scene.world.work();
    std::fs::write(work.join("ask.md"), "Say what this is.").unwrap();
    let line =
        "turn run --connector github_public_probe --agent echo --prompt-file ask.md --turn-key t1 --json";
    let turn = scene.world.line(line).await.ok().json();
    assert_eq!((&turn["state"], &turn["agent"]["answer"]), (&json!("completed"), &json!("done")), "{turn:#}");
    assert_eq!(turn["kind"], "agent");
    let read = |name: &str| std::fs::read_to_string(work.join(name)).unwrap();
    assert_eq!(read("piece.txt"), "\"github_public_probe\"\n", "the Agent reads its payload");
    assert!(read("none.txt").contains("not_found"), "{}", read("none.txt"));
    assert_eq!(turn["agent"]["state"], "done");
    let item = turn["agent"]["item_id"].as_str().unwrap();
    let text = scene.json(&["inbox", "get", item]).await["message"]["content"]["text"].to_string();
    assert!(text.contains("connector=github_public_probe") && text.contains("Say what this is."), "{text}");
    assert_eq!(scene.world.line(line).await.ok().json()["turn_id"], turn["turn_id"]);
    let runs = || std::fs::read_to_string(work.join("runs.txt")).unwrap().lines().count();
    assert_eq!(runs(), 1, "the key is one Turn");
    let plan = scene.world.line(&format!("{line} --dry-run")).await.ok().json();
    assert_eq!(plan["agent"]["id"], "echo", "{plan:#}");
    // Killed while the Agent works: its fate is told, nothing runs again.
    std::fs::write(work.join("hold"), "").unwrap();
    let held = line.replace("t1", "t2");
    let words: Vec<String> = held.split_whitespace().map(str::to_owned).collect();
    let home = scene.world.home();
    let cwd = work.clone();
    let waiting = tokio::spawn(async move {
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        loom(&home, &words).current_dir(cwd).output().await.unwrap()
    });
    eventually("the Agent's run", SOON, || async { (runs() == 2).then_some(()) }).await;
    scene.world.kill().await;
    waiting.await.unwrap();
    std::fs::remove_file(work.join("hold")).unwrap();
    scene.world.up().await;
    let list = scene.json(&["turn", "list"]).await;
    let open = list["items"].as_array().unwrap().iter().find(|turn| turn["turn_key"] == "t2").unwrap();
    assert_eq!(open["state"], "interrupted", "{open:#}");
    let id = open["turn_id"].as_str().unwrap();
    let resumed = scene.world.loom(&["turn", "resume", id, "--json"]).await.json();
    let state = resumed["state"].as_str().unwrap();
    assert!(["completed", "lost"].contains(&state), "{resumed:#}");
    assert_eq!(runs(), 2, "an Agent's run is not repeated");
}
