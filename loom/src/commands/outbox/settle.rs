//! `loom outbox settle`.

use loom_api::request::Settlement;
use loom_api::{request, routes};
use serde_json::Value;

use crate::cli::parsers;
use crate::context::Context;
use crate::failure::Outcome;

/// Say what became of Parts of unknown fate
#[derive(Debug, clap::Args)]
#[command(group(clap::ArgGroup::new("outcome").required(true).args(["sent", "resend", "failed"])))]
#[command(after_help = examples!(
    "loom outbox settle out_01arz3ndektsv4rrffq69g5fav --sent \\\n      --external-id 170.3 --confirm out_01arz3ndektsv4rrffq69g5fav",
    "loom outbox settle out_01arz3ndektsv4rrffq69g5fav --resend \\\n      --confirm out_01arz3ndektsv4rrffq69g5fav"
))]
pub(crate) struct Args {
    /// Item id
    #[arg(value_parser = parsers::outbox)]
    id: String,
    /// One Part; else every unknown one
    #[arg(long, value_name = "P", value_parser = parsers::part)]
    part: Option<String>,
    /// It was delivered
    #[arg(long)]
    sent: bool,
    /// Provider's message id, with --sent
    #[arg(long, value_name = "X", requires = "sent")]
    external_id: Option<String>,
    /// It was not delivered; send it again
    #[arg(long)]
    resend: bool,
    /// It was not delivered; give up
    #[arg(long)]
    failed: bool,
    /// A short remark
    #[arg(long, value_name = "T")]
    reason: Option<String>,
    /// The id, typed again
    #[arg(long, value_name = "ID")]
    confirm: Option<String>,
}

/// Settles it.
pub(super) async fn run(args: Args, cx: &mut Context<'_, '_>) -> Outcome {
    let outcome = match (args.sent, args.resend) {
        (true, _) => Settlement::Sent,
        (_, true) => Settlement::Resend,
        _ => Settlement::Failed,
    };
    let body = request::Settle {
        outcome,
        part: args.part,
        external_id: args.external_id,
        reason: args.reason,
        confirm: args.confirm,
    };
    let hub = cx.hub()?;
    let call = hub.post(routes::outbox_settle(&args.id)).dry_run(cx.globals.dry_run);
    let done: Value = call.json(&body)?.run().await?;
    cx.out.mutation(&done)
}
