//! The handle of a running twin.

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;

use super::serve::{FaultAction, Platform};
use super::world::World;
use crate::front::{Fault, Front, Request};

/// A running Lark twin; it stops when dropped.
#[derive(Debug)]
pub struct LarkTwin {
    platform: Arc<Platform>,
    front: Front,
}

impl LarkTwin {
    /// Starts one on 127.0.0.1; port 0 takes a free one.
    pub async fn start(port: u16, world: World) -> io::Result<Self> {
        let platform = Arc::new(Platform::new(world));
        let front = Front::start(port, Arc::clone(&platform)).await?;
        Ok(Self { platform, front })
    }

    /// The bound address.
    pub fn address(&self) -> SocketAddr {
        self.front.address()
    }

    /// `http://127.0.0.1:PORT`, in the place of the platform's base.
    pub fn base_url(&self) -> String {
        format!("http://{}", self.address())
    }

    /// App id and secret.
    pub fn app(&self) -> (String, String) {
        self.platform.world().app.clone()
    }

    /// Changes what is on the platform.
    pub fn edit(&self, change: impl FnOnce(&mut World)) {
        change(&mut self.platform.world());
    }

    /// What is on the platform now.
    pub fn world(&self) -> World {
        self.platform.world().clone()
    }

    /// Every token that was given out ends now.
    pub fn end_tokens(&self) {
        self.platform.end_tokens();
    }

    /// Plans a failure.
    pub fn fault(&self, fault: Fault<FaultAction>) {
        self.platform.faults.plan(fault);
    }

    /// The log of requests, oldest first.
    pub fn requests(&self) -> Vec<Request> {
        self.platform.ledger.requests()
    }

    /// Empties the log.
    pub fn clear_requests(&self) {
        self.platform.ledger.clear();
    }

    /// Stops every task and waits for them.
    pub async fn shutdown(self) {
        self.front.shutdown().await;
    }
}
