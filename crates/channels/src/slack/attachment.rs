//! Fetching inbound files (messaging specification 3.8).

use serde_json::{Value, json};

use super::Inner;
use super::errors::{Effect, transport_fault};
use super::wire::text;
use crate::{Fault, FaultClass, FetchedFile};

impl Inner {
    /// `reference` is the file's id; its address is asked for anew each time.
    pub(super) async fn fetch_attachment(
        &self,
        reference: &str,
        bytes_max: u64,
    ) -> Result<FetchedFile, Fault> {
        let answer = self.api.read_call("files.info", json!({"file": reference})).await?;
        let file = answer.body.get("file").unwrap_or(&Value::Null);
        let size = file.get("size").and_then(Value::as_u64);
        if size.is_some_and(|size| size > bytes_max) {
            return Err(too_large());
        }
        let url = text(file, "url_private_download").or_else(|| text(file, "url_private"));
        let url = url.ok_or_else(|| permanent("file_unavailable", "slack gives no address for the file"))?;
        let reply = self.api.http().download(url, bytes_max).await.map_err(|fault| match fault.code {
            "host_not_allowed" => permanent("host_not_allowed", "the file is not on a host of slack"),
            "provider_response_too_large" => too_large(),
            code => {
                transport_fault(code, format!("download: {}", fault.message), fault.written, Effect::None)
            }
        })?;
        match reply.status {
            200 => {}
            401 | 403 => {
                return Err(Fault::new(
                    FaultClass::MissingScope,
                    "missing_scope",
                    "slack did not show the file",
                ));
            }
            404 | 410 => return Err(permanent("file_not_found", "the file is gone")),
            status => {
                return Err(transport_fault(
                    "http_status",
                    format!("download: HTTP status {status}"),
                    true,
                    Effect::None,
                ));
            }
        }
        let length = reply.body.len() as u64;
        if length > bytes_max {
            return Err(too_large());
        }
        let declared = text(file, "mimetype");
        if is_login_page(&reply.content_type, declared, length, size) {
            return Err(Fault::new(
                FaultClass::MissingScope,
                "missing_scope",
                "slack showed a login page in place of the file",
            ));
        }
        Ok(FetchedFile { bytes: reply.body, mime_type: declared.map(str::to_owned) })
    }
}

/// A page in place of a file that is none, or of another length than the file has.
fn is_login_page(content_type: &str, declared: Option<&str>, length: u64, size: Option<u64>) -> bool {
    let is_html = content_type.starts_with("text/html");
    let is_html_file = declared.is_some_and(|kind| kind.starts_with("text/html"));
    is_html && (!is_html_file || size.is_some_and(|size| size != length))
}

fn permanent(code: &str, message: &str) -> Fault {
    Fault::new(FaultClass::Permanent, code, message)
}

fn too_large() -> Fault {
    permanent("too_large", "the file is over the size limit")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_login_page_is_no_file() {
        assert!(is_login_page("text/html; charset=utf-8", Some("application/pdf"), 9, Some(9)));
        assert!(is_login_page("text/html", Some("text/html"), 9, Some(10)));
        assert!(!is_login_page("text/html", Some("text/html"), 9, Some(9)));
        assert!(!is_login_page("application/pdf", Some("application/pdf"), 9, None));
    }
}
