//! Reads: who, where, what was said before, files.

use loom_domain::ConversationType;
use loom_twins::slack::{Action, Fault as Planned, FaultAction, Post};

use super::stage::Stage;
use crate::{Channel, CheckTarget, FaultClass, HistoryQuery};

/// MSG-026, MSG-027: the identity and the scopes that lack.
#[tokio::test]
async fn msg_027_a_missing_scope_is_named() {
    let stage = Stage::start().await;
    let identity = stage.channel.verify().await.unwrap();
    assert_eq!((identity.account.as_str(), identity.identity.as_str()), ("A0001", "slack://T0001/U0BOT"));
    assert_eq!(identity.own_ids, ["U0BOT", "B0BOT", "A0001"]);
    assert!(identity.missing_scopes.is_empty(), "{:?}", identity.missing_scopes);
    stage.twin.act(Action::RemoveScope { scope: "files:write".into() }).unwrap();
    assert_eq!(stage.channel.verify().await.unwrap().missing_scopes, ["files:write"]);
}

#[tokio::test]
async fn candidates_tell_kind_and_membership() {
    let stage = Stage::start().await;
    let found = stage.channel.candidates().await.unwrap();
    let of = |id: &str| found.iter().find(|candidate| candidate.conversation_id == id).unwrap();
    assert_eq!(
        (of("C0GENERAL").conversation_type, of("C0GENERAL").bot_is_member),
        (ConversationType::Channel, true)
    );
    assert!(!of("C0RANDOM").bot_is_member);
    assert_eq!(of("G0PRIVATE").conversation_type, ConversationType::Group);
    assert_eq!(of("G0MPIM").conversation_type, ConversationType::GroupDm);
    assert_eq!(
        (of("D0ANN").conversation_type, of("D0ANN").actor_id.as_deref()),
        (ConversationType::Dm, Some("U0ANN"))
    );
    let one = stage.channel.conversation("G0MPIM").await.unwrap();
    assert_eq!(one.conversation_type, ConversationType::GroupDm);
    assert_eq!(stage.channel.conversation("C0NONE").await.unwrap_err().class, FaultClass::Permanent);
}

/// MSG-116: a thread is read alone, root first, the newest replies kept.
#[tokio::test]
async fn msg_116_a_thread_is_read_alone() {
    let stage = Stage::start().await;
    let root = stage.twin.post(Post::new("C0GENERAL", "U0ANN", "root")).unwrap();
    for n in 0..20 {
        stage.twin.post(Post::new("C0GENERAL", "U0BOB", &format!("r{n}")).in_thread(&root.ts)).unwrap();
        stage.twin.post(Post::new("C0GENERAL", "U0BOB", &format!("other {n}"))).unwrap();
    }
    let query = |limit| HistoryQuery {
        conversation_id: "C0GENERAL".into(),
        thread_id: Some(root.ts.clone()),
        after: None,
        since: None,
        limit,
    };
    let page = stage.channel.history(query(4)).await.unwrap();
    let texts: Vec<&str> = page.messages.iter().map(|message| message.event.content.text.as_str()).collect();
    assert_eq!((texts, page.truncated), (vec!["root", "r17", "r18", "r19"], true));
    assert_eq!(stage.channel.history(query(100)).await.unwrap().messages.len(), 21);
}

/// MSG-124: history comes oldest first and says when there is more.
#[tokio::test]
async fn msg_124_history_is_oldest_first() {
    let stage = Stage::start().await;
    let first = stage.twin.post(Post::new("C0DOCS", "U0ANN", "m0")).unwrap();
    for n in 1..250 {
        stage.twin.post(Post::new("C0DOCS", "U0ANN", &format!("m{n}"))).unwrap();
    }
    let query = |after: Option<String>, limit| HistoryQuery {
        conversation_id: "C0DOCS".into(),
        thread_id: None,
        after,
        since: None,
        limit,
    };
    let page = stage.channel.history(query(Some(first.ts), 1_000)).await.unwrap();
    let texts: Vec<String> = page.messages.into_iter().map(|message| message.event.content.text).collect();
    assert_eq!(texts, (1..250).map(|n| format!("m{n}")).collect::<Vec<_>>());
    assert!(!page.truncated);
    let newest = stage.channel.history(query(None, 2)).await.unwrap();
    let texts: Vec<&str> =
        newest.messages.iter().map(|message| message.event.content.text.as_str()).collect();
    assert_eq!((texts, newest.truncated), (vec!["m248", "m249"], true));
}

