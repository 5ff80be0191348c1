//! Artifacts: immutable files named by content.

use serde::{Deserialize, Serialize};

use crate::{AgentId, ArtifactId, Timestamp, words};

words! {
    /// Which way a file goes.
    pub enum Direction {
        /// From a platform.
        In = "in",
        /// To a platform.
        Out = "out",
    }
}

/// One immutable file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Artifact {
    /// Id.
    pub id: ArtifactId,
    /// Order of commit.
    pub seq: u64,
    /// Digest, hex SHA-256.
    pub sha256: String,
    /// Size, bytes.
    pub size: u64,
    /// Sniffed type.
    pub mime_type: String,
    /// Declared type.
    pub declared_mime: Option<String>,
    /// Safe base name.
    pub name: String,
    /// Which way it goes.
    pub direction: Direction,
    /// State.
    pub status: crate::message::AttachmentStatus,
    /// Agent that uploaded it; absent when nobody or another principal did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub uploaded_by: Option<AgentId>,
    /// Creation.
    pub created_at: Timestamp,
}

/// Limit of one file, bytes ("25 MB").
pub const FILE_BYTES_MAX: u64 = 26_214_400;
/// Files in one send.
pub const FILES_PER_SEND_MAX: usize = 8;
/// Files in one inbound message.
pub const FILES_PER_MESSAGE_MAX: usize = 20;
/// Bytes of all files of one inbound message.
pub const MESSAGE_FILES_BYTES_MAX: u64 = 104_857_600;
/// Bytes of a text.
pub const TEXT_BYTES_MAX: usize = 262_144;
