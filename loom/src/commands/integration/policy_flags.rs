//! The settings of an Address as flags.

use loom_api::request::AddressPolicy;
use loom_domain::{AttachmentPolicy, DmPolicy, RefusalBody, ReplyPolicy, TriggerPolicy};

use crate::cli::parsers::{self, Entries};

/// Settings of an Address.
#[derive(Debug, Clone, Default, clap::Args)]
#[command(next_help_heading = "Policy")]
pub(crate) struct PolicyFlags {
    /// Cosmetic name
    #[arg(long, value_name = "T")]
    display_name: Option<String>,
    /// Trigger: mention, direct, `explicit_dispatch`, all or allowlist
    #[arg(long, value_name = "P")]
    trigger: Option<TriggerPolicy>,
    /// Reply: `final_answer`, explicit or none
    #[arg(long, value_name = "P")]
    reply_policy: Option<ReplyPolicy>,
    /// DMs: open, managed or closed
    #[arg(long, value_name = "P")]
    dm_policy: Option<DmPolicy>,
    /// Trust domain
    #[arg(long, value_name = "D")]
    trust_domain: Option<String>,
    /// Actors that alone may write, comma separated
    #[arg(long, value_name = "L", value_parser = parsers::entries)]
    allow_actors: Option<Entries>,
    /// Conversations that alone are heard, comma separated
    #[arg(long, value_name = "L", value_parser = parsers::entries)]
    allow_conversations: Option<Entries>,
    /// Actors that are refused, comma separated
    #[arg(long, value_name = "L", value_parser = parsers::entries)]
    block_actors: Option<Entries>,
    /// Conversations that are refused, comma separated
    #[arg(long, value_name = "L", value_parser = parsers::entries)]
    block_conversations: Option<Entries>,
    /// Bots that may write, comma separated
    #[arg(long, value_name = "L", value_parser = parsers::entries)]
    allow_bots: Option<Entries>,
    /// Inbound files: none, safe or all
    #[arg(long, value_name = "P")]
    attachment_policy: Option<AttachmentPolicy>,
    /// Text of refused messages: drop or keep
    #[arg(long, value_name = "P")]
    refusal_body: Option<RefusalBody>,
    /// On or off: true or false
    #[arg(long, value_name = "B")]
    enabled: Option<bool>,
}

impl PolicyFlags {
    /// The settings as the API takes them.
    pub(crate) fn into_policy(self) -> AddressPolicy {
        let list = |entries: Option<Entries>| entries.map(|entries| entries.0);
        AddressPolicy {
            display_name: self.display_name,
            trigger_policy: self.trigger,
            reply_policy: self.reply_policy,
            dm_policy: self.dm_policy,
            trust_domain: self.trust_domain,
            allow_actors: list(self.allow_actors),
            allow_conversations: list(self.allow_conversations),
            block_actors: list(self.block_actors),
            block_conversations: list(self.block_conversations),
            allow_bots: list(self.allow_bots),
            attachment_policy: self.attachment_policy,
            refusal_body: self.refusal_body,
            enabled: self.enabled,
        }
    }
}
