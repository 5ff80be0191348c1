//! Large results are kept as parts of whole items, so that no stored document grows without limit.

use serde_json::Value;

use super::{Part, Payload};

/// Bytes of one stored document.
const PART_BYTES_MAX: usize = 1024 * 1024;
/// Room for everything but fields and items.
const FRAME_BYTES: usize = 64 * 1024;

impl Payload {
    /// The documents that are kept of this one, sealed; most payloads are one part.
    pub(crate) fn parts(&self) -> Vec<Payload> {
        let mut chunks: Vec<Vec<Value>> = vec![Vec::new()];
        let mut room = (PART_BYTES_MAX - FRAME_BYTES).saturating_sub(self.fields.to_string().len());
        for item in &self.items {
            let bytes = item.to_string().len() + 1;
            match chunks.last_mut() {
                Some(chunk) if bytes <= room || chunk.is_empty() => chunk.push(item.clone()),
                _ => {
                    chunks.push(vec![item.clone()]);
                    room = PART_BYTES_MAX - FRAME_BYTES;
                }
            }
            room = room.saturating_sub(bytes);
        }
        let shell = Payload { items: Vec::new(), fields: Value::Null, ..self.clone() };
        let count = u32::try_from(chunks.len()).unwrap_or(u32::MAX);
        let parts = (0..count).zip(chunks).map(|(index, items)| Payload {
            part: Part { index, count },
            fields: if index == 0 { self.fields.clone() } else { Value::Null },
            item_count: items.len() as u64,
            items,
            ..shell.clone()
        });
        parts.map(Payload::seal).collect()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use loom_transport::MockBackend;
    use serde_json::json;

    use crate::github_public_probe::GithubPublicProbe;
    use crate::{NoObserver, Payload, RunRequest, World};

    async fn with_items(count: u64, bytes: usize) -> Payload {
        let request =
            RunRequest { input: json!({"url": "https://github.com/o/r/issues/1"}), ..RunRequest::default() };
        let world = World::over(Arc::new(MockBackend::new()));
        let mut payload =
            crate::run(&world, &GithubPublicProbe::new(), request, None, &mut NoObserver).await.unwrap();
        payload.items = (0..count).map(|n| json!({"n": n, "text": "x".repeat(bytes)})).collect();
        payload.item_count = count;
        payload
    }

    #[tokio::test]
    async fn parts_hold_every_item_once_and_none_is_too_large() {
        let payload = with_items(300, 10_000).await;
        let parts = payload.parts();
        assert!(parts.len() > 2 && parts.iter().all(|part| part.part.count as usize == parts.len()));
        let items: Vec<_> = parts.iter().flat_map(|part| part.items.clone()).collect();
        assert_eq!(items, payload.items);
        assert!(parts.iter().all(|part| serde_json::to_vec(part).unwrap().len() <= 1024 * 1024));
        assert!(parts.iter().all(|part| part.run_id == payload.run_id));
        assert!(parts[1].fields.is_null() && !parts[0].fields.is_null());
        assert_eq!(with_items(3, 10).await.parts().len(), 1);
    }
}
