//! Steps 4 to 23, in order; the first that ends it decides.

use super::view::{View, is_mention_only};
use super::{Known, OPEN_PER_AGENT_MAX, OPEN_PER_CONVERSATION_MAX, StepTrace, Verdict, access};
use super::{SENDER_PER_HOUR_MAX, SENDER_PER_MINUTE_MAX};
use crate::dedupe::is_upgrade;
use crate::message::{Decision, EventKind};
use crate::reason::EventReason as R;
use crate::{Timestamp, TriggerPolicy};

type Test = fn(&View<'_>) -> (Verdict, String);

/// A step: its number, its condition, its test.
pub(super) struct Step(pub(super) &'static str, pub(super) &'static str, pub(super) Test);

/// Steps of the whole table, those of the head included.
pub(super) const COUNT: usize = STEPS.len() + 3;

pub(super) const STEPS: &[Step] = &[
    Step("4", "Address archived, deleted or not enabled", address),
    Step("5", "Agent archived", agent),
    Step("6", "event or message seen before", seen),
    Step("7", "edit, recall, reaction, member or lifecycle", fact),
    Step("8", "unsupported kind of message", unsupported),
    Step("9", "older than the age limit or the first connect", stale),
    Step("10", "sender not told", no_sender),
    Step("11", "sent by the Address itself", own),
    Step("12", "bot not allowed, or its budget spent", bot),
    Step("13", "sender or conversation blocked", blocked),
    Step("14a", "DMs closed", access::dm_closed),
    Step("14b", "Membership is not of type dm", access::dm_type),
    Step("14c", "Membership is of another actor", access::dm_actor),
    Step("14d", "Membership paused, or off under dmPolicy open", access::dm_disabled),
    Step("14e", "Membership enabled", access::dm_enabled),
    Step("14f", "no Membership and dmPolicy open", access::dm_open),
    Step("14g", "no enabled Membership and dmPolicy managed", access::dm_managed),
    Step("15a", "no Membership", access::group_missing),
    Step("15b", "Membership is of type dm", access::group_type),
    Step("15c", "Membership not enabled", access::group_disabled),
    Step("16", "not on a list that is set", lists),
    Step("17", "trigger not met", trigger),
    Step("18", "neither text nor files nor a bare mention", empty),
    Step("19", "a cap of pending items reached", access::pending_cap),
    Step("20", "sender without Membership writes too fast", rate),
    Step("21", "queue full", queue),
    Step("22", "marked pending", access::access_pending),
    Step("23", "otherwise", otherwise),
];

/// Runs the steps; the last one always ends it.
pub(super) fn run(
    view: &View<'_>,
    skipped: &[&str],
    trace: &mut Vec<StepTrace>,
) -> (&'static str, Decision, R) {
    for Step(step, condition, test) in STEPS.iter().filter(|Step(step, ..)| !skipped.contains(step)) {
        let (verdict, value) = test(view);
        trace.push(StepTrace { step, condition, value, result: verdict.word() });
        if let Verdict::End(decision, reason) = verdict {
            return (step, decision, reason);
        }
    }
    ("23", Decision::Queued, R::Accepted)
}

const fn refuse(reason: R) -> Verdict {
    Verdict::End(Decision::Refused, reason)
}

fn address(view: &View<'_>) -> (Verdict, String) {
    let address = view.address;
    let is_gone = address.archived_at.is_some() || address.deleted_at.is_some();
    let verdict = if is_gone {
        refuse(R::AddressArchived)
    } else {
        Verdict::refuse_if(!address.enabled, R::AddressDisabled)
    };
    (verdict, format!("archived={is_gone} enabled={}", address.enabled))
}

fn agent(view: &View<'_>) -> (Verdict, String) {
    let archived = view.input.agent_archived;
    (Verdict::refuse_if(archived, R::AgentArchived), format!("archived={archived}"))
}

fn seen(view: &View<'_>) -> (Verdict, String) {
    let duplicate = Verdict::End(Decision::Duplicate, R::Duplicate);
    match view.input.known {
        Known::New => (Verdict::Pass, "new".to_owned()),
        Known::Event => (duplicate, "event seen".to_owned()),
        Known::Message { reason, evidence } if is_upgrade(reason, evidence, view.evidence) => {
            (Verdict::Mark("judged again"), format!("message seen, {reason}, stronger evidence now"))
        }
        Known::Message { reason, .. } => (duplicate, format!("message seen, {reason}")),
    }
}

fn fact(view: &View<'_>) -> (Verdict, String) {
    let kind = view.input.event.kind;
    let verdict = match kind {
        EventKind::Message | EventKind::Unsupported => Verdict::Pass,
        _ => Verdict::End(Decision::Fact, R::Fact),
    };
    (verdict, format!("kind={kind}"))
}

fn unsupported(view: &View<'_>) -> (Verdict, String) {
    let kind = view.input.event.kind;
    (Verdict::refuse_if(kind == EventKind::Unsupported, R::UnsupportedEvent), format!("kind={kind}"))
}

fn stale(view: &View<'_>) -> (Verdict, String) {
    let input = view.input;
    let occurred: Timestamp = input.event.occurred_at.unwrap_or(input.now).min(input.now);
    let age_ms = input.now.since_ms(occurred);
    let is_before_connect = input.connection.first_connected_at.is_some_and(|first| occurred < first);
    let is_stale = age_ms > input.limits.max_age_ms || is_before_connect;
    let value = format!("age={}s beforeFirstConnect={is_before_connect}", age_ms / 1_000);
    (Verdict::refuse_if(is_stale, R::Stale), value)
}

fn no_sender(view: &View<'_>) -> (Verdict, String) {
    let sender = view.sender_id();
    (Verdict::refuse_if(sender.trim().is_empty(), R::ActorUnknown), format!("sender={sender}"))
}

fn own(view: &View<'_>) -> (Verdict, String) {
    let (is_own, is_receipt) = (view.is_own(), view.input.counters.is_own_receipt);
    (
        Verdict::refuse_if(is_own || is_receipt, R::SelfMessage),
        format!("ownId={is_own} ownReceipt={is_receipt}"),
    )
}

fn bot(view: &View<'_>) -> (Verdict, String) {
    if !view.is_bot() {
        return (Verdict::Skip, "sender is no bot".to_owned());
    }
    let is_allowed = is_listed(&view.address.allow_bots, view.sender_id());
    let spent = view.input.counters.bots.spent();
    let verdict =
        if is_allowed { Verdict::refuse_if(spent.is_some(), R::BotLoopBudget) } else { refuse(R::BotSender) };
    (verdict, format!("allowed={is_allowed} spent={}", spent.unwrap_or("none")))
}

/// Exact match by stable id.
fn is_listed(list: &[String], id: &str) -> bool {
    list.iter().any(|entry| entry == id)
}

fn blocked(view: &View<'_>) -> (Verdict, String) {
    let actor = is_listed(&view.address.block_actors, view.sender_id());
    let conversation = is_listed(&view.address.block_conversations, view.conversation_id());
    let verdict = if actor {
        refuse(R::ActorBlocked)
    } else {
        Verdict::refuse_if(conversation, R::ConversationBlocked)
    };
    (verdict, format!("actor={actor} conversation={conversation}"))
}

fn lists(view: &View<'_>) -> (Verdict, String) {
    let (actors, conversations) = (&view.address.allow_actors, &view.address.allow_conversations);
    let actor = actors.is_empty() || is_listed(actors, view.sender_id());
    let conversation = conversations.is_empty() || is_listed(conversations, view.conversation_id());
    let verdict = if actor {
        Verdict::refuse_if(!conversation, R::ConversationNotAllowed)
    } else {
        refuse(R::ActorNotAllowed)
    };
    let value =
        format!("actors={} ok={actor} conversations={} ok={conversation}", actors.len(), conversations.len());
    (verdict, value)
}

fn trigger(view: &View<'_>) -> (Verdict, String) {
    let seen = view.evidence;
    let met = match view.trigger {
        TriggerPolicy::All => true,
        TriggerPolicy::Direct => seen.direct,
        TriggerPolicy::Mention => seen.direct || seen.mentioned || seen.explicit_dispatch,
        TriggerPolicy::ExplicitDispatch => seen.explicit_dispatch,
        TriggerPolicy::Allowlist => {
            !view.address.allow_actors.is_empty() || !view.address.allow_conversations.is_empty()
        }
    };
    let value = format!(
        "{}: direct={} mentioned={} dispatch={}",
        view.trigger, seen.direct, seen.mentioned, seen.explicit_dispatch
    );
    (Verdict::refuse_if(!met, R::TriggerNotMet), value)
}

fn empty(view: &View<'_>) -> (Verdict, String) {
    let content = &view.input.event.content;
    let is_bare = is_mention_only(view.input.event, view.evidence);
    let is_empty = content.text.trim().is_empty() && content.attachments.is_empty() && !is_bare;
    let value =
        format!("textBytes={} files={} bare={is_bare}", content.text.len(), content.attachments.len());
    (Verdict::refuse_if(is_empty, R::EmptyContent), value)
}

fn rate(view: &View<'_>) -> (Verdict, String) {
    let counters = &view.input.counters;
    let (minute, hour) = (counters.sender_last_minute, counters.sender_last_hour);
    let value = format!("minute={minute} hour={hour}");
    if view.has_enabled_membership() {
        return (Verdict::Skip, value);
    }
    let is_over = minute >= SENDER_PER_MINUTE_MAX || hour >= SENDER_PER_HOUR_MAX;
    (Verdict::refuse_if(is_over, R::SenderRateLimited), value)
}

fn queue(view: &View<'_>) -> (Verdict, String) {
    let counters = &view.input.counters;
    let (conversation, agent) = (counters.open_in_conversation, counters.open_of_agent);
    let is_full = conversation >= OPEN_PER_CONVERSATION_MAX || agent >= OPEN_PER_AGENT_MAX;
    (Verdict::refuse_if(is_full, R::QueueFull), format!("conversation={conversation} agent={agent}"))
}

fn otherwise(_: &View<'_>) -> (Verdict, String) {
    (Verdict::End(Decision::Queued, R::Accepted), String::new())
}
