//! Cases of the transition table of Parts.

use std::collections::BTreeSet;

use super::super::event::{OwnerVerdict, Settled};
use super::super::{PartKind, Receipt, Via};
use super::*;
use crate::fixtures::{self, NOW};
use crate::reason::BlockedBy;

fn ctx(step: Step) -> PartContext {
    PartContext {
        now: NOW,
        expires_at: NOW.plus_ms(86_400_000),
        fence: None,
        step,
        published_at: NOW.plus_ms(-20_000),
        random: 200,
    }
}

fn part(state: PartState) -> Part {
    Part { state, fence: 7, ..fixtures::part() }
}

fn error() -> PartError {
    PartError { class: "c".to_owned(), code: "c".to_owned(), message: "m".to_owned() }
}

fn receipt(id: Option<&str>) -> Receipt {
    Receipt {
        kind: PartKind::Text,
        external_message_id: id.map(str::to_owned),
        external_file_id: None,
        external_thread_id: None,
        permalink: None,
        artifact_id: None,
        provider_time: None,
        attempt_id: None,
        via: Via::Response,
        recorded_at: NOW,
    }
}

fn all_events() -> Vec<PartEvent> {
    use PartEvent as E;
    vec![
        E::Claim(ClaimCheck::Ready),
        E::Claim(ClaimCheck::Blocked(BlockedBy::AddressDisabled)),
        E::Claim(ClaimCheck::Denied),
        E::Step,
        E::Accepted(receipt(Some("1"))),
        E::Accepted(receipt(None)),
        E::Retryable { proven: true, retry_after_ms: None, error: error() },
        E::RateLimited { until: None, error: error() },
        E::Permanent(error()),
        E::Unknown(error()),
        E::Auth(error()),
        E::Quota { until: None, error: error() },
        E::LeaseLost,
        E::Settled(Settled::Found(receipt(Some("1")))),
        E::Settled(Settled::Absent),
        E::Settled(Settled::NoAnswer),
        E::Settled(Settled::Never),
        E::Owner(OwnerVerdict::Sent(receipt(Some("1")))),
        E::Owner(OwnerVerdict::Resend),
        E::Owner(OwnerVerdict::Failed),
        E::Due,
        E::Expire,
        E::Stop(Stop::Cancelled(OutboxReason::OwnerCancelled)),
        E::Retry { superseded: false },
    ]
}

fn nexts(state: PartState) -> Vec<PartNext> {
    let old = PartContext { expires_at: NOW, ..ctx(Step::Publish) };
    let contexts = [ctx(Step::Prepare), ctx(Step::Publish), old];
    let mut tired = part(state);
    tired.attempt_count = 8;
    let parts = [part(state), tired];
    parts
        .iter()
        .flat_map(|part| contexts.iter().map(move |ctx| (part, ctx)))
        .flat_map(|(part, ctx)| {
            all_events()
                .into_iter()
                .filter_map(|event| transition(part, &event, ctx).ok())
                .collect::<Vec<_>>()
        })
        .collect()
}

/// P-4: every Part that is not sent has an event leading out, and `sent` can be reached from every live one.
#[test]
fn p_4_no_part_state_without_exit() {
    for state in PartState::ALL {
        let after: BTreeSet<PartState> = nexts(*state).into_iter().map(|next| next.part.state).collect();
        match state {
            PartState::Sent => assert_eq!(after, BTreeSet::from([PartState::Sent]), "sent never changes"),
            PartState::Cancelled => assert_eq!(after, BTreeSet::from([PartState::Cancelled])),
            _ => assert!(after.len() > 1, "{state} has no exit"),
        }
    }
}

#[test]
fn every_row_of_the_table_can_happen() {
    let rows: BTreeSet<u8> =
        PartState::ALL.iter().flat_map(|state| nexts(*state)).map(|next| next.row).collect();
    assert_eq!(rows, (1..=22).collect());
}

/// P-3: nothing goes from unknown back to pending without an authoritative answer or the owner.
#[test]
fn p_3_unknown_is_never_sent_again_by_itself() {
    for event in all_events() {
        let next = transition(&part(PartState::Unknown), &event, &ctx(Step::Publish));
        let is_told =
            matches!(event, PartEvent::Settled(Settled::Absent) | PartEvent::Owner(OwnerVerdict::Resend));
        if let Ok(next) = next {
            assert_eq!(next.part.state == PartState::Pending, is_told, "{event:?}");
        }
    }
}

/// P-8: an old fence changes nothing, but its Receipt is proof.
#[test]
fn p_8_a_stale_owner_only_brings_proof() {
    let stale = PartContext { fence: Some(6), ..ctx(Step::Publish) };
    let refused = transition(&part(PartState::Sending), &PartEvent::Permanent(error()), &stale).unwrap_err();
    assert_eq!(refused.code, Code::LeaseLost);
    let empty = PartEvent::Accepted(receipt(None));
    assert!(transition(&part(PartState::Sending), &empty, &stale).is_err());
    let proof = PartEvent::Accepted(receipt(Some("1")));
    let next = transition(&part(PartState::Unknown), &proof, &stale).unwrap();
    assert_eq!((next.row, next.part.state), (22, PartState::Sent));
}

