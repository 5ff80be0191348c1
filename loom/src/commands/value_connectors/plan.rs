//! `loom value-connectors plan`.

mod words;

use std::collections::BTreeMap;

use loom_api::routes;
use loom_capabilities::{ConnectorConfig, DOCUMENT_BYTES_MAX, check_plan, parse_plan, prepare_all};
use loom_domain::connector_plan::{PlanFile, SCHEMA, project};
use loom_domain::{Code, Error, OperationId, Result};
use serde_json::{Value, json};

use crate::commands::run_order::request;
use crate::compose::{entropy, world};
use crate::context::Context;
use crate::failure::Outcome;
use crate::input::body::read_limited;
use crate::input::document::read_text;
use words::Own;

/// Plan external writes; --submit opens gates
#[derive(Debug, clap::Args)]
#[command(after_help = examples!(
    "loom value-connectors plan --connector local/tickets --op comment \\\n    --ticket 7 --text 'We are on it' --submit",
    "loom value-connectors plan --config plan.yaml"
))]
pub(super) struct Args {
    /// Plan with one or more calls, or - for standard input
    #[arg(long, value_name = "FILE", conflicts_with = "connector")]
    config: Option<String>,
    /// Connector of a plan of one call
    #[arg(long, value_name = "ID")]
    connector: Option<String>,
    /// Operation
    #[arg(long, value_name = "OP", requires = "connector")]
    op: Option<String>,
    #[command(flatten)]
    own: Own,
    /// Input flags of the operation, and flags of its run
    #[arg(value_name = "INPUT FLAGS", trailing_var_arg = true, allow_hyphen_values = true)]
    input: Vec<String>,
}

impl Args {
    /// The words that are the operation's own, if a connector was named.
    pub(super) fn words(&self) -> Option<Vec<String>> {
        let connector = self.connector.clone()?;
        let op = self.op.iter().map(|op| format!("--op={op}"));
        let rest = words::without_own(&self.input);
        Some(std::iter::once(connector).chain(op).chain(rest).collect())
    }
}

/// Makes it, and submits it if asked.
pub(super) async fn run(args: Args, cx: &mut Context<'_, '_>) -> Outcome {
    let own = args.own.merged(&args.input)?;
    let mut file = match &args.config {
        Some(path) => parse_plan(&text_of(path, cx)?)?,
        None => of_flags(cx)?,
    };
    for call in &mut file.calls {
        call.sender_identity = call.sender_identity.take().or_else(|| own.sender_identity.clone());
        call.idempotency_key = call.idempotency_key.take().or_else(|| own.idempotency_key.clone());
    }
    file.objective = file.objective.or(own.objective.clone());
    file.notes.extend(own.notes());
    if file.id.is_none() {
        file.id = Some(OperationId::new(cx.env.now.0, entropy()()).to_string());
    }
    check_plan(&file)?;
    if own.submit && !cx.globals.dry_run {
        let plan: Value = cx.hub()?.post(routes::plans()).json(&file)?.run().await?;
        return cx.out.connector_plan(&plan);
    }
    let plan = Box::pin(local(&file, cx)).await?;
    cx.out.connector_plan(&plan)?;
    cx.out.note("not stored: repeat it with --submit, and the hub keeps it and opens its gates")
}

/// The plan as it would be submitted; nothing is sent or kept.
async fn local(file: &PlanFile, cx: &Context<'_, '_>) -> Result<Value> {
    let world = world::offline(cx.env)?;
    let catalog = world::catalog(cx.env)?;
    let id = file.id.as_deref().unwrap_or_default();
    let prepared = Box::pin(prepare_all(&world, &catalog, id, &file.calls)).await?;
    let calls: Vec<_> = prepared.into_iter().map(|one| one.call).collect();
    let notes: &BTreeMap<String, String> = &file.notes;
    Ok(json!({
        "schema_version": SCHEMA, "id": id, "objective": file.objective, "notes": notes,
        "projection": project(&calls, 0, 0), "calls": calls,
    }))
}

fn of_flags(cx: &mut Context<'_, '_>) -> Result<PlanFile> {
    let order = cx.order.take();
    let order = order.ok_or_else(|| Error::new(Code::Usage, "give --config FILE, or --connector ID"))?;
    let (request, save) = request::of(&order, cx.env)?;
    let entry = order.capability.entry();
    Ok(PlanFile::of(ConnectorConfig::of(&entry.qualified(), &request, save).order()))
}

fn text_of(path: &str, cx: &mut Context<'_, '_>) -> Result<String> {
    match path {
        "-" => read_limited(&mut cx.env.stdin.reader, DOCUMENT_BYTES_MAX),
        path => read_text(path, DOCUMENT_BYTES_MAX),
    }
}
