//! One request from its arrival to its answer.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use http::Method;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::world::World;
use crate::front::answer::{Answer, Outcome};
use crate::front::{Call, Faults, Ledger, Service};

/// Largest pages.
const MESSAGES_MAX: usize = 50;
const OTHERS_MAX: usize = 100;

/// What a planned failure does.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum FaultAction {
    /// The platform's envelope with a code.
    Code {
        /// HTTP status.
        status: u16,
        /// Code.
        code: i64,
        /// Seconds for `x-ogw-ratelimit-reset`.
        #[serde(default)]
        reset_seconds: Option<u64>,
    },
    /// Waits, then answers.
    Delay {
        /// Milliseconds.
        ms: u64,
    },
    /// Closes the connection without an answer, and does nothing.
    Drop,
    /// Does what was asked, then closes the connection without an answer.
    DropAfterActing,
    /// Does what was asked, then answers with this HTTP status and no envelope.
    StatusAfterActing {
        /// HTTP status.
        status: u16,
    },
    /// The page token of the answer is the one that was asked with.
    RepeatPage,
}

/// A twin at work.
#[derive(Debug)]
pub(super) struct Platform {
    world: Mutex<World>,
    /// Number of the token that counts; tokens with other numbers have ended.
    token: Mutex<u64>,
    pub(super) ledger: Ledger,
    pub(super) faults: Faults<FaultAction>,
}

impl Platform {
    pub(super) fn new(world: World) -> Self {
        Self {
            world: Mutex::new(world),
            token: Mutex::new(1),
            ledger: Ledger::new(),
            faults: Faults::default(),
        }
    }

    pub(super) fn world(&self) -> MutexGuard<'_, World> {
        self.world.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn end_tokens(&self) {
        *self.token.lock().unwrap_or_else(PoisonError::into_inner) += 1;
    }

    fn token(&self) -> String {
        format!("t-twin-token-{:08}", *self.token.lock().unwrap_or_else(PoisonError::into_inner))
    }

    fn written(&self, call: &Call, fault: Option<&FaultAction>) -> Answer {
        if let Some(FaultAction::Code { status, code, reset_seconds }) = fault {
            let answer = envelope(*status, *code, "planned failure", &Value::Null);
            return match reset_seconds {
                Some(seconds) => answer.with_header("x-ogw-ratelimit-reset", seconds.to_string()),
                None => answer,
            };
        }
        let Some(path) = call.path.strip_prefix("/open-apis/") else {
            return Answer::text(404, "404 page not found");
        };
        if path == "auth/v3/tenant_access_token/internal" {
            return self.exchange(call);
        }
        match call.header("authorization").and_then(|value| value.strip_prefix("Bearer ")) {
            None => return envelope(400, 99_991_661, "Missing access token for authorization", &Value::Null),
            Some(token) if token != self.token() => {
                return envelope(400, 99_991_663, "Invalid access token for authorization", &Value::Null);
            }
            Some(_) => {}
        }
        let parts: Vec<&str> = path.split('/').collect();
        if call.method != Method::GET {
            let acted = super::act::act(call, &parts, &mut self.world());
            return acted.unwrap_or_else(|| Answer::text(405, "method not allowed"));
        }
        let repeats = fault == Some(&FaultAction::RepeatPage);
        self.read(call, &parts, repeats)
    }

    fn exchange(&self, call: &Call) -> Answer {
        let given: Value = serde_json::from_slice(&call.body).unwrap_or_default();
        let world = self.world();
        let word = |name: &str| given.get(name).and_then(Value::as_str).unwrap_or_default();
        let known = word("app_id") == world.app.0 && word("app_secret") == world.app.1;
        if call.method != Method::POST || !known {
            return envelope(400, 10_003, "invalid param", &Value::Null);
        }
        let expire = world.expire_seconds;
        let token = json!({"code": 0, "msg": "ok", "tenant_access_token": self.token(), "expire": expire});
        Answer::json(200, &token).with_header("x-tt-logid", "twin-log-id".to_owned())
    }

    fn read(&self, call: &Call, parts: &[&str], repeats: bool) -> Answer {
        let world = self.world();
        let ok = |data: Value| envelope(200, 0, "success", &data);
        match parts {
            ["bot", "v3", "info"] => {
                let bot = json!({"activate_status": world.activate_status, "app_name": "Twin", "avatar_url": "", "ip_white_list": [], "open_id": "ou_bot"});
                let body = json!({"code": 0, "msg": "ok", "bot": bot});
                Answer::json(200, &body).with_header("x-tt-logid", "twin-log-id".to_owned())
            }
            ["im", "v1", "chats"] => {
                let shown = |(id, name): &(String, String)| {
                    json!({"chat_id": id, "name": name, "description": "", "owner_id": "ou_ann", "external": false,
                        "tenant_key": "t1", "chat_status": "normal", "avatar": ""})
                };
                page(call, world.chats.iter().map(shown).collect(), OTHERS_MAX, repeats)
            }
            ["im", "v1", "chats", chat, "members"] => {
                if !world.chats.iter().any(|(id, _)| id == chat) {
                    return envelope(400, 232_011, "Operator can NOT be out of the chat.", &Value::Null);
                }
                let shown = |(id, name): &(String, String)| json!({"member_id_type": "open_id", "member_id": id, "name": name, "tenant_key": "t1"});
                page(call, world.members.iter().map(shown).collect(), OTHERS_MAX, repeats)
            }
            ["im", "v1", "chats", chat] => match world.chats.iter().find(|(id, _)| id == chat) {
                Some((_, name)) => ok(json!({"name": name, "description": "", "chat_mode": "group",
                    "group_message_type": if world.topics { "thread" } else { "chat" }, "chat_status": "normal"})),
                None => envelope(400, 232_006, "chat id is invalid", &Value::Null),
            },
            ["im", "v1", "messages", id, "reactions"] => super::act::reactions(call, &world, id),
            ["im", "v1", "messages", id, "resources", key] => super::media::resource(&world, id, key),
            ["im", "v1", "messages"] => history(call, &world, repeats),
            ["im", "v1", "messages", id] => match world.messages.iter().find(|message| message.id == *id) {
                Some(message) => ok(json!({"items": [message.shown()]})),
                None => envelope(400, 230_110, "The message is deleted.", &Value::Null),
            },
            ["docx", "v1", "documents", token, rest @ ..] => {
                let found = world.documents.iter().find(|(known, _, _)| known == token);
                match (found, rest) {
                    (Some((id, title, _)), []) => {
                        ok(json!({"document": {"document_id": id, "revision_id": 3, "title": title}}))
                    }
                    (Some((_, _, text)), ["raw_content"]) => ok(json!({"content": text})),
                    _ => envelope(404, 1_770_002, "not found", &Value::Null),
                }
            }
            _ => Answer::text(404, "404 page not found"),
        }
    }
}

