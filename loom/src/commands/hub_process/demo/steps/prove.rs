//! Step 7: the paths, the audit chain and the closing count.

use loom_api::routes;
use loom_domain::Result;
use serde_json::Value;

use super::super::check::Checks;
use super::super::stage::Stage;
use super::{items, text};

pub(super) async fn all(stage: &Stage, checks: &mut Checks) -> Result<()> {
    let outbox = stage.get(routes::outbox()).await?;
    let first = items(&outbox).last().cloned().unwrap_or(Value::Null);
    let path = stage.get(format!("{}?q={}", routes::where_is(), text(&first, "/id"))).await?;
    let steps = path.get("steps").and_then(Value::as_array).map_or(0, Vec::len);
    checks.check(
        text(&path, "/verdict") == "DELIVERED",
        format!("loom where tells {steps} steps and ends with DELIVERED"),
    );
    let audit = stage.get(routes::audit_verify()).await?;
    let rows = audit.get("rows").and_then(Value::as_u64).unwrap_or(0);
    checks.check(rows > 0, format!("the audit chain of {rows} rows verifies"));
    let open = items(&outbox).iter().filter(|item| text(item, "/state") != "sent").count();
    checks.check(open == 0, format!("{} sends, every one with its receipt; lost 0", items(&outbox).len()));
    let mut texts: Vec<String> =
        stage.twin.ledger().by_app().map(|m| format!("{}/{}", m.channel, m.text)).collect();
    let all = texts.len();
    texts.sort();
    texts.dedup();
    checks.check(
        texts.len() == all && all == items(&outbox).len(),
        format!("{all} messages that people see; doubled 0"),
    );
    Ok(())
}
