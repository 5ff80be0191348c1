//! `loom policy explain`.

use loom_api::{request, routes};
use loom_domain::{Code, ConversationType, Error};
use serde_json::Value;

use super::STEPS;
use crate::cli::parsers;
use crate::context::Context;
use crate::failure::Outcome;
use crate::input::document;
use crate::output::pick;

/// Show how a message is or would be judged
#[derive(Debug, clap::Args)]
#[expect(clippy::struct_excessive_bools, reason = "each flag of a command line is one")]
#[command(after_help = examples!(
    "loom policy explain evt_01arz3ndektsv4rrffq69g5fav",
    "loom policy explain --address adr_01arz3ndektsv4rrffq69g5fav \\\n      --conversation C0123 --actor U0ANN --type channel --mentioned"
))]
pub(crate) struct Args {
    /// Event, Message or Inbox item id
    #[arg(value_name = "EVT|MSG|INB", value_parser = parsers::inbox_like)]
    id: Option<String>,
    /// Address that would receive it
    #[arg(long, value_name = "ADR", conflicts_with = "id", value_parser = parsers::address)]
    address: Option<String>,
    /// Conversation it would stand in
    #[arg(long, value_name = "C", requires = "address")]
    conversation: Option<String>,
    /// Its sender
    #[arg(long, value_name = "A", requires = "address")]
    actor: Option<String>,
    /// Type: group, channel, `group_dm` or dm
    #[arg(long = "type", value_name = "T", requires = "address")]
    kind: Option<ConversationType>,
    /// Root of its thread
    #[arg(long, value_name = "X", requires = "address")]
    thread: Option<String>,
    /// It mentions the Address
    #[arg(long, requires = "address")]
    mentioned: bool,
    /// It is a DM
    #[arg(long, requires = "address")]
    direct: bool,
    /// The provider confirms a dispatch
    #[arg(long, requires = "address")]
    dispatch: bool,
    /// Its sender is a bot
    #[arg(long, requires = "address")]
    bot: bool,
    /// It has neither text nor file
    #[arg(long, requires = "address")]
    no_text: bool,
    /// Judge under this draft: whole records as JSON, or -
    #[arg(long, value_name = "FILE")]
    draft: Option<String>,
}

/// Shows it.
pub(super) async fn run(args: Args, cx: &mut Context<'_, '_>) -> Outcome {
    if args.id.is_none() && (args.address.is_none() || args.conversation.is_none() || args.actor.is_none()) {
        return Err(
            Error::new(Code::MissingField, "give an id, or --address, --conversation and --actor").into()
        );
    }
    let draft = args.draft.as_deref().map(|path| document::read_json(path, cx.env)).transpose()?;
    let body = request::PolicyExplain {
        id: args.id,
        address: args.address,
        conversation: args.conversation,
        actor: args.actor,
        conversation_type: args.kind,
        thread: args.thread,
        mentioned: args.mentioned,
        direct: args.direct,
        dispatch: args.dispatch,
        bot: args.bot,
        no_text: args.no_text,
        draft,
    };
    let found: Value = cx.hub()?.post(routes::policy_explain()).json(&body)?.run().await?;
    if !cx.out.is_human() {
        return cx.out.json(&found);
    }
    cx.out.table(STEPS, pick::list(&found, "steps"), |_, _| Vec::new())?;
    let [decision, reason, step] = ["decision", "reason", "step"].map(|path| pick::text(&found, path));
    cx.out.heading(&format!("{decision}({reason}) at step {step}"))
}
