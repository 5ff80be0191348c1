//! The model twin over real sockets, in its three dialects.

use std::time::Duration;

use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::time::timeout;

use super::{Dialect, ModelTwin};

/// Posts a body and gives everything that came back, and whether the answer ended as HTTP wants.
async fn post(twin: &ModelTwin, path: &str, body: &Value) -> (String, bool) {
    let body = body.to_string();
    let host = twin.base_url().replace("http://", "");
    let mut socket = TcpStream::connect(&host).await.unwrap();
    let head = format!(
        "POST {path} HTTP/1.1\r\nhost: {host}\r\ncontent-length: {}\r\nauthorization: Bearer k\r\nconnection: close\r\n\r\n",
        body.len()
    );
    socket.write_all((head + &body).as_bytes()).await.unwrap();
    let mut answer = Vec::new();
    // A cut connection may show as a reset.
    let _ = timeout(Duration::from_secs(10), socket.read_to_end(&mut answer)).await.unwrap();
    let answer = String::from_utf8_lossy(&answer).into_owned();
    let whole = answer.ends_with("0\r\n\r\n") || !answer.contains("chunked");
    (answer, whole)
}

async fn ask(twin: &ModelTwin, dialect: Dialect, text: &str) -> (String, bool) {
    let message = json!({"role": "user", "content": text});
    match dialect {
        Dialect::Responses => {
            let item =
                json!({"type": "message", "role": "user", "content": [{"type": "input_text", "text": text}]});
            let tools = json!([{"type": "function", "name": "exec_command"}]);
            post(twin, "/v1/responses", &json!({"model": "m", "input": [item], "tools": tools})).await
        }
        Dialect::Chat => {
            let tools = json!([{"type": "function", "function": {"name": "bash"}}]);
            let body = json!({"model": "m", "stream": true, "messages": [message], "tools": tools});
            post(twin, "/v1/chat/completions", &body).await
        }
        Dialect::Anthropic => {
            let body = json!({"model": "m", "messages": [message], "tools": [{"name": "Bash"}]});
            post(twin, "/v1/messages", &body).await
        }
    }
}

const ALL: [Dialect; 3] = [Dialect::Responses, Dialect::Chat, Dialect::Anthropic];

#[tokio::test]
async fn every_dialect_echoes_and_ends_as_its_clients_want() {
    let twin = ModelTwin::start(0).await.unwrap();
    let ends = ["response.completed", "data: [DONE]", "message_stop"];
    for (dialect, end) in ALL.into_iter().zip(ends) {
        let (answer, whole) = ask(&twin, dialect, "hello").await;
        assert!(whole && answer.contains("echo: hello") && answer.contains(end), "{dialect:?}: {answer}");
        assert!(answer.contains("text/event-stream"));
    }
    assert_eq!((twin.calls(), twin.calls_with("hello")), (3, 3));
    assert_eq!(twin.log()[1].authorization.as_deref(), Some("Bearer k"));
    twin.shutdown().await;
}

#[tokio::test]
async fn every_dialect_calls_the_shell_and_reads_its_result() {
    let twin = ModelTwin::start(0).await.unwrap();
    let calls = ["exec_command", "tool_calls", "input_json_delta"];
    for (dialect, call) in ALL.into_iter().zip(calls) {
        let (answer, _) = ask(&twin, dialect, "TOOL:ls").await;
        assert!(answer.contains(call) && answer.contains("ls"), "{dialect:?}: {answer}");
    }
    let result = json!({"input": [{"role": "user", "content": "TOOL:ls"}, {"type": "function_call"},
        {"type": "function_call_output", "output": "a file"}]});
    assert!(post(&twin, "/v1/responses", &result).await.0.contains("tool said: a file"));
    let result = json!({"messages": [{"role": "user", "content": "TOOL:ls"}, {"role": "assistant"},
        {"role": "tool", "content": "a file"}]});
    assert!(post(&twin, "/v1/chat/completions", &result).await.0.contains("tool said: a file"));
    let block = json!({"type": "tool_result", "content": [{"type": "text", "text": "a file"}]});
    let result = json!({"messages": [{"role": "user", "content": "TOOL:ls"}, {"role": "assistant"},
        {"role": "user", "content": [block]}]});
    assert!(post(&twin, "/v1/messages", &result).await.0.contains("tool said: a file"));
}

#[tokio::test]
async fn every_dialect_fails_and_breaks_off_as_asked() {
    let twin = ModelTwin::start(0).await.unwrap();
    for dialect in ALL {
        let (answer, _) = ask(&twin, dialect, "FAIL:429").await;
        assert!(answer.starts_with("HTTP/1.1 429") && answer.contains("invalid_request_error"), "{answer}");
        let (answer, whole) = ask(&twin, dialect, "DROP").await;
        assert!(!whole && answer.contains("this breaks o"), "{dialect:?}: {answer}");
    }
}

#[tokio::test]
async fn scaffolding_is_not_counted_and_phases_are_told_apart() {
    let twin = ModelTwin::start(0).await.unwrap();
    let input = json!([{"role": "user", "content": "<environment_context>x"}, {"role": "user", "content": "one"},
        {"role": "assistant", "content": "ok"}, {"role": "user", "content": "COUNT"}]);
    assert!(post(&twin, "/v1/responses", &json!({"input": input})).await.0.contains("users=2"));
    let merged = json!([{"type": "text", "text": "<system-reminder>x"}, {"type": "text", "text": "one"},
        {"type": "text", "text": "COUNT"}]);
    let merged = json!({"messages": [{"role": "user", "content": merged}]});
    assert!(post(&twin, "/v1/messages", &merged).await.0.contains("users=2"));
    let (answer, _) = ask(&twin, Dialect::Responses, "PHASES").await;
    assert!(answer.contains("\"phase\":\"commentary\"") && answer.contains("\"phase\":\"final_answer\""));
}

#[tokio::test]
async fn a_whole_chat_answer_and_an_mcp_tool_in_its_namespace() {
    let twin = ModelTwin::start(0).await.unwrap();
    let body = json!({"messages": [{"role": "user", "content": "hi"}]});
    let (answer, _) = post(&twin, "/v1/chat/completions", &body).await;
    assert!(answer.contains("application/json") && answer.contains("\"object\":\"chat.completion\""));
    let tools = json!([{"type": "namespace", "name": "mcp__loom", "tools": [{"name": "reply"}]}]);
    let body = json!({"input": "MCPTOOL:reply:{\"text\":\"x\"}", "tools": tools});
    let (answer, _) = post(&twin, "/v1/responses", &body).await;
    assert!(
        answer.contains("\"namespace\":\"mcp__loom\"") && answer.contains("\"name\":\"reply\""),
        "{answer}"
    );
}

#[tokio::test]
async fn a_slow_answer_ends_when_the_twin_stops() {
    let twin = ModelTwin::start(0).await.unwrap();
    let (answer, whole) = ask(&twin, Dialect::Chat, "SLOW:0.2").await;
    assert!(whole && answer.contains("slow for 200 ms"));
    let host = twin.base_url().replace("http://", "");
    let mut socket = TcpStream::connect(&host).await.unwrap();
    let body = json!({"input": "SLOW:600"}).to_string();
    let head = format!(
        "POST /v1/responses HTTP/1.1\r\nhost: {host}\r\ncontent-length: {}\r\n\r\n{body}",
        body.len()
    );
    socket.write_all(head.as_bytes()).await.unwrap();
    twin.wait_calls(2).await;
    timeout(Duration::from_secs(10), twin.shutdown()).await.expect("the stop must not wait for the answer");
}
