//! The handle of a running twin.

use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use serde_json::Value;
use tokio::net::TcpListener;

use super::action::{self, Action};
use super::shared::Shared;
use super::world::World;
use super::{Config, Counters, Fault, Knobs, Ledger, Post, Posted, Request, TwinError};
use super::{http, people};

/// A running Slack twin; it stops when dropped.
#[derive(Debug)]
pub struct SlackTwin {
    shared: Arc<Shared>,
    address: SocketAddr,
}

impl SlackTwin {
    /// Starts a twin on 127.0.0.1.
    pub async fn start(config: Config) -> Result<Self, TwinError> {
        let port = config.port;
        let bind = |source| TwinError::Bind { port, source };
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, port)).await.map_err(bind)?;
        let address = listener.local_addr().map_err(bind)?;
        let shared = Shared::new(World::new(config, format!("http://{address}")));
        shared.spawn(http::serve(Arc::clone(&shared), listener));
        shared.spawn(Arc::clone(&shared).pump());
        Ok(Self { shared, address })
    }

    /// Base of the Web API, `http://127.0.0.1:PORT/api/`.
    pub fn base_url(&self) -> String {
        format!("http://{}/api/", self.address)
    }

    /// `http://127.0.0.1:PORT`, the base of `/twin/…`.
    pub fn origin(&self) -> String {
        format!("http://{}", self.address)
    }

    /// The bound address.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Stops every task and waits for them.
    pub async fn shutdown(self) {
        self.shared.cancel.cancel();
        self.shared.tasks.close();
        self.shared.tasks.wait().await;
    }

    /// Does any [`Action`]; the answer is what the HTTP side would send.
    pub fn act(&self, action: Action) -> Result<Value, TwinError> {
        self.shared.change(|world| action::apply(world, action))
    }

    /// Writes a message as a person or another bot.
    pub fn post(&self, post: Post) -> Result<Posted, TwinError> {
        self.shared.change(|world| people::post(world, post))
    }

    /// Plans a failure.
    pub fn fault(&self, fault: Fault) {
        self.shared.change(|world| world.faults.push(fault));
    }

    /// Plans that the next call of `method` acts and then loses its answer.
    pub fn drop_next_answer(&self, method: &str) {
        self.fault(Fault::once(method, super::FaultAction::DropAnswer));
    }

    /// Changes the lasting switches.
    pub fn knobs(&self, change: impl FnOnce(&mut Knobs)) {
        self.shared.change(|world| change(&mut world.knobs));
    }

    /// Ends every socket with an announced reason.
    pub fn disconnect(&self, reason: &str) {
        // Cannot fail: it names nothing of the world.
        let _ = self.act(Action::Disconnect { reason: reason.into() });
    }

    /// What people see.
    pub fn ledger(&self) -> Ledger {
        self.shared.read(World::ledger)
    }

    /// The log of HTTP requests, oldest first.
    pub fn requests(&self) -> Vec<Request> {
        self.shared.read(|world| world.requests.iter().cloned().collect())
    }

    /// Requests of one method.
    pub fn requests_of(&self, method: &str) -> Vec<Request> {
        self.shared.read(|world| world.requests.iter().filter(|r| r.method == method).cloned().collect())
    }

    /// Calls, sockets, acknowledgements.
    pub fn counters(&self) -> Counters {
        self.shared.read(World::counters)
    }

    /// Waits until the predicate gives a value, looking again after each change of the world.
    pub async fn wait_for<T>(
        &self,
        limit: Duration,
        mut look: impl FnMut(&Self) -> Option<T>,
    ) -> Result<T, TwinError> {
        let mut changes = self.shared.changes();
        let watch = async {
            loop {
                changes.mark_unchanged();
                if let Some(found) = look(self) {
                    return found;
                }
                if changes.changed().await.is_err() {
                    std::future::pending::<()>().await;
                }
            }
        };
        tokio::time::timeout(limit, watch).await.map_err(|_| TwinError::Timeout(limit))
    }

    /// Waits until at least `count` sockets are open.
    pub async fn wait_for_sockets(&self, count: usize, limit: Duration) -> Result<(), TwinError> {
        self.wait_for(limit, |twin| (twin.counters().sockets_open >= count).then_some(())).await
    }

    /// Waits until people see at least `count` standing messages of the app, and returns the ledger.
    pub async fn wait_for_app_messages(&self, count: usize, limit: Duration) -> Result<Ledger, TwinError> {
        self.wait_for(limit, |twin| Some(twin.ledger()).filter(|l| l.by_app().count() >= count)).await
    }
}

impl Drop for SlackTwin {
    fn drop(&mut self) {
        self.shared.cancel.cancel();
    }
}
