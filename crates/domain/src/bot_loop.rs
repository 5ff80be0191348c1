//! The guard against loops of bots (messaging specification 3.9). Counters are stored; this is their arithmetic.

use serde::{Deserialize, Serialize};

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
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
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

    /// The counters after one more accepted message of that kind in this thread.
    #[must_use]
    pub const fn after(self, sender: SenderKind) -> Self {
        match sender {
            SenderKind::Human => BotCounters { consecutive: 0, ..self },
            SenderKind::Bot | SenderKind::App => BotCounters {
                consecutive: self.consecutive.saturating_add(1),
                bot_last_hour: self.bot_last_hour.saturating_add(1),
                bot_last_day: self.bot_last_day.saturating_add(1),
                conversation_last_hour: self.conversation_last_hour.saturating_add(1),
            },
            SenderKind::System | SenderKind::Unknown => self,
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
    fn msg_112_a_bot_is_stopped_after_three_in_a_row_and_a_human_frees_it() {
        let mut counters = BotCounters::default();
        for _ in 0..3 {
            assert_eq!(counters.spent(), None);
            counters = counters.after(SenderKind::Bot);
        }
        assert_eq!(counters.spent(), Some("in_a_row"));
        assert_eq!(counters.after(SenderKind::Human).spent(), None);
    }

    #[test]
    fn msg_112_a_bot_is_stopped_at_its_21st_message_of_an_hour() {
        let mut counters = BotCounters::default();
        for _ in 0..20 {
            assert_eq!(counters.spent(), None);
            counters = counters.after(SenderKind::App).after(SenderKind::Human);
        }
        assert_eq!(counters.spent(), Some("bot_per_hour"));
    }

    #[test]
    fn proactive_sends_stop_after_three_bots() {
        use SenderKind::{Bot, Human};
        assert!(last_are_bots(&[Bot, Bot, Bot, Human]));
        assert!(!last_are_bots(&[Bot, Bot]));
        assert!(!last_are_bots(&[Bot, Human, Bot, Bot]));
    }
}
