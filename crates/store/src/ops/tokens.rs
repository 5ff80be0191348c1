//! Tokens: who a caller is. Only digests are stored.

use loom_domain::{Error, Result, Timestamp, TokenId};
use serde::{Deserialize, Serialize};
use serde_json::json;

use crate::{Act, Audit, Store, docs, docs::Doc, params, tx::Value};

const SCOPES_MAX: usize = 32;
const SUBJECT_BYTES_MAX: usize = 256;
const LIST_MAX: i64 = 500;

/// A stored token; its value is known to its holder alone.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Token {
    /// Id, for revocation.
    pub id: TokenId,
    /// Order of commit.
    #[serde(default)]
    pub seq: u64,
    /// Kind word: `owner`, `viewer`, `agent`, `connector`.
    pub kind: String,
    /// Object it stands for, such as `agt_…` or `con_…`.
    pub subject: String,
    /// Digest of the value, hex SHA-256.
    pub sha256: String,
    /// What it may do; empty means everything its kind may.
    #[serde(default)]
    pub scopes: Vec<String>,
    /// Creation.
    pub created_at: Timestamp,
    /// Its end.
    pub expires_at: Option<Timestamp>,
    /// When it was revoked.
    pub revoked_at: Option<Timestamp>,
}

impl Token {
    /// Whether it counts at a time.
    pub fn is_live(&self, now: Timestamp) -> bool {
        self.revoked_at.is_none() && self.expires_at.is_none_or(|end| end > now)
    }
}

impl Doc for Token {
    const TABLE: &'static str = "tokens";
    const KIND: &'static str = "token";
    fn id(&self) -> &str {
        self.id.as_str()
    }
    fn columns(&self) -> Vec<(&'static str, Value)> {
        vec![
            ("seq", self.seq.into()),
            ("subject", self.subject.as_str().into()),
            ("revoked", self.revoked_at.is_some().into()),
        ]
    }
}

impl Store {
    /// Stores a token. Its order and creation time are set here.
    pub async fn put_token(&self, act: Act, token: Token) -> Result<Token> {
        if token.scopes.len() > SCOPES_MAX || token.subject.len() > SUBJECT_BYTES_MAX {
            return Err(Error::invalid("token", "too many scopes, or too long a subject"));
        }
        self.write(act, move |unit| {
            let stored = Token { seq: unit.seq()?, created_at: unit.now, revoked_at: None, ..token.clone() };
            docs::insert(unit.tx, &stored)?;
            record(unit, "token.issue", &stored)?;
            Ok(stored)
        })
        .await
    }

    /// A token by id, revoked ones too. The caller compares the digest in constant time.
    pub async fn token(&self, id: TokenId) -> Result<Option<Token>> {
        self.read(move |tx| docs::get(tx, id.as_str())).await
    }

    /// Tokens of a subject, newest first; revoked ones only with `all`.
    pub async fn tokens_of(&self, subject: String, all: bool) -> Result<Vec<Token>> {
        self.read(move |tx| {
            let condition = if all { "subject = ?1" } else { "subject = ?1 AND revoked = 0" };
            docs::select(tx, &format!("{condition} ORDER BY seq DESC LIMIT ?2"), &params![subject, LIST_MAX])
        })
        .await
    }

    /// Revokes every live token of a kind: those of runtimes end with the hub that made them.
    pub async fn revoke_kind(&self, act: Act, kind: String) -> Result<u64> {
        self.write(act, move |unit| {
            let live: Vec<Token> = docs::select(unit.tx, "revoked = 0 ORDER BY seq", &[])?;
            let mut revoked = 0;
            for mut token in live.into_iter().filter(|token| token.kind == kind) {
                token.revoked_at = Some(unit.now);
                docs::update(unit.tx, &token)?;
                record(unit, "token.revoke", &token)?;
                revoked += 1;
            }
            Ok(revoked)
        })
        .await
    }

    /// Revokes a token. A repeat changes nothing.
    pub async fn revoke_token(&self, act: Act, id: TokenId) -> Result<Token> {
        self.write(act, move |unit| {
            let mut token: Token = docs::require_locked(unit.tx, id.as_str())?;
            if token.revoked_at.is_none() {
                token.revoked_at = Some(unit.now);
                docs::update(unit.tx, &token)?;
                record(unit, "token.revoke", &token)?;
                unit.wake(crate::Topic::Config);
            }
            Ok(token)
        })
        .await
    }
}

fn record(unit: &mut crate::Unit<'_>, action: &str, token: &Token) -> Result<()> {
    unit.audit(&Audit {
        action,
        object: token.id.as_str(),
        versions: (None, None),
        outcome: "ok",
        detail: json!({"kind": token.kind, "subject": token.subject}),
    })
}
