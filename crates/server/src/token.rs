//! Tokens: their form, what is stored of them, and how one is checked (platform specification, ID-1 to ID-5).

use async_trait::async_trait;
use loom_domain::{Error, Principal, Timestamp, TokenId, is_ulid};
use subtle::ConstantTimeEq as _;

pub use loom_hub::token::{Minted, SECRET_BYTES, TokenKind, mint, secret_sha256};

const SECRET_CHARS: usize = 43;
const ULID_CHARS: usize = 26;

/// A narrow right of a token.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Scope {
    /// Read Inbox items.
    InboxRead,
    /// Decide Inbox items.
    InboxAct,
    /// Send.
    OutboxSend,
    /// Run connectors.
    ConnectorsRun,
    /// Write to other Agents.
    MsgSend,
    /// Read state.
    StatusRead,
    /// Hand in Events.
    Ingress,
    /// Take commands.
    Commands,
    /// Everything the principal's kind may do; no narrow token holds it.
    Whole,
}

impl Scope {
    /// Finds a narrow scope by its text.
    pub fn parse(text: &str) -> Option<Scope> {
        Some(match text {
            "inbox:read" => Scope::InboxRead,
            "inbox:act" => Scope::InboxAct,
            "outbox:send" => Scope::OutboxSend,
            "connectors:run" => Scope::ConnectorsRun,
            "msg:send" => Scope::MsgSend,
            "status:read" => Scope::StatusRead,
            "ingress" => Scope::Ingress,
            "commands" => Scope::Commands,
            _ => return None,
        })
    }
}

/// The rights of a principal: all of its kind, or a closed list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Scopes {
    /// All rights of the kind.
    All,
    /// These only.
    Only(Vec<Scope>),
}

impl Scopes {
    /// Whether the scope is held.
    pub fn hold(&self, scope: Scope) -> bool {
        match self {
            Scopes::All => true,
            Scopes::Only(list) => list.contains(&scope),
        }
    }
}

/// What the store keeps of a token.
#[derive(Debug, Clone)]
pub struct StoredToken {
    /// Who the bearer is.
    pub principal: Principal,
    /// What the bearer may do.
    pub scopes: Scopes,
    /// SHA-256 of the secret part.
    pub sha256: [u8; 32],
    /// End of validity.
    pub expires_at: Option<Timestamp>,
    /// Whether it was revoked.
    pub revoked: bool,
}

/// Where tokens are looked up.
#[async_trait]
pub trait TokenStore: Send + Sync + 'static {
    /// Finds a token by its id.
    async fn lookup(&self, id: &TokenId) -> Result<Option<StoredToken>, Error>;
}

/// A token as presented, split into its parts.
pub(crate) struct Presented<'a> {
    pub(crate) kind: TokenKind,
    pub(crate) id: TokenId,
    pub(crate) secret: &'a str,
}

impl<'a> Presented<'a> {
    /// Reads a token; anything that is not exactly of the form gives `None`.
    pub(crate) fn parse(text: &'a str) -> Option<Self> {
        let (kind, rest) = [TokenKind::Person, TokenKind::Connector]
            .into_iter()
            .find_map(|kind| Some((kind, text.strip_prefix(kind.prefix())?)))?;
        let (ulid, secret) = rest.split_at_checked(ULID_CHARS)?;
        let secret = secret.strip_prefix('_')?;
        let well_formed = is_ulid(ulid)
            && secret.len() == SECRET_CHARS
            && secret.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-' || b == b'_');
        let id = format!("{}{ulid}", TokenId::PREFIX).parse().ok()?;
        well_formed.then_some(Presented { kind, id, secret })
    }

    /// Whether the stored record admits this token now. The compare takes the same time for every content.
    pub(crate) fn admitted_by(&self, stored: &StoredToken, now: Timestamp) -> bool {
        let same = bool::from(secret_sha256(self.secret).ct_eq(&stored.sha256));
        let of_kind =
            matches!(stored.principal, Principal::Connector(_)) == (self.kind == TokenKind::Connector);
        same && of_kind && !stored.revoked && stored.expires_at.is_none_or(|end| now < end)
    }
}

/// Whether a path or query carries something that looks like a token.
pub(crate) fn stands_in(path_and_query: &str) -> bool {
    const NAMES: [&str; 5] = ["token", "access_token", "loom_token", "api_key", "authorization"];
    let decoded = path_and_query.replace("%5F", "_").replace("%5f", "_").to_ascii_lowercase();
    let named = decoded.split_once('?').is_some_and(|(_, query)| {
        query.split('&').any(|pair| NAMES.contains(&pair.split('=').next().unwrap_or_default()))
    });
    named || decoded.contains(TokenKind::Person.prefix()) || decoded.contains(TokenKind::Connector.prefix())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn token(kind: TokenKind) -> Minted {
        mint(kind, TokenId::new(1_000, 5), &[7; SECRET_BYTES])
    }

    /// ID-1: prefix, ulid, underscore, 43 base64url characters; the stored part is a hash.
    #[test]
    fn id_1_form_of_a_token() {
        for kind in [TokenKind::Person, TokenKind::Connector] {
            let minted = token(kind);
            assert_eq!(minted.value.len(), kind.prefix().len() + 26 + 1 + 43);
            let presented = Presented::parse(&minted.value).unwrap();
            assert_eq!((presented.kind, &presented.id), (kind, &minted.id));
            assert_eq!(secret_sha256(presented.secret), minted.sha256);
        }
        let good = token(TokenKind::Person).value;
        for bad in
            ["", "loom_tok_", "Bearer x", &good[..good.len() - 1], &format!("{good}A"), &good.to_uppercase()]
        {
            assert!(Presented::parse(bad).is_none(), "{bad}");
        }
    }

    /// ID-1: a wrong secret, an end in the past, a revocation or a foreign kind is not admitted.
    #[test]
    fn id_1_admission() {
        let minted = token(TokenKind::Person);
        let presented = Presented::parse(&minted.value).unwrap();
        let stored = StoredToken {
            principal: Principal::Viewer,
            scopes: Scopes::All,
            sha256: minted.sha256,
            expires_at: Some(Timestamp(10)),
            revoked: false,
        };
        assert!(presented.admitted_by(&stored, Timestamp(9)));
        assert!(!presented.admitted_by(&stored, Timestamp(10)));
        assert!(!presented.admitted_by(&StoredToken { revoked: true, ..stored.clone() }, Timestamp(9)));
        assert!(!presented.admitted_by(&StoredToken { sha256: [0; 32], ..stored.clone() }, Timestamp(9)));
        let connector = Principal::Connector(loom_domain::ConnectionId::new(1, 1));
        assert!(!presented.admitted_by(&StoredToken { principal: connector, ..stored }, Timestamp(9)));
    }

    /// ID-5, ATK-09: a token is recognised wherever it stands in a URL.
    #[test]
    fn id_5_tokens_in_urls_are_seen() {
        let value = token(TokenKind::Person).value;
        let escaped = value.replace('_', "%5F");
        for url in [
            format!("/v1/inbox?t={value}"),
            format!("/v1/{value}"),
            format!("/?x={escaped}"),
            "/?token=x".into(),
        ] {
            assert!(stands_in(&url), "{url}");
        }
        assert!(!stands_in("/v1/inbox?agent=docs&limit=50"));
    }
}
