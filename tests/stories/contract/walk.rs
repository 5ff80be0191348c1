//! Every command of the program is walked: what reads in `lines`, what changes here, for real, once in each form.

use serde_json::Value;

use super::lines::READS;
use super::{Form, Placeholders, in_form};
use crate::harness::Scene;

/// Lines that change something, in the order of a day, with their exit status. `{N}` is another number in each form.
const CHANGES: &[(&str, i32)] = &[
    ("agent create walker{N} --runtime command -- /bin/cat", 0),
    ("agent archive walker{N} --confirm walker{N}", 0),
    ("agent restore walker{N}", 0),
    ("agent rename walker{N} walked{N}", 0),
    ("agent update walked{N} --model m1 --max-turn 1h", 0),
    ("agent pause walked{N}", 0),
    ("agent resume walked{N}", 0),
    ("thread send walked{N} --body hello --wait --timeout 60s", 0),
    ("integration connect slack --account AWALK{N} --scope T9 --credential-ref env:NOT_READ", 0),
    ("integration update-connection {CON2} --credential-ref env:NOT_READ{N}", 0),
    ("integration bind {AGENT} {CON2} --identity slack://T9/U9WALK{N}", 0),
    ("integration update-address {ADR2} --block-actors U9BAD{N}", 0),
    ("integration enable {ADR2}", 0),
    ("integration disable {ADR2}", 0),
    ("integration enable {CON2}", 0),
    ("integration disable {CON2}", 0),
    ("integration token {CON2} --out token{N}.txt", 0),
    ("integration probe {CON}", 0),
    ("integration probe {CON2}", 4),
    ("integration probe con_{GONE}", 1),
    ("integration test {MEM} --timeout 60s", 0),
    ("integration test mem_{GONE}", 1),
    ("integration send --from {AGENT} --reply-to {SEND{N}} --body by~hand", 0),
    ("integration send --from {AGENT} --to {MEM} --idempotency-key k{N} --body hello", 0),
    ("conversation set {ADR} C9WALK{N} --type channel --purpose p", 0),
    ("conversation enable {WALK{N}} --keep-pending", 0),
    ("conversation disable {WALK{N}}", 0),
    ("conversation archive {WALK{N}} --confirm {WALK{N}}", 0),
    ("inbox reply {REPLY{N}} --body by~hand", 0),
    ("inbox defer {LATER} --for 1h --reason later", 0),
    ("inbox no-reply {LATER} --reason done", 0),
    ("inbox cancel {CANCEL{N}} --reason gone", 0),
    ("inbox retry {INB}", 1),
    ("inbox release {INB} --attachment art_{GONE}", 1),
    ("inbox refused replay {EVT}", 0),
    ("outbox retry {OUT}", 1),
    ("outbox cancel {OUT}", 1),
    ("outbox settle {OUT} --sent --confirm {OUT}", 1),
    ("policy replay --since 1h --draft draft.json", 0),
    ("notices ack ntc_{GONE}", 1),
    ("capability grant {AGENT} finance_probe --op probe --expires 1h", 0),
    ("capability revoke grt_{GONE}", 1),
    ("value-connectors approve op_{GONE} --gate apr_{GONE} --call-digest sha256:0", 1),
    ("value-connectors run op_{GONE}", 1),
    (
        "value-connectors http-webhook endpoint add hook{N} --url https://hooks.example/in --secret-ref env:NOT_READ",
        0,
    ),
    ("value-connectors http-webhook endpoint list", 0),
    ("value-connectors http-webhook endpoint show hook{N}", 0),
    ("value-connectors http-webhook endpoint disable hook{N}", 0),
    ("value-connectors http-webhook deliver --endpoint hook{N} --type a.b --data draft.json", 1),
    ("value-connectors http-webhook endpoint enable hook{N}", 0),
    ("value-connectors http-webhook receive --route hook{N}", 0),
    ("value-connectors http-webhook endpoint remove hook{N}", 0),
    (
        "periodic-report schedule add night{N} --cron 0~9~*~*~1 --tz Europe/Berlin --to {MEM} --formats html,json",
        0,
    ),
    ("periodic-report schedule add night0 --cron @daily --tz UTC", 1),
    ("periodic-report schedule enable night{N}", 0),
    ("periodic-report schedule show night{N}", 0),
    ("periodic-report schedule disable night{N}", 0),
    ("periodic-report schedule remove night{N}", 0),
    ("turn schedule add night{N} --cron @weekly --tz UTC --config turn.json", 0),
    ("turn schedule enable night{N}", 0),
    ("turn schedule show night{N}", 0),
    ("turn schedule disable night{N}", 0),
    ("turn schedule remove night{N} --dry-run", 0),
    ("turn schedule remove night{N}", 0),
    ("turn schedule remove night{N}", 1),
];

