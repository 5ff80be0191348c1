//! Envelopes in, facts out.

use loom_domain::message::{EventKind, SenderKind};
use loom_domain::{ConversationType, InboundEvent};
use serde_json::{Value, json};

use super::super::wire::Envelope;
use super::{Known, Own, kind_wanted, lane, translate};

fn own() -> Own {
    Own { team: "T1".into(), user: "UBOT".into(), bot: "BBOT".into(), app: "A1".into() }
}

fn name(id: &str) -> Option<String> {
    (id == "U1").then(|| "Ann".to_owned())
}

fn envelope(event_id: &str, event: &Value) -> Envelope {
    let payload = json!({"token": "legacy", "team_id": "T1", "type": "event_callback", "event_id": event_id, "event": event});
    Envelope { id: format!("env-{event_id}"), kind: "events_api".into(), payload }
}

fn read(envelope: &Envelope) -> Vec<InboundEvent> {
    let own = own();
    translate(envelope, &Known { own: &own, name: &name, kind: &|_| None })
}

fn one(event: &Value) -> InboundEvent {
    read(&envelope("Ev1", event)).pop().expect("one event")
}

fn is_ignored(event: &Value) -> bool {
    read(&envelope("Ev1", event)).is_empty()
}

fn post(channel: &str, ts: &str, text: &str) -> Value {
    json!({"type": "message", "channel": channel, "channel_type": "channel", "user": "U1", "ts": ts, "event_ts": ts, "text": text})
}

/// MSG-101: equal timestamps in two channels are two messages.
#[test]
fn msg_101_equal_timestamps_in_two_channels_stay_apart() {
    let (a, b) = (one(&post("C1", "1.000100", "a")), one(&post("C2", "1.000100", "a")));
    assert_eq!(a.message_key.as_deref(), Some("T1/C1/1.000100"));
    assert_ne!(a.message_key, b.message_key);
}

/// MSG-104: event ids differ, the message key does not.
#[test]
fn msg_104_copies_with_new_event_ids_share_the_message_key() {
    let copies: Vec<InboundEvent> =
        (0..11).flat_map(|n| read(&envelope(&format!("Ev{n}"), &post("C1", "1.000100", "a")))).collect();
    assert_eq!(copies.len(), 11);
    assert!(copies.iter().all(|copy| copy.message_key == copies[0].message_key));
    assert_eq!(copies.iter().map(|copy| &copy.event_id).collect::<std::collections::BTreeSet<_>>().len(), 11);
}

/// MSG-106: a retry copy is translated like the first.
#[test]
fn msg_106_a_retry_copy_is_no_less_an_event() {
    let frame = json!({"envelope_id": "e1", "type": "events_api", "retry_attempt": 2, "retry_reason": "timeout",
        "payload": {"type": "event_callback", "event_id": "Ev9", "event": post("C1", "1.000100", "late")}});
    let super::super::wire::Frame::Envelope(envelope) = super::super::wire::Frame::parse(&frame.to_string())
    else {
        panic!("an envelope")
    };
    assert_eq!(read(&envelope)[0].content.text, "late");
}

/// MSG-107: `app_mention` and `message` are one message, both with the mention evidence.
#[test]
fn msg_107_app_mention_and_message_share_key_and_evidence() {
    let text = "<@UBOT> do &lt;it&gt; for <@U1>";
    let message = one(&post("C1", "1.000100", text));
    let mention =
        one(&json!({"type": "app_mention", "channel": "C1", "user": "U1", "ts": "1.000100", "text": text}));
    assert_eq!(message.message_key, mention.message_key);
    assert_eq!(message.content.text, "do <it> for @Ann");
    for event in [&message, &mention] {
        assert!(event.mentions.iter().any(|m| m.external_id == "UBOT"));
    }
    // The mention event names no kind; it must never look like a DM by default.
    assert_eq!(mention.conversation.conversation_type, None);
    assert_eq!(message.conversation.conversation_type, Some(ConversationType::Channel));
    let bare = one(
        &json!({"type": "app_mention", "channel": "C1", "user": "U1", "ts": "2.000100", "text": "<@UBOT> "}),
    );
    assert!(bare.bare_mention && bare.content.text.is_empty());
}

/// MSG-093: an event without a kind asks for a lookup; one with a kind does not.
#[test]
fn msg_093_a_missing_kind_is_looked_up() {
    let mention =
        envelope("Ev1", &json!({"type": "app_mention", "channel": "C1", "user": "U1", "ts": "1.000100"}));
    assert_eq!(kind_wanted(&mention), Some("C1"));
    assert_eq!(lane(&mention), "C1");
    assert_eq!(kind_wanted(&envelope("Ev1", &post("C1", "1.000100", "a"))), None);
    for (told, kind) in [
        ("im", ConversationType::Dm),
        ("mpim", ConversationType::GroupDm),
        ("group", ConversationType::Group),
    ] {
        let mut event = post("C1", "1.000100", "a");
        event["channel_type"] = json!(told);
        assert_eq!(one(&event).conversation.conversation_type, Some(kind));
    }
    let own = own();
    let known = Known { own: &own, name: &name, kind: &|_| Some(ConversationType::GroupDm) };
    assert_eq!(
        translate(&mention, &known)[0].conversation.conversation_type,
        Some(ConversationType::GroupDm)
    );
}

