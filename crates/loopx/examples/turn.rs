//! Runs one connector in a Turn and reads its payload: no hub, no account, no network.
//!
//! `cargo run -p loopx --example turn`; with the address of an issue it reads what is public about it, from GitHub or
//! from what `LOOM_GITHUB_API_URL` names.

#![expect(clippy::print_stdout, reason = "an example shows what it got")]

use loopx::LoopXError;
use loopx::turn::Turn;
use serde_json::json;

fn main() -> Result<(), LoopXError> {
    let mut turn = Turn::new();
    turn.add_connector("github_public_probe");
    if let Some(url) = std::env::args().nth(1) {
        turn.input(json!({"url": url, "fetch_metadata": true}));
    }
    turn.run()?;
    println!("{}", turn.payload()["connector_id"]);
    println!("{}", turn.payload()["fields"]);
    Ok(())
}
