//! Mentions: links that become one, and the structured ones in a received message.

use std::collections::BTreeSet;

use serde_json::Value;

use crate::link::link_edits;
use crate::table::Edit;

/// Mentions read from one message.
const MENTIONS_MAX: usize = 200;
/// Nesting of blocks that is followed.
const BLOCK_DEPTH_MAX: usize = 12;
const SCHEME: &str = "mention:";

/// Whether a text can be a user id: Slack's ids are `U` or `W` and capital letters and digits.
pub fn is_user_id(text: &str) -> bool {
    text.len() <= 32
        && text.starts_with(['U', 'W'])
        && text.bytes().all(|b| b.is_ascii_uppercase() || b.is_ascii_digit())
}

/// Ids named by the `mention:` links of a text.
pub fn mention_ids(markdown: &str) -> BTreeSet<String> {
    let ids = markdown.split("](mention:").skip(1).take(MENTIONS_MAX);
    ids.filter_map(|rest| rest.split_once(')'))
        .map(|(id, _)| id)
        .filter(|id| is_user_id(id))
        .map(str::to_owned)
        .collect()
}

/// Mention links of allowed ids, each with the token that takes its place.
pub(super) fn mention_edits(markdown: &str, allowed: &BTreeSet<String>) -> Vec<Edit> {
    if allowed.is_empty() || !markdown.contains(SCHEME) {
        return Vec::new();
    }
    link_edits(markdown, |link| {
        let id = link.url.strip_prefix(SCHEME)?;
        (allowed.contains(id) && is_user_id(id)).then(|| format!("<@{id}>"))
    })
}

/// Ids of the users that a message mentions structurally: unescaped `<@U…>` tokens of `text`, and user elements
/// of `blocks`. A typed `@name` is none.
pub fn slack_mentions(text: &str, blocks: &Value) -> Vec<String> {
    let mut ids = Vec::new();
    for part in text.split("<@").skip(1) {
        if let Some((id, _)) = part.split_once(['|', '>']).filter(|_| part.contains('>')) {
            add(&mut ids, id);
        }
    }
    walk(blocks, 0, &mut ids);
    ids
}

fn walk(value: &Value, depth: usize, ids: &mut Vec<String>) {
    if depth > BLOCK_DEPTH_MAX {
        return;
    }
    match value {
        Value::Array(items) => items.iter().for_each(|item| walk(item, depth + 1, ids)),
        Value::Object(map) => {
            let is_user = map.get("type").and_then(Value::as_str) == Some("user");
            if let Some(id) = map.get("user_id").and_then(Value::as_str).filter(|_| is_user) {
                add(ids, id);
            }
            // Only rich text holds elements; other blocks may quote foreign JSON.
            if let Some(elements) = map.get("elements").filter(|_| is_rich_text(map)) {
                walk(elements, depth + 1, ids);
            }
        }
        _ => {}
    }
}

fn is_rich_text(map: &serde_json::Map<String, Value>) -> bool {
    map.get("type").and_then(Value::as_str).is_some_and(|kind| kind.starts_with("rich_text"))
}

fn add(ids: &mut Vec<String>, id: &str) {
    if ids.len() < MENTIONS_MAX && is_user_id(id) && !ids.iter().any(|known| known == id) {
        ids.push(id.to_owned());
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    /// MSG-088, MSG-117: only tokens and rich-text user elements are mentions, whatever the name looks like.
    #[test]
    fn msg_088_msg_117_only_structured_mentions_count() {
        assert_eq!(slack_mentions("<@U1> and <@U2|ann 🦊>, <@U1>", &Value::Null), ["U1", "U2"]);
        for typed in
            ["@docs", "&lt;@U1&gt;", "<!here>", "<!channel>", "<!subteam^S1|@docs>", "<@U1", "<@docs>"]
        {
            assert!(slack_mentions(typed, &Value::Null).is_empty(), "{typed}");
        }
        let blocks = json!([{"type":"rich_text","elements":[{"type":"rich_text_section","elements":[
            {"type":"text","text":"@U7 "},{"type":"user","user_id":"U3"},{"type":"broadcast","range":"here"},
            {"type":"usergroup","usergroup_id":"S1"}]}]}]);
        assert_eq!(slack_mentions("", &blocks), ["U3"]);
        assert!(
            slack_mentions("", &json!([{"type":"section","elements":[{"type":"user","user_id":"U3"}]}]))
                .is_empty()
        );
    }
}
