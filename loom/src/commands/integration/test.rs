//! `loom integration test`.

use loom_api::{Client, request, routes};
use loom_domain::{Code, Error};
use serde_json::{Value, json};
use tokio::time::{Duration, Instant};

use crate::cli::parsers;
use crate::commands::common::planned;
use crate::commands::delivery::{self, Waiting};
use crate::compose::entropy;
use crate::context::Context;
use crate::failure::Outcome;
use crate::output::{Format, pick};

/// Codes of six digits.
const CODES: u128 = 1_000_000;
/// Wait for the delivery of the check message, unless said.
const OUTBOUND_SECONDS: u64 = 30;
/// Longest wait for a message.
const INBOUND_SECONDS: u64 = 120;
/// Longest wait that one request asks for, seconds.
const ONE_REQUEST_SECONDS: u64 = 30;

/// Send a check message, or wait for one
#[derive(Debug, clap::Args)]
#[command(after_help = examples!(
    "loom integration test mem_01arz3ndektsv4rrffq69g5fav",
    "loom integration test mem_01arz3ndektsv4rrffq69g5fav --inbound"
))]
pub(crate) struct Args {
    /// Membership id
    #[arg(value_name = "MEMBERSHIP_ID", value_parser = parsers::membership)]
    membership: String,
    /// Wait for a message with a code instead of sending one
    #[arg(long)]
    inbound: bool,
    /// Longest wait: 30s, and 120s with --inbound, at most 120s
    #[arg(long, value_name = "D", value_parser = parsers::seconds)]
    timeout: Option<u64>,
}

/// Tests it.
pub(crate) async fn run(args: Args, cx: &mut Context<'_, '_>) -> Outcome {
    if cx.globals.dry_run {
        return planned(cx, "a check message would be sent", &[args.membership]);
    }
    let hub = cx.hub()?;
    if args.inbound {
        return inbound(&args, &hub, cx).await;
    }
    let timeout = args.timeout.unwrap_or(OUTBOUND_SECONDS);
    let waiting = Waiting { r#async: false, timeout };
    let body =
        request::TestMembership { timeout_seconds: Some(timeout), ..request::TestMembership::default() };
    let call = hub.post(routes::membership_test(&args.membership)).wait(waiting.first_seconds());
    let found: Value = call.json(&body)?.run().await?;
    delivery::follow(found, &waiting, &hub, cx).await
}

/// Shows a code, then waits for a message that holds it.
async fn inbound(args: &Args, hub: &Client, cx: &mut Context<'_, '_>) -> Outcome {
    let code = format!("{:06}", entropy()() % CODES);
    let seconds = args.timeout.unwrap_or(INBOUND_SECONDS).min(INBOUND_SECONDS);
    announce(&code, seconds, cx)?;
    let deadline = Instant::now() + Duration::from_secs(seconds);
    loop {
        let left = deadline.saturating_duration_since(Instant::now()).as_secs().min(ONE_REQUEST_SECONDS);
        let body =
            request::TestMembership { inbound: true, code: Some(code.clone()), timeout_seconds: Some(left) };
        let call = hub.post(routes::membership_test(&args.membership)).wait(left);
        let found: Value = call.json(&body)?.run().await?;
        if pick::is(&found, "received") || left < ONE_REQUEST_SECONDS {
            return if pick::is(&found, "received") {
                tell(&found, cx)
            } else {
                Err(missed(&code, seconds, &args.membership).into())
            };
        }
    }
}

/// The code is known before the wait: on stderr for people, and as a first line of ndjson.
fn announce(code: &str, seconds: u64, cx: &mut Context<'_, '_>) -> Outcome {
    if cx.globals.format() == Format::Ndjson {
        cx.out.json(&json!({ "code": code }))?;
        return cx.out.flush();
    }
    cx.out.ask(&format!("write {code} in the conversation; waiting up to {seconds} s"))
}

/// The error of a code that nobody wrote in time, or that did not come through.
fn missed(code: &str, seconds: u64, membership: &str) -> Error {
    Error::new(Code::WaitTimeout, format!("{code} did not arrive within {seconds} s"))
        .with_detail("code_digits", code)
        .with_hint(format!(
            "See `loom inbox refused` and `loom conversation get {membership}`, then repeat it."
        ))
}

fn tell(found: &Value, cx: &mut Context<'_, '_>) -> Outcome {
    if !cx.out.is_human() {
        return cx.out.json(found);
    }
    let [code, event] = ["code", "eventId"].map(|path| pick::text(found, path));
    cx.out.line(&format!("received {code} as {event}"))?;
    let mut steps = pick::list(found, "path").iter().filter_map(Value::as_str);
    steps.try_for_each(|step| cx.out.line(&format!("    {step}")))
}
