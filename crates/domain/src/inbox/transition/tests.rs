//! Cases of the transition table.

use std::collections::BTreeSet;

use super::*;
use crate::decision::Recheck;
use crate::fixtures::{self, NOW};
use crate::inbox::{Answer, Delivery, Outcome, Rejudged, StartFailure, limits};
use crate::reason::{BlockedBy, EventReason};
use crate::turn::AttemptStatus;
use crate::{AttemptId, ReplyPolicy};

const NONE: ReplyFacts =
    ReplyFacts { is_live: false, is_failed: false, has_sent_part: false, has_unknown_part: false };
const FAILED: ReplyFacts = ReplyFacts { is_failed: true, ..NONE };

fn item(state: State) -> Item {
    let mut item = fixtures::item();
    item.state = state;
    if state == State::Handling {
        item.active_attempt_id = Some(AttemptId::new(1, 9));
        item.attempt_count = 1;
    }
    item
}

fn step(item: &Item, event: &Event) -> Result<Next, Error> {
    transition(item, NONE, event, NOW)
}

fn lands(state: State, event: &Event) -> (State, Option<ItemReason>, u8) {
    let next = step(&item(state), event).unwrap();
    (next.state, next.reason, next.row)
}

fn completed(policy: ReplyPolicy, answer: Answer) -> Event {
    Event::TurnCompleted { policy, answer }
}

/// One event of each kind, in each variant.
fn all_events() -> Vec<Event> {
    let no_reply = Event::NoReply { reason: "done".to_owned() };
    let mut events = vec![
        Event::Rejudge(Rejudged::Accepted),
        Event::Rejudge(Rejudged::Refused(EventReason::ActorBlocked)),
        Event::Deny { block: true },
        Event::AccessExpired,
        Event::Claim(Recheck::Ok),
        Event::Claim(Recheck::Denied(EventReason::ActorBlocked)),
        Event::Claim(Recheck::Blocked(BlockedBy::AgentPaused)),
        Event::QueueExpired,
        Event::StartIndeterminate,
        Event::NeverAccepted,
        Event::Reattached,
        Event::FateUnknown { may_rerun: false },
        Event::FateUnknown { may_rerun: true },
        Event::TurnTimeout,
        Event::TurnStopped,
        Event::Reply,
        no_reply,
        Event::Defer { until: NOW.plus_ms(1) },
        Event::Due,
        Event::Retry { after_partial: false, address_active: true },
        Event::OutboxRetry,
        Event::Cancel,
        Event::Recall,
        Event::Close(ItemReason::AddressArchived),
    ];
    for failure in [StartFailure::NotSent, StartFailure::RefusedBusy, StartFailure::RefusedBadInput] {
        events.push(Event::StartFailed(failure));
    }
    for policy in ReplyPolicy::ALL {
        for answer in [Answer::Empty, Answer::Admitted, Answer::Refused(Code::Disabled)] {
            events.push(completed(*policy, answer));
        }
    }
    for (retryable, tool_called) in [(true, false), (true, true), (false, false)] {
        events.push(Event::TurnFailed { retryable, tool_called });
    }
    events.extend(
        [
            Delivery::Sent,
            Delivery::Failed,
            Delivery::Expired,
            Delivery::Cancelled,
            Delivery::Unknown,
            Delivery::Held,
        ]
        .map(Event::Delivery),
    );
    events
}

fn states_after(state: State) -> BTreeSet<State> {
    let mut before = item(state);
    if state == State::Failed {
        before.state_reason = Some(ItemReason::DeliveryFailed);
    }
    all_events().iter().filter_map(|event| step(&before, event).ok()).map(|next| next.state).collect()
}

