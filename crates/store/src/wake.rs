//! Wake-ups after commits: register interest, then query.

use tokio::sync::watch;

/// What changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Topic {
    /// Items that a dispatcher may take.
    Inbox = 0,
    /// Parts that a courier may take.
    Outbox = 1,
    /// The event feed.
    Feed = 2,
    /// Agents, Connections, Addresses or Memberships.
    Config = 3,
}

const TOPICS: [Topic; 4] = [Topic::Inbox, Topic::Outbox, Topic::Feed, Topic::Config];

/// A set of topics.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct WakeSet(u8);

impl WakeSet {
    pub(crate) fn add(&mut self, topic: Topic) {
        self.0 |= 1 << topic as u8;
    }
    pub(crate) fn is_empty(self) -> bool {
        self.0 == 0
    }
    pub(crate) fn bits(self) -> u8 {
        self.0
    }
    pub(crate) fn from_bits(bits: u8) -> Self {
        WakeSet(bits)
    }
    fn has(self, topic: Topic) -> bool {
        self.0 & (1 << topic as u8) != 0
    }
}

/// The waiters.
#[derive(Debug)]
pub(crate) struct Wake {
    topics: [watch::Sender<u64>; 4],
}

impl Wake {
    pub(crate) fn new() -> Self {
        Wake { topics: std::array::from_fn(|_| watch::Sender::new(0)) }
    }

    pub(crate) fn fire(&self, set: WakeSet) {
        for (topic, sender) in TOPICS.iter().zip(&self.topics) {
            if set.has(*topic) {
                sender.send_modify(|count| *count += 1);
            }
        }
    }

    pub(crate) fn subscribe(&self, topic: Topic) -> watch::Receiver<u64> {
        let [inbox, outbox, feed, config] = &self.topics;
        match topic {
            Topic::Inbox => inbox.subscribe(),
            Topic::Outbox => outbox.subscribe(),
            Topic::Feed => feed.subscribe(),
            Topic::Config => config.subscribe(),
        }
    }
}
