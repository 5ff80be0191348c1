//! The session's loop: which socket is current, when it is replaced, when the session ends.

use std::collections::BTreeMap;
use std::future::pending;
use std::sync::Arc;
use std::time::Duration;

use futures_util::future::BoxFuture;
use loom_domain::connection::Proof;
use tokio::sync::mpsc;
use tokio::task::{AbortHandle, JoinSet};
use tokio::time::{Instant, sleep_until, timeout};

use super::super::Inner;
use super::super::wire::{Envelope, Frame, ack};
use super::connect::{Opened, connect, disconnected};
use super::lanes::{Done, Lanes};
use super::link::{self, News, Order};
use crate::{Fault, Session, SessionEnd};

/// News of sockets that may wait for the session.
const NEWS_MAX: usize = 256;
/// Orders that may wait for a socket.
const ORDERS_MAX: usize = 4_096;
/// A replaced socket stays this long to acknowledge what it brought.
const RETIRE_AFTER: Duration = Duration::from_secs(4);
/// The replacement opens this long before the planned recycle.
const RECYCLE_AHEAD_S: u64 = 30;
/// Wait after a replacement that failed while the old socket still lives.
const REPLACE_AGAIN_AFTER: Duration = Duration::from_secs(10);
/// A socket that is recycled sooner than this after its hello is a hasty one.
const HASTY: Duration = Duration::from_secs(5);
/// Each hasty recycle in a row waits this much longer.
const HASTY_WAIT: Duration = Duration::from_millis(10);
/// Longest wait of a hasty recycle.
const HASTY_WAIT_MAX: Duration = Duration::from_secs(5);
/// Wait for the sockets to close when the session ends.
const END_WAIT: Duration = Duration::from_millis(1_500);

/// A socket on its way.
type Opening = BoxFuture<'static, Result<Opened, Fault>>;

struct Link {
    orders: mpsc::Sender<Order>,
    task: AbortHandle,
    /// Envelopes it brought that are not acknowledged yet.
    open: usize,
    retire_at: Option<Instant>,
}

/// A session with at least one socket, or one on its way.
pub(super) struct Serving {
    inner: Arc<Inner>,
    session: Session,
    links: BTreeMap<u64, Link>,
    current: u64,
    adopted_at: Instant,
    hasty: u32,
    replace_at: Option<Instant>,
    replacement: Option<Opening>,
    lanes: Lanes,
    tasks: JoinSet<()>,
    tell: mpsc::Sender<(u64, News)>,
    news: mpsc::Receiver<(u64, News)>,
}

impl Serving {
    pub(super) fn new(inner: Arc<Inner>, session: Session, opened: Opened) -> Self {
        let (tell, news) = mpsc::channel(NEWS_MAX);
        let mut serving = Serving {
            lanes: Lanes::new(Arc::clone(&inner), session.clone()),
            inner,
            session,
            links: BTreeMap::new(),
            current: 0,
            adopted_at: Instant::now(),
            hasty: 0,
            replace_at: None,
            replacement: None,
            tasks: JoinSet::new(),
            tell,
            news,
        };
        serving.adopt(opened);
        serving
    }

    pub(super) async fn run(mut self) -> SessionEnd {
        let end = self.turn().await;
        for link in self.links.values() {
            let _ = link.orders.try_send(Order::Close);
        }
        self.news.close();
        let _ = timeout(END_WAIT, async { while self.tasks.join_next().await.is_some() {} }).await;
        self.session.monitor.sockets(0);
        end
    }

    async fn turn(&mut self) -> SessionEnd {
        let (stop, reconnect) = (self.session.stop.clone(), Arc::clone(&self.session.reconnect));
        let mut forced = Box::pin(reconnect.notified());
        loop {
            let timer = self.links.values().filter_map(|link| link.retire_at).chain(self.replace_at).min();
            let step = tokio::select! {
                () = stop.cancelled() => Err(SessionEnd::Stopped),
                () = &mut forced => Err(SessionEnd::Reconnect),
                Some((id, news)) = self.news.recv() => self.hear(id, news),
                done = self.lanes.next() => self.stored(done),
                opened = wait_for(&mut self.replacement) => self.replaced(opened),
                () = wait_until(timer) => { self.tick(); Ok(()) }
            };
            if let Err(end) = step {
                return end;
            }
        }
    }

    fn hear(&mut self, id: u64, news: News) -> Result<(), SessionEnd> {
        if !self.links.contains_key(&id) {
            return Ok(());
        }
        match news {
            News::Closed(fault) => self.closed(id, fault),
            News::Alive | News::Frame(Frame::Hello(_) | Frame::Other) => {
                self.session.monitor.alive(Proof::Pong);
                Ok(())
            }
            News::Frame(Frame::Disconnect { reason }) => self.asked_to_go(id, &reason),
            News::Frame(Frame::Envelope(envelope)) => {
                self.session.monitor.alive(Proof::Event);
                self.take(id, envelope);
                Ok(())
            }
        }
    }

