//! Events from the twin's people.

use loom_domain::ConversationType;
use loom_domain::message::{EventKind, SenderKind};
use loom_twins::slack::{Action, Fault as Planned, FaultAction, Post};

use super::stage::{Hub, LIMIT, Stage, text_part};
use crate::{Channel, HistoryQuery, IngressFault, SessionEnd};

/// MSG-093: a mention in a group DM is known as that, also by the event that tells no kind.
#[tokio::test]
async fn msg_093_a_mention_knows_the_kind_of_its_conversation() {
    let (stage, hub) = (Stage::start().await, Hub::new());
    let _served = stage.connected(&hub).await;
    stage.twin.knobs(|knobs| knobs.mention_message_event = false);
    stage.twin.post(Post::mention("G0MPIM", "U0ANN", "hi")).unwrap();
    stage.twin.post(Post::mention("C0GENERAL", "U0ANN", "hi")).unwrap();
    let events = hub.events(2).await;
    let kind = |channel: &str| {
        events
            .iter()
            .find(|e| e.conversation.conversation_id == channel)
            .unwrap()
            .conversation
            .conversation_type
    };
    assert_eq!(kind("G0MPIM"), Some(ConversationType::GroupDm));
    assert_eq!(kind("C0GENERAL"), Some(ConversationType::Channel));
}

/// A lookup that hangs costs a batch its budget once, not once for each envelope: all are acknowledged in time.
#[tokio::test]
async fn a_slow_lookup_of_the_kind_delays_a_batch_once() {
    let (stage, hub) = (Stage::start().await, Hub::new());
    let _served = stage.connected(&hub).await;
    stage.twin.knobs(|knobs| knobs.mention_message_event = false);
    let hang = FaultAction::HangAfterActing;
    stage.twin.fault(Planned::times("conversations.info", 10, hang));
    for n in 0..6 {
        stage.twin.post(Post::mention("G0MPIM", "U0ANN", &format!("hi {n}"))).unwrap();
    }
    hub.events(6).await;
    // The first envelope is a batch of its own; the others come together behind it.
    assert_eq!(stage.calls("conversations.info"), 2);
}

/// MSG-104, MSG-107: all events of one message share its key; the mention evidence is in both types.
#[tokio::test]
async fn msg_104_msg_107_all_events_of_a_message_share_its_key() {
    let (stage, hub) = (Stage::start().await, Hub::new());
    let _served = stage.connected(&hub).await;
    let posted = stage.twin.post(Post::mention("C0GENERAL", "U0ANN", "do it")).unwrap();
    for event_id in &posted.event_ids {
        stage.twin.act(Action::Duplicate { event_id: event_id.clone(), copies: 10 }).unwrap();
    }
    let events = hub.events(11 * posted.event_ids.len()).await;
    assert_eq!(posted.event_ids.len(), 2);
    for event in &events {
        assert_eq!(event.message_key.as_deref(), Some(format!("T0001/C0GENERAL/{}", posted.ts).as_str()));
        assert!(event.mentions.iter().any(|mention| mention.external_id == "U0BOT"));
        assert_eq!(event.content.text, "do it");
    }
}

/// MSG-106: nothing is acknowledged before the commit, and the retry copy is taken.
#[tokio::test]
async fn msg_106_an_event_is_acknowledged_after_its_commit_only() {
    let (stage, hub) = (Stage::start().await, Hub::gated(0));
    let served = stage.connected(&hub).await;
    stage.twin.post(Post::new("D0ANN", "U0ANN", "hello")).unwrap();
    stage.twin.wait_for(LIMIT, |twin| twin.counters().unacked.first().cloned()).await.unwrap();
    assert_eq!(served.stop().await, SessionEnd::Stopped);
    assert!(stage.twin.counters().acks.is_empty() && hub.notes().events.is_empty());

    let next = Hub::new();
    let _served = stage.connected(&next).await;
    let events = next.events(1).await;
    assert_eq!(events[0].content.text, "hello");
    let ack = stage.twin.wait_for(LIMIT, |twin| twin.counters().acks.first().cloned()).await.unwrap();
    assert_eq!(ack.event_id.as_deref(), Some(events[0].event_id.as_str()));
}

