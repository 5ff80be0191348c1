//! The sections of the configuration. Every key has its unit in its name.

use std::collections::BTreeMap;
use std::path::PathBuf;

use loom_domain::{decision::MAX_AGE_MS, inbox::limits::QUEUE_AGE_MS_MAX};
use loom_report::{Profile, WeekStart};
use serde::{Deserialize, Serialize};

macro_rules! section {
    ($(#[doc = $doc:literal])* $name:ident { $($(#[doc = $fdoc:literal])* $field:ident: $type:ty = $default:expr,)* }) => {
        $(#[doc = $doc])*
        #[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
        #[serde(default, deny_unknown_fields)]
        pub struct $name { $($(#[doc = $fdoc])* pub $field: $type,)* }

        impl Default for $name {
            fn default() -> Self { $name { $($field: $default,)* } }
        }
    };
}

section! {
    /// `[listen]`
    Listen {
        /// Address of the HTTP listener; empty means the socket only.
        address: String = "127.0.0.1:4870".to_owned(),
        /// `peer` (the hub's own user is owner) or `token`.
        socket_auth: String = "peer".to_owned(),
        /// Public URL; adds one Host and Origin.
        public_url: String = String::new(),
        /// Further Host names.
        allowed_hosts: Vec<String> = Vec::new(),
        /// Origins that may read the API from a browser.
        cors_origins: Vec<String> = Vec::new(),
        /// Certificate and key of the HTTP listener.
        tls: Option<Tls> = None,
        /// A reverse proxy stands in front.
        behind_proxy: bool = false,
        /// Networks whose forwarded headers count.
        trusted_proxies: Vec<String> = Vec::new(),
        /// Largest body, bytes.
        body_max_bytes: u64 = 1_048_576,
        /// Requests per second of a principal.
        rate_per_s: u32 = 50,
        /// Burst of a principal.
        rate_burst: u32 = 100,
    }
}

/// Paths of PEM files: the certificate chain, and its private key, which must be a private file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Tls {
    /// The certificate chain, the hub's own first.
    pub cert: PathBuf,
    /// Its private key.
    pub key: PathBuf,
}

section! {
    /// `[capabilities.pr_review]`
    PrReviewSection {
        /// Repositories that `pr_review` and `pr_program` may read, `OWNER/REPO` or `OWNER/*`; unset means all.
        repos: Option<Vec<String>> = None,
    }
}

/// `[capabilities]`: settings of single capabilities, by id.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct CapabilitiesSection {
    /// Pull requests.
    pub pr_review: PrReviewSection,
}

section! {
    /// `[report]`
    ReportSection {
        /// First day of a week: `monday`, `sunday` or `saturday`.
        week_start: WeekStart = WeekStart::Monday,
        /// Profiles of the owner, by name.
        profiles: BTreeMap<String, Profile> = BTreeMap::new(),
    }
}

section! {
    /// `[hub]`
    HubSection {
        /// Time for Turns and Parts in flight when stopping, seconds.
        drain_s: u64 = 60,
    }
}

section! {
    /// `[store]`
    StoreSection {
        /// `sqlite` or a PostgreSQL connection string.
        url: String = "sqlite".to_owned(),
        /// Longest wait of a commit for company, microseconds.
        commit_delay_us: u64 = 500,
        /// Most operations in one commit.
        commit_max: usize = 256,
        /// Size to which the write-ahead log is cut back, bytes.
        wal_limit_bytes: u64 = 67_108_864,
        /// Reading threads.
        reader_threads: usize = 4,
    }
}

section! {
    /// `[lease]`
    Lease {
        /// Lease of a Connection, milliseconds; renewed every third of it.
        connection_ttl_ms: i64 = 15_000,
        /// Lease of an Agent, milliseconds.
        agent_ttl_ms: i64 = 30_000,
        /// Stop acting this long before the end, milliseconds.
        margin_ms: i64 = 3_000,
    }
}

section! {
    /// `[inbound]`
    Inbound {
        /// Older events are stale, seconds.
        max_age_s: i64 = MAX_AGE_MS / 1_000,
    }
}

section! {
    /// `[inbox]`
    Inbox {
        /// Items wait at most this long, seconds.
        max_queue_age_s: i64 = QUEUE_AGE_MS_MAX / 1_000,
        /// Grace of an interrupt, milliseconds.
        interrupt_grace_ms: u64 = 10_000,
    }
}

section! {
    /// `[outbox]`
    Outbox {
        /// Conversations in flight per Connection, 1 to 16.
        conversations_in_flight: u32 = 4,
    }
}

section! {
    /// `[connections]`
    Connections {
        /// Time between history probes, seconds; 0 switches them off.
        probe_s: u64 = 300,
        /// Messages read per conversation after an outage.
        catchup_max: usize = 1_000,
        /// Oldest message read after an outage, seconds.
        catchup_age_s: i64 = 86_400,
    }
}

section! {
    /// `[transport]`
    Transport {
        /// `env`, `none`, or a proxy URL.
        proxy: String = "env".to_owned(),
        /// Further certificate authorities, a PEM file.
        ca_file: String = String::new(),
        /// DNS, TCP and TLS together, milliseconds.
        connect_timeout_ms: u64 = 5_000,
        /// Silence between two bytes, milliseconds.
        read_timeout_ms: u64 = 15_000,
        /// One attempt, milliseconds.
        total_timeout_ms: u64 = 30_000,
        /// Base URLs of services on this machine.
        local_origins: Vec<String> = Vec::new(),
        /// Plain http to other hosts.
        allow_http: bool = false,
        /// Private networks that may be reached, CIDR.
        allow_private: Vec<String> = Vec::new(),
    }
}

section! {
    /// `[trust]`
    Trust {
        /// Sets of trust domains that may be bound to one Agent.
        groups: Vec<Vec<String>> = Vec::new(),
    }
}

section! {
    /// `[runtimes]`
    Runtimes {
        /// Runtime processes at once.
        max_processes: usize = 16,
        /// `PATH` of runtime processes.
        path: String = "/usr/local/bin:/usr/bin:/bin".to_owned(),
    }
}

section! {
    /// `[retention]` — days; 0 keeps. Audit is never removed.
    Retention {
        /// Messages, Inbox and Outbox.
        message_days: u32 = 90,
        /// Raw payloads.
        raw_event_days: u32 = 14,
        /// Refusals.
        refusal_days: u32 = 30,
        /// Bodies of Refusals.
        refusal_body_days: u32 = 7,
        /// Keys of events, at least 2.
        event_key_days: u32 = 14,
        /// Keys of messages.
        message_key_days: u32 = 90,
        /// Log files.
        log_days: u32 = 14,
        /// Days that payloads of connectors are kept.
        connector_result_days: u32 = 30,
        /// Bytes that all payloads may take; the oldest go first.
        connector_result_bytes: u64 = 1_073_741_824,
    }
}

section! {
    /// `[log]`
    Log {
        /// Level, or per target.
        level: String = "info".to_owned(),
    }
}
