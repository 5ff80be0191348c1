//! The Responses dialect (`POST /v1/responses`).

use serde_json::{Value, json};

use super::reply::{Call, PIECE_EVERY, Reply};
use super::sse::Step;
use super::talk::{Entry, Talk, Tool, content_text, list_at, text_at};

/// Reads a request.
pub(super) fn parse(body: &Value) -> Talk {
    let mut talk = Talk { model: text_at(body, "model").to_owned(), ..Talk::default() };
    if let Some(text) = body.get("input").and_then(Value::as_str) {
        talk.user(text);
    }
    for item in list_at(body, "input") {
        let kind = text_at(item, "type");
        if kind.ends_with("_call_output") {
            let output = item.get("output").map(content_text).unwrap_or_default();
            talk.entries.push(Entry::ToolResult(output));
        } else if kind.ends_with("_call") || text_at(item, "role") == "assistant" {
            talk.entries.push(Entry::Assistant);
        } else if text_at(item, "role") == "user" {
            talk.user(&item.get("content").map(content_text).unwrap_or_default());
        }
    }
    talk.tools = list_at(body, "tools").iter().flat_map(tools).collect();
    talk
}

/// A tool, or the tools of a namespace.
fn tools(tool: &Value) -> Vec<Tool> {
    let name = text_at(tool, "name").to_owned();
    if text_at(tool, "type") != "namespace" {
        return vec![Tool { namespace: None, name }];
    }
    let inner = list_at(tool, "tools").iter();
    inner.map(|t| Tool { namespace: Some(name.clone()), name: text_at(t, "name").to_owned() }).collect()
}

/// Plays an answer. `id` is unique among the twin's answers.
pub(super) fn steps(reply: Reply, model: &str, id: u64) -> Vec<Step> {
    let mut steps = vec![Step::typed(
        "response.created",
        json!({"response": {"id": format!("resp_{id}"), "object": "response", "model": model, "status": "in_progress", "output": []}}),
    )];
    let mut output = Vec::new();
    match reply {
        Reply::Text { comment, text } => {
            let phases = comment.is_some();
            if let Some(comment) = comment {
                message(&mut steps, &mut output, id, &[comment], Some("commentary"));
            }
            message(&mut steps, &mut output, id, &[text], phases.then_some("final_answer"));
        }
        Reply::Slow { pieces, text } => slow(&mut steps, &mut output, id, pieces, &text),
        Reply::Call(call) => function_call(&mut steps, &mut output, id, &call),
        Reply::Drop | Reply::Fail(_) => {
            opening(&mut steps, 0, &format!("msg_{id}_0"), None);
            steps.push(delta(0, &format!("msg_{id}_0"), "this breaks o"));
            steps.push(Step::Cut);
            return steps;
        }
    }
    let response = json!({"id": format!("resp_{id}"), "object": "response", "model": model, "status": "completed",
        "output": output, "usage": usage()});
    steps.push(Step::typed("response.completed", json!({"response": response})));
    steps
}

/// Usage of each answer; a constant, so that tests can count answers by it.
fn usage() -> Value {
    json!({"input_tokens": 11, "input_tokens_details": {"cached_tokens": 3}, "output_tokens": 7,
        "output_tokens_details": {"reasoning_tokens": 2}, "total_tokens": 18})
}

fn item(id: &str, status: &str, phase: Option<&str>, content: &Value) -> Value {
    let mut item =
        json!({"type": "message", "role": "assistant", "id": id, "status": status, "content": content});
    if let (Some(phase), Some(map)) = (phase, item.as_object_mut()) {
        map.insert("phase".to_owned(), phase.into());
    }
    item
}

fn opening(steps: &mut Vec<Step>, index: usize, id: &str, phase: Option<&str>) {
    let added = json!({"output_index": index, "item": item(id, "in_progress", phase, &json!([]))});
    steps.push(Step::typed("response.output_item.added", added));
    let part = json!({"type": "output_text", "text": "", "annotations": []});
    let part = json!({"item_id": id, "output_index": index, "content_index": 0, "part": part});
    steps.push(Step::typed("response.content_part.added", part));
}

fn delta(index: usize, id: &str, text: &str) -> Step {
    let body = json!({"item_id": id, "output_index": index, "content_index": 0, "delta": text});
    Step::typed("response.output_text.delta", body)
}

fn closing(steps: &mut Vec<Step>, output: &mut Vec<Value>, id: &str, text: &str, phase: Option<&str>) {
    let index = output.len();
    let at = json!({"item_id": id, "output_index": index, "content_index": 0, "text": text});
    steps.push(Step::typed("response.output_text.done", at));
    let part = json!({"type": "output_text", "text": text, "annotations": []});
    let at = json!({"item_id": id, "output_index": index, "content_index": 0, "part": part});
    steps.push(Step::typed("response.content_part.done", at));
    let done = item(id, "completed", phase, &json!([part]));
    steps.push(Step::typed("response.output_item.done", json!({"output_index": index, "item": done})));
    output.push(done);
}

fn message(steps: &mut Vec<Step>, output: &mut Vec<Value>, id: u64, pieces: &[String], phase: Option<&str>) {
    let name = format!("msg_{id}_{}", output.len());
    opening(steps, output.len(), &name, phase);
    steps.extend(pieces.iter().map(|piece| delta(output.len(), &name, piece)));
    closing(steps, output, &name, &pieces.concat(), phase);
}

fn slow(steps: &mut Vec<Step>, output: &mut Vec<Value>, id: u64, pieces: u32, text: &str) {
    let name = format!("msg_{id}_0");
    opening(steps, 0, &name, None);
    for _ in 0..pieces {
        steps.push(delta(0, &name, "."));
        steps.push(Step::Wait(PIECE_EVERY));
    }
    let dots = ".".repeat(usize::try_from(pieces).unwrap_or(0));
    steps.push(delta(0, &name, text));
    closing(steps, output, &name, &format!("{dots}{text}"), None);
}

fn function_call(steps: &mut Vec<Step>, output: &mut Vec<Value>, id: u64, call: &Call) {
    let name = format!("fc_{id}");
    let whole = |status: &str, arguments: &str| {
        let mut item = json!({"type": "function_call", "id": name, "call_id": format!("call_{id}"),
            "name": call.name, "status": status, "arguments": arguments});
        if let (Some(namespace), Some(map)) = (&call.namespace, item.as_object_mut()) {
            map.insert("namespace".to_owned(), namespace.clone().into());
        }
        item
    };
    let added = json!({"output_index": 0, "item": whole("in_progress", "")});
    steps.push(Step::typed("response.output_item.added", added));
    let piece = json!({"item_id": name, "output_index": 0, "delta": call.arguments});
    steps.push(Step::typed("response.function_call_arguments.delta", piece));
    let done = json!({"item_id": name, "output_index": 0, "arguments": call.arguments});
    steps.push(Step::typed("response.function_call_arguments.done", done));
    let item = whole("completed", &call.arguments);
    steps.push(Step::typed("response.output_item.done", json!({"output_index": 0, "item": item})));
    output.push(item);
}
