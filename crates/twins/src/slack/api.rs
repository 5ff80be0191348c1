//! The Web API: authentication, scopes, limits and the table of methods.

mod chat;
mod conversations;
mod files;
mod history;
mod page;
mod reactions;
mod scopes;
mod team;

use std::sync::Arc;

use http::header;
use serde_json::{Value, json};
use tokio::time::Instant;

use super::answer::{Answer, Outcome};
use super::faulty;
use super::http::Call;
use super::params::Params;
use super::shared::Shared;
use super::world::{Token, TokenKind, World};

/// A refused call: Slack's `error` and, for `missing_scope`, its companions.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Failure {
    code: String,
    needed: Option<String>,
}

impl Failure {
    fn missing_scope(needed: &str) -> Self {
        Self { code: "missing_scope".into(), needed: Some(needed.into()) }
    }
}

impl From<&str> for Failure {
    fn from(code: &str) -> Self {
        Self { code: code.into(), needed: None }
    }
}

/// What a method answers.
type Reply = Result<Value, Failure>;

/// Serves `/api/<method>`.
pub(super) async fn handle(shared: &Arc<Shared>, call: &Call) -> Outcome {
    let method = call.path.trim_start_matches("/api/").trim_end_matches('/').to_owned();
    faulty::run(shared, &method, call, |world| answer(world, &method, call)).await
}

fn answer(world: &mut World, method: &str, call: &Call) -> Answer {
    let content_type = call.header(header::CONTENT_TYPE);
    let params = match Params::read(&call.query, content_type, &call.body) {
        Ok(params) => params,
        Err(code) => return refuse(&code.into(), None),
    };
    if world.knobs.rate_limits
        && let Err(secs) = world.limiter.admit(method, params.text("channel"), Instant::now())
    {
        return faulty::rate_limited(Some(secs));
    }
    let token = match authenticate(world, method, call, &params) {
        Ok(token) => token,
        Err(failure) => return refuse(&failure, None),
    };
    match permit(world, method, &params, &token).and_then(|()| route(world, method, &params)) {
        Ok(mut body) => {
            if let Some(body) = body.as_object_mut() {
                body.insert("ok".into(), json!(true));
            }
            scoped(Answer::json(200, &body), method, &token)
        }
        Err(failure) => scoped(refuse(&failure, Some(&token)), method, &token),
    }
}

fn authenticate(world: &World, method: &str, call: &Call, params: &Params) -> Result<Token, Failure> {
    let in_body = params.text("token");
    let app_call = method == "apps.connections.open";
    if app_call && in_body.is_some_and(|t| t.starts_with("xapp-")) {
        return Err("not_allowed_token_type".into());
    }
    let Some(word) = call.bearer().or(in_body).filter(|t| !t.is_empty()) else {
        return Err("not_authed".into());
    };
    let Some(token) = world.tokens.get(word) else { return Err("invalid_auth".into()) };
    if let Some(code) = &token.refused {
        return Err(code.as_str().into());
    }
    let wanted = if app_call { TokenKind::App } else { TokenKind::Bot };
    if token.kind != wanted && method != "auth.test" {
        return Err("not_allowed_token_type".into());
    }
    Ok(token.clone())
}

fn permit(world: &World, method: &str, params: &Params, token: &Token) -> Result<(), Failure> {
    let needed = scopes::needed(world, method, params);
    let history = matches!(method, "conversations.history" | "conversations.replies");
    match needed {
        Some(scope) if !token.scopes.contains(&scope) || (history && world.knobs.history_disabled) => {
            Err(Failure::missing_scope(&scope))
        }
        _ => Ok(()),
    }
}

fn refuse(failure: &Failure, token: Option<&Token>) -> Answer {
    let mut body = json!({"ok": false, "error": failure.code});
    if let (Some(needed), Some(body)) = (&failure.needed, body.as_object_mut()) {
        body.insert("needed".into(), json!(needed));
        body.insert("provided".into(), json!(token.map(scope_list).unwrap_or_default()));
    }
    Answer::json(200, &body)
}

fn scoped(answer: Answer, method: &str, token: &Token) -> Answer {
    let answer = answer.with_header("x-oauth-scopes", scope_list(token));
    answer.with_header("x-accepted-oauth-scopes", scopes::accepted(method).join(","))
}

fn scope_list(token: &Token) -> String {
    token.scopes.iter().map(String::as_str).collect::<Vec<_>>().join(",")
}

fn route(world: &mut World, method: &str, params: &Params) -> Reply {
    match method {
        "api.test" => Ok(json!({})),
        "auth.test" => Ok(team::auth_test(world)),
        "apps.connections.open" => Ok(team::open_connection(world)),
        "bots.info" => team::bot_info(world, params),
        "team.info" => Ok(team::team_info(world)),
        "users.info" => team::user_info(world, params),
        "users.list" => team::user_list(world, params),
        "chat.postMessage" => chat::post(world, params),
        "chat.postEphemeral" => chat::post_ephemeral(world, params),
        "chat.update" => chat::update(world, params),
        "chat.delete" => chat::delete(world, params),
        "chat.getPermalink" => chat::permalink(world, params),
        "conversations.list" | "users.conversations" => conversations::list(world, params, method),
        "conversations.info" => conversations::info(world, params),
        "conversations.members" => conversations::members(world, params),
        "conversations.open" => conversations::open(world, params),
        "conversations.join" => conversations::join(world, params),
        "conversations.history" => history::history(world, params),
        "conversations.replies" => history::replies(world, params),
        "reactions.add" => reactions::add(world, params),
        "reactions.remove" => reactions::remove(world, params),
        "reactions.get" => reactions::get(world, params),
        "files.getUploadURLExternal" => files::upload_url(world, params),
        "files.completeUploadExternal" => files::complete(world, params),
        "files.info" => files::info(world, params),
        _ => Err("unknown_method".into()),
    }
}

/// The id of a conversation the bot can see, from an argument.
fn visible_channel(world: &World, params: &Params, name: &str) -> Result<String, Failure> {
    let id = params.text(name).ok_or("channel_not_found")?;
    let channel = world.channels.get(id).ok_or("channel_not_found")?;
    let public = channel.kind == super::ChannelKind::Channel;
    if public || world.bot_is_in(id) { Ok(id.to_owned()) } else { Err("channel_not_found".into()) }
}

/// The same, for something only members may do.
fn joined_channel(world: &World, params: &Params, name: &str) -> Result<String, Failure> {
    let id = visible_channel(world, params, name)?;
    if world.bot_is_in(&id) { Ok(id) } else { Err("not_in_channel".into()) }
}

/// The same, for something that changes the conversation.
fn writable_channel(world: &World, params: &Params, name: &str) -> Result<String, Failure> {
    let id = joined_channel(world, params, name)?;
    if world.channels.get(&id).is_some_and(|c| c.archived) { Err("is_archived".into()) } else { Ok(id) }
}
