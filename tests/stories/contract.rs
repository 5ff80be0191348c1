//! The command line's contract: each line of the guide in three forms, with the exit codes of the specification.

mod failures;
mod lines;

use serde_json::Value;

use crate::harness::{Output, Scene};

/// Ids of a scene that has seen a little traffic, by the word that stands for them in a line.
pub(crate) struct Placeholders(Vec<(&'static str, String)>);

impl Placeholders {
    async fn of(scene: &Scene) -> Self {
        scene.ann_writes("for the guide");
        scene.seen("echo: for the guide").await;
        let entry = scene.item_is("for the guide", "handled").await;
        let text = |path: &str| entry.pointer(path).and_then(Value::as_str).unwrap().to_owned();
        scene.world.twin.post(loom_twins::slack::Post::mention("C0DOCS", "U0ANN", "refused")).unwrap();
        let event = crate::harness::eventually("a refusal", crate::harness::SOON, || async {
            let list = scene.json(&["inbox", "refused"]).await;
            list["items"].as_array()?.first()?["id"].as_str().map(str::to_owned)
        })
        .await;
        Placeholders(vec![
            ("CON", scene.connection.clone()),
            ("ADR", scene.address.clone()),
            ("MEM", scene.channel.clone()),
            ("INB", text("/item/id")),
            ("OUT", text("/outboxItems/0/id")),
            ("EVT", event),
            ("AGENT", "echo".to_owned()),
            ("GONE", "01arz3ndektsv4rrffq69g5fav".to_owned()),
        ])
    }

    /// The words of a line; `{CON}` and its like are filled, `~` stands for a space.
    fn words(&self, line: &str) -> Vec<String> {
        let fill = |word: &str| {
            let filled = self
                .0
                .iter()
                .fold(word.to_owned(), |word, (name, id)| word.replace(&format!("{{{name}}}"), id));
            filled.replace('~', " ")
        };
        line.split_whitespace().map(fill).collect()
    }
}

/// Runs a line with further words.
async fn run(scene: &Scene, words: &[String], more: &[&str]) -> Output {
    let at = words.iter().position(|word| word == "--").unwrap_or(words.len());
    let all: Vec<&str> = words[..at]
        .iter()
        .map(String::as_str)
        .chain(more.iter().copied())
        .chain(words[at..].iter().map(String::as_str))
        .collect();
    scene.world.loom(&all).await
}

/// Runs a line in its three forms; each must end with the status and be of its form.
async fn in_three_forms(scene: &Scene, ids: &Placeholders, line: &str, exit: i32) {
    let words = ids.words(line);
    let human = run(scene, &words, &[]).await;
    assert_eq!(human.code, exit, "{human}");
    assert!(!human.stdout.contains('\u{1b}') && !human.stderr.contains('\u{1b}'), "MSG-019: {human}");
    let said = !human.stdout.trim().is_empty() || !human.stderr.trim().is_empty();
    assert!(said, "{human}");
    let json = run(scene, &words, &["--format", "json"]).await;
    assert_eq!(json.code, exit, "{json}");
    assert!(json.json().is_object() || json.json().is_array(), "{json}");
    let ndjson = run(scene, &words, &["--format=ndjson"]).await;
    assert_eq!(ndjson.code, exit, "{ndjson}");
    ndjson.lines().iter().for_each(|line| assert!(line.is_object(), "{ndjson}"));
    if exit != 0 {
        let error = &json.json()["error"];
        assert!(error["code"].is_string() && error["message"].is_string(), "MSG-016: {json}");
        assert!(human.stdout.is_empty() && !human.stderr.is_empty(), "{human}");
    }
}

/// The version of everything: rows of the audit chain and the newest change.
async fn state_of(scene: &Scene) -> String {
    let audit = scene.json(&["audit", "verify"]).await;
    let status = scene.json(&["status"]).await;
    format!("{} {} {}", audit["head"], status["inbox"], status["outbox"])
}
