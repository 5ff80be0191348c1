//! Refuses what this build has no adapter for, before anything is stored.

use std::path::Path;

use loom_api::{Mutation, request::CreateAgent};
use loom_domain::{
    Code, Connection, Error, Result, RuntimeKind, connection::GatewayMode, validate::canonical_provider,
};

use super::INSTALLED;

/// Providers whose gateway this build runs itself.
const MANAGED: &[&str] = &["slack", "feishu"];

/// What whoever connects Feishu or Lark has to know.
const OUTBOUND_ONLY: &str =
    "outbound only: this gateway sends to Feishu and Lark; messages from there do not come in yet";

/// Refuses a runtime that cannot run. Gives what stands in the way of one that may run later.
pub(super) fn check_runtime(new: &CreateAgent, path: &str) -> Result<Option<String>> {
    let program = match new.runtime {
        RuntimeKind::Codex => new.command.first().map_or("codex", String::as_str),
        RuntimeKind::Command => match new.command.first() {
            Some(program) => program.as_str(),
            None => {
                return Err(Error::new(Code::MissingField, "the runtime `command` needs a command")
                    .with_hint("Give it behind `--`, such as `-- /usr/bin/cat`."));
            }
        },
        RuntimeKind::Acp | RuntimeKind::Claude | RuntimeKind::Http => {
            return Err(Error::new(
                Code::CapabilityMissing,
                format!("this build has no adapter for the runtime `{}`", new.runtime),
            )
            .with_hint("Use the runtime codex or command."));
        }
    };
    if exists(program, new.cwd.as_deref(), path) {
        return Ok(None);
    }
    let missing = format!("the program `{program}` is not there; no Turn starts before it is");
    if new.require_probe {
        return Err(Error::new(Code::InvalidArgument, missing)
            .with_hint("Install it, give its absolute path, or leave out --require-probe."));
    }
    Ok(Some(missing))
}

/// Whether a program is found where its runtime looks: by its path, else in the search path.
fn exists(program: &str, cwd: Option<&str>, path: &str) -> bool {
    if program.contains('/') {
        return Path::new(cwd.unwrap_or("/")).join(program).is_file();
    }
    std::env::split_paths(path).any(|folder| folder.join(program).is_file())
}

/// Refuses a managed gateway of a provider that this build does not serve.
pub(super) fn check_gateway(provider: &str, mode: Option<GatewayMode>) -> Result<()> {
    if mode != Some(GatewayMode::Managed) {
        return Ok(());
    }
    let (provider, _) = canonical_provider(provider, &INSTALLED)?;
    if MANAGED.contains(&provider.as_str()) {
        return Ok(());
    }
    Err(Error::new(Code::CapabilityMissing, format!("this build has no managed gateway for {provider}"))
        .with_hint("Use --gateway external."))
}

/// Says of a Connection whose gateway only sends that nothing comes in.
pub(super) fn one_way(mut mutation: Mutation<Connection>) -> Mutation<Connection> {
    let connection = &mutation.object;
    if connection.provider == "feishu"
        && connection.gateway_mode == GatewayMode::Managed
        && connection.enabled
    {
        mutation.warnings.push(OUTBOUND_ONLY.to_owned());
    }
    mutation
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn runtime(kind: &str, command: &[&str], require_probe: bool) -> Result<Option<String>, Code> {
        let new = json!({"name": "a", "runtime": kind, "command": command, "requireProbe": require_probe});
        check_runtime(&serde_json::from_value(new).unwrap(), "/usr/bin:/bin").map_err(|error| error.code)
    }

    #[test]
    fn runtimes_without_an_adapter_or_program_are_told_at_once() {
        for kind in ["acp", "claude", "http"] {
            assert_eq!(runtime(kind, &["/bin/sh"], false), Err(Code::CapabilityMissing), "{kind}");
        }
        assert_eq!(runtime("command", &[], false), Err(Code::MissingField));
        assert_eq!(runtime("command", &["/bin/sh"], true), Ok(None));
        assert_eq!(runtime("command", &["sh"], true), Ok(None));
        assert!(runtime("command", &["/nonexistent/agent"], false).unwrap().is_some());
        assert_eq!(runtime("command", &["/nonexistent/agent"], true), Err(Code::InvalidArgument));
    }

    #[test]
    fn slack_and_feishu_have_a_managed_gateway() {
        for provider in ["parall", "webhook"] {
            let refused = check_gateway(provider, Some(GatewayMode::Managed)).unwrap_err();
            assert_eq!(refused.code, Code::CapabilityMissing);
            assert!(check_gateway(provider, Some(GatewayMode::External)).is_ok());
            assert!(check_gateway(provider, None).is_ok());
        }
        for word in ["slack", "Slack", "feishu", "lark"] {
            assert!(check_gateway(word, Some(GatewayMode::Managed)).is_ok());
        }
    }

    /// Which gateway was asked for does not hide that nobody knows the provider.
    #[test]
    fn msg_025_an_unknown_provider_is_told_before_its_gateway() {
        let unknown = check_gateway("msn", Some(GatewayMode::Managed)).unwrap_err();
        assert_eq!(unknown.code, Code::InvalidArgument);
        assert!(unknown.message.contains("slack, feishu"), "{}", unknown.message);
    }
}
