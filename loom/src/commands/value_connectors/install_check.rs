//! `loom value-connectors install-check`.

use loom_capabilities::{Capability, Catalog, Effects, Status};
use loom_domain::Code;
use serde_json::{Value, json};

use crate::compose::world;
use crate::context::Context;
use crate::failure::{Failure, Outcome};
use crate::output::{Column, Listing, pick};

const LISTING: Listing = Listing {
    columns: &[
        Column::new("CONNECTOR", |v, _| pick::text(v, "id")),
        Column::new("READINESS", |v, _| pick::text(v, "readiness.status")),
    ],
    below: |v, _| {
        let reasons = pick::list(v, "readiness.reasons").iter();
        reasons
            .map(|reason| format!("{}: {}", pick::text(reason, "operation"), pick::text(reason, "hint")))
            .collect()
    },
    empty: "there is no connector",
};

/// Check what each connector needs
#[derive(Debug, clap::Args)]
#[command(after_help = examples!(
    "loom value-connectors install-check",
    "loom value-connectors install-check --strict --json"
))]
pub(super) struct Args {
    /// One connector, or all
    #[arg(long, value_name = "ID", default_value = "all")]
    connector: String,
    /// Also ask the network, once per connector at most
    #[arg(long)]
    network: bool,
    /// Fail when anything asked for is not ready
    #[arg(long)]
    strict: bool,
}

/// Checks it.
pub(super) async fn run(args: Args, cx: &mut Context<'_, '_>) -> Outcome {
    let mut world = world::online(cx.env)?;
    world.network_checks = args.network;
    let (catalog, _) = Catalog::of_home(&cx.env.home())?;
    let chosen = chosen(&catalog, &args.connector)?;
    let (mut items, mut effects, mut all_ready) = (Vec::new(), Effects::default(), true);
    for capability in chosen {
        let (readiness, asked) = world::readiness_with_effects(&world, capability).await;
        effects.requests_sent += asked.requests_sent;
        effects.external_reads += asked.external_reads;
        all_ready &= readiness.status == Status::Ready;
        items.push(json!({"id": capability.entry().id, "version": capability.entry().version, "readiness": readiness}));
    }
    let document: Value = json!({"schema_version": "loom.install_check/v1", "items": items, "effects": effects, "nextCursor": null});
    cx.out.list(&document, &LISTING)?;
    if args.strict && !all_ready {
        return Err(Failure::of(Code::NotReady));
    }
    Ok(())
}

/// The connector of an id, or all of them.
pub(super) fn chosen<'a>(catalog: &'a Catalog, id: &str) -> loom_domain::Result<Vec<&'a dyn Capability>> {
    match id {
        "all" => Ok(catalog.connectors().map(|one| &**one).collect()),
        id => Ok(vec![&**catalog.connector(id)?]),
    }
}
