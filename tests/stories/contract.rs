//! The command line's contract: each line of the guide in three forms, with the exit codes of the specification.

mod failures;
mod lines;
mod walk;

use serde_json::Value;

use crate::harness::{Output, Scene};

/// Ids of a scene that has seen a little traffic, by the word that stands for them in a line.
pub(crate) struct Placeholders(Vec<(String, String)>);

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
        let ids = [
            ("CON", scene.connection.clone()),
            ("ADR", scene.address.clone()),
            ("MEM", scene.channel.clone()),
            ("INB", text("/item/id")),
            ("OUT", text("/outboxItems/0/id")),
            ("EVT", event),
            ("AGENT", "echo".to_owned()),
            ("GONE", "01arz3ndektsv4rrffq69g5fav".to_owned()),
        ];
        Placeholders(ids.map(|(name, id)| (name.to_owned(), id)).to_vec())
    }

    fn add(&mut self, name: &str, id: String) {
        self.0.push((name.to_owned(), id));
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

/// A form of what is printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Form {
    Human,
    Json,
    Ndjson,
}

impl Form {
    const ALL: [Form; 3] = [Form::Human, Form::Json, Form::Ndjson];
}

/// Runs a line in its three forms; each must end with the status and be of its form.
async fn in_three_forms(scene: &Scene, ids: &Placeholders, line: &str, exit: i32) {
    for form in Form::ALL {
        in_form(scene, ids, line, exit, form).await;
    }
}

/// Runs a line in one form; it must end with the status and be of that form.
async fn in_form(scene: &Scene, ids: &Placeholders, line: &str, exit: i32, form: Form) {
    let flags: &[&str] = match form {
        Form::Human => &[],
        Form::Json => &["--format", "json"],
        Form::Ndjson => &["--format=ndjson"],
    };
    let output = run(scene, &ids.words(line), flags).await;
    assert_eq!(output.code, exit, "{output}");
    assert!(!output.stdout.contains('\u{1b}') && !output.stderr.contains('\u{1b}'), "MSG-019: {output}");
    match form {
        Form::Human => {
            let (data, talk) = (output.stdout.trim(), output.stderr.trim());
            assert!(!data.is_empty() || !talk.is_empty(), "{output}");
            assert!(exit == 0 || (data.is_empty() && !talk.is_empty()), "{output}");
        }
        Form::Json => {
            let document = output.json();
            assert!(document.is_object() || document.is_array(), "{output}");
            let error = &document["error"];
            let told = error["code"].is_string() && error["message"].is_string();
            assert!(exit == 0 || told, "MSG-016: {output}");
        }
        Form::Ndjson => assert!(output.lines().iter().all(Value::is_object), "{output}"),
    }
}

/// The version of everything: rows of the audit chain and the newest change.
async fn state_of(scene: &Scene) -> String {
    let audit = scene.json(&["audit", "verify"]).await;
    let status = scene.json(&["status"]).await;
    format!("{} {} {}", audit["head"], status["inbox"], status["outbox"])
}
