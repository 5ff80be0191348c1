use serde_json::{Value, json};

use super::*;
use crate::Code;

fn membership(id: &str, fields: Value) -> Object {
    let Value::Object(fields) = fields else { panic!("fields") };
    Object { kind: Kind::Memberships, id: id.to_owned(), fields }
}

fn tree(objects: &[(&str, Value)]) -> Tree {
    Tree::from_objects(objects.iter().map(|(id, fields)| membership(id, fields.clone())).collect()).unwrap()
}

fn one(purpose: &str, role: &str) -> Tree {
    tree(&[("mem_a", json!({"purpose": purpose, "role": role}))])
}

/// CAP-132: a field of one side wins; the same field changed differently is a conflict with both values.
#[test]
fn cap_132_fields_merge_and_conflicts_name_both_values() {
    let none = Resolutions::new();
    let (merged, conflicts) = merge(&one("a", "b"), &one("hub", "b"), &one("a", "branch"), &none);
    assert_eq!((merged, conflicts), (one("hub", "branch"), Vec::new()));
    let (_, conflicts) = merge(&one("a", "b"), &one("hub", "b"), &one("branch", "b"), &none);
    let [conflict] = conflicts.as_slice() else { panic!("{conflicts:?}") };
    assert_eq!((conflict.object.as_str(), conflict.field.as_str()), ("memberships/mem_a", "purpose"));
    assert_eq!(
        [&conflict.base, &conflict.hub, &conflict.branch],
        [&json!("a"), &json!("hub"), &json!("branch")]
    );
    for (side, purpose) in [(Side::Hub, "hub"), (Side::Branch, "branch")] {
        let resolve = Resolutions::from([("memberships/mem_a".into(), [("purpose".into(), side)].into())]);
        let (merged, conflicts) = merge(&one("a", "b"), &one("hub", "b"), &one("branch", "b"), &resolve);
        assert_eq!((merged, conflicts.len()), (one(purpose, "b"), 0));
    }
    let (_, conflicts) = merge(&one("a", "b"), &one("hub", "b"), &Tree::default(), &none);
    assert_eq!(conflicts[0].field, "*", "removed here, changed there");
    let (merged, conflicts) = merge(&one("a", "b"), &one("a", "b"), &Tree::default(), &none);
    assert!(merged.objects.is_empty() && conflicts.is_empty());
}

/// CAP-132: a change that only one side has stays that side's own after an export or an apply.
#[test]
fn cap_132_what_one_side_has_alone_is_not_agreed_on() {
    let (base, hub, branch) = (one("a", "b"), one("hub", "new"), one("a", "new"));
    let agreed = agreed(&base, &hub, &branch);
    assert_eq!(agreed, one("a", "new"));
    let (merged, conflicts) = merge(&agreed, &hub, &branch, &Resolutions::new());
    assert_eq!((merged, conflicts.len()), (hub, 0), "the hub's own change is not taken back");
}

/// CAP-132: what widens needs approval, and the digest is that of the changes.
#[test]
fn cap_132_what_widens_is_sensitive() {
    let from = tree(&[("mem_a", json!({"purpose": "p", "enabled": false, "outboundPolicy": "reply_only"}))]);
    let narrow = tree(&[("mem_a", json!({"purpose": "q", "enabled": false, "outboundPolicy": "none"}))]);
    let wide = tree(&[("mem_a", json!({"purpose": "p", "enabled": true, "outboundPolicy": "proactive"}))]);
    assert!(!Plan::between(&from, &narrow).is_sensitive());
    let plan = Plan::between(&from, &wide);
    assert_eq!(plan.changes[0].sensitive.len(), 2, "{plan:?}");
    assert_eq!(plan.plan_digest, Plan::between(&from, &wide).plan_digest);
    assert_ne!(plan.plan_digest, Plan::between(&from, &narrow).plan_digest);
    assert!(Plan::between(&from, &Tree::default()).archives());
    assert!(Plan::between(&from, &from).changes.is_empty());
}

#[test]
fn unknown_fields_and_names_that_are_paths_are_refused() {
    let unknown = Tree::from_objects(vec![membership("mem_a", json!({"colour": "red"}))]);
    assert_eq!(unknown.unwrap_err().code, Code::UnknownField);
    for bad in ["", "../x", "a/b", "A", "a.b", "x\u{0}"] {
        assert!(Key::new(Kind::Addresses, bad).is_err(), "{bad:?}");
    }
}

#[test]
fn a_new_file_of_an_object_that_is_there_takes_its_id() {
    let fields = json!({"address": "adr_a", "conversationId": "C1", "purpose": "p"});
    let (hub, branch) = (tree(&[("mem_a", fields.clone())]), tree(&[("general", fields)]));
    assert_eq!(branch.settled(&Tree::default(), &hub), hub);
    let (_, conflicts) =
        merge(&Tree::default(), &hub, &branch.settled(&Tree::default(), &hub), &Resolutions::new());
    assert!(conflicts.is_empty());
}

/// CAP-132: a list that a file leaves without a value is an empty one, as the hub's is.
#[test]
fn cap_132_a_list_without_a_value_is_empty() {
    let address = |actors: Value| {
        let Value::Object(fields) = json!({"allowActors": actors, "displayName": "d"}) else {
            panic!("fields")
        };
        Tree::from_objects(vec![Object { kind: Kind::Addresses, id: "adr_a".to_owned(), fields }]).unwrap()
    };
    let (hub, base) = (address(json!([])), address(json!(["U1"])));
    assert_eq!(address(Value::Null).settled(&base, &hub), hub);
}
