//! Questions of codex that the owner answers.

use serde_json::{Value, json};

use crate::{Decision, PermissionId, PermissionRequest};

use super::history::text;

/// A question that waits for its answer.
#[derive(Debug, Clone)]
pub(super) struct Question {
    /// Id of the request in codex's own id space.
    pub(super) id: Value,
    kind: Kind,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Approval,
    Elicitation,
}

/// Reads a server request; `None` when it is not a question that Loom knows.
pub(super) fn read(
    id: &Value,
    method: &str,
    params: &Value,
    item: Option<&Value>,
) -> Option<(Question, PermissionRequest)> {
    let kind = match method {
        "item/commandExecution/requestApproval" | "item/fileChange/requestApproval" => Kind::Approval,
        "mcpServer/elicitation/request" if is_tool_call(params) => Kind::Elicitation,
        _ => return None,
    };
    let request = PermissionRequest {
        id: PermissionId(id.to_string()),
        kind: method.to_owned(),
        text: shown(params, item),
    };
    Some((Question { id: id.clone(), kind }, request))
}

/// The result to send for a decision.
pub(super) fn result(question: &Question, decision: Decision) -> Value {
    match (question.kind, decision) {
        (Kind::Approval, Decision::AllowOnce) => json!({"decision": "accept"}),
        (Kind::Approval, Decision::Deny) => json!({"decision": "decline"}),
        (Kind::Approval, Decision::Cancel) => json!({"decision": "cancel"}),
        (Kind::Elicitation, Decision::AllowOnce) => json!({"action": "accept", "content": {}}),
        (Kind::Elicitation, Decision::Deny) => json!({"action": "decline"}),
        (Kind::Elicitation, Decision::Cancel) => json!({"action": "cancel"}),
    }
}

fn is_tool_call(params: &Value) -> bool {
    let kind = params.get("_meta").and_then(|meta| meta.get("codex_approval_kind"));
    kind.and_then(Value::as_str) == Some("mcp_tool_call")
}

/// The full text to show: everything codex says about the act, and the changes of a file change.
fn shown(params: &Value, item: Option<&Value>) -> String {
    let mut lines = Vec::new();
    for (label, key) in [
        ("command", "command"),
        ("cwd", "cwd"),
        ("server", "serverName"),
        ("message", "message"),
        ("reason", "reason"),
    ] {
        let value = text(params, key);
        if !value.is_empty() {
            lines.push(format!("{label}: {value}"));
        }
    }
    let more = [
        ("root", params.get("grantRoot")),
        ("network", params.get("networkApprovalContext")),
        ("call", params.get("_meta")),
        ("changes", item.and_then(|item| item.get("changes"))),
    ];
    for (label, value) in more {
        if let Some(value) = value.filter(|value| !value.is_null()) {
            lines.push(format!("{label}: {value}"));
        }
    }
    lines.join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rt_12_a_question_shows_the_whole_act_and_no_answer_lasts() {
        let params = json!({"command": "rm -r x", "cwd": "/w", "reason": null, "itemId": "i"});
        let (question, request) =
            read(&json!(0), "item/commandExecution/requestApproval", &params, None).unwrap();
        assert_eq!(request.text, "command: rm -r x\ncwd: /w");
        assert_eq!(result(&question, Decision::AllowOnce), json!({"decision": "accept"}));
        assert_eq!(result(&question, Decision::Deny), json!({"decision": "decline"}));
        let item = json!({"changes": [{"path": "a"}]});
        let (_, request) =
            read(&json!(1), "item/fileChange/requestApproval", &json!({}), Some(&item)).unwrap();
        assert!(request.text.contains(r#"changes: [{"path":"a"}]"#));
    }

    #[test]
    fn rt_12_an_mcp_question_has_its_own_words_and_others_are_not_known() {
        let params = json!({"serverName": "loom", "message": "call it?", "_meta": {"codex_approval_kind": "mcp_tool_call"}});
        let (question, _) = read(&json!(2), "mcpServer/elicitation/request", &params, None).unwrap();
        assert_eq!(result(&question, Decision::AllowOnce), json!({"action": "accept", "content": {}}));
        assert_eq!(result(&question, Decision::Cancel), json!({"action": "cancel"}));
        assert!(read(&json!(3), "mcpServer/elicitation/request", &json!({}), None).is_none());
        assert!(read(&json!(4), "item/tool/requestUserInput", &json!({}), None).is_none());
    }
}
