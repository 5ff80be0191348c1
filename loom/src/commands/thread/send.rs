//! `loom thread send`.

use loom_api::{request, routes};
use loom_domain::{Code, Error};
use serde_json::Value;

use crate::cli::parsers;
use crate::context::Context;
use crate::failure::{Failure, Outcome};
use crate::input::body::Body;
use crate::input::file;
use crate::output::pick;

/// Longest wait that one request asks for, seconds.
const WAIT_SECONDS_MAX: u64 = 60;

/// Give an Agent input as its owner
#[derive(Debug, clap::Args)]
#[command(after_help = examples!(
    "loom thread send docs --wait Summarise what you did today",
    "loom thread send docs --body-file task.md --file data.csv"
))]
pub(crate) struct Args {
    /// Agent name or id
    #[arg(value_parser = parsers::agent)]
    agent: String,
    #[command(flatten)]
    body: Body,
    /// File to add; may be repeated
    #[arg(long, value_name = "F")]
    file: Vec<String>,
    /// Wait for the answer
    #[arg(long)]
    wait: bool,
    /// Longest wait
    #[arg(long, value_name = "D", default_value = "30s", value_parser = parsers::seconds)]
    timeout: u64,
}

/// Sends it.
pub(crate) async fn run(args: Args, cx: &mut Context<'_, '_>) -> Outcome {
    let files = file::open_all(&args.file)?;
    let text = args.body.read(cx.env)?.unwrap_or_default();
    if text.is_empty() && files.is_empty() {
        return Err(Error::new(
            Code::MissingField,
            "the input is empty; give words, --body, --body-file or --file",
        )
        .into());
    }
    let hub = cx.hub()?;
    if cx.globals.dry_run {
        return super::super::common::planned(cx, "an Inbox item with origin owner would be made", &[]);
    }
    let mut stored = Vec::new();
    for file in files {
        stored.push(file.upload(&hub).await?);
    }
    let body = request::ThreadInput { text, files: stored };
    let wait = if args.wait { args.timeout.min(WAIT_SECONDS_MAX) } else { 0 };
    let call = hub.post(routes::thread_input(&args.agent)).wait(wait);
    let done: Value = call.json(&body)?.run().await?;
    show(&done, args.wait, cx)
}

fn show(done: &Value, wait: bool, cx: &mut Context<'_, '_>) -> Outcome {
    let [id, state, answer] = ["itemId", "state", "answer"].map(|path| pick::text(done, path));
    let open = matches!(state.as_str(), "queued" | "handling" | "pending_access" | "deferred");
    match (cx.out.is_human(), answer.is_empty()) {
        (false, _) => cx.out.json(done)?,
        (true, false) => answer.split('\n').try_for_each(|line| cx.out.line(line))?,
        (true, true) => cx.out.line(&format!("{state} {id}"))?,
    }
    if wait && open {
        cx.out.note("the wait ended before the Turn; the item goes on")?;
        Err(Failure::of(Code::WaitTimeout))
    } else {
        Ok(())
    }
}
