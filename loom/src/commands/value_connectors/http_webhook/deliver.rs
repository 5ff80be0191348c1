//! `loom value-connectors http-webhook deliver`.

use loom_api::{request, routes};
use loom_capabilities::World;
use loom_capabilities::http_webhook::deliver::{attempt, message, own_origins, secrets};
use loom_domain::webhook::{BODY_BYTES_MAX, Endpoint, Tried};
use loom_domain::{Code, Error, PartId, Result};
use loom_secrets::Kind;
use serde_json::{Value, json};

use crate::commands::common::planned;
use crate::compose::{entropy, world};
use crate::context::Context;
use crate::failure::{Failure, Outcome};
use crate::input::body::read_limited;
use crate::input::document::read_text;
use crate::output::pick;

/// Send an event until it is taken
#[derive(Debug, clap::Args)]
#[command(override_usage = "loom … http-webhook deliver --endpoint NAME --type A.B --data FILE [OPTIONS]")]
#[command(after_help = examples!(
    "loom value-connectors http-webhook deliver --endpoint billing \\\n    --type invoice.paid --data invoice.json",
    "loom value-connectors http-webhook deliver --endpoint billing \\\n    --type invoice.paid --data - --once"
))]
pub(crate) struct Args {
    /// Endpoint
    #[arg(long, value_name = "NAME")]
    endpoint: String,
    /// Type of the event
    #[arg(long = "type", value_name = "A.B")]
    event_type: String,
    /// JSON file, or - for standard input
    #[arg(long, value_name = "FILE")]
    data: String,
    /// The webhook-id
    #[arg(long, value_name = "MSG_ID")]
    id: Option<String>,
    /// One attempt from here; nothing is queued
    #[arg(long)]
    once: bool,
}

/// Sends it.
pub(super) async fn run(args: Args, cx: &mut Context<'_, '_>) -> Outcome {
    let text = match args.data.as_str() {
        "-" => read_limited(&mut cx.env.stdin.reader, BODY_BYTES_MAX),
        path => read_text(path, BODY_BYTES_MAX),
    };
    let data: Value = serde_json::from_str(&text?).map_err(|error| {
        Error::new(Code::InvalidInput, format!("line {}: not JSON", error.line()))
            .with_detail("pointer", "/data")
    })?;
    if cx.globals.dry_run {
        return planned(cx, "deliver", &[args.endpoint]);
    }
    if args.once {
        return Box::pin(once(&args, &data, cx)).await;
    }
    let body = request::Deliver { endpoint: args.endpoint, r#type: args.event_type, data, id: args.id };
    let delivery: Value = cx.hub()?.post(routes::deliveries()).json(&body)?.run().await?;
    for warning in pick::list(&delivery, "warnings") {
        cx.out.note(&format!("warning: {}", warning.as_str().unwrap_or_default()))?;
    }
    match cx.out.is_human() {
        true => cx.out.line(&format!("queued {} for {}", pick::text(&delivery, "id"), body.endpoint)),
        false => cx.out.json(&delivery),
    }
}

async fn once(args: &Args, data: &Value, cx: &mut Context<'_, '_>) -> Outcome {
    let endpoint: Endpoint = cx.hub()?.get(routes::endpoint(&args.endpoint)).run().await?;
    let world = world::online(cx.env)?;
    let id = args.id.clone().unwrap_or_else(|| PartId::new(cx.env.now.0, entropy()()).to_string());
    let tried = sent(&world, &endpoint, &id, &args.event_type, data).await?;
    let document = json!({
        "schema_version": "loom.webhook_attempt/v1", "id": id, "endpoint": endpoint.name,
        "ok": tried.is_delivered(), "status": tried.status, "error": tried.error, "answer": tried.answer,
    });
    match cx.out.is_human() {
        true => {
            let told = tried.status.map_or_else(String::new, |status| status.to_string());
            let told = tried.error.map_or(told, |code| code.as_str().to_owned());
            cx.out.line(&format!("{id} to {}: {told}", endpoint.name))?;
        }
        false => cx.out.json(&document)?,
    }
    match (tried.is_delivered(), tried.error) {
        (true, _) => Ok(()),
        (false, code) => Err(Failure::of(code.unwrap_or(Code::ProviderHttpError))),
    }
}

async fn sent(world: &World, endpoint: &Endpoint, id: &str, event_type: &str, data: &Value) -> Result<Tried> {
    let now = world.clock.now();
    let message = message(endpoint, id, event_type, data, now)?;
    let secrets = secrets(endpoint, now, |reference| async move {
        world.credentials.resolve(&reference, Kind::Webhook, Kind::Webhook.main_field()).await
    });
    let secrets = secrets.await?;
    let transport = (world.door)(&world.meter, &own_origins(&endpoint.url))?;
    attempt(&transport, &world.redactor, &endpoint.url, id, &message, &secrets, now).await
}
