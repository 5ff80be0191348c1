//! Reads payloads piece by piece: what an Agent's input holds only the beginning of.

use loom_capabilities::{TURNS_LISTED_MAX, blocking};
use loom_domain::text::prefix;
use loom_domain::{Code, Error, Principal, Result};
use serde_json::{Value, json};

use crate::hub::Hub;

/// Largest piece of one answer.
const PIECE_BYTES_MAX: usize = 16 * 1024;

impl Hub {
    /// A piece of a payload, or of the member that a JSON pointer names, as JSON text from an offset on. An Agent reads
    /// the payloads of its own Turns.
    pub async fn payload_piece(
        &self,
        who: Principal,
        id: String,
        pointer: String,
        offset: usize,
    ) -> Result<Value> {
        let hub = self.clone();
        blocking(move || hub.piece(&who, &id, &pointer, offset)).await
    }

    fn piece(&self, who: &Principal, id: &str, pointer: &str, offset: usize) -> Result<Value> {
        let room = self.turn_room();
        let payload = room.payloads().show(id)?;
        let payload_id = payload.get("payload_id").and_then(Value::as_str).unwrap_or_default();
        if let Principal::Agent(agent) = who {
            let turns = room.newest().take(TURNS_LISTED_MAX);
            let own = turns.filter(|turn| turn.agent.as_ref().is_some_and(|one| one.id == agent.as_str()));
            let mut ids = own.flat_map(|turn| turn.connectors).filter_map(|one| one.payload_id);
            if !ids.any(|own| own == payload_id) {
                return Err(Error::new(Code::NotFound, "no payload of this name in the Turns of this Agent"));
            }
        } else {
            who.require_owner()?;
        }
        let member = payload.pointer(pointer).ok_or_else(|| {
            Error::new(Code::InvalidInput, format!("the payload has nothing at {}", prefix(pointer, 100)))
                .with_detail("pointer", "/pointer")
        })?;
        let text = member.to_string();
        let rest = text.get(offset..).ok_or_else(|| {
            let why = format!("the text has {} bytes, and no piece begins at {offset}", text.len());
            Error::new(Code::InvalidInput, why).with_detail("pointer", "/offset")
        })?;
        let piece = prefix(rest, PIECE_BYTES_MAX);
        let next = offset + piece.len();
        Ok(json!({
            "schema_version": "loom.payload_piece/v1", "payload_id": payload_id, "pointer": pointer,
            "content_trust": payload.get("content_trust"), "offset": offset, "total_bytes": text.len(), "text": piece,
            "next_offset": (next < text.len()).then_some(next),
        }))
    }
}
