//! Rows 26 to 29 and 32: the reply's delivery.

use super::super::event::{Delivery, Event};
use super::super::next::{Effect, Next, OwnerNotice};
use super::super::{Item, Outcome, State};
use super::{expect_state, refusal};
use crate::Error;
use crate::reason::ItemReason;

pub(super) fn moved(item: &Item, delivery: Delivery) -> Result<Next, Error> {
    if item.state.is_final() {
        // A Part that was in flight when the item closed still reports; the item stays closed.
        return Ok(Next::same(34, item));
    }
    expect_state(item, &[State::AwaitingDelivery], &Event::Delivery(delivery))?;
    let undelivered = |reason| {
        Next::to(27, item, State::Failed, Some(reason))
            .outcome(None)
            .effect(Effect::Tell(OwnerNotice::DeliveryFailed))
    };
    Ok(match delivery {
        Delivery::Sent => Next::to(26, item, State::Handled, None),
        Delivery::Failed => undelivered(ItemReason::DeliveryFailed),
        Delivery::Expired => undelivered(ItemReason::DeliveryExpired),
        Delivery::Cancelled => {
            Next::to(28, item, State::NeedsDecision, Some(ItemReason::ReplyCancelled)).outcome(None)
        }
        Delivery::Unknown | Delivery::Held => Next::same(29, item),
    })
}

pub(super) fn restarted(item: &Item) -> Result<Next, Error> {
    let is_undelivered =
        matches!(item.state_reason, Some(ItemReason::DeliveryFailed | ItemReason::DeliveryExpired));
    if item.state != State::Failed || !is_undelivered {
        return Err(refusal(item, &Event::OutboxRetry));
    }
    Ok(Next::to(32, item, State::AwaitingDelivery, None).outcome(Some(Outcome::Reply)))
}
