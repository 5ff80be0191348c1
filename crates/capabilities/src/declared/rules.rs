//! The form of a source map as a JSON Schema: every key is known, every text and list has a limit.

use serde_json::{Value, json};

use crate::jq::PROGRAM_BYTES_MAX;

/// Schema name of the file.
pub(super) const SCHEMA: &str = "loom.source_map/v1";
/// Largest answer that a map may ask for.
pub(super) const ANSWER_BYTES_MAX: u64 = 64 * 1024 * 1024;

fn closed(required: &[&str], properties: &Value) -> Value {
    json!({"type": "object", "additionalProperties": false, "required": required, "properties": properties})
}

fn text(most: usize) -> Value {
    json!({"type": "string", "minLength": 1, "maxLength": most})
}

fn word(pattern: &str, most: usize) -> Value {
    json!({"type": "string", "pattern": pattern, "maxLength": most})
}

fn list(of: &Value, least: usize, most: usize) -> Value {
    json!({"type": "array", "items": of, "minItems": least, "maxItems": most})
}

fn texts(most: usize, length: usize) -> Value {
    json!({"type": "object", "maxProperties": most, "additionalProperties": {"type": "string", "maxLength": length}})
}

fn number(least: u64, most: u64) -> Value {
    json!({"type": "integer", "minimum": least, "maximum": most})
}

fn id() -> Value {
    word("^[a-z][a-z0-9_]{1,47}$", 48)
}

fn method() -> Value {
    json!({"enum": ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE"]})
}

/// The whole form.
pub(super) fn rules() -> Value {
    let required =
        ["schema_version", "id", "version", "title", "boundary", "egress", "inputs", "operations", "tests"];
    let mut rules = closed(
        &required,
        &json!({
            "schema_version": {"const": SCHEMA},
            "id": id(),
            "version": word("^[0-9]+\\.[0-9]+\\.[0-9]+(-[0-9A-Za-z.-]+)?$", 40),
            "title": text(120),
            "boundary": {"enum": ["public_metadata", "public_content", "private_read", "gated_write"]},
            "egress": closed(&["hosts"], &json!({"hosts": list(&host(), 1, 20)})),
            "credentials": list(&credential(), 0, 8),
            "resources": texts(8, 100),
            "inputs": {"type": "object"},
            "operations": list(&operation(), 1, 50),
            "tests": list(&test(), 0, 200),
            "stop_conditions": list(&text(120), 0, 10),
        }),
    );
    if let Some(members) = rules.as_object_mut() {
        members.insert("$defs".to_owned(), json!({"fields": fields(), "field": field()}));
    }
    rules
}

fn host() -> Value {
    closed(
        &["host", "methods"],
        &json!({"host": text(253), "port": number(1, 65_535), "methods": list(&method(), 1, 6)}),
    )
}

fn credential() -> Value {
    let place = closed(
        &["kind"],
        &json!({"kind": {"enum": ["bearer", "basic", "header", "query"]}, "name": text(100), "format": text(200)}),
    );
    closed(
        &["name", "hosts", "place"],
        &json!({
            "name": id(), "field": word("^[a-z][a-z0-9_]*$", 48), "hosts": list(&text(260), 1, 20), "place": place,
            "required": {"type": "boolean"},
        }),
    )
}

fn operation() -> Value {
    let path = text(200);
    let request = closed(
        &["method", "url"],
        &json!({
            "method": method(), "url": text(2_000), "query": texts(50, 1_000), "headers": texts(30, 1_000),
            "timeout_seconds": {"type": "number", "minimum": 0.1, "maximum": 600}, "json": {},
            "graphql": closed(&["query"], &json!({"query": text(20_000), "variables": {"type": "object"}})),
        }),
    );
    let response = closed(
        &[],
        &json!({
            "format": {"enum": ["json", "yaml", "ndjson", "csv", "text"]},
            "max_bytes": number(1_024, ANSWER_BYTES_MAX),
            "expect_status": list(&number(200, 299), 1, 20), "items": path,
        }),
    );
    let pagination = closed(
        &["kind"],
        &json!({
            "kind": {"enum": ["none", "link_header", "cursor", "page", "offset", "next_url"]}, "param": text(100),
            "next": path, "items": path, "max_pages": number(1, 10_000), "start": number(0, 1_000_000),
            "size_param": text(100), "size": number(0, 10_000),
        }),
    );
    let rate = closed(
        &["per_second"],
        &json!({
            "per_second": {"type": "number", "minimum": 0.01, "maximum": 100}, "burst": number(1, 1_000),
            "concurrency": number(1, 64),
        }),
    );
    closed(
        &["id", "effect", "request", "fields"],
        &json!({
            "id": id(), "about": text(120), "effect": {"enum": ["read", "write"]}, "gate": {"const": "exact"},
            "idempotency": {"type": ["object", "string"]}, "request": request, "response": response,
            "pagination": pagination, "rate": rate, "projection": text(PROGRAM_BYTES_MAX),
            "fields": {"$ref": "#/$defs/fields"},
        }),
    )
}

fn fields() -> Value {
    json!({
        "type": "object", "minProperties": 1, "maxProperties": 200, "additionalProperties": {"$ref": "#/$defs/field"},
        "propertyNames": {"pattern": "^[A-Za-z_][A-Za-z0-9_]{0,63}$"},
    })
}

fn field() -> Value {
    let types = [
        "string", "integer", "number", "decimal", "boolean", "date", "datetime", "url", "enum", "list",
        "record",
    ];
    closed(
        &["type"],
        &json!({
            "type": {"enum": types}, "required": {"type": "boolean"}, "nullable": {"type": "boolean"},
            "max": number(1, 150_000), "trust": {"enum": ["trusted", "untrusted"]}, "values": list(&text(200), 1, 200),
            "hosts": list(&text(253), 1, 50), "of": {"$ref": "#/$defs/field"}, "max_items": number(1, 10_000),
            "fields": {"$ref": "#/$defs/fields"},
        }),
    )
}

fn test() -> Value {
    let request = closed(
        &["path"],
        &json!({
            "method": method(), "host": text(253), "path": text(2_000), "query": texts(50, 1_000),
            "headers": texts(30, 1_000), "json": {}, "credential": text(48),
        }),
    );
    let response = closed(
        &["status"],
        &json!({
            "status": number(200, 599), "json": {}, "text": {"type": "string"}, "content_type": text(200),
            "headers": texts(30, 2_000),
        }),
    );
    let exchange = closed(&["request", "response"], &json!({"request": request, "response": response}));
    let count = number(0, 1_000_000);
    let expect = closed(
        &["ok"],
        &json!({
            "ok": {"type": "boolean"}, "error": text(60), "item_count": count, "complete": {"type": "boolean"},
            "requests": count, "dropped_fields": count, "items": list(&json!({"type": "object"}), 0, 1_000),
            "fields": {"type": "object"},
        }),
    );
    closed(
        &["name", "operation", "expect"],
        &json!({
            "name": text(120), "operation": id(), "input": {"type": "object"}, "exchanges": list(&exchange, 0, 50),
            "expect": expect,
        }),
    )
}