/// P-4: every state that is not final has an event leading out, and can reach a final one.
#[test]
fn p_4_no_item_state_without_exit() {
    let finals: BTreeSet<State> = State::ALL.iter().copied().filter(|state| state.is_final()).collect();
    for state in State::ALL.iter().filter(|state| !state.is_final()) {
        assert!(states_after(*state).iter().any(|next| next != state), "{state} has no exit");
        let mut reached = BTreeSet::from([*state]);
        loop {
            let grown: BTreeSet<State> =
                reached.iter().flat_map(|state| states_after(*state)).chain(reached.clone()).collect();
            if grown == reached {
                break;
            }
            reached = grown;
        }
        assert!(finals.is_subset(&reached), "{state} reaches only {reached:?}");
    }
}

#[test]
fn p_4_final_states_never_change() {
    for state in State::ALL.iter().filter(|state| state.is_final()) {
        for event in all_events() {
            if let Ok(next) = step(&item(*state), &event) {
                assert_eq!(next.state, *state, "{event:?}");
            }
        }
    }
}

#[test]
fn every_row_of_the_table_can_happen() {
    let mut rows = BTreeSet::from([1, 2]);
    for state in State::ALL {
        let mut before = item(*state);
        before.state_reason = (*state == State::Failed).then_some(ItemReason::DeliveryExpired);
        rows.extend(all_events().iter().filter_map(|event| step(&before, event).ok()).map(|next| next.row));
        before.active_attempt_id = Some(AttemptId::new(1, 9));
        rows.extend(all_events().iter().filter_map(|event| step(&before, event).ok()).map(|next| next.row));
    }
    rows.insert(31); // a refusal, see msg_141
    assert_eq!(rows, (1..=35).collect());
}

#[test]
fn msg_086_approval_queues_or_cancels() {
    let accepted = lands(State::PendingAccess, &Event::Rejudge(Rejudged::Accepted));
    assert_eq!(accepted, (State::Queued, None, 3));
    let refused = Event::Rejudge(Rejudged::Refused(EventReason::ActorMismatch));
    let next = step(&item(State::PendingAccess), &refused).unwrap();
    assert_eq!((next.reason, next.note.as_deref()), (Some(ItemReason::PolicyDenied), Some("actor_mismatch")));
    let early = step(&item(State::PendingAccess), &Event::Rejudge(Rejudged::StillPending));
    assert_eq!(early.unwrap_err().code, Code::MembershipRequired);
}

#[test]
fn msg_096_a_pending_item_takes_no_decision() {
    let no_reply = Event::NoReply { reason: String::new() };
    for event in [Event::Reply, no_reply, Event::Defer { until: NOW.plus_ms(1) }] {
        let refused = step(&item(State::PendingAccess), &event).unwrap_err();
        assert_eq!(refused.code, Code::AccessPending);
    }
    let expired = lands(State::PendingAccess, &Event::AccessExpired);
    assert_eq!(expired, (State::Expired, Some(ItemReason::AccessExpired), 5));
}

#[test]
fn msg_133_explicit_without_decision_needs_one() {
    let ended = lands(State::Handling, &completed(ReplyPolicy::Explicit, Answer::Admitted));
    assert_eq!(ended, (State::NeedsDecision, Some(ItemReason::DecisionMissing), 16));
    let retry = Event::Retry { after_partial: false, address_active: true };
    assert_eq!(lands(State::NeedsDecision, &retry).0, State::Queued);
    assert_eq!(lands(State::NeedsDecision, &Event::NoReply { reason: String::new() }).0, State::Handled);
}

#[test]
fn msg_134_a_decision_in_the_turn_wins_over_its_final_text() {
    let mut decided = item(State::Handling);
    step(&decided, &Event::Reply).unwrap().apply(&mut decided);
    assert!(decided.active_attempt_id.is_some(), "the Attempt stays open until the Turn ends");
    let end = step(&decided, &completed(ReplyPolicy::FinalAnswer, Answer::Admitted)).unwrap();
    assert_eq!((end.state, end.row), (State::AwaitingDelivery, 17));
    assert_eq!(end.effects, [Effect::CloseAttempt(AttemptStatus::Completed)]);
}

