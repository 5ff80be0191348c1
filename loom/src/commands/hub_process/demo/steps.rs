//! The script: each step acts, waits for what must follow, and asserts it.

mod begin;
mod deliver;
mod prove;
mod reach;

use loom_domain::Result;
use serde_json::Value;

use super::check::Checks;
use super::stage::Stage;
use crate::output::items;

/// Steps of the script.
pub(super) const COUNT: usize = 7;

/// Title of a step.
pub(super) fn title(step: usize) -> &'static str {
    match step {
        1 => "1. A message in a channel without Membership is refused, with its reason",
        2 => {
            "2. With an enabled Membership it is decided, handled and answered in its thread, with a receipt"
        }
        3 => "3. A stranger's DM waits for approval; three copies of one event make one item",
        4 => "4. A lost answer is settled, not sent twice; a rate limit is waited out",
        5 => "5. The hub is killed in the middle of a send; after its restart nothing is lost or doubled",
        6 => "6. A connector reads GitHub: declared fields only, and no secret",
        _ => "7. Every path can be told, and the audit chain holds",
    }
}

/// Runs one step.
pub(super) async fn run(step: usize, stage: &mut Stage, checks: &mut Checks) -> Result<()> {
    match step {
        1 => begin::refused(stage, checks).await,
        2 => begin::answered(stage, checks).await,
        3 => begin::approved(stage, checks).await,
        4 => deliver::lost_answer_and_limit(stage, checks).await,
        5 => deliver::killed(stage, checks).await,
        6 => reach::out(stage, checks).await,
        _ => prove::all(stage, checks).await,
    }
}

/// Text at a pointer; empty when it is absent.
fn text(value: &Value, pointer: &str) -> String {
    value.pointer(pointer).and_then(Value::as_str).unwrap_or_default().to_owned()
}
