//! One running Turn: turns codex's messages into events and, at the end, into the outcome.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde_json::{Value, json};
use tokio::sync::mpsc;
use tokio::time::{Instant, sleep_until};

use crate::clocks::Clocks;
use crate::{
    Decision, Denial, ErrClass, HostCtx, NativeTurn, RuntimeError, ToolState, TurnEvent, TurnOutcome,
    TurnStatus, Usage,
};

use super::connection::{Incoming, exited};
use super::history::{self, text};
use super::permission;
use super::server::AppServer;
use super::session::{Questions, lock};
use super::usage::Meter;

/// Completed messages kept for the final answer.
const SEEN_MAX: usize = 256;
/// Items kept to show what a question is about.
const ITEMS_MAX: usize = 64;

/// How a Turn ended, seen from an interrupt.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum End {
    /// By itself.
    Natural,
    /// By an interrupt.
    Clean,
    /// With its process.
    Killed,
}

/// A stop under way.
struct Stopping {
    error: Option<RuntimeError>,
    kill_at: Instant,
    killed: bool,
}

/// The task of one Turn.
pub(super) struct TurnTask {
    server: Arc<AppServer>,
    thread: String,
    native: NativeTurn,
    host: HostCtx,
    events: mpsc::Sender<TurnEvent>,
    clocks: Clocks,
    questions: Arc<Mutex<Questions>>,
    meter: Arc<Mutex<Meter>>,
    started: bool,
    stopping: Option<Stopping>,
    seen: Vec<Value>,
    items: HashMap<String, Value>,
    denials: Vec<Denial>,
    usage: Option<Usage>,
    retries: u32,
}

