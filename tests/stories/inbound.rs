//! What happens to a message before its Turn: copies, edits, recalls, outages.

use loom_twins::slack::{Action, Post, SlackTwin};
use serde_json::json;

use crate::harness::{SOON, Scene, Setup, World, eventually};

/// Tells whether its envelope says that the message was edited.
const EDITS: &str = "#!/bin/sh
cat > envelope.txt
last=$(sed -n 's/^| //p' envelope.txt | tail -n 1)
grep -q '\"edited\":true' envelope.txt && echo \"edited: $last\" || echo \"plain: $last\"
";

#[tokio::test(flavor = "multi_thread")]
async fn msg_104_msg_105_msg_107_eleven_deliveries_and_a_restart_make_one_item() {
    let mut scene = Scene::new().await;
    let posted = scene.world.twin.post(Post::mention("C0GENERAL", "U0ANN", "only once")).unwrap();
    assert_eq!(posted.event_ids.len(), 2, "a mention comes as two events");
    let copies = Action::Duplicate { event_id: posted.event_ids[0].clone(), copies: 10 };
    scene.world.twin.act(copies).unwrap();
    scene.seen("only once").await;
    acked(&scene.world.twin).await;
    scene.item_is("only once", "handled").await;
    scene.world.kill().await;
    scene.world.up().await;
    scene.world.connected(&scene.connection).await;
    for event_id in posted.event_ids {
        scene.world.twin.act(Action::Redeliver { event_id }).unwrap();
    }
    acked(&scene.world.twin).await;
    scene.ann_writes("a later one");
    scene.seen("echo: a later one").await;
    let items = scene.json(&["inbox", "list"]).await;
    assert_eq!(items["items"].as_array().unwrap().len(), 2, "{items:#}");
    assert_eq!(scene.seen_times("only once"), 1);
    let outbox = scene.json(&["outbox", "list"]).await;
    assert_eq!(outbox["items"].as_array().unwrap().len(), 2);
}

