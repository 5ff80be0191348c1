//! Checks of values that owners type: identities, ids, lists, labels, ranges (messaging specification 1.3 to 1.7).

mod identity;
mod ids;
mod settings;

pub use identity::{canonical_identity, canonical_provider};
pub use ids::{Warning, check_actor_id, check_conversation_id, check_list};
pub use settings::{
    AGENT_TURN_SECONDS, IDLE_SECONDS, INBOUND_AGE_SECONDS, PROACTIVE_PER_HOUR, TTL_SECONDS, check_agent,
    check_membership_actor, check_range, check_text, membership_texts,
};
