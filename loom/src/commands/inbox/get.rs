//! `loom inbox get`.

use std::path::Path;

use loom_api::routes;
use loom_domain::{Code, Error};
use loom_secrets::private_file::create_private;
use serde_json::Value;

use super::list::{origin, sender};
use crate::cli::parsers;
use crate::context::Context;
use crate::failure::Outcome;
use crate::output::pick;

/// Longest file name that is written.
const NAME_CHARS_MAX: usize = 200;

/// Show everything about one item
#[derive(Debug, clap::Args)]
#[command(after_help = examples!(
    "loom inbox get inb_01arz3ndektsv4rrffq69g5fav",
    "loom inbox get inb_01arz3ndektsv4rrffq69g5fav --save-attachments files"
))]
pub(crate) struct Args {
    /// Item, Message or Event id
    #[arg(value_parser = parsers::inbox_like)]
    id: String,
    /// Write its files into this directory
    #[arg(long, value_name = "DIR")]
    save_attachments: Option<String>,
}

/// Shows it.
pub(crate) async fn run(args: Args, cx: &mut Context<'_, '_>) -> Outcome {
    let found: Value = cx.hub()?.get(routes::inbox_item(&args.id)).run().await?;
    if cx.out.is_human() {
        human(&found, cx)?;
    } else {
        cx.out.json(&found)?;
    }
    match args.save_attachments {
        Some(dir) => save(&found, &dir, cx).await,
        None => Ok(()),
    }
}

fn human(found: &Value, cx: &mut Context<'_, '_>) -> Outcome {
    let text = |path: &str| pick::text(found, path);
    let look = cx.out.look();
    cx.out.fields(&[
        ("item", text("item.id")),
        ("version", text("item.version")),
        ("state", pick::state(found, "item.state", "item.stateReason")),
        ("outcome", text("item.outcome")),
        ("position", text("position")),
        ("blocked by", text("item.blockedBy")),
        ("note", text("item.note")),
        ("agent", text("agentName")),
        ("origin", origin(found)),
        ("from", sender(found)),
        ("conversation", text("message.conversation.conversationId")),
        ("thread", text("message.conversation.threadId")),
        ("message", text("message.id")),
        ("address", text("address.id")),
        ("membership", text("membership.id")),
        ("expects", text("message.responseExpectation")),
        ("turn", text("item.turnId")),
        ("trace", text("item.traceId")),
        ("received", look.time(found, "message.receivedAt")),
    ])?;
    cx.out.heading("Text")?;
    cx.out.block(&text("message.content.text"))?;
    revisions(found, cx)?;
    context(found, cx)?;
    files(found, cx)?;
    attempts(found, cx)
}

fn revisions(found: &Value, cx: &mut Context<'_, '_>) -> Outcome {
    for revision in pick::list(found, "message.revisions") {
        let [n, kind, at] = ["n", "kind", "at"].map(|path| pick::text(revision, path));
        cx.out.heading(&format!("Revision {n} ({kind} {at})"))?;
        cx.out.block(&pick::text(revision, "content.text"))?;
    }
    Ok(())
}

fn context(found: &Value, cx: &mut Context<'_, '_>) -> Outcome {
    let messages = pick::list(found, "message.threadContext.messages");
    if !messages.is_empty() {
        cx.out.heading("Thread context")?;
    }
    messages.iter().try_for_each(|message| {
        cx.out.line(&format!("{} {}:", pick::text(message, "role"), pick::text(message, "senderId")))?;
        cx.out.block(&pick::text(message, "text"))
    })
}

fn files(found: &Value, cx: &mut Context<'_, '_>) -> Outcome {
    let files = pick::list(found, "message.content.attachments");
    if !files.is_empty() {
        cx.out.heading("Files")?;
    }
    files.iter().try_for_each(|file| {
        let [name, status, id] = ["name", "status", "artifactId"].map(|path| pick::dash(file, path));
        cx.out.line(&format!("{name}  {status}  {id}"))
    })
}

fn attempts(found: &Value, cx: &mut Context<'_, '_>) -> Outcome {
    for attempt in pick::list(found, "attempts") {
        let [n, status, turn] = ["n", "status", "turnId"].map(|path| pick::text(attempt, path));
        cx.out.heading(&format!("Attempt {n}: {status} ({turn})"))?;
        match pick::text(attempt, "answer") {
            answer if answer.is_empty() => cx.out.line(&pick::text(attempt, "error.message"))?,
            answer => cx.out.block(&answer)?,
        }
    }
    for reply in pick::list(found, "outboxItems") {
        cx.out.line(&format!(
            "reply {} {}",
            pick::text(reply, "id"),
            pick::state(reply, "state", "stateReason")
        ))?;
    }
    Ok(())
}

/// Writes each stored file under a safe name; an existing file is never replaced.
async fn save(found: &Value, dir: &str, cx: &mut Context<'_, '_>) -> Outcome {
    std::fs::create_dir_all(dir)
        .map_err(|error| Error::new(Code::InvalidInput, format!("{dir} cannot be made: {error}")))?;
    let hub = cx.hub()?;
    for file in pick::list(found, "message.content.attachments") {
        let id = pick::text(file, "artifactId");
        if id.is_empty() || pick::text(file, "status") != "ready" {
            continue;
        }
        let bytes = hub.get(routes::artifact(&id)).run_bytes().await?;
        let path = Path::new(dir).join(safe_name(&id, &pick::text(file, "name")));
        create_private(&path, &bytes)?;
        cx.out.note(&format!("saved {}", path.display()))?;
    }
    Ok(())
}

/// The file's id and the harmless characters of its name.
fn safe_name(id: &str, name: &str) -> String {
    let harmless = |c: char| if c.is_alphanumeric() || matches!(c, '.' | '-' | '_') { c } else { '_' };
    let name: String = name.chars().take(NAME_CHARS_MAX).map(harmless).collect();
    format!("{id}-{name}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_from_outside_stay_in_the_directory() {
        assert_eq!(safe_name("art_1", "../../etc/passwd"), "art_1-.._.._etc_passwd");
        assert_eq!(safe_name("art_1", "a b\u{1b}.pdf"), "art_1-a_b_.pdf");
    }
}
