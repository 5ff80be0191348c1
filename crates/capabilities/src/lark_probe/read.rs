//! What each operation reads, page by page.

use loom_domain::{Code, Error, Result, Timestamp};
use serde_json::{Value, json};

use super::client::Lark;
use super::input::{Brand, ChatsInput, DocumentInput, MembersInput, MessageInput, MessagesInput, ProbeInput};
use super::output::DOCUMENT_BYTES_MAX;
use super::{errors, message};
use crate::{Cursor, Flow, RunOutcome, RunRequest, Sink, StopReason, read_input};

/// Pages that are read unless told otherwise.
const PAGES: u32 = 100;
/// Characters of an id behind its prefix.
const ID_CHARS: std::ops::RangeInclusive<usize> = 1..=64;
const TOKEN_CHARS: std::ops::RangeInclusive<usize> = 10..=64;

/// What is read.
enum What {
    App,
    Chats,
    Members(String),
    Messages { container: &'static str, id: String, range: String },
    Message(String),
    Document(String),
}

/// An operation with its input.
pub(super) struct Task {
    pub(super) brand: Brand,
    what: What,
}

impl Task {
    /// Reads and checks the input.
    pub(super) fn read(request: &RunRequest) -> Result<Self> {
        let (brand, what) = match request.operation.as_str() {
            "chats" => (read_input::<ChatsInput>(request)?.brand, What::Chats),
            "members" => {
                let input: MembersInput = read_input(request)?;
                (input.brand, What::Members(id(&input.chat, "oc_", "/chat")?))
            }
            "messages" => messages(&read_input(request)?)?,
            "message" => {
                let input: MessageInput = read_input(request)?;
                (input.brand, What::Message(id(&input.id, "om_", "/id")?))
            }
            "document" => {
                let input: DocumentInput = read_input(request)?;
                let fits = TOKEN_CHARS.contains(&input.token.len())
                    && input.token.bytes().all(|b| b.is_ascii_alphanumeric());
                if !fits {
                    return Err(wrong("/token", "a token has 10 to 64 letters and digits"));
                }
                (input.brand, What::Document(input.token))
            }
            _ => (read_input::<ProbeInput>(request)?.brand, What::App),
        };
        Ok(Task { brand, what })
    }

    /// The object that a grant binds. A message is bound by its own id: its chat is not known before it is read.
    pub(super) fn resource(&self) -> Option<(&'static str, &str)> {
        match &self.what {
            What::App | What::Chats => None,
            What::Members(id) | What::Messages { id, .. } | What::Message(id) => Some(("chat", id)),
            What::Document(token) => Some(("doc", token)),
        }
    }

    pub(super) fn path(&self) -> String {
        match &self.what {
            What::App => "/open-apis/bot/v3/info".to_owned(),
            What::Chats => "/open-apis/im/v1/chats?page_size=100&sort_type=ByCreateTimeAsc".to_owned(),
            What::Members(chat) => {
                format!("/open-apis/im/v1/chats/{chat}/members?member_id_type=open_id&page_size=100")
            }
            What::Messages { container, id, range } => format!(
                "/open-apis/im/v1/messages?container_id_type={container}&container_id={id}{range}&sort_type=ByCreateTimeAsc&page_size=50"
            ),
            What::Message(id) => format!("/open-apis/im/v1/messages/{id}"),
            What::Document(token) => format!("/open-apis/docx/v1/documents/{token}"),
        }
    }

    pub(super) fn source_kind(&self) -> &'static str {
        match &self.what {
            What::App => "lark_app",
            What::Chats | What::Members(_) => "lark_chat",
            What::Messages { .. } | What::Message(_) => "lark_message",
            What::Document(_) => "lark_document",
        }
    }

    pub(super) fn name(&self) -> String {
        self.resource().map_or_else(|| self.source_kind().to_owned(), |(_, id)| id.to_owned())
    }

    /// Reads it.
    pub(super) async fn run(
        &self,
        lark: &Lark<'_>,
        cursor: Option<&Cursor>,
        out: &mut dyn Sink,
    ) -> Result<RunOutcome> {
        match &self.what {
            What::App => app(lark, &self.path(), out).await,
            What::Message(_) => {
                let body = lark.get(&self.path()).await?;
                let item =
                    body.pointer("/data/items/0").and_then(message::of).ok_or_else(errors::unreadable)?;
                out.fields(json!(item));
                Ok(RunOutcome::default())
            }
            What::Document(_) => document(lark, &self.path(), out).await,
            What::Messages { .. } => {
                let project = |item: &Value| message::of(item).map(|message| json!(message));
                pages(lark, &self.path(), cursor, out, project).await
            }
            What::Chats | What::Members(_) => {
                pages(lark, &self.path(), cursor, out, |item: &Value| Some(item.clone())).await
            }
        }
    }
}

