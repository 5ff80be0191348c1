//! `loom inbox reply`.

use loom_api::{request, routes};
use loom_domain::{Code, Error};
use serde_json::Value;

use crate::cli::parsers;
use crate::commands::delivery::{self, Waiting};
use crate::context::Context;
use crate::failure::Outcome;
use crate::input::body::Body;
use crate::input::file;

/// Answer an item
#[derive(Debug, clap::Args)]
#[command(after_help = examples!(
    "loom inbox reply inb_01arz3ndektsv4rrffq69g5fav On it, back by noon",
    "loom inbox reply inb_01arz3ndektsv4rrffq69g5fav --from-answer"
))]
pub(crate) struct Args {
    /// Item id
    #[arg(value_parser = parsers::inbox)]
    id: String,
    /// Agent that replies
    #[arg(long, value_name = "A", value_parser = parsers::agent)]
    agent: Option<String>,
    #[command(flatten)]
    body: Body,
    /// File to send; may be repeated
    #[arg(long, visible_alias = "attachment", value_name = "F")]
    file: Vec<String>,
    /// Send the kept answer of the last Attempt
    #[arg(long)]
    from_answer: bool,
    /// Reply although part of an earlier reply arrived
    #[arg(long)]
    after_partial: bool,
    #[command(flatten)]
    waiting: Waiting,
}

/// Answers it.
pub(crate) async fn run(args: Args, cx: &mut Context<'_, '_>) -> Outcome {
    let text = text(&args, cx)?;
    let files = file::open_all(&args.file)?;
    if text.is_empty() && files.is_empty() && !args.from_answer {
        return Err(Error::new(
            Code::MissingField,
            "the reply is empty; give words, --body, --body-file or --file",
        )
        .into());
    }
    let hub = cx.hub()?;
    let content = request::Content { text, format: None, files: Vec::new() };
    let asked = request::Send {
        from: args.agent.clone(),
        inbox_item_id: Some(args.id.clone()),
        content: content.clone(),
        ..request::Send::default()
    };
    if cx.globals.dry_run || !files.is_empty() {
        let admission = delivery::admission(&asked, &files, &hub).await?;
        if cx.globals.dry_run {
            return delivery::plan(&admission, cx);
        }
    }
    let files = delivery::upload(files, &hub).await?;
    let body = request::Reply {
        agent: args.agent,
        content: request::Content { files, ..content },
        from_answer: args.from_answer,
        after_partial: args.after_partial,
        ..request::Reply::default()
    };
    let call = hub.post(routes::inbox_reply(&args.id)).wait(args.waiting.first_seconds());
    let item: Value = call.json(&body)?.run().await?;
    delivery::follow(item, &args.waiting, &hub, cx).await
}

/// The text; none with `--from-answer`.
fn text(args: &Args, cx: &mut Context<'_, '_>) -> Outcome<String> {
    if !args.from_answer {
        return Ok(args.body.read(cx.env)?.unwrap_or_default());
    }
    if args.body.is_named() || !args.file.is_empty() {
        Err(Error::new(Code::MutuallyExclusive, "--from-answer takes neither text nor files").into())
    } else {
        Ok(String::new())
    }
}