/// MSG-108, MSG-109: an edit is a fact with the new text; unfurls and counters are nothing.
#[test]
fn msg_108_msg_109_only_a_real_change_is_an_edit() {
    let changed = |message: Value, previous: Value| {
        json!({"type": "message", "subtype": "message_changed", "hidden": true, "channel": "C1", "channel_type": "channel",
            "ts": "9.000100", "event_ts": "9.000100", "message": message, "previous_message": previous})
    };
    let old = json!({"user": "U1", "ts": "1.000100", "text": "old"});
    let new =
        json!({"user": "U1", "ts": "1.000100", "text": "new <@UBOT>", "edited": {"user": "U1", "ts": "9.0"}});
    let edit = one(&changed(new.clone(), old.clone()));
    assert_eq!((edit.kind, edit.content.text.as_str()), (EventKind::Edit, "new @UBOT"));
    assert_eq!(edit.target_message_id.as_deref(), Some("1.000100"));
    assert_eq!(edit.message_key.as_deref(), Some("T1/C1/1.000100"));
    let unfurled = json!({"user": "U1", "ts": "1.000100", "text": "old", "attachments": [{"id": 1}]});
    assert!(is_ignored(&changed(unfurled, old.clone())));
    let counted = json!({"user": "U1", "ts": "1.000100", "text": "new <@UBOT>", "edited": {"ts": "9.0"}, "reply_count": 3});
    assert!(is_ignored(&changed(counted, new)));
    let mut files = old.clone();
    files["edited"] = json!({"ts": "9.0"});
    files["files"] = json!([{"id": "F1"}]);
    assert_eq!(one(&changed(files, old)).kind, EventKind::Edit);
}

/// MSG-109: reactions and recalls are facts about their message.
#[test]
fn msg_109_reactions_and_recalls_are_facts() {
    let item = json!({"type": "message", "channel": "C1", "ts": "1.000100"});
    let added = one(
        &json!({"type": "reaction_added", "user": "U1", "reaction": "eyes", "item": item, "event_ts": "2.000100"}),
    );
    assert_eq!((added.kind, added.fact.as_deref()), (EventKind::Reaction, Some("eyes")));
    assert_eq!(added.target_message_id.as_deref(), Some("1.000100"));
    let removed = one(&json!({"type": "reaction_removed", "user": "U1", "reaction": "eyes", "item": item}));
    assert_eq!(removed.fact.as_deref(), Some("-eyes"));
    let recall = one(
        &json!({"type": "message", "subtype": "message_deleted", "channel": "C1", "channel_type": "im",
        "deleted_ts": "1.000100", "event_ts": "3.000100", "previous_message": {"user": "U1", "ts": "1.000100"}}),
    );
    assert_eq!((recall.kind, recall.target_message_id.as_deref()), (EventKind::Recall, Some("1.000100")));
    assert_eq!(recall.conversation.conversation_type, Some(ConversationType::Dm));
}

/// A deleted root of a thread turns into a tombstone; that is a recall.
#[test]
fn a_tombstone_is_a_recall() {
    let event = one(
        &json!({"type": "message", "subtype": "message_changed", "channel": "C1", "channel_type": "channel",
        "event_ts": "3.000100", "message": {"subtype": "tombstone", "ts": "1.000100", "text": "This message was deleted."},
        "previous_message": {"user": "U1", "ts": "1.000100"}}),
    );
    assert_eq!((event.kind, event.target_message_id.as_deref()), (EventKind::Recall, Some("1.000100")));
}

