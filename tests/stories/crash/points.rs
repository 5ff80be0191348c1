//! Kills at the named fail points.

use std::time::Duration;

use tokio::time::Instant;

use super::channel;
use super::stream::{Asked, Stream};

/// Every named point of the product.
const POINTS: &[&str] = &[
    "inbound.before_commit",
    "store.commit.before",
    "store.commit.after",
    "turn.before_start",
    "turn.after_start",
    "turn.finish.before_commit",
    "send.before_commit",
    "part.claim.before_commit",
    "part.step.before_commit",
    "part.step.after_commit",
    "part.after_deliver",
    "part.finish.before_commit",
];
/// How often a point is passed before it kills.
const PASSES: [u32; 2] = [0, 2];
/// Longest way to a point.
const REACH_LIMIT: Duration = Duration::from_secs(180);

/// Starts the hub with each point armed, feeds it until it dies there, and starts it again. Gives the kills.
pub(super) async fn kill_at_each(stream: &mut Stream) -> usize {
    let mut kills = 0;
    for point in POINTS {
        for passes in PASSES {
            stream.scene.world.kill().await;
            let armed = format!("{point}=kill:{passes}");
            let answers = stream.scene.world.try_up_with(&[("LOOM_FAILPOINTS", &armed)]).await;
            if answers {
                feed_until_dead(stream, point).await;
            }
            let end = stream.scene.world.hub.as_mut().unwrap().ended();
            assert_eq!(end, Some(-9), "{point}: it died of the point");
            stream.scene.world.kill().await;
            stream.scene.world.up().await;
            stream.tend().await;
            finish_sends(stream).await;
            kills += 1;
        }
    }
    kills
}

async fn feed_until_dead(stream: &mut Stream, point: &str) {
    let deadline = Instant::now() + REACH_LIMIT;
    while stream.scene.world.hub.as_mut().unwrap().ended().is_none() {
        assert!(Instant::now() < deadline, "{point} was not reached");
        stream.ask();
        if point == "send.before_commit" {
            send(stream).await;
        }
        tokio::time::sleep(Duration::from_millis(300)).await;
    }
}

/// A send by hand; its token is the key, so that it can be repeated until it is stored.
async fn send(stream: &mut Stream) {
    let token = format!("m{:05}", stream.asked.len());
    stream.asked.push(Asked { token, channel: channel(0), thread: None });
    let last = stream.asked.len() - 1;
    repeat(stream, last).await;
}

/// Repeats the sends by hand that may not have been stored.
async fn finish_sends(stream: &mut Stream) {
    let by_hand = |asked: &Asked| asked.channel == channel(0) && asked.thread.is_none();
    let open: Vec<usize> = (0..stream.asked.len()).filter(|n| by_hand(&stream.asked[*n])).collect();
    for n in open {
        repeat(stream, n).await;
    }
}

async fn repeat(stream: &Stream, n: usize) {
    let asked = &stream.asked[n];
    let world = &stream.scene.world;
    let memberships =
        world.all(loom_api::routes::MEMBERSHIPS, &serde_json::json!({})).await.unwrap_or_default();
    let membership = memberships.iter().find(|found| found["conversationId"] == asked.channel.as_str());
    let Some(membership) = membership.and_then(|found| found["id"].as_str()) else { return };
    let text = format!("answer {}", asked.token);
    let words = [
        "integration",
        "send",
        "--from",
        "echo",
        "--to",
        membership,
        "--idempotency-key",
        &asked.token,
        "--async",
        "--body",
        &text,
        "--json",
    ];
    world.loom(&words).await;
}
