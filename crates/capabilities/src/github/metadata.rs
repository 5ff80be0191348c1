//! Metadata of issues, pull requests and discussions: the provider's names become ours, and texts stay behind.

use serde_json::{Map, Value, json};

use super::record;
use super::url::Kind;

/// An issue or pull request of the REST API. Members without a new name stay as they are, to be dropped and counted.
pub(crate) fn of_issue(mut raw: Value, kind: Kind) -> Value {
    let Some(members) = raw.as_object_mut() else { return raw };
    let pull = members.get("pull_request").cloned();
    let merged_at = pull.as_ref().and_then(|pull| pull.get("merged_at")).cloned().unwrap_or_default();
    let author = record::author(members.remove("user"));
    let association = members.remove("author_association").unwrap_or_default();
    put(members, "trust", record::trust(&association, &author).into());
    put(members, "author_association", association);
    put(members, "author", author);
    put(members, "kind", kind.word().into());
    put(members, "is_pull_request", pull.is_some().into());
    rename(members, "comments", "comments_count");
    let labels = members.remove("labels").unwrap_or_default();
    put(members, "labels", names(&labels));
    put(members, "merged_at", merged_at);
    for time in ["created_at", "updated_at", "closed_at", "merged_at"] {
        let at = members.remove(time).unwrap_or_default();
        put(members, time, record::time(&at));
    }
    raw
}

/// A discussion of the GraphQL API.
pub(crate) fn of_discussion(raw: &Value) -> Value {
    let at = |path: &str| raw.pointer(path).cloned().unwrap_or_default();
    let author = match raw.get("author").filter(|author| !author.is_null()) {
        None => Value::Null,
        Some(author) => json!({
            "login": author.get("login"), "id": author.get("databaseId"),
            "type": author.get("__typename").and_then(Value::as_str).unwrap_or_default().to_ascii_lowercase(),
        }),
    };
    let association = at("/authorAssociation");
    json!({
        "title": at("/title"),
        "state": if at("/closed") == true { "closed" } else { "open" },
        "state_reason": at("/stateReason").as_str().map(str::to_ascii_lowercase),
        "number": at("/number"),
        "kind": Kind::Discussion.word(),
        "is_pull_request": false,
        "locked": at("/locked"),
        "labels": names(&at("/labels/nodes")),
        "comments_count": at("/comments/totalCount"),
        "trust": record::trust(&association, &author),
        "author": author,
        "author_association": association,
        "created_at": record::time(&at("/createdAt")),
        "updated_at": record::time(&at("/updatedAt")),
        "closed_at": record::time(&at("/closedAt")),
        "html_url": at("/url"),
        "category": at("/category/name"),
        "answered": at("/isAnswered"),
        "upvotes": at("/upvoteCount"),
    })
}

fn names(labels: &Value) -> Value {
    let name = |label: &Value| label.get("name").unwrap_or(label).clone();
    labels.as_array().map(|labels| labels.iter().map(name).collect()).unwrap_or_default()
}

fn rename(members: &mut Map<String, Value>, from: &str, to: &str) {
    let member = members.remove(from).unwrap_or_default();
    put(members, to, member);
}

fn put(members: &mut Map<String, Value>, name: &str, member: Value) {
    members.insert(name.to_owned(), member);
}
