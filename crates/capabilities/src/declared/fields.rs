//! Typed fields: their schema, and values in their canonical form.

use std::collections::BTreeMap;

use loom_domain::Timestamp;
use serde::Deserialize;
use serde_json::{Map, Value, json};

/// Characters of a text that says nothing else.
const TEXT_CHARS: usize = 2_000;
/// Characters of a URL that says nothing else.
const URL_CHARS: usize = 2_048;
/// Digits of a decimal.
const DECIMAL_CHARS: usize = 64;
/// Entries of a list that says nothing else.
const LIST_ENTRIES: usize = 1_000;
/// Whole numbers beyond this are not whole for certain in floating point.
const SAFE_FLOAT: f64 = 9_007_199_254_740_992.0;

/// Named fields.
pub(super) type Fields = BTreeMap<String, Field>;

/// What a field holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Type {
    String,
    Integer,
    Number,
    Decimal,
    Boolean,
    Date,
    Datetime,
    Url,
    Enum,
    List,
    Record,
}

/// One field.
#[derive(Debug, Clone, Deserialize)]
pub(super) struct Field {
    pub(super) r#type: Type,
    #[serde(default)]
    pub(super) required: bool,
    #[serde(default)]
    pub(super) nullable: bool,
    pub(super) max: Option<usize>,
    pub(super) trust: Option<String>,
    #[serde(default)]
    pub(super) values: Vec<String>,
    #[serde(default)]
    pub(super) hosts: Vec<String>,
    pub(super) of: Option<Box<Field>>,
    pub(super) max_items: Option<usize>,
    #[serde(default)]
    pub(super) fields: Fields,
}

/// The schema of a record of these fields.
pub(super) fn schema(fields: &Fields) -> Value {
    let properties: Map<String, Value> =
        fields.iter().map(|(name, field)| (name.clone(), field.schema())).collect();
    let required = fields.iter().filter(|(_, field)| field.required).map(|(name, _)| name.as_str());
    let required: Vec<&str> = required.collect();
    json!({"type": "object", "additionalProperties": false, "properties": properties, "required": required})
}

/// The record with its declared values in canonical form. A value of another type becomes one that no schema takes.
pub(super) fn canonical(fields: &Fields, record: Value) -> Value {
    let Value::Object(mut members) = record else { return record };
    for (name, field) in fields {
        if let Some(member) = members.get_mut(name) {
            *member = field.canonical(member.take());
        }
    }
    Value::Object(members)
}

impl Field {
    fn schema(&self) -> Value {
        let (kind, mut schema) = match self.r#type {
            Type::String => ("string", json!({"maxLength": self.max.unwrap_or(TEXT_CHARS)})),
            Type::Integer => ("integer", json!({})),
            Type::Number => ("number", json!({})),
            Type::Decimal => ("string", json!({"maxLength": DECIMAL_CHARS})),
            Type::Boolean => ("boolean", json!({})),
            Type::Date => ("string", json!({"format": "date", "maxLength": 10})),
            Type::Datetime => ("string", json!({"format": "date-time", "maxLength": 30})),
            Type::Url => ("string", json!({"format": "uri", "maxLength": self.max.unwrap_or(URL_CHARS)})),
            Type::Enum => ("string", json!({"enum": self.values})),
            Type::List => {
                let items = self.of.as_ref().map_or(json!({"type": "string"}), |of| of.schema());
                ("array", json!({"items": items, "maxItems": self.max_items.unwrap_or(LIST_ENTRIES)}))
            }
            Type::Record => ("object", schema(&self.fields)),
        };
        let may_be_null = self.nullable || !self.required;
        let kind = if may_be_null { json!([kind, "null"]) } else { json!(kind) };
        if let Some(members) = schema.as_object_mut() {
            members.insert("type".to_owned(), kind);
            if let (true, Some(Value::Array(words))) = (may_be_null, members.get_mut("enum")) {
                words.push(Value::Null);
            }
            if let Some(trust) = &self.trust {
                members.insert("x-trust".to_owned(), trust.as_str().into());
            }
        }
        schema
    }

    fn canonical(&self, value: Value) -> Value {
        if value.is_null() {
            return value;
        }
        let fit = match self.r#type {
            Type::String | Type::Enum => value.is_string().then_some(value),
            Type::Boolean => value.is_boolean().then_some(value),
            Type::Number => value.is_number().then_some(value),
            Type::Integer => whole(value),
            Type::Decimal => decimal(&value),
            Type::Date => value.as_str().and_then(date),
            Type::Datetime => {
                value.as_str().and_then(|text| text.parse::<Timestamp>().ok()).map(|time| json!(time))
            }
            Type::Url => value.as_str().filter(|text| self.is_url(text)).map(Value::from),
            Type::Record => value.is_object().then(|| canonical(&self.fields, value)),
            Type::List => match (value, &self.of) {
                (Value::Array(items), Some(of)) => {
                    Some(items.into_iter().map(|item| of.canonical(item)).collect())
                }
                _ => None,
            },
        };
        fit.unwrap_or_else(|| self.misfit())
    }

    /// A value that the field's schema never takes.
    fn misfit(&self) -> Value {
        if self.r#type == Type::List { json!({}) } else { json!([]) }
    }

    fn is_url(&self, text: &str) -> bool {
        let Ok(url) = url::Url::parse(text) else { return false };
        let host = url.host_str().unwrap_or_default();
        let is_ours = self.hosts.is_empty() || self.hosts.iter().any(|one| one.eq_ignore_ascii_case(host));
        url.scheme() == "https"
            && url.username().is_empty()
            && url.password().is_none()
            && is_ours
            && text.chars().count() <= self.max.unwrap_or(URL_CHARS)
    }
}

