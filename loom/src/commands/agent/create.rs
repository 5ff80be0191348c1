//! `loom agent create`.

use loom_api::{request, routes};
use loom_domain::agent::PROFILE_BYTES_MAX;
use loom_domain::{Code, Error, RuntimeKind};
use serde_json::Value;

use crate::cli::parsers;
use crate::context::Context;
use crate::failure::Outcome;
use crate::input::{document, secrets};
use crate::output::pick;

/// Create an Agent
#[derive(Debug, clap::Args)]
#[command(after_help = examples!(
    "loom agent create docs --runtime codex --cwd /srv/docs",
    "loom agent create echo --runtime command -- /usr/bin/cat"
))]
pub(crate) struct Args {
    /// Unique name
    #[arg(value_parser = parsers::agent)]
    name: String,
    /// Runtime: codex or command
    #[arg(long, value_name = "KIND")]
    runtime: RuntimeKind,
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
    /// Endpoint of the model provider or of the agent
    #[arg(long, value_name = "URL")]
    endpoint: Option<String>,
    /// File with the owner's text about the Agent
    #[arg(long, value_name = "F")]
    profile_file: Option<String>,
    /// Fail when the runtime does not answer its probe
    #[arg(long)]
    require_probe: bool,
    /// Command of the runtime
    #[arg(last = true, value_name = "CMD")]
    command: Vec<String>,
}

/// Creates it.
pub(crate) async fn run(args: Args, cx: &mut Context<'_, '_>) -> Outcome {
    if args.cwd.as_deref().is_some_and(|cwd| !cwd.starts_with('/')) {
        return Err(Error::new(Code::InvalidArgument, "--cwd: expected an absolute path").into());
    }
    let profile = args.profile_file.map(|path| document::read_text(&path, PROFILE_BYTES_MAX)).transpose()?;
    secrets::check(profile.as_deref().unwrap_or_default(), "the profile")?;
    let body = request::CreateAgent {
        name: args.name,
        runtime: args.runtime,
        cwd: args.cwd,
        model: args.model,
        effort: args.effort,
        sandbox: args.sandbox,
        approval: args.approval,
        endpoint: args.endpoint,
        profile,
        command: args.command,
        require_probe: args.require_probe,
    };
    let done: Value = cx.hub()?.post(routes::agents()).dry_run(cx.globals.dry_run).json(&body)?.run().await?;
    let line = format!("created {} {}", pick::text(&done, "object.name"), pick::text(&done, "object.id"));
    cx.out.mutation_as(&done, &line)
}
