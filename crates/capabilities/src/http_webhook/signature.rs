//! Signatures of webhooks over raw bytes: Standard Webhooks (`v1` HMAC-SHA-256, `v1a` Ed25519), GitHub, Slack, Feishu.
//! Pure: the time comes in. Comparisons take the same time whatever they find.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use hmac::{Hmac, KeyInit as _, Mac as _};
use loom_domain::{Code, Error, Result};
use loom_secrets::Secret;
use ring::signature::{ED25519, Ed25519KeyPair, KeyPair as _, UnparsedPublicKey};
use sha2::{Digest as _, Sha256};

/// Seconds that a signed time may differ, both ways.
const TOLERANCE_SECONDS: i64 = 300;
/// Bytes of a shared key.
const KEY_BYTES: std::ops::RangeInclusive<usize> = 24..=64;
/// Bytes of the seed of an Ed25519 key.
const SEED_BYTES: usize = 32;
/// Characters of a message id.
const ID_CHARS_MAX: usize = 64;
/// Most signatures that are looked at.
const SIGNATURES_MAX: usize = 16;

/// How a sender signs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scheme {
    /// Standard Webhooks.
    Standard,
    /// `X-Hub-Signature-256`.
    Github,
    /// Slack's `v0`.
    Slack,
    /// `X-Lark-Signature`.
    Feishu,
}

impl Scheme {
    /// Reads its word.
    pub fn parse(word: &str) -> Option<Self> {
        Some(match word {
            "standard" => Scheme::Standard,
            "github" => Scheme::Github,
            "slack" => Scheme::Slack,
            "feishu" => Scheme::Feishu,
            _ => return None,
        })
    }
}

/// Why a delivery is refused: one word for each.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Refusal {
    /// A header is missing.
    HeaderMissing,
    /// A header stands more than once.
    HeaderRepeated,
    /// A header has another form.
    HeaderInvalid,
    /// The signed time is too far from now.
    Stale,
    /// No signature fits.
    SignatureInvalid,
}

enum Signer {
    Shared(Vec<u8>),
    Pair(Box<Ed25519KeyPair>),
}

/// A key that signs: `whsec_` and base64 of 24 to 64 bytes, or `whsk_` and base64 of an Ed25519 key.
pub struct SigningKey(Signer);

impl std::fmt::Debug for SigningKey {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("SigningKey")
    }
}

impl SigningKey {
    /// Reads a key. The error never repeats it.
    pub fn parse(secret: &Secret) -> Result<Self> {
        let unusable = || {
            Error::new(Code::CredentialUnavailable, "not a webhook secret of a known form")
                .with_hint("whsec_ and base64 of 24 to 64 bytes, or whsk_ for Ed25519")
        };
        let text = secret.expose();
        if let Some(encoded) = text.strip_prefix("whsec_") {
            let key = STANDARD.decode(encoded).ok().filter(|key| KEY_BYTES.contains(&key.len()));
            return key.map(|key| SigningKey(Signer::Shared(key))).ok_or_else(unusable);
        }
        let encoded = text.strip_prefix("whsk_").ok_or_else(unusable)?;
        let bytes = STANDARD.decode(encoded).map_err(|_| unusable())?;
        // Some senders keep the public key behind the seed; it has to be the right one then.
        let pair = match bytes.split_at_checked(SEED_BYTES) {
            Some((seed, [])) => Ed25519KeyPair::from_seed_unchecked(seed),
            Some((seed, public)) => Ed25519KeyPair::from_seed_and_public_key(seed, public),
            None => return Err(unusable()),
        };
        pair.map(|pair| SigningKey(Signer::Pair(Box::new(pair)))).map_err(|_| unusable())
    }

    /// The signature of a message, with its version: `v1,…` or `v1a,…`.
    pub fn sign(&self, id: &str, timestamp: i64, body: &[u8]) -> String {
        let content = content(id, timestamp, body);
        match &self.0 {
            Signer::Shared(key) => {
                format!("v1,{}", STANDARD.encode(mac(key, &[&content]).finalize().into_bytes()))
            }
            Signer::Pair(pair) => format!("v1a,{}", STANDARD.encode(pair.sign(&content).as_ref())),
        }
    }

    fn verifies(&self, content: &[u8], version: &str, signature: &[u8]) -> bool {
        match (&self.0, version) {
            (Signer::Shared(key), "v1") => mac(key, &[content]).verify_slice(signature).is_ok(),
            (Signer::Pair(pair), "v1a") => {
                let public = UnparsedPublicKey::new(&ED25519, pair.public_key().as_ref());
                public.verify(content, signature).is_ok()
            }
            _ => false,
        }
    }
}

/// The value of `webhook-signature`: each key signs; while one replaces the other both do.
pub fn signatures(keys: &[SigningKey], id: &str, timestamp: i64, body: &[u8]) -> Result<String> {
    if !is_id(id) {
        return Err(Error::new(Code::InvalidInput, "a webhook id has 1 to 64 of A-Z, a-z, 0-9, _ and -")
            .with_detail("pointer", "/id"));
    }
    let all: Vec<String> = keys.iter().map(|key| key.sign(id, timestamp, body)).collect();
    Ok(all.join(" "))
}

/// Whether a text can be a `webhook-id`.
pub fn is_id(id: &str) -> bool {
    (1..=ID_CHARS_MAX).contains(&id.len())
        && id.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-'))
}

