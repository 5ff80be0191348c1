//! Posts JSON and tells what came back. Every answer but 2xx is an error with a code that stays the same.
//!
//! `cargo run -p loopx --example http_post -- URL`; an address of this machine has to stand in `LOOM_LOCAL_ORIGINS`.

#![expect(clippy::print_stdout, reason = "an example shows what it got")]

use loopx::LoopXError;
use loopx::transport::{Options, http_post};
use serde_json::json;

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), LoopXError> {
    let url = std::env::args().nth(1).unwrap_or_else(|| "https://api.github.com/markdown".to_owned());
    match http_post(&url, &json!({"text": "**hello**"}), Options::default()).await {
        Ok(answer) => println!("{} {}", answer.status(), answer.text()?),
        Err(error) => println!("{} {:?}: {}", error.code(), error.http_status, error.message),
    }
    Ok(())
}
