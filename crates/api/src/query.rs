//! Filters of the lists; equal to the flags of the command line. An unknown filter is `invalid_argument`.
//!
//! `since` is a duration back from now (`24h`) or an RFC 3339 time, unless its doc says otherwise.

use serde::{Deserialize, Serialize};

macro_rules! queries {
    ($($(#[$doc:meta])* $name:ident { $($(#[$fdoc:meta])* $field:ident: $type:ty,)* })*) => {
        $(
            $(#[$doc])*
            #[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
            #[serde(rename_all = "camelCase", deny_unknown_fields, default)]
            pub struct $name {
                $($(#[$fdoc])* #[serde(skip_serializing_if = "Option::is_none")] pub $field: Option<$type>,)*
                /// Items per page, 1 to 500.
                #[serde(skip_serializing_if = "Option::is_none")]
                pub limit: Option<u32>,
                /// Where the page starts.
                #[serde(skip_serializing_if = "Option::is_none")]
                pub cursor: Option<String>,
            }
        )*
    };
}

queries! {
    /// Filters of lists that have none of their own.
    Paging {}
    /// Filters of grants.
    Grants {
        /// Agent name or id.
        agent: String,
        /// Capability: the grants of every Agent.
        capability: String,
    }
    /// Filters of deliveries.
    Deliveries {
        /// Endpoint.
        endpoint: String,
    }
    /// Filters of Agents.
    Agents {
        /// State word.
        state: String,
        /// Also archived ones.
        all: bool,
    }
    /// Filters of Connections.
    Connections {
        /// Provider word; `lark` means `feishu`.
        provider: String,
        /// Agent name or id: Connections with an Address of it.
        agent: String,
        /// Also archived ones.
        archived: bool,
    }
    /// Filters of Addresses.
    Addresses {
        /// Agent name or id.
        agent: String,
        /// Connection id.
        connection: String,
        /// Also archived ones.
        archived: bool,
    }
    /// Filters of Candidates.
    Candidates {
        /// Agent name or id.
        agent: String,
        /// Address id.
        address: String,
        /// Also configured and unavailable ones.
        all: bool,
    }
    /// Filters of Memberships.
    Memberships {
        /// Agent name or id.
        agent: String,
        /// Address id.
        address: String,
        /// Conversation type word.
        #[serde(rename = "type")]
        kind: String,
        /// Whether it is enabled.
        enabled: bool,
        /// Only DM Memberships whose sender has pending items.
        pending: bool,
        /// Also archived ones.
        archived: bool,
    }
    /// Filters of the Inbox.
    Inbox {
        /// Agent name or id.
        agent: String,
        /// State word.
        state: String,
        /// Provider word, `loom` or `owner`.
        origin: String,
        /// Address id.
        address: String,
        /// Membership id.
        membership: String,
        /// Only items that are not final.
        open: bool,
        /// Not older than this.
        since: String,
    }
    /// Filters of the Outbox.
    Outbox {
        /// Agent name or id.
        agent: String,
        /// State word.
        state: String,
        /// Only failed and expired ones.
        dead: bool,
        /// Address id.
        address: String,
        /// Membership id.
        membership: String,
        /// Not older than this.
        since: String,
    }
    /// Filters of Refusals.
    Refusals {
        /// Agent name or id.
        agent: String,
        /// Reason code.
        reason: String,
        /// Address id.
        address: String,
        /// Connection id.
        connection: String,
        /// Provider id of the conversation.
        conversation: String,
        /// Provider id of the sender.
        actor: String,
        /// Not older than this.
        since: String,
    }
    /// Filters of Notices.
    Notices {
        /// Also acknowledged ones.
        all: bool,
    }
    /// Filters of the audit log.
    Audit {
        /// Rows after this sequence number.
        since: u64,
    }
    /// Filters of event streams.
    Events {
        /// Events after this sequence number; `Last-Event-ID` wins.
        since: u64,
        /// False: the stream ends after the stored events.
        follow: bool,
        /// Event types, comma separated.
        types: String,
        /// Topics, comma separated: connections, outbox, turns, connectors, gates, updates.
        topics: String,
        /// Agent name or id.
        agent: String,
    }
    /// What to look for.
    Where {
        /// Any Loom id, permalink or provider id.
        q: String,
    }
    /// What an upload announces.
    Upload {
        /// Base name of the file.
        name: String,
        /// Its digest, hex SHA-256.
        sha256: String,
        /// Its size in bytes.
        size: u64,
    }
}
