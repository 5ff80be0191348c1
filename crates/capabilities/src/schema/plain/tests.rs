use proptest::prelude::*;
use serde_json::json;

use super::*;
use crate::Catalog;
use crate::schema::compiled;

fn schemas() -> Vec<Value> {
    let catalog = Catalog::builtin();
    let operations = catalog.entries().flat_map(|entry| &entry.operations);
    operations.map(|operation| operation.input.value().into_owned()).collect()
}

/// What a member may be: its own words, and values at and beyond the edges of rules.
fn candidates(property: &Value) -> Vec<Value> {
    let own = ["default", "minimum", "maximum"].into_iter().filter_map(|rule| property.get(rule).cloned());
    let lists = ["enum", "examples"].into_iter().filter_map(|rule| property.get(rule)?.as_array());
    let lengths = ["minLength", "maxLength"].into_iter().filter_map(|rule| property.get(rule)?.as_u64());
    let texts = lengths.flat_map(|length| [length.saturating_sub(1), length, length + 1]);
    let texts = texts.map(|length| json!("é".repeat(usize::try_from(length.min(5_000)).unwrap())));
    let odd = json!([
        null, true, false, "", "acme/tools", 0, -1, 1, 7, 1.0, 0.05, 600.5, 1e300, u64::MAX, i64::MIN,
        [], ["acme"], [1], {}, {"acme": 1}
    ]);
    own.chain(lists.flatten().cloned()).chain(texts).chain(odd.as_array().cloned().unwrap()).collect()
}

/// An object of members of a schema; the numbers choose, and an odd first one adds a member nobody knows.
fn value(schema: &Value, choices: &[usize]) -> Value {
    let properties = schema["properties"].as_object().into_iter().flatten();
    let members = properties.zip(choices.iter().skip(1)).filter_map(|((name, property), choice)| {
        let candidates = candidates(property);
        // Every second choice leaves the member out.
        let candidate = candidates.get((choice / 2) % candidates.len())?;
        (choice % 2 == 0).then(|| (name.clone(), candidate.clone()))
    });
    let unknown = (choices[0] % 8 == 7).then(|| ("nobody_knows".to_owned(), json!(1)));
    Value::Object(members.chain(unknown).collect())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]
    #[test]
    fn a_quick_yes_is_a_yes_of_the_whole_validator(
        which in any::<prop::sample::Index>(),
        choices in prop::collection::vec(any::<usize>(), 40),
    ) {
        let schemas = schemas();
        let schema = which.get(&schemas);
        let value = value(schema, &choices);
        if surely_keeps(schema, &value) {
            prop_assert!(compiled(schema).unwrap().is_valid(&value), "{value} by {schema}");
        }
    }
}

#[test]
fn a_plain_input_needs_no_whole_validator() {
    let catalog = Catalog::builtin();
    let input = |id: &str| catalog.connector(id).unwrap().entry().operations[0].input.value().into_owned();
    let probe = input("github_public_probe");
    let url = "https://github.com/owner/repo/issues/123";
    assert!(surely_keeps(&probe, &json!({"url": url})));
    assert!(surely_keeps(&probe, &json!({"url": url, "timeout_seconds": 0.1, "fetch_metadata": false})));
    assert!(!surely_keeps(&probe, &json!({"url": url, "timeout_seconds": 0.05})));
    assert!(!surely_keeps(&probe, &json!({"url": url, "more": 1})));
    assert!(!surely_keeps(&probe, &json!({"url": "u".repeat(301)})));
}

#[test]
fn what_it_does_not_know_is_no_yes() {
    for schema in [
        json!({"not": {}}),
        json!({"type": ["string"]}),
        json!({"additionalProperties": false}),
        json!({"minLength": 1}),
        json!({"required": ["b"]}),
        json!(true),
    ] {
        assert!(!surely_keeps(&schema, &json!({"a": 1})), "{schema}");
    }
    assert!(!surely_keeps(&json!({"minimum": 9_007_199_254_740_993_u64}), &json!(9_007_199_254_740_992_u64)));
}