#[test]
fn a_second_receipt_is_flagged_and_the_same_one_is_not() {
    let mut sent = part(PartState::Sent);
    sent.receipt = Some(receipt(Some("1")));
    let same = transition(&sent, &PartEvent::Accepted(receipt(Some("1"))), &ctx(Step::Publish)).unwrap();
    assert_eq!((same.part.clone(), same.effects.len()), (sent.clone(), 0));
    let second = transition(&sent, &PartEvent::Accepted(receipt(Some("2"))), &ctx(Step::Publish)).unwrap();
    assert_eq!(second.part.duplicate_receipts.len(), 1);
    assert_eq!(second.effects, [PartEffect::Tell(PartNotice::DuplicateDelivery)]);
}

#[test]
fn msg_169_success_without_an_id_is_unknown() {
    let next =
        transition(&part(PartState::Sending), &PartEvent::Accepted(receipt(None)), &ctx(Step::Publish))
            .unwrap();
    assert_eq!((next.row, next.part.state), (9, PartState::Unknown));
}

#[test]
fn msg_173_a_forbidding_policy_cancels_the_rest() {
    let next =
        transition(&part(PartState::Pending), &PartEvent::Claim(ClaimCheck::Denied), &ctx(Step::Prepare))
            .unwrap();
    assert_eq!(next.part.state, PartState::Cancelled);
    assert!(next.effects.contains(&PartEffect::CancelLater));
    assert!(next.effects.contains(&PartEffect::Tell(PartNotice::PolicyDenied)));
}

#[test]
fn msg_174_a_switched_off_address_shows_and_ttl_ends_it() {
    let check = ClaimCheck::Blocked(BlockedBy::AddressDisabled);
    let next = transition(&part(PartState::Pending), &PartEvent::Claim(check), &ctx(Step::Prepare)).unwrap();
    assert_eq!(
        (next.part.state, next.part.blocked_by),
        (PartState::Pending, Some(BlockedBy::AddressDisabled))
    );
    let late = PartContext { expires_at: NOW, ..ctx(Step::Prepare) };
    let claimed = transition(&next.part, &PartEvent::Claim(ClaimCheck::Ready), &late).unwrap();
    assert_eq!(claimed.part.state, PartState::Expired, "never sent after its time");
}

#[test]
fn a_crash_before_publish_is_pending_and_after_it_unknown() {
    let after =
        |step| transition(&part(PartState::Sending), &PartEvent::LeaseLost, &ctx(step)).unwrap().part.state;
    assert_eq!(after(Step::Upload), PartState::Pending);
    assert_eq!(after(Step::Publish), PartState::Unknown);
}

#[test]
fn retryable_after_publish_needs_proof() {
    let event = |proven| PartEvent::Retryable { proven, retry_after_ms: None, error: error() };
    let after = |proven| transition(&part(PartState::Sending), &event(proven), &ctx(Step::Publish)).unwrap();
    assert_eq!(after(false).part.state, PartState::Unknown);
    assert_eq!((after(true).part.state, after(true).part.attempt_count), (PartState::RetryWait, 1));
}

#[test]
fn the_ninth_failed_try_is_the_last() {
    let mut tried = part(PartState::Sending);
    tried.attempt_count = 8;
    let event = PartEvent::Retryable { proven: true, retry_after_ms: None, error: error() };
    let next = transition(&tried, &event, &ctx(Step::Publish)).unwrap();
    assert_eq!((next.row, next.part.state), (18, PartState::Failed));
    let limited = PartEvent::RateLimited { until: None, error: error() };
    let next = transition(&tried, &limited, &ctx(Step::Publish)).unwrap();
    assert_eq!((next.part.state, next.part.attempt_count), (PartState::RetryWait, 8), "not counted");
}

#[test]
fn two_reads_far_enough_apart_prove_absence() {
    let read = PartEvent::Settled(Settled::AbsentRead);
    let early = PartContext { published_at: NOW.plus_ms(-14_000), ..ctx(Step::Publish) };
    let unread = transition(&part(PartState::Unknown), &read, &early).unwrap().part;
    assert_eq!((unread.state, unread.absent_at), (PartState::Unknown, None));
    let once = transition(&part(PartState::Unknown), &read, &ctx(Step::Publish)).unwrap().part;
    assert_eq!((once.state, once.absent_reads), (PartState::Unknown, 1));
    assert_eq!(transition(&once, &read, &ctx(Step::Publish)).unwrap().part.state, PartState::Unknown);
    let later = PartContext { now: NOW.plus_ms(10_000), ..ctx(Step::Publish) };
    assert_eq!(transition(&once, &read, &later).unwrap().part.state, PartState::Pending);
}

#[test]
fn retry_returns_what_the_failure_ended() {
    let mut failed = part(PartState::Failed);
    failed.attempt_count = 9;
    let next = transition(&failed, &PartEvent::Retry { superseded: false }, &ctx(Step::Publish)).unwrap();
    assert_eq!((next.part.state, next.part.attempt_count), (PartState::Pending, 0));
    assert_eq!(next.effects, [PartEffect::RestartTtl, PartEffect::ReturnLater]);
    let replaced = PartEvent::Retry { superseded: true };
    assert_eq!(transition(&failed, &replaced, &ctx(Step::Publish)).unwrap_err().code, Code::Superseded);
    let later = transition(&part(PartState::Cancelled), &PartEvent::Returned, &ctx(Step::Publish)).unwrap();
    assert_eq!(later.part.state, PartState::Pending);
}
