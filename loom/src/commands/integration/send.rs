//! `loom integration send`.

use loom_api::{request, routes};
use loom_domain::outbox::Target;
use loom_domain::{Code, Error, Expectation, Result, TextFormat};
use serde_json::Value;

use crate::cli::parsers;
use crate::commands::delivery::{self, Waiting};
use crate::context::Context;
use crate::failure::Outcome;
use crate::input::body::Body;
use crate::input::file::{self, Attached};

/// Send a reply, or a message to a Membership
#[derive(Debug, clap::Args)]
#[command(after_help = examples!(
    "loom integration send --from docs \\\n      --reply-to inb_01arz3ndektsv4rrffq69g5fav --body \"Here it is\" --file r.pdf",
    "loom integration send --from docs --to mem_01arz3ndektsv4rrffq69g5fav \\\n      --idempotency-key daily-1 --async Good morning"
))]
pub(crate) struct Args {
    /// Agent that sends; with an Agent token it may be left out
    #[arg(long, value_name = "AGENT", value_parser = parsers::agent)]
    from: Option<String>,
    /// Inbox item to answer
    #[arg(long, value_name = "INB", value_parser = parsers::inbox)]
    reply_to: Option<String>,
    /// Membership to write to
    #[arg(long, value_name = "MEM")]
    to: Option<String>,
    #[command(flatten)]
    body: Body,
    /// File to send; may be repeated
    #[arg(long, visible_alias = "attachment", value_name = "F")]
    file: Vec<String>,
    /// Answer: none, optional or required
    #[arg(long, value_name = "WORD")]
    expect_reply: Option<Expectation>,
    /// Key of this message; needed with --to
    #[arg(long, value_name = "K", value_parser = parsers::idempotency_key)]
    idempotency_key: Option<String>,
    /// Thread of the conversation; with --to only
    #[arg(long, value_name = "X")]
    thread_id: Option<String>,
    /// Message of the conversation to answer; with --to only
    #[arg(long, value_name = "X")]
    message_id: Option<String>,
    /// Form of the body: markdown or plain
    #[arg(long, value_name = "FORM")]
    format_body: Option<TextFormat>,
    /// Give up after this time
    #[arg(long, value_name = "D", value_parser = parsers::seconds)]
    ttl: Option<u64>,
    /// Ignore quiet hours
    #[arg(long)]
    urgent: bool,
    #[command(flatten)]
    waiting: Waiting,
}

/// Sends it.
pub(crate) async fn run(args: Args, cx: &mut Context<'_, '_>) -> Outcome {
    args.check()?;
    let files = file::open_all(&args.file)?;
    let text = args.body.read(cx.env)?.unwrap_or_default();
    if text.is_empty() && files.is_empty() {
        return Err(Error::new(
            Code::MissingField,
            "the message is empty; give words, --body, --body-file or --file",
        )
        .into());
    }
    let waiting = args.waiting.clone();
    let send = args.into_send(text);
    deliver(send, files, &waiting, cx).await
}

async fn deliver(
    mut send: request::Send,
    files: Vec<Attached>,
    waiting: &Waiting,
    cx: &mut Context<'_, '_>,
) -> Outcome {
    let hub = cx.hub()?;
    if cx.globals.dry_run || !files.is_empty() {
        let admission = delivery::admission(&send, &files, &hub).await?;
        if cx.globals.dry_run {
            return delivery::plan(&admission, cx);
        }
    }
    send.content.files = delivery::upload(files, &hub).await?;
    let call = hub.post(routes::send()).wait(waiting.first_seconds()).json(&send)?;
    let item: Value = call.run().await?;
    delivery::follow(item, waiting, &hub, cx).await
}

impl Args {
    /// What can be told without the hub.
    fn check(&self) -> Result<()> {
        match (&self.reply_to, &self.to) {
            (Some(_), Some(_)) => {
                Err(Error::new(Code::MutuallyExclusive, "--reply-to and --to exclude each other"))
            }
            (None, None) => Err(Error::new(Code::MissingField, "neither --reply-to nor --to is given")),
            (None, Some(to)) if !to.starts_with("mem_") => {
                Err(Error::new(Code::MembershipRequired, "--to takes a mem_ id, never a provider's own id"))
            }
            (None, Some(to)) => {
                parsers::membership(to)?;
                match self.idempotency_key {
                    Some(_) => Ok(()),
                    None => Err(Error::new(Code::IdempotencyKeyRequired, "--to needs --idempotency-key")),
                }
            }
            (Some(_), None) if self.thread_id.is_some() || self.message_id.is_some() => {
                Err(Error::new(Code::TargetNotAllowed, "a reply inherits its target"))
            }
            (Some(_), None) => Ok(()),
        }
    }

    fn into_send(self, text: String) -> request::Send {
        let targeted = self.thread_id.is_some() || self.message_id.is_some();
        request::Send {
            from: self.from,
            inbox_item_id: self.reply_to,
            membership_id: self.to,
            content: request::Content { text, format: self.format_body, files: Vec::new() },
            expect_reply: self.expect_reply,
            idempotency_key: self.idempotency_key,
            target: targeted.then_some(Target { thread_id: self.thread_id, message_id: self.message_id }),
            ttl_seconds: self.ttl,
            urgent: self.urgent,
        }
    }
}
