//! Credentials: bound to exact hosts, injected per hop, shown only as a fingerprint.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use hmac::{Hmac, KeyInit, Mac};
use http::{HeaderMap, HeaderName, HeaderValue};
use loom_domain::{Code, Error, Result};
use loom_secrets::{SECRET_BYTES_MIN, Secret};
use sha2::Sha256;
use url::Url;
use zeroize::Zeroizing;

use crate::egress::Target;

/// Headers that carry secrets and may only be set through a credential binding.
const SECRET_HEADERS: [&str; 4] = ["authorization", "cookie", "proxy-authorization", "x-api-key"];

/// Where the secret stands in the request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Place {
    /// `Authorization: Bearer SECRET`.
    Bearer,
    /// `Authorization: Basic base64(SECRET)`; the secret is `user:password`.
    Basic,
    /// A header of that name.
    Header(String),
    /// A query parameter of that name.
    Query(String),
}

/// A resolved secret with the hosts that may see it.
#[derive(Debug, Clone)]
pub struct CredentialBinding {
    /// The secret.
    pub value: Secret,
    /// Name of the field it came from, for recordings.
    pub field: String,
    /// Exact `host:port` entries.
    pub hosts: Vec<String>,
    /// Where it goes.
    pub place: Place,
}

impl CredentialBinding {
    /// A bearer token for the given `host:port` entries.
    pub fn bearer(value: Secret, hosts: impl IntoIterator<Item = impl Into<String>>) -> Self {
        let hosts = hosts.into_iter().map(Into::into).collect();
        CredentialBinding { value, field: "token".to_owned(), hosts, place: Place::Bearer }
    }

    /// Whether this hop may see the secret: an exact host over https, or over loopback.
    pub(crate) fn covers(&self, target: &Target) -> bool {
        let authority = target.authority();
        (target.tls || target.is_loopback()) && self.hosts.iter().any(|h| h.eq_ignore_ascii_case(&authority))
    }

    /// The first 8 hex digits of a keyed digest: the only form of the secret that appears anywhere.
    pub(crate) fn fingerprint(&self, key: &[u8]) -> String {
        let mut mac = Hmac::<Sha256>::new_from_slice(key).expect("HMAC takes a key of any length");
        mac.update(self.value.expose().as_bytes());
        hex::encode(mac.finalize().into_bytes()).chars().take(8).collect()
    }

    pub(crate) fn check(&self) -> Result<()> {
        if self.value.len() >= SECRET_BYTES_MIN {
            return Ok(());
        }
        Err(Error::new(Code::CredentialUnavailable, "the credential is shorter than 8 bytes"))
    }

    pub(crate) fn inject(&self, url: &mut Url, headers: &mut HeaderMap) -> Result<()> {
        let secret = self.value.expose();
        match &self.place {
            Place::Bearer => set(headers, "authorization", &Zeroizing::new(format!("Bearer {secret}"))),
            Place::Basic => {
                set(headers, "authorization", &Zeroizing::new(format!("Basic {}", STANDARD.encode(secret))))
            }
            Place::Header(name) => set(headers, name, secret),
            Place::Query(name) => {
                url.query_pairs_mut().append_pair(name, secret);
                Ok(())
            }
        }
    }
}

fn set(headers: &mut HeaderMap, name: &str, value: &str) -> Result<()> {
    let unusable = || Error::new(Code::CredentialUnavailable, "the credential cannot stand in a header");
    let name = HeaderName::try_from(name).map_err(|_| unusable())?;
    let mut value = HeaderValue::from_str(value).map_err(|_| unusable())?;
    value.set_sensitive(true);
    headers.insert(name, value);
    Ok(())
}

/// Refuses a header that may carry only a bound credential.
pub(crate) fn refuse_literal(name: &HeaderName) -> Result<()> {
    if SECRET_HEADERS.contains(&name.as_str()) {
        return Err(Error::new(Code::SecretInInput, format!("header {name} may not be given literally"))
            .with_hint("Bind a credential reference instead.")
            .with_detail("header", name.as_str()));
    }
    Ok(())
}