fn whole(value: Value) -> Option<Value> {
    let number = value.as_number()?;
    if number.is_i64() || number.is_u64() {
        return Some(value);
    }
    let float = number.as_f64().filter(|float| float.fract() == 0.0 && float.abs() < SAFE_FLOAT)?;
    format!("{float:.0}").parse::<i64>().ok().map(Value::from)
}

fn decimal(value: &Value) -> Option<Value> {
    let text = match value {
        Value::Number(number) => number.to_string(),
        Value::String(text) => text.clone(),
        _ => return None,
    };
    let digits = text.strip_prefix('-').unwrap_or(&text);
    let (whole, fraction) = digits.split_once('.').unwrap_or((digits, "0"));
    let all_digits = |part: &str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
    (all_digits(whole) && all_digits(fraction) && text.len() <= DECIMAL_CHARS).then(|| text.into())
}

fn date(text: &str) -> Option<Value> {
    let date: jiff::civil::Date = text.parse().ok().filter(|_| text.len() == 10)?;
    Some(date.to_string().into())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Projection;

    #[expect(clippy::needless_pass_by_value, reason = "tests read better with literals")]
    fn through(declared: Value, value: Value) -> Option<Value> {
        let field: Field = serde_json::from_value(declared).unwrap();
        let fields: Fields = [("f".to_owned(), field)].into();
        let record = canonical(&fields, json!({"f": value}));
        Projection::to(schema(&fields)).apply(record).ok().map(|projected| projected.value["f"].clone())
    }

    #[test]
    fn values_get_their_canonical_form() {
        for (declared, value, expected) in [
            (json!({"type": "string", "max": 3}), json!("abcdef"), json!("abc")),
            (json!({"type": "integer"}), json!(3.0), json!(3)),
            (json!({"type": "integer"}), json!(9_007_199_254_740_993_u64), json!("9007199254740993")),
            (json!({"type": "decimal"}), json!(1.5), json!("1.5")),
            (json!({"type": "decimal"}), json!("-0.10"), json!("-0.10")),
            (json!({"type": "date"}), json!("2026-09-01"), json!("2026-09-01")),
            (
                json!({"type": "datetime"}),
                json!("2026-09-01T02:00:00+02:00"),
                json!("2026-09-01T00:00:00.000Z"),
            ),
            (
                json!({"type": "url", "hosts": ["a.example"]}),
                json!("https://a.example/x"),
                json!("https://a.example/x"),
            ),
            (json!({"type": "enum", "values": ["x"]}), json!("x"), json!("x")),
            (json!({"type": "enum", "values": ["x"]}), json!(null), json!(null)),
            (
                json!({"type": "list", "of": {"type": "integer"}, "max_items": 2}),
                json!([1, 2, 3]),
                json!([1, 2]),
            ),
            (
                json!({"type": "record", "fields": {"at": {"type": "date"}}}),
                json!({"at": "2026-01-01", "more": 1}),
                json!({"at": "2026-01-01"}),
            ),
        ] {
            assert_eq!(through(declared.clone(), value), Some(expected), "{declared}");
        }
    }

    #[test]
    fn values_of_another_type_do_not_fit() {
        for (declared, value) in [
            (json!({"type": "string"}), json!(1)),
            (json!({"type": "integer"}), json!(1.5)),
            (json!({"type": "integer"}), json!("1")),
            (json!({"type": "boolean"}), json!("true")),
            (json!({"type": "decimal"}), json!("1e5")),
            (json!({"type": "date"}), json!("2026-13-01")),
            (json!({"type": "datetime"}), json!("yesterday")),
            (json!({"type": "url"}), json!("http://a.example/")),
            (json!({"type": "url"}), json!("javascript:alert(1)")),
            (json!({"type": "url", "hosts": ["a.example"]}), json!("https://b.example/")),
            (json!({"type": "enum", "values": ["x"]}), json!("y")),
            (json!({"type": "list", "of": {"type": "integer"}}), json!("x")),
            (json!({"type": "list", "of": {"type": "integer"}}), json!(["x"])),
            (json!({"type": "record", "fields": {}}), json!([])),
            (json!({"type": "string", "required": true}), json!(null)),
        ] {
            assert_eq!(through(declared.clone(), value), None, "{declared}");
        }
    }
}
