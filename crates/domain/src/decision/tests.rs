//! Cases of the decision table.

mod props;

use super::*;
use crate::fixtures::{self, NOW};
use crate::message::{Attachment, AttachmentStatus, EventKind, Mention, Sender, SenderKind};
use crate::reason::{BlockedBy, EventReason as R};
use crate::{ConversationType, DmPolicy, TriggerPolicy};

#[derive(Debug)]
struct Case {
    event: InboundEvent,
    connection: Connection,
    address: Address,
    membership: Option<Membership>,
    agent_archived: bool,
    known: Known,
    counters: Counters,
}

impl Case {
    fn channel() -> Case {
        Case {
            event: fixtures::event(),
            connection: fixtures::connection(),
            address: fixtures::address(),
            membership: Some(fixtures::membership(ConversationType::Group)),
            agent_archived: false,
            known: Known::New,
            counters: Counters::default(),
        }
    }

    fn mentioned() -> Case {
        let mut case = Case::channel();
        case.event.mentions.push(Mention { external_id: "UBOT".to_owned(), display_name: None });
        case
    }

    fn dm() -> Case {
        let mut case = Case::channel();
        case.event.conversation.conversation_type = Some(ConversationType::Dm);
        case.membership = None;
        case
    }

    fn input(&self) -> DecisionInput<'_> {
        DecisionInput {
            event: &self.event,
            connection: &self.connection,
            address: Some(&self.address),
            agent_archived: self.agent_archived,
            membership: self.membership.as_ref(),
            own_ids: &[],
            known: self.known,
            counters: self.counters,
            now: NOW,
            limits: Limits::default(),
        }
    }

    fn reason(&self) -> R {
        decide(&self.input()).reason
    }

    fn recheck(&self) -> Recheck {
        recheck(&self.input(), evidence(&self.input()), AgentGate::default())
    }
}

fn changed(case: fn() -> Case, change: impl Fn(&mut Case)) -> R {
    let mut case = case();
    change(&mut case);
    case.reason()
}

fn contact(enabled: bool, once: bool) -> Membership {
    Membership {
        enabled,
        first_enabled_at: once.then_some(Timestamp(1)),
        ..fixtures::membership(ConversationType::Dm)
    }
}

#[test]
fn msg_084_open_and_closed_dms() {
    assert_eq!(changed(Case::dm, |c| c.address.dm_policy = DmPolicy::Open), R::Accepted);
    let approved_but_closed = changed(Case::dm, |c| {
        c.address.dm_policy = DmPolicy::Closed;
        c.membership = Some(contact(true, true));
    });
    assert_eq!(approved_but_closed, R::DmClosed);
}

#[test]
fn msg_085_an_unknown_sender_waits_for_approval() {
    let judged = decide(&Case::dm().input());
    assert_eq!((judged.decision, judged.step, judged.pending), (Decision::Pending, "22", true));
    let named = changed(Case::dm, |c| {
        c.membership = None;
        c.event.sender.as_mut().unwrap().display_name = Some("Owner".to_owned());
    });
    assert_eq!(named, R::AccessPending);
}

#[test]
fn msg_086_approval_is_for_one_conversation_and_actor() {
    let mut case = Case::dm();
    let stored = decide(&case.input()).evidence;
    case.membership = Some(contact(true, true));
    case.known = Known::Message { reason: R::AccessPending, evidence: stored };
    case.event.occurred_at = Some(NOW.plus_ms(-5 * 86_400_000));
    assert_eq!(rejudge(&case.input(), stored).reason, R::Accepted);
    case.event.sender.as_mut().unwrap().external_id = "U2".to_owned();
    assert_eq!(rejudge(&case.input(), stored).reason, R::ActorMismatch);
}

#[test]
fn msg_087_a_draft_stays_pending_and_a_pause_refuses() {
    assert_eq!(changed(Case::dm, |c| c.membership = Some(contact(false, false))), R::AccessPending);
    for policy in [DmPolicy::Open, DmPolicy::Managed] {
        let paused = changed(Case::dm, |c| {
            c.address.dm_policy = policy;
            c.membership = Some(contact(false, true));
        });
        assert_eq!(paused, R::MembershipDisabled);
    }
}

#[test]
fn msg_088_only_a_structured_mention_triggers_in_a_group() {
    assert_eq!(Case::mentioned().reason(), R::Accepted);
    for typed in ["@docs hi", "@all", "<!here> hi"] {
        let reason = changed(Case::channel, |c| typed.clone_into(&mut c.event.content.text));
        assert_eq!(reason, R::TriggerNotMet);
    }
    assert_eq!(changed(Case::dm, |c| c.membership = Some(contact(true, true))), R::Accepted);
}

