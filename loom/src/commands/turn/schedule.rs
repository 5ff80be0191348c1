//! `loom turn schedule`.

use clap::Subcommand;
use loom_api::request::AddSchedule;
use loom_capabilities::{DOCUMENT_BYTES_MAX, TurnOrder};
use loom_domain::schedule::Kind;
use loom_domain::{Error, Result};
use serde_json::Value;

use crate::commands::schedules::{self, Deed, When, schedule_words};
use crate::context::Context;
use crate::failure::Outcome;
use crate::input::body::read_limited;
use crate::input::document::read_text;

/// What to do with schedules of Turns.
#[derive(Debug, Subcommand)]
#[command(defer = true)]
pub(crate) enum Command {
    Add(Add),
    List(List),
    Show(Show),
    Enable(Enable),
    Disable(Disable),
    Remove(Remove),
}

/// Run a Turn at times of your own
///
/// Each time is one Turn, whatever happens to the hub. Times while the hub was down are listed as skipped;
/// the newest of them is made up for.
#[derive(Debug, clap::Args)]
#[command(override_usage = "loom turn schedule add NAME --cron C --tz ZONE --config FILE [OPTIONS]")]
#[command(after_help = examples!(
    "loom turn schedule add triage --cron \"30 8 * * 1-5\" \\\n    --tz Europe/Berlin --config turn.yaml",
    "loom turn schedule add nightly --cron @daily --tz UTC --config - --enable"
))]
pub(crate) struct Add {
    #[command(flatten)]
    when: When,
    /// File that says what the Turn does, as `loom turn run --config` reads it, or - for stdin
    #[arg(long, value_name = "FILE")]
    config: String,
}

/// List schedules of Turns
#[derive(Debug, clap::Args)]
#[command(after_help = examples!("loom turn schedule list", "loom turn schedule list --json"))]
pub(crate) struct List {}

schedule_words! {
    "turn";
    /// Show a schedule, what comes and what was
    Show "show" "--json";
    /// Let a schedule run from now on
    Enable "enable" "--dry-run";
    /// Stop a schedule from running
    Disable "disable" "--dry-run";
    /// Remove a schedule; its Turns stay
    Remove "remove" "--dry-run";
}

/// Runs one of them.
pub(super) async fn run(command: Command, cx: &mut Context<'_, '_>) -> Outcome {
    match command {
        Command::Add(args) => {
            let config = Some(config(&args.config, cx)?);
            let asked = AddSchedule { config, ..args.when.request() };
            schedules::add(Kind::Turn, &asked, cx).await
        }
        Command::List(_) => schedules::list(Kind::Turn, cx).await,
        Command::Show(args) => schedules::show(Kind::Turn, &args.name, cx).await,
        Command::Enable(args) => schedules::change(Kind::Turn, &args.name, Deed::Enable, cx).await,
        Command::Disable(args) => schedules::change(Kind::Turn, &args.name, Deed::Disable, cx).await,
        Command::Remove(args) => schedules::change(Kind::Turn, &args.name, Deed::Remove, cx).await,
    }
}

fn config(file: &str, cx: &mut Context<'_, '_>) -> Result<Value> {
    let text = match file {
        "-" => read_limited(&mut cx.env.stdin.reader, DOCUMENT_BYTES_MAX)?,
        path => read_text(path, DOCUMENT_BYTES_MAX)?,
    };
    serde_json::to_value(TurnOrder::parse(&text)?).map_err(Error::internal)
}
