//! Runs a document: what it selects, and nothing else.

use serde_json::{Map, Value, json};

use super::objects::{CONCRETE, CONNECTION, Objects};
use super::parse::{Argument, Document, Field, Selection};

/// Largest page of a connection («Rate limits and query limits for the GraphQL API», node limit).
const PAGE_MAX: u64 = 100;

struct Run<'a> {
    objects: &'a Objects<'a>,
    document: &'a Document,
    variables: Map<String, Value>,
    errors: Vec<Value>,
}

/// Data and the errors beside it; or the error of a document that does not fit the schema.
pub(super) fn run(
    objects: &Objects<'_>,
    document: &Document,
    given: &Map<String, Value>,
) -> Result<(Value, Vec<Value>), Value> {
    let mut variables = Map::new();
    for (name, (required, default)) in &document.variables {
        let value = given.get(name).cloned().or_else(|| default.clone()).unwrap_or(Value::Null);
        if *required && value.is_null() {
            return Err(json!({"message": format!("Variable ${name} was provided invalid value"),
                "extensions": {"value": null, "problems": [{"path": [], "explanation": "Expected value to not be null"}]}}));
        }
        variables.insert(name.clone(), value);
    }
    let mut run = Run { objects, document, variables, errors: Vec::new() };
    let data = run.object("Query", &objects.root(), &document.selections, &[])?;
    Ok((data, run.errors))
}

impl Run<'_> {
    /// The selected fields of an object.
    fn object(
        &mut self,
        kind: &str,
        object: &Value,
        selections: &[Selection],
        path: &[String],
    ) -> Result<Value, Value> {
        let mut out = Map::new();
        self.select(kind, object, selections, path, false, &mut out)?;
        Ok(Value::Object(out))
    }

    fn select(
        &mut self,
        kind: &str,
        object: &Value,
        selections: &[Selection],
        path: &[String],
        is_concrete: bool,
        out: &mut Map<String, Value>,
    ) -> Result<(), Value> {
        for selection in selections {
            match selection {
                Selection::Field(field) => {
                    let value = self.field(kind, object, field, path, is_concrete)?;
                    out.insert(field.alias.clone(), value);
                }
                Selection::Inline { on, selections } => {
                    let is_this = on.as_deref().is_none_or(|on| on == kind);
                    if is_this {
                        self.select(kind, object, selections, path, is_concrete || on.is_some(), out)?;
                    }
                }
                Selection::Named(name) => {
                    let Some((on, selections)) = self.document.fragments.get(name) else {
                        return Err(json!({"message": format!("Fragment {name} was used, but not defined")}));
                    };
                    // A fragment of an interface fits its every type.
                    if on == kind || on == "Actor" {
                        self.select(kind, object, selections, path, on == kind, out)?;
                    }
                }
            }
        }
        Ok(())
    }

    fn field(
        &mut self,
        kind: &str,
        object: &Value,
        field: &Field,
        path: &[String],
        is_concrete: bool,
    ) -> Result<Value, Value> {
        let arguments = self.arguments(field)?;
        let path: Vec<String> = path.iter().cloned().chain([field.alias.clone()]).collect();
        if let Some(found) = self.objects.resolve(kind, object, &field.name, &arguments) {
            return match found {
                Ok(value) => self.shape(&value, field, &arguments, &path),
                Err(message) => {
                    self.errors.push(json!({"type": "NOT_FOUND", "path": path, "message": message}));
                    Ok(Value::Null)
                }
            };
        }
        let hidden = object.get(CONCRETE).filter(|_| is_concrete).and_then(|more| more.get(&field.name));
        let Some(value) = object.get(&field.name).or(hidden).filter(|_| field.name != CONCRETE) else {
            return Err(
                json!({"path": path, "message": format!("Field '{}' doesn't exist on type '{kind}'", field.name),
                "extensions": {"code": "undefinedField", "typeName": kind, "fieldName": field.name}}),
            );
        };
        self.shape(value, field, &arguments, &path)
    }

    fn shape(
        &mut self,
        value: &Value,
        field: &Field,
        arguments: &Map<String, Value>,
        path: &[String],
    ) -> Result<Value, Value> {
        match value {
            Value::Array(items) => {
                items.iter().map(|item| self.shape(item, field, arguments, path)).collect::<Result<_, _>>()
            }
            Value::Object(object) => {
                if field.selections.is_empty() {
                    let message = format!("Field must have selections (field '{}')", field.name);
                    return Err(
                        json!({"path": path, "message": message, "extensions": {"code": "selectionMismatch"}}),
                    );
                }
                let kind = object.get("__typename").and_then(Value::as_str).unwrap_or("Object").to_owned();
                match object.get(CONNECTION).and_then(Value::as_array) {
                    Some(nodes) => {
                        let page = page(nodes, arguments, field)?;
                        self.object(&kind, &page, &field.selections, path)
                    }
                    None => self.object(&kind, value, &field.selections, path),
                }
            }
            plain => Ok(plain.clone()),
        }
    }

    fn arguments(&self, field: &Field) -> Result<Map<String, Value>, Value> {
        let mut known = Map::new();
        for (name, argument) in &field.arguments {
            let value = match argument {
                Argument::Literal(value) => value.clone(),
                Argument::Variable(variable) => self.variables.get(variable).cloned().ok_or_else(|| {
                    json!({"message": format!("Variable ${variable} is used by this query but not declared"),
                        "extensions": {"code": "variableNotDefined", "variableName": variable}})
                })?,
            };
            known.insert(name.clone(), value);
        }
        Ok(known)
    }
}

