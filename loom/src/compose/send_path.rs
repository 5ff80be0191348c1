//! The send path that runs of connectors take from a command line: the API of the hub.

use std::time::Duration;

use async_trait::async_trait;
use loom_api::{Client, routes, view};
use loom_capabilities::{Letter, Recipient, SendPath, Sent};
use loom_domain::Result;
use loom_hub::order_of;
use serde_json::Value;

use crate::input::file;
use crate::output::pick;

/// Sends through a hub; why there is no client is told when one is needed.
pub(super) struct OfHub(pub(super) Result<Client>);

impl OfHub {
    fn client(&self) -> Result<&Client> {
        self.0.as_ref().map_err(Clone::clone)
    }
}

#[async_trait]
impl SendPath for OfHub {
    async fn recipient(&self, membership_id: &str) -> Result<Recipient> {
        let hub = self.client()?;
        let membership: Value = hub.get(routes::membership(membership_id)).run().await?;
        let address: Value = hub.get(routes::address(&pick::text(&membership, "addressId"))).run().await?;
        let connection: Value =
            hub.get(routes::connection(&pick::text(&address, "connectionId"))).run().await?;
        Ok(Recipient {
            provider: pick::text(&connection, "provider"),
            connection_id: pick::text(&connection, "id"),
            connection_state: pick::text(&connection, "health.state"),
            outbound_policy: pick::text(&membership, "outboundPolicy"),
            enabled: pick::is(&membership, "enabled"),
        })
    }

    async fn check(&self, letter: &Letter) -> Result<u32> {
        let files = file::open_all(&letter.files)?;
        let mut order = order_of(letter);
        order.content.files = files.iter().map(file::Attached::announced).collect();
        let call = self.client()?.post(routes::send_admission()).json(&order)?;
        Ok(call.run::<view::Admission>().await?.parts)
    }

    /// Files are announced before their bytes leave, so that a refused order leaves no copy.
    async fn send(&self, letter: &Letter, wait: Duration) -> Result<Sent> {
        let hub = self.client()?;
        let files = file::open_all(&letter.files)?;
        let mut order = order_of(letter);
        if !files.is_empty() {
            order.content.files = files.iter().map(file::Attached::announced).collect();
            hub.post(routes::send_admission()).json(&order)?.run::<Value>().await?;
            order.content.files.clear();
        }
        for file in files {
            order.content.files.push(file.upload(hub).await?);
        }
        let entry: view::OutboxEntry =
            hub.post(routes::send()).wait(wait.as_secs()).json(&order)?.run().await?;
        Ok(Sent { item: entry.item, parts: entry.parts, duplicate: entry.duplicate })
    }
}
