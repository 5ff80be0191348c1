//! `loom periodic-report run`.

use std::path::{Path, PathBuf};

use loom_domain::{Code, Error, Result};
use loom_report::{Form, Report, summary_text};
use loom_secrets::private_file::write_private;
use serde_json::{Value, json};

use super::ask::{Which, make};
use crate::context::Context;
use crate::failure::Outcome;
use crate::output::pick;

/// Make a report, write its files, and deliver it
///
/// An equal run finds the report that is there, and sends nothing that was sent.
#[derive(Debug, clap::Args)]
#[command(after_help = examples!(
    "loom periodic-report run --window last-week --out reports --as html,json",
    "loom periodic-report run --profile daily --to mem_01arz3ndektsv4rrffq69g5fav"
))]
pub(super) struct Args {
    #[command(flatten)]
    which: Which,
    /// Write the files into this folder
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// Forms of the files: some of markdown, html, json
    #[arg(long, value_name = "FORMS", default_value = "markdown,html")]
    r#as: String,
    /// Membership that gets it; repeatable
    #[arg(long, value_name = "MEM")]
    to: Vec<String>,
    /// Longest wait for each delivery
    #[arg(long, value_name = "D", default_value = "30s", value_parser = crate::cli::parsers::seconds)]
    timeout: u64,
}

/// Makes it.
pub(super) async fn run(args: Args, cx: &mut Context<'_, '_>) -> Outcome {
    let forms = Form::parse_list(&args.r#as)?;
    let mut asked = args.which.request(cx);
    asked.forms = Some(args.r#as);
    asked.preview = cx.globals.dry_run;
    asked.to = if cx.globals.dry_run { Vec::new() } else { args.to };
    let mut made = make(&asked, args.timeout, cx).await?;
    let folder = args.out.filter(|_| !cx.globals.dry_run);
    let files = folder.map(|folder| write(&made.report, &forms, &folder)).transpose()?.unwrap_or_default();
    if !cx.out.is_human() {
        pick::put(&mut made.answer, "files", &json!(files));
        return cx.out.json(&made.answer);
    }
    tell(&made.report, &made.answer, &files, cx)
}

fn tell(report: &Report, answer: &Value, files: &[String], cx: &mut Context<'_, '_>) -> Outcome {
    cx.out.block(&summary_text(report))?;
    match pick::text(answer, "hub").as_str() {
        "running" => cx.out.line(&format!("report {}", report.report_id))?,
        _ => cx.out.note("not kept, and of no hub's facts: start one with `loom up`")?,
    }
    for file in files {
        cx.out.line(&format!("wrote {file}"))?;
    }
    for delivery in pick::list(answer, "deliveries") {
        let [membership, item, state] =
            ["membership_id", "outbox_id", "state"].map(|name| pick::text(delivery, name));
        let again = if pick::is(delivery, "duplicate") { " (an earlier run sent it)" } else { "" };
        cx.out.line(&format!("{state} {item} to {membership}{again}"))?;
    }
    Ok(())
}

fn write(report: &Report, forms: &[Form], folder: &Path) -> Result<Vec<String>> {
    let unwritable = |cause: std::io::Error| {
        Error::new(Code::InvalidArgument, format!("--out: the folder cannot be made: {cause}"))
    };
    std::fs::create_dir_all(folder).map_err(unwritable)?;
    let mut files = Vec::new();
    for form in forms {
        let path = folder.join(form.file_name());
        write_private(&path, form.render(report)?.as_bytes())?;
        files.push(path.display().to_string());
    }
    Ok(files)
}
