//! A channel in memory that does what a test told it, and remembers every call.

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use bytes::Bytes;
use loom_channels::{
    CandidateInfo, Channel, CheckTarget, Fault, FaultClass, FetchedFile, HistoryPage, HistoryQuery, Identity,
    Mark, Pacing, Progress, SendOutcome, SendPart, SentIds, Session, SessionEnd, SettlePart, Settlement,
};
use loom_domain::{ConversationType, Error, TextFormat, Timestamp, connection::Proof, outbox::Step};
use tokio::sync::Semaphore;

/// What was delivered.
#[derive(Debug, Clone)]
pub(super) struct Sent {
    pub(super) conversation: String,
    pub(super) text: Option<String>,
    pub(super) file: Option<String>,
    pub(super) message: String,
}

#[derive(Default)]
pub(super) struct State {
    pub(super) session: Option<Session>,
    pub(super) sessions: usize,
    pub(super) calls: usize,
    pub(super) attempts: Vec<String>,
    pub(super) sent: Vec<Sent>,
    pub(super) faults: HashMap<String, VecDeque<Fault>>,
    pub(super) marks: Vec<(String, Mark)>,
    pub(super) files: HashMap<String, Bytes>,
    /// Conversations whose history was asked for.
    pub(super) histories: Vec<String>,
    /// Since when, each time.
    pub(super) since: Vec<Option<Timestamp>>,
    /// Sessions that panic.
    pub(super) panics: usize,
    /// Sessions fail at once.
    pub(super) is_down: bool,
    /// Sessions never register; heartbeats only.
    pub(super) is_mute: bool,
    gates: HashMap<String, Arc<Semaphore>>,
}

/// The channel.
pub(super) struct Script {
    account: String,
    pub(super) state: Mutex<State>,
}

impl Script {
    pub(super) fn new(account: &str) -> Arc<Script> {
        Arc::new(Script { account: account.to_owned(), state: Mutex::default() })
    }

    pub(super) fn with<T>(&self, look: impl FnOnce(&mut State) -> T) -> T {
        look(&mut self.state.lock().unwrap())
    }

    /// Holds every send of a conversation (or the call `verify`) until it is opened.
    pub(super) fn hold(&self, what: &str) {
        self.with(|s| s.gates.insert(what.to_owned(), Arc::new(Semaphore::new(0))));
    }

    pub(super) fn open(&self, what: &str) {
        if let Some(gate) = self.with(|s| s.gates.remove(what)) {
            gate.close();
        }
    }

    /// Fails the next send to a conversation, or the call `history of` it.
    pub(super) fn fail_next(&self, conversation: &str, fault: Fault) {
        self.with(|s| s.faults.entry(conversation.to_owned()).or_default().push_back(fault));
    }

    pub(super) fn texts(&self, conversation: &str) -> Vec<String> {
        let of = |sent: &Sent| sent.conversation == conversation;
        self.with(|s| s.sent.iter().filter(|sent| of(sent)).filter_map(|sent| sent.text.clone()).collect())
    }

    pub(super) fn calls(&self) -> usize {
        self.with(|s| s.calls)
    }

    pub(super) fn tries(&self, conversation: &str) -> usize {
        self.with(|s| s.attempts.iter().filter(|c| *c == conversation).count())
    }

    pub(super) fn is_served(&self) -> bool {
        self.with(|s| s.session.is_some())
    }

    async fn pass_gate(&self, what: &str) {
        if let Some(gate) = self.with(|s| s.gates.get(what).cloned()) {
            let _ = gate.acquire().await;
        }
    }

    fn count(&self) {
        self.with(|s| s.calls += 1);
    }
}

