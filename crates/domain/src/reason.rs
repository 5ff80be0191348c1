//! Closed reason codes of Events, items and waiting work (messaging specification 3.11).

use crate::words;

words! {
    /// Why an Event was judged as it was.
    pub enum EventReason {
        /// Queued.
        Accepted = "accepted",
        /// The sender waits for approval.
        AccessPending = "access_pending",
        /// The event lacks an id or has wrong types.
        Malformed = "malformed",
        /// The Connection is archived.
        ConnectionArchived = "connection_archived",
        /// The Connection is switched off.
        ConnectionDisabled = "connection_disabled",
        /// The Connection has no Address.
        NoAddress = "no_address",
        /// The Address is archived or deleted.
        AddressArchived = "address_archived",
        /// The Address is switched off.
        AddressDisabled = "address_disabled",
        /// The Agent is archived.
        AgentArchived = "agent_archived",
        /// The kind of message is not supported.
        UnsupportedEvent = "unsupported_event",
        /// The event is too old.
        Stale = "stale",
        /// The sender is not told.
        ActorUnknown = "actor_unknown",
        /// The Agent's own message.
        SelfMessage = "self_message",
        /// A bot that is not allowed.
        BotSender = "bot_sender",
        /// An allowed bot over its budget.
        BotLoopBudget = "bot_loop_budget",
        /// The sender is blocked.
        ActorBlocked = "actor_blocked",
        /// The conversation is blocked.
        ConversationBlocked = "conversation_blocked",
        /// DMs are closed.
        DmClosed = "dm_closed",
        /// The Membership is of another type.
        ConversationTypeMismatch = "conversation_type_mismatch",
        /// The DM Membership is of another person.
        ActorMismatch = "actor_mismatch",
        /// No Membership.
        MembershipMissing = "membership_missing",
        /// The Membership is switched off.
        MembershipDisabled = "membership_disabled",
        /// The sender is not on the allow list.
        ActorNotAllowed = "actor_not_allowed",
        /// The conversation is not on the allow list.
        ConversationNotAllowed = "conversation_not_allowed",
        /// The trigger is not met.
        TriggerNotMet = "trigger_not_met",
        /// Neither text nor files.
        EmptyContent = "empty_content",
        /// Too many pending items.
        PendingLimit = "pending_limit",
        /// The sender writes too fast.
        SenderRateLimited = "sender_rate_limited",
        /// The queue is full.
        QueueFull = "queue_full",
        /// A fact about a message or Connection.
        Fact = "fact",
        /// The event or message was known.
        Duplicate = "duplicate",
    }
}

words! {
    /// Why an Inbox item is in its state.
    pub enum ItemReason {
        /// The Turn ended without the explicit decision that the policy needs.
        DecisionMissing = "decision_missing",
        /// The final answer was empty.
        EmptyAnswer = "empty_answer",
        /// The reply was refused at admission.
        ReplyBlocked = "reply_blocked",
        /// The reply was cancelled.
        ReplyCancelled = "reply_cancelled",
        /// The reply failed.
        DeliveryFailed = "delivery_failed",
        /// The reply expired.
        DeliveryExpired = "delivery_expired",
        /// The runtime could not start the Turn.
        RuntimeUnavailable = "runtime_unavailable",
        /// The Turn failed.
        TurnFailed = "turn_failed",
        /// The Turn ran out of time.
        TurnTimeout = "turn_timeout",
        /// It is not known what became of the Turn.
        UnknownFate = "unknown_fate",
        /// The message was recalled.
        Recalled = "recalled",
        /// The sender was denied.
        AccessDenied = "access_denied",
        /// Approval did not come in time.
        AccessExpired = "access_expired",
        /// The item waited too long.
        QueueExpired = "queue_expired",
        /// The present policy refuses it.
        PolicyDenied = "policy_denied",
        /// The Address was archived.
        AddressArchived = "address_archived",
        /// The Address went to another Agent.
        AddressTransferred = "address_transferred",
        /// The Agent was archived.
        AgentArchived = "agent_archived",
        /// The owner cancelled it.
        OwnerCancelled = "owner_cancelled",
    }
}

words! {
    /// What a queued item or pending Part waits for.
    pub enum BlockedBy {
        /// The Connection is off.
        ConnectionDisabled = "connection_disabled",
        /// The Address is off.
        AddressDisabled = "address_disabled",
        /// The Membership is off.
        MembershipDisabled = "membership_disabled",
        /// The Agent is paused.
        AgentPaused = "agent_paused",
        /// The Agent runs another Turn.
        AgentBusy = "agent_busy",
        /// The hub is shutting down.
        HubDraining = "hub_draining",
        /// The runtime does not answer.
        RuntimeDown = "runtime_down",
    }
}
