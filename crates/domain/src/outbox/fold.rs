//! The state of an Outbox item, derived from its Parts (messaging specification 5.7).

use super::{PartState, State};

/// Derived fields of an item.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[must_use]
pub struct Folded {
    /// State.
    pub state: State,
    /// Delivered Parts.
    pub sent_parts: u32,
    /// Some but not all Parts are delivered.
    pub partial: bool,
}

/// First match wins; `held` is the item's own mark.
const ORDER: &[(PartState, State)] = &[
    (PartState::Unknown, State::Unknown),
    (PartState::Sending, State::Sending),
    (PartState::Failed, State::Failed),
    (PartState::Expired, State::Expired),
    (PartState::Cancelled, State::Cancelled),
    (PartState::RetryWait, State::RetryWait),
];

/// Derives the item's state from the states of its Parts.
pub fn fold(parts: &[PartState], held: bool) -> Folded {
    let sent = parts.iter().filter(|part| **part == PartState::Sent).count();
    let all_sent = sent == parts.len() && sent > 0;
    let first = ORDER.iter().find(|(part, _)| parts.contains(part)).map(|(_, state)| *state);
    let state = match first {
        _ if all_sent => State::Sent,
        _ if held => State::Held,
        Some(state) => state,
        None => State::Pending,
    };
    let partial = sent > 0 && !all_sent;
    Folded { state, sent_parts: u32::try_from(sent).unwrap_or(u32::MAX), partial }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn msg_169_an_item_is_sent_only_when_every_part_is() {
        use PartState as P;
        assert_eq!(fold(&[P::Sent, P::Sent], false).state, State::Sent);
        let part = fold(&[P::Sent, P::Pending], false);
        assert_eq!((part.state, part.partial, part.sent_parts), (State::Pending, true, 1));
        assert_eq!(fold(&[], false).state, State::Pending);
        assert_eq!(fold(&[P::Sent, P::Failed, P::Cancelled], false).state, State::Failed);
        assert_eq!(fold(&[P::Failed, P::Unknown], false).state, State::Unknown);
        assert_eq!(fold(&[P::Pending], true).state, State::Held);
    }

    proptest! {
        #[test]
        fn msg_169_fold_of_any_parts(
            parts in proptest::collection::vec(proptest::sample::select(PartState::ALL.to_vec()), 0..8),
            held: bool,
        ) {
            let folded = fold(&parts, held);
            let sent = parts.iter().filter(|part| **part == PartState::Sent).count();
            prop_assert_eq!(folded.state == State::Sent, sent > 0 && sent == parts.len());
            prop_assert_eq!(folded.partial, sent > 0 && sent < parts.len());
            if !held && folded.state == State::Cancelled {
                prop_assert!(!parts.contains(&PartState::Failed) && !parts.contains(&PartState::Sending));
            }
            let mut turned = parts.clone();
            turned.reverse();
            prop_assert_eq!(fold(&turned, held), folded);
        }
    }
}
