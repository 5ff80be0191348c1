//! Loops of several Agents: rounds, budgets, a kill in the middle, and nothing twice.

use loom_twins::github::{GithubTwin, Issue, Repo};
use loom_twins::model::ModelTwin;
use serde_json::{Value, json};

use crate::harness::{LONG, SOON, Scene, Setup, agent_script, eventually};
use crate::peers_codex::program;

const LOOM: &str = env!("CARGO_BIN_EXE_loom");

/// A scout that writes to people once a run, under a key of that run alone; waits while the file of its round is there, and
/// reports.
fn scout(membership: &str) -> String {
    format!(
        "#!/bin/sh\nn=$(( $(cat scout.n 2>/dev/null || echo 0) + 1 )); echo $n > scout.n\n\
         {LOOM} integration send --from echo --to {membership} --idempotency-key $n-$$ --body \"scout writes $n\" > send.$n.log 2>&1\n\
         while test -e hold.$n; do sleep 0.1; done\n\
         {LOOM} multi-agent report --to reviewer=\"look at $n\" \"found $n\" > report.$n.log 2>&1\n\
         echo \"answer $n\"\n"
    )
}

/// A reviewer that keeps what it was asked, and is done in the given round.
fn reviewer(done_in: u32) -> String {
    format!(
        "#!/bin/sh\nn=$(( $(cat reviewer.n 2>/dev/null || echo 0) + 1 )); echo $n > reviewer.n\ncat > asked.$n.txt\n\
         if test $n -ge {done_in}; then {LOOM} multi-agent report --done \"all reviewed\" > done.log 2>&1; fi\n\
         echo \"reviewed $n\"\n"
    )
}

async fn scene(done_in: u32) -> Scene {
    let scene = Scene::with(Setup::default(), "#!/bin/sh\nexec ./scout.sh\n").await;
    let work = scene.world.work();
    agent_script(&work, "scout.sh", &scout(&scene.channel));
    let set =
        ["conversation", "set", &scene.address, "C0GENERAL", "--outbound-policy", "proactive", "--json"];
    scene.world.loom(&set).await.ok();
    let (script, cwd) =
        (agent_script(&work, "reviewer.sh", &reviewer(done_in)), work.to_string_lossy().into_owned());
    let words =
        ["agent", "create", "reviewer", "--runtime", "command", "--cwd", &cwd, "--json", "--", &script];
    scene.world.loom(&words).await.ok();
    scene
}

async fn codex(scene: &Scene, model: &ModelTwin) {
    let (program, cwd, endpoint) = (program(), scene.world.work(), model.v1_url());
    let (program, cwd) = (program.to_string_lossy(), cwd.to_string_lossy());
    let words = ["agent", "create", "writer", "--runtime", "codex", "--cwd", &cwd, "--model", "fake-model"];
    let more = ["--endpoint", &endpoint, "--json", "--", &program];
    scene.world.loom(&[&words[..], &more].concat()).await.ok();
}

fn write(scene: &Scene, file: &Value) {
    std::fs::write(scene.world.work().join("loop.json"), file.to_string()).unwrap();
}

fn lanes(scene: &Scene, of: &str) -> Vec<String> {
    let ledger = scene.world.twin.ledger();
    ledger.by_app().filter(|message| message.text.contains(of)).map(|message| message.text.clone()).collect()
}

async fn status(scene: &Scene, run: &str) -> Value {
    scene.json(&["multi-agent", "status", run]).await
}

fn count(scene: &Scene, file: &str) -> u32 {
    let text = std::fs::read_to_string(scene.world.work().join(file)).unwrap_or_default();
    text.trim().parse().unwrap_or(0)
}

