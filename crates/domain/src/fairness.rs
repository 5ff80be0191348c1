//! Whose turn it is (messaging specification 4.1): round robin over conversations, then over the threads of a
//! conversation, least recently served first; inside a queue key the order of arrival.

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
    heads.iter().min_by_key(|head| {
        let oldest_in_conversation = heads
            .iter()
            .filter(|other| other.conversation_key == head.conversation_key)
            .map(|other| other.seq)
            .min()
            .unwrap_or(head.seq);
        (head.conversation_served, oldest_in_conversation, head.thread_served, head.seq)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn head(conversation: &str, thread: &str, seq: u64, served: (u64, u64)) -> Head {
        Head {
            conversation_key: conversation.to_owned(),
            queue_key: format!("{conversation}/{thread}"),
            seq,
            conversation_served: served.0,
            thread_served: served.1,
        }
    }

    #[test]
    fn msg_130_a_dm_is_served_within_two_turns_of_a_flooded_group() {
        let group = head("group", "", 1, (7, 7));
        let dm = head("dm", "", 900, (0, 0));
        assert_eq!(pick(&[group.clone(), dm.clone()]), Some(&dm));
        let served = Head { conversation_served: 8, thread_served: 8, ..dm };
        assert_eq!(pick(&[group.clone(), served]), Some(&group));
    }

    #[test]
    fn pb_13_with_n_conversations_each_is_served_within_n_turns() {
        let mut heads: Vec<Head> = (0..50).map(|n| head(&format!("c{n}"), "", n + 1, (0, 0))).collect();
        let mut order = Vec::new();
        for turn in 0..50 {
            let chosen = pick(&heads).map(|h| h.conversation_key.clone()).unwrap();
            let place = heads.iter().position(|h| h.conversation_key == chosen).unwrap();
            heads[place].conversation_served = 100 + turn;
            order.push(chosen);
        }
        order.dedup();
        assert_eq!(order.len(), 50);
    }

    #[test]
    fn threads_of_a_conversation_take_turns() {
        let a = head("c", "t1", 1, (5, 5));
        let b = head("c", "t2", 9, (5, 0));
        assert_eq!(pick(&[a, b.clone()]), Some(&b));
    }
}
