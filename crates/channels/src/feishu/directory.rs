//! Who we are, and which conversations there are.

use std::collections::BTreeSet;

use loom_domain::ConversationType;
use serde_json::Value;

use super::Inner;
use super::api::Call;
use super::wire::{data, flag, is_id, list, text};
use crate::{CandidateInfo, Fault, FaultClass, Identity};

/// Conversations that are listed.
const CANDIDATES_MAX: usize = 5_000;
/// Conversations of one page.
const PAGE: &str = "100";
/// States of an app that serves its tenant: enabled, and enabled with an upgrade pending.
const SERVING: &[i64] = &[2, 4];

impl Inner {
    /// Asks who the app is; also the proof that the platform is there.
    pub(super) async fn identify(&self) -> Result<String, Fault> {
        let body = self.api.call(&Call::get("bot info", "bot/v3/info")).await?;
        let bot = body.get("bot").unwrap_or(&Value::Null);
        let state = bot.get("activate_status").and_then(Value::as_i64);
        if let Some(state) = state.filter(|state| !SERVING.contains(state)) {
            let why = match state {
                0 | 3 => "the app is not enabled in the tenant yet",
                1 => "the app is disabled in the tenant",
                _ => "the licence or plan of the app has ended",
            };
            return Err(Fault::new(FaultClass::Auth, "app_not_enabled", why));
        }
        text(bot, "open_id").map(str::to_owned).ok_or_else(|| {
            let message = "the app has no bot; add the bot ability and publish a new version of the app";
            Fault::new(FaultClass::Config, "not_a_bot", message)
        })
    }

    pub(super) async fn verify(&self) -> Result<Identity, Fault> {
        let own = self.identify().await?;
        Ok(Identity {
            account: self.app_id.clone(),
            scope: None,
            identity: format!("feishu://{own}"),
            own_ids: vec![own, self.app_id.clone()],
            scopes: Vec::new(),
            missing_scopes: Vec::new(),
        })
    }

    /// The groups that the bot is in; the platform lists no conversations with single people.
    pub(super) async fn candidates(&self) -> Result<Vec<CandidateInfo>, Fault> {
        let (mut found, mut token, mut tokens) = (Vec::new(), String::new(), BTreeSet::new());
        while found.len() < CANDIDATES_MAX && tokens.insert(token.clone()) {
            let mut call = Call::get("chats", "im/v1/chats")
                .query("page_size", PAGE)
                .query("sort_type", "ByCreateTimeAsc");
            if !token.is_empty() {
                call = call.query("page_token", token.clone());
            }
            let body = self.api.call(&call).await?;
            let page = data(&body);
            for chat in list(page, "items") {
                found.extend(text(chat, "chat_id").map(|id| candidate(id, chat)));
            }
            text(page, "page_token").unwrap_or("").clone_into(&mut token);
            if !flag(page, "has_more") || token.is_empty() {
                break;
            }
        }
        found.truncate(CANDIDATES_MAX);
        Ok(found)
    }

    pub(super) async fn conversation(&self, chat: &str) -> Result<CandidateInfo, Fault> {
        if !is_id(chat) {
            return Err(Fault::new(FaultClass::Permanent, "bad_chat", "this is no id of a chat"));
        }
        let body = self.api.call(&Call::get("chat", format!("im/v1/chats/{chat}"))).await?;
        Ok(candidate(chat, data(&body)))
    }
}

fn candidate(id: &str, chat: &Value) -> CandidateInfo {
    let kind = match text(chat, "chat_mode") {
        Some("p2p") => ConversationType::Dm,
        _ => ConversationType::Group,
    };
    CandidateInfo {
        conversation_id: id.to_owned(),
        conversation_type: kind,
        display_name: text(chat, "name").unwrap_or(id).to_owned(),
        description: text(chat, "description").unwrap_or("").to_owned(),
        bot_is_member: true,
        actor_id: None,
    }
}
