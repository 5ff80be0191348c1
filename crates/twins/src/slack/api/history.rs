//! Reading back: conversations and threads, page by page.

use serde_json::{Value, json};

use super::{Reply, joined_channel, page};
use crate::slack::message::{Message, MetadataView};
use crate::slack::params::Params;
use crate::slack::world::World;

/// `conversations.history`: newest first, without plain thread replies.
pub(super) fn history(world: &World, params: &Params) -> Reply {
    let id = joined_channel(world, params, "channel")?;
    let shown = |m: &&Message| m.is_visible() && (!m.is_reply() || m.broadcast) && in_range(m, params);
    let all = world.channels.get(&id).map(|c| c.messages.as_slice()).unwrap_or_default();
    answer(world, params, &id, &all.iter().filter(shown).rev().collect::<Vec<_>>())
}

/// `conversations.replies`: the root and its replies, oldest first.
pub(super) fn replies(world: &World, params: &Params) -> Reply {
    let id = joined_channel(world, params, "channel")?;
    let ts = params.text("ts").ok_or("thread_not_found")?;
    let root = world.message(&id, ts).filter(|m| m.is_visible()).ok_or("thread_not_found")?.root().to_owned();
    let of_thread =
        |m: &&Message| m.is_visible() && m.root() == root && (m.ts == root || in_range(m, params));
    let all = world.channels.get(&id).map(|c| c.messages.as_slice()).unwrap_or_default();
    answer(world, params, &id, &all.iter().filter(of_thread).collect::<Vec<_>>())
}

fn answer(world: &World, params: &Params, channel: &str, messages: &[&Message]) -> Reply {
    let (messages, next) = page::page(messages, params, 100, |m| m.ts.clone())?;
    let views: Vec<Value> = messages.into_iter().map(|m| view(world, params, channel, m)).collect();
    let mut body = json!({"messages": views, "has_more": !next.is_empty(), "pin_count": 0});
    if let (false, Some(body)) = (next.is_empty(), body.as_object_mut()) {
        body.insert("response_metadata".into(), json!({"next_cursor": next}));
    }
    Ok(body)
}

/// Timestamps are fixed-width, so they compare as text.
fn in_range(message: &Message, params: &Params) -> bool {
    let inclusive = params.flag("inclusive");
    let after = params.text("oldest").is_none_or(|oldest| {
        let oldest = widen(oldest);
        message.ts > oldest || (inclusive && message.ts == oldest)
    });
    let before = params.text("latest").is_none_or(|latest| {
        let latest = widen(latest);
        message.ts < latest || (inclusive && message.ts == latest)
    });
    after && before
}

/// Brings `12.5` or `12` to the width of a message timestamp.
fn widen(ts: &str) -> String {
    let (seconds, fraction) = ts.split_once('.').unwrap_or((ts, ""));
    format!("{seconds:0>10}.{fraction:0<6}")
}

fn view(world: &World, params: &Params, channel: &str, message: &Message) -> Value {
    let event_type = message.metadata.as_ref().and_then(|m| m.get("event_type")).and_then(Value::as_str);
    let declared = event_type.is_some_and(|t| world.knobs.declared_metadata.contains(t));
    let metadata = if world.knobs.metadata_hidden {
        MetadataView::None
    } else if declared || params.flag("include_all_metadata") {
        MetadataView::Full
    } else {
        MetadataView::TypeOnly
    };
    Value::Object(message.view(world, channel, metadata))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bounds_of_any_width_compare_with_message_timestamps() {
        assert_eq!(widen("0"), "0000000000.000000");
        assert_eq!(widen("1610241741.0002"), "1610241741.000200");
    }
}
