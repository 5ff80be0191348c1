//! Projection: an answer becomes the fields that a schema declares; everything else is dropped and counted.

mod text;

use serde::Serialize;
use serde_json::{Map, Number, Value};

use text::clean;

/// Deepest value.
const DEPTH_MAX: usize = 16;
/// Entries of a list unless its schema says otherwise.
const LIST_ENTRIES: usize = 1_000;
/// Characters of a text unless its schema says otherwise.
const TEXT_CHARS: usize = 2_000;
/// Characters that no schema can go beyond.
const TEXT_CHARS_MAX: usize = 150_000;
/// Whole numbers beyond this lose digits in programs that count in floating point.
const SAFE_INTEGER_MAX: u64 = 1 << 53;
/// Most caps that are listed.
const CAPPED_MAX: usize = 1_000;

/// A cap that fired.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, schemars::JsonSchema)]
pub struct Capped {
    /// Where.
    pub pointer: String,
    /// The cap.
    pub limit: usize,
    /// Characters or entries before it.
    pub original_length: usize,
}

/// What a projection gives.
#[derive(Debug, Clone, PartialEq)]
pub struct Projected {
    /// Declared fields only.
    pub value: Value,
    /// Members that were dropped.
    pub dropped: u64,
    /// Caps that fired.
    pub capped: Vec<Capped>,
}

/// A schema that values are projected to.
#[derive(Debug, Clone)]
pub struct Projection(Value);

/// Where a value does not fit, as a JSON pointer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Misfit(pub String);

impl Projection {
    /// Projects to a schema.
    pub fn to(schema: Value) -> Self {
        Projection(schema)
    }

    /// The declared part of a value. A missing required field or a wrong type is a misfit.
    pub fn apply(&self, value: Value) -> Result<Projected, Misfit> {
        let mut walk = Walk { root: &self.0, pointer: String::new(), dropped: 0, capped: Vec::new() };
        let value = walk.value(&self.0, value, 0)?;
        Ok(Projected { value, dropped: walk.dropped, capped: walk.capped })
    }
}

struct Walk<'a> {
    root: &'a Value,
    pointer: String,
    dropped: u64,
    capped: Vec<Capped>,
}

impl<'a> Walk<'a> {
    fn value(&mut self, schema: &'a Value, value: Value, depth: usize) -> Result<Value, Misfit> {
        if depth > DEPTH_MAX {
            return Err(self.misfit());
        }
        let schema = self.resolved(schema);
        if value.is_null() {
            return if nullable(self.root, schema, depth) { Ok(value) } else { Err(self.misfit()) };
        }
        if let Some(choices) = alternatives(schema) {
            return self.first_fit(choices, &value, depth);
        }
        if let Some(words) = schema.get("enum").and_then(Value::as_array) {
            return if words.contains(&value) { Ok(value) } else { Err(self.misfit()) };
        }
        match value {
            Value::Object(members) if allows(schema, "object") => self.object(schema, members, depth),
            Value::Array(items) if allows(schema, "array") => self.array(schema, items, depth),
            Value::String(text) if allows(schema, "string") => Ok(Value::String(self.text(schema, &text))),
            Value::Bool(_) if allows(schema, "boolean") => Ok(value),
            Value::Number(number)
                if allows(schema, "number") || is_whole(&number) && allows(schema, "integer") =>
            {
                Ok(safe(number))
            }
            _ => Err(self.misfit()),
        }
    }

    fn object(
        &mut self,
        schema: &'a Value,
        mut given: Map<String, Value>,
        depth: usize,
    ) -> Result<Value, Misfit> {
        let Some(properties) = schema.get("properties").and_then(Value::as_object) else {
            return self.open_object(schema, given, depth);
        };
        let required = schema.get("required").and_then(Value::as_array);
        let mut kept = Map::new();
        for (name, property) in properties {
            let member = match given.remove(name) {
                Some(member) => self.below(name, |walk| walk.value(property, member, depth + 1))?,
                None if required.is_some_and(|names| names.iter().any(|one| one == name)) => {
                    return self.below(name, |walk| Err(walk.misfit()));
                }
                None if nullable(self.root, self.resolved(property), depth) => Value::Null,
                None => continue,
            };
            kept.insert(name.clone(), member);
        }
        self.dropped += given.len() as u64;
        Ok(Value::Object(kept))
    }

    /// An object whose keys are data.
    fn open_object(
        &mut self,
        schema: &'a Value,
        given: Map<String, Value>,
        depth: usize,
    ) -> Result<Value, Misfit> {
        let rule = match schema.get("additionalProperties") {
            Some(rule @ Value::Object(_)) => rule,
            Some(Value::Bool(false)) => {
                self.dropped += given.len() as u64;
                return Ok(Value::Object(Map::new()));
            }
            _ => &Value::Bool(true),
        };
        let mut kept = Map::new();
        for (name, member) in given {
            let member = self.below(&name, |walk| walk.value(rule, member, depth + 1))?;
            kept.insert(clean(&name), member);
        }
        Ok(Value::Object(kept))
    }

