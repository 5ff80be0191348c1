//! Randomness of the process.

use std::sync::Arc;

use loom_store::Entropy;

/// 128 random bits from the operating system at each call.
pub(crate) fn entropy() -> Entropy {
    Arc::new(|| {
        let mut bytes = [0_u8; 16];
        getrandom::fill(&mut bytes).expect("the operating system gives randomness");
        u128::from_le_bytes(bytes)
    })
}
