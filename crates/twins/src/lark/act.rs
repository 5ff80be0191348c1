//! What an app does: messages, answers, reactions.

use http::Method;
use serde_json::{Value, json};

use super::post;
use super::serve::{envelope, page};
use super::world::{LarkMessage, LarkReaction, World};
use crate::front::answer::Answer;
use crate::front::{Call, clock};

/// Longest uuid.
const UUID_BYTES_MAX: usize = 50;
/// Largest page of reactions.
const REACTIONS_MAX: usize = 50;

/// Where a message goes.
struct Where {
    chat: String,
    thread: Option<String>,
    parent: Option<String>,
}

/// Does what a request that is no read asks for; none when there is no such action.
pub(super) fn act(call: &Call, parts: &[&str], world: &mut World) -> Option<Answer> {
    Some(match (&call.method, parts) {
        (&Method::POST, ["im", "v1", "messages"]) => send(call, world),
        (&Method::POST, ["im", "v1", "messages", id, "reply"]) => reply(call, id, world),
        (&Method::POST, ["im", "v1", "images"]) => super::media::image(call, world),
        (&Method::POST, ["im", "v1", "files"]) => super::media::file(call, world),
        (&Method::POST, ["im", "v1", "messages", id, "reactions"]) => react(call, id, world),
        (&Method::DELETE, ["im", "v1", "messages", id, "reactions", reaction]) => {
            let before = world.reactions.len();
            world.reactions.retain(|one| one.id != *reaction || one.message != *id);
            match world.reactions.len() < before {
                true => envelope(200, 0, "success", &json!({"reaction_id": reaction})),
                false => refuse(231_003, "The reaction is not found"),
            }
        }
        _ => return None,
    })
}

fn refuse(code: i64, words: &str) -> Answer {
    envelope(400, code, words, &Value::Null)
}

fn body(call: &Call) -> Value {
    serde_json::from_slice(&call.body).unwrap_or_default()
}

fn word<'a>(body: &'a Value, name: &str) -> &'a str {
    body.get(name).and_then(Value::as_str).unwrap_or_default()
}

fn send(call: &Call, world: &mut World) -> Answer {
    let body = body(call);
    let kind = call.arguments().into_iter().find(|(name, _)| name == "receive_id_type");
    let id = word(&body, "receive_id");
    let chat = match kind.as_ref().map(|(_, kind)| kind.as_str()) {
        Some("chat_id") if world.chats.iter().any(|(known, _)| known == id) => id.to_owned(),
        Some("chat_id") => return refuse(230_002, "Bot/User can NOT be out of the chat."),
        Some("open_id") if world.members.iter().any(|(known, _)| known == id) => format!("oc_p2p_{id}"),
        Some("open_id") => return refuse(230_013, "Bot has NO availability to this user."),
        _ => return refuse(99_992_402, "field validation failed"),
    };
    post(&body, Where { chat, thread: None, parent: None }, world)
}

fn reply(call: &Call, id: &str, world: &mut World) -> Answer {
    let body = body(call);
    let Some(target) = world.messages.iter().find(|message| message.id == id).cloned() else {
        return refuse(230_110, "The message is deleted.");
    };
    if target.recalled {
        return refuse(230_011, "The message was withdrawn.");
    }
    let in_thread = body.get("reply_in_thread").and_then(Value::as_bool).unwrap_or(false);
    if in_thread && !world.topics {
        return refuse(230_071, "The group does not support replies in threads.");
    }
    let opened = || format!("omt_{}", id.trim_start_matches("om_"));
    let thread = target.thread.clone().or_else(|| in_thread.then(opened));
    if let (Some(thread), true) = (&thread, target.thread.is_none())
        && let Some(root) = world.messages.iter_mut().find(|message| message.id == id)
    {
        root.thread = Some(thread.clone());
    }
    post(&body, Where { chat: target.chat, thread, parent: Some(id.to_owned()) }, world)
}

