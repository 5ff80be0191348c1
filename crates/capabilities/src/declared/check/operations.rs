//! Operations: URLs and templates against hosts and inputs, paging, projections, fields, writes.

use std::collections::BTreeSet;

use loom_transport::JqPath;
use serde_json::{Map, Value};

use super::Faults;
use crate::declared::fields::{Field, Fields, Type};
use crate::declared::map::{Format, Operation, Pagination, PagingKind, SourceFile};
use crate::declared::places::below;
use crate::declared::request::{SECRET_HEADERS, UrlTemplate};
use crate::declared::template::Template;
use crate::{Boundary, Effect, jq};

/// Headers that the transport sets.
const OWN_HEADERS: &[&str] =
    &["host", "content-length", "transfer-encoding", "connection", "content-type", "traceparent"];

struct Names<'a> {
    all: BTreeSet<&'a str>,
    certain: BTreeSet<&'a str>,
}

pub(super) fn check(map: &SourceFile, faults: &mut Faults) {
    let properties = map.inputs.get("properties").and_then(Value::as_object);
    let required = map.inputs.get("required").and_then(Value::as_array);
    let with_default = properties.into_iter().flatten().filter(|(_, one)| one.get("default").is_some());
    let names = Names {
        all: properties.into_iter().flatten().map(|(name, _)| name.as_str()).collect(),
        certain: required
            .into_iter()
            .flatten()
            .filter_map(Value::as_str)
            .chain(with_default.map(|(name, _)| name.as_str()))
            .collect(),
    };
    let mut ids = BTreeSet::new();
    for (at, operation) in map.operations.iter().enumerate() {
        let pointer = format!("/operations/{at}");
        if !ids.insert(&operation.id) {
            faults.add(format!("{pointer}/id"), "operation", "this id stands twice");
        }
        request(map, operation, &pointer, &names, faults);
        paging(operation, &pointer, faults);
        write(map, operation, &pointer, faults);
        declared(&operation.fields, &format!("{pointer}/fields"), faults);
        if let Some(Err(error)) = operation.projection.as_deref().map(jq::check) {
            faults.add(format!("{pointer}/projection"), "jq", error.message);
        }
        if !map.tests.iter().any(|test| test.operation == operation.id) {
            faults.add(&pointer, "test", format!("the operation {} has no test", operation.id));
        }
    }
    if !map.operations.iter().any(|operation| operation.id == "probe") {
        faults.add("/operations", "operation", "every connector has the operation probe");
    }
}

fn request(map: &SourceFile, operation: &Operation, pointer: &str, names: &Names<'_>, faults: &mut Faults) {
    let request = &operation.request;
    let pointer = format!("{pointer}/request");
    let at = format!("{pointer}/url");
    match UrlTemplate::parse(&request.url) {
        Err(message) => faults.add(&at, "url", message),
        Ok(url) => {
            match map.egress.hosts.iter().find(|host| host.authority() == url.authority) {
                None => faults.add(&at, "host", format!("{} is not among egress.hosts", url.authority)),
                Some(host) if !host.methods.contains(&request.method) => faults.add(
                    format!("{pointer}/method"),
                    "host",
                    format!("{} is not a declared method of {}", request.method, host.name),
                ),
                Some(_) => {}
            }
            for (name, optional) in url.names() {
                let message = "a part of the path cannot be absent";
                if optional {
                    faults.add(&at, "template", message);
                } else {
                    known(name, false, &at, names, faults);
                }
            }
        }
    }
    for (part, texts) in [("query", &request.query), ("headers", &request.headers)] {
        for (key, text) in texts {
            let at = below(&format!("{pointer}/{part}"), key);
            match Template::parse(text) {
                Err(message) => faults.add(&at, "template", message),
                Ok(template) => {
                    template.names().for_each(|(name, optional)| known(name, optional, &at, names, faults));
                }
            }
            let header = key.to_ascii_lowercase();
            if part == "headers" && SECRET_HEADERS.contains(&header.as_str()) {
                faults.add(&at, "secret", format!("{key} is filled by a credential only"));
            } else if part == "headers" && (OWN_HEADERS.contains(&header.as_str()) || !is_header(&header)) {
                faults.add(&at, "template", format!("{key} is no header that a map may set"));
            }
        }
    }
    body(operation, &pointer, names, faults);
}

