//! Why the twin itself (not the simulated API) refuses.

/// A mistake of whoever drives the twin.
#[derive(Debug, thiserror::Error)]
pub enum TwinError {
    /// The port could not be bound.
    #[error("cannot listen on 127.0.0.1:{port}: {source}")]
    Bind {
        /// Wanted port.
        port: u16,
        /// Cause.
        source: std::io::Error,
    },
    /// An id or argument that does not exist in this world.
    #[error("{0}")]
    Unknown(String),
    /// A wait that ran out of time.
    #[error("nothing matched within {0:?}")]
    Timeout(std::time::Duration),
}

impl TwinError {
    pub(super) fn unknown(kind: &str, id: &str) -> Self {
        Self::Unknown(format!("no {kind} {id:?}"))
    }
}
