//! The crash story: a hub that is killed again and again under a stream of messages and lost provider answers.
//!
//! In the end what people saw and what the store says are the same: every accepted message answered once.
//! `LOOM_CRASH_POINTS` sets the number of random kills, `LOOM_SEED` what is random.

mod check;
mod points;
mod random;
mod stream;

use loom_twins::slack::{ChannelKind, ChannelSpec, Config};

use crate::harness::postgres::Postgres;
use crate::harness::{Scene, Setup};
use random::Random;
use stream::Stream;

/// Random kills where nothing else is asked for.
const POINTS: u32 = 25;
/// Channels beside the scene's own.
const CHANNELS: u32 = 12;
/// Answers the token of the last message in its envelope.
const AGENT: &str = "#!/bin/sh
token=$(sed -n 's/^| //p' | grep -o 'm[0-9][0-9][0-9][0-9][0-9]' | tail -n 1)
echo \"answer $token\"
";

fn number(name: &str, otherwise: u32) -> u32 {
    std::env::var(name).ok().map_or(otherwise, |text| text.parse().expect("a number"))
}

fn channel(n: u32) -> String {
    format!("C0CRASH{n:02}")
}

async fn scene(variables: Vec<(String, String)>) -> Scene {
    let mut setup = Setup { variables, ..Setup::default() };
    let Config { channels, .. } = &mut setup.slack;
    channels.extend((0..CHANNELS).map(|n| {
        let members = ["U0ANN", "U0BOB", "U0BOT"];
        ChannelSpec::new(&channel(n), &format!("crash-{n}"), ChannelKind::Channel, &members)
    }));
    setup.settings = "[outbox]\nconversations_in_flight = 16\n".to_owned();
    let scene = Scene::with(setup, AGENT).await;
    for n in 0..CHANNELS {
        scene.serve(&channel(n), &["--type", "channel", "--outbound-policy", "proactive"]).await;
    }
    scene
}

async fn story(store: &str, variables: Vec<(String, String)>) {
    let seed = u64::from(number("LOOM_SEED", 1));
    let mut stream = Stream::new(scene(variables).await, Random::new(seed));
    let kills = number("LOOM_CRASH_POINTS", POINTS);
    for _ in 0..kills {
        stream.random_kill().await;
    }
    let named = points::kill_at_each(&mut stream).await;
    let figures = check::agreement(&mut stream).await;
    eprintln!(
        "crash story on {store}: seed {seed}, {kills} random kills, {named} at named points, {figures}"
    );
    figures.assert_nothing_lost_doubled_or_unknown();
}

#[tokio::test(flavor = "multi_thread")]
async fn p_1_p_2_p_3_msg_132_msg_182_crash_story_on_sqlite() {
    story("sqlite", Vec::new()).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn p_1_p_2_p_3_msg_132_msg_182_crash_story_on_postgres() {
    let cluster = tokio::task::spawn_blocking(Postgres::start).await.unwrap();
    story("postgres", vec![("LOOM_STORE__URL".into(), cluster.url())]).await;
    drop(cluster);
}