    fn take(&mut self, id: u64, envelope: Envelope) {
        if self.lanes.push(id, envelope)
            && let Some(link) = self.links.get_mut(&id)
        {
            link.open += 1;
        }
    }

    fn asked_to_go(&mut self, id: u64, reason: &str) -> Result<(), SessionEnd> {
        let ends = matches!(reason, "link_disabled" | "too_many_websockets");
        if ends {
            return Err(SessionEnd::Failed(disconnected(reason)));
        }
        if id == self.current {
            self.replace();
        }
        Ok(())
    }

    fn closed(&mut self, id: u64, fault: Fault) -> Result<(), SessionEnd> {
        self.links.remove(&id);
        self.tell_sockets();
        if id != self.current || self.replacement.is_some() {
            return Ok(());
        }
        Err(SessionEnd::Failed(fault))
    }

    fn stored(&mut self, done: Done) -> Result<(), SessionEnd> {
        let Done::Stored { lane, acks } = done else { return Err(SessionEnd::LeaseLost) };
        for (id, envelope) in acks {
            // A socket that is gone cannot acknowledge; the copy that comes again is known by its key.
            let Some(link) = self.links.get_mut(&id) else { continue };
            let _ = link.orders.try_send(Order::Write(ack(&envelope)));
            link.open = link.open.saturating_sub(1);
            if link.open == 0 && link.retire_at.is_some() {
                let _ = link.orders.try_send(Order::Close);
            }
        }
        self.lanes.proceed(lane);
        Ok(())
    }

    /// Starts the replacement of the current socket; at most two sockets exist.
    fn replace(&mut self) {
        self.replace_at = None;
        if self.replacement.is_some() {
            return;
        }
        let current = self.current;
        self.links.retain(|id, link| {
            if *id != current {
                link.task.abort();
            }
            *id == current
        });
        self.hasty = if self.adopted_at.elapsed() < HASTY { self.hasty.saturating_add(1) } else { 0 };
        let wait = HASTY_WAIT.saturating_mul(self.hasty).min(HASTY_WAIT_MAX);
        let inner = Arc::clone(&self.inner);
        self.replacement = Some(Box::pin(async move {
            tokio::time::sleep(wait).await;
            connect(&inner).await
        }));
    }

    fn replaced(&mut self, opened: Result<Opened, Fault>) -> Result<(), SessionEnd> {
        self.replacement = None;
        match opened {
            Ok(opened) => {
                let now = Instant::now();
                for link in self.links.values_mut() {
                    link.retire_at = Some(now + RETIRE_AFTER);
                    if link.open == 0 {
                        let _ = link.orders.try_send(Order::Close);
                    }
                }
                self.adopt(opened);
                Ok(())
            }
            Err(_) if self.links.contains_key(&self.current) => {
                self.replace_at = Some(Instant::now() + REPLACE_AGAIN_AFTER);
                Ok(())
            }
            Err(fault) => Err(SessionEnd::Failed(fault)),
        }
    }

    /// Makes an opened socket the current one.
    fn adopt(&mut self, opened: Opened) {
        let Opened { socket, hello, early } = opened;
        let id = self.current + 1;
        let (orders, inbox) = mpsc::channel(ORDERS_MAX);
        let task = self.tasks.spawn(link::run(id, socket, self.tell.clone(), inbox));
        self.links.insert(id, Link { orders, task, open: 0, retire_at: None });
        self.current = id;
        self.adopted_at = Instant::now();
        self.replace_at = hello.lifetime_s.map(|s| Instant::now() + Duration::from_secs(ahead(s)));
        let ours = u32::try_from(self.links.len()).unwrap_or(u32::MAX);
        self.session.monitor.registered(ours);
        self.tell_sockets();
        if hello.connections > ours {
            self.session.monitor.foreign_connection(hello.connections);
        }
        for envelope in early {
            self.take(id, envelope);
        }
    }

    fn tell_sockets(&self) {
        self.session.monitor.sockets(u32::try_from(self.links.len()).unwrap_or(u32::MAX));
    }

    fn tick(&mut self) {
        let now = Instant::now();
        for link in self.links.values_mut().filter(|link| link.retire_at.is_some_and(|at| at <= now)) {
            // The close takes at most a second; then its news removes the link.
            link.retire_at = None;
            let _ = link.orders.try_send(Order::Close);
        }
        if self.replace_at.is_some_and(|at| at <= now) {
            self.replace();
        }
    }
}

/// Seconds after the hello at which the replacement opens.
fn ahead(lifetime_s: u64) -> u64 {
    lifetime_s.saturating_sub(RECYCLE_AHEAD_S).max(lifetime_s / 2).max(1)
}

async fn wait_for(replacement: &mut Option<Opening>) -> Result<Opened, Fault> {
    match replacement {
        Some(opening) => opening.await,
        None => pending().await,
    }
}

async fn wait_until(at: Option<Instant>) {
    match at {
        Some(at) => sleep_until(at).await,
        None => pending().await,
    }
}
