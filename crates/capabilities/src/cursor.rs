//! Cursors: where a run goes on, sealed so that nobody but this installation can make one.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use hmac::{Hmac, KeyInit as _, Mac as _};
use loom_domain::{Code, Error, Result};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use sha2::Sha256;

const PREFIX: &str = "lc1.";
/// Longest cursor.
const CURSOR_BYTES_MAX: usize = 4 * 1024;
const MAC_BYTES: usize = 32;

/// Where a run goes on.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Cursor {
    /// The capability's own position.
    pub position: Value,
    /// Everything up to here was given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub high_water: Option<String>,
}

impl Cursor {
    /// A cursor at a position.
    pub fn at(position: impl Into<Value>) -> Self {
        Cursor { position: position.into(), high_water: None }
    }
}

#[derive(Serialize, Deserialize)]
struct Sealed {
    #[serde(rename = "f")]
    format: u8,
    #[serde(rename = "c")]
    capability: String,
    #[serde(rename = "i")]
    bound_to: String,
    #[serde(rename = "p")]
    cursor: Cursor,
}

/// Seals and opens the cursors of one operation, input and projection.
#[derive(Clone)]
pub struct CursorSeal {
    key: [u8; 32],
    capability: String,
    bound_to: String,
}

impl std::fmt::Debug for CursorSeal {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("CursorSeal").field("capability", &self.capability).finish_non_exhaustive()
    }
}

impl CursorSeal {
    /// Binds cursors to a key, a capability, and digests of the input and the projection.
    pub fn new(key: [u8; 32], capability: &str, input_digest: &str, projection_digest: &str) -> Self {
        let bound_to = crate::sha256_of_bytes(format!("{input_digest}\n{projection_digest}"));
        CursorSeal { key, capability: capability.to_owned(), bound_to }
    }

    /// The text of a cursor.
    pub fn seal(&self, cursor: &Cursor) -> Result<String> {
        let sealed = Sealed {
            format: 1,
            capability: self.capability.clone(),
            bound_to: self.bound_to.clone(),
            cursor: cursor.clone(),
        };
        let mut bytes = serde_json::to_vec(&sealed).map_err(Error::internal)?;
        let mac = self.mac(&bytes).finalize().into_bytes();
        bytes.extend_from_slice(&mac);
        let text = format!("{PREFIX}{}", URL_SAFE_NO_PAD.encode(bytes));
        if text.len() > CURSOR_BYTES_MAX {
            return Err(Error::internal("a cursor is over 4 KiB"));
        }
        Ok(text)
    }

    /// The cursor of a text; one that was changed, or made for something else, is `invalid_input`.
    pub fn open(&self, text: &str) -> Result<Cursor> {
        self.opened(text).ok_or_else(|| {
            Error::new(Code::InvalidInput, "the cursor does not belong to this input, or was changed")
                .with_detail("pointer", "/cursor")
                .with_hint("start again without a cursor")
        })
    }

    fn opened(&self, text: &str) -> Option<Cursor> {
        let text = text.trim();
        if text.len() > CURSOR_BYTES_MAX {
            return None;
        }
        let bytes = URL_SAFE_NO_PAD.decode(text.strip_prefix(PREFIX)?).ok()?;
        let (body, mac) = bytes.split_at_checked(bytes.len().checked_sub(MAC_BYTES)?)?;
        self.mac(body).verify_slice(mac).ok()?;
        let sealed: Sealed = serde_json::from_slice(body).ok()?;
        let fits =
            sealed.format == 1 && sealed.capability == self.capability && sealed.bound_to == self.bound_to;
        fits.then_some(sealed.cursor)
    }

    fn mac(&self, bytes: &[u8]) -> Hmac<Sha256> {
        let mut mac = Hmac::<Sha256>::new_from_slice(&self.key).expect("HMAC takes a key of any length");
        mac.update(b"loom-cursor\0");
        mac.update(bytes);
        mac
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// CAP-031: a cursor for other inputs, or with one byte changed, is refused.
    #[test]
    fn cap_031_a_cursor_fits_its_input_only() {
        let seal = CursorSeal::new([7; 32], "github_reply_monitor", "sha256:a", "sha256:b");
        let cursor = Cursor { position: serde_json::json!({"page": 3}), high_water: Some("x".into()) };
        let text = seal.seal(&cursor).unwrap();
        assert!(text.starts_with("lc1."));
        assert_eq!(seal.open(&text).unwrap(), cursor);
        for at in 0..text.len() {
            let mut changed = text.clone().into_bytes();
            changed[at] = if changed[at] == b'A' { b'B' } else { b'A' };
            let opened = seal.open(&String::from_utf8(changed).unwrap());
            // The last digit of base64 may hold bits that stand for nothing; they are refused as well.
            assert_eq!(opened.unwrap_err().code, Code::InvalidInput, "{at}");
        }
        for other in [
            CursorSeal::new([8; 32], "github_reply_monitor", "sha256:a", "sha256:b"),
            CursorSeal::new([7; 32], "github_public_probe", "sha256:a", "sha256:b"),
            CursorSeal::new([7; 32], "github_reply_monitor", "sha256:c", "sha256:b"),
            CursorSeal::new([7; 32], "github_reply_monitor", "sha256:a", "sha256:c"),
        ] {
            assert_eq!(other.open(&text).unwrap_err().code, Code::InvalidInput);
        }
    }
}
