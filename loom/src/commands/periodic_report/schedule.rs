//! `loom periodic-report schedule`.

use clap::Subcommand;
use loom_api::request::AddSchedule;
use loom_domain::schedule::Kind;

use crate::commands::schedules::{self, Deed, When, schedule_words};
use crate::context::Context;
use crate::failure::Outcome;

/// What to do with schedules of reports.
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

/// Deliver a report at times of your own
///
/// Each time makes one report, whatever happens to the hub. Times while the hub was down are listed as
/// skipped; the newest of them is made up for.
#[derive(Debug, clap::Args)]
#[command(after_help = examples!(
    "loom periodic-report schedule add monday --cron \"0 9 * * 1\" \\\n    --tz Europe/Berlin --window last-week \\\n    --to mem_01arz3ndektsv4rrffq69g5fav --enable",
    "loom periodic-report schedule add nightly --cron @daily --tz UTC"
))]
pub(crate) struct Add {
    #[command(flatten)]
    when: When,
    /// What it tells of: daily, weekly, connectors, or one of your own
    #[arg(long, value_name = "P")]
    profile: Option<String>,
    /// today, yesterday, last-7d, last-week, this-month or last-month, told from each time
    #[arg(long, value_name = "W")]
    window: Option<String>,
    /// Forms that are delivered: some of markdown, html, json
    #[arg(long, value_name = "FORMS", value_delimiter = ',')]
    formats: Vec<String>,
    /// Language of titles: en or zh
    #[arg(long, value_name = "LANG")]
    lang: Option<String>,
    /// Membership that gets it; repeatable
    #[arg(long, value_name = "MEM")]
    to: Vec<String>,
}

/// List schedules of reports
#[derive(Debug, clap::Args)]
#[command(after_help = examples!(
    "loom periodic-report schedule list",
    "loom periodic-report schedule list --json"
))]
pub(crate) struct List {}

schedule_words! {
    "periodic-report";
    /// Show a schedule, what comes and what was
    Show "show" "--json";
    /// Let a schedule run from now on
    Enable "enable" "--dry-run";
    /// Stop a schedule from running
    Disable "disable" "--dry-run";
    /// Remove a schedule; its reports stay
    Remove "remove" "--dry-run";
}

/// Runs one of them.
pub(super) async fn run(command: Command, cx: &mut Context<'_, '_>) -> Outcome {
    match command {
        Command::Add(args) => {
            let Add { when, profile, window, formats, lang, to } = args;
            let asked = AddSchedule { profile, window, formats, lang, to, ..when.request() };
            schedules::add(Kind::Report, &asked, cx).await
        }
        Command::List(_) => schedules::list(Kind::Report, cx).await,
        Command::Show(args) => schedules::show(Kind::Report, &args.name, cx).await,
        Command::Enable(args) => schedules::change(Kind::Report, &args.name, Deed::Enable, cx).await,
        Command::Disable(args) => schedules::change(Kind::Report, &args.name, Deed::Disable, cx).await,
        Command::Remove(args) => schedules::change(Kind::Report, &args.name, Deed::Remove, cx).await,
    }
}
