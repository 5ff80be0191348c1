//! Tokens of a hub.

use async_trait::async_trait;
use loom_api::{request, view};
use loom_domain::{ConnectionId, Error, Principal, TokenId};
use loom_store::ops::tokens::Token;

use super::HubDesk;
use crate::desk::Tokens;
use crate::{SECRET_BYTES, Scope, Scopes, StoredToken, TokenKind, TokenStore, mint};

const CONNECTOR: &str = "connector";
const HALF_BYTES: usize = SECRET_BYTES / 2;

#[async_trait]
impl Tokens for HubDesk {
    async fn issue_token(
        &self,
        who: Principal,
        id: ConnectionId,
        request: request::IssueToken,
    ) -> Result<view::IssuedToken, Error> {
        self.hub.store().connection(id.clone()).await?;
        let act = self.act(who);
        let mut random = [0; SECRET_BYTES];
        for half in random.chunks_mut(HALF_BYTES) {
            half.copy_from_slice(&(act.entropy)().to_ne_bytes());
        }
        let minted = mint(TokenKind::Connector, TokenId::new(act.now.0, (act.entropy)()), &random);
        let lifetime_ms =
            request.ttl_seconds.map(|s| i64::try_from(s.saturating_mul(1_000)).unwrap_or(i64::MAX));
        let token = Token {
            id: minted.id.clone(),
            seq: 0,
            kind: CONNECTOR.to_owned(),
            subject: id.to_string(),
            sha256: hex::encode(minted.sha256),
            scopes: Vec::new(),
            created_at: act.now,
            expires_at: lifetime_ms.map(|ms| act.now.plus_ms(ms)),
            revoked_at: None,
        };
        let stored = self.hub.store().put_token(act, token).await?;
        Ok(view::IssuedToken { id: stored.id, token: minted.value, expires_at: stored.expires_at })
    }

    async fn revoke_token(&self, who: Principal, id: ConnectionId, token: TokenId) -> Result<(), Error> {
        let stored = self.hub.store().token(token.clone()).await?;
        if stored.is_none_or(|stored| stored.subject != id.as_str()) {
            return Err(Error::not_found("token", token.as_str()));
        }
        self.hub.store().revoke_token(self.act(who), token).await?;
        Ok(())
    }
}

#[async_trait]
impl TokenStore for HubDesk {
    async fn lookup(&self, id: &TokenId) -> Result<Option<StoredToken>, Error> {
        self.hub.store().token(id.clone()).await?.as_ref().map(stored_token).transpose()
    }
}

/// A stored token as the guards read it.
pub(crate) fn stored_token(token: &Token) -> Result<StoredToken, Error> {
    let mut sha256 = [0; 32];
    hex::decode_to_slice(&token.sha256, &mut sha256).map_err(Error::internal)?;
    Ok(StoredToken {
        principal: principal_of(token)?,
        scopes: scopes_of(token),
        sha256,
        expires_at: token.expires_at,
        revoked: token.revoked_at.is_some(),
    })
}

fn principal_of(token: &Token) -> Result<Principal, Error> {
    Ok(match token.kind.as_str() {
        "owner" => Principal::Owner,
        "viewer" => Principal::Viewer,
        "agent" => Principal::Agent(token.subject.parse()?),
        CONNECTOR => Principal::Connector(token.subject.parse()?),
        _ => return Err(Error::internal("a stored token of an unknown kind")),
    })
}

/// No scopes mean all of the kind; a word that is not known grants nothing.
fn scopes_of(token: &Token) -> Scopes {
    if token.scopes.is_empty() {
        return Scopes::All;
    }
    Scopes::Only(token.scopes.iter().filter_map(|word| Scope::parse(word)).collect())
}