/// CAP-136: three lanes, two of the command runtime and one of the real Codex, with connectors. The hub is killed while a
/// lane works and after it wrote to people; the run goes on by itself, repeats no lane-round and no message, and stops at
/// its budget.
#[tokio::test(flavor = "multi_thread")]
async fn cap_136_three_lanes_survive_a_kill_and_stop_at_their_budget() {
    let model = ModelTwin::start(0).await.unwrap();
    let github =
        GithubTwin::builder().repo(Repo::new("acme/tool").issue(Issue::new(1, 0))).start().await.unwrap();
    let mut scene = scene(99).await;
    codex(&scene, &model).await;
    let input = json!({"url": "https://github.com/acme/tool/issues/1", "fetch_metadata": true});
    let reads = json!([{"id": "github_public_probe", "input": input, "api_url": github.base_url()}]);
    let file = json!({
        "schema_version": "loom.multi_agent/v1", "id": "weekly-triage", "objective": "Review the open queue",
        "rounds": {"max": 6, "mode": "barrier"}, "budget": {"turns": 8, "wall": "2h"},
        "lanes": [
            {"id": "scout", "agent": "echo", "runtime": "command", "role": "Find candidates"},
            {"id": "reviewer", "agent": "reviewer", "reads": ["scout"], "role": "Review them"},
            {"id": "writer", "agent": "writer", "runtime": "codex", "reads": ["reviewer"], "connectors": reads},
        ],
    });
    write(&scene, &file);
    let plan = scene.json(&["multi-agent", "run", "loop.json", "--dry-run"]).await;
    assert_eq!(plan["file"]["id"], "weekly-triage", "{plan:#}");
    // Held in its second round, behind its message to people; the other lanes end theirs.
    std::fs::write(scene.world.work().join("hold.2"), "").unwrap();
    let begun = scene.json(&["multi-agent", "run", "loop.json", "--detach"]).await;
    let run = begun["run_id"].as_str().unwrap().to_owned();
    eventually("a held round", LONG, || async {
        let log = scene.json(&["multi-agent", "logs", &run]).await;
        let rows = log["items"].as_array().unwrap().clone();
        let second = rows.iter().filter(|row| row["kind"] == "lane_done" && row["round"] == 2);
        let held = !lanes(&scene, "scout writes 2").is_empty();
        (held && second.count() == 2).then_some(())
    })
    .await;
    scene.world.kill().await;
    std::fs::remove_file(scene.world.work().join("hold.2")).unwrap();
    scene.world.up().await;
    let ended = eventually("the end", LONG, || async {
        let view = status(&scene, &run).await;
        (view["state"] == "ended").then_some(view)
    })
    .await;
    assert_eq!((&ended["reason"], &ended["which"]), (&json!("budget"), &json!("turns")), "{ended:#}");
    assert_eq!(ended["turns"], 8);
    let rounds = count(&scene, "scout.n");
    assert_eq!(rounds, 3, "{ended:#}");
    for n in 1..=rounds {
        assert_eq!(lanes(&scene, &format!("scout writes {n}")).len(), 1, "message {n}");
    }
    assert_eq!(count(&scene, "reviewer.n"), 3);
    // The writer reads its issue once in each of its rounds, and Codex is asked once for each.
    assert_eq!(github.requests().len(), 2, "{ended:#}");
    assert_eq!(model.calls_with("You are the lane writer"), 2, "{ended:#}");
    let asked = std::fs::read_to_string(scene.world.work().join("asked.2.txt")).unwrap();
    assert!(
        asked.contains("found 1") && asked.contains("look at 1") && asked.contains("untrusted"),
        "{asked}"
    );
    let turns = scene.json(&["turn", "list"]).await;
    assert_eq!(turns["items"].as_array().unwrap().len(), 8, "one Turn for each lane-round");
    let again = scene.world.line(&format!("multi-agent resume {run} --json")).await;
    again.fails("invalid_state", 1);
    let tried = scene.world.line(&format!("multi-agent resume {run} --dry-run --json")).await;
    tried.fails("invalid_state", 1);
    assert_eq!(status(&scene, &run).await, ended, "a spent budget is an end");
}

/// CAP-136: a lane that is done ends the run with exit 0; a run that is stopped goes on where it was.
#[tokio::test(flavor = "multi_thread")]
async fn cap_136_a_loop_runs_to_lane_done_and_can_be_stopped_and_resumed() {
    let scene = scene(2).await;
    let lanes = json!([
        {"id": "scout", "agent": "echo", "max_restarts": 1},
        {"id": "reviewer", "agent": "reviewer", "reads": ["scout"]},
    ]);
    let mut file = json!({
        "schema_version": "loom.multi_agent/v1", "id": "short", "objective": "Review", "rounds": {"max": 4},
        "budget": {"turns": 20}, "lanes": lanes, "stop": {"any": [{"lane_done": "reviewer"}]},
    });
    file["lanes"][0]["connectors"] = json!([{"id": "github_public_prob"}]);
    write(&scene, &file);
    let unknown = scene.world.line("multi-agent run loop.json --json").await;
    unknown.fails("connector_not_found", 1);
    file["lanes"][0].as_object_mut().unwrap().remove("connectors");
    write(&scene, &file);
    std::fs::write(scene.world.work().join("hold.1"), "").unwrap();
    let run = scene.json(&["multi-agent", "run", "loop.json", "--detach"]).await["run_id"].clone();
    let run = run.as_str().unwrap();
    eventually("the first message", SOON, || async {
        (count(&scene, "scout.n") == 1 && count(&scene, "reviewer.n") == 1).then_some(())
    })
    .await;
    let busy = scene.world.line("multi-agent run loop.json --json").await;
    busy.fails("locked", 5);
    let stopped = scene.json(&["multi-agent", "stop", run, "--grace", "0s"]).await;
    assert_eq!((&stopped["state"], &stopped["reason"]), (&json!("ended"), &json!("stopped")), "{stopped:#}");
    std::fs::remove_file(scene.world.work().join("hold.1")).unwrap();
    let tried = scene.json(&["multi-agent", "resume", run, "--dry-run"]).await;
    assert_eq!(tried, stopped, "a dry run begins nothing");
    scene.json(&["multi-agent", "resume", run]).await;
    let ended = eventually("the end", LONG, || async {
        let view = status(&scene, run).await;
        (view["state"] == "ended").then_some(view)
    })
    .await;
    assert_eq!((&ended["reason"], &ended["which"]), (&json!("lane_done"), &json!("reviewer")), "{ended:#}");
    assert_eq!(ended["lanes"][1]["summary"], "all reviewed");
    let whole = scene.world.line("multi-agent run loop.json").await;
    assert_eq!(whole.code, 0, "{whole}");
    let listed = scene.json(&["multi-agent"]).await;
    assert_eq!(listed["items"].as_array().unwrap().len(), 2);
}
