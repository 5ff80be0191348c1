//! The book of approvals: the store's gates.

use async_trait::async_trait;
use loom_capabilities::GateBook;
use loom_domain::{Principal, Result, gate::Outcome};

use crate::hub::Hub;

/// The gates of a hub.
pub(super) struct Book(Hub);

impl Book {
    pub(super) fn new(hub: Hub) -> Self {
        Book(hub)
    }
}

#[async_trait]
impl GateBook for Book {
    async fn begin(&self, gate_id: &str, call_digest: &str, run_id: &str) -> Result<()> {
        let act = self.0.act(Principal::Hub);
        let (gate, digest, run) = (gate_id.parse()?, call_digest.to_owned(), run_id.to_owned());
        self.0.store().begin_gate(act, gate, digest, run).await?;
        let _ = loom_store::fail::point("gate.before_send");
        Ok(())
    }

    async fn end(&self, gate_id: &str, outcome: Outcome, code: Option<String>) -> Result<()> {
        let _ = loom_store::fail::point("gate.after_send");
        let act = self.0.act(Principal::Hub);
        self.0.store().end_gate(act, gate_id.parse()?, outcome, code).await.map(drop)
    }
}
