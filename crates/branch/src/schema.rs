//! Schemas of the files, made of the fields and words that the domain knows.

use loom_capabilities::Schema;
use loom_domain::connection::GatewayMode;
use loom_domain::integration::Kind;
use loom_domain::{
    AttachmentPolicy, Capability, ConversationType, DmPolicy, OutboundPolicy, RefusalBody, ReplyPolicy,
    TriggerPolicy,
};
use serde_json::{Map, Value, json};

use crate::files::SCHEMA;

const DRAFT: &str = "https://json-schema.org/draft/2020-12/schema";

/// A file below the directory and its schema.
#[derive(Debug, Clone)]
pub struct FileForm {
    /// `loom.NAME/vN`.
    pub name: &'static str,
    /// What it is.
    pub about: &'static str,
    /// Its schema.
    pub schema: Schema,
}

/// Every kind of file of an integration branch.
pub fn file_forms() -> Vec<FileForm> {
    let one = |name, about, value| FileForm { name, about, schema: Schema::given(value) };
    vec![
        one(SCHEMA, "integration.yaml of an integration branch", index()),
        one(
            "loom.integration_connection/v1",
            "connections/NAME.yaml of an integration branch",
            object(Kind::Connections),
        ),
        one(
            "loom.integration_address/v1",
            "addresses/NAME.yaml of an integration branch",
            object(Kind::Addresses),
        ),
        one(
            "loom.integration_membership/v1",
            "memberships/NAME.yaml of an integration branch",
            object(Kind::Memberships),
        ),
    ]
}

fn index() -> Value {
    let counts: Map<String, Value> =
        Kind::ALL.iter().map(|kind| (kind.to_string(), json!({"type": "integer", "minimum": 0}))).collect();
    json!({
        "$schema": DRAFT, "type": "object", "required": ["schema_version"],
        "properties": {
            "schema_version": {"const": SCHEMA}, "hub_digest": {"type": "string"},
            "objects": {"type": "object", "additionalProperties": false, "properties": counts},
        },
    })
}

fn object(kind: Kind) -> Value {
    let properties: Map<String, Value> =
        kind.fields().iter().map(|name| ((*name).to_owned(), field(kind, name))).collect();
    json!({
        "$schema": DRAFT, "type": "object", "additionalProperties": false,
        "required": kind.identity(), "properties": properties,
    })
}

/// What a field holds. One that may be emptied may be null.
fn field(kind: Kind, name: &str) -> Value {
    if kind.lists().contains(&name) {
        return json!({"type": "array", "items": {"type": "string"}});
    }
    // A Membership without a policy of its own follows its Address.
    let follows = kind == Kind::Memberships;
    match name {
        "enabled" | "allowHttp" => json!({"type": "boolean"}),
        "ttlSeconds" | "proactivePerHour" => json!({"type": "integer", "minimum": 0}),
        "capabilities" => json!({"type": "array", "items": words(Capability::ALL, false)}),
        "gatewayMode" => words(GatewayMode::ALL, false),
        "triggerPolicy" => words(TriggerPolicy::ALL, follows),
        "replyPolicy" => words(ReplyPolicy::ALL, follows),
        "dmPolicy" => words(DmPolicy::ALL, false),
        "attachmentPolicy" => words(AttachmentPolicy::ALL, false),
        "refusalBody" => words(RefusalBody::ALL, false),
        "outboundPolicy" => words(OutboundPolicy::ALL, false),
        "conversationType" => words(ConversationType::ALL, false),
        "quietHours" => {
            let text = json!({"type": "string"});
            json!({
                "type": ["object", "null"], "additionalProperties": false, "required": ["tz", "from", "to"],
                "properties": {"tz": text, "from": text, "to": text},
            })
        }
        name if kind.identity().contains(&name) && name != "scopeRef" => json!({"type": "string"}),
        _ => json!({"type": ["string", "null"]}),
    }
}

fn words<T: ToString>(all: &[T], may_be_null: bool) -> Value {
    let mut words: Vec<Value> = all.iter().map(|word| json!(word.to_string())).collect();
    if may_be_null {
        words.push(Value::Null);
    }
    json!({"enum": words})
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_of_file_has_a_form_with_all_its_fields() {
        let forms = file_forms();
        assert_eq!(forms.len(), Kind::ALL.len() + 1);
        for (form, kind) in forms.iter().skip(1).zip(Kind::ALL) {
            let schema = form.schema.value();
            let properties = schema["properties"].as_object().unwrap();
            let named: Vec<&str> = properties.keys().map(String::as_str).collect();
            assert_eq!(named, kind.fields(), "{}", form.name);
        }
        assert_eq!(forms[3].schema.value()["properties"]["triggerPolicy"]["enum"][0], "mention");
    }
}