fn messages(input: &MessagesInput) -> Result<(Brand, What)> {
    let (container, id) = match (&input.chat, &input.thread) {
        (Some(chat), None) => ("chat", id(chat, "oc_", "/chat")?),
        (None, Some(thread)) => ("thread", id(thread, "omt_", "/thread")?),
        _ => return Err(wrong("/chat", "give a chat or a thread")),
    };
    let mut range = String::new();
    for (name, key, given) in [("from", "start_time", &input.from), ("to", "end_time", &input.to)] {
        let Some(text) = given else { continue };
        if container == "thread" {
            return Err(wrong(&format!("/{name}"), "a thread takes no range of time"));
        }
        let time: Timestamp =
            text.parse().map_err(|_| wrong(&format!("/{name}"), "expected an RFC 3339 time"))?;
        range.push_str(&format!("&{key}={}", time.0.div_euclid(1_000)));
    }
    Ok((input.brand, What::Messages { container, id, range }))
}

fn id(text: &str, prefix: &str, pointer: &str) -> Result<String> {
    let rest = text.strip_prefix(prefix);
    let fits = |rest: &str| {
        ID_CHARS.contains(&rest.len()) && rest.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_')
    };
    match rest.is_some_and(fits) {
        true => Ok(text.to_owned()),
        false => Err(wrong(pointer, &format!("expected an id that starts with {prefix}"))),
    }
}

fn wrong(pointer: &str, why: &str) -> Error {
    Error::new(Code::InvalidInput, why).with_detail("pointer", pointer)
}

async fn app(lark: &Lark<'_>, path: &str, out: &mut dyn Sink) -> Result<RunOutcome> {
    let body = lark.get(path).await?;
    let bot = body.get("bot").cloned().ok_or_else(errors::unreadable)?;
    let seen = match lark.get("/open-apis/im/v1/chats?page_size=1").await {
        Ok(_) => true,
        Err(error) if error.detail.get("needed").is_some() => false,
        Err(error) => return Err(error),
    };
    out.fields(json!({
        "app_name": bot.get("app_name"), "open_id": bot.get("open_id"), "activate_status": bot.get("activate_status"),
        "scopes": [{"name": "im:chat:readonly", "seen": seen}],
    }));
    Ok(RunOutcome::default())
}

async fn document(lark: &Lark<'_>, path: &str, out: &mut dyn Sink) -> Result<RunOutcome> {
    let about = lark.get(path).await?;
    let about = about.pointer("/data/document").cloned().ok_or_else(errors::unreadable)?;
    let body = lark.get(&format!("{path}/raw_content")).await?;
    let text = body.pointer("/data/content").and_then(Value::as_str).ok_or_else(errors::unreadable)?;
    let (text, text_bytes, truncated) = message::cut(text, DOCUMENT_BYTES_MAX);
    out.fields(json!({
        "document_id": about.get("document_id"), "revision_id": about.get("revision_id"), "title": about.get("title"),
        "text": text, "text_bytes": text_bytes, "truncated": truncated,
    }));
    Ok(RunOutcome::default())
}

/// Where a list goes on: the token of a page, and how many of its items were given.
fn position(page: &str, given: usize) -> Cursor {
    Cursor::at(json!({"page": page, "given": given}))
}

async fn pages(
    lark: &Lark<'_>,
    path: &str,
    cursor: Option<&Cursor>,
    out: &mut dyn Sink,
    project: impl Fn(&Value) -> Option<Value> + Send + Sync,
) -> Result<RunOutcome> {
    let at = |key: &str| cursor.and_then(|cursor| cursor.position.get(key));
    let mut page = at("page").and_then(Value::as_str).unwrap_or_default().to_owned();
    let mut skip = at("given").and_then(Value::as_u64).and_then(|n| usize::try_from(n).ok()).unwrap_or(0);
    let most = lark.cx.limits().max_pages.unwrap_or(PAGES);
    let mut seen = 0_u64;
    for _ in 0..most {
        let token = if page.is_empty() { String::new() } else { format!("&page_token={}", encoded(&page)) };
        let body = lark.get(&format!("{path}{token}")).await?;
        let data = body.get("data").ok_or_else(errors::unreadable)?;
        let items = data.get("items").and_then(Value::as_array).cloned().unwrap_or_default();
        for (n, item) in items.iter().enumerate().skip(skip) {
            let record = project(item).unwrap_or(Value::Null);
            if let Flow::Stop(stop_reason) = out.item(record) {
                let cursor = Some(position(&page, n + 1));
                return Ok(RunOutcome { stop_reason, cursor, ..RunOutcome::default() });
            }
            seen += 1;
        }
        skip = 0;
        let has_more = data.get("has_more").and_then(Value::as_bool).unwrap_or(false);
        let next = data.get("page_token").and_then(Value::as_str).unwrap_or_default();
        if !has_more {
            return Ok(RunOutcome::default());
        }
        if next.is_empty() || next == page {
            return Err(Error::new(Code::ProviderProtocolError, "the platform repeats a page")
                .with_detail("phase", "receive"));
        }
        next.clone_into(&mut page);
        out.checkpoint(&position(&page, 0));
        out.progress(seen, None);
    }
    Ok(RunOutcome {
        stop_reason: StopReason::MaxPages,
        cursor: Some(position(&page, 0)),
        ..RunOutcome::default()
    })
}

fn encoded(text: &str) -> String {
    url::form_urlencoded::byte_serialize(text.as_bytes()).collect()
}
