//! Ids of requests, as they stand in answers and logs.

use loom_domain::{Timestamp, encode_ulid, ulid_value};

/// Makes an id from the time and fresh random bits.
pub(crate) fn new(now: Timestamp) -> String {
    let mut random = [0; 16];
    // Without randomness the id is still useful in a log; it is no secret.
    let _ = getrandom::fill(&mut random);
    format!("req_{}", encode_ulid(ulid_value(now.0, u128::from_ne_bytes(random))))
}
