//! Counters and latencies (platform specification D.3). Labels come from closed lists; no ids, people or text.

use std::sync::Arc;
use std::time::Duration;

use loom_channels::{FaultClass, SendOutcome};
use loom_domain::{Agent, Timestamp, message::Decision, outbox::Settled};
use loom_store::ops::{inbound::Judged, turns::TurnEnd};
use prometheus_client::{
    encoding::text::encode,
    metrics::{counter::Counter, family::Family, histogram::Histogram},
    registry::Registry,
};

type Labels = Vec<(&'static str, String)>;
type Counters = Family<Labels, Counter>;
type Times = Family<Labels, Histogram, fn() -> Histogram>;

fn buckets() -> Histogram {
    Histogram::new([0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 3.0, 10.0, 60.0, 600.0])
}

struct Inner {
    registry: Registry,
    events: Counters,
    refusals: Counters,
    accept_seconds: Times,
    turns: Counters,
    turn_seconds: Times,
    sends: Counters,
    send_seconds: Times,
    settled: Counters,
    task_deaths: Counters,
    hook_refusals: Counters,
}

/// The metrics of a hub. Cheap to clone.
#[derive(Clone)]
pub struct Metrics {
    inner: Arc<Inner>,
}

impl std::fmt::Debug for Metrics {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Metrics")
    }
}

impl Metrics {
    pub(crate) fn new() -> Self {
        let mut registry = Registry::with_prefix("loom");
        let counters = |registry: &mut Registry, name: &str, help: &str| {
            let family = Counters::default();
            registry.register(name, help, family.clone());
            family
        };
        let times = |registry: &mut Registry, name: &str, help: &str| {
            let family = Times::new_with_constructor(buckets);
            registry.register(name, help, family.clone());
            family
        };
        let events = counters(&mut registry, "events", "Events judged");
        let refusals = counters(&mut registry, "refusals", "Events refused");
        let accept_seconds = times(&mut registry, "accept_seconds", "From offer to commit");
        let turns = counters(&mut registry, "turns", "Turns ended");
        let turn_seconds = times(&mut registry, "turn_seconds", "Length of Turns");
        let sends = counters(&mut registry, "send_attempts", "Send attempts");
        let send_seconds = times(&mut registry, "send_seconds", "Length of send attempts");
        let settled = counters(&mut registry, "settled", "Answers of settlement");
        let task_deaths = counters(&mut registry, "task_deaths", "Tasks that died and were started again");
        let hook_refusals = counters(&mut registry, "hook_refusals", "Inbound webhooks refused");
        let inner = Inner {
            registry,
            events,
            refusals,
            accept_seconds,
            turns,
            turn_seconds,
            sends,
            send_seconds,
            settled,
            task_deaths,
            hook_refusals,
        };
        Metrics { inner: Arc::new(inner) }
    }

    pub(crate) fn accepted(&self, provider: &str, took: Duration, judged: &[Judged]) {
        let provider = ("provider", provider.to_owned());
        self.inner.accept_seconds.get_or_create(&vec![provider.clone()]).observe(took.as_secs_f64());
        for one in judged {
            let decision = ("decision", one.decision.as_str().to_owned());
            self.inner.events.get_or_create(&vec![provider.clone(), decision]).inc();
            if one.decision == Decision::Refused {
                self.inner.refusals.get_or_create(&vec![("reason", one.reason.as_str().to_owned())]).inc();
            }
        }
    }

    pub(crate) fn turn(&self, agent: &Agent, end: &TurnEnd, started: Timestamp, now: Timestamp) {
        let status = match end {
            TurnEnd::Completed { .. } => "completed",
            TurnEnd::Failed { .. } => "failed",
            TurnEnd::TimedOut => "timed_out",
            TurnEnd::FateUnknown { .. } => "interrupted",
            TurnEnd::NotStarted { .. } | TurnEnd::NeverAccepted => "not_started",
            TurnEnd::Indeterminate { .. } | TurnEnd::Reattached => "open",
        };
        let runtime = ("runtime", agent.runtime.kind.as_str().to_owned());
        self.inner.turns.get_or_create(&vec![runtime.clone(), ("status", status.to_owned())]).inc();
        let seconds = Duration::from_millis(u64::try_from(now.since_ms(started)).unwrap_or(0)).as_secs_f64();
        self.inner.turn_seconds.get_or_create(&vec![runtime]).observe(seconds);
    }

    pub(crate) fn sent(&self, provider: &str, took: Duration, outcome: &SendOutcome) {
        let class = match outcome {
            SendOutcome::Sent(_) => "sent",
            SendOutcome::Failed(fault) => match fault.class {
                FaultClass::Retryable => "retryable",
                FaultClass::RateLimited => "rate_limited",
                FaultClass::Permanent => "permanent",
                FaultClass::Auth | FaultClass::MissingScope | FaultClass::Config => "auth",
                FaultClass::Quota => "quota",
                FaultClass::Unknown => "unknown",
            },
        };
        let provider = ("provider", provider.to_owned());
        self.inner.sends.get_or_create(&vec![provider.clone(), ("class", class.to_owned())]).inc();
        self.inner.send_seconds.get_or_create(&vec![provider]).observe(took.as_secs_f64());
    }

    pub(crate) fn settled(&self, provider: &str, answer: &Settled) {
        let result = match answer {
            Settled::Found(_) => "found",
            Settled::Absent | Settled::AbsentRead => "absent",
            Settled::NoAnswer => "no_answer",
            Settled::Never => "never",
        };
        self.inner
            .settled
            .get_or_create(&vec![("provider", provider.to_owned()), ("result", result.to_owned())])
            .inc();
    }

    pub(crate) fn hook_refused(&self, reason: &'static str) {
        self.inner.hook_refusals.get_or_create(&vec![("reason", reason.to_owned())]).inc();
    }

    pub(crate) fn task_died(&self, task: &'static str) {
        self.inner.task_deaths.get_or_create(&vec![("task", task.to_owned())]).inc();
    }

    /// The metrics as `OpenMetrics` text.
    pub fn text(&self) -> String {
        let mut out = String::new();
        let _ = encode(&mut out, &self.inner.registry);
        out
    }
}