/// Makes the message, or shows the one that its uuid made before.
fn post(body: &Value, place: Where, world: &mut World) -> Answer {
    let (uuid, now_ms) = (word(body, "uuid"), clock::now_micros() / 1_000);
    if uuid.len() > UUID_BYTES_MAX {
        return refuse(230_001, "Your request contains an invalid request parameter, ext=uuid");
    }
    let memory = world.uuid_memory_ms;
    world.uuids.retain(|(_, _, at)| now_ms.saturating_sub(*at) <= memory);
    let known = world.uuids.iter().find(|(one, _, _)| !uuid.is_empty() && one == uuid);
    let known = known.and_then(|(_, id, _)| world.messages.iter().find(|message| message.id == *id));
    if let Some(message) = known {
        return envelope(200, 0, "success", &message.shown());
    }
    let kind = word(body, "msg_type");
    let content = match post::check(kind, word(body, "content"), world.posts) {
        Ok(content) => content,
        Err((code, words)) => return refuse(code, words),
    };
    let key = content.get("image_key").or_else(|| content.get("file_key")).and_then(Value::as_str);
    match key.map(|key| world.files.iter().find(|file| file.key == key)) {
        Some(None) => return refuse(230_017, "The resource is not owned by the app."),
        Some(Some(file)) if (file.kind == "mp4") != (kind == "media") => {
            return refuse(230_055, "The type of file upload does not match the type of message being sent.");
        }
        _ => {}
    }
    let people = post::mentioned(&content);
    let id = format!("om_sent{:08}", world.messages.len() + 1);
    let message = LarkMessage {
        id: id.clone(),
        thread: place.thread,
        parent: place.parent,
        kind: kind.to_owned(),
        content,
        created_ms: now_ms,
        sender: world.app.0.clone(),
        mentions: people
            .into_iter()
            .enumerate()
            .map(|(n, person)| (format!("@_user_{}", n + 1), person.clone(), person))
            .collect(),
        ..LarkMessage::text(0, &place.chat, "")
    };
    let shown = message.shown();
    world.messages.push(message);
    if !uuid.is_empty() {
        world.uuids.push((uuid.to_owned(), id, now_ms));
    }
    envelope(200, 0, "success", &shown)
}

fn react(call: &Call, id: &str, world: &mut World) -> Answer {
    let body = body(call);
    let emoji = body.pointer("/reaction_type/emoji_type").and_then(Value::as_str).unwrap_or_default();
    if emoji.is_empty() {
        return refuse(231_001, "reaction type is invalid.");
    }
    if !world.messages.iter().any(|message| message.id == id && !message.recalled) {
        return refuse(231_003, "The message is not found.");
    }
    let known = world.reactions.iter().find(|one| one.message == id && one.emoji == emoji);
    let reaction = known.cloned().unwrap_or_else(|| LarkReaction {
        id: format!("react_{:08}", world.reactions.len() + 1),
        message: id.to_owned(),
        emoji: emoji.to_owned(),
    });
    if !world.reactions.contains(&reaction) {
        world.reactions.push(reaction.clone());
    }
    let (app, now_ms) = (&world.app.0, clock::now_micros() / 1_000);
    envelope(200, 0, "success", &shown(&reaction, app, now_ms))
}

/// The reactions of a message.
pub(super) fn reactions(call: &Call, world: &World, id: &str) -> Answer {
    let all = world.reactions.iter().filter(|one| one.message == id);
    page(call, all.map(|one| shown(one, &world.app.0, 0)).collect(), REACTIONS_MAX, false)
}

fn shown(reaction: &LarkReaction, app: &str, at_ms: u64) -> Value {
    json!({"reaction_id": reaction.id, "operator": {"operator_id": app, "operator_type": "app"},
        "action_time": at_ms.to_string(), "reaction_type": {"emoji_type": reaction.emoji}})
}
