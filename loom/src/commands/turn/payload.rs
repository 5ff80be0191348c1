//! `loom turn payload`: what an Agent reads of the payloads of its Turns.

use loom_api::routes;
use serde_json::{Value, json};

use crate::context::Context;
use crate::failure::Outcome;
use crate::output::pick;

/// Read a payload of a Turn piece by piece
#[derive(Debug, clap::Args)]
#[command(
    long_about = "Read a payload of a Turn piece by piece\n\nAn Agent reads the payloads of its own Turns. \
                  Without a hub, `loom value-connectors show` reads those of this home."
)]
#[command(after_help = examples!(
    "loom turn payload sha256:1f0e4c7a9b2d --pointer /items/0",
    "loom turn payload sha256:1f0e4c7a9b2d --offset 16384 --json"
))]
pub(super) struct Args {
    /// Payload, or at least 12 digits of its id
    #[arg(value_name = "PAYLOAD")]
    id: String,
    /// Member to read, as a JSON pointer
    #[arg(long, value_name = "POINTER", default_value = "")]
    pointer: String,
    /// Byte to begin at
    #[arg(long, value_name = "N", default_value_t = 0)]
    offset: u64,
}

/// Reads it.
pub(super) async fn run(args: Args, cx: &mut Context<'_, '_>) -> Outcome {
    let query = json!({"pointer": args.pointer, "offset": args.offset});
    let piece: Value = cx.hub()?.get(routes::payload_piece(&args.id)).query(&query)?.run().await?;
    if !cx.out.is_human() {
        return cx.out.json(&piece);
    }
    cx.out.line(&pick::text(&piece, "text"))?;
    match pick::text(&piece, "next_offset").as_str() {
        "" => Ok(()),
        next => cx.out.note(&format!("more: --offset {next}")),
    }
}