/// MSG-124: replies in threads that began before the outage are caught up too.
#[tokio::test]
async fn msg_124_replies_to_older_roots_are_caught_up() {
    let stage = Stage::start().await;
    let root = stage.twin.post(Post::new("C0DOCS", "U0ANN", "root")).unwrap();
    let heard = stage.twin.post(Post::new("C0DOCS", "U0ANN", "heard")).unwrap();
    stage.twin.post(Post::new("C0DOCS", "U0ANN", "m1")).unwrap();
    stage.twin.post(Post::new("C0DOCS", "U0BOB", "reply").in_thread(&root.ts)).unwrap();
    stage.twin.post(Post::new("C0DOCS", "U0ANN", "m2")).unwrap();
    let query = HistoryQuery {
        conversation_id: "C0DOCS".into(),
        thread_id: None,
        after: Some(heard.ts),
        since: None,
        limit: 50,
    };
    let page = stage.channel.history(query).await.unwrap();
    let texts: Vec<&str> = page.messages.iter().map(|message| message.event.content.text.as_str()).collect();
    assert_eq!((texts, page.truncated), (vec!["m1", "reply", "m2"], false));
    assert_eq!(page.messages[1].event.conversation.thread_id, Some(root.ts));
}

/// MSG-124: however many threads went on during the outage, each missed reply is caught up.
#[tokio::test]
async fn msg_124_replies_in_many_threads_are_caught_up() {
    const THREADS: usize = 25;
    let stage = Stage::start().await;
    let roots: Vec<_> =
        (0..THREADS).map(|_| stage.twin.post(Post::new("C0DOCS", "U0ANN", "root")).unwrap().ts).collect();
    let heard = stage.twin.post(Post::new("C0DOCS", "U0ANN", "heard")).unwrap();
    for root in &roots {
        stage.twin.post(Post::new("C0DOCS", "U0BOB", "reply").in_thread(root)).unwrap();
    }
    let query = |limit| HistoryQuery {
        conversation_id: "C0DOCS".into(),
        thread_id: None,
        after: Some(heard.ts.clone()),
        since: None,
        limit,
    };
    let page = stage.channel.history(query(500)).await.unwrap();
    let threads: Vec<_> =
        page.messages.iter().map(|message| message.event.conversation.thread_id.clone().unwrap()).collect();
    assert_eq!((threads, page.truncated), (roots, false));
    let page = stage.channel.history(query(5)).await.unwrap();
    assert_eq!((page.messages.len(), page.truncated), (5, true));
}

/// MSG-124: a thread that grew by more than a page during the outage is caught up to its end.
#[tokio::test]
async fn msg_124_a_long_thread_is_caught_up_whole() {
    let stage = Stage::start().await;
    let root = stage.twin.post(Post::new("C0DOCS", "U0ANN", "root")).unwrap();
    let heard = stage.twin.post(Post::new("C0DOCS", "U0ANN", "heard")).unwrap();
    for n in 0..250 {
        stage.twin.post(Post::new("C0DOCS", "U0BOB", &format!("r{n}")).in_thread(&root.ts)).unwrap();
    }
    for (limit, first, is_cut) in [(500, 0, false), (100, 150, true)] {
        let query = HistoryQuery {
            conversation_id: "C0DOCS".into(),
            thread_id: None,
            after: Some(heard.ts.clone()),
            since: None,
            limit,
        };
        let page = stage.channel.history(query).await.unwrap();
        let texts: Vec<_> = page.messages.into_iter().map(|message| message.event.content.text).collect();
        assert_eq!(texts, (first..250).map(|n| format!("r{n}")).collect::<Vec<_>>());
        assert_eq!(page.truncated, is_cut);
    }
}

