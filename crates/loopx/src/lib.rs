//! The library that programs outside Loom build on: the door out, the value connectors, and Turns of them.
//!
//! What it is not: it holds nothing of its own; it gives existing rooms their public names.
//!
//! A Turn runs connectors in order and keeps their payloads. Without input a connector tells about itself, and needs
//! neither network nor hub:
//!
//! ```
//! # fn main() -> Result<(), loopx::LoopXError> {
//! use loopx::turn::Turn;
//!
//! let mut turn = Turn::new();
//! turn.add_connector("github_public_probe");
//! turn.run()?;
//! assert_eq!(turn.payload()["connector_id"], "github_public_probe");
//! # Ok(())
//! # }
//! ```
//!
//! Whatever fails carries a code that stays the same:
//!
//! ```
//! use loopx::turn::Turn;
//!
//! let error = Turn::new().add_connector("github_public_prob").run().unwrap_err();
//! assert_eq!(error.code(), "connector_not_found");
//! assert_eq!(error.detail["nearest"][0], "github_public_probe");
//! ```
//!
//! The same door that connectors use is open to programs; an answer other than 2xx is an error:
//!
//! ```
//! # async fn doc(url: &str) -> Result<(), loopx::LoopXError> {
//! use loopx::transport::{Options, http_post};
//!
//! let answer = http_post(url, &serde_json::json!({"text": "hello"}), Options::default()).await?;
//! println!("{}", answer.status());
//! # Ok(())
//! # }
//! # let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
//! # // An address of this machine is refused before any socket.
//! # assert_eq!(runtime.block_on(doc("http://127.0.0.1:9/")).unwrap_err().code(), "egress_denied");
//! ```
//!
//! Facts of a service come typed. The SEC wants a contact: `LOOM_SEC_CONTACT`, or [`finance_probe::Query::contact`]:
//!
//! ```no_run
//! # async fn doc() -> Result<(), loopx::LoopXError> {
//! use loopx::value_connectors::finance_probe::fetch_filing;
//!
//! let filing = fetch_filing("AAPL").await?;
//! println!("{} of {}", filing.form, filing.filing_date);
//! # Ok(())
//! # }
//! ```
//!
//! [`finance_probe::Query::contact`]: value_connectors::finance_probe::Query::contact
//!
//! Programs that run as they stand are in the folder `examples`.

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
