//! The configuration file and the environment of a codex instance.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use crate::process::make_private_dir;
use crate::{AgentSpec, Approval, ErrClass, HostCtx, McpDoor, RuntimeError, RuntimeSettings, Sandbox};

/// Name of the model provider and of the MCP server that Loom configures.
const LOOM: &str = "loom";

/// The private codex home of an instance.
pub(super) fn home(host: &HostCtx) -> PathBuf {
    host.private_dir.join("codex")
}

/// Makes the private directories and, for an endpoint of one's own, the configuration file.
pub(super) fn prepare(settings: &RuntimeSettings, host: &HostCtx) -> io::Result<()> {
    make_private_dir(&home(host))?;
    make_private_dir(&host.private_dir.join("tmp"))?;
    match &settings.endpoint {
        Some(endpoint) => fs::write(home(host).join("config.toml"), file(settings, endpoint)),
        None => Ok(()),
    }
}

/// A provider that speaks the Responses dialect. It does not retry: Loom has its own rules for reported failures.
fn file(settings: &RuntimeSettings, endpoint: &str) -> String {
    let mut provider = format!(
        "name = \"Loom\"\nbase_url = {}\nwire_api = \"responses\"\nrequest_max_retries = 0\nstream_max_retries = 0\n",
        quoted(endpoint)
    );
    if let Some(name) = &settings.endpoint_key_env {
        provider.extend(["env_key = ", &quoted(name), "\n"]);
    }
    format!("model_provider = \"{LOOM}\"\n\n[model_providers.{LOOM}]\n{provider}")
}

/// A TOML basic string: JSON's escapes are a part of TOML's, DEL aside.
fn quoted(text: &str) -> String {
    Value::from(text).to_string().replace('\u{7f}', "\\u007F")
}

/// The policy fields of `thread/start` and `thread/resume`, all of them, every time.
pub(super) fn policy(agent: &AgentSpec, host: &HostCtx) -> Result<Value, RuntimeError> {
    let settings = &agent.runtime;
    let mut all = json!({
        "cwd": agent.cwd,
        "approvalPolicy": approval(settings.approval),
        "sandbox": sandbox(settings.sandbox),
        "model": settings.model,
        "developerInstructions": agent.profile,
    });
    if let (Some(door), Some(map)) = (&host.mcp, all.as_object_mut()) {
        map.insert("config".to_owned(), json!({"mcp_servers": {LOOM: mcp(door)?}}));
    }
    Ok(all)
}

fn mcp(door: &McpDoor) -> Result<Value, RuntimeError> {
    let mut server = match door {
        McpDoor::Stdio { command, args, env } => json!({"command": command, "args": args, "env": env}),
        McpDoor::Http { url, token_file } => {
            json!({"url": url, "http_headers": {"Authorization": format!("Bearer {}", token(token_file)?)}})
        }
    };
    if let Some(map) = server.as_object_mut() {
        // Without these a tool that writes is refused, and a server that is not there is left out silently.
        map.insert("default_tools_approval_mode".to_owned(), "approve".into());
        map.insert("required".to_owned(), true.into());
    }
    Ok(server)
}

fn token(path: &Path) -> Result<String, RuntimeError> {
    let text = fs::read_to_string(path);
    let text =
        text.map_err(|error| RuntimeError::new(ErrClass::Spawn, format!("the token file: {error}")))?;
    Ok(text.trim().to_owned())
}

fn sandbox(sandbox: Sandbox) -> &'static str {
    match sandbox {
        Sandbox::ReadOnly => "read-only",
        Sandbox::WorkspaceWrite => "workspace-write",
        Sandbox::FullAccess => "danger-full-access",
    }
}

fn approval(approval: Approval) -> &'static str {
    match approval {
        Approval::Never => "never",
        Approval::Ask => "on-request",
        Approval::Strict => "untrusted",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::RuntimeKind;

    #[test]
    fn rt_14_the_door_and_every_policy_field_are_offered_at_each_open() {
        let mut runtime = RuntimeSettings::new(RuntimeKind::Codex);
        runtime.approval = Approval::Strict;
        let agent = AgentSpec {
            id: loom_domain::AgentId::new(0, 1),
            name: "docs".into(),
            runtime,
            cwd: "/w".into(),
            profile: Some("be kind".into()),
        };
        let mut host = HostCtx::new("/p".into(), "/bin");
        let args = vec!["mcp".to_owned(), "--agent".to_owned(), "docs".to_owned()];
        host.mcp = Some(McpDoor::Stdio { command: "/bin/loom".into(), args, env: [].into() });
        let sent = policy(&agent, &host).unwrap();
        assert_eq!(sent["approvalPolicy"], "untrusted");
        assert_eq!(sent["sandbox"], "read-only");
        assert_eq!(sent["developerInstructions"], "be kind");
        let door = &sent["config"]["mcp_servers"]["loom"];
        assert_eq!(door["command"], "/bin/loom");
        assert_eq!(
            (&door["required"], &door["default_tools_approval_mode"]),
            (&json!(true), &json!("approve"))
        );
    }

    #[test]
    fn an_endpoint_cannot_break_out_of_its_string() {
        let settings = RuntimeSettings::new(RuntimeKind::Codex);
        let text = file(&settings, "http://x\"\nmodel = \"y");
        assert!(text.contains(r#"base_url = "http://x\"\nmodel = \"y""#), "{text}");
    }
}