/// MSG-124: a thread that went away while it was caught up hides no other message.
#[tokio::test]
async fn msg_124_a_thread_that_went_away_hides_nothing_else() {
    let stage = Stage::start().await;
    let roots = ["one", "two"].map(|text| stage.twin.post(Post::new("C0DOCS", "U0ANN", text)).unwrap());
    let heard = stage.twin.post(Post::new("C0DOCS", "U0ANN", "heard")).unwrap();
    stage.twin.post(Post::new("C0DOCS", "U0ANN", "m1")).unwrap();
    for root in &roots {
        stage.twin.post(Post::new("C0DOCS", "U0BOB", "reply").in_thread(&root.ts)).unwrap();
    }
    let code = "thread_not_found".to_owned();
    stage.twin.fault(Planned::once("conversations.replies", FaultAction::Error { code }));
    let query = HistoryQuery {
        conversation_id: "C0DOCS".into(),
        thread_id: None,
        after: Some(heard.ts),
        since: None,
        limit: 50,
    };
    let page = stage.channel.history(query).await.unwrap();
    let texts: Vec<&str> = page.messages.iter().map(|message| message.event.content.text.as_str()).collect();
    assert_eq!((texts, stage.calls("conversations.replies")), (vec!["m1", "reply"], 2));
}

/// MSG-172: a thread or message of another conversation is no target.
#[tokio::test]
async fn msg_172_a_target_of_another_conversation_is_refused() {
    let stage = Stage::start().await;
    let root = stage.twin.post(Post::new("C0GENERAL", "U0ANN", "root")).unwrap();
    let reply = stage.twin.post(Post::new("C0GENERAL", "U0ANN", "reply").in_thread(&root.ts)).unwrap();
    let check = async |channel: &str, thread: Option<&str>, message: Option<&str>| {
        let target = CheckTarget {
            conversation_id: channel.into(),
            thread_id: thread.map(str::to_owned),
            message_id: message.map(str::to_owned),
        };
        stage.channel.check_target(target).await.unwrap()
    };
    assert!(check("C0GENERAL", Some(&root.ts), None).await);
    assert!(check("C0GENERAL", Some(&root.ts), Some(&reply.ts)).await);
    assert!(check("C0GENERAL", None, Some(&root.ts)).await);
    assert!(!check("C0DOCS", Some(&root.ts), None).await);
    assert!(!check("C0DOCS", None, Some(&root.ts)).await);
    assert!(!check("C0GENERAL", Some("not-a-ts"), None).await);
}

/// MSG-113, MSG-114: files come with the token; a login page is a missing scope, a large one is refused.
#[tokio::test]
async fn msg_113_files_are_fetched_and_a_login_page_is_none() {
    let stage = Stage::start().await;
    let posted =
        stage.twin.post(Post::new("C0GENERAL", "U0ANN", "file").with_file("a.pdf", b"%PDF-1.4 x")).unwrap();
    let id = posted.file_ids[0].as_str();
    let file = stage.channel.fetch_attachment(id, 1_000).await.unwrap();
    assert_eq!(&file.bytes[..], b"%PDF-1.4 x");
    assert_eq!(stage.channel.fetch_attachment(id, 5).await.unwrap_err().code, "too_large");
    stage.twin.knobs(|knobs| knobs.file_login_page = true);
    assert_eq!(stage.channel.fetch_attachment(id, 1_000).await.unwrap_err().class, FaultClass::MissingScope);
    assert_eq!(
        stage.channel.fetch_attachment("F0NONE", 1_000).await.unwrap_err().class,
        FaultClass::Permanent
    );
}
