//! Custody: one lane per conversation keeps its order, lanes run side by side.

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;
use std::time::Duration;

use tokio::task::{Id, JoinSet};
use tokio::time::{Instant, sleep, timeout_at};

use super::super::Inner;
use super::super::translate::{self, Known, Own};
use super::super::wire::Envelope;
use crate::{Fault, FaultClass, IngressFault, Session};

/// Envelopes that may wait; more are left unacknowledged and come again.
const WAITING_MAX: usize = 10_000;
/// Envelopes that one offer takes.
const BATCH_MAX: usize = 50;
/// Waits before an offer is repeated.
const RETRY_WAITS_S: [u64; 5] = [1, 2, 5, 10, 30];
/// Budget of the lookups of a batch for its conversation's kind, within the 3 s of an acknowledgement.
const KIND_LIMIT: Duration = Duration::from_secs(1);

/// An envelope with the socket it came from.
struct Job {
    link: u64,
    envelope: Envelope,
}

/// What became of a batch.
pub(super) enum Done {
    /// On disk: acknowledge these envelopes on these sockets.
    Stored {
        lane: String,
        acks: Vec<(u64, String)>,
    },
    LeaseLost,
}

/// The lanes of one session. Dropping them stops all work.
pub(super) struct Lanes {
    inner: Arc<Inner>,
    session: Session,
    waiting: HashMap<String, VecDeque<Job>>,
    count: usize,
    running: JoinSet<Done>,
    /// Lane of each running batch.
    lane_of: HashMap<Id, String>,
}

impl Lanes {
    pub(super) fn new(inner: Arc<Inner>, session: Session) -> Self {
        Lanes {
            inner,
            session,
            waiting: HashMap::new(),
            count: 0,
            running: JoinSet::new(),
            lane_of: HashMap::new(),
        }
    }

    /// Takes an envelope. False: there is no room, it must not be acknowledged.
    pub(super) fn push(&mut self, link: u64, envelope: Envelope) -> bool {
        if self.count >= WAITING_MAX {
            return false;
        }
        let lane = translate::lane(&envelope).to_owned();
        let job = Job { link, envelope };
        if let Some(queue) = self.waiting.get_mut(&lane) {
            queue.push_back(job);
            self.count += 1;
        } else {
            self.waiting.insert(lane.clone(), VecDeque::new());
            self.start(lane, vec![job]);
        }
        true
    }

    /// The next finished batch; pends while none runs.
    pub(super) async fn next(&mut self) -> Done {
        match self.running.join_next_with_id().await {
            Some(Ok((id, done))) => {
                self.lane_of.remove(&id);
                done
            }
            // A batch that died is not acknowledged and comes again; its lane goes on.
            Some(Err(error)) => {
                let lane = self.lane_of.remove(&error.id()).unwrap_or_default();
                Done::Stored { lane, acks: Vec::new() }
            }
            None => std::future::pending().await,
        }
    }

    /// Starts what waits behind a finished batch.
    pub(super) fn proceed(&mut self, lane: String) {
        let Some(queue) = self.waiting.get_mut(&lane) else { return };
        let batch: Vec<Job> = queue.drain(..queue.len().min(BATCH_MAX)).collect();
        self.count = self.count.saturating_sub(batch.len());
        if batch.is_empty() {
            self.waiting.remove(&lane);
        } else {
            self.start(lane, batch);
        }
    }

    fn start(&mut self, lane: String, batch: Vec<Job>) {
        let (inner, session) = (Arc::clone(&self.inner), self.session.clone());
        let name = lane.clone();
        let task = self.running.spawn(async move { store(&inner, &session, lane, batch).await });
        self.lane_of.insert(task.id(), name);
    }
}

async fn store(inner: &Inner, session: &Session, lane: String, batch: Vec<Job>) -> Done {
    let mut events = Vec::new();
    let kinds_until = Instant::now() + KIND_LIMIT;
    for job in &batch {
        events.extend(read(inner, session, &job.envelope, kinds_until).await);
    }
    let mut tries = 0;
    while !events.is_empty() {
        match session.ingress.offer(events.clone()).await {
            Ok(_) => break,
            Err(IngressFault::LeaseLost) => return Done::LeaseLost,
            Err(IngressFault::Retry { after_ms }) => {
                let planned = RETRY_WAITS_S.get(tries).or(RETRY_WAITS_S.last()).copied().unwrap_or(1);
                sleep(Duration::from_millis(after_ms.clamp(1, 30_000)).max(Duration::from_secs(planned)))
                    .await;
                tries += 1;
            }
        }
    }
    Done::Stored { lane, acks: batch.into_iter().map(|job| (job.link, job.envelope.id)).collect() }
}

async fn read(
    inner: &Inner,
    session: &Session,
    envelope: &Envelope,
    kinds_until: Instant,
) -> Vec<loom_domain::InboundEvent> {
    let own = inner.known_own().unwrap_or_default();
    note(inner, session, envelope, &own);
    if let Some(channel) = translate::kind_wanted(envelope)
        && Instant::now() < kinds_until
    {
        // An unknown kind is no obstacle: it counts as not a DM.
        let _ = timeout_at(kinds_until, inner.kind_of(channel)).await;
    }
    let name = |id: &str| inner.names.value(id);
    let kind = |id: &str| inner.kinds.value(id);
    translate::translate(envelope, &Known { own: &own, name: &name, kind: &kind })
}

/// Remembers what an event tells besides itself.
fn note(inner: &Inner, session: &Session, envelope: &Envelope, own: &Own) {
    let Some(event) = envelope.payload.get("event") else { return };
    let channel = translate::lane(envelope);
    if let Some(kind) = translate::told_kind(event).filter(|_| !channel.is_empty()) {
        inner.kinds.put(channel, Some(kind));
    }
    for (file, ts) in translate::own_files(event, own) {
        inner.echoes.put(channel, file, ts);
    }
    if translate::voids_token(event) {
        session.monitor.fault(&Fault::new(
            FaultClass::Auth,
            "token_revoked",
            "slack says that the token is void",
        ));
    }
}