impl TurnTask {
    #[expect(
        clippy::too_many_arguments,
        reason = "plain parts of one task, named at the one place that has them"
    )]
    pub(super) fn new(
        server: Arc<AppServer>,
        thread: String,
        native: NativeTurn,
        host: HostCtx,
        events: mpsc::Sender<TurnEvent>,
        clocks: Clocks,
        questions: Arc<Mutex<Questions>>,
        meter: Arc<Mutex<Meter>>,
    ) -> Self {
        TurnTask {
            server,
            thread,
            native,
            host,
            events,
            clocks,
            questions,
            meter,
            started: false,
            stopping: None,
            seen: Vec::new(),
            items: HashMap::new(),
            denials: Vec::new(),
            usage: None,
            retries: 0,
        }
    }

    /// Runs until the Turn is over or its process is gone.
    pub(super) async fn run(
        mut self,
        mut incoming: mpsc::Receiver<Incoming>,
        mut stop: mpsc::Receiver<Duration>,
    ) -> (TurnOutcome, End) {
        let outcome = loop {
            let wake = match &self.stopping {
                Some(stopping) if stopping.killed => None,
                Some(stopping) => Some(stopping.kill_at),
                None => Some(self.clocks.next()),
            };
            tokio::select! {
                message = incoming.recv() => match message {
                    Some(Incoming::Notification { method, params }) => {
                        if let Some(outcome) = self.notified(&method, &params).await {
                            break outcome;
                        }
                    }
                    Some(Incoming::Request { id, method, params }) => self.asked(&id, &method, &params).await,
                    None => break TurnOutcome::failed(TurnStatus::Lost, exited()),
                },
                Some(grace) = stop.recv(), if self.stopping.is_none() => self.begin_stop(None, grace).await,
                () = at(wake), if wake.is_some() => self.woken().await,
            }
        };
        self.finish(outcome)
    }

    fn finish(self, mut outcome: TurnOutcome) -> (TurnOutcome, End) {
        self.server.connection.unsubscribe(&self.thread);
        lock(&self.questions).clear();
        let mut end = End::Natural;
        if let Some(stopping) = self.stopping {
            if stopping.killed {
                end = End::Killed;
                outcome = TurnOutcome::of(TurnStatus::Interrupted);
            } else if outcome.status == TurnStatus::Interrupted {
                end = End::Clean;
            }
            if outcome.status == TurnStatus::Interrupted {
                outcome.error = stopping.error;
            }
        }
        outcome.denials = self.denials;
        outcome.usage = self.usage;
        (outcome, end)
    }

    async fn woken(&mut self) {
        let now = Instant::now();
        if let Some(stopping) = self.stopping.as_mut() {
            if now >= stopping.kill_at {
                stopping.killed = true;
                self.server.kill().await;
            }
        } else if let Some(clock) = self.clocks.expired(now) {
            let error = RuntimeError::new(ErrClass::Timeout, clock.message());
            self.begin_stop(Some(error), self.host.limits.grace).await;
        }
    }

    async fn begin_stop(&mut self, error: Option<RuntimeError>, grace: Duration) {
        self.stopping = Some(Stopping { error, kill_at: Instant::now() + grace, killed: false });
        // Before `turn/started` an interrupt is refused although the Turn will run; it is sent then.
        if self.started {
            self.send_interrupt().await;
        }
    }

    async fn send_interrupt(&self) {
        let params = json!({"threadId": self.thread, "turnId": self.native.0});
        self.server.connection.post("turn/interrupt", params).await;
    }

    async fn notified(&mut self, method: &str, params: &Value) -> Option<TurnOutcome> {
        self.clocks.heard(Instant::now());
        match method {
            "turn/started" if self.is_ours(params) => {
                self.started = true;
                if self.stopping.is_some() {
                    self.send_interrupt().await;
                }
            }
            "turn/completed" if self.is_ours(params) => {
                let turn = params.get("turn").unwrap_or(&Value::Null);
                return Some(history::outcome(turn, &self.seen, &self.host.redact));
            }
            "item/started" => self.item_started(params.get("item").unwrap_or(&Value::Null)),
            "item/completed" => self.item_completed(params.get("item").unwrap_or(&Value::Null)),
            "item/agentMessage/delta" => {
                let (item, delta) = (text(params, "itemId").to_owned(), text(params, "delta").to_owned());
                self.emit(TurnEvent::Text { item, delta });
            }
            "thread/tokenUsage/updated" => self.count(params),
            "error" if params.get("willRetry").and_then(Value::as_bool) == Some(true) => {
                self.retries = self.retries.saturating_add(1);
                let reason = (self.host.redact)(text(params.get("error").unwrap_or(&Value::Null), "message"));
                self.emit(TurnEvent::Retrying { attempt: self.retries, after: Duration::ZERO, reason });
            }
            "warning" => self.emit(TurnEvent::Notice((self.host.redact)(text(params, "message")))),
            "serverRequest/resolved" => self.resolved(params.get("requestId").unwrap_or(&Value::Null)),
            _ => self.emit(TurnEvent::Alive),
        }
        None
    }

    fn is_ours(&self, params: &Value) -> bool {
        params.get("turn").is_some_and(|turn| text(turn, "id") == self.native.0)
    }

    fn item_started(&mut self, item: &Value) {
        let id = text(item, "id").to_owned();
        if let Some(name) = tool(item) {
            self.emit(TurnEvent::Tool { id: id.clone(), name, state: ToolState::Started });
            if self.items.len() < ITEMS_MAX {
                self.items.insert(id, item.clone());
            }
        }
    }

    fn item_completed(&mut self, item: &Value) {
        let id = text(item, "id").to_owned();
        if let Some(name) = tool(item) {
            self.items.remove(&id);
            let status = text(item, "status");
            if status == "declined" {
                self.denials.push(Denial { what: (self.host.redact)(&name) });
            }
            let state = if status == "completed" { ToolState::Completed } else { ToolState::Failed };
            self.emit(TurnEvent::Tool { id, name, state });
        } else if text(item, "type") == "agentMessage" {
            if self.seen.len() >= SEEN_MAX {
                self.seen.remove(0);
            }
            self.seen.push(item.clone());
            self.emit(TurnEvent::Alive);
        }
    }

    fn count(&mut self, params: &Value) {
        let token_usage = params.get("tokenUsage").unwrap_or(&Value::Null);
        if text(params, "turnId") == self.native.0 {
            let usage = lock(&self.meter).update(token_usage);
            self.usage = Some(usage);
            self.emit(TurnEvent::Usage(usage));
        } else {
            lock(&self.meter).note(token_usage);
        }
    }

    async fn asked(&mut self, id: &Value, method: &str, params: &Value) {
        let item = self.items.get(text(params, "itemId"));
        let Some((question, request)) = permission::read(id, method, params, item) else {
            self.server.connection.refuse(id).await;
            return;
        };
        let key = request.id.0.clone();
        lock(&self.questions).insert(key.clone(), (Arc::clone(&self.server), question.clone()));
        self.clocks.wait_for_owner(true, Instant::now());
        if self.events.try_send(TurnEvent::Permission(request)).is_err() {
            // Nobody will answer, so the answer is no.
            lock(&self.questions).remove(&key);
            let no = permission::result(&question, Decision::Deny);
            let _ = self.server.connection.respond(id, no).await;
            self.clocks.wait_for_owner(false, Instant::now());
        }
    }

    fn resolved(&mut self, id: &Value) {
        let mut questions = lock(&self.questions);
        questions.remove(&id.to_string());
        if questions.is_empty() {
            self.clocks.wait_for_owner(false, Instant::now());
        }
    }

    /// Events are for status; a listener that does not keep up misses some.
    fn emit(&self, event: TurnEvent) {
        let _ = self.events.try_send(event);
    }
}

/// Name of the tool an item stands for, when it stands for one.
fn tool(item: &Value) -> Option<String> {
    match text(item, "type") {
        "commandExecution" => Some(text(item, "command").to_owned()),
        "fileChange" => Some("file change".to_owned()),
        "mcpToolCall" => Some(format!("{}/{}", text(item, "server"), text(item, "tool"))),
        "dynamicToolCall" => Some(text(item, "tool").to_owned()),
        "webSearch" => Some("web search".to_owned()),
        _ => None,
    }
}

async fn at(moment: Option<Instant>) {
    if let Some(moment) = moment {
        sleep_until(moment).await;
    }
}
