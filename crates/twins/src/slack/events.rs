//! Events API payloads and who gets them.

use serde_json::{Map, Value, json};

use super::blocks;
use super::message::{MetadataView, put};
use super::world::World;

impl World {
    /// Wraps an event as `event_callback` and queues it, with the copies the knobs ask for.
    pub(super) fn emit(&mut self, event: &Value) -> Vec<String> {
        if self.knobs.silent {
            self.delivery.suppressed += 1;
            return Vec::new();
        }
        (0..=self.knobs.duplicate_events).map(|_| self.emit_once(event)).collect()
    }

    fn emit_once(&mut self, event: &Value) -> String {
        let payload = self.callback(event);
        let id = payload.get("event_id").and_then(Value::as_str).unwrap_or_default().to_owned();
        self.queue("events_api", payload);
        if self.knobs.reorder_events {
            self.delivery.swap_newest();
        }
        id
    }

    /// Queues any payload under a new envelope id.
    pub(super) fn queue(&mut self, kind: &str, payload: Value) {
        let envelope = self.ids.uuid();
        self.delivery.queue(envelope, kind, payload);
    }

    fn callback(&mut self, event: &Value) -> Value {
        let ts = event.get("event_ts").and_then(Value::as_str).unwrap_or_default();
        let seconds = ts.split('.').next().and_then(|s| s.parse::<u64>().ok()).unwrap_or_default();
        let channel = event.get("channel").and_then(Value::as_str).and_then(|id| self.channels.get(id));
        let shared = channel.is_some_and(|c| c.ext_shared);
        json!({"token": "legacy-verification-token", "team_id": self.cfg.team, "context_team_id": self.cfg.team,
            "context_enterprise_id": null, "api_app_id": self.cfg.app, "event": event, "type": "event_callback",
            "event_id": self.ids.id("Ev"), "event_time": seconds, "is_ext_shared_channel": shared,
            "event_context": self.ids.id("4-"),
            "authorizations": [{"enterprise_id": null, "team_id": self.cfg.team, "user_id": self.cfg.bot_user,
                "is_bot": true, "is_enterprise_install": false}]})
    }

    /// Tells the app about a new message: `message`, and `app_mention` if it names the bot outside a DM.
    pub(super) fn emit_posted(&mut self, channel: &str, ts: &str) -> Vec<String> {
        if !self.bot_is_in(channel) {
            return Vec::new();
        }
        let Some((message, event)) = self.posted_event(channel, ts) else { return Vec::new() };
        let own = message.bot_id.as_deref() == Some(self.cfg.bot_id.as_str());
        let direct = self.channels.get(channel).is_some_and(|c| c.kind == super::ChannelKind::Im);
        let mentions = !own && !direct && blocks::mentioned(&message.text).contains(&self.cfg.bot_user);
        let mut ids = Vec::new();
        if (!own || self.knobs.echo_own) && (!mentions || self.knobs.mention_message_event) {
            ids.extend(self.emit(&Value::Object(event.clone())));
        }
        if mentions {
            ids.extend(self.emit(&mention_event(event)));
        }
        ids
    }

    fn posted_event(&self, channel: &str, ts: &str) -> Option<(super::message::Message, Map<String, Value>)> {
        let message = self.message(channel, ts)?.clone();
        let mut event = message.view(self, channel, MetadataView::Full);
        self.put_place(&mut event, channel, ts);
        if message.broadcast {
            event.insert("subtype".into(), json!("thread_broadcast"));
            let root = self.message(channel, message.root());
            let root = root.map(|r| r.view(self, channel, MetadataView::None));
            put(&mut event, "root", root.as_ref());
        }
        Some((message, event))
    }

    fn put_place(&self, event: &mut Map<String, Value>, channel: &str, event_ts: &str) {
        event.insert("channel".into(), json!(channel));
        event.insert("event_ts".into(), json!(event_ts));
        let kind = self.channels.get(channel).map(|c| c.kind.as_str());
        put(event, "channel_type", kind.as_ref());
    }

    /// `message_changed`, for an edit, an unfurl or a reply counter.
    pub(super) fn emit_changed(
        &mut self,
        channel: &str,
        ts: &str,
        previous: Map<String, Value>,
    ) -> Vec<String> {
        let Some(message) = self.message(channel, ts) else { return Vec::new() };
        let message = message.view(self, channel, MetadataView::Full);
        let parts = [("message", Value::Object(message)), ("previous_message", Value::Object(previous))];
        self.emit_hidden(channel, "message_changed", parts.into_iter().collect())
    }

    /// `message_deleted`.
    pub(super) fn emit_deleted(
        &mut self,
        channel: &str,
        ts: &str,
        previous: Map<String, Value>,
    ) -> Vec<String> {
        let parts = [("deleted_ts", json!(ts)), ("previous_message", Value::Object(previous))];
        self.emit_hidden(channel, "message_deleted", parts.into_iter().collect())
    }

    fn emit_hidden(&mut self, channel: &str, subtype: &str, parts: Vec<(&str, Value)>) -> Vec<String> {
        if !self.bot_is_in(channel) {
            return Vec::new();
        }
        let now = self.ids.ts();
        let mut event = Map::new();
        event.insert("type".into(), json!("message"));
        event.insert("subtype".into(), json!(subtype));
        event.insert("hidden".into(), json!(true));
        event.insert("ts".into(), json!(now));
        event.extend(parts.into_iter().map(|(k, v)| (k.to_owned(), v)));
        self.put_place(&mut event, channel, &now);
        self.emit(&Value::Object(event))
    }

    /// `reaction_added` or `reaction_removed`.
    pub(super) fn emit_reaction(
        &mut self,
        kind: &str,
        user: &str,
        channel: &str,
        ts: &str,
        name: &str,
    ) -> Vec<String> {
        if !self.bot_is_in(channel) {
            return Vec::new();
        }
        let owner = self.message(channel, ts).and_then(|m| m.user.clone());
        let now = self.ids.ts();
        self.emit(&json!({"type": kind, "user": user, "reaction": name, "item_user": owner, "event_ts": now,
            "item": {"type": "message", "channel": channel, "ts": ts}}))
    }

    /// `member_joined_channel` or `member_left_channel`.
    pub(super) fn emit_member(&mut self, kind: &str, user: &str, channel: &str) -> Vec<String> {
        let channel_type = match self.channels.get(channel).map(|c| c.kind) {
            Some(super::ChannelKind::Channel) => "C",
            _ => "G",
        };
        let now = self.ids.ts();
        self.emit(&json!({"type": kind, "user": user, "channel": channel, "channel_type": channel_type,
            "team": self.cfg.team, "event_ts": now}))
    }
}

fn mention_event(mut event: Map<String, Value>) -> Value {
    event.insert("type".into(), json!("app_mention"));
    for absent in ["channel_type", "subtype", "parent_user_id", "root", "upload"] {
        event.remove(absent);
    }
    Value::Object(event)
}
