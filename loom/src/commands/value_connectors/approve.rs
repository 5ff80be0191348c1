//! `loom value-connectors approve`.

use loom_api::request::{DecideGate, GateDecision};
use loom_api::routes;
use loom_domain::time::parse_duration_ms;
use loom_domain::{Error, Result};
use serde_json::Value;

use crate::cli::parsers;
use crate::commands::common::planned;
use crate::context::Context;
use crate::failure::Outcome;
use crate::output::pick;

/// Approve, deny or settle one gate
#[derive(Debug, clap::Args)]
#[command(group(clap::ArgGroup::new("what").args(["expires", "deny", "settle"])))]
#[command(override_usage = "loom value-connectors approve PLAN_ID --gate G --call-digest D [OPTIONS]")]
#[command(after_help = examples!(
    "loom value-connectors approve op_01arz3ndektsv4rrffq69g5fav \\\n    --gate apr_01arz3ndektsv4rrffq69g5fav --call-digest sha256:… --expires 15m",
    "loom value-connectors approve op_01arz3ndektsv4rrffq69g5fav \\\n    --gate apr_01arz3ndektsv4rrffq69g5fav --call-digest sha256:… --deny"
))]
pub(super) struct Args {
    /// Plan id
    #[arg(value_name = "PLAN_ID", value_parser = parsers::plan)]
    plan: String,
    /// Gate id
    #[arg(long, value_name = "GATE_ID", value_parser = parsers::gate)]
    gate: String,
    /// Digest of the call, as the plan shows it
    #[arg(long, value_name = "D")]
    call_digest: String,
    /// How long the approval lasts, 1m to 24h [default: 15m]
    #[arg(long, value_name = "D", value_parser = seconds)]
    expires: Option<u64>,
    /// The write may not be made
    #[arg(long)]
    deny: bool,
    /// Why, with --deny
    #[arg(long, value_name = "R", requires = "deny")]
    reason: Option<String>,
    /// What became of a write of unknown fate
    #[arg(long, value_name = "FATE", value_parser = ["sent", "not-sent"])]
    settle: Option<String>,
}

fn seconds(text: &str) -> Result<u64> {
    let seconds = u64::try_from(parse_duration_ms(text)? / 1_000).unwrap_or(0);
    let fits = loom_domain::gate::APPROVAL_RANGE.contains(&seconds);
    if fits { Ok(seconds) } else { Err(Error::invalid("expires", "expected 1m to 24h")) }
}

/// Decides.
pub(super) async fn run(args: Args, cx: &mut Context<'_, '_>) -> Outcome {
    let decision = match args.settle.as_deref() {
        Some("sent") => GateDecision::Sent,
        Some(_) => GateDecision::NotSent,
        None if args.deny => GateDecision::Deny,
        None => GateDecision::Approve,
    };
    let dry_run = cx.globals.dry_run;
    let body = DecideGate {
        call_digest: args.call_digest,
        decision,
        expires_seconds: args.expires,
        reason: args.reason,
    };
    let call = cx.hub()?;
    let call = call.post(routes::plan_gate(&args.plan, &args.gate)).dry_run(dry_run);
    let gate: Value = call.json(&body)?.run().await?;
    if dry_run {
        return planned(cx, decision.as_str(), &[args.gate]);
    }
    if !cx.out.is_human() {
        return cx.out.json(&gate);
    }
    let state = match pick::text(&gate, "outcome") {
        outcome if outcome.is_empty() => pick::text(&gate, "state"),
        outcome => outcome,
    };
    cx.out.line(&format!("{} is {state}", args.gate))?;
    match decision {
        GateDecision::Approve => {
            cx.out.note(&format!("until {}", pick::text(&gate, "expires_at")))?;
            cx.out.note(&format!("loom value-connectors run {}", args.plan))
        }
        _ => Ok(()),
    }
}
