//! What a fact about a message does to its item (messaging specification 3.6). No fact ever creates an item,
//! a Turn or an Outbox item.

use crate::inbox::State;
use crate::message::{Content, EventKind};
use crate::{InboundEvent, words};

words! {
    /// Words of member and lifecycle facts that change something.
    pub enum FactWord {
        /// The bot was added to a conversation.
        BotAdded = "bot_added",
        /// The bot was removed from a conversation.
        BotRemoved = "bot_removed",
        /// The app was uninstalled.
        AppUninstalled = "app_uninstalled",
        /// Tokens were revoked.
        TokensRevoked = "tokens_revoked",
        /// The platform says it limits us.
        RateLimited = "rate_limited",
    }
}

/// What the store does with a fact.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[must_use]
pub enum FactEffect {
    /// The Event is stored, nothing else.
    Store,
    /// Nothing really changed (unfurl, counter); the Event is stored, no revision.
    Ignore,
    /// A revision is stored and `flags.edited` set; the item is not claimed yet, so the Turn sees it.
    ReviseContent,
    /// A revision is stored and `flags.edited` set; the running Turn is not disturbed.
    ReviseWhileHandling,
    /// A revision is stored; the item is past its Turn.
    ReviseOnly,
    /// The message is marked recalled and the item gets the event `recall`.
    Recall,
    /// The recall is stored on the message; the item is final.
    RecallOnly,
    /// Candidate `botIsMember` becomes this.
    BotIsMember(bool),
    /// The Connection gets this reason.
    ConnectionReason(FactWord),
    /// Stored with `unknown_message=true`.
    UnknownMessage,
}

/// The effect of a fact. `item` is the state of the message's item, if it has one; `known` is the newest
/// content of the message, absent when the message was never seen.
pub fn effect(event: &InboundEvent, known: Option<&Content>, item: Option<State>) -> FactEffect {
    match (event.kind, known) {
        (EventKind::Edit | EventKind::Recall | EventKind::Reaction, None) => FactEffect::UnknownMessage,
        (EventKind::Edit, Some(content)) if !is_real_change(content, &event.content) => FactEffect::Ignore,
        (EventKind::Edit, Some(_)) => edit(item),
        (EventKind::Recall, Some(_)) => match item {
            Some(state) if !state.is_final() => FactEffect::Recall,
            _ => FactEffect::RecallOnly,
        },
        (EventKind::Member | EventKind::Lifecycle, _) => lifecycle(event.fact.as_deref()),
        _ => FactEffect::Store,
    }
}

fn edit(item: Option<State>) -> FactEffect {
    match item {
        Some(State::PendingAccess | State::Queued | State::Deferred) => FactEffect::ReviseContent,
        Some(State::Handling) => FactEffect::ReviseWhileHandling,
        _ => FactEffect::ReviseOnly,
    }
}

fn lifecycle(word: Option<&str>) -> FactEffect {
    match word.and_then(|word| word.parse::<FactWord>().ok()) {
        Some(FactWord::BotAdded) => FactEffect::BotIsMember(true),
        Some(FactWord::BotRemoved) => FactEffect::BotIsMember(false),
        Some(word) => FactEffect::ConnectionReason(word),
        None => FactEffect::Store,
    }
}

/// Whether an edit changes text or files. Fetch states and digests of files are ours and do not count.
#[must_use]
pub fn is_real_change(before: &Content, after: &Content) -> bool {
    let files = |content: &Content| -> Vec<(String, String)> {
        content.attachments.iter().map(|a| (a.reference.clone(), a.name.clone())).collect()
    };
    before.text != after.text || files(before) != files(after)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixtures;

    fn edit_event(text: &str) -> InboundEvent {
        let mut event = fixtures::event();
        event.kind = EventKind::Edit;
        text.clone_into(&mut event.content.text);
        event
    }

    #[test]
    fn msg_108_an_edit_of_a_queued_item_becomes_its_content() {
        let before = fixtures::event().content;
        let event = edit_event("new words");
        assert_eq!(effect(&event, Some(&before), Some(State::Queued)), FactEffect::ReviseContent);
        assert_eq!(effect(&event, Some(&before), Some(State::Handling)), FactEffect::ReviseWhileHandling);
    }

    #[test]
    fn msg_109_an_edit_of_an_answered_message_is_a_revision_only() {
        let before = fixtures::event().content;
        assert_eq!(effect(&edit_event("x"), Some(&before), Some(State::Handled)), FactEffect::ReviseOnly);
        assert_eq!(effect(&edit_event(&before.text), Some(&before), Some(State::Queued)), FactEffect::Ignore);
        assert_eq!(effect(&edit_event("x"), Some(&before), None), FactEffect::ReviseOnly);
        assert_eq!(effect(&edit_event("x"), None, None), FactEffect::UnknownMessage);
    }
}