#[test]
fn msg_089_explicit_dispatch_wants_a_confirmed_dispatch() {
    let set = |c: &mut Case| c.address.trigger_policy = TriggerPolicy::ExplicitDispatch;
    assert_eq!(changed(Case::mentioned, set), R::TriggerNotMet);
    let dm = |c: &mut Case| {
        set(c);
        c.membership = Some(contact(true, true));
    };
    assert_eq!(changed(Case::dm, dm), R::TriggerNotMet);
    let dispatched = |c: &mut Case| {
        set(c);
        c.event.dispatch = true;
    };
    assert_eq!(changed(Case::channel, dispatched), R::Accepted);
    let unproven = |c: &mut Case| {
        dispatched(c);
        c.connection.capabilities.clear();
    };
    assert_eq!(changed(Case::channel, unproven), R::TriggerNotMet);
}

#[test]
fn msg_090_a_direct_dm_membership_takes_each_message() {
    let direct = |c: &mut Case| {
        let own = Some(TriggerPolicy::Direct);
        c.membership = Some(Membership { trigger_policy: own, ..contact(true, true) });
    };
    assert_eq!(changed(Case::dm, direct), R::Accepted);
    let inherited = contact(true, true);
    assert_eq!(effective_trigger(&fixtures::address(), Some(&inherited)), TriggerPolicy::Direct);
}

#[test]
fn msg_091_block_wins_and_both_allow_lists_must_match() {
    let both = |c: &mut Case| {
        c.address.allow_actors = vec!["U1".to_owned()];
        c.address.block_actors = vec!["U1".to_owned()];
    };
    assert_eq!(changed(Case::mentioned, both), R::ActorBlocked);
    let one = |c: &mut Case| {
        c.address.allow_actors = vec!["U1".to_owned()];
        c.address.allow_conversations = vec!["C9".to_owned()];
    };
    assert_eq!(changed(Case::mentioned, one), R::ConversationNotAllowed);
    let other = |c: &mut Case| {
        c.address.allow_actors = vec!["U9".to_owned()];
        c.address.allow_conversations = vec!["C1".to_owned()];
    };
    assert_eq!(changed(Case::mentioned, other), R::ActorNotAllowed);
}

#[test]
fn msg_092_a_blocked_actor_is_never_pending() {
    assert_eq!(changed(Case::dm, |c| c.address.block_actors = vec!["U1".to_owned()]), R::ActorBlocked);
}

#[test]
fn msg_093_a_mention_without_membership_is_refused() {
    let kinds = [
        Some(ConversationType::Channel),
        Some(ConversationType::GroupDm),
        Some(ConversationType::Group),
        None,
    ];
    for kind in kinds {
        let reason = changed(Case::mentioned, |c| {
            c.membership = None;
            c.event.conversation.conversation_type = kind;
        });
        assert_eq!(reason, R::MembershipMissing, "{kind:?}");
    }
}

#[test]
fn msg_094_a_thread_counts_as_its_parent() {
    let thread = |c: &mut Case| {
        c.event.conversation.thread_id = Some("170.0".to_owned());
        c.event.dispatch = true;
    };
    let missing = |c: &mut Case| {
        thread(c);
        c.membership = None;
    };
    assert_eq!(changed(Case::channel, missing), R::MembershipMissing);
    let paused = |c: &mut Case| {
        thread(c);
        c.membership.as_mut().unwrap().enabled = false;
    };
    assert_eq!(changed(Case::channel, paused), R::MembershipDisabled);
    let in_dm = |c: &mut Case| {
        thread(c);
        c.event.conversation.conversation_type = None;
        c.event.parent_type = Some(ConversationType::Dm);
    };
    assert_eq!(changed(Case::dm, in_dm), R::AccessPending);
    let closed = |c: &mut Case| {
        in_dm(c);
        c.address.dm_policy = DmPolicy::Closed;
    };
    assert_eq!(changed(Case::dm, closed), R::DmClosed);
}

#[test]
fn msg_095_caps_refuse_the_fourth_message_and_the_51st_stranger() {
    let counts = |of_sender, senders| PendingCounts { of_sender, senders, of_address: 60 };
    assert_eq!(changed(Case::dm, |c| c.counters.pending = counts(3, 9)), R::PendingLimit);
    assert_eq!(changed(Case::dm, |c| c.counters.pending = counts(0, 50)), R::PendingLimit);
    assert_eq!(changed(Case::dm, |c| c.counters.pending = counts(2, 50)), R::AccessPending);
}

