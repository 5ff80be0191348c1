//! Notices: what the owner is told.

use serde::{Deserialize, Serialize};

use crate::{NoticeId, Timestamp};

/// One thing the owner should know.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Notice {
    /// Id.
    pub id: NoticeId,
    /// Order of commit.
    pub seq: u64,
    /// Kind word, such as `dead_letter`.
    pub kind: String,
    /// Object it is about.
    pub object: Option<String>,
    /// One sentence without message bodies or secrets.
    pub text: String,
    /// What to run next.
    pub hint: Option<String>,
    /// Creation.
    pub created_at: Timestamp,
    /// When the owner acknowledged it.
    pub acked_at: Option<Timestamp>,
}
