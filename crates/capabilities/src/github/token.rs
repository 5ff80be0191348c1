//! Which token is used: the owner's reference, else the environment, else the `gh` program, else none.

use std::process::Stdio;
use std::time::Duration;

use loom_domain::{Principal, Result};
use loom_secrets::{Kind, Secret};
use loom_transport::CredentialBinding;
use tokio::process::Command;

use super::API;
use crate::Cx;

const PUBLIC: [&str; 2] = ["GITHUB_TOKEN", "GH_TOKEN"];
const ENTERPRISE: [&str; 2] = ["GH_ENTERPRISE_TOKEN", "GITHUB_ENTERPRISE_TOKEN"];
/// Variables that the `gh` program is given.
const GH_ENVIRONMENT: [&str; 4] = ["PATH", "HOME", "XDG_CONFIG_HOME", "GH_CONFIG_DIR"];
const GH_TIMEOUT: Duration = Duration::from_secs(5);
/// Longest token that is taken.
const TOKEN_BYTES_MAX: usize = 1_024;

/// Finds the credential for a base URL and binds it to that host alone.
pub(super) async fn find(cx: &Cx, base: &str) -> Result<Option<CredentialBinding>> {
    let Some(authority) = crate::plan::authority(base) else { return Ok(None) };
    if let Some(found) = cx.credential("github", Kind::Github, "token").await? {
        return Ok(Some(found.bearer([authority])));
    }
    // A token of the public site is not for another base URL.
    let variables = if base == API { PUBLIC } else { ENTERPRISE };
    for name in variables {
        if let Some(found) = cx.credential_variable(name, Kind::Github).await? {
            return Ok(Some(found.bearer([authority])));
        }
    }
    let host = match ::url::Url::parse(base).ok().filter(|_| base != API) {
        Some(base) => base.host_str().unwrap_or_default().to_owned(),
        None => super::url::SITE.to_owned(),
    };
    match of_program(cx, &host).await {
        Some(secret) => Ok(Some(cx.found(secret, "gh").bearer([authority]))),
        None => Ok(None),
    }
}

/// What `gh auth token` says; that the program is absent or fails is no error.
async fn of_program(cx: &Cx, host: &str) -> Option<Secret> {
    let is_name =
        host.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'.' || b == b'-') && !host.starts_with('-');
    let path = cx.variable("PATH")?;
    if *cx.principal() != Principal::Owner || !is_name || !exists(&path) {
        return None;
    }
    let mut command = Command::new("gh");
    command.args(["auth", "token", "--hostname", host]).env_clear().kill_on_drop(true);
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null());
    command.envs(GH_ENVIRONMENT.iter().filter_map(|name| Some((*name, cx.variable(name)?))));
    let output = tokio::time::timeout(GH_TIMEOUT, command.output()).await.ok()?.ok()?;
    let text = String::from_utf8(output.stdout).ok()?;
    let token = text.trim();
    let usable = output.status.success() && !token.is_empty() && token.len() <= TOKEN_BYTES_MAX;
    (usable && token.bytes().all(|b| b.is_ascii_graphic())).then(|| Secret::new(token))
}

fn exists(path: &str) -> bool {
    std::env::split_paths(path).any(|folder| folder.join("gh").is_file())
}
