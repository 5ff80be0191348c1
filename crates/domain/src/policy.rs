//! Policy words of Addresses and Memberships.

use crate::words;

words! {
    /// When a message in a conversation addresses the Agent.
    pub enum TriggerPolicy {
        /// A structured mention, a confirmed dispatch, or any DM.
        Mention = "mention",
        /// Only DMs.
        Direct = "direct",
        /// Only a dispatch that the provider confirmed.
        ExplicitDispatch = "explicit_dispatch",
        /// Every message.
        All = "all",
        /// Every message of the listed actors or conversations.
        Allowlist = "allowlist",
    }
}

words! {
    /// How an item is answered.
    pub enum ReplyPolicy {
        /// The Turn's final answer is the reply.
        FinalAnswer = "final_answer",
        /// Only an explicit reply, no-reply or defer decides.
        Explicit = "explicit",
        /// Nothing is ever sent.
        None = "none",
    }
}

words! {
    /// Who may write in a DM.
    pub enum DmPolicy {
        /// Anybody.
        Open = "open",
        /// Approved senders; others wait for approval.
        Managed = "managed",
        /// Nobody.
        Closed = "closed",
    }
}

words! {
    /// What may be sent into a conversation.
    pub enum OutboundPolicy {
        /// Replies to Inbox items only.
        ReplyOnly = "reply_only",
        /// Replies and sends of the Agent's own accord.
        Proactive = "proactive",
        /// Nothing.
        None = "none",
    }
}

words! {
    /// Which inbound files are let through.
    pub enum AttachmentPolicy {
        /// None.
        None = "none",
        /// Known harmless types; others are quarantined.
        Safe = "safe",
        /// All.
        All = "all",
    }
}

words! {
    /// Whether Refusals keep the text of the message.
    pub enum RefusalBody {
        /// The text is dropped.
        Drop = "drop",
        /// The text is kept for the retention time.
        Keep = "keep",
    }
}

words! {
    /// Kind of a conversation. The three non-DM words form one class.
    pub enum ConversationType {
        /// A group.
        Group = "group",
        /// A channel.
        Channel = "channel",
        /// A direct conversation of several people.
        GroupDm = "group_dm",
        /// A direct conversation of one person with the bot.
        Dm = "dm",
    }
}

impl ConversationType {
    /// Whether this is a direct conversation with one person.
    pub const fn is_dm(self) -> bool {
        matches!(self, ConversationType::Dm)
    }
}

words! {
    /// Whether an answer is expected.
    pub enum Expectation {
        /// No answer is wanted.
        None = "none",
        /// An answer may be given.
        Optional = "optional",
        /// An answer is required.
        Required = "required",
    }
}

words! {
    /// What a Connection's platform and gateway can do.
    pub enum Capability {
        /// Events arrive.
        ReceiveEvents = "receive_events",
        /// Conversations have threads.
        Threads = "threads",
        /// Thread history can be read.
        ThreadContext = "thread_context",
        /// Mentions are structured.
        Mentions = "mentions",
        /// The platform confirms explicit dispatches.
        ExplicitDispatch = "explicit_dispatch",
        /// Files arrive.
        AttachmentsIn = "attachments_in",
        /// Files can be sent.
        AttachmentsOut = "attachments_out",
        /// Reactions can be set.
        Reactions = "reactions",
        /// Edits are reported.
        Edits = "edits",
        /// Recalls are reported.
        Recalls = "recalls",
        /// Messages can be sent without an earlier one.
        ProactiveSend = "proactive_send",
        /// History can be read.
        History = "history",
        /// An unknown send can be looked up.
        SettleLookup = "settle_lookup",
        /// A send repeated with the same key is one message.
        SettleIdempotent = "settle_idempotent",
        /// Native resources can be read.
        NativeRead = "native_read",
    }
}
