//! Records that several GitHub connectors give.

use loom_domain::Timestamp;
use schemars::JsonSchema;
use serde_json::Value;

/// Where an issue, pull request or discussion is.
#[derive(JsonSchema)]
#[expect(dead_code, reason = "its schema is what counts")]
pub(crate) struct Ref {
    #[schemars(length(max = 39))]
    owner: String,
    #[schemars(length(max = 100))]
    repo: String,
    #[schemars(length(max = 20))]
    kind: String,
    number: u32,
    #[schemars(length(max = 300))]
    url: String,
}

/// Who wrote something.
#[derive(JsonSchema)]
#[expect(dead_code, reason = "its schema is what counts")]
pub(crate) struct Author {
    #[schemars(length(max = 100))]
    login: String,
    id: Option<u64>,
    #[schemars(length(max = 30))]
    r#type: Option<String>,
}

/// An author as results show it; a deleted account is null.
pub(crate) fn author(user: Option<Value>) -> Value {
    let mut user = user.unwrap_or_default();
    if let Some(kind) = user.get_mut("type")
        && let Some(text) = kind.as_str()
    {
        *kind = text.to_ascii_lowercase().into();
    }
    user
}

/// Trust in an author by the association with the repository.
pub(crate) fn trust(association: &Value, author: &Value) -> &'static str {
    let is_bot = author.get("type").is_some_and(|kind| kind == "bot");
    trust_of(association.as_str().unwrap_or_default(), is_bot)
}

/// The same for what was read already.
pub(crate) fn trust_of(association: &str, is_bot: bool) -> &'static str {
    if is_bot {
        return "bot";
    }
    match association {
        "OWNER" => "owner",
        "MEMBER" => "member",
        "COLLABORATOR" => "collaborator",
        "CONTRIBUTOR" => "contributor",
        "FIRST_TIMER" | "FIRST_TIME_CONTRIBUTOR" => "first_time",
        _ => "none",
    }
}

/// Whether somebody with that trust speaks for the repository.
pub(crate) fn speaks_for_it(trust: &str) -> bool {
    matches!(trust, "owner" | "member" | "collaborator")
}

/// A time of the provider in Loom's form; null when it is none.
pub(crate) fn time(text: &Value) -> Value {
    let time = text.as_str().and_then(|text| text.parse::<Timestamp>().ok());
    time.map_or(Value::Null, |time| Value::String(time.to_string()))
}