fn content(id: &str, timestamp: i64, body: &[u8]) -> Vec<u8> {
    let mut content = format!("{id}.{timestamp}.").into_bytes();
    content.extend_from_slice(body);
    content
}

fn mac(key: &[u8], parts: &[&[u8]]) -> Hmac<Sha256> {
    let mut mac = Hmac::<Sha256>::new_from_slice(key).expect("HMAC takes a key of any length");
    parts.iter().for_each(|part| mac.update(part));
    mac
}

/// Verifies a delivery. `now` is in Unix seconds; any of the secrets may have signed it.
pub fn verify(
    scheme: Scheme,
    headers: &[(String, String)],
    body: &[u8],
    secrets: &[Secret],
    now: i64,
) -> std::result::Result<(), Refusal> {
    let fits = match scheme {
        Scheme::Standard => standard(headers, body, secrets, now)?,
        Scheme::Github => {
            let given = one(headers, "x-hub-signature-256")?;
            let given = hex_of(given.strip_prefix("sha256=").ok_or(Refusal::HeaderInvalid)?)?;
            any(secrets, |secret| mac(secret, &[body]).verify_slice(&given).is_ok())
        }
        Scheme::Slack => {
            let timestamp = one(headers, "x-slack-request-timestamp")?;
            fresh(timestamp, now)?;
            let given = one(headers, "x-slack-signature")?;
            let given = hex_of(given.strip_prefix("v0=").ok_or(Refusal::HeaderInvalid)?)?;
            let before = format!("v0:{timestamp}:");
            any(secrets, |secret| mac(secret, &[before.as_bytes(), body]).verify_slice(&given).is_ok())
        }
        Scheme::Feishu => {
            let timestamp = one(headers, "x-lark-request-timestamp")?;
            fresh(timestamp, now)?;
            let nonce = one(headers, "x-lark-request-nonce")?;
            let given = hex_of(one(headers, "x-lark-signature")?)?;
            any(secrets, |secret| {
                let mut digest = Sha256::new();
                [timestamp.as_bytes(), nonce.as_bytes(), secret, body]
                    .iter()
                    .for_each(|part| digest.update(part));
                same(&digest.finalize(), &given)
            })
        }
    };
    if fits { Ok(()) } else { Err(Refusal::SignatureInvalid) }
}

fn standard(
    headers: &[(String, String)],
    body: &[u8],
    secrets: &[Secret],
    now: i64,
) -> std::result::Result<bool, Refusal> {
    let id = one(headers, "webhook-id")?;
    if !is_id(id) {
        return Err(Refusal::HeaderInvalid);
    }
    let timestamp = fresh(one(headers, "webhook-timestamp")?, now)?;
    let content = content(id, timestamp, body);
    let keys: Vec<SigningKey> = secrets.iter().filter_map(|secret| SigningKey::parse(secret).ok()).collect();
    let listed = one(headers, "webhook-signature")?.split_ascii_whitespace().take(SIGNATURES_MAX);
    let given: Vec<(&str, Vec<u8>)> = listed
        .filter_map(|one| {
            let (version, signature) = one.split_once(',')?;
            Some((version, STANDARD.decode(signature).ok()?))
        })
        .collect();
    let fits = |key: &SigningKey| given.iter().filter(|(v, s)| key.verifies(&content, v, s)).count() > 0;
    Ok(keys.iter().filter(|key| fits(key)).count() > 0)
}

/// Tries every secret, also behind one that fits. An empty secret never fits.
fn any(secrets: &[Secret], fits: impl Fn(&[u8]) -> bool) -> bool {
    let usable = secrets.iter().map(Secret::expose).filter(|secret| !secret.is_empty());
    usable.filter(|secret| fits(secret.as_bytes())).count() > 0
}

/// The one value of a header.
fn one<'a>(headers: &'a [(String, String)], name: &str) -> std::result::Result<&'a str, Refusal> {
    let mut values = headers.iter().filter(|(key, _)| key.eq_ignore_ascii_case(name));
    match (values.next(), values.next()) {
        (Some((_, value)), None) => Ok(value.trim()),
        (Some(_), Some(_)) => Err(Refusal::HeaderRepeated),
        (None, _) => Err(Refusal::HeaderMissing),
    }
}

fn fresh(timestamp: &str, now: i64) -> std::result::Result<i64, Refusal> {
    let is_plain = !timestamp.is_empty() && timestamp.bytes().all(|b| b.is_ascii_digit());
    let seconds: i64 = timestamp.parse().ok().filter(|_| is_plain).ok_or(Refusal::HeaderInvalid)?;
    if seconds.abs_diff(now) > TOLERANCE_SECONDS.unsigned_abs() { Err(Refusal::Stale) } else { Ok(seconds) }
}

fn hex_of(text: &str) -> std::result::Result<Vec<u8>, Refusal> {
    hex::decode(text).map_err(|_| Refusal::HeaderInvalid)
}

/// Compares digests of digests, so that the time tells nothing of where they differ.
fn same(a: &[u8], b: &[u8]) -> bool {
    let key = Sha256::digest(a);
    mac(&key, &[a]).verify_slice(&mac(&key, &[b]).finalize().into_bytes()).is_ok()
}

#[cfg(test)]
mod tests;
