//! What may leave.

use schemars::JsonSchema;
use serde::Serialize;

/// Bytes of a text.
pub(super) const TEXT_BYTES_MAX: usize = 150_000;
/// Bytes of a document.
pub(super) const DOCUMENT_BYTES_MAX: usize = 1_000_000;

/// The app, and what it may read.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct AppFields {
    #[schemars(length(max = 100))]
    pub(super) app_name: Option<String>,
    #[schemars(length(max = 64))]
    pub(super) open_id: Option<String>,
    /// 2 is enabled.
    pub(super) activate_status: Option<i64>,
    #[schemars(length(max = 10))]
    pub(super) scopes: Vec<Scope>,
}

/// A scope that a read showed to be there, or missing.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Scope {
    #[schemars(length(max = 64))]
    pub(super) name: String,
    pub(super) seen: bool,
}

/// A group.
#[derive(Debug, Serialize, JsonSchema)]
#[expect(clippy::struct_field_names, reason = "the names of the specification")]
pub(super) struct Chat {
    #[schemars(length(max = 67))]
    pub(super) chat_id: String,
    #[schemars(length(max = 300))]
    pub(super) name: Option<String>,
    #[schemars(length(max = 1_000))]
    pub(super) description: Option<String>,
    #[schemars(length(max = 67))]
    pub(super) owner_id: Option<String>,
    pub(super) external: Option<bool>,
    #[schemars(length(max = 40))]
    pub(super) chat_status: Option<String>,
}

/// A person of a group.
#[derive(Debug, Serialize, JsonSchema)]
#[expect(clippy::struct_field_names, reason = "the names of the specification")]
pub(super) struct Member {
    #[schemars(length(max = 67))]
    pub(super) member_id: String,
    #[schemars(length(max = 20))]
    pub(super) member_id_type: Option<String>,
    #[schemars(length(max = 300))]
    pub(super) name: Option<String>,
}

/// A message.
#[derive(Debug, Serialize, JsonSchema)]
#[expect(clippy::struct_field_names, reason = "the names of the specification")]
pub(super) struct Message {
    #[schemars(length(max = 67))]
    pub(super) message_id: String,
    #[schemars(length(max = 67))]
    pub(super) chat_id: Option<String>,
    #[schemars(length(max = 68))]
    pub(super) thread_id: Option<String>,
    #[schemars(length(max = 67))]
    pub(super) root_id: Option<String>,
    #[schemars(length(max = 67))]
    pub(super) parent_id: Option<String>,
    #[schemars(length(max = 40))]
    pub(super) msg_type: Option<String>,
    #[schemars(length(max = 40))]
    pub(super) created_at: Option<String>,
    #[schemars(length(max = 40))]
    pub(super) updated_at: Option<String>,
    pub(super) edited: bool,
    pub(super) recalled: bool,
    pub(super) sender: Option<Sender>,
    #[schemars(length(max = 500))]
    pub(super) mentions: Vec<Mention>,
    /// Line breaks are kept.
    #[schemars(length(max = 150_000))]
    pub(super) text: String,
    pub(super) text_bytes: u64,
    pub(super) truncated: bool,
    #[schemars(length(max = 100))]
    pub(super) attachments: Vec<Attachment>,
}

/// Who wrote it.
#[derive(Debug, Serialize, JsonSchema)]
#[expect(clippy::struct_field_names, reason = "the names of the specification")]
pub(super) struct Sender {
    #[schemars(length(max = 67))]
    pub(super) id: Option<String>,
    #[schemars(length(max = 20))]
    pub(super) id_type: Option<String>,
    #[schemars(length(max = 20))]
    pub(super) sender_type: Option<String>,
}

/// Who is meant; the id decides, never the name.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Mention {
    #[schemars(length(max = 40))]
    pub(super) key: Option<String>,
    #[schemars(length(max = 67))]
    pub(super) id: Option<String>,
    #[schemars(length(max = 300))]
    pub(super) name: Option<String>,
}

/// What hangs on a message.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Attachment {
    #[schemars(length(max = 40))]
    pub(super) kind: String,
    #[schemars(length(max = 200))]
    pub(super) file_key: Option<String>,
    #[schemars(length(max = 300))]
    pub(super) file_name: Option<String>,
}

/// A document.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct DocumentFields {
    #[schemars(length(max = 64))]
    pub(super) document_id: String,
    pub(super) revision_id: Option<i64>,
    #[schemars(length(max = 800))]
    pub(super) title: Option<String>,
    #[schemars(length(max = 1_000_000))]
    pub(super) text: String,
    pub(super) text_bytes: u64,
    pub(super) truncated: bool,
}
