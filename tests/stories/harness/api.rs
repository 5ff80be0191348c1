//! The hub's API, for looks that a story makes very often.

use loom_api::{Client, Endpoint};
use serde_json::{Value, json};

use super::World;

/// Most items of a page.
const PAGE: u32 = 500;

impl World {
    /// A client on the hub's socket.
    pub(crate) fn client(&self) -> Client {
        Client::new(Endpoint::Unix(self.home().join("run/loom.sock")), None)
    }

    /// Every item of a list; nothing when the hub cannot be asked now.
    pub(crate) async fn all(&self, path: &str, filters: &Value) -> Option<Vec<Value>> {
        let (mut items, mut cursor) = (Vec::new(), None::<String>);
        loop {
            let mut query = filters.clone();
            query["limit"] = json!(PAGE);
            if let Some(cursor) = &cursor {
                query["cursor"] = json!(cursor);
            }
            let call = self.client();
            let page: Value = call.get(path).query(&query).ok()?.run().await.ok()?;
            items.extend(page["items"].as_array()?.iter().cloned());
            cursor = page["nextCursor"].as_str().map(str::to_owned);
            if cursor.is_none() {
                return Some(items);
            }
        }
    }
}
