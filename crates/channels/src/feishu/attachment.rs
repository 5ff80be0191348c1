//! Fetching files of messages (provider reference B.11).

use super::Inner;
use super::api::Call;
use super::http::Content;
use super::wire::{is_id, is_message};
use crate::{Fault, FaultClass, FetchedFile};

impl Inner {
    /// `reference` is `MESSAGE/KEY/image` or `MESSAGE/KEY/file`.
    pub(super) async fn fetch_attachment(
        &self,
        reference: &str,
        bytes_max: u64,
    ) -> Result<FetchedFile, Fault> {
        let permanent = |code: &str, message: &str| Fault::new(FaultClass::Permanent, code, message);
        let parts: Vec<&str> = reference.split('/').collect();
        let &[message, key, kind @ ("image" | "file")] = parts.as_slice() else {
            return Err(permanent("bad_reference", "this names no file of a message"));
        };
        if !is_message(message) || !is_id(&key.replace('-', "_")) {
            return Err(permanent("bad_reference", "this names no file of a message"));
        }
        let mut call = Call::get("download", format!("im/v1/messages/{message}/resources/{key}"));
        call = call.query("type", kind);
        call.ask.content = Content::Download(bytes_max);
        let too_large = || permanent("too_large", "the file is over the size limit");
        let reply = self.api.download(&call).await.map_err(|fault| match fault.code.as_str() {
            "provider_response_too_large" => too_large(),
            _ => fault,
        })?;
        if reply.bytes.len() as u64 > bytes_max {
            return Err(too_large());
        }
        let kind = reply.content_type.split(';').next().unwrap_or("").trim().to_owned();
        Ok(FetchedFile { bytes: reply.bytes, mime_type: Some(kind).filter(|kind| !kind.is_empty()) })
    }
}