async fn acked(twin: &SlackTwin) {
    twin.wait_for(SOON, |twin| twin.counters().unacked.is_empty().then_some(())).await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn msg_108_a_queued_message_is_answered_as_it_stands_when_its_turn_comes() {
    let scene = Scene::with(Setup::default(), EDITS).await;
    scene.world.loom(&["agent", "pause", "echo", "--json"]).await.ok();
    let ts = scene.ann_writes("first wording");
    scene.item_is("first wording", "queued").await;
    let text = "second wording".to_owned();
    scene.world.twin.act(Action::Edit { channel: "D0ANN".into(), ts, text }).unwrap();
    eventually("the edit", SOON, || async {
        (scene.item("first wording").await["item"]["flags"]["edited"] == true).then_some(())
    })
    .await;
    let gone = scene.ann_writes("taken back");
    scene.item_is("taken back", "queued").await;
    scene.world.twin.act(Action::Delete { channel: "D0ANN".into(), ts: gone }).unwrap();
    scene.item_is("taken back", "cancelled").await;
    scene.world.loom(&["agent", "resume", "echo", "--json"]).await.ok();
    scene.seen("edited: second wording").await;
    scene.item_is("first wording", "handled").await;
    assert_eq!(scene.world.twin.ledger().by_app().count(), 1, "what was taken back is not answered");
}

#[tokio::test(flavor = "multi_thread")]
async fn msg_109_facts_about_answered_messages_cause_no_turn_and_no_output() {
    let scene = Scene::new().await;
    let ts = scene.ann_writes("answered already");
    scene.seen("echo: answered already").await;
    scene.item_is("answered already", "handled").await;
    let twin = &scene.world.twin;
    for n in 0..100 {
        let edit = Action::Edit { channel: "D0ANN".into(), ts: ts.clone(), text: format!("edit {n}") };
        twin.act(edit).unwrap();
    }
    let (channel, user, name) = ("D0ANN".to_owned(), "U0ANN".to_owned(), "thumbsup".to_owned());
    twin.act(Action::React { channel: channel.clone(), ts: ts.clone(), user, name }).unwrap();
    twin.act(Action::Unfurl { channel, ts }).unwrap();
    acked(twin).await;
    scene.ann_writes("a new message");
    scene.seen("echo: a new message").await;
    assert_eq!(twin.ledger().by_app().count(), 2);
    let turns = scene.world.loom(&["thread", "show", "echo", "--json"]).await.ok().json();
    let turns = turns.as_array().or_else(|| turns["items"].as_array()).unwrap().len();
    assert_eq!(turns, 2);
}

/// MSG-110, MSG-124, P-1: what was written before the first connect is history; what was written in an outage is work.
#[tokio::test(flavor = "multi_thread")]
async fn msg_110_msg_124_p_1_an_outage_is_caught_up_in_order_and_old_history_is_left_alone() {
    let mut world = World::new(Setup::default()).await;
    for n in 0..20 {
        world.twin.post(Post::new("D0ANN", "U0ANN", &format!("old {n}"))).unwrap();
    }
    gave_up(&world.twin, 20).await;
    world.up().await;
    let script = crate::harness::agent_script(
        &world.work(),
        "agent.sh",
        "#!/bin/sh\nsed -n 's/^| //p' | tail -n 1 | sed 's/^/echo: /'\n",
    );
    world.loom(&["agent", "create", "echo", "--runtime", "command", "--json", "--", &script]).await.ok();
    let mut scene = Scene::of(world).await;
    scene.ann_writes("new 0");
    scene.seen("echo: new 0").await;
    scene.world.kill().await;
    for n in 1..=30 {
        let (channel, post) = if n % 2 == 0 {
            ("D0ANN", Post::new as fn(&str, &str, &str) -> Post)
        } else {
            ("C0GENERAL", Post::mention as _)
        };
        scene.world.twin.post(post(channel, "U0ANN", &format!("new {n}"))).unwrap();
    }
    // Slack has given them up; only history still has them.
    gave_up(&scene.world.twin, 50).await;
    scene.world.up().await;
    eventually("an answer to each of 30", SOON * 4, || async {
        (1..=30).all(|n| scene.seen_times(&format!("new {n}")) >= 1).then_some(())
    })
    .await;
    let ledger = scene.world.twin.ledger();
    for channel in ["D0ANN", "C0GENERAL"] {
        let of = |text: &str| text.rsplit(' ').next().and_then(|n| n.parse::<u32>().ok());
        let order: Vec<u32> =
            ledger.by_app().filter(|m| m.channel == channel).filter_map(|m| of(&m.text)).collect();
        assert!(order.is_sorted_by(|a, b| a < b), "{channel}: in order, each once: {order:?}");
    }
    assert_eq!(ledger.by_app().count(), 31, "old messages are not answered");
    let items = scene.world.all(loom_api::routes::INBOX, &json!({})).await.unwrap();
    assert_eq!(items.len(), 31);
}

/// Waits until the last retry of so many deliveries ran out.
async fn gave_up(twin: &SlackTwin, count: usize) {
    eventually("the end of all retries", SOON * 4, || async {
        let counters = twin.counters();
        (counters.given_up.len() >= count && counters.unacked.is_empty()).then_some(())
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn msg_116_msg_130_two_threads_and_a_dm_share_no_context_and_take_turns() {
    let script = "#!/bin/sh\nsed -n 's/^| //p' | tr '\\n' ';'\n";
    let scene = Scene::with(Setup::default(), script).await;
    let one = scene.ann_mentions("apples");
    let two = scene.ann_mentions("pears");
    scene.seen("apples").await;
    scene.seen("pears").await;
    for (root, text) in [(&one, "more of one"), (&two, "more of two")] {
        scene.world.twin.post(Post::mention("C0GENERAL", "U0ANN", text).in_thread(root)).unwrap();
    }
    scene.ann_writes("plums");
    let (first, second, dm) =
        (scene.seen("more of one").await, scene.seen("more of two").await, scene.seen("plums").await);
    assert!(first.text.contains("apples") && !first.text.contains("pears"), "{}", first.text);
    assert!(second.text.contains("pears") && !second.text.contains("apples"), "{}", second.text);
    assert!(!dm.text.contains("apples") && !dm.text.contains("pears"), "{}", dm.text);
}

/// CAP-120: senders who were approved are listed with who approved them and when; one who is taken back is refused
/// with the next message.
#[tokio::test(flavor = "multi_thread")]
async fn cap_120_an_approved_sender_is_listed_and_taken_back() {
    let scene = Scene::new().await;
    let policy = ["integration", "update-address", &scene.address, "--dm-policy", "managed"];
    scene.json(&policy).await;
    scene.ann_writes("before");
    scene.seen("echo: before").await;
    let listed = scene.json(&["conversation", "list", "--type", "dm", "--enabled", "true"]).await;
    let sender = &listed["items"][0];
    assert_eq!((sender["actorId"].as_str(), sender["enabledBy"].as_str()), (Some("U0ANN"), Some("owner")));
    assert!(sender["firstEnabledAt"].is_string(), "{sender:#}");
    scene.json(&["conversation", "disable", &scene.dm]).await;
    let ts = scene.ann_writes("after");
    let refused = eventually("a refusal", SOON, || async {
        let told = scene.world.loom(&["where", &format!("slack:D0ANN/{ts}"), "--json"]).await;
        (told.code == 0 && told.json()["verdict"] != "WAITING").then(|| told.json())
    })
    .await;
    assert!(refused["verdict"].as_str().is_some_and(|verdict| verdict.contains("REFUSED")), "{refused:#}");
    let listed = scene.json(&["conversation", "list", "--type", "dm", "--enabled", "true"]).await;
    assert_eq!(listed["items"], json!([]), "{listed:#}");
}
