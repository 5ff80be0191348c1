//! The Chat Completions dialect (`POST /v1/chat/completions`), streamed or whole.

use serde_json::{Value, json};

use super::reply::{PIECE_EVERY, Reply};
use super::sse::Step;
use super::talk::{Entry, Talk, Tool, content_text, list_at, text_at};

/// Reads a request.
pub(super) fn parse(body: &Value) -> Talk {
    let mut talk = Talk { model: text_at(body, "model").to_owned(), ..Talk::default() };
    for message in list_at(body, "messages") {
        let text = message.get("content").map(content_text).unwrap_or_default();
        match text_at(message, "role") {
            "user" => talk.user(&text),
            "assistant" => talk.entries.push(Entry::Assistant),
            "tool" => talk.entries.push(Entry::ToolResult(text)),
            _ => {}
        }
    }
    let named = |tool: &Value| Some(text_at(tool.get("function")?, "name").to_owned());
    let names = list_at(body, "tools").iter().filter_map(named);
    talk.tools = names.map(|name| Tool { namespace: None, name }).collect();
    talk
}

/// Plays an answer.
pub(super) fn steps(reply: Reply, model: &str, id: u64) -> Vec<Step> {
    let chunk = |delta: Value, finish: Option<&str>| {
        let choice = json!({"index": 0, "delta": delta, "finish_reason": finish});
        let mut body = json!({"id": format!("chatcmpl-{id}"), "object": "chat.completion.chunk", "created": 0,
            "model": model, "choices": [choice]});
        if finish == Some("usage")
            && let Some(map) = body.as_object_mut()
        {
            map.insert("choices".to_owned(), json!([]));
            map.insert("usage".to_owned(), usage());
        }
        Step::Plain(body)
    };
    let mut steps = vec![chunk(json!({"role": "assistant", "content": ""}), None)];
    let mut finish = "stop";
    match reply {
        Reply::Text { comment, text } => {
            let whole = comment.map_or(text.clone(), |comment| format!("{comment}\n{text}"));
            steps.push(chunk(json!({"content": whole}), None));
        }
        Reply::Slow { pieces, text } => {
            for _ in 0..pieces {
                steps.push(chunk(json!({"content": "."}), None));
                steps.push(Step::Wait(PIECE_EVERY));
            }
            steps.push(chunk(json!({"content": text}), None));
        }
        Reply::Call(call) => {
            finish = "tool_calls";
            let function = json!({"name": call.name, "arguments": call.arguments});
            let one =
                json!({"index": 0, "id": format!("call_{id}"), "type": "function", "function": function});
            steps.push(chunk(json!({"tool_calls": [one]}), None));
        }
        Reply::Drop | Reply::Fail(_) => {
            steps.push(chunk(json!({"content": "this breaks o"}), None));
            steps.push(Step::Cut);
            return steps;
        }
    }
    steps.push(chunk(json!({}), Some(finish)));
    steps.push(chunk(json!({}), Some("usage")));
    steps.push(Step::Done);
    steps
}

/// The same answer as one object, for `stream: false`.
pub(super) fn whole(reply: Reply, model: &str, id: u64) -> Value {
    let (message, finish) = match reply {
        Reply::Text { comment, text } => {
            let whole = comment.map_or(text.clone(), |comment| format!("{comment}\n{text}"));
            (json!({"role": "assistant", "content": whole}), "stop")
        }
        Reply::Slow { text, .. } => (json!({"role": "assistant", "content": text}), "stop"),
        Reply::Call(call) => {
            let function = json!({"name": call.name, "arguments": call.arguments});
            let one = json!({"id": format!("call_{id}"), "type": "function", "function": function});
            (json!({"role": "assistant", "content": null, "tool_calls": [one]}), "tool_calls")
        }
        Reply::Drop | Reply::Fail(_) => (json!({"role": "assistant", "content": ""}), "stop"),
    };
    json!({"id": format!("chatcmpl-{id}"), "object": "chat.completion", "created": 0, "model": model,
        "choices": [{"index": 0, "message": message, "finish_reason": finish}], "usage": usage()})
}

fn usage() -> Value {
    json!({"prompt_tokens": 11, "completion_tokens": 7, "total_tokens": 18})
}
