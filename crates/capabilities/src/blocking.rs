//! Work with files, beside the tasks that serve.

use loom_domain::{Error, Result};

/// Runs what reads or writes files where it keeps no task waiting. It runs to its end also when nobody waits any longer.
pub async fn blocking<T: Send + 'static>(work: impl FnOnce() -> Result<T> + Send + 'static) -> Result<T> {
    tokio::task::spawn_blocking(work).await.map_err(Error::internal)?
}
