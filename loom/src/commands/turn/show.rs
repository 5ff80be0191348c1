//! `loom turn show`.

use loom_api::routes;
use loom_domain::{Code, TurnId};
use serde_json::json;

use super::{print, remote};
use crate::context::Context;
use crate::failure::Outcome;

/// Show a Turn, its payloads and its journal
#[derive(Debug, clap::Args)]
#[command(after_help = examples!(
    "loom turn show trn_01arz3ndektsv4rrffq69g5fav",
    "loom turn show trn_01arz3ndektsv4rrffq69g5fav --journal --json"
))]
pub(super) struct Args {
    /// Turn
    #[arg(value_name = "TRN")]
    id: String,
    /// Also show the rows of its journal
    #[arg(long)]
    journal: bool,
}

/// Shows it.
pub(super) async fn run(args: &Args, cx: &mut Context<'_, '_>) -> Outcome {
    let (id, room): (TurnId, _) = (args.id.parse()?, super::room(cx));
    if remote::is_named(cx) {
        let query = json!({"journal": args.journal});
        let turn = cx.hub()?.get(routes::turn(id.as_str())).query(&query)?.run().await?;
        return print::shown(&turn, cx);
    }
    let view = room.view(&id)?;
    let mut payloads = Vec::new();
    for payload_id in view.connectors.iter().filter_map(|one| one.payload_id.as_deref()) {
        match room.payloads().show(payload_id) {
            Ok(payload) => payloads.push(payload),
            // Payloads are removed with time; the Turn still names them.
            Err(error) if error.code == Code::NotFound => {}
            Err(error) => return Err(error.into()),
        }
    }
    let rows = if args.journal { Some(room.rows(&id)?) } else { None };
    let mut document = print::document(&view, &payloads)?;
    if let (Some(rows), Some(members)) = (&rows, document.as_object_mut()) {
        members.insert("journal".to_owned(), json!(rows));
    }
    print::shown(&document, cx)
}
