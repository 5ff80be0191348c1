//! The library that programs outside Loom build on: the door out, the value connectors, and Turns of them.
//!
//! What it is not: it holds nothing of its own; it gives existing rooms their public names.

pub use loom_domain::Error as LoopXError;
pub use loom_transport as transport;

/// The value connectors, each a module of its own.
pub mod value_connectors {
    pub use loom_capabilities::{
        Capability, Catalog, LoomError, NoObserver, Observer, Payload, RunRequest, World, finance_probe,
        github_public_probe, github_reply_monitor, plan, run,
    };
}

/// Turns of connectors.
pub mod turn {
    pub use loom_capabilities::{OnError, Turn, TurnOutcome};
}

#[cfg(test)]
mod tests {
    /// CAP-125: the names of the library are those that programs use.
    #[test]
    fn cap_125_the_public_names_resolve() {
        let mut turn = crate::turn::Turn::new();
        turn.add_connector("github_public_probe");
        turn.run().unwrap();
        assert_eq!(turn.payload()["connector_id"], "github_public_probe");
        let _ = crate::transport::Transport::builder();
        drop(crate::value_connectors::finance_probe::fetch_filing("aapl"));
    }
}
