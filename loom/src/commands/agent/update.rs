//! `loom agent update`.

use loom_api::{request, routes};
use loom_domain::agent::{OnInterrupted, OnOversize};
use loom_domain::{Code, Error};
use serde_json::Value;

use crate::cli::parsers;
use crate::commands::common::Version;
use crate::context::Context;
use crate::failure::Outcome;

/// Change an Agent's settings
#[derive(Debug, clap::Args)]
#[command(after_help = examples!(
    "loom agent update docs --model gpt-5 --max-turn 1h",
    "loom agent update docs --new-thread --yes"
))]
pub(crate) struct Args {
    /// Agent name or id
    #[arg(value_parser = parsers::agent)]
    agent: String,
    /// Absolute working directory
    #[arg(long, value_name = "ABS")]
    cwd: Option<String>,
    /// Model
    #[arg(long)]
    model: Option<String>,
    /// Reasoning effort
    #[arg(long)]
    effort: Option<String>,
    /// Sandbox: `read_only`, `workspace_write` or `full_access`
    #[arg(long)]
    sandbox: Option<String>,
    /// Approval: never, ask or strict
    #[arg(long)]
    approval: Option<String>,
    /// Interrupted items: ask or rerun
    #[arg(long, value_name = "WORD")]
    on_interrupted: Option<OnInterrupted>,
    /// Oversized answers: file or fail
    #[arg(long, value_name = "WORD")]
    on_oversize: Option<OnOversize>,
    /// Longest Turn
    #[arg(long, value_name = "D", value_parser = parsers::seconds)]
    max_turn: Option<u64>,
    /// Start a new Thread and forget its labels
    #[arg(long)]
    new_thread: bool,
    /// Empty a field; may be repeated
    #[arg(long, value_name = "FIELD", value_parser = ["cwd", "model", "effort", "sandbox", "approval", "profile"])]
    clear: Vec<String>,
    #[command(flatten)]
    version: Version,
}

/// Changes them.
pub(crate) async fn run(args: Args, cx: &mut Context<'_, '_>) -> Outcome {
    let body = request::UpdateAgent {
        name: None,
        cwd: args.cwd,
        model: args.model,
        effort: args.effort,
        sandbox: args.sandbox,
        approval: args.approval,
        on_interrupted: args.on_interrupted,
        on_oversize: args.on_oversize,
        max_turn_seconds: args.max_turn,
        new_thread: args.new_thread,
        clear: args.clear,
        expected_version: None,
    };
    if body == request::UpdateAgent::default() {
        return Err(Error::new(Code::NothingToChange, "no field is named").into());
    }
    if body.new_thread {
        cx.confirmed("a new Thread forgets all that the present one holds")?;
    }
    let body = request::UpdateAgent { expected_version: args.version.expected_version, ..body };
    let hub = cx.hub()?;
    let call = hub.patch(routes::agent(&args.agent)).dry_run(cx.globals.dry_run);
    let done: Value = call.json(&body)?.run().await?;
    cx.out.mutation(&done)
}