#[test]
fn msg_135_policy_none_is_handled_without_outbox() {
    let next = step(&item(State::Handling), &completed(ReplyPolicy::None, Answer::Admitted)).unwrap();
    assert_eq!((next.state, next.outcome), (State::Handled, Some(Outcome::NoReply)));
    assert!(!next.effects.contains(&Effect::CreateOutbox));
}

#[test]
fn msg_136_an_item_is_handled_only_when_its_reply_is_sent() {
    for (delivery, state) in [
        (Delivery::Sent, State::Handled),
        (Delivery::Unknown, State::AwaitingDelivery),
        (Delivery::Held, State::AwaitingDelivery),
        (Delivery::Cancelled, State::NeedsDecision),
        (Delivery::Failed, State::Failed),
    ] {
        assert_eq!(lands(State::AwaitingDelivery, &Event::Delivery(delivery)).0, state);
    }
}

#[test]
fn msg_137_a_blocked_reply_keeps_the_answer() {
    let event = completed(ReplyPolicy::FinalAnswer, Answer::Refused(Code::Disabled));
    let next = step(&item(State::Handling), &event).unwrap();
    assert_eq!((next.state, next.reason), (State::NeedsDecision, Some(ItemReason::ReplyBlocked)));
    assert!(next.effects.contains(&Effect::KeepAnswer(Code::Disabled)));
}

#[test]
fn msg_138_the_frozen_policy_decides() {
    for (policy, row) in
        [(ReplyPolicy::None, 12), (ReplyPolicy::FinalAnswer, 13), (ReplyPolicy::Explicit, 16)]
    {
        assert_eq!(lands(State::Handling, &completed(policy, Answer::Admitted)).2, row);
    }
}

#[test]
fn msg_139_a_denied_claim_cancels_and_a_blocked_one_waits() {
    let denied =
        step(&item(State::Queued), &Event::Claim(Recheck::Denied(EventReason::ActorBlocked))).unwrap();
    assert_eq!((denied.state, denied.reason), (State::Cancelled, Some(ItemReason::PolicyDenied)));
    let by = BlockedBy::MembershipDisabled;
    let blocked = step(&item(State::Queued), &Event::Claim(Recheck::Blocked(by))).unwrap();
    assert_eq!((blocked.state, blocked.blocked_by), (State::Queued, Some(by)));
}

#[test]
fn msg_140_defer_wants_a_future_within_thirty_days() {
    for until in [NOW, NOW.plus_ms(-1), NOW.plus_ms(limits::DEFER_MS_MAX + 1)] {
        let refused = step(&item(State::Queued), &Event::Defer { until }).unwrap_err();
        assert_eq!(refused.code, Code::InvalidTime);
    }
    let mut deferred = item(State::NeedsDecision);
    step(&deferred, &Event::Defer { until: NOW.plus_ms(60_000) }).unwrap().apply(&mut deferred);
    assert_eq!((deferred.state, deferred.available_at), (State::Deferred, Some(NOW.plus_ms(60_000))));
    let seq = deferred.seq;
    step(&deferred, &Event::Due).unwrap().apply(&mut deferred);
    assert_eq!((deferred.state, deferred.seq, deferred.available_at), (State::Queued, seq, None));
}

#[test]
fn msg_141_retry_supersedes_a_failed_reply_and_refuses_a_partial_one() {
    let mut failed = item(State::Failed);
    failed.state_reason = Some(ItemReason::DeliveryFailed);
    let retry = |after_partial| Event::Retry { after_partial, address_active: true };
    let sent = ReplyFacts { has_sent_part: true, ..FAILED };
    let refused = transition(&failed, sent, &retry(false), NOW).unwrap_err();
    assert_eq!(refused.code, Code::ReplyPartiallySent);
    assert_eq!(transition(&failed, sent, &retry(true), NOW).unwrap().state, State::Queued);
    let unknown = ReplyFacts { has_unknown_part: true, ..sent };
    assert!(transition(&failed, unknown, &retry(true), NOW).is_err());
    let answered = completed(ReplyPolicy::FinalAnswer, Answer::Admitted);
    let next = transition(&item(State::Handling), FAILED, &answered, NOW).unwrap();
    assert!(next.effects.contains(&Effect::SupersedeReply));
}