/// Commands that no line here can walk, each with the place that does.
const ELSEWHERE: &[(&str, &str)] = &[
    ("demo", "canary: runs until it is stopped"),
    ("up", "every story: runs until it is stopped"),
    ("down", "supervision: ends the hub"),
    ("status serve", "status: runs until it is stopped"),
    ("integration-branch init", "branch: needs a repository"),
    ("integration-branch export", "branch: needs a repository"),
    ("integration-branch diff", "branch: needs a repository"),
    ("integration-branch propose", "branch: needs a repository"),
    ("integration-branch apply", "branch: needs a repository"),
    ("integration-branch rollback", "branch: needs a repository"),
    ("periodic-report run", "report: makes a report and delivers it"),
    ("periodic-report show", "report: shows the report that was made"),
    ("doctor", "newcomer: answers by what it finds"),
    ("twin slack", "peers: runs until it is stopped"),
    ("twin model", "peers: runs until it is stopped"),
    ("twin github", "peers: runs until it is stopped"),
    ("twin sec", "connectors on the twin: runs until it is stopped"),
    ("twin lark", "connectors on the twin: runs until it is stopped"),
    ("value-connectors http-webhook verify", "hooks: its files are a delivery's"),
    ("http get", "the program's own tests of the door out"),
    ("http post", "the program's own tests of the door out"),
    ("requests show", "the program's own tests of the request log"),
    ("redact check", "the program's own tests: exit 6 on a hit"),
    ("value-connectors history prune", "the program's own tests of connectors"),
    ("value-connectors validate", "the program's own tests of source maps"),
    ("value-connectors test", "the program's own tests of source maps"),
    ("value-connectors add", "the program's own tests of source maps"),
    ("value-connectors remove", "the program's own tests of source maps"),
    ("multi-agent run", "multi-agent: waits for an end"),
    ("multi-agent status", "multi-agent"),
    ("multi-agent stop", "multi-agent"),
    ("multi-agent resume", "multi-agent"),
    ("multi-agent logs", "multi-agent"),
    ("multi-agent report", "multi-agent: said by the Agent of a lane"),
    ("turn run", "the program's own tests of Turns"),
    ("turn show", "the program's own tests of Turns"),
    ("turn resume", "the program's own tests of Turns"),
    ("turn payload", "turns: read by the Agent of a Turn"),
    ("turn cancel", "the program's own tests of Turns"),
    ("secret set", "the program's own tests of the vault"),
    ("secret list", "the program's own tests of the vault"),
    ("secret rm", "the program's own tests of the vault"),
    ("secret test", "the program's own tests of the vault"),
    ("thread tail", "below: a stream has no one document"),
    ("completions", "failures: prints a script for a shell"),
    ("man", "the program's own tests: writes a folder"),
];

/// The command that a line calls: the longest path that it begins with.
fn command_of<'a>(line: &str, commands: &'a [String]) -> Option<&'a String> {
    let begins = |path: &&String| line == **path || line.starts_with(&format!("{path} "));
    commands.iter().filter(begins).max_by_key(|path| path.len())
}

#[tokio::test(flavor = "multi_thread")]
async fn msg_001_every_command_is_walked() {
    let scene = Scene::new().await;
    let listed = scene.json(&["commands"]).await;
    let commands: Vec<String> = serde_json::from_value::<Vec<Value>>(listed["items"].clone())
        .unwrap()
        .iter()
        .map(|item| item["command"].as_str().unwrap().to_owned())
        .collect();
    let lines = READS.iter().copied().chain(CHANGES.iter().map(|(line, _)| *line));
    let lines: Vec<&str> = lines.chain(ELSEWHERE.iter().map(|(command, _)| *command)).collect();
    let walked: Vec<&String> = lines.iter().filter_map(|line| command_of(line, &commands)).collect();
    let missing: Vec<&String> = commands.iter().filter(|command| !walked.contains(command)).collect();
    assert!(missing.is_empty(), "no line walks {missing:?}");
    for (command, _) in ELSEWHERE {
        assert!(commands.iter().any(|known| known == command), "`{command}` is no command any more");
    }
    let ids = prepare(&scene).await;
    for (line, exit) in CHANGES {
        for (n, form) in Form::ALL.into_iter().enumerate() {
            in_form(&scene, &ids, &line.replace("{N}", &n.to_string()), *exit, form).await;
        }
    }
    for form in ["human", "json", "ndjson"] {
        let tail = scene.world.line(&format!("thread tail echo --since 0 --format {form}")).await.ok();
        assert!(tail.stdout.contains("turn.changed"), "{tail}");
        let mut documents = serde_json::Deserializer::from_str(&tail.stdout).into_iter::<Value>();
        assert!(
            form == "human" || documents.all(|event| event.is_ok_and(|event| event.is_object())),
            "{tail}"
        );
        assert!(form != "ndjson" || tail.lines().iter().all(Value::is_object), "{tail}");
    }
}

/// A scene with one of everything that the lines change.
async fn prepare(scene: &Scene) -> Placeholders {
    let mut ids = Placeholders::of(scene).await;
    let run = async |line: String| scene.world.line(&format!("{line} --json")).await.ok();
    let connect = "integration connect slack --account A9 --scope T9 --credential-ref env:NOT_READ";
    let connection = run(connect.to_owned()).await.id();
    let bind = format!("integration bind echo {connection} --identity slack://T9/U9BOT");
    ids.add("ADR2", run(bind).await.id());
    ids.add("CON2", connection);
    run(format!("conversation set {} C0GENERAL --outbound-policy proactive", scene.address)).await;
    for n in 0..Form::ALL.len() {
        let set = format!("conversation set {} C8WALK{n} --type channel", scene.address);
        ids.add(&format!("WALK{n}"), run(set).await.id());
    }
    run("agent pause echo".to_owned()).await;
    let names = ["SEND", "REPLY", "CANCEL"].iter().flat_map(|name| (0..3).map(move |n| format!("{name}{n}")));
    for name in names.chain(["LATER".to_owned()]) {
        let text = format!("this waits for {name}.");
        scene.ann_writes(&text);
        let item = scene.item_is(&text, "queued").await;
        ids.add(&name, item["item"]["id"].as_str().unwrap().to_owned());
    }
    let draft = serde_json::json!({"connections": [], "addresses": [], "memberships": []});
    std::fs::write(scene.world.work().join("draft.json"), draft.to_string()).unwrap();
    let turn = serde_json::json!({"connectors": [{"connector": "github_public_probe"}]});
    std::fs::write(scene.world.work().join("turn.json"), turn.to_string()).unwrap();
    ids
}
