//! The written forms of a secret, made here independently of the redactor.

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, URL_SAFE};
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};

/// Name and text of each form.
pub(super) fn forms(secret: &str) -> Vec<(&'static str, String)> {
    let percent = utf8_percent_encode(secret, NON_ALPHANUMERIC).to_string();
    vec![
        ("raw", secret.to_owned()),
        ("base64", core(&STANDARD.encode(secret), 0, secret.len())),
        ("base64 behind one byte", core(&STANDARD.encode(format!(":{secret}")), 1, secret.len())),
        ("base64 behind two bytes", core(&STANDARD.encode(format!("::{secret}")), 2, secret.len())),
        ("base64url", core(&URL_SAFE.encode(secret), 0, secret.len())),
        ("hex", hex::encode(secret)),
        ("HEX", hex::encode_upper(secret)),
        ("percent", percent.clone()),
        ("percent, lower", lower_escapes(&percent)),
        ("form", url::form_urlencoded::byte_serialize(secret.as_bytes()).collect()),
    ]
}

/// The part of an encoding that depends on the secret alone.
fn core(encoded: &str, offset: usize, bytes: usize) -> String {
    let (first, end) = ((offset * 8).div_ceil(6), (offset + bytes) * 8 / 6);
    encoded[first..end].to_owned()
}

/// Lower-cases the two digits behind each percent sign.
fn lower_escapes(text: &str) -> String {
    let mut parts = text.split('%');
    let first = parts.next().unwrap_or_default().to_owned();
    parts.fold(first, |all, part| all + "%" + &part[..2].to_lowercase() + &part[2..])
}
