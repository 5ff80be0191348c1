//! Keys under which an event or message is known (messaging specification 3.5).

use crate::InboundEvent;
use crate::message::{EventKind, Evidence};
use crate::reason::EventReason;

/// Longest key, bytes; a longer one is replaced by its digest.
pub const KEY_BYTES_MAX: usize = 512;

/// Key of the event, unique on its Connection for each Address.
#[must_use]
pub fn event_key(event: &InboundEvent) -> String {
    bounded(event.event_id.clone())
}

/// Key of the message that the event brings, unique per Address. Facts bring none, so an edit is never a
/// duplicate of the message it changes.
#[must_use]
pub fn message_key(event: &InboundEvent) -> Option<String> {
    match event.kind {
        EventKind::Message | EventKind::Unsupported => {
            let message_id = event.conversation.message_id.as_deref()?;
            Some(key_of(event, message_id))
        }
        _ => None,
    }
}

/// Key of the message that a fact is about.
#[must_use]
pub fn fact_target_key(event: &InboundEvent) -> Option<String> {
    match event.kind {
        EventKind::Edit | EventKind::Recall | EventKind::Reaction => {
            let message_id =
                event.target_message_id.as_deref().or(event.conversation.message_id.as_deref())?;
            Some(key_of(event, message_id))
        }
        _ => None,
    }
}

fn key_of(event: &InboundEvent, message_id: &str) -> String {
    let given = event.message_key.as_ref().filter(|key| !key.trim().is_empty());
    bounded(given.cloned().unwrap_or_else(|| format!("{}/{message_id}", event.conversation.conversation_id)))
}

fn bounded(key: String) -> String {
    use sha2::Digest as _;
    if key.len() <= KEY_BYTES_MAX {
        key
    } else {
        format!("sha256:{}", hex::encode(sha2::Sha256::digest(&key)))
    }
}

/// Whether a second event of a message is judged again: only when the first was refused for its trigger and
/// this one brings a mention or dispatch that the first lacked.
#[must_use]
pub const fn is_upgrade(stored: EventReason, before: Evidence, now: Evidence) -> bool {
    matches!(stored, EventReason::TriggerNotMet)
        && ((now.mentioned && !before.mentioned) || (now.explicit_dispatch && !before.explicit_dispatch))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixtures;

    #[test]
    fn msg_101_equal_timestamps_in_two_channels_stay_apart() {
        let (mut a, mut b) = (fixtures::event(), fixtures::event());
        a.conversation.conversation_id = "C1".to_owned();
        b.conversation.conversation_id = "C2".to_owned();
        assert_ne!(message_key(&a), message_key(&b));
    }

    #[test]
    fn msg_104_other_event_ids_of_one_message_have_one_key() {
        let (a, mut b) = (fixtures::event(), fixtures::event());
        b.event_id = "Ev-other".to_owned();
        assert_eq!(message_key(&a), message_key(&b));
        assert_ne!(event_key(&a), event_key(&b));
    }

    #[test]
    fn an_edit_points_at_its_message_and_brings_none() {
        let message = fixtures::event();
        let mut edit = fixtures::event();
        edit.kind = EventKind::Edit;
        edit.target_message_id = edit.conversation.message_id.clone();
        assert_eq!(message_key(&edit), None);
        assert_eq!(fact_target_key(&edit), message_key(&message));
    }

    #[test]
    fn msg_107_only_a_trigger_refusal_is_upgraded() {
        let none = Evidence::default();
        let mentioned = Evidence { mentioned: true, ..none };
        assert!(is_upgrade(EventReason::TriggerNotMet, none, mentioned));
        assert!(!is_upgrade(EventReason::TriggerNotMet, mentioned, mentioned));
        assert!(!is_upgrade(EventReason::ActorBlocked, none, mentioned));
        assert!(!is_upgrade(EventReason::Accepted, none, mentioned));
    }
}
