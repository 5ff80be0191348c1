//! `loom value-connectors http-webhook verify`.

use loom_capabilities::http_webhook::signature::{Scheme, verify};
use loom_domain::{Code, Error, Result};
use loom_secrets::{CredentialRef, Kind};
use serde_json::json;

use crate::compose::world;
use crate::context::Context;
use crate::failure::{Failure, Outcome};
use crate::input::document::read_text;

/// Largest body, and largest file of headers.
const BODY_BYTES_MAX: usize = 1024 * 1024;
const HEADER_BYTES_MAX: usize = 64 * 1024;

/// Check a signature from files
#[derive(Debug, clap::Args)]
#[command(override_usage = "loom … http-webhook verify --scheme S --headers FILE --body FILE --secret-ref R")]
#[command(after_help = examples!(
    "loom value-connectors http-webhook verify --scheme standard \\\n    --headers headers.txt --body body.json --secret-ref vault:billing",
    "loom value-connectors http-webhook verify --scheme github \\\n    --headers headers.txt --body body.json --secret-ref env:HOOK --json"
))]
pub(crate) struct Args {
    /// standard, github, slack or feishu
    #[arg(long, value_name = "S", value_parser = ["standard", "github", "slack", "feishu"])]
    scheme: String,
    /// Headers, one NAME: VALUE a line
    #[arg(long, value_name = "FILE")]
    headers: String,
    /// Body, byte by byte as it came
    #[arg(long, value_name = "FILE")]
    body: String,
    /// Reference of the signing secret
    #[arg(long, value_name = "REF")]
    secret_ref: String,
}

/// Checks it.
pub(super) async fn run(args: Args, cx: &mut Context<'_, '_>) -> Outcome {
    let scheme = Scheme::parse(&args.scheme).ok_or_else(|| Error::invalid("scheme", "unknown"))?;
    let headers = headers(&read_text(&args.headers, HEADER_BYTES_MAX)?)?;
    let body = read_text(&args.body, BODY_BYTES_MAX)?;
    let world = world::offline(cx.env)?;
    let reference = CredentialRef::parse(&args.secret_ref)?;
    let secret = world.credentials.resolve(&reference, Kind::Webhook, Kind::Webhook.main_field()).await?;
    let now = cx.env.now.0.div_euclid(1_000);
    let verdict = verify(scheme, &headers, body.as_bytes(), &[secret], now);
    let reason = verdict.err().map(|refusal| json!(refusal));
    let document =
        json!({"schema_version": "loom.webhook_verdict/v1", "ok": reason.is_none(), "reason": reason});
    match (cx.out.is_human(), &reason) {
        (false, _) => cx.out.json(&document)?,
        (true, None) => cx.out.line("the signature is good")?,
        (true, Some(reason)) => cx.out.line(&format!("refused: {}", reason.as_str().unwrap_or_default()))?,
    }
    match reason {
        None => Ok(()),
        Some(_) => Err(Failure::of(Code::SignatureInvalid)),
    }
}

fn headers(text: &str) -> Result<Vec<(String, String)>> {
    let lines = text.lines().map(str::trim_end).filter(|line| !line.is_empty());
    let split = |line: &str| {
        let (name, value) = line.split_once(':').ok_or_else(|| {
            Error::new(Code::InvalidInput, "a header is NAME: VALUE").with_detail("pointer", "/headers")
        })?;
        Ok((name.trim().to_ascii_lowercase(), value.trim().to_owned()))
    };
    lines.map(split).collect()
}
