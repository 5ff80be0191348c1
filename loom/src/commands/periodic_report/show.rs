//! `loom periodic-report show`.

use loom_api::routes;
use loom_domain::{Code, Error};
use loom_hub::{home::Home, reports::Shelf};
use loom_report::{Report, markdown};
use serde_json::Value;

use crate::context::Context;
use crate::failure::Outcome;

/// Show a report that was made
#[derive(Debug, clap::Args)]
#[command(after_help = examples!(
    "loom periodic-report show art_01arz3ndektsv4rrffq69g5fav",
    "loom periodic-report show art_01arz3ndektsv4rrffq69g5fav --json"
))]
pub(super) struct Args {
    /// Id of the report
    #[arg(value_name = "REPORT_ID")]
    id: String,
}

/// Shows it.
pub(super) async fn run(args: Args, cx: &mut Context<'_, '_>) -> Outcome {
    let found = cx.hub()?.get(routes::report(&args.id)).run::<Value>().await;
    let document = match found {
        Err(error) if error.code == Code::HubUnreachable => {
            let report = Shelf::new(&Home::new(cx.env.home())).show(&args.id)?;
            serde_json::to_value(report).map_err(Error::internal)?
        }
        found => found?,
    };
    if !cx.out.is_human() {
        return cx.out.json(&document);
    }
    let report: Report = serde_json::from_value(document).map_err(Error::internal)?;
    cx.out.document(&markdown(&report))
}
