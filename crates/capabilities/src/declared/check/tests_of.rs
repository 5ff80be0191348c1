//! The form of the tests of a map; running them is `suite`.

use std::collections::BTreeSet;

use loom_domain::Code;
use serde_json::Value;

use super::Faults;
use crate::declared::map::{SourceFile, Test};
use crate::declared::places::below;
use crate::schema;

pub(super) fn check(map: &SourceFile, faults: &mut Faults) {
    let mut names = BTreeSet::new();
    for (at, test) in map.tests.iter().enumerate() {
        let pointer = format!("/tests/{at}");
        if !names.insert(&test.name) {
            faults.add(format!("{pointer}/name"), "test", "this name stands twice");
        }
        one(map, test, &pointer, faults);
    }
}

fn one(map: &SourceFile, test: &Test, pointer: &str, faults: &mut Faults) {
    let Some(operation) = map.operations.iter().find(|operation| operation.id == test.operation) else {
        faults.add(
            format!("{pointer}/operation"),
            "test",
            format!("there is no operation {}", test.operation),
        );
        return;
    };
    let input = if test.input.is_null() { Value::Object(serde_json::Map::new()) } else { test.input.clone() };
    if test.expect.ok {
        for broken in schema::broken(&map.inputs, &input, 5).unwrap_or_default() {
            faults.add(
                format!("{pointer}/input{}", broken.pointer),
                "test",
                format!("the input {}", broken.message),
            );
        }
    }
    match (test.expect.ok, &test.expect.error) {
        (true, Some(_)) => {
            faults.add(format!("{pointer}/expect/error"), "test", "a run that is ok has no error");
        }
        (_, Some(error)) if Code::parse(error).is_none() => {
            faults.add(format!("{pointer}/expect/error"), "test", format!("{error} is no error code"));
        }
        _ => {}
    }
    for (index, exchange) in test.exchanges.iter().enumerate() {
        let pointer = format!("{pointer}/exchanges/{index}");
        let credential = exchange.request.credential.as_ref();
        if credential.is_some_and(|name| !map.credentials.iter().any(|known| known.name == *name)) {
            faults.add(
                format!("{pointer}/request/credential"),
                "test",
                "there is no credential of this name",
            );
        }
        if !exchange.request.path.starts_with('/') {
            faults.add(format!("{pointer}/request/path"), "test", "a path begins with /");
        }
        if exchange.response.json.is_some() && exchange.response.text.is_some() {
            faults.add(format!("{pointer}/response"), "test", "an answer has json or text, not both");
        }
    }
    let items = test.expect.items.iter().flatten().enumerate();
    let records = items.map(|(at, item)| (format!("{pointer}/expect/items/{at}"), item));
    let record = test.expect.fields.iter().map(|fields| (format!("{pointer}/expect/fields"), fields));
    for (pointer, record) in records.chain(record) {
        for name in record.as_object().into_iter().flatten().map(|(name, _)| name) {
            if operation.find_field(name).is_none() {
                faults.add(below(&pointer, name), "fields", format!("{name} is not a declared field"));
            }
        }
    }
}
