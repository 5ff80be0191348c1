//! Decides, in no dialect, what the model answers.

use std::time::Duration;

use serde_json::{Value, json};

use super::order::Order;
use super::talk::{Talk, Tool};

/// Names under which clients offer a shell.
const SHELLS: [&str; 6] = ["exec_command", "shell_command", "shell", "local_shell", "bash", "Bash"];

/// A tool call to make.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Call {
    pub(super) namespace: Option<String>,
    pub(super) name: String,
    pub(super) arguments: String,
}

/// The model's answer.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Reply {
    /// A comment that is not the answer, then the answer.
    Text { comment: Option<String>, text: String },
    /// An answer written for this long.
    Slow { pieces: u32, text: String },
    /// A tool call.
    Call(Call),
    /// An HTTP error.
    Fail(u16),
    /// A stream that breaks off.
    Drop,
}

/// Time between two pieces of a slow answer.
pub(super) const PIECE_EVERY: Duration = Duration::from_millis(50);

/// Decides the answer to a request.
pub(super) fn decide(talk: &Talk) -> Reply {
    if let Some(result) = talk.fresh_result() {
        return text(format!("tool said: {}", result.trim()));
    }
    match Order::of(talk.last_user()) {
        Order::Echo(said) => text(format!("echo: {said}")),
        Order::Slow(time) => {
            let pieces = u32::try_from(time.as_millis() / PIECE_EVERY.as_millis()).unwrap_or(u32::MAX);
            Reply::Slow { pieces, text: format!("slow for {} ms", time.as_millis()) }
        }
        Order::Tool(line) => shell(&talk.tools, &line),
        Order::McpTool(name, arguments) => Reply::Call(mcp(&talk.tools, &name, arguments)),
        Order::Fail(status) => Reply::Fail(status),
        Order::Drop => Reply::Drop,
        Order::Count => text(format!("users={}", talk.users())),
        Order::Phases => {
            Reply::Text { comment: Some("working on it".to_owned()), text: "the answer".to_owned() }
        }
    }
}

fn text(text: String) -> Reply {
    Reply::Text { comment: None, text }
}

fn shell(tools: &[Tool], line: &str) -> Reply {
    let Some(tool) = SHELLS.iter().find_map(|name| tools.iter().find(|tool| tool.name == *name)) else {
        return text("no shell tool is offered".to_owned());
    };
    let arguments = match tool.name.as_str() {
        "exec_command" => json!({"cmd": line}),
        "shell" | "local_shell" => json!({"command": ["bash", "-c", line]}),
        _ => json!({"command": line, "description": "runs a command"}),
    };
    let (namespace, name) = (tool.namespace.clone(), tool.name.clone());
    Reply::Call(Call { namespace, name, arguments: arguments.to_string() })
}

fn mcp(tools: &[Tool], name: &str, arguments: String) -> Call {
    let suffix = format!("__{name}");
    let found = tools
        .iter()
        .find(|tool| tool.namespace.is_some() && tool.name == name)
        .or_else(|| tools.iter().find(|tool| tool.name == name || tool.name.ends_with(&suffix)));
    match found {
        Some(tool) => Call { namespace: tool.namespace.clone(), name: tool.name.clone(), arguments },
        None => Call { namespace: None, name: name.to_owned(), arguments },
    }
}

/// The body of an HTTP error. A 4xx names `invalid_request_error`, because a peer retries others for minutes.
pub(super) fn failure(status: u16) -> Value {
    let kind = if status < 500 { "invalid_request_error" } else { "server_error" };
    json!({"type": "error", "error": {"type": kind, "code": null, "message": format!("failed as asked: {status}")}})
}