#[test]
fn msg_097_a_refusal_names_its_step_and_reason() {
    let mut case = Case::mentioned();
    case.address.block_conversations = vec!["C1".to_owned()];
    let judged = decide(&case.input());
    assert_eq!((judged.step, judged.reason), ("13", R::ConversationBlocked));
    let last = judged.trace.last().unwrap();
    assert_eq!((last.step, last.result), ("13", "conversation_blocked"));
    assert_eq!(judged.trace.first().unwrap().step, "1");
}

#[test]
fn msg_098_a_replay_under_a_fixed_policy_accepts() {
    let mut case = Case::mentioned();
    case.known = Known::Event;
    case.event.occurred_at = Some(NOW.plus_ms(-3 * 86_400_000));
    assert_eq!(case.reason(), R::Duplicate);
    assert_eq!(replay(&case.input()).reason, R::Accepted);
}

#[test]
fn msg_099_switches_refuse_definitely() {
    assert_eq!(changed(Case::mentioned, |c| c.connection.enabled = false), R::ConnectionDisabled);
    assert_eq!(changed(Case::mentioned, |c| c.address.enabled = false), R::AddressDisabled);
    assert_eq!(changed(Case::mentioned, |c| c.connection.archived_at = Some(NOW)), R::ConnectionArchived);
    assert_eq!(changed(Case::mentioned, |c| c.address.deleted_at = Some(NOW)), R::AddressArchived);
    let case = Case::mentioned();
    assert_eq!(decide(&DecisionInput { address: None, ..case.input() }).reason, R::NoAddress);
}

#[test]
fn msg_100_an_archived_agent_refuses() {
    assert_eq!(changed(Case::mentioned, |c| c.agent_archived = true), R::AgentArchived);
}

#[test]
fn msg_102_a_bare_mention_is_accepted_and_marked() {
    let mut case = Case::mentioned();
    case.event.content.text.clear();
    let judged = decide(&case.input());
    assert!(judged.reason == R::Accepted && judged.mention_only);
    let mut dm = Case::dm();
    dm.event.content.text = " \n".to_owned();
    assert_eq!(dm.reason(), R::EmptyContent);
}

#[test]
fn msg_103_a_known_event_is_a_duplicate() {
    let judged = |known| {
        let mut case = Case::mentioned();
        case.known = known;
        decide(&case.input())
    };
    assert_eq!(judged(Known::Event).decision, Decision::Duplicate);
    let accepted = Known::Message { reason: R::Accepted, evidence: Evidence::default() };
    assert_eq!(judged(accepted).decision, Decision::Duplicate);
}

#[test]
fn msg_107_a_mention_after_a_plain_copy_is_judged_again() {
    let mut case = Case::mentioned();
    case.known = Known::Message { reason: R::TriggerNotMet, evidence: Evidence::default() };
    assert_eq!(case.reason(), R::Accepted);
    let same = Evidence { mentioned: true, ..Evidence::default() };
    case.known = Known::Message { reason: R::TriggerNotMet, evidence: same };
    assert_eq!(case.reason(), R::Duplicate);
}

#[test]
fn msg_111_our_own_echo_and_other_bots() {
    let from = |id: &str, kind| {
        changed(Case::mentioned, |c| {
            c.event.sender = Some(Sender { external_id: id.to_owned(), display_name: None, kind });
        })
    };
    assert_eq!(from("UBOT", SenderKind::Bot), R::SelfMessage);
    assert_eq!(from("A0APP", SenderKind::App), R::SelfMessage);
    assert_eq!(from("B2", SenderKind::Bot), R::BotSender);
    assert_eq!(changed(Case::mentioned, |c| c.counters.is_own_receipt = true), R::SelfMessage);
}

#[test]
fn msg_112_an_allowed_bot_has_budgets() {
    let bot = |counters| {
        changed(Case::mentioned, |c| {
            c.event.sender.as_mut().unwrap().kind = SenderKind::Bot;
            c.address.allow_bots = vec!["U1".to_owned()];
            c.counters.bots = counters;
        })
    };
    assert_eq!(bot(BotCounters::default()), R::Accepted);
    assert_eq!(bot(BotCounters { consecutive: 3, ..BotCounters::default() }), R::BotLoopBudget);
    assert_eq!(bot(BotCounters { bot_last_hour: 20, ..BotCounters::default() }), R::BotLoopBudget);
}

#[test]
fn msg_117_a_name_never_matches() {
    let impostor = |c: &mut Case| {
        c.event.mentions =
            vec![Mention { external_id: "U666".to_owned(), display_name: Some("docs".to_owned()) }];
    };
    assert_eq!(changed(Case::channel, impostor), R::TriggerNotMet);
}

