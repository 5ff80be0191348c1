//! `loom capability list`.

use clap::ValueEnum;
use loom_capabilities::{Capability, Catalog, Effect, Kind, Status};
use serde_json::{Value, json};

use crate::compose::world;
use crate::context::Context;
use crate::failure::Outcome;
use crate::output::{Column, Listing, pick};

const LISTING: Listing = Listing::new(
    &[
        Column::new("ID", |v, _| pick::text(v, "id")),
        Column::new("KIND", |v, _| pick::text(v, "kind")),
        Column::new("ORIGIN", |v, _| pick::text(v, "origin")),
        Column::new("VERSION", |v, _| pick::text(v, "version")),
        Column::new("READINESS", |v, _| pick::text(v, "readiness")),
        Column::new("TITLE", |v, _| pick::text(v, "title")),
    ],
    "nothing fits these filters",
);

/// List what the catalog knows
#[derive(Debug, Default, clap::Args)]
#[command(after_help = examples!("loom capability list", "loom capability list --kind value_connector --json"))]
pub(super) struct Args {
    /// Only this kind
    #[arg(long, value_enum)]
    kind: Option<KindWord>,
    #[command(flatten)]
    filters: Filters,
}

/// Filters of every list of the catalog.
#[derive(Debug, Default, clap::Args)]
pub(in crate::commands) struct Filters {
    /// Only what can run now
    #[arg(long)]
    ready: bool,
    /// Only what has an operation with this effect
    #[arg(long, value_enum)]
    effect: Option<EffectWord>,
}

/// Kinds as the command line spells them.
#[derive(Debug, Clone, Copy, ValueEnum)]
enum KindWord {
    #[value(name = "value_connector", alias = "value-connector")]
    ValueConnector,
    Capability,
    Host,
}

/// Effects as the command line spells them.
#[derive(Debug, Clone, Copy, ValueEnum)]
enum EffectWord {
    Read,
    Write,
}

/// Lists them.
pub(super) async fn run(args: Args, cx: &mut Context<'_, '_>) -> Outcome {
    let kind = args.kind.map(|word| match word {
        KindWord::ValueConnector => Kind::ValueConnector,
        KindWord::Capability => Kind::Capability,
        KindWord::Host => Kind::Host,
    });
    print(kind, &args.filters, cx).await
}

/// Prints the list.
pub(in crate::commands) async fn print(
    kind: Option<Kind>,
    filters: &Filters,
    cx: &mut Context<'_, '_>,
) -> Outcome {
    let world = world::offline(cx.env)?;
    let effect = filters.effect.map(|word| match word {
        EffectWord::Read => Effect::Read,
        EffectWord::Write => Effect::Write,
    });
    let mut items = Vec::new();
    let (catalog, damaged) = Catalog::of_home(&cx.env.home())?;
    for map in &damaged {
        cx.out.note(&format!("the source map {} cannot be used: {}", map.id, map.error))?;
    }
    for capability in catalog.all() {
        let entry = capability.entry();
        let wanted = kind.is_none_or(|kind| entry.kind == kind)
            && effect
                .is_none_or(|effect| entry.operations.iter().any(|operation| operation.effect == effect));
        if wanted {
            let readiness = world::readiness(&world, &**capability).await;
            if !filters.ready || readiness.status == Status::Ready {
                items.push(line(&**capability, readiness.status));
            }
        }
    }
    cx.out.list(&json!({"schema_version": "loom.catalog/v1", "items": items, "nextCursor": null}), &LISTING)
}

fn line(capability: &dyn Capability, readiness: Status) -> Value {
    let entry = capability.entry();
    json!({
        "id": entry.qualified(), "kind": entry.kind, "title": entry.title, "origin": entry.origin,
        "version": entry.version, "readiness": readiness, "aliases": entry.aliases, "command": entry.command(),
        "operations": entry.operations.iter().map(|operation| &operation.id).collect::<Vec<_>>(),
    })
}
