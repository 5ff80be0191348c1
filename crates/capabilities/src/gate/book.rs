//! Where approvals are kept and used up.

use async_trait::async_trait;
use loom_domain::{Result, gate::Outcome};

/// The owner's approvals. The hub keeps the one book there is, in its store.
#[async_trait]
pub trait GateBook: Send + Sync {
    /// Uses the approval of a gate for the write of a run. When it returns, the intent is on disk.
    async fn begin(&self, gate_id: &str, call_digest: &str, run_id: &str) -> Result<()>;
    /// Writes down what became of the write.
    async fn end(&self, gate_id: &str, outcome: Outcome, code: Option<String>) -> Result<()>;
}
