//! `loom capability show`.

use loom_api::{query, routes};
use loom_capabilities::{Capability, Catalog, HistoryFilter};
use serde_json::{Map, Value, json};

use crate::compose::world;
use crate::context::Context;
use crate::failure::Outcome;
use crate::output::{items, pick};

/// Newest runs that are shown.
const RUNS: usize = 5;

/// Show what the catalog knows of one
#[derive(Debug, clap::Args)]
#[command(after_help = examples!(
    "loom capability show github_public_probe",
    "loom capability show github_public_probe --json"
))]
pub(super) struct Args {
    /// Id, alias or PACKAGE/ID
    #[arg(value_name = "ID")]
    id: String,
}

/// Shows it.
pub(super) async fn run(args: Args, cx: &mut Context<'_, '_>) -> Outcome {
    let catalog = Catalog::for_id(&args.id, &cx.env.home())?;
    print(&**catalog.capability(&args.id)?, cx).await
}

/// Prints the entry with its schemas.
pub(in crate::commands) async fn print(capability: &dyn Capability, cx: &mut Context<'_, '_>) -> Outcome {
    let world = world::offline(cx.env)?;
    let mut entry = capability.entry().clone();
    entry.readiness = world::readiness(&world, capability).await;
    let mut document = serde_json::to_value(&entry).map_err(loom_domain::Error::internal)?;
    let filter = HistoryFilter { connector: Some(entry.id.clone()), limit: RUNS, ..HistoryFilter::default() };
    let runs = world::payloads(cx.env).history(&filter)?;
    let query = query::Grants { capability: Some(entry.qualified()), ..query::Grants::default() };
    // Without a hub there is nobody who could have a grant.
    let grants: Option<Value> = match cx.hub() {
        Ok(hub) => hub.get(routes::grants()).query(&query)?.run().await.ok(),
        Err(_) => None,
    };
    match &grants {
        Some(page) => pick::put(&mut document, "grants", &items(page).to_vec().into()),
        None => pick::put(&mut document, "hub", &json!("not_running")),
    }
    pick::put(&mut document, "schemas", &schemas(capability));
    pick::put(&mut document, "runs", &json!(runs));
    pick::put(
        &mut document,
        "example",
        &Value::String(format!("loom {}", entry.examples[0].replace("\\\n   ", ""))),
    );
    if !cx.out.is_human() {
        return cx.out.json(&document);
    }
    cx.out.heading(&format!("{}  {}", entry.qualified(), entry.title))?;
    cx.out.fields(&[
        ("version", entry.version.clone()),
        ("also", entry.aliases.join(", ")),
        ("boundary", pick::text(&document, "boundary")),
        ("readiness", pick::text(&document, "readiness.status")),
        ("hosts", entry.hosts.iter().map(|rule| rule.host.clone()).collect::<Vec<_>>().join(", ")),
        ("run it", entry.command()),
    ])?;
    for reason in &entry.readiness.reasons {
        cx.out.line(&format!("{}: {}", reason.operation, reason.hint))?;
    }
    cx.out.heading("Operations")?;
    for operation in &entry.operations {
        cx.out.line(&format!("  {:<12} {}", operation.id, operation.about))?;
    }
    Ok(())
}

/// Input and output schemas by their names.
fn schemas(capability: &dyn Capability) -> Value {
    let mut all = Map::new();
    for operation in &capability.entry().operations {
        all.insert(format!("{}_input", operation.id), operation.input.value().into_owned());
        for (what, schema) in [("fields", &operation.fields), ("item", &operation.item)] {
            if let Some(schema) = schema {
                all.insert(format!("{}_{what}", operation.id), schema.value().into_owned());
            }
        }
    }
    json!(all)
}
