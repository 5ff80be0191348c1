//! The HTTP control side: the same acts and views as in process, for curl and for other processes.

use std::sync::Arc;

use http::Method;
use serde_json::{Value, json};

use super::action::{self, Action};
use super::answer::Answer;
use super::http::Call;
use super::knobs::Knobs;
use super::shared::Shared;
use super::signed;
use super::world::World;

/// Serves `/twin/…`.
pub(super) async fn handle(shared: &Arc<Shared>, call: &Call) -> Answer {
    let name = call.path.trim_start_matches("/twin").trim_matches('/');
    if call.method == Method::GET {
        return match shared.read(|world| view(world, name)) {
            Some(view) => Answer::json(200, &view),
            None => Answer::json(404, &json!({"error": format!("no view {name:?}")})),
        };
    }
    if name == "deliver" {
        return deliver(shared, call).await;
    }
    let body = if call.body.is_empty() { Ok(json!({})) } else { serde_json::from_slice(&call.body) };
    let done = match body {
        Ok(body) => shared.change(|world| act(world, name, body)),
        Err(error) => Err(error.to_string()),
    };
    answer(done)
}

fn answer(done: Result<Value, String>) -> Answer {
    match done {
        Ok(answer) => Answer::json(200, &answer),
        Err(error) => Answer::json(400, &json!({"error": error})),
    }
}

async fn deliver(shared: &Arc<Shared>, call: &Call) -> Answer {
    let secret = shared.read(|world| world.cfg.signing_secret.clone());
    answer(match serde_json::from_slice(&call.body) {
        Ok(delivery) => signed::deliver(&secret, &delivery).await.map_err(|e| e.to_string()),
        Err(error) => Err(error.to_string()),
    })
}

fn view(world: &World, name: &str) -> Option<Value> {
    Some(match name {
        "ledger" => json!(world.ledger()),
        "requests" => json!(world.requests),
        "counters" => json!(world.counters()),
        "knobs" => json!(world.knobs),
        "faults" => json!(world.faults),
        "" | "world" => summary(world),
        _ => return None,
    })
}

fn summary(world: &World) -> Value {
    let channels: Vec<Value> = world
        .channels
        .values()
        .map(|c| json!({"id": c.id, "name": c.name, "kind": c.kind, "members": c.members, "archived": c.archived}))
        .collect();
    let users: Vec<Value> = world.users.values().map(|u| json!({"id": u.id, "name": u.name})).collect();
    json!({"api": format!("{}/api/", world.origin), "team": world.cfg.team, "app": world.cfg.app,
        "bot_user": world.cfg.bot_user, "bot_id": world.cfg.bot_id, "bot_tokens": world.cfg.bot_tokens,
        "app_tokens": world.cfg.app_tokens, "signing_secret": world.cfg.signing_secret,
        "users": users, "channels": channels})
}

fn act(world: &mut World, name: &str, body: Value) -> Result<Value, String> {
    let Value::Object(mut fields) = body else { return Err("the body must be a JSON object".into()) };
    if name == "knobs" {
        return patch_knobs(world, fields);
    }
    fields.insert("do".into(), json!(name));
    let action: Action = serde_json::from_value(Value::Object(fields)).map_err(|e| e.to_string())?;
    action::apply(world, action).map_err(|e| e.to_string())
}

fn patch_knobs(world: &mut World, patch: serde_json::Map<String, Value>) -> Result<Value, String> {
    let mut all = json!(world.knobs);
    if let Some(all) = all.as_object_mut() {
        all.extend(patch);
    }
    world.knobs = serde_json::from_value::<Knobs>(all).map_err(|e| e.to_string())?;
    Ok(json!(world.knobs))
}