fn history(call: &Call, world: &World, repeats: bool) -> Answer {
    let arguments = call.arguments();
    let argument =
        |name: &str| arguments.iter().find(|(key, _)| key == name).map(|(_, value)| value.as_str());
    let (kind, id) = (argument("container_id_type"), argument("container_id").unwrap_or_default());
    let seconds = |name: &str| argument(name).and_then(|text| text.parse::<u64>().ok());
    if kind == Some("chat") && !world.chats.iter().any(|(known, _)| known == id) {
        return envelope(400, 230_002, "Bot/User can NOT be out of the chat.", &Value::Null);
    }
    if kind == Some("thread") && (seconds("start_time").is_some() || seconds("end_time").is_some()) {
        return envelope(400, 230_001, "thread does not support time range", &Value::Null);
    }
    let wanted = world.messages.iter().filter(|message| match kind {
        Some("thread") => message.thread.as_deref() == Some(id),
        _ => message.chat == id,
    });
    let from = seconds("start_time").unwrap_or(0) * 1_000;
    let to =
        seconds("end_time").map_or(u64::MAX, |seconds| seconds.saturating_mul(1_000).saturating_add(999));
    let wanted = wanted.filter(|message| (from..=to).contains(&message.created_ms));
    let mut shown: Vec<Value> = wanted.map(super::world::LarkMessage::shown).collect();
    if argument("sort_type") == Some("ByCreateTimeDesc") {
        shown.reverse();
    }
    page(call, shown, MESSAGES_MAX, repeats)
}

/// A page of a list; tokens are opaque to clients.
pub(super) fn page(call: &Call, all: Vec<Value>, size_max: usize, repeats: bool) -> Answer {
    let arguments = call.arguments();
    let argument =
        |name: &str| arguments.iter().find(|(key, _)| key == name).map(|(_, value)| value.as_str());
    let size = argument("page_size").and_then(|text| text.parse().ok()).unwrap_or(20_usize);
    if size == 0 || size > size_max {
        return envelope(400, 99_992_402, "field validation failed", &Value::Null);
    }
    let token = argument("page_token").unwrap_or_default();
    let start: usize = token.strip_prefix("pt-").and_then(|text| text.parse().ok()).unwrap_or(0);
    let has_more = start + size < all.len();
    let next = match (has_more, repeats) {
        (_, true) => token.to_owned(),
        (true, _) => format!("pt-{}", start + size),
        (false, _) => String::new(),
    };
    let items: Vec<Value> = all.into_iter().skip(start).take(size).collect();
    envelope(200, 0, "success", &json!({"items": items, "has_more": has_more || repeats, "page_token": next}))
}

pub(super) fn envelope(status: u16, code: i64, message: &str, data: &Value) -> Answer {
    let mut body = json!({"code": code, "msg": message});
    if let (Some(members), false) = (body.as_object_mut(), data.is_null()) {
        members.insert("data".to_owned(), data.clone());
    }
    if let (Some(members), true) = (body.as_object_mut(), code != 0) {
        members.insert("error".to_owned(), json!({"log_id": "twin-log-id"}));
    }
    Answer::json(status, &body).with_header("x-tt-logid", "twin-log-id".to_owned())
}

impl Service for Platform {
    const BODY_BYTES_MAX: usize = 32 * 1024 * 1024;

    async fn answer(&self, call: Call) -> Outcome {
        if call.path.starts_with("/twin/") {
            return Outcome::Answer(crate::front::control(&call, &self.ledger, &self.faults));
        }
        let mut visit = self.ledger.arrive(&call, &call.path);
        let fault = self.faults.take(call.method.as_str(), &call.path);
        match &fault {
            Some(FaultAction::Delay { ms }) => tokio::time::sleep(Duration::from_millis(*ms)).await,
            Some(FaultAction::Drop) => return Outcome::Close,
            _ => {}
        }
        let mut answer = self.written(&call, fault.as_ref());
        match fault {
            Some(FaultAction::DropAfterActing) => return Outcome::Close,
            Some(FaultAction::StatusAfterActing { status }) => answer = Answer::text(status, "upstream"),
            _ => {}
        }
        visit.answered(answer.status);
        Outcome::Answer(answer)
    }
}
