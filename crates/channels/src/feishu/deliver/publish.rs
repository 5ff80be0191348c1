//! The calls that people see: send and answer, each with the uuid of its Part.

use loom_domain::Timestamp;
use loom_transport::Method;
use serde_json::{Map, Value, json};

use super::super::Inner;
use super::super::api::Call;
use super::super::errors::{Effect, Endpoint, NO_TOPICS};
use super::super::uuid;
use super::super::wire::{data, receive_id_type, text, time_ms};
use super::Place;
use crate::{Fault, FaultClass, SendPart, SentIds};

impl Inner {
    /// Sends a message of a type with its content. In a group without topics an answer in a topic was refused
    /// whole, and goes to the group plainly.
    pub(super) async fn publish(
        &self,
        part: &SendPart,
        place: &Place,
        kind: &str,
        content: &Value,
    ) -> Result<SentIds, Fault> {
        let answer = self.api.call(&call(part, place, kind, content)).await;
        let answer = match answer {
            Err(fault) if fault.code == NO_TOPICS && *place != Place::Conversation => {
                self.api.call(&call(part, &Place::Conversation, kind, content)).await
            }
            answer => answer,
        };
        sent(&answer?)
    }
}

fn call(part: &SendPart, place: &Place, kind: &str, content: &Value) -> Call {
    let mut body = Map::new();
    body.insert("msg_type".into(), json!(kind));
    body.insert("content".into(), json!(content.to_string()));
    body.insert("uuid".into(), json!(uuid::of_part(&part.part_id)));
    let conversation = part.conversation_id.as_str();
    let (mut call, endpoint) = match place {
        Place::Conversation => {
            body.insert("receive_id".into(), json!(conversation));
            let call = Call::quiet("send", Method::POST, "im/v1/messages");
            (call.query("receive_id_type", receive_id_type(conversation)), Endpoint::Send)
        }
        Place::Answer { message, in_thread } => {
            if *in_thread {
                body.insert("reply_in_thread".into(), json!(true));
            }
            (Call::quiet("reply", Method::POST, format!("im/v1/messages/{message}/reply")), Endpoint::Reply)
        }
    };
    call.endpoint = endpoint;
    call.effect = Effect::Publish;
    call.ask.chat = Some(conversation.to_owned());
    call.json(Value::Object(body))
}

/// A success without an id proves nothing.
fn sent(body: &Value) -> Result<SentIds, Fault> {
    let data = data(body);
    let id = text(data, "message_id").ok_or_else(|| {
        Fault::new(FaultClass::Unknown, "missing_message_id", "send: the answer names no message")
    })?;
    Ok(SentIds {
        message_id: Some(id.to_owned()),
        file_id: None,
        thread_id: text(data, "thread_id").map(str::to_owned),
        permalink: None,
        provider_time: time_ms(data, "create_time").map(Timestamp),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// MSG-169: a success without an id is not a delivery.
    #[test]
    fn msg_169_a_success_without_an_id_is_unknown() {
        let fault = sent(&json!({"code": 0, "data": {"chat_id": "oc_1"}})).unwrap_err();
        assert_eq!(fault.class, FaultClass::Unknown);
        let ids = sent(&json!({"code": 0, "data": {"message_id": "om_1", "create_time": "5"}})).unwrap();
        assert_eq!((ids.message_id.as_deref(), ids.provider_time), (Some("om_1"), Some(Timestamp(5))));
    }
}
