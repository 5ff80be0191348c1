//! The Anthropic dialect (`POST /v1/messages`).

use serde_json::{Value, json};

use super::reply::{PIECE_EVERY, Reply};
use super::sse::Step;
use super::talk::{Entry, Talk, Tool, content_text, list_at, text_at};

/// Reads a request. Each text block is an entry, since clients merge consecutive user messages.
pub(super) fn parse(body: &Value) -> Talk {
    let mut talk = Talk { model: text_at(body, "model").to_owned(), ..Talk::default() };
    for message in list_at(body, "messages") {
        if text_at(message, "role") == "assistant" {
            talk.entries.push(Entry::Assistant);
            continue;
        }
        if let Some(text) = message.get("content").and_then(Value::as_str) {
            talk.user(text);
        }
        for block in list_at(message, "content") {
            match text_at(block, "type") {
                "text" => talk.user(text_at(block, "text")),
                "tool_result" => {
                    let text = block.get("content").map(content_text).unwrap_or_default();
                    talk.entries.push(Entry::ToolResult(text));
                }
                _ => {}
            }
        }
    }
    let names = list_at(body, "tools").iter().map(|tool| text_at(tool, "name").to_owned());
    talk.tools = names.map(|name| Tool { namespace: None, name }).collect();
    talk
}

/// Plays an answer.
pub(super) fn steps(reply: Reply, model: &str, id: u64) -> Vec<Step> {
    let message = json!({"id": format!("msg_{id}"), "type": "message", "role": "assistant", "model": model,
        "content": [], "stop_reason": null, "stop_sequence": null, "usage": {"input_tokens": 11, "output_tokens": 0}});
    let mut steps = vec![Step::typed("message_start", json!({"message": message}))];
    let mut stop = "end_turn";
    match reply {
        Reply::Text { comment, text } => {
            let blocks: Vec<String> = comment.into_iter().chain([text]).collect();
            for (index, text) in blocks.iter().enumerate() {
                block(&mut steps, index, &json!({"type": "text", "text": ""}), "text", &[text.as_str()]);
            }
        }
        Reply::Slow { pieces, text } => {
            steps.push(start(0, &json!({"type": "text", "text": ""})));
            for _ in 0..pieces {
                steps.push(delta(0, "text", "."));
                steps.push(Step::Wait(PIECE_EVERY));
            }
            steps.push(delta(0, "text", &text));
            steps.push(Step::typed("content_block_stop", json!({"index": 0})));
        }
        Reply::Call(call) => {
            stop = "tool_use";
            let tool =
                json!({"type": "tool_use", "id": format!("toolu_{id}"), "name": call.name, "input": {}});
            block(&mut steps, 0, &tool, "input_json", &[call.arguments.as_str()]);
        }
        Reply::Drop | Reply::Fail(_) => {
            steps.push(start(0, &json!({"type": "text", "text": ""})));
            steps.push(delta(0, "text", "this breaks o"));
            steps.push(Step::Cut);
            return steps;
        }
    }
    let end = json!({"delta": {"stop_reason": stop, "stop_sequence": null}, "usage": {"output_tokens": 7}});
    steps.push(Step::typed("message_delta", end));
    steps.push(Step::typed("message_stop", json!({})));
    steps
}

fn start(index: usize, block: &Value) -> Step {
    Step::typed("content_block_start", json!({"index": index, "content_block": block}))
}

fn delta(index: usize, kind: &str, text: &str) -> Step {
    let delta = if kind == "text" {
        json!({"type": "text_delta", "text": text})
    } else {
        json!({"type": "input_json_delta", "partial_json": text})
    };
    Step::typed("content_block_delta", json!({"index": index, "delta": delta}))
}

fn block(steps: &mut Vec<Step>, index: usize, block: &Value, kind: &str, pieces: &[&str]) {
    steps.push(start(index, block));
    steps.extend(pieces.iter().map(|piece| delta(index, kind, piece)));
    steps.push(Step::typed("content_block_stop", json!({"index": index})));
}