/// A busy store is asked again; the lost lease ends the session.
#[tokio::test]
async fn an_offer_is_repeated_and_a_lost_lease_ends_the_session() {
    let (stage, hub) = (Stage::start().await, Hub::new());
    let served = stage.connected(&hub).await;
    hub.answer(IngressFault::Retry { after_ms: 1 });
    stage.twin.post(Post::new("D0ANN", "U0ANN", "one")).unwrap();
    assert_eq!(hub.events(1).await[0].content.text, "one");
    hub.answer(IngressFault::LeaseLost);
    stage.twin.post(Post::new("D0ANN", "U0ANN", "two")).unwrap();
    assert_eq!(served.end().await, SessionEnd::LeaseLost);
}

/// Order within a conversation is kept while another one waits.
#[tokio::test]
async fn events_of_a_conversation_keep_their_order() {
    let (stage, hub) = (Stage::start().await, Hub::new());
    let _served = stage.connected(&hub).await;
    for n in 0..40 {
        stage.twin.post(Post::new("D0ANN", "U0ANN", &format!("a{n}"))).unwrap();
        stage.twin.post(Post::new("D0BOB", "U0BOB", &format!("b{n}"))).unwrap();
    }
    let events = hub.events(80).await;
    for (channel, letter) in [("D0ANN", 'a'), ("D0BOB", 'b')] {
        let of_channel = events.iter().filter(|event| event.conversation.conversation_id == channel);
        let texts: Vec<&str> = of_channel.map(|event| event.content.text.as_str()).collect();
        let mut firsts = Vec::new();
        for text in texts {
            if !firsts.contains(&text) {
                firsts.push(text);
            }
        }
        assert_eq!(firsts, (0..40).map(|n| format!("{letter}{n}")).collect::<Vec<_>>());
    }
}

/// MSG-108, MSG-109: edits, recalls and reactions come as facts; unfurls do not come at all.
#[tokio::test]
async fn msg_108_msg_109_facts_come_as_facts() {
    let (stage, hub) = (Stage::start().await, Hub::new());
    let _served = stage.connected(&hub).await;
    let (channel, ts) = {
        let posted = stage.twin.post(Post::new("C0GENERAL", "U0ANN", "first")).unwrap();
        (posted.channel, posted.ts)
    };
    let (user, name) = ("U0BOB".to_owned(), "eyes".to_owned());
    stage.twin.act(Action::Unfurl { channel: channel.clone(), ts: ts.clone() }).unwrap();
    stage.twin.act(Action::Edit { channel: channel.clone(), ts: ts.clone(), text: "second".into() }).unwrap();
    stage.twin.act(Action::React { channel: channel.clone(), ts: ts.clone(), user, name }).unwrap();
    stage.twin.act(Action::Delete { channel, ts: ts.clone() }).unwrap();
    let events = hub.events(4).await;
    let kinds: Vec<EventKind> = events.iter().map(|event| event.kind).collect();
    assert_eq!(kinds, [EventKind::Message, EventKind::Edit, EventKind::Reaction, EventKind::Recall]);
    assert_eq!(events[1].content.text, "second");
    assert!(events[1..].iter().all(|event| event.target_message_id.as_deref() == Some(ts.as_str())));
}

