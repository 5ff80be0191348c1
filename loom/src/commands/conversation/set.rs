//! `loom conversation set`.

use loom_api::request::SetMembership;
use loom_api::routes;
use loom_domain::membership::QuietHours;
use loom_domain::{Code, ConversationType, Error, OutboundPolicy, ReplyPolicy, TriggerPolicy};
use serde_json::Value;

use crate::cli::parsers;
use crate::commands::common::cleared;
use crate::context::Context;
use crate::failure::Outcome;
use crate::input::document;

const CLEARABLE: &[(&str, &str)] = &[("name", "displayName"), ("quiet-hours", "quietHours")];

/// Set what an Address is for in one conversation
#[derive(Debug, clap::Args)]
#[command(after_help = examples!(
    "loom conversation set adr_01arz3ndektsv4rrffq69g5fav C0123 --type channel \\\n      --purpose \"Questions on the manual\"",
    "loom conversation set adr_01arz3ndektsv4rrffq69g5fav D0123 --file ann.json"
))]
pub(crate) struct Args {
    /// Address id
    #[arg(value_name = "ADR", value_parser = parsers::address)]
    address: String,
    /// Stable provider id of the conversation
    #[arg(value_name = "CONVERSATION_ID")]
    conversation: String,
    /// Type: group, channel, `group_dm` or dm; fixed once set
    #[arg(long = "type", value_name = "T")]
    kind: Option<ConversationType>,
    /// Stable provider id of the one person of a DM
    #[arg(long, value_name = "ID")]
    actor: Option<String>,
    /// Cosmetic name
    #[arg(long, value_name = "T")]
    name: Option<String>,
    /// What the conversation is for
    #[arg(long, value_name = "T")]
    purpose: Option<String>,
    /// Who the Agent is there
    #[arg(long, value_name = "T")]
    role: Option<String>,
    /// What the Agent should heed there
    #[arg(long, value_name = "T")]
    guidance: Option<String>,
    /// Trigger: mention, direct, `explicit_dispatch`, all or allowlist
    #[arg(long, value_name = "P")]
    trigger: Option<TriggerPolicy>,
    /// Reply: `final_answer`, explicit or none
    #[arg(long, value_name = "P")]
    reply_policy: Option<ReplyPolicy>,
    /// Outbound: `reply_only`, proactive or none
    #[arg(long, value_name = "P")]
    outbound_policy: Option<OutboundPolicy>,
    /// Trust domain; equal to the Address's
    #[arg(long, value_name = "D")]
    trust_domain: Option<String>,
    /// Time to live of sends
    #[arg(long, value_name = "D", value_parser = parsers::seconds)]
    ttl: Option<u64>,
    /// Hours in which proactive sends wait
    #[arg(long, value_name = "TZ,HH:MM,HH:MM", value_parser = parsers::quiet_hours)]
    quiet_hours: Option<QuietHours>,
    /// Proactive sends per hour
    #[arg(long, value_name = "N")]
    proactive_per_hour: Option<u32>,
    /// On or off: true or false
    #[arg(long, value_name = "B")]
    enabled: Option<bool>,
    /// JSON document with these settings, or -; flags override it
    #[arg(long, value_name = "JSON")]
    file: Option<String>,
    /// Empty a field; may be repeated
    #[arg(long, value_name = "FIELD", value_parser = ["name", "purpose", "role", "guidance", "quiet-hours"])]
    clear: Vec<String>,
    /// Fail unless it has this version; 0: must not exist
    #[arg(long, value_name = "N")]
    expected_version: Option<u64>,
}

/// Sets it.
pub(crate) async fn run(args: Args, cx: &mut Context<'_, '_>) -> Outcome {
    let document: SetMembership = match &args.file {
        Some(path) => document::read_json(path, cx.env)?,
        None => SetMembership::default(),
    };
    if !document.clear.is_empty() {
        return Err(Error::new(Code::UnknownField, "the document: unknown field `clear`; use --clear").into());
    }
    let path = routes::conversation(&args.address, &args.conversation);
    let body = args.over(document);
    let hub = cx.hub()?;
    let done: Value = hub.put(path).dry_run(cx.globals.dry_run).json(&body)?.run().await?;
    cx.out.mutation(&done)
}

impl Args {
    /// The flags laid over a document.
    fn over(self, document: SetMembership) -> SetMembership {
        SetMembership {
            conversation_type: self.kind.or(document.conversation_type),
            actor_id: self.actor.or(document.actor_id),
            display_name: self.name.or(document.display_name),
            purpose: self.purpose.or(document.purpose),
            role: self.role.or(document.role),
            guidance: self.guidance.or(document.guidance),
            trigger_policy: self.trigger.or(document.trigger_policy),
            reply_policy: self.reply_policy.or(document.reply_policy),
            outbound_policy: self.outbound_policy.or(document.outbound_policy),
            trust_domain: self.trust_domain.or(document.trust_domain),
            ttl_seconds: self.ttl.or(document.ttl_seconds),
            quiet_hours: self.quiet_hours.or(document.quiet_hours),
            proactive_per_hour: self.proactive_per_hour.or(document.proactive_per_hour),
            enabled: self.enabled.or(document.enabled),
            clear: cleared(&self.clear, CLEARABLE),
            expected_version: self.expected_version.or(document.expected_version),
        }
    }
}