#[test]
fn msg_142_no_reply_and_cancel_close_a_failed_item() {
    for state in [State::Failed, State::Interrupted] {
        let no_reply = Event::NoReply { reason: "told by phone".to_owned() };
        let next = transition(&item(state), FAILED, &no_reply, NOW).unwrap();
        assert_eq!((next.state, next.note.as_deref()), (State::Handled, Some("told by phone")));
        assert_eq!(transition(&item(state), FAILED, &Event::Cancel, NOW).unwrap().state, State::Cancelled);
    }
}

#[test]
fn msg_143_starts_that_lead_to_no_turn_wait_and_then_fail() {
    let mut waiting = item(State::Queued);
    for n in 1..=limits::STARTS_MAX {
        step(&waiting, &Event::Claim(Recheck::Ok)).unwrap().apply(&mut waiting);
        waiting.active_attempt_id = Some(AttemptId::new(1, u128::from(n)));
        step(&waiting, &Event::StartFailed(StartFailure::NotSent)).unwrap().apply(&mut waiting);
        assert_eq!(waiting.attempt_count, 0, "such a start is no Attempt");
    }
    assert_eq!((waiting.state, waiting.state_reason), (State::Failed, Some(ItemReason::RuntimeUnavailable)));
    let bad = lands(State::Handling, &Event::StartFailed(StartFailure::RefusedBadInput));
    assert_eq!(bad.0, State::Failed);
}

#[test]
fn msg_145_reconcile_verdicts_move_the_item() {
    let never = lands(State::Handling, &Event::NeverAccepted);
    assert_eq!(never, (State::Queued, None, 21));
    let lost = lands(State::Handling, &Event::FateUnknown { may_rerun: false });
    assert_eq!(lost, (State::Interrupted, Some(ItemReason::UnknownFate), 21));
}

#[test]
fn msg_146_an_open_attempt_refuses_a_second_start() {
    let mut deferred_in_turn = item(State::Queued);
    deferred_in_turn.active_attempt_id = Some(AttemptId::new(1, 9));
    let next = step(&deferred_in_turn, &Event::Claim(Recheck::Ok)).unwrap();
    assert_eq!((next.state, next.blocked_by), (State::Queued, Some(BlockedBy::AgentBusy)));
    assert!(step(&item(State::Handling), &Event::Claim(Recheck::Ok)).is_err());
}

#[test]
fn a_failed_turn_is_tried_again_only_while_nothing_was_done() {
    let failed = |attempts, tool_called| {
        let mut before = item(State::Handling);
        before.attempt_count = attempts;
        step(&before, &Event::TurnFailed { retryable: true, tool_called }).unwrap()
    };
    assert_eq!((failed(1, false).row, failed(1, false).available_at), (18, Some(NOW.plus_ms(30_000))));
    assert_eq!(failed(2, false).available_at, Some(NOW.plus_ms(300_000)));
    assert_eq!(failed(3, false).state, State::Failed);
    assert_eq!(failed(1, true).state, State::Failed);
}

#[test]
fn a_recall_interrupts_the_turn_and_cancels_the_rest() {
    let next = step(&item(State::Handling), &Event::Recall).unwrap();
    assert_eq!(
        (next.state, next.reason, next.recalled),
        (State::Cancelled, Some(ItemReason::Recalled), true)
    );
    assert_eq!(next.effects, [Effect::InterruptTurn, Effect::CancelUnsentParts]);
}
