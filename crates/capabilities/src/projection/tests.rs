use proptest::prelude::*;
use serde_json::json;

use super::*;

fn schema() -> Value {
    json!({
        "type": "object", "required": ["id"],
        "properties": {
            "id": {"type": "integer"},
            "title": {"type": ["string", "null"], "maxLength": 5},
            "labels": {"type": "array", "maxItems": 2, "items": {"type": "string", "maxLength": 3}},
            "author": {"anyOf": [{"$ref": "#/$defs/author"}, {"type": "null"}]},
            "state": {"enum": ["open", "closed"]},
        },
        "$defs": {"author": {"type": "object", "properties": {"login": {"type": "string"}}}},
    })
}

fn project(value: Value) -> Result<Projected, Misfit> {
    Projection::to(schema()).apply(value)
}

/// CAP-069: what is not declared is dropped and counted, at every depth.
#[test]
fn cap_069_only_declared_fields_stay() {
    let raw =
        json!({"id": 1, "body": "x", "user": {"a": 1}, "author": {"login": "kim", "email": "e", "url": "u"}});
    let done = project(raw).unwrap();
    assert_eq!(done.value, json!({"id": 1, "title": null, "author": {"login": "kim"}}));
    assert_eq!(done.dropped, 4);
}

/// CAP-074: whatever is shortened is marked.
#[test]
fn cap_074_every_cap_is_marked() {
    let done = project(json!({"id": 1, "title": "abcdefg", "labels": ["long", "b", "c"]})).unwrap();
    assert_eq!(done.value["title"], "abcde");
    assert_eq!(done.value["labels"], json!(["lon", "b"]));
    let capped: Vec<_> =
        done.capped.iter().map(|c| (c.pointer.as_str(), c.limit, c.original_length)).collect();
    assert_eq!(capped, [("/labels", 2, 3), ("/labels/0", 3, 4), ("/title", 5, 7)]);
}

#[test]
fn wrong_types_and_missing_fields_are_misfits() {
    for (value, at) in [
        (json!({"title": "x"}), "/id"),
        (json!({"id": "1"}), "/id"),
        (json!({"id": 1.5}), "/id"),
        (json!({"id": 1, "state": "merged"}), "/state"),
        (json!({"id": 1, "labels": [1]}), "/labels/0"),
        (json!([]), ""),
    ] {
        assert_eq!(project(value).unwrap_err(), Misfit(at.to_owned()));
    }
}

#[test]
fn large_numbers_and_control_characters_cannot_do_harm() {
    let done = project(json!({"id": 9_007_199_254_740_993_u64, "title": "a\u{1b}[0\tb"})).unwrap();
    assert_eq!(done.value["id"], "9007199254740993");
    assert_eq!(done.value["title"], "a[0\tb");
}

proptest! {
    /// Projecting twice is projecting once, and nothing undeclared survives.
    #[test]
    fn projection_is_stable(id in any::<i32>(), title in ".{0,9}", extra in "[a-z]{1,6}", labels in prop::collection::vec(".{0,5}", 0..4)) {
        let raw = json!({"id": id, "title": title, "labels": labels, format!("x_{extra}"): true});
        let once = project(raw).unwrap();
        prop_assert_eq!(once.dropped, 1);
        let twice = project(once.value.clone()).unwrap();
        prop_assert_eq!(&twice.value, &once.value);
        prop_assert!(twice.capped.is_empty() && twice.dropped == 0);
    }
}
