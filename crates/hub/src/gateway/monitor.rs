//! What a channel reports of its session goes to the health board.

use std::sync::atomic::{AtomicBool, Ordering};

use loom_channels::{Fault, Monitor};
use loom_domain::{ConnectionId, connection::Proof};
use tokio::sync::watch;

use crate::hub::Hub;

/// Reports of one session.
pub(super) struct HubMonitor {
    hub: Hub,
    connection: ConnectionId,
    was_registered: AtomicBool,
    registrations: watch::Sender<u64>,
}

impl HubMonitor {
    pub(super) fn new(hub: Hub, connection: ConnectionId) -> Self {
        HubMonitor {
            hub,
            connection,
            was_registered: AtomicBool::new(false),
            registrations: watch::Sender::new(0),
        }
    }

    /// Whether the platform confirmed a registration in this session.
    pub(super) fn was_registered(&self) -> bool {
        self.was_registered.load(Ordering::Relaxed)
    }

    /// Counts registrations; each new socket is one.
    pub(super) fn registrations(&self) -> watch::Receiver<u64> {
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
        self.registrations.send_modify(|count| *count += 1);
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
