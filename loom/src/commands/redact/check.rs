//! `loom redact check`.

use loom_domain::{Code, Error, Result};
use loom_secrets::{CredentialRef, Kind, Redactor};
use serde_json::{Value, json};

use crate::context::Context;
use crate::credentials;
use crate::failure::{Failure, Outcome};
use crate::input::scan::{self, Found};

/// Exit status when something was found.
const EXIT_FOUND: u8 = 6;

/// Look for secrets and private facts in files
#[derive(Debug, clap::Args)]
#[command(after_help = examples!(
    "loom redact check --ref vault:slack.docs --kind slack logs/",
    "loom redact check --ref env:API_KEY report.md"
))]
pub(crate) struct Args {
    /// Secret to look for in all its forms; may be given several times
    #[arg(long = "ref", value_name = "REF", value_parser = CredentialRef::parse)]
    refs: Vec<CredentialRef>,
    /// What the references are for: slack, feishu, parall, github, webhook, git or plain
    #[arg(long, value_name = "K", default_value = "plain", value_parser = kind)]
    kind: Kind,
    /// Files or directories, or - for standard input
    #[arg(value_name = "PATH", required = true)]
    paths: Vec<String>,
}

/// Looks; values are never shown.
pub(super) async fn run(args: Args, cx: &mut Context<'_, '_>) -> Outcome {
    let redactor = Redactor::new();
    let resolver = credentials::resolver(&cx.env.home(), &cx.env.variables, redactor.clone())?;
    for reference in &args.refs {
        resolver.resolve(reference, args.kind).await?;
    }
    let mut found = Found::default();
    for path in &args.paths {
        match path.as_str() {
            "-" => scan::stream("-", &mut cx.env.stdin.reader, &redactor, &mut found),
            path => scan::tree(std::path::Path::new(path), &redactor, &mut found),
        }
    }
    report(&found, cx)?;
    match (found.hits.is_empty() && !found.is_cut, found.unreadable.is_empty()) {
        (false, _) => Err(Failure::Exit(EXIT_FOUND)),
        (true, false) => Err(Failure::of(Code::InvalidInput)),
        (true, true) => Ok(()),
    }
}

fn report(found: &Found, cx: &mut Context<'_, '_>) -> Outcome {
    let hits: Vec<Value> = found
        .hits
        .iter()
        .map(|hit| json!({"file": hit.file, "line": hit.line, "rule": hit.rule.id()}))
        .collect();
    if !cx.out.is_human() {
        return cx.out.json(&json!({
            "schema_version": "loom.redact_check/v1", "ok": hits.is_empty() && found.unreadable.is_empty(),
            "files": found.files, "bytes": found.bytes, "hits": hits, "more": found.is_cut,
            "unreadable": found.unreadable,
        }));
    }
    for hit in &found.hits {
        cx.out.line(&format!("{}:{}: {}", hit.file, hit.line, hit.rule.id()))?;
    }
    for file in &found.unreadable {
        cx.out.note(&format!("{file} cannot be read"))?;
    }
    if found.is_cut {
        cx.out.note("there are more hits")?;
    }
    cx.out.line(&format!("{} hits in {} files, {} bytes", hits.len(), found.files, found.bytes))
}

fn kind(text: &str) -> Result<Kind> {
    credentials::kind(text).ok_or_else(|| {
        Error::invalid("kind", "expected slack, feishu, parall, github, webhook, git or plain")
    })
}
