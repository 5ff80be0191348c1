//! What a channel reports of its session goes to the health board.

use std::sync::atomic::{AtomicBool, Ordering};

use loom_channels::{Fault, Monitor};
use loom_domain::{ConnectionId, Timestamp, connection::Proof};
use tokio::sync::watch;

use crate::hub::Hub;

/// Reports of one session.
pub(super) struct HubMonitor {
    hub: Hub,
    connection: ConnectionId,
    was_registered: AtomicBool,
    registrations: watch::Sender<Option<Timestamp>>,
}

impl HubMonitor {
    pub(super) fn new(hub: Hub, connection: ConnectionId) -> Self {
        HubMonitor {
            hub,
            connection,
            was_registered: AtomicBool::new(false),
            registrations: watch::Sender::new(None),
        }
    }

    /// Whether the platform confirmed a registration in this session.
    pub(super) fn was_registered(&self) -> bool {
        self.was_registered.load(Ordering::Relaxed)
    }

    /// Time of the newest registration; each new socket is one.
    pub(super) fn registrations(&self) -> watch::Receiver<Option<Timestamp>> {
        self.registrations.subscribe()
    }
}

impl Monitor for HubMonitor {
    fn connecting(&self) {
        self.hub.inner.board.attempting(&self.connection);
    }
    fn registered(&self, sockets: u32) {
        self.was_registered.store(true, Ordering::Relaxed);
        self.hub.inner.board.registered(&self.connection, sockets);
        self.registrations.send_replace(Some(self.hub.now()));
    }
    fn alive(&self, proof: Proof) {
        self.hub.inner.board.alive(&self.connection, proof);
    }
    fn fault(&self, fault: &Fault) {
        self.hub.inner.board.fault(&self.connection, fault);
    }
    fn sockets(&self, open: u32) {
        self.hub.inner.board.sockets(&self.connection, open);
    }
    fn foreign_connection(&self, total: u32) {
        self.hub.inner.board.foreign(&self.connection, total);
    }
}
