//! Secrets and tokens: what never leaves, and what ends.

use std::time::Duration;

use bytes::Bytes;
use loom_api::request::{Content, Send};
use loom_domain::{Code, Principal, TokenId, artifact::Direction, inbox::State};
use loom_secrets::Secret;
use loom_store::ops::tokens::Token;

use super::house::House;

const VALUE: &str = "correct horse battery 7Qx2";

/// ID-19: an exact secret stops a send, also where a cut into messages would part it, and in a file.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn id_19_a_secret_over_a_cut_or_in_a_file_is_never_sent() {
    let house = House::up().await;
    let (platform, _, address) = house.furnish("cat >/dev/null; echo done", &["C1"]).await;
    house.hub().redactor().register(&Secret::new(VALUE));
    let membership = house.channel(&address, "C1").await;
    for before in [0, 2_995, 3_990, 11_990, 39_990] {
        let text = format!("{}{VALUE} and more words", "word ".repeat(before / 5));
        let send = Send {
            from: Some("docs".to_owned()),
            membership_id: Some(membership.to_string()),
            idempotency_key: Some(format!("k{before}")),
            content: Content { text, ..Content::default() },
            ..Send::default()
        };
        let refused = house.hub().send(Principal::Owner, send, Duration::ZERO).await.unwrap_err();
        assert_eq!(refused.code, Code::SecretInContent, "after {before} bytes");
    }
    let bytes = Bytes::from(format!("key = {VALUE}\n"));
    let refused = house
        .hub()
        .put_artifact(house.act(), "a.txt", None, Direction::Out, bytes.clone())
        .await
        .unwrap_err();
    assert_eq!(refused.code, Code::SecretInContent);
    assert!(platform.with(|s| s.sent.is_empty()));
    house.end().await;
}

/// ID-19: the same for a Turn's own answer: people never see it, and the owner is asked.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn id_19_an_answer_with_a_secret_over_a_cut_is_never_sent() {
    let house = House::up().await;
    let script = format!("cat >/dev/null; yes word | head -n 800 | tr '\\n' ' '; echo '{VALUE}'");
    let (platform, _, _) = house.furnish(&script, &["C1"]).await;
    house.hub().redactor().register(&Secret::new(VALUE));
    let item = house.say(&platform, "C1", "1.1").await;
    house.item_is(&item, State::NeedsDecision).await;
    assert!(platform.with(|s| s.sent.is_empty()));
    house.end().await;
}

/// ID-6: the token of a runtime ends with the hub that made it, however that hub ended.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn id_6_tokens_of_runtimes_end_with_their_hub() {
    let mut house = House::up().await;
    let (platform, _, _) = house.furnish("cat >/dev/null; echo done", &["C1"]).await;
    let item = house.say(&platform, "C1", "1.1").await;
    house.item_is(&item, State::Handled).await;
    let agent = house.store().agent_by("docs".to_owned()).await.unwrap();
    let live =
        async |house: &House| house.store().tokens_of(agent.id.to_string(), false).await.unwrap().len();
    assert_eq!(live(&house).await, 1);
    house.hub().stop(Duration::ZERO).await;
    assert_eq!(live(&house).await, 0);
    let left = Token {
        id: TokenId::new(1, 1),
        seq: 0,
        kind: "agent".to_owned(),
        subject: agent.id.to_string(),
        sha256: String::new(),
        scopes: Vec::new(),
        created_at: house.now(),
        expires_at: None,
        revoked_at: None,
    };
    house.store().put_token(house.act(), left).await.unwrap();
    house.start();
    super::house::until("old tokens are revoked", || async { (live(&house).await == 0).then_some(()) }).await;
    house.end().await;
}

/// ID-6: when dispatch is started again in the same process, Agents get new tokens and do not keep void ones.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn id_6_dispatch_that_starts_again_makes_tokens_anew() {
    let house = House::up().await;
    let (platform, _, _) = house.furnish("cat >/dev/null; echo done", &["C1"]).await;
    let agent = house.store().agent_by("docs".to_owned()).await.unwrap();
    for message in ["1.1", "1.2"] {
        let item = house.say(&platform, "C1", message).await;
        house.item_is(&item, State::Handled).await;
        assert_eq!(house.store().tokens_of(agent.id.to_string(), false).await.unwrap().len(), 1);
        house.hub().inner.runtimes.revoke_earlier_tokens(house.hub()).await;
        assert!(house.store().tokens_of(agent.id.to_string(), false).await.unwrap().is_empty());
    }
    house.end().await;
}

/// Tokens that no process can hold any more are forgotten by the redactor; the one before the live one is not.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_redactor_knows_the_two_newest_tokens_of_an_agent() {
    let house = House::up().await;
    house.furnish("cat >/dev/null; echo done", &["C1"]).await;
    let agent = house.store().agent_by("docs".to_owned()).await.unwrap();
    let runtimes = &house.hub().inner.runtimes;
    let file = runtimes.host(&agent).unwrap().token_file.unwrap();
    let mut made = Vec::new();
    for _ in 0..4 {
        runtimes.ensure_token(house.hub(), &agent).await.unwrap();
        made.push(std::fs::read_to_string(&file).unwrap());
        house.pass_s(13 * 3_600);
    }
    let known: Vec<_> = made.iter().map(|token| house.hub().redactor().holds_exact(token)).collect();
    assert_eq!(known, [false, false, true, true]);
    house.end().await;
}
