//! Limits of items that wait for approval of their sender (messaging specification 3.4).

/// Open pending items of one sender.
pub const ITEMS_PER_SENDER_MAX: u32 = 3;
/// Senders with open pending items, per Address.
pub const SENDERS_MAX: u32 = 50;
/// Open pending items, per Address.
pub const ITEMS_PER_ADDRESS_MAX: u32 = 200;
/// Kept text of a pending message, bytes.
pub const TEXT_BYTES_MAX: usize = 8_192;
/// Life of a pending item, milliseconds (7 days).
pub const EXPIRY_MS: i64 = 7 * 86_400_000;

/// Open pending items, counted before the present message.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct PendingCounts {
    /// Of this sender at this Address.
    pub of_sender: u32,
    /// Senders with open pending items at this Address.
    pub senders: u32,
    /// Of all senders at this Address.
    pub of_address: u32,
}

impl PendingCounts {
    /// Whether one more item would break a cap.
    #[must_use]
    pub const fn is_full(&self) -> bool {
        let new_sender = self.of_sender == 0;
        self.of_sender >= ITEMS_PER_SENDER_MAX
            || (new_sender && self.senders >= SENDERS_MAX)
            || self.of_address >= ITEMS_PER_ADDRESS_MAX
    }
}

/// The part of a text that is kept while its sender waits.
#[must_use]
pub fn kept_text(text: &str) -> &str {
    crate::text::prefix(text, TEXT_BYTES_MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn msg_095_caps_of_pending_items() {
        let counts = |of_sender, senders, of_address| PendingCounts { of_sender, senders, of_address };
        assert!(!counts(2, 50, 199).is_full());
        assert!(counts(3, 1, 3).is_full(), "the 4th message of one stranger");
        assert!(counts(0, 50, 50).is_full(), "the 51st stranger");
        assert!(!counts(1, 50, 60).is_full(), "a stranger who waits already is no new one");
        assert!(counts(1, 2, 200).is_full());
    }

    #[test]
    fn kept_text_ends_at_a_character() {
        let long = "é".repeat(TEXT_BYTES_MAX);
        assert_eq!(kept_text(&long).len(), TEXT_BYTES_MAX);
        assert_eq!(kept_text(&format!("a{long}")).len(), TEXT_BYTES_MAX - 1);
    }
}
