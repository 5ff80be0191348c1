//! JSON Schemas: made from types by `schemars`, checked with `jsonschema`; nobody else names either crate.

mod check;
mod plain;

use std::borrow::Cow;
use std::sync::Arc;

use schemars::JsonSchema;
use schemars::generate::SchemaSettings;
use serde_json::{Map, Value};

pub(crate) use check::{broken, check, compiled};

/// A JSON Schema 2020-12, made from a type when it is first asked for, or given as data.
#[derive(Clone)]
pub struct Schema(Source);

#[derive(Clone)]
enum Source {
    Type(fn() -> Value),
    Data(Arc<Value>),
}

impl std::fmt::Debug for Schema {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Schema")
    }
}

impl Schema {
    /// The schema of a type that leaves: members that may be absent may be null.
    pub fn of<T: JsonSchema>() -> Self {
        Schema(Source::Type(made::<T>))
    }

    /// The schema of a type that comes in: members that may be absent are left out, never null.
    pub fn input<T: JsonSchema>() -> Self {
        Schema(Source::Type(made_input::<T>))
    }

    /// A schema that is data.
    pub fn given(value: Value) -> Self {
        Schema(Source::Data(Arc::new(value)))
    }

    /// The schema itself.
    pub fn value(&self) -> Cow<'_, Value> {
        match &self.0 {
            Source::Type(make) => Cow::Owned(make()),
            Source::Data(value) => Cow::Borrowed(value),
        }
    }
}

fn made<T: JsonSchema>() -> Value {
    let settings = SchemaSettings::draft2020_12().with(|settings| settings.inline_subschemas = true);
    let mut value = settings.into_generator().into_root_schema_for::<T>().to_value();
    tidy(&mut value);
    value
}

fn made_input<T: JsonSchema>() -> Value {
    let mut value = made::<T>();
    let members = value.as_object_mut();
    if let Some(members) = members {
        members.entry("type").or_insert_with(|| "object".into());
        members.insert("additionalProperties".to_owned(), false.into());
        let properties = members.get_mut("properties").and_then(Value::as_object_mut);
        properties.into_iter().flat_map(Map::values_mut).for_each(without_null);
    }
    value
}

/// `["string", "null"]` is `"string"`, and an alternative to null is that alternative.
fn without_null(property: &mut Value) {
    let Some(members) = property.as_object_mut() else { return };
    if let Some(Value::Array(types)) = members.get_mut("type") {
        types.retain(|one| *one != "null");
        if let [one] = types.as_slice() {
            let one = one.clone();
            members.insert("type".to_owned(), one);
        }
    }
    if let Some(Value::Array(of)) = members.remove("anyOf") {
        let real = of.into_iter().find(|one| one.get("type").is_none_or(|kind| kind != "null"));
        if let Some(Value::Object(real)) = real {
            for (key, member) in real {
                members.entry(key).or_insert(member);
            }
        }
    }
    if let Some(Value::Array(words)) = members.get_mut("enum") {
        words.retain(|word| !word.is_null());
    }
}

/// Takes out what says nothing: titles, widths of numbers, and the null that only means "may be absent".
fn tidy(value: &mut Value) {
    let Some(members) = value.as_object_mut() else { return };
    members.remove("title");
    if members.get("format").and_then(Value::as_str).is_some_and(is_width) {
        members.remove("format");
    }
    if members.get("default").is_some_and(Value::is_null) {
        members.remove("default");
    }
    for name in ["properties", "$defs"] {
        let below = members.get_mut(name).and_then(Value::as_object_mut);
        below.into_iter().flat_map(Map::values_mut).for_each(tidy);
    }
    for name in ["items", "additionalProperties"] {
        members.get_mut(name).into_iter().for_each(tidy);
    }
    for name in ["anyOf", "oneOf", "allOf"] {
        let below = members.get_mut(name).and_then(Value::as_array_mut);
        below.into_iter().flatten().for_each(tidy);
    }
}

fn is_width(format: &str) -> bool {
    matches!(
        format,
        "double" | "float" | "int32" | "int64" | "uint" | "uint8" | "uint16" | "uint32" | "uint64"
    )
}
