//! One attempt to deliver one Part.

mod file;
mod place;
mod text;

use loom_domain::outbox::PartKind;

use super::Inner;
use crate::{Progress, SendOutcome, SendPart};

pub(super) use file::file_ids;
pub(super) use place::thread_of;
pub(super) use text::{check_size, split};

impl Inner {
    pub(super) async fn deliver(&self, part: &SendPart, progress: &dyn Progress) -> SendOutcome {
        let result = match part.kind {
            PartKind::Text => self.deliver_text(part, progress).await,
            PartKind::File => self.deliver_file(part, progress).await,
        };
        match result {
            Ok(ids) => SendOutcome::Sent(ids),
            Err(fault) => SendOutcome::Failed(fault),
        }
    }
}
