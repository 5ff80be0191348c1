//! Rows 3 to 8 and 25: items that wait for approval, for their Turn, or for a time.

use super::super::event::{Event, Rejudged};
use super::super::next::{Effect, Next, OwnerNotice};
use super::super::{Item, State};
use super::expect_state;
use crate::decision::Recheck;
use crate::reason::{BlockedBy, ItemReason};
use crate::{Code, Error};

pub(super) fn rejudge(item: &Item, judged: Rejudged) -> Result<Next, Error> {
    expect_state(item, &[State::PendingAccess], &Event::Rejudge(judged))?;
    match judged {
        Rejudged::Accepted => Ok(Next::to(3, item, State::Queued, None)),
        Rejudged::StillPending => Err(Error::new(
            Code::MembershipRequired,
            "no enabled dm Membership of this conversation and actor exists",
        )),
        Rejudged::Refused(reason) => {
            let next = Next::to(4, item, State::Cancelled, Some(ItemReason::PolicyDenied));
            Ok(Next { note: Some(reason.as_str().to_owned()), ..next })
        }
    }
}

pub(super) fn deny(item: &Item, block: bool) -> Result<Next, Error> {
    expect_state(item, &[State::PendingAccess], &Event::Deny { block })?;
    let next = Next::to(5, item, State::Cancelled, Some(ItemReason::AccessDenied));
    Ok(next.effect_if(block, Effect::BlockActor))
}

pub(super) fn access_expired(item: &Item) -> Result<Next, Error> {
    expect_state(item, &[State::PendingAccess], &Event::AccessExpired)?;
    Ok(Next::to(5, item, State::Expired, Some(ItemReason::AccessExpired)))
}

pub(super) fn claim(item: &Item, check: Recheck) -> Result<Next, Error> {
    expect_state(item, &[State::Queued], &Event::Claim(check))?;
    match check {
        Recheck::Ok if item.active_attempt_id.is_some() => {
            let next = Next::same(6, item);
            Ok(Next { blocked_by: Some(BlockedBy::AgentBusy), ..next })
        }
        Recheck::Ok => {
            let next = Next::to(6, item, State::Handling, None).outcome(None);
            Ok(Next { attempt_count: item.attempt_count.saturating_add(1), ..next })
        }
        Recheck::Blocked(by) => Ok(Next { blocked_by: Some(by), ..Next::same(6, item) }),
        Recheck::Denied(reason) => {
            let next = Next::to(7, item, State::Cancelled, Some(ItemReason::PolicyDenied));
            Ok(Next { note: Some(reason.as_str().to_owned()), ..next })
        }
    }
}

pub(super) fn queue_expired(item: &Item) -> Result<Next, Error> {
    expect_state(item, &[State::Queued], &Event::QueueExpired)?;
    let next = Next::to(8, item, State::Expired, Some(ItemReason::QueueExpired));
    Ok(next.effect(Effect::Tell(OwnerNotice::QueueExpired)))
}

pub(super) fn due(item: &Item) -> Result<Next, Error> {
    expect_state(item, &[State::Deferred], &Event::Due)?;
    Ok(Next::to(25, item, State::Queued, None))
}
