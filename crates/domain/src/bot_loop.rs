//! The guard against loops of bots (messaging specification 3.9). The store counts; what it may come to is said here.

use crate::message::SenderKind;

/// Accepted bot messages in a row per Address, conversation and thread.
pub const CONSECUTIVE_MAX: u32 = 3;
/// Accepted messages of one bot at one Address in an hour.
pub const BOT_PER_HOUR_MAX: u32 = 20;
/// Accepted messages of one bot at one Address in 24 hours.
pub const BOT_PER_DAY_MAX: u32 = 100;
/// Accepted bot messages in one conversation in an hour.
pub const CONVERSATION_PER_HOUR_MAX: u32 = 60;

/// Accepted bot messages, counted before the present one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct BotCounters {
    /// In a row in this thread, since the last human message.
    pub consecutive: u32,
    /// Of this bot at this Address in the last hour.
    pub bot_last_hour: u32,
    /// Of this bot at this Address in the last 24 hours.
    pub bot_last_day: u32,
    /// Of all bots in this conversation in the last hour.
    pub conversation_last_hour: u32,
}

impl BotCounters {
    /// The spent budget, if any.
    #[must_use]
    pub const fn spent(&self) -> Option<&'static str> {
        if self.consecutive >= CONSECUTIVE_MAX {
            Some("in_a_row")
        } else if self.bot_last_hour >= BOT_PER_HOUR_MAX {
            Some("bot_per_hour")
        } else if self.bot_last_day >= BOT_PER_DAY_MAX {
            Some("bot_per_day")
        } else if self.conversation_last_hour >= CONVERSATION_PER_HOUR_MAX {
            Some("conversation_per_hour")
        } else {
            None
        }
    }
}

/// Whether a proactive send would feed a loop: the newest messages of the conversation are all bots'.
#[must_use]
pub fn last_are_bots(newest_first: &[SenderKind]) -> bool {
    let newest = newest_first.iter().take(CONSECUTIVE_MAX as usize);
    newest.clone().count() == CONSECUTIVE_MAX as usize
        && newest.into_iter().all(|kind| matches!(kind, SenderKind::Bot | SenderKind::App))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn msg_112_a_bot_is_stopped_when_one_budget_is_spent() {
        let of = |consecutive, bot_last_hour, bot_last_day, conversation_last_hour| {
            BotCounters { consecutive, bot_last_hour, bot_last_day, conversation_last_hour }.spent()
        };
        assert_eq!(of(2, 19, 99, 59), None);
        assert_eq!(of(3, 0, 0, 0), Some("in_a_row"));
        assert_eq!(of(0, 20, 0, 0), Some("bot_per_hour"));
        assert_eq!(of(0, 0, 100, 0), Some("bot_per_day"));
        assert_eq!(of(0, 0, 0, 60), Some("conversation_per_hour"));
    }

    #[test]
    fn proactive_sends_stop_after_three_bots() {
        use SenderKind::{Bot, Human};
        assert!(last_are_bots(&[Bot, Bot, Bot, Human]));
        assert!(!last_are_bots(&[Bot, Bot]));
        assert!(!last_are_bots(&[Bot, Human, Bot, Bot]));
    }
}