    fn array(&mut self, schema: &'a Value, mut items: Vec<Value>, depth: usize) -> Result<Value, Misfit> {
        let limit = limit_of(schema, "maxItems").unwrap_or(LIST_ENTRIES);
        self.cap(items.len(), limit);
        items.truncate(limit);
        let rule = schema.get("items").unwrap_or(&Value::Bool(true));
        let kept = items.into_iter().enumerate();
        let kept =
            kept.map(|(at, item)| self.below(&at.to_string(), |walk| walk.value(rule, item, depth + 1)));
        Ok(Value::Array(kept.collect::<Result<_, _>>()?))
    }

    fn text(&mut self, schema: &Value, text: &str) -> String {
        let limit = limit_of(schema, "maxLength").unwrap_or(TEXT_CHARS).min(TEXT_CHARS_MAX);
        let text = clean(text);
        let length = text.chars().count();
        self.cap(length, limit);
        if length > limit { text.chars().take(limit).collect() } else { text }
    }

    fn first_fit(&mut self, choices: &'a [Value], value: &Value, depth: usize) -> Result<Value, Misfit> {
        for choice in choices {
            let mut walk =
                Walk { root: self.root, pointer: self.pointer.clone(), dropped: 0, capped: Vec::new() };
            if let Ok(fit) = walk.value(choice, value.clone(), depth + 1) {
                self.dropped += walk.dropped;
                self.capped.append(&mut walk.capped);
                return Ok(fit);
            }
        }
        Err(self.misfit())
    }

    fn cap(&mut self, length: usize, limit: usize) {
        if length > limit && self.capped.len() < CAPPED_MAX {
            self.capped.push(Capped { pointer: self.pointer.clone(), limit, original_length: length });
        }
    }

    fn below<T>(
        &mut self,
        step: &str,
        act: impl FnOnce(&mut Self) -> Result<T, Misfit>,
    ) -> Result<T, Misfit> {
        let length = self.pointer.len();
        self.pointer.push('/');
        self.pointer.push_str(&step.replace('~', "~0").replace('/', "~1"));
        let done = act(self);
        self.pointer.truncate(length);
        done
    }

    fn misfit(&self) -> Misfit {
        Misfit(self.pointer.clone())
    }

    fn resolved(&self, schema: &'a Value) -> &'a Value {
        referenced(self.root, schema)
    }
}

fn referenced<'a>(root: &'a Value, schema: &'a Value) -> &'a Value {
    let target = schema.get("$ref").and_then(Value::as_str).and_then(|path| path.strip_prefix('#'));
    target.and_then(|path| root.pointer(path)).unwrap_or(schema)
}

fn alternatives(schema: &Value) -> Option<&[Value]> {
    schema.get("anyOf").or_else(|| schema.get("oneOf")).and_then(Value::as_array).map(Vec::as_slice)
}

fn nullable(root: &Value, schema: &Value, depth: usize) -> bool {
    let among = |choice: &Value| depth <= DEPTH_MAX && nullable(root, referenced(root, choice), depth + 1);
    match (alternatives(schema), schema.get("type")) {
        (Some(choices), _) => choices.iter().any(among),
        (None, Some(Value::String(kind))) => kind == "null",
        (None, Some(Value::Array(kinds))) => kinds.iter().any(|kind| kind == "null"),
        (None, _) => {
            schema.get("enum").is_none_or(|words| words.as_array().is_some_and(|w| w.contains(&Value::Null)))
        }
    }
}

fn allows(schema: &Value, kind: &str) -> bool {
    match schema.get("type") {
        Some(Value::String(one)) => one == kind,
        Some(Value::Array(kinds)) => kinds.iter().any(|one| one == kind),
        _ => true,
    }
}

fn limit_of(schema: &Value, key: &str) -> Option<usize> {
    schema.get(key)?.as_u64().and_then(|limit| usize::try_from(limit).ok())
}

fn is_whole(number: &Number) -> bool {
    number.is_i64() || number.is_u64()
}

fn safe(number: Number) -> Value {
    let beyond = number.as_u64().is_some_and(|n| n > SAFE_INTEGER_MAX)
        || number.as_i64().is_some_and(|n| n.unsigned_abs() > SAFE_INTEGER_MAX);
    if beyond { Value::String(number.to_string()) } else { Value::Number(number) }
}

#[cfg(test)]
mod tests;
