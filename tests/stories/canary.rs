//! Secrets that a provider throws back at us, in every way and form, come out nowhere.

mod forms;
mod parrot;

use std::path::Path;

use loom_twins::slack::{Config, Fault, FaultAction, Post};

use crate::harness::{SOON, Scene, Setup, eventually};
use forms::forms;
use parrot::Parrot;

const BOT: &str = "xoxb-7770001112223-Canary/Plus+And=Equals&More";
const APP: &str = "xapp-1-A0001-8880001112223-canary/app+TOKEN=value&rest";
/// Writes its environment and arguments beside its answer; the folder is searched too.
const AGENT: &str = "#!/bin/sh
(env; echo \"$0 $*\") > environment.txt
sed -n 's/^| //p' | tail -n 1
";

async fn scene() -> Scene {
    let slack =
        Config { bot_tokens: vec![BOT.into()], app_tokens: vec![APP.into()], ..Setup::default().slack };
    let settings = "[log]\nlevel = \"trace\"\n".to_owned();
    Scene::with(Setup { slack, settings, ..Setup::default() }, AGENT).await
}

#[tokio::test(flavor = "multi_thread")]
async fn msg_228_atk_29_id_20_canaries_come_out_nowhere() {
    let scene = scene().await;
    echoed_in_faults(&scene).await;
    echoed_by_people(&scene).await;
    echoed_by_a_hostile_endpoint(&scene).await;
    let mut found = Vec::new();
    for (source, bytes) in everything(&scene).await {
        for secret in [BOT, APP] {
            let hits = forms(secret).into_iter().filter(|(_, form)| holds(&bytes, form.as_bytes()));
            found.extend(hits.map(|(name, _)| format!("{source}: {name} of {}…", &secret[..6])));
        }
    }
    assert!(found.is_empty(), "secrets came out:\n{}", found.join("\n"));
}

/// Error codes of the provider that hold the token.
async fn echoed_in_faults(scene: &Scene) {
    for (n, secret) in [BOT, APP].into_iter().enumerate() {
        let action = FaultAction::Error { code: format!("bad token {secret}") };
        scene.world.twin.fault(Fault::once("chat.postMessage", action));
        let text = format!("fault {n}");
        scene.ann_writes(&text);
        scene.reply_is(&text, "failed", SOON).await;
    }
}

/// Messages, file names and files of people that hold it, raw and encoded; the Agent repeats them.
async fn echoed_by_people(scene: &Scene) {
    for secret in [BOT, APP] {
        for (n, (_, form)) in forms(secret).into_iter().enumerate() {
            let text = format!("case {n} look {form} here");
            let mut post = Post::new("D0ANN", "U0ANN", &text);
            post.typed = true;
            let ts = scene.world.twin.post(post).unwrap().ts;
            settled(scene, &ts).await;
        }
        let named = Post::new("D0ANN", "U0ANN", "with a name")
            .with_file(&format!("{}.txt", secret.replace('/', "_")), b"x");
        let ts = scene.world.twin.post(named).unwrap().ts;
        settled(scene, &ts).await;
    }
}

/// Waits until the message has its verdict.
async fn settled(scene: &Scene, ts: &str) {
    let link = format!("slack:D0ANN/{ts}");
    eventually(&format!("a verdict for {link}"), SOON * 2, || async {
        let told = scene.world.loom(&["where", &link, "--json"]).await;
        let waits = ["WAITING", "UNKNOWN"];
        (told.code == 0 && !waits.contains(&told.json()["verdict"].as_str()?)).then_some(())
    })
    .await;
}

/// A Connection to a server that echoes the credential in body, headers and URLs of all its answers.
async fn echoed_by_a_hostile_endpoint(scene: &Scene) {
    let parrot = Parrot::start().await;
    let url = parrot.base_url();
    let words = [
        "integration",
        "connect",
        "slack",
        "--account",
        "A0002",
        "--credential-ref",
        "env:SLACK_TWIN",
        "--api-url",
        &url,
        "--gateway",
        "managed",
        "--json",
    ];
    let connection = scene.world.loom(&words).await.ok().id();
    scene.world.loom(&["integration", "enable", &connection, "--json"]).await.ok();
    for _ in 0..parrot::TEMPERS {
        scene.world.loom(&["integration", "probe", &connection, "--json"]).await;
        parrot.next_temper();
    }
    eventually("calls of the hostile endpoint", SOON, || async { (parrot.calls() > 1).then_some(()) }).await;
    scene.world.loom(&["integration", "status", &connection]).await;
    scene.world.loom(&["integration", "status", &connection, "--json"]).await;
}

/// Everything that came out: each file of the home and the work folder, outputs, and answers of the API.
async fn everything(scene: &Scene) -> Vec<(String, Vec<u8>)> {
    let mut all = vec![("outputs".to_owned(), scene.world.said().into_bytes())];
    let lists = [
        "/v1/status",
        "/v1/agents",
        "/v1/agents/echo",
        "/v1/agents/echo/thread",
        "/v1/connections",
        "/v1/addresses",
        "/v1/candidates?all=true",
        "/v1/memberships",
        "/v1/inbox?limit=500",
        "/v1/outbox?limit=500",
        "/v1/refusals?limit=500",
        "/v1/notices",
        "/v1/audit?limit=500",
        "/metrics",
        "/v1/metrics",
        "/readyz",
    ];
    for path in lists {
        let answer = scene.world.client().get(path).run_bytes().await;
        let bytes = answer.unwrap_or_else(|error| panic!("{path}: {error}"));
        all.push((path.to_owned(), bytes.to_vec()));
    }
    files(scene.world.room(), &mut all);
    for name in ["home/db/loom.db", "work/environment.txt"] {
        assert!(all.iter().any(|(source, _)| source.ends_with(name)), "{name} is searched too");
    }
    all
}

fn files(folder: &Path, all: &mut Vec<(String, Vec<u8>)>) {
    for entry in std::fs::read_dir(folder).unwrap().flatten() {
        let path = entry.path();
        match entry.file_type().unwrap() {
            kind if kind.is_dir() => files(&path, all),
            kind if kind.is_file() => {
                all.push((path.display().to_string(), std::fs::read(&path).unwrap_or_default()));
            }
            _ => {}
        }
    }
}

fn holds(bytes: &[u8], form: &[u8]) -> bool {
    bytes.windows(form.len()).any(|window| window == form)
}
