//! Who we are, who others are, and which conversations there are.

use std::collections::BTreeSet;

use loom_domain::ConversationType;
use serde_json::{Value, json};

use super::Inner;
use super::settle::next_cursor;
use super::translate::{Own, kind_of_conversation};
use super::wire::{flag, list, text};
use crate::{CandidateInfo, Fault, FaultClass, Identity};

/// Scopes of the manifest.
const SCOPES: &[&str] = &[
    "app_mentions:read",
    "channels:read",
    "channels:history",
    "groups:read",
    "groups:history",
    "im:read",
    "im:history",
    "im:write",
    "mpim:read",
    "mpim:history",
    "chat:write",
    "files:read",
    "files:write",
    "reactions:read",
    "reactions:write",
    "users:read",
];
/// Conversations that are listed.
const CANDIDATES_MAX: usize = 5_000;
const CONVERSATION_TYPES: &str = "public_channel,private_channel,im,mpim";

impl Inner {
    /// Who the tokens are; asked once per session.
    pub(super) async fn own(&self) -> Result<Own, Fault> {
        if let Some(own) = self.known_own() {
            return Ok(own);
        }
        Ok(self.identify().await?.0)
    }

    /// Asks who the bot token is, and whether the app token belongs to the same app.
    pub(super) async fn identify(&self) -> Result<(Own, Vec<String>), Fault> {
        self.check_tokens()?;
        let auth = self.api.read_call("auth.test", json!({})).await?;
        let id = |key| text(&auth.body, key).unwrap_or("").to_owned();
        let mut own = Own { team: id("team_id"), user: id("user_id"), bot: id("bot_id"), app: id("app_id") };
        if own.user.is_empty() || own.bot.is_empty() {
            return Err(Fault::new(FaultClass::Config, "not_a_bot", "the token is not a bot token"));
        }
        let bot = self.api.read_call("bots.info", json!({"bot": own.bot})).await;
        if let Some(app) = bot
            .ok()
            .and_then(|bot| bot.body.get("bot").and_then(|bot| text(bot, "app_id")).map(str::to_owned))
        {
            own.app = app;
        }
        self.check_app(&own)?;
        self.set_own(own.clone());
        Ok((own, auth.scopes))
    }

    pub(super) async fn verify(&self) -> Result<Identity, Fault> {
        let (own, scopes) = self.identify().await?;
        let granted: BTreeSet<&str> = scopes.iter().map(String::as_str).collect();
        // Without the header nothing is known about scopes, so none is called missing.
        let missing = SCOPES.iter().filter(|scope| !granted.is_empty() && !granted.contains(**scope));
        Ok(Identity {
            account: own.app.clone(),
            scope: Some(own.team.clone()),
            identity: format!("slack://{}/{}", own.team, own.user),
            own_ids: [own.user, own.bot, own.app].into_iter().filter(|id| !id.is_empty()).collect(),
            missing_scopes: missing.map(|scope| (*scope).to_owned()).collect(),
            scopes,
        })
    }

    fn check_app(&self, own: &Own) -> Result<(), Fault> {
        let Some(token) = self.api.http().app_token() else { return Ok(()) };
        let app = token.expose().strip_prefix("xapp-1-").and_then(|rest| rest.split('-').next());
        if own.app.is_empty() || app.is_none_or(|app| app == own.app) {
            return Ok(());
        }
        Err(Fault::new(
            FaultClass::Config,
            "app_mismatch",
            "the app token belongs to another app than the bot token",
        ))
    }

    pub(super) async fn candidates(&self) -> Result<Vec<CandidateInfo>, Fault> {
        let (mut found, mut cursor, mut cursors) = (Vec::new(), String::new(), BTreeSet::new());
        while found.len() < CANDIDATES_MAX && cursors.insert(cursor.clone()) {
            let params = json!({"types": CONVERSATION_TYPES, "exclude_archived": true, "limit": 200, "cursor": cursor});
            let page = self.api.read_call("conversations.list", params).await?.body;
            for conversation in list(&page, "channels") {
                found.extend(self.candidate(conversation));
            }
            cursor = next_cursor(&page);
            if cursor.is_empty() {
                break;
            }
        }
        found.truncate(CANDIDATES_MAX);
        Ok(found)
    }

    pub(super) async fn conversation(&self, channel: &str) -> Result<CandidateInfo, Fault> {
        let answer = self.api.read_call("conversations.info", json!({"channel": channel})).await?;
        let conversation = answer.body.get("channel").unwrap_or(&Value::Null);
        self.candidate(conversation).ok_or_else(|| {
            Fault::new(FaultClass::Permanent, "channel_not_found", "slack described no conversation")
        })
    }

    fn candidate(&self, conversation: &Value) -> Option<CandidateInfo> {
        let id = text(conversation, "id")?;
        let kind = kind_of_conversation(conversation);
        self.kinds.put(id, Some(kind));
        let actor = text(conversation, "user").filter(|_| kind == ConversationType::Dm);
        let name = actor
            .and_then(|actor| self.names.value(actor))
            .or_else(|| text(conversation, "name").map(str::to_owned));
        let about = |key| conversation.get(key).and_then(|topic| text(topic, "value"));
        Some(CandidateInfo {
            conversation_id: id.to_owned(),
            conversation_type: kind,
            display_name: name.or_else(|| actor.map(str::to_owned)).unwrap_or_else(|| id.to_owned()),
            description: about("purpose").or_else(|| about("topic")).unwrap_or("").to_owned(),
            bot_is_member: flag(conversation, "is_member")
                || matches!(kind, ConversationType::Dm | ConversationType::GroupDm),
            actor_id: actor.map(str::to_owned),
        })
    }

    pub(super) async fn actor_name(&self, actor: &str) -> Option<String> {
        if self.names.is_known(actor) {
            return self.names.value(actor);
        }
        let name = match actor.chars().next() {
            Some('U' | 'W') => self
                .api
                .read_call("users.info", json!({"user": actor}))
                .await
                .ok()
                .and_then(|a| user_name(&a.body)),
            Some('B') => self
                .api
                .read_call("bots.info", json!({"bot": actor}))
                .await
                .ok()
                .and_then(|a| bot_name(&a.body)),
            _ => None,
        };
        self.names.put(actor, name.clone());
        name
    }
}

fn user_name(body: &Value) -> Option<String> {
    let user = body.get("user")?;
    let profile = user.get("profile").unwrap_or(&Value::Null);
    let name =
        text(profile, "display_name").or_else(|| text(profile, "real_name")).or_else(|| text(user, "name"));
    name.map(str::to_owned)
}

fn bot_name(body: &Value) -> Option<String> {
    body.get("bot").and_then(|bot| text(bot, "name")).map(str::to_owned)
}
