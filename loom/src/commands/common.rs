//! Flags and small steps that several commands share.

use std::collections::BTreeMap;

use clap::Args;
use loom_api::LIMIT_MAX;
use loom_domain::{Code, Error};
use serde::Serialize;
use serde_json::{Value, json};

use crate::context::Context;
use crate::failure::{Failure, Outcome};
use crate::output::{items, pick};

/// Which page of a list.
#[derive(Debug, Clone, Default, PartialEq, Eq, Args)]
pub(crate) struct Paging {
    /// Items per page, 1 to 500
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=i64::from(LIMIT_MAX)))]
    pub(crate) limit: Option<u32>,
    /// Where the page starts
    #[arg(long, value_name = "C")]
    pub(crate) cursor: Option<String>,
}

/// The version a change is based on.
#[derive(Debug, Clone, Default, Args)]
pub(crate) struct Version {
    /// Fail unless the object has this version
    #[arg(long, value_name = "N")]
    pub(crate) expected_version: Option<u64>,
}

/// Turns flag words into the camelCase names of the fields they clear.
pub(crate) fn cleared(words: &[String], names: &[(&str, &str)]) -> Vec<String> {
    let name = |word: &String| {
        let found = names.iter().find(|(flag, _)| flag == word);
        found.map_or_else(|| word.clone(), |(_, field)| (*field).to_owned())
    };
    words.iter().map(name).collect()
}

/// Prints what a change would do when `--dry-run` was given and the step has no plan of its own.
pub(crate) fn planned(cx: &mut Context<'_, '_>, what: &str, ids: &[String]) -> Outcome {
    if cx.out.is_human() {
        cx.out.line(&format!("dry run, nothing changed: {what}"))
    } else {
        cx.out.json(&json!({"dryRun": true, "plan": what, "ids": ids}))
    }
}

/// Values of a list's objects by their ids, to show words in the place of ids.
pub(crate) async fn words(
    route: String,
    path: &str,
    cx: &Context<'_, '_>,
) -> Outcome<BTreeMap<String, Value>> {
    let query = json!({ "limit": LIMIT_MAX });
    let page: Value = cx.hub()?.get(route).query(&query)?.run().await?;
    let word = |one: &Value| Some((pick::text(one, "id"), pick::value(one, path)?.clone()));
    Ok(items(&page).iter().filter_map(word).collect())
}

/// Refuses filters of a list that stand before another command.
pub(crate) fn no_filters<F: Default + PartialEq>(list: &F) -> Outcome {
    if *list == F::default() {
        return Ok(());
    }
    Err(Error::new(Code::Usage, "filters of the list stand after `list`, not before a command").into())
}

/// The objects of a page, to be changed.
pub(crate) fn items_mut(page: &mut Value) -> impl Iterator<Item = &mut Value> {
    page.get_mut("items").and_then(Value::as_array_mut).into_iter().flatten()
}

/// The ids of a page's items.
pub(crate) fn ids(items: &[Value], path: &str) -> Vec<String> {
    items.iter().map(|item| pick::text(item, path)).collect()
}

/// Does the same to each item; each obeys its own rules. The first failure's status is the command's.
pub(crate) async fn each(
    ids: &[String],
    route: fn(&str) -> String,
    body: &impl Serialize,
    cx: &mut Context<'_, '_>,
) -> Outcome {
    let hub = cx.hub()?;
    let mut failed = None;
    for id in ids {
        let call = hub.post(route(id)).dry_run(cx.globals.dry_run).json(body)?;
        match call.run::<Value>().await {
            Ok(done) => cx.out.mutation(&done)?,
            Err(error) if ids.len() == 1 => return Err(error.into()),
            Err(error) => {
                cx.out.note(&format!("{id}: {error}"))?;
                failed = failed.or(Some(error.code));
            }
        }
    }
    match failed {
        None => Ok(()),
        Some(code) => Err(Failure::of(code)),
    }
}
