//! A busy week that never was, the same at each call.

use loom_report::{
    Apply, ConnectionFact, Delivery, Facts, Item, Lang, Observed, Order, Profile, Refusal, Run, TurnFact,
    WeekStart, Window,
};

/// The week that is told.
pub(super) fn order(profile: &str, lang: Lang) -> Order {
    let now = "2026-11-04T10:00:00.000Z".parse().unwrap();
    Order {
        profile: Profile::builtin(profile).unwrap(),
        window: Window::parse("last-week", "Europe/Berlin", WeekStart::Monday, now).unwrap(),
        lang,
        version: "0.0.0".to_owned(),
    }
}

/// What happened in it; `name` is the name of an Agent.
pub(super) fn facts(name: &str) -> Facts {
    let start = order("weekly", Lang::En).window.start;
    let at = |minutes: i64| start.plus_ms(minutes * 60_000);
    let minutes = |count: i64| (0..count).map(move |n| (n, (n * 7_919) % (7 * 1_440)));
    let agents = [name, "triage", "docs"];
    let agent = |n: i64| agents[usize::try_from(n % 3).unwrap()].to_owned();
    let delivery = |(n, minute): (i64, i64)| Delivery {
        provider: if n % 5 == 0 { "parall" } else { "slack" }.to_owned(),
        agent: agent(n),
        state: match n % 40 {
            0 => "failed",
            1 => "unknown",
            2 => "expired",
            _ => "sent",
        }
        .to_owned(),
        at: at(minute),
        latency_ms: (n % 40 > 2).then(|| u64::try_from(150 + (n * 37) % 900 + (n % 97) * 11).unwrap()),
        code: (n % 40 == 0).then(|| "provider_unavailable".to_owned()),
    };
    let item = |(n, minute): (i64, i64)| Item {
        agent: agent(n),
        state: if n % 9 == 0 { "queued" } else { "handled" }.to_owned(),
        created_at: at(minute),
        closed_at: (n % 9 != 0).then(|| at(minute + 5 + n % 700)),
    };
    let run = |(n, minute): (i64, i64)| Run {
        connector: ["pr_review", "github_public_probe", "finance_probe"][usize::try_from(n % 3).unwrap()]
            .to_owned(),
        at: at(minute),
        ok: n % 11 != 0,
        code: (n % 11 == 0).then(|| "rate_limited".to_owned()),
        duration_ms: u64::try_from(80 + (n * 53) % 4_000).unwrap(),
    };
    let turn = |(n, minute): (i64, i64)| TurnFact {
        agent: agent(n),
        runtime: if n % 3 == 2 { "command" } else { "codex" }.to_owned(),
        state: if n % 17 == 0 { "failed" } else { "completed" }.to_owned(),
        at: at(minute),
        duration_ms: Some(u64::try_from(2_000 + (n * 613) % 60_000).unwrap()),
        tokens: (n % 3 != 2).then(|| u64::try_from(900 + (n * 271) % 9_000).unwrap()),
        cost_micros: None,
    };
    let reasons = ["sender_not_allowed", "membership_missing", "not_mentioned", "duplicate_event"];
    let refusal = |(n, minute): (i64, i64)| Refusal {
        reason: reasons[usize::try_from((n * n) % 7 % 4).unwrap()].to_owned(),
        at: at(minute),
    };
    let sorted = |mut times: Vec<(i64, i64)>| {
        times.sort_by_key(|(n, minute)| (*minute, *n));
        times
    };
    Facts {
        connections: Observed::partial(
            vec![ConnectionFact {
                provider: "slack".into(),
                account: "A0001".into(),
                enabled: true,
                events: 900,
                refused: 120,
                last_event_at: Some(at(10_000)),
                last_sent_at: None,
            }],
            "live states are not part of a window",
        ),
        deliveries: Observed::complete(sorted(minutes(800).collect()).into_iter().map(delivery).collect()),
        items: Observed::complete(sorted(minutes(600).collect()).into_iter().map(item).collect()),
        refusals: Observed::complete(sorted(minutes(120).collect()).into_iter().map(refusal).collect()),
        runs: Observed::complete(sorted(minutes(140).collect()).into_iter().map(run).collect()),
        turns: Observed::complete(sorted(minutes(550).collect()).into_iter().map(turn).collect()),
        applies: Observed::complete(vec![Apply { at: at(3_000), revision: "0a1b2c3".into(), changed: 4 }]),
    }
}
