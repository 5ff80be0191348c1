//! Memberships and Candidates.

use serde::{Deserialize, Serialize};

use crate::{
    AddressId, CandidateId, ConversationType, MembershipId, OutboundPolicy, ReplyPolicy, Timestamp,
    TriggerPolicy,
};

/// Hours in which proactive, non-urgent sends wait.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct QuietHours {
    /// IANA time zone.
    pub tz: String,
    /// Start, `HH:MM`.
    pub from: String,
    /// End, `HH:MM`.
    pub to: String,
}

/// Purpose, role, guidance and policy of one Address in one conversation.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Membership {
    /// Id.
    pub id: MembershipId,
    /// Version, +1 with each change.
    pub version: u64,
    /// Order of commit.
    pub seq: u64,
    /// Address.
    pub address_id: AddressId,
    /// Stable provider id of the conversation.
    pub conversation_id: String,
    /// Kind; immutable.
    pub conversation_type: ConversationType,
    /// The one person of a DM; immutable once set.
    pub actor_id: Option<String>,
    /// Cosmetic name.
    pub display_name: String,
    /// Owner-authored purpose.
    #[serde(default)]
    pub purpose: String,
    /// Owner-authored role.
    #[serde(default)]
    pub role: String,
    /// Owner-authored guidance.
    #[serde(default)]
    pub guidance: String,
    /// Own trigger; else the Address's.
    pub trigger_policy: Option<TriggerPolicy>,
    /// Own reply policy; else the Address's.
    pub reply_policy: Option<ReplyPolicy>,
    /// What may be sent.
    pub outbound_policy: OutboundPolicy,
    /// Equal to the Address's.
    pub trust_domain: String,
    /// Quiet hours.
    pub quiet_hours: Option<QuietHours>,
    /// Time to live of sends, seconds.
    pub ttl_seconds: u64,
    /// Proactive sends per hour.
    pub proactive_per_hour: u32,
    /// Off: refused with `membership_disabled`.
    pub enabled: bool,
    /// First time it was enabled.
    pub first_enabled_at: Option<Timestamp>,
    /// Who approved it.
    pub enabled_by: Option<String>,
    /// Successor after consolidation.
    pub superseded_by: Option<MembershipId>,
    /// Archive time.
    pub archived_at: Option<Timestamp>,
    /// Creation.
    pub created_at: Timestamp,
    /// Last change.
    pub updated_at: Timestamp,
}

/// Default time to live of a send, seconds.
pub const TTL_SECONDS: u64 = 86_400;
/// Default of proactive sends per hour.
pub const PROACTIVE_PER_HOUR: u32 = 30;

/// A conversation that the platform shows to an Address. It grants nothing.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Candidate {
    /// Id.
    pub id: CandidateId,
    /// Order of commit.
    pub seq: u64,
    /// Address.
    pub address_id: AddressId,
    /// Stable provider id.
    pub conversation_id: String,
    /// Kind.
    pub conversation_type: ConversationType,
    /// Name at the provider.
    pub display_name: String,
    /// Topic or description at the provider.
    #[serde(default)]
    pub description: String,
    /// Whether the bot is in it.
    pub bot_is_member: bool,
    /// Whether the last snapshot showed it.
    pub available: bool,
    /// First sight.
    pub first_seen_at: Timestamp,
    /// Last sight.
    pub last_seen_at: Timestamp,
}