/// MSG-111: our own echo carries one of our ids; another bot's message its own.
#[tokio::test]
async fn msg_111_own_posts_and_other_bots_are_told_apart() {
    let (stage, hub) = (Stage::start().await, Hub::new());
    let _served = stage.connected(&hub).await;
    let own_ids = stage.channel.verify().await.unwrap().own_ids;
    let ids = stage.sent(text_part("C0GENERAL", "mine")).await;
    let bot = Post {
        bot: Some("B0OTHER".into()),
        subtype: Some("bot_message".into()),
        ..Post::new("C0GENERAL", "", "theirs")
    };
    stage.twin.post(bot).unwrap();
    let events = hub.events(2).await;
    let of = |text: &str| events.iter().find(|event| event.content.text == text).unwrap();
    let (mine, theirs) = (of("mine"), of("theirs"));
    assert_eq!(mine.conversation.message_id, ids.message_id);
    assert!(own_ids.contains(&mine.sender.as_ref().unwrap().external_id));
    let other = theirs.sender.as_ref().unwrap();
    assert!(other.kind == SenderKind::Bot && !own_ids.contains(&other.external_id));
}

/// MSG-211: a socket that only pongs is left on demand, and the history has what it kept back.
#[tokio::test]
async fn msg_211_a_deaf_socket_is_replaced_and_history_catches_up() {
    let (stage, hub) = (Stage::start().await, Hub::new());
    let served = stage.connected(&hub).await;
    let before = stage.twin.post(Post::new("C0GENERAL", "U0ANN", "heard")).unwrap();
    hub.events(1).await;
    stage.twin.knobs(|knobs| knobs.silent = true);
    let missed = stage.twin.post(Post::mention("C0GENERAL", "U0ANN", "unheard")).unwrap();
    let query = HistoryQuery {
        conversation_id: "C0GENERAL".into(),
        thread_id: None,
        after: Some(before.ts),
        since: None,
        limit: 100,
    };
    let page = stage.channel.history(query).await.unwrap();
    let texts: Vec<&str> = page.messages.iter().map(|message| message.event.content.text.as_str()).collect();
    assert_eq!(texts, ["unheard"]);
    let event = &page.messages[0].event;
    assert_eq!(event.message_key.as_deref(), Some(format!("T0001/C0GENERAL/{}", missed.ts).as_str()));
    assert_eq!(event.conversation.conversation_type, Some(ConversationType::Channel));
    assert!(event.mentions.iter().any(|mention| mention.external_id == "U0BOT") && !page.messages[0].own);
    served.reconnect.notify_one();
    assert_eq!(served.end().await, SessionEnd::Reconnect);
}

/// MSG-239: names come by a form call, are kept, and never delay custody.
#[tokio::test]
async fn msg_239_names_are_cached_and_never_delay_custody() {
    let (stage, hub) = (Stage::start().await, Hub::new());
    let _served = stage.connected(&hub).await;
    stage.twin.fault(Planned::once("users.info", FaultAction::HangAfterActing));
    let slow = {
        let channel = std::sync::Arc::clone(&stage.channel);
        tokio::spawn(async move { channel.actor_name("U0BOB").await })
    };
    stage.twin.post(Post::new("C0GENERAL", "U0ANN", "hi <@U0BOB>")).unwrap();
    assert_eq!(hub.events(1).await[0].content.text, "hi @U0BOB");
    slow.abort();
    assert_eq!(stage.channel.actor_name("U0ANN").await.as_deref(), Some("Ann"));
    assert_eq!(stage.channel.actor_name("U0ANN").await.as_deref(), Some("Ann"));
    let calls = stage.twin.requests_of("users.info");
    let ann: Vec<_> =
        calls.iter().filter(|call| call.arguments.get("user").is_some_and(|user| user == "U0ANN")).collect();
    assert_eq!(ann.len(), 1);
    assert!(
        ann[0]
            .headers
            .get("content-type")
            .is_some_and(|kind| kind.starts_with("application/x-www-form-urlencoded"))
    );
    stage.twin.post(Post::new("C0GENERAL", "U0ANN", "again <@U0ANN>")).unwrap();
    assert_eq!(hub.events(2).await[1].content.text, "again @Ann");
}
