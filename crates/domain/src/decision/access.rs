//! Steps 14 and 15: who may write here.

use super::Verdict;
use super::view::View;
use crate::message::Decision;
use crate::reason::EventReason as R;
use crate::{DmPolicy, Membership};

fn membership_value(view: &View<'_>) -> String {
    view.membership.map_or_else(
        || "no Membership".to_owned(),
        |m| format!("{} {} enabled={}", m.id, m.conversation_type, m.enabled),
    )
}

/// Runs a test in DMs only.
fn in_dm(view: &View<'_>, test: impl Fn() -> Verdict) -> Verdict {
    if view.is_dm() { test() } else { Verdict::Skip }
}

/// Runs a test outside DMs only.
fn elsewhere(view: &View<'_>, test: impl Fn() -> Verdict) -> Verdict {
    if view.is_dm() { Verdict::Skip } else { test() }
}

fn refuse_membership(view: &View<'_>, holds: impl Fn(&Membership) -> bool, reason: R) -> Verdict {
    Verdict::refuse_if(view.membership.is_some_and(holds), reason)
}

pub(super) fn dm_closed(view: &View<'_>) -> (Verdict, String) {
    let policy = view.address.dm_policy;
    let verdict = in_dm(view, || Verdict::refuse_if(policy == DmPolicy::Closed, R::DmClosed));
    (verdict, format!("dmPolicy={policy}"))
}

pub(super) fn dm_type(view: &View<'_>) -> (Verdict, String) {
    let test = || refuse_membership(view, |m| !m.conversation_type.is_dm(), R::ConversationTypeMismatch);
    (in_dm(view, test), membership_value(view))
}

pub(super) fn dm_actor(view: &View<'_>) -> (Verdict, String) {
    let sender = view.sender_id();
    let test = || refuse_membership(view, |m| m.actor_id.as_deref() != Some(sender), R::ActorMismatch);
    let actor = view.membership.and_then(|m| m.actor_id.as_deref()).unwrap_or("-");
    (in_dm(view, test), format!("actor={actor} sender={sender}"))
}

pub(super) fn dm_disabled(view: &View<'_>) -> (Verdict, String) {
    let is_open = view.address.dm_policy == DmPolicy::Open;
    let is_off = |m: &Membership| !m.enabled && (m.first_enabled_at.is_some() || is_open);
    (in_dm(view, || refuse_membership(view, is_off, R::MembershipDisabled)), membership_value(view))
}

pub(super) fn dm_enabled(view: &View<'_>) -> (Verdict, String) {
    let mark = || if view.has_enabled_membership() { Verdict::Mark("membership") } else { Verdict::Pass };
    (in_dm(view, mark), membership_value(view))
}

pub(super) fn dm_open(view: &View<'_>) -> (Verdict, String) {
    let is_open = view.address.dm_policy == DmPolicy::Open && view.membership.is_none();
    let mark = || if is_open { Verdict::Mark("no membership needed") } else { Verdict::Pass };
    (in_dm(view, mark), format!("dmPolicy={}", view.address.dm_policy))
}

pub(super) fn dm_managed(view: &View<'_>) -> (Verdict, String) {
    let mark = || if view.is_pending() { Verdict::Mark("pending") } else { Verdict::Pass };
    (in_dm(view, mark), format!("dmPolicy={}", view.address.dm_policy))
}

pub(super) fn group_missing(view: &View<'_>) -> (Verdict, String) {
    let test = || Verdict::refuse_if(view.membership.is_none(), R::MembershipMissing);
    (elsewhere(view, test), membership_value(view))
}

pub(super) fn group_type(view: &View<'_>) -> (Verdict, String) {
    let test = || refuse_membership(view, |m| m.conversation_type.is_dm(), R::ConversationTypeMismatch);
    (elsewhere(view, test), membership_value(view))
}

pub(super) fn group_disabled(view: &View<'_>) -> (Verdict, String) {
    let test = || refuse_membership(view, |m| !m.enabled, R::MembershipDisabled);
    (elsewhere(view, test), membership_value(view))
}

pub(super) fn pending_cap(view: &View<'_>) -> (Verdict, String) {
    let counts = view.input.counters.pending;
    let verdict =
        if view.is_pending() { Verdict::refuse_if(counts.is_full(), R::PendingLimit) } else { Verdict::Skip };
    let value =
        format!("sender={} senders={} address={}", counts.of_sender, counts.senders, counts.of_address);
    (verdict, value)
}

pub(super) fn access_pending(view: &View<'_>) -> (Verdict, String) {
    let is_pending = view.is_pending();
    let verdict = if is_pending { Verdict::End(Decision::Pending, R::AccessPending) } else { Verdict::Pass };
    (verdict, format!("pending={is_pending}"))
}
