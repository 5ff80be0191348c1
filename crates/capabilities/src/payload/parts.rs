//! Large results are kept as parts of whole items, so that no stored document grows without limit.

use loom_domain::Result;
use serde_json::Value;

use super::{Part, Payload};

/// Bytes of one stored document.
const PART_BYTES_MAX: usize = 1024 * 1024;
/// Room for everything but fields and items.
const FRAME_BYTES: usize = 64 * 1024;

impl Payload {
    /// Hands the documents that are kept of this one to `keep`, sealed, each made when its turn comes; most payloads
    /// are one. Gives the id of the first and their number.
    pub(crate) fn keep_parts(&mut self, keep: impl FnMut(&Payload) -> Result<()>) -> Result<(String, u32)> {
        let (fields, items) = (std::mem::take(&mut self.fields), std::mem::take(&mut self.items));
        let kept = self.each_part(&fields, &items, keep);
        (self.fields, self.items) = (fields, items);
        kept
    }

    fn each_part(
        &self,
        fields: &Value,
        items: &[Value],
        mut keep: impl FnMut(&Payload) -> Result<()>,
    ) -> Result<(String, u32)> {
        let chunks = chunks(fields, items);
        let count = u32::try_from(chunks.len()).unwrap_or(u32::MAX);
        let mut first = String::new();
        for (index, items) in (0..count).zip(chunks) {
            let part = Payload {
                part: Part { index, count },
                fields: if index == 0 { fields.clone() } else { Value::Null },
                item_count: items.len() as u64,
                items: items.to_vec(),
                ..self.clone()
            };
            let part = part.seal();
            keep(&part)?;
            if index == 0 {
                first = part.payload_id;
            }
        }
        Ok((first, count))
    }
}

/// The items of each part: as many as fit, and one at least.
fn chunks<'a>(fields: &Value, items: &'a [Value]) -> Vec<&'a [Value]> {
    let mut chunks = Vec::new();
    let mut begin = 0;
    let mut room = (PART_BYTES_MAX - FRAME_BYTES).saturating_sub(fields.to_string().len());
    for (n, item) in items.iter().enumerate() {
        let bytes = item.to_string().len() + 1;
        if bytes > room && n > begin {
            chunks.extend(items.get(begin..n));
            (begin, room) = (n, PART_BYTES_MAX - FRAME_BYTES);
        }
        room = room.saturating_sub(bytes);
    }
    chunks.extend(items.get(begin..));
    chunks
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

    fn parts_of(payload: &mut Payload) -> Vec<Payload> {
        let mut parts = Vec::new();
        let told = payload.keep_parts(|part| {
            parts.push(part.clone());
            Ok(())
        });
        let count = u32::try_from(parts.len()).unwrap();
        assert_eq!(told.unwrap(), (parts[0].payload_id.clone(), count));
        parts
    }

    #[tokio::test]
    async fn parts_hold_every_item_once_and_none_is_too_large() {
        let mut payload = with_items(300, 10_000).await;
        let parts = parts_of(&mut payload);
        assert!(parts.len() > 2 && parts.iter().all(|part| part.part.count as usize == parts.len()));
        let items: Vec<_> = parts.iter().flat_map(|part| part.items.clone()).collect();
        assert_eq!(items, payload.items);
        assert!(parts.iter().all(|part| serde_json::to_vec(part).unwrap().len() <= 1024 * 1024));
        assert!(parts.iter().all(|part| part.run_id == payload.run_id));
        assert!(parts[1].fields.is_null() && !parts[0].fields.is_null());
        assert!(parts.iter().all(|part| part.clone().seal().payload_id == part.payload_id));
        assert_eq!(parts_of(&mut with_items(3, 10).await).len(), 1);
    }
}