/// The page of a connection.
fn page(nodes: &[Value], arguments: &Map<String, Value>, field: &Field) -> Result<Value, Value> {
    let name = &field.name;
    let number = |name: &str| arguments.get(name).and_then(Value::as_u64);
    let is_listed =
        |selection: &Selection| !matches!(selection, Selection::Field(f) if f.name == "totalCount");
    let size = number("first").or_else(|| number("last"));
    // A count alone needs no page.
    if size.is_none() && field.selections.iter().any(is_listed) {
        let message = format!(
            "You must provide a `first` or `last` value to properly paginate the `{name}` connection."
        );
        return Err(json!({"type": "MISSING_PAGINATION_BOUNDARIES", "message": message}));
    }
    let size = size.unwrap_or_default();
    if size > PAGE_MAX {
        let message = format!(
            "Requesting {size} records on the `{name}` connection exceeds the `first` limit of 100 records."
        );
        return Err(json!({"type": "EXCESSIVE_PAGINATION", "message": message}));
    }
    let size = usize::try_from(size).unwrap_or(usize::MAX);
    let from = match arguments.get("after").and_then(Value::as_str) {
        Some(cursor) => place(cursor).ok_or_else(|| {
            json!({"type": "INVALID_CURSOR_ARGUMENTS", "message": format!("`{cursor}` does not appear to be a valid cursor.")})
        })?,
        None if number("first").is_none() => nodes.len().saturating_sub(size),
        None => 0,
    };
    let shown: Vec<&Value> = nodes.iter().skip(from).take(size).collect();
    let end = from + shown.len();
    let edges: Vec<Value> = shown
        .iter()
        .enumerate()
        .map(|(at, node)| json!({"__typename": "Edge", "cursor": cursor(from + at + 1), "node": node}))
        .collect();
    Ok(json!({
        "totalCount": nodes.len(), "nodes": shown, "edges": edges,
        "pageInfo": {"__typename": "PageInfo", "hasNextPage": end < nodes.len(), "hasPreviousPage": from > 0,
            "startCursor": (!shown.is_empty()).then(|| cursor(from + 1)),
            "endCursor": (!shown.is_empty()).then(|| cursor(end))},
    }))
}

/// An opaque cursor after this many nodes.
fn cursor(after: usize) -> String {
    use base64::Engine as _;
    base64::engine::general_purpose::STANDARD.encode(format!("cursor:v2:{after}"))
}

fn place(cursor: &str) -> Option<usize> {
    use base64::Engine as _;
    let bytes = base64::engine::general_purpose::STANDARD.decode(cursor).ok()?;
    String::from_utf8(bytes).ok()?.strip_prefix("cursor:v2:")?.parse().ok()
}