fn is_header(name: &str) -> bool {
    !name.is_empty() && name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-' || b == b'_')
}

fn body(operation: &Operation, pointer: &str, names: &Names<'_>, faults: &mut Faults) {
    let request = &operation.request;
    let sends = !matches!(request.method.as_str(), "GET" | "HEAD");
    if (request.json.is_some() || request.graphql.is_some()) && !sends {
        faults.add(format!("{pointer}/method"), "operation", "a request with a body is no GET or HEAD");
    }
    if request.json.is_some() && request.graphql.is_some() {
        faults.add(pointer, "operation", "a request has json or graphql, not both");
    }
    if let Some(body) = &request.json {
        leaves(body, format!("{pointer}/json"), names, faults);
    }
    if let Some(graphql) = &request.graphql {
        let variables: &Map<String, Value> = &graphql.variables;
        for (name, variable) in variables {
            leaves(variable, below(&format!("{pointer}/graphql/variables"), name), names, faults);
        }
    }
}

fn leaves(value: &Value, pointer: String, names: &Names<'_>, faults: &mut Faults) {
    match value {
        // Braces that are no template are text.
        Value::String(text) => {
            let Ok(template) = Template::parse(text) else { return };
            match (template.whole(), template.names().next()) {
                (Some((name, optional)), _) => known(name, optional, &pointer, names, faults),
                (None, Some((name, _))) if names.all.contains(name) => {
                    faults.add(pointer, "template", "in a body a template is a whole string");
                }
                (None, _) => {}
            }
        }
        Value::Array(items) => {
            for (at, item) in items.iter().enumerate() {
                leaves(item, format!("{pointer}/{at}"), names, faults);
            }
        }
        Value::Object(members) => {
            for (key, member) in members {
                leaves(member, below(&pointer, key), names, faults);
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

fn known(name: &str, optional: bool, pointer: &str, names: &Names<'_>, faults: &mut Faults) {
    if !names.all.contains(name) {
        faults.add(pointer, "template", format!("{{{name}}} is not among the inputs"));
    } else if !optional && !names.certain.contains(name) {
        let message = format!("{name} may be absent: make it required, give a default, or write {{{name}?}}");
        faults.add(pointer, "template", message);
    }
}

fn paging(operation: &Operation, pointer: &str, faults: &mut Faults) {
    let mut paths = vec![(format!("{pointer}/response/items"), &operation.response.items)];
    if let Some(pagination) = &operation.pagination {
        let pointer = format!("{pointer}/pagination");
        paths.push((format!("{pointer}/next"), &pagination.next));
        paths.push((format!("{pointer}/items"), &pagination.items));
        members(pagination, &pointer, faults);
        if operation.is_paged() && operation.response.format != Format::Json {
            faults.add(&pointer, "pagination", "pages are read from JSON answers only");
        }
        if operation.is_paged()
            && pagination.kind != PagingKind::LinkHeader
            && operation.items_path().is_none()
        {
            faults.add(&pointer, "pagination", "items is missing: where the list of a page stands");
        }
        if pagination.kind == PagingKind::LinkHeader && operation.items_path().is_some_and(|path| path != ".")
        {
            faults.add(&pointer, "pagination", "a page of a link_header list is the list itself");
        }
    }
    for (pointer, path) in paths {
        if let Some(Err(error)) = path.as_ref().map(|path| path.parse::<JqPath>()) {
            faults.add(pointer, "pagination", error.message);
        }
    }
}

fn members(pagination: &Pagination, pointer: &str, faults: &mut Faults) {
    use PagingKind::{Cursor, LinkHeader, NextUrl, None, Offset, Page};
    let kind = pagination.kind;
    let wanted: [(&str, bool, bool); 3] = [
        ("param", pagination.param.is_some(), matches!(kind, Cursor | Page | Offset)),
        ("next", pagination.next.is_some(), matches!(kind, Cursor | NextUrl)),
        ("size_param", pagination.size_param.is_some(), kind == Offset),
    ];
    for (name, given, needed) in wanted {
        let may = needed || name == "size_param" && kind == Page;
        if needed && !given {
            faults.add(pointer, "pagination", format!("this kind of paging needs {name}"));
        } else if given && !may {
            faults.add(
                format!("{pointer}/{name}"),
                "pagination",
                format!("this kind of paging has no {name}"),
            );
        }
    }
    if matches!(kind, None | LinkHeader | Cursor | NextUrl)
        && (pagination.start.is_some() || pagination.size > 0)
    {
        faults.add(pointer, "pagination", "start and size belong to page and offset");
    }
}

fn write(map: &SourceFile, operation: &Operation, pointer: &str, faults: &mut Faults) {
    let reads = matches!(operation.request.method.as_str(), "GET" | "HEAD");
    let asks = operation.request.graphql.is_some() || operation.request.method == "POST";
    match operation.effect {
        Effect::Read => {
            if !reads && !asks {
                let message = format!("{} writes: say effect: write", operation.request.method);
                faults.add(format!("{pointer}/effect"), "write", message);
            }
            for (key, given) in
                [("gate", operation.gate.is_some()), ("idempotency", operation.idempotency.is_some())]
            {
                if given {
                    faults.add(
                        format!("{pointer}/{key}"),
                        "write",
                        format!("{key} belongs to effect: write"),
                    );
                }
            }
        }
        Effect::Write => {
            if operation.gate.is_none() {
                faults.add(pointer, "write", "a write needs gate: exact");
            }
            let header =
                operation.idempotency_header().is_some_and(|name| is_header(&name.to_ascii_lowercase()));
            let none = operation.idempotency.as_ref().and_then(Value::as_str) == Some("none");
            if !header && !none {
                faults.add(
                    pointer,
                    "write",
                    "a write needs idempotency: {header: NAME}, or idempotency: none",
                );
            }
            if map.boundary != Boundary::GatedWrite {
                faults.add("/boundary", "write", "a map that writes has boundary: gated_write");
            }
            if operation.is_paged() {
                faults.add(format!("{pointer}/pagination"), "write", "a write reads no pages");
            }
        }
    }
}

fn declared(fields: &Fields, pointer: &str, faults: &mut Faults) {
    for (name, field) in fields {
        of(field, &below(pointer, name), faults);
    }
}

fn of(field: &Field, pointer: &str, faults: &mut Faults) {
    let parts: [(&str, bool, &[Type], bool); 5] = [
        ("values", !field.values.is_empty(), &[Type::Enum], true),
        ("hosts", !field.hosts.is_empty(), &[Type::Url], false),
        ("of", field.of.is_some(), &[Type::List], true),
        ("max_items", field.max_items.is_some(), &[Type::List], false),
        ("fields", !field.fields.is_empty(), &[Type::Record], true),
    ];
    for (part, given, types, needed) in parts {
        let fits = types.contains(&field.r#type);
        if given && !fits {
            faults.add(format!("{pointer}/{part}"), "fields", format!("this type has no {part}"));
        } else if fits && needed && !given {
            faults.add(pointer, "fields", format!("this type needs {part}"));
        }
    }
    if field.max.is_some() && !matches!(field.r#type, Type::String | Type::Url) {
        faults.add(format!("{pointer}/max"), "fields", "max belongs to string and url");
    }
    if let Some(item) = &field.of {
        of(item, &format!("{pointer}/of"), faults);
    }
    declared(&field.fields, &format!("{pointer}/fields"), faults);
}
