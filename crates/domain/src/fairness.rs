//! Whose turn it is (messaging specification 4.1): round robin over conversations, then over threads inside a
//! conversation, least recently served first; FIFO by `seq` inside a key.
//!
//! Marks are `seq`s. What was never served counts as served when its oldest ready item came in, so neither an
//! old conversation nor a new one can starve.

use std::collections::HashMap;

use crate::{AddressId, AgentId};

/// Key of owner input.
pub const OWNER_KEY: &str = "owner/-";

/// Key of a platform item: Address, conversation and thread.
#[must_use]
pub fn queue_key(address: &AddressId, conversation: &str, thread: Option<&str>) -> String {
    format!("{address}:{}/{}", escaped(conversation), escaped(thread.unwrap_or("-")))
}

/// Key of internal messages of one sending Agent.
#[must_use]
pub fn agent_key(sender: &AgentId) -> String {
    format!("{sender}/-")
}

/// The conversation of a key: what is served in turns with the others.
#[must_use]
pub fn conversation_of(key: &str) -> &str {
    key.rsplit_once('/').map_or(key, |(conversation, _)| conversation)
}

fn escaped(id: &str) -> String {
    id.replace('%', "%25").replace('/', "%2F")
}

/// The first ready item of a queue key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Head {
    /// Conversation of the queue key; owner input and internal messages count as one each.
    pub conversation_key: String,
    /// Queue key.
    pub queue_key: String,
    /// Order number of the item.
    pub seq: u64,
    /// When the conversation was last served, as an order number; 0 for never.
    pub conversation_served: u64,
    /// When this queue key was last served, as an order number; 0 for never.
    pub thread_served: u64,
}

/// Picks the head to serve next.
#[must_use]
pub fn pick(heads: &[Head]) -> Option<&Head> {
    let mut oldest: HashMap<&str, u64> = HashMap::new();
    for head in heads {
        let seq = oldest.entry(&head.conversation_key).or_insert(head.seq);
        *seq = (*seq).min(head.seq);
    }
    heads.iter().min_by_key(|head| {
        let arrived = oldest.get(head.conversation_key.as_str()).copied().unwrap_or(head.seq);
        let conversation = mark(head.conversation_served, arrived);
        (conversation, arrived, mark(head.thread_served, head.seq), head.seq)
    })
}

const fn mark(served: u64, arrived: u64) -> u64 {
    if served == 0 { arrived } else { served }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::prelude::*;

    use super::*;

    type Marks = HashMap<String, u64>;

    /// Serves until nothing is ready; gives the items in the order of service. Marks continue the seqs.
    fn serve(mut queue: Vec<(String, u64)>, turns: usize) -> Vec<(String, u64)> {
        let (mut conversations, mut keys) = (Marks::new(), Marks::new());
        let mut seq = queue.iter().map(|(_, seq)| *seq).max().unwrap_or(0);
        let mut served = Vec::new();
        while served.len() < turns && !queue.is_empty() {
            let mut oldest: BTreeMap<&str, u64> = BTreeMap::new();
            for (key, seq) in &queue {
                let head = oldest.entry(key).or_insert(*seq);
                *head = (*head).min(*seq);
            }
            let heads: Vec<_> = oldest
                .iter()
                .map(|(key, seq)| Head {
                    conversation_key: conversation_of(key).to_owned(),
                    queue_key: (*key).to_owned(),
                    seq: *seq,
                    conversation_served: conversations.get(conversation_of(key)).copied().unwrap_or(0),
                    thread_served: keys.get(*key).copied().unwrap_or(0),
                })
                .collect();
            let chosen = pick(&heads).map(|head| (head.queue_key.clone(), head.seq)).unwrap();
            seq += 1;
            conversations.insert(conversation_of(&chosen.0).to_owned(), seq);
            keys.insert(chosen.0.clone(), seq);
            queue.retain(|item| *item != chosen);
            served.push(chosen);
        }
        served
    }

    #[test]
    fn msg_130_a_dm_is_served_within_two_turns_and_the_group_stays_fifo() {
        let address = AddressId::new(1, 1);
        let (group, dm) = (queue_key(&address, "C1", None), queue_key(&address, "D1", None));
        let mut queue: Vec<_> = (1..=500).map(|seq| (group.clone(), seq)).collect();
        queue.push((dm.clone(), 501));
        let served = serve(queue, 501);
        assert!(served[..2].iter().any(|(key, _)| *key == dm));
        let seqs: Vec<_> = served.iter().filter(|(key, _)| *key == group).map(|(_, seq)| *seq).collect();
        assert!(seqs.is_sorted());
    }

    #[test]
    fn keys_keep_conversations_and_threads_apart() {
        let address = AddressId::new(1, 1);
        let (a, b) = (queue_key(&address, "C/1", Some("2")), queue_key(&address, "C", Some("1/2")));
        assert_ne!(a, b);
        assert_ne!(conversation_of(&a), conversation_of(&b));
        let (root, thread) = (queue_key(&address, "C1", None), queue_key(&address, "C1", Some("1.2")));
        assert_eq!(conversation_of(&root), conversation_of(&thread));
        assert_ne!(conversation_of(OWNER_KEY), conversation_of(&agent_key(&AgentId::new(1, 1))));
    }

    #[test]
    fn a_stream_of_new_conversations_starves_nobody() {
        let head = |name: &str, seq, served| Head {
            conversation_key: name.to_owned(),
            queue_key: format!("{name}/-"),
            seq,
            conversation_served: served,
            thread_served: served,
        };
        let (old, new) = (head("old", 5, 100), head("new", 101, 0));
        assert_eq!(pick(&[old.clone(), new]), Some(&old));
    }

    proptest! {
        /// P-5 and 4.1: FIFO inside a key, and each of N ready conversations within N Turns.
        #[test]
        fn msg_130_no_conversation_starves(items in proptest::collection::vec((0u8..6, 0u8..3), 1..60)) {
            let queue: Vec<_> = (1u64..).zip(&items).map(|(seq, (c, t))| (format!("a:{c}/{t}"), seq)).collect();
            let served = serve(queue.clone(), queue.len());
            prop_assert_eq!(served.len(), queue.len());
            let names: std::collections::BTreeSet<_> = items.iter().map(|(c, _)| *c).collect();
            let first: std::collections::BTreeSet<_> =
                served[..names.len()].iter().map(|(key, _)| conversation_of(key).to_owned()).collect();
            prop_assert_eq!(first.len(), names.len());
            for (key, _) in &queue {
                let seqs: Vec<_> = served.iter().filter(|(k, _)| k == key).map(|(_, seq)| *seq).collect();
                prop_assert!(seqs.is_sorted());
            }
        }
    }
}
