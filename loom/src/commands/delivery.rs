//! Sends: files first checked for admission, then uploaded; the end waited for and told.

use std::time::Duration;

use loom_api::{Client, request, routes};
use loom_domain::outbox::State;
use loom_domain::{Code, Error, Result};
use serde_json::{Value, json};
use tokio::time::{Instant, sleep};

use crate::context::Context;
use crate::failure::{Failure, Outcome};
use crate::input::file::Attached;
use crate::output::{Column, pick};

/// Longest wait that one request asks for, seconds.
const WAIT_SECONDS_MAX: u64 = 60;
/// Pause between looks at an item whose hub answered before the end.
const LOOK_AGAIN: Duration = Duration::from_millis(500);

const PARTS: &[Column] = &[
    Column::number("PART", |v, _| pick::text(v, "n")),
    Column::new("KIND", |v, _| pick::text(v, "kind")),
    Column::new("STATE", |v, _| pick::text(v, "state")),
    Column::new("EXTERNAL-MESSAGE", |v, _| pick::dash(v, "receipt.externalMessageId")),
    Column::new("EXTERNAL-FILE", |v, _| pick::dash(v, "receipt.externalFileId")),
];

/// How long a command stays for the end of its send.
#[derive(Debug, Clone, clap::Args)]
pub(crate) struct Waiting {
    /// Return once the message is stored
    #[arg(long)]
    pub(crate) r#async: bool,
    /// Longest wait for the delivery
    #[arg(long, value_name = "D", default_value = "30s", value_parser = crate::cli::parsers::seconds)]
    pub(crate) timeout: u64,
}

impl Waiting {
    /// Seconds of the first wait.
    pub(crate) fn first_seconds(&self) -> u64 {
        if self.r#async { 0 } else { self.timeout.min(WAIT_SECONDS_MAX) }
    }
}

/// Uploads files in order.
pub(crate) async fn upload(files: Vec<Attached>, hub: &Client) -> Result<Vec<request::File>> {
    let mut stored = Vec::with_capacity(files.len());
    for file in files {
        stored.push(file.upload(hub).await?);
    }
    Ok(stored)
}

/// Asks whether a send would be admitted, with its files announced.
pub(crate) async fn admission(send: &request::Send, files: &[Attached], hub: &Client) -> Result<Value> {
    let mut asked = send.clone();
    asked.content.files = files.iter().map(Attached::announced).collect();
    hub.post(routes::send_admission()).json(&asked)?.run().await
}

/// Prints a plan: what admission said.
pub(crate) fn plan(admission: &Value, cx: &mut Context<'_, '_>) -> Outcome {
    if !cx.out.is_human() {
        return cx.out.json(&json!({"dryRun": true, "admission": admission}));
    }
    let held = match pick::text(admission, "held") {
        reason if reason.is_empty() => String::new(),
        reason => format!(", held ({reason})"),
    };
    let parts = pick::number(admission, "parts");
    cx.out.line(&format!("dry run, nothing sent: admitted, {parts} parts{held}"))
}

/// Waits for the end of a stored item and tells it; the exit status is that of its state.
pub(crate) async fn follow(
    item: Value,
    waiting: &Waiting,
    hub: &Client,
    cx: &mut Context<'_, '_>,
) -> Outcome {
    if waiting.r#async {
        return stored(&item, cx);
    }
    let started = Instant::now();
    let limit = Duration::from_secs(waiting.timeout);
    let id = pick::text(&item, "id");
    let mut item = item;
    // The first request waited already, as long as the hub allows.
    let mut left = limit.saturating_sub(Duration::from_secs(waiting.first_seconds()));
    while is_open(&item) && !left.is_zero() {
        sleep(LOOK_AGAIN.min(left)).await;
        item = hub.get(routes::outbox_item(&id)).wait(left.as_secs().min(WAIT_SECONDS_MAX)).run().await?;
        left = limit.saturating_sub(started.elapsed());
    }
    tell(item, cx)
}

fn state(item: &Value) -> Option<State> {
    pick::text(item, "state").parse().ok()
}

fn is_open(item: &Value) -> bool {
    matches!(state(item), Some(State::Pending | State::Sending | State::RetryWait))
}

/// The code of an item that is not delivered.
pub(crate) fn code(item: &Value) -> Option<Code> {
    match state(item)? {
        State::Sent => None,
        State::Held => Some(Code::DeliveryHeld),
        State::Pending | State::Sending | State::RetryWait => Some(Code::DeliveryPending),
        State::Failed => Some(Code::DeliveryFailed),
        State::Expired => Some(Code::DeliveryExpired),
        State::Cancelled => Some(Code::DeliveryCancelled),
        State::Unknown => Some(Code::DeliveryUnknown),
    }
}

/// `--async`: the item is stored and goes its way.
fn stored(item: &Value, cx: &mut Context<'_, '_>) -> Outcome {
    if cx.out.is_human() {
        cx.out.line(&format!("queued {}", pick::text(item, "id")))
    } else {
        cx.out.json(item)
    }
}

/// Prints the item in any state; JSON holds the word of it in `code`.
fn tell(mut item: Value, cx: &mut Context<'_, '_>) -> Outcome {
    let code = code(&item);
    if cx.out.is_human() {
        human(&item, cx)?;
    } else {
        if let (Some(code), Some(members)) = (code, item.as_object_mut()) {
            members.insert("code".to_owned(), Value::from(code.as_str()));
        }
        cx.out.json(&item)?;
    }
    match code {
        None => Ok(()),
        Some(code) => {
            cx.out.note(&sentence(code, &item))?;
            Err(Failure::of(code))
        }
    }
}

fn human(item: &Value, cx: &mut Context<'_, '_>) -> Outcome {
    let (id, parts) = (pick::text(item, "id"), pick::list(item, "parts"));
    let sent = parts.iter().filter(|part| pick::text(part, "state") == "sent").count();
    let again = if pick::is(item, "duplicate") { ", sent before" } else { "" };
    cx.out.line(&format!(
        "{} {id} ({sent}/{}{again})",
        pick::state(item, "state", "stateReason"),
        parts.len()
    ))?;
    cx.out.table(PARTS, parts, |_, _| Vec::new())
}

fn sentence(code: Code, item: &Value) -> String {
    let id = pick::text(item, "id");
    let error = Error::new(code, pick::text(item, "lastError.message"));
    let cause = if error.message.is_empty() { String::new() } else { format!(": {}", error.message) };
    format!("{code}{cause}\nhint: loom outbox get {id}").replace('\n', "; ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::failure::exit_of;

    #[test]
    fn states_have_the_exit_statuses_of_the_contract() {
        let exit = |state: &str| code(&json!({ "state": state })).map(exit_of);
        assert_eq!(exit("sent"), None);
        assert_eq!(exit("failed"), Some(1));
        assert_eq!(exit("expired"), Some(1));
        assert_eq!(exit("cancelled"), Some(1));
        assert_eq!(exit("unknown"), Some(3));
        assert_eq!(exit("held"), Some(3));
        assert_eq!(exit("retry_wait"), Some(4));
    }
}
