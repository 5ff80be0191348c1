//! What the schedules of reports and of Turns share: their words, their calls and how they are shown.

use loom_api::{request::AddSchedule, routes};
use loom_domain::schedule::Kind;
use serde_json::{Value, json};

use crate::context::Context;
use crate::failure::Outcome;
use crate::output::{Column, Listing, pick};

/// Makes the commands on one schedule, with their examples.
macro_rules! schedule_words {
    ($command:literal; $($(#[$doc:meta])* $name:ident $word:literal $more:literal;)*) => { $(
        $(#[$doc])*
        #[derive(Debug, clap::Args)]
        #[command(after_help = concat!(
            "Examples:\n  loom ", $command, " schedule ", $word, " monday",
            "\n  loom ", $command, " schedule ", $word, " monday ", $more
        ))]
        pub(crate) struct $name {
            /// Name
            #[arg(value_name = "NAME")]
            name: String,
        }
    )* };
}
pub(super) use schedule_words;

/// Name, times and zone of a new schedule.
#[derive(Debug, clap::Args)]
pub(super) struct When {
    /// Name: a-z, 0-9 and -
    #[arg(value_name = "NAME")]
    pub(super) name: String,
    /// Minute, hour, day, month and weekday; or @daily, @weekly, @monthly
    #[arg(long, value_name = "C")]
    pub(super) cron: String,
    /// IANA zone of these times
    #[arg(long, value_name = "ZONE")]
    pub(super) tz: String,
    /// Let it run from now on; else it waits for `enable`
    #[arg(long)]
    pub(super) enable: bool,
}

impl When {
    /// The request of these flags.
    pub(super) fn request(self) -> AddSchedule {
        let When { name, cron, tz, enable } = self;
        AddSchedule { name, cron, tz, enabled: enable, ..AddSchedule::default() }
    }
}

const LISTING: Listing = Listing::new(
    &[
        Column::new("NAME", |v, _| pick::text(v, "name")),
        Column::new("ENABLED", |v, _| if pick::is(v, "enabled") { "yes" } else { "no" }.to_owned()),
        Column::new("CRON", |v, _| pick::text(v, "cron")),
        Column::new("ZONE", |v, _| pick::text(v, "tz")),
        Column::new("NEXT", |v, _| match pick::is(v, "enabled") {
            true => pick::list(v, "next").first().map_or_else(String::new, |slot| pick::text(slot, "local")),
            false => "-".to_owned(),
        }),
        Column::new("LAST", |v, _| match pick::list(v, "occurrences").first() {
            Some(last) => pick::state(last, "outcome", "reason"),
            None => "-".to_owned(),
        }),
    ],
    "no schedules",
);

const OCCURRENCES: &[Column] = &[
    Column::new("LOCAL", |v, _| pick::text(v, "local")),
    Column::new("OUTCOME", |v, _| pick::text(v, "outcome")),
    Column::new("REASON", |v, _| pick::dash(v, "reason")),
    Column::new("MADE", |v, _| match pick::text(v, "report_id") {
        report if report.is_empty() => pick::dash(v, "turn_id"),
        report => report,
    }),
    Column::new("ENDED", |v, look| look.time(v, "at")),
];

/// What is done with one schedule.
#[derive(Debug, Clone, Copy)]
pub(super) enum Deed {
    Enable,
    Disable,
    Remove,
}

/// The command that schedules of a kind belong to.
const fn command(kind: Kind) -> &'static str {
    match kind {
        Kind::Report => "periodic-report",
        Kind::Turn => "turn",
    }
}

/// Adds one.
pub(super) async fn add(kind: Kind, asked: &AddSchedule, cx: &mut Context<'_, '_>) -> Outcome {
    let hub = cx.hub()?;
    let call = hub.post(routes::schedules(kind.as_str())).dry_run(cx.globals.dry_run);
    let done: Value = call.json(asked)?.run().await?;
    let (name, command) = (&asked.name, command(kind));
    let line = match asked.enabled {
        true => format!("added {name}, enabled"),
        false => format!("added {name}, disabled; `loom {command} schedule enable {name}` lets it run"),
    };
    cx.out.mutation_as(&done, &line)
}

/// Lists them.
pub(super) async fn list(kind: Kind, cx: &mut Context<'_, '_>) -> Outcome {
    let page: Value = cx.hub()?.get(routes::schedules(kind.as_str())).run().await?;
    cx.out.list(&page, &LISTING)
}

/// Shows one with its next times and newest occurrences.
pub(super) async fn show(kind: Kind, name: &str, cx: &mut Context<'_, '_>) -> Outcome {
    let entry: Value = cx.hub()?.get(routes::schedule(kind.as_str(), name)).run().await?;
    if !cx.out.is_human() {
        return cx.out.json(&entry);
    }
    let next: Vec<String> = pick::list(&entry, "next").iter().map(|slot| pick::text(slot, "local")).collect();
    let connectors = pick::list(&entry, "config.connectors");
    let connectors: Vec<String> = connectors.iter().map(|one| pick::text(one, "connector")).collect();
    cx.out.fields(&[
        ("name", pick::text(&entry, "name")),
        ("enabled", if pick::is(&entry, "enabled") { "yes" } else { "no" }.to_owned()),
        ("times", format!("{} in {}", pick::text(&entry, "cron"), pick::text(&entry, "tz"))),
        (if pick::is(&entry, "enabled") { "next" } else { "next, once enabled" }, next.join(", ")),
        ("profile", pick::text(&entry, "profile")),
        ("window", pick::text(&entry, "window")),
        ("formats", pick::text(&entry, "formats")),
        ("to", pick::text(&entry, "to")),
        ("connectors", connectors.join(", ")),
        ("agent", pick::text(&entry, "config.agent")),
    ])?;
    match pick::list(&entry, "occurrences") {
        [] => cx.out.note("no occurrences yet"),
        occurrences => cx.out.table(OCCURRENCES, occurrences, |occurrence, _| {
            Some(pick::text(occurrence, "message")).filter(|text| !text.is_empty()).into_iter().collect()
        }),
    }
}

/// Switches or removes one.
pub(super) async fn change(kind: Kind, name: &str, deed: Deed, cx: &mut Context<'_, '_>) -> Outcome {
    let (hub, kind) = (cx.hub()?, kind.as_str());
    let (call, did) = match deed {
        Deed::Enable => (hub.post(routes::schedule_enable(kind, name)).json(&json!({}))?, "enabled"),
        Deed::Disable => (hub.post(routes::schedule_disable(kind, name)).json(&json!({}))?, "disabled"),
        Deed::Remove => (hub.delete(routes::schedule(kind, name)), "removed"),
    };
    let done: Value = call.dry_run(cx.globals.dry_run).run().await?;
    let already = if pick::list(&done, "changed").is_empty() { ", as it was" } else { "" };
    cx.out.mutation_as(&done, &format!("{did} {name}{already}"))
}
