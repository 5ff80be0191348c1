//! Step 6: a connector reads a simulated GitHub that echoes the token it was shown.

use loom_domain::{Error, Result};
use loom_twins::github::{GithubTwin, Issue, Repo};
use serde_json::Value;

use super::super::check::Checks;
use super::super::stage::Stage;
use super::text;

const TOKEN: &str = "ghp_demo0123456789abcdefghijklmnopqrstuv";
const VARIABLE: &str = "LOOM_DEMO_GITHUB";

pub(super) async fn out(stage: &Stage, checks: &mut Checks) -> Result<()> {
    let repo = Repo::new("acme/tool").issue(Issue::new(7, 3));
    let twin = GithubTwin::builder().repo(repo).token(TOKEN, "ann").echo_token().start().await;
    let twin = twin.map_err(Error::internal)?;
    let (base, reference) = (twin.base_url(), format!("env:{VARIABLE}"));
    let words = [
        "value-connectors",
        "github-public-probe",
        "--url",
        "https://github.com/acme/tool/issues/7",
        "--fetch-metadata",
        "--api-url",
        base.as_str(),
        "--credential-ref",
        reference.as_str(),
        "--format",
        "json",
    ];
    let printed = stage.run(&words, (VARIABLE, TOKEN)).await?;
    let payload: Value = serde_json::from_str(&printed).unwrap_or_default();
    let metadata = payload.pointer("/fields/metadata").cloned().unwrap_or_default();
    let title = text(&metadata, "/title");
    let has = |key: &str| metadata.get(key).is_some();
    let dropped = payload.pointer("/redaction/dropped_fields").and_then(Value::as_u64).unwrap_or(0);
    checks.check(
        !title.is_empty() && twin.request_count() == 1,
        format!("one request reads issue 7, \"{title}\", into a payload of {} bytes", printed.len()),
    );
    checks.check(
        !has("body") && dropped > 0,
        format!("{dropped} fields that it does not declare were dropped"),
    );
    checks.check(
        !printed.is_empty() && !printed.contains(TOKEN),
        "GitHub echoed the token everywhere; the payload holds none of it",
    );
    twin.shutdown().await;
    Ok(())
}
