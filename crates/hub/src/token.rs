//! Tokens: their form and how one is made (platform specification ID-1). The value is shown once; a digest is stored.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use loom_domain::TokenId;
use sha2::{Digest as _, Sha256};

/// Random bytes of a token's secret part.
pub const SECRET_BYTES: usize = 32;

/// What a token is for; it decides the prefix.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TokenKind {
    /// Owner, viewer or Agent: `loom_tok_`.
    Person,
    /// A connector of one Connection: `lct_`.
    Connector,
}

impl TokenKind {
    /// The text before the id.
    pub const fn prefix(self) -> &'static str {
        match self {
            TokenKind::Person => "loom_tok_",
            TokenKind::Connector => "lct_",
        }
    }
}

/// A token just made; the value is shown once and never stored.
pub struct Minted {
    /// Its id.
    pub id: TokenId,
    /// The whole token.
    pub value: String,
    /// What to store.
    pub sha256: [u8; 32],
}

/// Makes a token from its id and 256 random bits.
pub fn mint(kind: TokenKind, id: TokenId, random: &[u8; SECRET_BYTES]) -> Minted {
    let secret = URL_SAFE_NO_PAD.encode(random);
    let value = format!("{}{}_{secret}", kind.prefix(), ulid_of(&id));
    Minted { sha256: secret_sha256(&secret), id, value }
}

/// SHA-256 of a token's secret part.
pub fn secret_sha256(secret: &str) -> [u8; 32] {
    Sha256::digest(secret.as_bytes()).into()
}

fn ulid_of(id: &TokenId) -> &str {
    id.as_str().strip_prefix(TokenId::PREFIX).unwrap_or_default()
}
