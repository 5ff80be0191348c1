//! The GraphQL endpoint: a small engine over the objects that reviews and discussions need.
//!
//! Queries are parsed and only what they select is answered, so that a field that does not exist, a variable that was
//! not declared, or a page that is too large is refused as GitHub refuses it. Source: the reference of objects at
//! <https://docs.github.com/en/graphql/reference>, and «Rate limits and query limits for the GraphQL API».

mod lex;
mod objects;
mod parse;
mod run;

use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::auth::Caller;
use super::reply::Reply;
use super::show::Urls;
use super::world::World;

/// A request.
#[derive(Debug, Deserialize)]
struct Query {
    query: String,
    #[serde(default)]
    variables: Option<Map<String, Value>>,
}

/// The primary limit in GraphQL: status 200, an error of type `RATE_LIMITED`, quota 0 in the headers.
pub(super) fn rate_limited(who: &str) -> Reply {
    let message = format!("API rate limit already exceeded for {who}.");
    Reply::ok(json!({"errors": [{"type": "RATE_LIMITED", "code": "graphql_rate_limit", "message": message}]}))
}

/// Answers a request.
pub(super) fn answer(world: &World, caller: &Caller, urls: &Urls, body: &[u8]) -> Reply {
    let page = "graphql/guides/forming-calls-with-graphql#authenticating-with-graphql";
    let Some(login) = caller.login() else {
        return Reply::refuse(401, "This endpoint requires you to be authenticated.", page);
    };
    let Ok(Query { query, variables }) = serde_json::from_slice(body) else {
        return Reply::refuse(400, "Problems parsing JSON", "graphql");
    };
    let document = match parse::document(&query) {
        Ok(document) => document,
        Err(message) => return Reply::ok(json!({"errors": [{"message": message}]})),
    };
    let objects = objects::Objects { world, urls, login };
    match run::run(&objects, &document, &variables.unwrap_or_default()) {
        Ok((data, errors)) if errors.is_empty() => Reply::ok(json!({"data": data})),
        Ok((data, errors)) => Reply::ok(json!({"data": data, "errors": errors})),
        // What does not fit the schema is refused before anything is read.
        Err(error) => Reply::ok(json!({"errors": [error]})),
    }
}
