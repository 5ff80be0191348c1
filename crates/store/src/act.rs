//! Who acts, when, and with which randomness: the arguments of every mutation.

use std::sync::Arc;

use loom_domain::{Principal, Timestamp};

/// Source of 128 random bits.
pub type Entropy = Arc<dyn Fn() -> u128 + Send + Sync>;

/// Who acts, when, and with which randomness.
#[derive(Clone)]
pub struct Act {
    /// Who acts.
    pub principal: Principal,
    /// Wall clock at the call.
    pub now: Timestamp,
    /// Randomness for new ids.
    pub entropy: Entropy,
}

impl std::fmt::Debug for Act {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Act({} at {})", self.principal, self.now)
    }
}
