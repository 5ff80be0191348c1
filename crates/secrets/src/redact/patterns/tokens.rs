//! Tokens that providers mark with a prefix.

use super::{Hits, Tail, begins_word, byte_at, is_word, run, starts_with};
use crate::Rule;

/// Longest stretch of a token that is looked at to decide.
const TOKEN_HEAD_BYTES: usize = 128;

struct Form {
    prefix: &'static str,
    rule: Rule,
    class: fn(u8) -> bool,
    least: usize,
    /// The only length, for forms that are short of other marks.
    most: usize,
    digit: bool,
}

const fn form(prefix: &'static str, rule: Rule, class: fn(u8) -> bool, least: usize) -> Form {
    Form { prefix, rule, class, least, most: usize::MAX, digit: false }
}

const FORMS: &[Form] = &[
    form("ghp_", Rule::GithubToken, is_word, 30),
    form("gho_", Rule::GithubToken, is_word, 30),
    form("ghu_", Rule::GithubToken, is_word, 30),
    form("ghs_", Rule::GithubToken, is_word, 30),
    form("ghr_", Rule::GithubToken, is_word, 30),
    form("github_pat_", Rule::GithubToken, is_word, 22),
    form("glpat-", Rule::GitlabToken, is_dotted, 20),
    form("xapp-", Rule::SlackToken, is_dotted, 10),
    form("xwfp-", Rule::SlackToken, is_dotted, 10),
    Form { digit: true, ..form("t-", Rule::LarkToken, is_alphanumeric, 30) },
    Form { digit: true, ..form("u-", Rule::LarkToken, is_alphanumeric, 30) },
    Form { digit: true, ..form("sk-", Rule::ModelKey, is_dashed, 20) },
    Form { most: 16, ..form("AKIA", Rule::AwsKey, is_upper, 16) },
    Form { most: 16, ..form("ASIA", Rule::AwsKey, is_upper, 16) },
    Form { most: 35, ..form("AIza", Rule::GcpKey, is_dashed, 35) },
    form("ya29.", Rule::GcpKey, is_dotted, 20),
    form("sk_live_", Rule::StripeKey, is_alphanumeric, 16),
    form("rk_live_", Rule::StripeKey, is_alphanumeric, 16),
    form("npm_", Rule::PackageToken, is_alphanumeric, 30),
    form("pypi-AgE", Rule::PackageToken, is_dashed, 16),
    form("whsec_", Rule::WebhookSecret, is_base64, 16),
    form("whsk_", Rule::WebhookSecret, is_base64, 16),
    form("loom_tok_", Rule::LoomToken, is_dashed, 16),
    form("lct_", Rule::LoomToken, is_dashed, 16),
];

/// A token whose prefix begins at the place.
pub(in crate::redact) fn token(text: &[u8], at: usize, hits: &mut Hits) {
    if !begins_word(text, at) {
        return;
    }
    if starts_with(text, at, b"xox") && byte_at(text, at + 4) == Some(b'-') {
        return check(text, at, at + 5, &form("", Rule::SlackToken, is_dotted, 10), hits);
    }
    if let Some(form) = FORMS.iter().find(|form| starts_with(text, at, form.prefix.as_bytes())) {
        check(text, at, at + form.prefix.len(), form, hits);
    }
}

fn check(text: &[u8], start: usize, body: usize, form: &Form, hits: &mut Hits) {
    let count = run(text, body, form.class, TOKEN_HEAD_BYTES);
    let head = text.get(body..body + count).unwrap_or_default();
    let slug = start.checked_sub(1).and_then(|at| byte_at(text, at)) == Some(b'-') && form.digit;
    let digit = !form.digit || head.iter().any(u8::is_ascii_digit);
    if count >= form.least && count <= form.most && digit && !slug {
        hits.add(text, form.rule, start, body + count, Tail::Class(form.class));
    }
}

/// A token after the `n` of an escaped line break.
pub(in crate::redact) fn token_after_escape(text: &[u8], at: usize, hits: &mut Hits) {
    token(text, at + 1, hits);
}

/// `github_pat_`, anchored at its `_pat`.
pub(in crate::redact) fn github_pat(text: &[u8], at: usize, hits: &mut Hits) {
    if let Some(start) = at.checked_sub(6).filter(|start| starts_with(text, *start, b"github_pat_")) {
        token(text, start, hits);
    }
}

/// `loom_tok_`, anchored at its `_tok`.
pub(in crate::redact) fn loom_token(text: &[u8], at: usize, hits: &mut Hits) {
    if let Some(start) = at.checked_sub(4).filter(|start| starts_with(text, *start, b"loom_tok_")) {
        token(text, start, hits);
    }
}

/// The value of `AccountKey=`, anchored at its `tKey`.
pub(in crate::redact) fn azure_key(text: &[u8], at: usize, hits: &mut Hits) {
    let body = at + 5;
    let named = at.checked_sub(6).is_some_and(|start| starts_with(text, start, b"AccountKey="));
    let count = run(text, body, is_base64, TOKEN_HEAD_BYTES);
    if named && count >= 20 {
        hits.add(text, Rule::AzureKey, body, body + count, Tail::Class(is_base64));
    }
}

/// An age identity, anchored at its `T-KE`.
pub(in crate::redact) fn age_key(text: &[u8], at: usize, hits: &mut Hits) {
    const PREFIX: &[u8] = b"AGE-SECRET-KEY-1";
    let Some(start) = at.checked_sub(9).filter(|start| starts_with(text, *start, PREFIX)) else { return };
    let body = start + PREFIX.len();
    if begins_word(text, start) && run(text, body, is_upper, 40) == 40 {
        hits.add(text, Rule::AgeKey, start, body, Tail::Class(is_upper));
    }
}

fn is_alphanumeric(byte: u8) -> bool {
    byte.is_ascii_alphanumeric()
}

fn is_upper(byte: u8) -> bool {
    byte.is_ascii_uppercase() || byte.is_ascii_digit()
}

fn is_dashed(byte: u8) -> bool {
    is_word(byte) || byte == b'-'
}

fn is_dotted(byte: u8) -> bool {
    is_dashed(byte) || byte == b'.'
}

fn is_base64(byte: u8) -> bool {
    is_dashed(byte) || matches!(byte, b'+' | b'/' | b'=')
}