#[async_trait]
impl Channel for Script {
    fn provider(&self) -> &'static str {
        "slack"
    }

    fn pacing(&self) -> Pacing {
        Pacing { conversation_per_s: 20, conversation_burst: 20, connection_per_s: 50 }
    }

    fn split(&self, text: &str, format: TextFormat, chunks_max: usize) -> Result<Vec<String>, Error> {
        loom_channels::split("slack", text, format, chunks_max)
    }

    fn check_file(&self, _: &str, _: &str, _: u64) -> Result<(), Error> {
        Ok(())
    }

    async fn verify(&self) -> Result<Identity, Fault> {
        self.count();
        self.pass_gate("verify").await;
        Ok(Identity {
            account: self.account.clone(),
            scope: Some("T1".to_owned()),
            identity: "U0BOT".to_owned(),
            own_ids: vec!["U0BOT".to_owned()],
            ..Identity::default()
        })
    }

    async fn serve(&self, session: Session) -> SessionEnd {
        self.count();
        let (panics, is_down, is_mute) = self.with(|s| {
            let panics = s.panics > 0;
            s.panics = s.panics.saturating_sub(1);
            s.sessions += 1;
            (panics, s.is_down, s.is_mute)
        });
        assert!(!panics, "the reader met something new");
        if is_down {
            return SessionEnd::Failed(Fault::new(FaultClass::Retryable, "network", "no route"));
        }
        match is_mute {
            true => session.monitor.alive(Proof::Heartbeat),
            false => session.monitor.registered(1),
        }
        self.with(|s| s.session = Some(session.clone()));
        let end = tokio::select! {
            () = session.stop.cancelled() => SessionEnd::Stopped,
            () = session.reconnect.notified() => SessionEnd::Reconnect,
        };
        self.with(|s| s.session = None);
        end
    }

    async fn deliver(&self, part: SendPart, progress: &dyn Progress) -> SendOutcome {
        self.count();
        self.with(|s| s.attempts.push(part.conversation_id.clone()));
        self.pass_gate(&part.conversation_id).await;
        if let Err(error) = progress.step(Step::Publish, None).await {
            return SendOutcome::Failed(Fault::new(
                FaultClass::Retryable,
                error.code.as_str(),
                error.message,
            ));
        }
        self.with(|s| {
            let faults = s.faults.get_mut(&part.conversation_id);
            if let Some(fault) = faults.and_then(VecDeque::pop_front) {
                return SendOutcome::Failed(fault);
            }
            let message = format!("{}-{}", self.account, s.sent.len() + 1);
            s.sent.push(Sent {
                conversation: part.conversation_id.clone(),
                text: part.text.clone(),
                file: part.file.as_ref().map(|file| file.name.clone()),
                message: message.clone(),
            });
            let file_id = part.file.is_some().then(|| format!("F-{message}"));
            SendOutcome::Sent(SentIds { message_id: Some(message), file_id, ..SentIds::default() })
        })
    }

    async fn settle(&self, _: SettlePart) -> Settlement {
        self.count();
        Settlement::Unanswered(Fault::new(FaultClass::Retryable, "network", "no answer"))
    }

    async fn history(&self, query: HistoryQuery) -> Result<HistoryPage, Fault> {
        self.count();
        self.with(|s| {
            s.histories.push(query.conversation_id.clone());
            s.since.push(query.since);
            let faults = s.faults.get_mut(&format!("history of {}", query.conversation_id));
            faults.and_then(VecDeque::pop_front).map_or(Ok(HistoryPage::default()), Err)
        })
    }

    async fn fetch_attachment(&self, reference: &str, _: u64) -> Result<FetchedFile, Fault> {
        self.count();
        let bytes = self.with(|s| s.files.get(reference).cloned());
        let missing = || Fault::new(FaultClass::Permanent, "file_not_found", "no such file");
        bytes.map(|bytes| FetchedFile { bytes, mime_type: None }).ok_or_else(missing)
    }

    async fn check_target(&self, _: CheckTarget) -> Result<bool, Fault> {
        self.count();
        Ok(true)
    }

    async fn mark(&self, _: &str, message: &str, mark: Mark) -> Result<(), Fault> {
        self.count();
        self.with(|s| s.marks.push((message.to_owned(), mark)));
        Ok(())
    }

    async fn candidates(&self) -> Result<Vec<CandidateInfo>, Fault> {
        self.count();
        Ok(Vec::new())
    }

    async fn conversation(&self, id: &str) -> Result<CandidateInfo, Fault> {
        self.count();
        Ok(CandidateInfo {
            conversation_id: id.to_owned(),
            conversation_type: ConversationType::Channel,
            display_name: id.to_owned(),
            description: String::new(),
            bot_is_member: true,
            actor_id: None,
        })
    }

    async fn actor_name(&self, _: &str) -> Option<String> {
        None
    }
}