/// MSG-111: our own posts carry one of our ids, other bots theirs.
#[test]
fn msg_111_own_and_other_bots_are_told_apart() {
    let sender = |extra: Value| {
        let mut event = json!({"type": "message", "channel": "C1", "channel_type": "channel", "ts": "1.000100", "text": "x"});
        event.as_object_mut().unwrap().extend(extra.as_object().unwrap().clone());
        one(&event).sender.map(|sender| (sender.external_id, sender.kind))
    };
    assert_eq!(
        sender(json!({"user": "UBOT", "bot_id": "BBOT", "app_id": "A1"})),
        Some(("UBOT".into(), SenderKind::Bot))
    );
    assert_eq!(
        sender(json!({"subtype": "bot_message", "bot_id": "BHOOK", "app_id": "A1"})),
        Some(("A1".into(), SenderKind::App))
    );
    assert_eq!(
        sender(json!({"subtype": "bot_message", "bot_id": "BHOOK", "bot_profile": {"app_id": "A1"}})),
        Some(("A1".into(), SenderKind::App))
    );
    assert_eq!(
        sender(json!({"user": "U2", "bot_id": "B2", "app_id": "A2"})),
        Some(("U2".into(), SenderKind::Bot))
    );
    assert_eq!(
        sender(json!({"subtype": "bot_message", "bot_id": "B3"})),
        Some(("B3".into(), SenderKind::Bot))
    );
    assert_eq!(sender(json!({"user": "U1"})), Some(("U1".into(), SenderKind::Human)));
    assert_eq!(sender(json!({})), None);
}

#[test]
fn subtypes_follow_the_table() {
    for subtype in ["channel_join", "channel_topic", "channel_archive", "message_replied"] {
        let mut event = post("C1", "1.000100", "x");
        event["subtype"] = json!(subtype);
        assert!(is_ignored(&event), "{subtype}");
    }
    let mut event = post("C1", "2.000100", "x");
    for subtype in ["file_share", "thread_broadcast", "me_message"] {
        event["subtype"] = json!(subtype);
        assert_eq!(one(&event).kind, EventKind::Message, "{subtype}");
    }
    event["subtype"] = json!("huddle_thread");
    assert_eq!(one(&event).kind, EventKind::Unsupported);
}

#[test]
fn threads_files_and_members_are_kept() {
    let mut event = post("C1", "2.000100", "x");
    event["thread_ts"] = json!("1.000100");
    event["files"] =
        json!([{"id": "F1", "name": "a.pdf", "mimetype": "application/pdf", "size": 10}, {"x": 1}]);
    let reply = one(&event);
    assert_eq!(reply.conversation.thread_id.as_deref(), Some("1.000100"));
    assert_eq!(reply.parent_type, Some(ConversationType::Channel));
    assert_eq!(reply.occurred_at.unwrap().0, 2_000);
    assert_eq!((reply.content.attachments.len(), reply.content.attachments[0].size), (1, Some(10)));
    event["thread_ts"] = json!("2.000100");
    assert_eq!(one(&event).conversation.thread_id, None);
    let joined =
        one(&json!({"type": "member_joined_channel", "user": "UBOT", "channel": "C7", "channel_type": "C"}));
    assert_eq!((joined.kind, joined.fact.as_deref()), (EventKind::Member, Some("bot_added")));
}

/// MSG-122: what cannot be read becomes an event the hub refuses, and nothing secret is kept.
#[test]
fn msg_122_malformed_events_are_handed_over_with_their_evidence() {
    let odd = Envelope {
        id: "e1".into(),
        kind: "events_api".into(),
        payload: json!({"type": "event_callback", "event": 7, "token": "t"}),
    };
    let events = read(&odd);
    assert_eq!((events[0].event_id.as_str(), events[0].conversation.conversation_id.as_str()), ("e1", ""));
    assert_eq!(events[0].raw, json!({"type": "event_callback", "event": 7}));
    let limited = Envelope {
        id: "e2".into(),
        kind: "events_api".into(),
        payload: json!({"type": "app_rate_limited", "team_id": "T1", "minute_rate_limited": 5}),
    };
    assert_eq!(read(&limited)[0].fact.as_deref(), Some("rate_limited"));
    assert!(is_ignored(&json!({"type": "app_home_opened", "user": "U1"})));
}

/// MSG-089: a slash command and a message shortcut are confirmed dispatches.
#[test]
fn msg_089_commands_and_shortcuts_are_dispatches() {
    let slash = Envelope {
        id: "e1".into(),
        kind: "slash_commands".into(),
        payload: json!({"command": "/loom", "text": "go",
        "user_id": "U1", "channel_id": "C1", "response_url": "https://x", "trigger_id": "t"}),
    };
    let event = &read(&slash)[0];
    assert!(event.dispatch && event.content.text == "go");
    assert_eq!(event.raw.get("response_url"), None);
    let shortcut = Envelope {
        id: "e2".into(),
        kind: "interactive".into(),
        payload: json!({"type": "message_action",
        "channel": {"id": "C1"}, "message": {"type": "message", "user": "U1", "ts": "1.000100", "text": "see"}}),
    };
    let event = &read(&shortcut)[0];
    assert!(event.dispatch);
    assert_eq!(event.message_key.as_deref(), Some("T1/C1/1.000100"));
    assert!(
        read(&Envelope {
            id: "e3".into(),
            kind: "interactive".into(),
            payload: json!({"type": "block_actions"})
        })
        .is_empty()
    );
}
