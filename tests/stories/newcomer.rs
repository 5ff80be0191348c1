//! A new user's first hour: from an empty home to answers in the right place.

use loom_twins::slack::Post;

use crate::harness::{SOON, Scene, Setup, World, agent_script, eventually};

/// Says what it was asked and how many bytes came with it.
const READER: &str = "#!/bin/sh
last=$(sed -n 's/^| //p' | tail -n 1)
bytes=$(cat \"$LOOM_TURN_DIR\"/in/* 2>/dev/null | wc -c)
echo \"echo: $last ($bytes bytes)\"
";

/// The steps of the guide, one by one: what each leaves behind and what it does not do.
#[tokio::test(flavor = "multi_thread")]
async fn msg_061_msg_062_msg_071_msg_072_msg_022_each_step_of_the_set_up_does_one_thing() {
    let mut world = World::new(Setup::default()).await;
    world.up().await;
    let script = agent_script(&world.work(), "agent.sh", READER);
    let words = ["agent", "create", "docs", "--runtime", "command", "--", &script];
    let created = world.loom(&words).await.ok();
    assert!(created.stdout.starts_with("created docs agt_"), "{created}");
    let url = world.twin.base_url();
    let words = [
        "integration",
        "connect",
        "slack",
        "--account",
        "A0001",
        "--credential-ref",
        "env:NOT_THERE",
        "--api-url",
        &url,
        "--json",
    ];
    let connection = world.loom(&words).await.ok();
    let connection = connection.id();
    let shown = world.loom(&["integration", "status", &connection, "--json"]).await.ok().json();
    assert_eq!(shown["state"], "disconnected", "{shown:#}");
    assert!(world.twin.requests().is_empty(), "connect makes no call");
    let full = [
        "integration",
        "bind",
        "docs",
        &connection,
        "--identity",
        "slack://T0001/U0BOT",
        "--trigger",
        "all",
        "--reply-policy",
        "explicit",
        "--dm-policy",
        "closed",
        "--allow-actors",
        "U0ANN,U0BOB",
        "--block-conversations",
        "C0RANDOM",
        "--json",
    ];
    let bound = world.loom(&full).await.ok().json()["object"].clone();
    assert_eq!(
        (&bound["triggerPolicy"], &bound["replyPolicy"], &bound["dmPolicy"], &bound["enabled"]),
        (&"all".into(), &"explicit".into(), &"closed".into(), &false.into())
    );
    assert_eq!(bound["allowActors"], serde_json::json!(["U0ANN", "U0BOB"]));
    let plain = ["integration", "bind", "docs", &connection, "--identity", "slack://T0001/U1BOT", "--json"];
    let plain = world.loom(&plain).await.ok().json()["object"].clone();
    assert_eq!(
        (&plain["triggerPolicy"], &plain["replyPolicy"], &plain["dmPolicy"], &plain["enabled"]),
        (&"mention".into(), &"final_answer".into(), &"managed".into(), &false.into())
    );
    let address = bound["id"].as_str().unwrap();
    let enabled = world.loom(&["integration", "enable", address, "--json"]).await.ok();
    assert_eq!(enabled.json()["object"]["enabled"], true, "{enabled}");
    let set =
        ["conversation", "set", address, "C0GENERAL", "--type", "channel", "--purpose", "manual", "--json"];
    let set = world.loom(&set).await.ok().json()["object"].clone();
    assert_eq!((&set["enabled"], &set["outboundPolicy"]), (&false.into(), &"reply_only".into()));
    let membership = set["id"].as_str().unwrap();
    let enabled = world.loom(&["conversation", "enable", membership, "--json"]).await.ok();
    assert_eq!(enabled.json()["object"]["enabled"], true, "{enabled}");
    assert!(world.twin.requests().is_empty(), "nothing was asked of the provider");
}

#[tokio::test(flavor = "multi_thread")]
async fn msg_128_msg_156_a_dm_a_mention_and_a_thread_reply_are_answered_in_their_place() {
    let scene = Scene::new().await;
    scene.ann_writes("hello from a dm");
    let answer = scene.seen("echo: hello from a dm").await;
    assert_eq!((answer.channel.as_str(), &answer.thread_ts), ("D0ANN", &None));
    let root = scene.ann_mentions("in the channel");
    let answer = scene.seen("in the channel").await;
    assert_eq!((answer.channel.as_str(), answer.thread_ts.as_deref()), ("C0GENERAL", Some(root.as_str())));
    let follow = Post::mention("C0GENERAL", "U0BOB", "deeper in the thread").in_thread(&root);
    scene.world.twin.post(follow).unwrap();
    let answer = scene.seen("deeper in the thread").await;
    assert_eq!(answer.thread_ts.as_deref(), Some(root.as_str()));
    path_is_told(&scene, "in the channel", &root).await;
}

/// Inbox, Thread, Outbox and `where` tell the same path, from the platform message to the platform message.
async fn path_is_told(scene: &Scene, text: &str, root: &str) {
    let entry = scene.item_is(text, "handled").await;
    let id = entry["item"]["id"].as_str().unwrap();
    let listed = scene.json(&["inbox", "echo", "--origin", "slack"]).await;
    assert!(listed["items"].as_array().unwrap().iter().any(|item| item["item"]["id"] == id));
    let turns = scene.world.loom(&["thread", "show", "echo", "--json"]).await.ok();
    let has_turn =
        |turn: &serde_json::Value| turn["answer"].as_str().is_some_and(|answer| answer.contains(text));
    assert!(turns.stdout.contains(id) && thread_turns(&turns.json()).iter().any(has_turn), "{turns}");
    let reply = scene.reply_of(&entry).await;
    assert_eq!((&reply["state"], &reply["inboxItemId"]), (&"sent".into(), &id.into()));
    let target = &reply["target"];
    assert!(target["threadId"] == root || target["messageId"] == root, "{target:#}");
    assert_eq!(reply["addressId"], entry["item"]["addressId"]);
    assert_eq!(reply["traceId"], entry["item"]["traceId"]);
    let sent = reply["parts"][0]["receipt"]["externalMessageId"].as_str().unwrap();
    assert!(scene.world.twin.ledger().message("C0GENERAL", sent).is_some(), "{reply:#}");
    let listed = scene.json(&["outbox", "echo"]).await;
    assert!(listed["items"].as_array().unwrap().iter().any(|item| item["id"] == reply["id"]));
    let link = format!("slack:C0GENERAL/{root}");
    for question in [id, reply["id"].as_str().unwrap(), &link] {
        let told = scene.json(&["where", question]).await;
        assert_eq!(told["verdict"], "DELIVERED", "{question}: {told:#}");
        let layers: Vec<&str> =
            told["steps"].as_array().unwrap().iter().filter_map(|step| step["layer"].as_str()).collect();
        for layer in ["event", "decision", "inbox", "turn", "outbox", "receipt"] {
            assert!(layers.contains(&layer), "{question}: no {layer} in {layers:?}");
        }
    }
}

fn thread_turns(shown: &serde_json::Value) -> Vec<serde_json::Value> {
    shown.as_array().or_else(|| shown["items"].as_array()).cloned().unwrap_or_default()
}

#[tokio::test(flavor = "multi_thread")]
async fn msg_113_msg_157_msg_200_files_come_in_and_go_out_with_their_ids() {
    let scene = Scene::with(Setup::default(), READER).await;
    let post = Post::new("D0ANN", "U0ANN", "please read").with_file("notes.txt", b"twelve bytes");
    scene.world.twin.post(post).unwrap();
    scene.seen("echo: please read (12 bytes)").await;
    let work = scene.world.work();
    std::fs::write(work.join("body.md"), "two files for you").unwrap();
    std::fs::write(work.join("a.txt"), "first").unwrap();
    std::fs::write(work.join("b.txt"), "second").unwrap();
    let set = ["conversation", "set", &scene.address, "D0ANN", "--outbound-policy", "proactive", "--json"];
    scene.world.loom(&set).await.ok();
    let words = [
        "integration",
        "send",
        "--from",
        "echo",
        "--to",
        &scene.dm,
        "--idempotency-key",
        "k1",
        "--body-file",
        "body.md",
        "--file",
        "a.txt",
        "--file",
        "b.txt",
        "--json",
    ];
    let sent = scene.world.loom(&words).await.ok().json();
    assert_eq!((&sent["state"], sent["parts"].as_array().unwrap().len()), (&"sent".into(), 3), "{sent:#}");
    let ledger = scene.world.twin.ledger();
    for (part, name) in [(1, "a.txt"), (2, "b.txt")] {
        let receipt = &sent["parts"][part]["receipt"];
        let message = receipt["externalMessageId"].as_str().expect("a message id");
        let shown = ledger.message("D0ANN", message).unwrap_or_else(|| panic!("{message} is not there"));
        assert_eq!(shown.files[0].name, name);
        assert_eq!(receipt["externalFileId"], shown.files[0].id.as_str(), "{receipt:#}");
    }
    let again = scene.world.loom(&words).await.ok().json();
    assert_eq!((&again["id"], &again["duplicate"]), (&sent["id"], &true.into()), "the same key sends once");
    assert_eq!(scene.seen_times("two files for you"), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn msg_085_msg_086_atk_21_a_stranger_waits_unseen_and_is_answered_after_approval() {
    let scene = Scene::new().await;
    let twin = &scene.world.twin;
    for text in ["stranger one", "stranger two"] {
        twin.post(Post::new("D0BOB", "U0BOB", text)).unwrap();
    }
    let first = scene.item_is("stranger one", "pending_access").await;
    scene.item_is("stranger two", "pending_access").await;
    // Ann's message, written later, is answered; so Bob's was not merely slow.
    scene.ann_writes("known person");
    scene.seen("echo: known person").await;
    let ledger = twin.ledger();
    assert!(!ledger.by_app().any(|message| message.channel == "D0BOB"), "nothing is visible to a stranger");
    assert!(ledger.messages.iter().filter(|m| m.channel == "D0BOB").all(|m| m.reactions.is_empty()));
    let id = first["item"]["id"].as_str().unwrap();
    scene.world.loom(&["inbox", "reply", id, "--body", "x", "--json"]).await.fails("access_pending", 1);
    let words = [
        "conversation",
        "set",
        &scene.address,
        "D0BOB",
        "--type",
        "dm",
        "--actor",
        "U0BOB",
        "--trigger",
        "direct",
        "--json",
    ];
    let membership = scene.world.loom(&words).await.ok().id();
    let enabled = scene.world.loom(&["conversation", "enable", &membership]).await.ok();
    assert!(format!("{}{}", enabled.stdout, enabled.stderr).contains("pending_access → queued"), "{enabled}");
    scene.seen("echo: stranger two").await;
    let texts: Vec<String> =
        twin.ledger().by_app().filter(|m| m.channel == "D0BOB").map(|m| m.text.clone()).collect();
    assert_eq!(texts, ["echo: stranger one", "echo: stranger two"], "in the order of arrival");
    let approved = scene.json(&["conversation", "list", "--type", "dm"]).await;
    assert!(
        approved["items"].as_array().unwrap().iter().any(|item| item["actorId"] == "U0BOB"),
        "{approved:#}"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn msg_097_msg_093_a_refused_message_is_kept_with_its_reason() {
    let scene = Scene::new().await;
    let post = Post::mention("C0DOCS", "U0ANN", "not served here");
    let ts = scene.world.twin.post(post).unwrap().ts;
    let refused = eventually("a refusal", SOON, || async {
        let list = scene.json(&["inbox", "refused", "echo", "--reason", "membership_missing"]).await;
        list["items"].as_array()?.first().cloned()
    })
    .await;
    let event = refused["id"].as_str().unwrap();
    let shown = scene.json(&["inbox", "refused", "get", event]).await;
    assert!(shown.to_string().contains("membership_missing"), "{shown:#}");
    let told = scene.json(&["where", &format!("slack:C0DOCS/{ts}")]).await;
    assert_eq!((&told["verdict"], &told["reason"]), (&"REFUSED".into(), &"membership_missing".into()));
    let explained = scene.json(&["policy", "explain", event]).await;
    assert!(explained.to_string().contains("membership_missing"), "MSG-127: {explained:#}");
    scene.serve("C0DOCS", &["--type", "channel"]).await;
    for _ in 0..2 {
        scene.world.loom(&["inbox", "refused", "replay", event, "--json"]).await;
    }
    scene.seen("not served here").await;
    let items = scene.json(&["inbox", "list"]).await;
    let again =
        items["items"].as_array().unwrap().iter().filter(|item| item.to_string().contains("not served here"));
    assert_eq!(again.count(), 1, "MSG-098: one item, however often it is judged again");
}
