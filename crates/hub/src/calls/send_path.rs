//! The send path that runs of connectors take: the same as everybody else's, as whoever asked for the run.

use std::time::Duration;

use async_trait::async_trait;
use loom_api::{request, view};
use loom_capabilities::{Letter, Recipient, SendPath, Sent};
use loom_domain::{Code, Error, Principal, Result};

use crate::hub::Hub;

/// Sends for a principal.
pub(crate) struct Path {
    pub(crate) hub: Hub,
    pub(crate) who: Principal,
}

#[async_trait]
impl SendPath for Path {
    async fn recipient(&self, membership_id: &str) -> Result<Recipient> {
        let store = self.hub.store();
        let membership = store.membership(membership_id.parse()?).await?;
        let address = store.address(membership.address_id).await?;
        let connection = store.connection(address.connection_id).await?;
        let health = self.hub.connection_health(&connection.id);
        Ok(Recipient {
            provider: connection.provider,
            connection_id: connection.id.to_string(),
            connection_state: health.state.to_string(),
            outbound_policy: membership.outbound_policy.to_string(),
            enabled: membership.enabled,
        })
    }

    async fn check(&self, letter: &Letter) -> Result<u32> {
        Ok(self.hub.admission(self.who.clone(), order(letter)?).await?.parts)
    }

    async fn send(&self, letter: &Letter, wait: Duration) -> Result<Sent> {
        let entry = self.hub.send(self.who.clone(), order(letter)?, wait).await?;
        let view::OutboxEntry { item, parts, duplicate } = entry;
        Ok(Sent { item, parts, duplicate })
    }
}

/// No path of a caller is opened here.
fn order(letter: &Letter) -> Result<request::Send> {
    if !letter.files.is_empty() {
        let why = "files are sent by a command of the owner, or by an Agent with `integration send`";
        return Err(Error::new(Code::Forbidden, why).with_hint("loom integration send --file F"));
    }
    Ok(order_of(letter))
}

/// The send that a letter asks for, without its files: those are attached by whoever may open them.
pub fn order_of(letter: &Letter) -> request::Send {
    request::Send {
        from: None,
        inbox_item_id: None,
        membership_id: Some(letter.membership_id.clone()),
        content: request::Content { text: letter.text.clone(), format: None, files: Vec::new() },
        expect_reply: letter.expect_reply,
        idempotency_key: Some(letter.idempotency_key.clone()),
        target: None,
        ttl_seconds: None,
        urgent: false,
    }
}
