//! What a program gets on its standard input.

use serde_json::{Map, Value, json};

use crate::turn_dir::Staged;
use crate::{AgentSpec, Input, InputForm, TurnRequest};

/// Members of `facts` that are passed on.
const FACTS: [&str; 3] = ["item", "membership", "message"];

/// The bytes to write: the texts, or one `loom_turn_input_v1` object.
pub(super) fn stdin(agent: &AgentSpec, turn: &TurnRequest, staged: &[Staged]) -> Vec<u8> {
    match agent.runtime.input {
        InputForm::Text => texts(turn).into_bytes(),
        InputForm::Json => object(agent, turn, staged).to_string().into_bytes(),
    }
}

fn texts(turn: &TurnRequest) -> String {
    let texts = turn.input.iter().filter_map(|input| match input {
        Input::Text(text) => Some(text.as_str()),
        Input::Image(_) | Input::File(_) => None,
    });
    texts.collect::<Vec<_>>().join("\n")
}

fn object(agent: &AgentSpec, turn: &TurnRequest, staged: &[Staged]) -> Value {
    let mut all = Map::new();
    all.insert("schema_version".to_owned(), "loom_turn_input_v1".into());
    all.insert("turn".to_owned(), turn.key.0.as_str().into());
    all.insert("agent".to_owned(), json!({"id": agent.id, "name": agent.name}));
    for name in FACTS {
        all.insert(name.to_owned(), turn.facts.get(name).cloned().unwrap_or(Value::Null));
    }
    all.insert("envelope".to_owned(), texts(turn).into());
    let attachments = staged.iter().map(|one| {
        json!({"path": one.name, "name": one.artifact.name, "mime": one.artifact.mime, "sha256": one.artifact.sha256})
    });
    all.insert("attachments".to_owned(), attachments.collect::<Vec<_>>().into());
    Value::Object(all)
}
