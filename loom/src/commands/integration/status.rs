//! `loom integration status`.

use std::time::Duration;

use loom_api::{query, routes};
use loom_domain::Code;
use serde_json::{Value, json};
use tokio::time::sleep;

use crate::cli::parsers;
use crate::context::Context;
use crate::failure::{Failure, Outcome};
use crate::output::{items, pick};

/// Pause between two looks of `--watch`.
const WATCH_EVERY: Duration = Duration::from_secs(2);

/// Show the true health of Connections
#[derive(Debug, clap::Args)]
#[command(after_help = examples!("loom integration status", "loom integration status --check --quiet"))]
pub(crate) struct Args {
    /// One Connection
    #[arg(value_name = "CONNECTION_ID", value_parser = parsers::connection)]
    connection: Option<String>,
    /// Exit 4 unless every one is connected without an error
    #[arg(long)]
    check: bool,
    /// Show again every 2 seconds until Ctrl-C
    #[arg(long)]
    watch: bool,
}

/// Shows it.
pub(crate) async fn run(args: Args, cx: &mut Context<'_, '_>) -> Outcome {
    loop {
        let shown = fetch(args.connection.as_deref(), cx).await?;
        show(&shown, args.connection.is_some(), cx)?;
        if !args.watch {
            return if args.check { check(&shown, cx) } else { Ok(()) };
        }
        cx.out.flush()?;
        sleep(WATCH_EVERY).await;
    }
}

async fn fetch(connection: Option<&str>, cx: &Context<'_, '_>) -> Outcome<Value> {
    let hub = cx.hub()?;
    if let Some(id) = connection {
        Ok(json!({ "items": [hub.get(routes::connection(id)).run::<Value>().await?] }))
    } else {
        let query = query::Connections { limit: Some(loom_api::LIMIT_MAX), ..query::Connections::default() };
        Ok(hub.get(routes::connections()).query(&query)?.run().await?)
    }
}

fn show(shown: &Value, one: bool, cx: &mut Context<'_, '_>) -> Outcome {
    let single = items(shown).first().filter(|_| one);
    match (cx.out.is_human(), single) {
        (false, Some(connection)) => cx.out.json(connection),
        (false, None) => cx.out.json(shown),
        (true, _) if items(shown).is_empty() => cx.out.note("no Connections"),
        (true, _) => items(shown).iter().try_for_each(|connection| human(connection, cx)),
    }
}

fn human(connection: &Value, cx: &mut Context<'_, '_>) -> Outcome {
    let look = cx.out.look();
    let text = |path: &str| pick::text(connection, path);
    cx.out.heading(&format!(
        "{} {} {}/{}",
        text("id"),
        text("provider"),
        text("accountRef"),
        text("scopeRef")
    ))?;
    let proof = match pick::value(connection, "health.provedAliveSecondsAgo") {
        Some(_) => {
            format!("proved alive {} s ago ({})", text("health.provedAliveSecondsAgo"), text("health.proof"))
        }
        None => "never proved alive".to_owned(),
    };
    cx.out.line(&format!(
        "{} · {proof} · queue {} s · outbox {}",
        pick::state(connection, "state", "reason"),
        pick::number(connection, "health.oldestQueuedSeconds"),
        pick::number(connection, "health.pending"),
    ))?;
    let error = match text("lastError.code") {
        code if code.is_empty() => "none".to_owned(),
        code => format!("{code}: {}", text("lastError.message")),
    };
    cx.out.fields(&[
        ("since", look.time(connection, "health.since")),
        ("last event", look.time(connection, "health.lastEventAt")),
        ("last accepted", look.time(connection, "health.lastAcceptedAt")),
        ("last sent", look.time(connection, "health.lastSentAt")),
        ("unknown sends", pick::number(connection, "health.unknown").to_string()),
        ("gateway", gateway(connection)),
        ("session", text("health.session.node")),
        ("next attempt", text("health.reconnect.nextAt")),
        ("scopes missing", text("health.scopes.missing")),
        ("declared", text("health.capabilities.declared")),
        ("proven", text("health.capabilities.proven")),
        ("last error", error),
    ])
}

/// Mode of the gateway, and that it only sends when it does.
fn gateway(connection: &Value) -> String {
    let (mode, able) = (pick::text(connection, "gatewayMode"), pick::list(connection, "capabilities"));
    match able.is_empty() || able.iter().any(|one| one == "receive_events") {
        true => mode,
        false => format!("{mode}, outbound only: messages do not come in"),
    }
}

/// Exit 4 unless every one is connected without an error.
fn check(shown: &Value, cx: &mut Context<'_, '_>) -> Outcome {
    let well = |c: &&Value| pick::text(c, "state") == "connected" && pick::value(c, "lastError").is_none();
    let bad: Vec<String> = items(shown).iter().filter(|c| !well(c)).map(|c| pick::text(c, "id")).collect();
    if bad.is_empty() {
        Ok(())
    } else {
        cx.out.note(&format!("not well: {}", bad.join(", ")))?;
        Err(Failure::of(Code::GatewayUnavailable))
    }
}