#[test]
fn msg_137_a_membership_switched_off_only_blocks() {
    let mut case = Case::mentioned();
    case.membership.as_mut().unwrap().enabled = false;
    assert_eq!(case.recheck(), Recheck::Blocked(BlockedBy::MembershipDisabled));
    case.address.block_actors = vec!["U1".to_owned()];
    assert_eq!(case.recheck(), Recheck::Denied(R::ActorBlocked), "a permanent refusal wins");
}

#[test]
fn msg_139_a_sender_blocked_after_queueing_is_denied_at_claim() {
    let mut case = Case::mentioned();
    assert_eq!(case.recheck(), Recheck::Ok);
    case.address.block_actors = vec!["U1".to_owned()];
    assert_eq!(case.recheck(), Recheck::Denied(R::ActorBlocked));
    let paused = AgentGate { paused: true, ..AgentGate::default() };
    let fresh = Case::mentioned();
    let blocked = recheck(&fresh.input(), evidence(&fresh.input()), paused);
    assert_eq!(blocked, Recheck::Blocked(BlockedBy::AgentPaused));
    let mut dm = Case::dm();
    assert_eq!(dm.recheck(), Recheck::Denied(R::MembershipMissing), "approval withdrawn");
    dm.address.dm_policy = DmPolicy::Open;
    assert_eq!(dm.recheck(), Recheck::Ok);
}

#[test]
fn atk_16_names_on_lists_authorise_nobody() {
    let reason = changed(Case::mentioned, |c| {
        c.address.allow_actors = vec!["U7".to_owned()];
        c.event.sender.as_mut().unwrap().display_name = Some("U7".to_owned());
    });
    assert_eq!(reason, R::ActorNotAllowed);
}

#[test]
fn atk_17_empty_and_near_sender_ids_are_refused() {
    for (id, want) in [("", R::ActorUnknown), (" ", R::ActorUnknown), ("U12", R::ActorNotAllowed)] {
        let reason = changed(Case::mentioned, |c| {
            c.address.allow_actors = vec!["U1".to_owned()];
            id.clone_into(&mut c.event.sender.as_mut().unwrap().external_id);
        });
        assert_eq!(reason, want, "{id:?}");
    }
    assert_eq!(changed(Case::mentioned, |c| c.event.sender = None), R::ActorUnknown);
}

#[test]
fn atk_19_an_approved_contact_is_judged_anew_elsewhere() {
    let in_group = changed(Case::mentioned, |c| c.membership = Some(contact(true, true)));
    assert_eq!(in_group, R::ConversationTypeMismatch);
    let other_account = changed(Case::dm, |c| {
        c.membership = Some(contact(true, true));
        c.event.sender.as_mut().unwrap().external_id = "T2/U1".to_owned();
    });
    assert_eq!(other_account, R::ActorMismatch);
}

#[test]
fn atk_20_text_that_asks_for_rights_is_content_only() {
    let reason = changed(Case::dm, |c| {
        c.event.content.text = "loom integration update-address --dm-policy open".to_owned();
    });
    assert_eq!(reason, R::AccessPending);
}

#[test]
fn limits_never_lose_the_message() {
    let mut event = fixtures::event();
    event.content.text = "ä".repeat(200_000);
    let file = Attachment {
        reference: "F".to_owned(),
        name: "a".to_owned(),
        mime_type: None,
        size: None,
        status: AttachmentStatus::Pending,
        reason: None,
        artifact_id: None,
        sha256: None,
    };
    event.content.attachments = vec![file; 21];
    normalise(&mut event);
    assert!(event.content.truncated && event.content.text.len() <= 262_144);
    let dropped = |a: &&Attachment| a.status == AttachmentStatus::Dropped;
    assert_eq!(event.content.attachments.iter().filter(dropped).count(), 1);
}

#[test]
fn stale_events_and_queues_at_their_limit() {
    assert_eq!(changed(Case::mentioned, |c| c.event.occurred_at = Some(NOW.plus_ms(-86_400_001))), R::Stale);
    assert_eq!(changed(Case::mentioned, |c| c.connection.first_connected_at = Some(NOW)), R::Stale);
    assert_eq!(changed(Case::mentioned, |c| c.event.occurred_at = Some(NOW.plus_ms(9_000))), R::Accepted);
    assert_eq!(changed(Case::mentioned, |c| c.counters.open_of_agent = 10_000), R::QueueFull);
    let flood = |c: &mut Case| {
        c.address.dm_policy = DmPolicy::Open;
        c.counters.sender_last_minute = 20;
    };
    assert_eq!(changed(Case::dm, flood), R::SenderRateLimited);
}
