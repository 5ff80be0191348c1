//! Rows 22 to 24, 30 and 31: decisions of the Agent or owner.

use super::super::event::Event;
use super::super::limits::{DEFER_MS_MAX, NOTE_BYTES_MAX};
use super::super::next::{Effect, Next};
use super::super::{Item, Outcome, State};
use super::{ReplyFacts, expect_state};
use crate::{Code, Error, Timestamp};

const DECIDABLE: &[State] = &[
    State::Queued,
    State::Handling,
    State::NeedsDecision,
    State::Deferred,
    State::Interrupted,
    State::Failed,
];
const RETRYABLE: &[State] = &[State::Failed, State::NeedsDecision, State::Interrupted, State::Deferred];

fn refuse_live(item: &Item, reply: ReplyFacts) -> Result<(), Error> {
    if reply.is_live {
        return Err(Error::new(Code::ReplyExists, format!("a reply to {} is on its way", item.id)));
    }
    Ok(())
}

pub(super) fn reply(item: &Item, reply: ReplyFacts) -> Result<Next, Error> {
    expect_state(item, DECIDABLE, &Event::Reply)?;
    refuse_live(item, reply)?;
    Ok(Next::to(22, item, State::AwaitingDelivery, None)
        .outcome(Some(Outcome::Reply))
        .effect(Effect::CreateOutbox)
        .effect_if(reply.is_failed, Effect::SupersedeReply))
}

pub(super) fn no_reply(item: &Item, reply: ReplyFacts, reason: &str) -> Result<Next, Error> {
    if item.state == State::Handled && item.outcome == Some(Outcome::NoReply) {
        return Ok(Next::same(23, item));
    }
    expect_state(item, DECIDABLE, &Event::NoReply { reason: String::new() })?;
    refuse_live(item, reply)?;
    let next = Next::to(23, item, State::Handled, None)
        .outcome(Some(Outcome::NoReply))
        .effect_if(reply.is_failed, Effect::CancelUnsentParts);
    Ok(Next { note: Some(crate::text::prefix(reason, NOTE_BYTES_MAX).to_owned()), ..next })
}

pub(super) fn defer(item: &Item, until: Timestamp, now: Timestamp) -> Result<Next, Error> {
    expect_state(item, DECIDABLE, &Event::Defer { until })?;
    if until <= now || until > now.plus_ms(DEFER_MS_MAX) {
        return Err(Error::new(Code::InvalidTime, "a deferral ends in the future, within 30 days"));
    }
    Ok(Next::to(24, item, State::Deferred, None).outcome(None).at(until))
}

pub(super) fn retry(
    item: &Item,
    reply: ReplyFacts,
    after_partial: bool,
    address_active: bool,
) -> Result<Next, Error> {
    expect_state(item, RETRYABLE, &Event::Retry { after_partial, address_active })?;
    if !address_active {
        return Err(Error::new(Code::Disabled, "the Address of the item is not active"));
    }
    if reply.has_unknown_part || (reply.has_sent_part && !after_partial) {
        let message = format!("part of an earlier reply to {} reached the platform or may have", item.id);
        return Err(Error::new(Code::ReplyPartiallySent, message));
    }
    refuse_live(item, reply)?;
    let next = Next::to(30, item, State::Queued, None).outcome(None);
    Ok(Next { start_failures: 0, ..next })
}
