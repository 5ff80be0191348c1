//! `loom value-connectors http-webhook endpoint`.

use clap::Subcommand;
use loom_api::request::PutEndpoint;
use loom_api::{query, routes};
use serde_json::Value;

use crate::commands::common::planned;
use crate::context::Context;
use crate::failure::Outcome;
use crate::output::{Column, Listing, Look, items, pick};

/// Deliveries that are shown with an endpoint.
const SHOWN: u32 = 10;

const LISTING: Listing = Listing {
    columns: &[
        Column::new("NAME", |v, _| pick::text(v, "name")),
        Column::new("URL", |v, _| pick::text(v, "url")),
        Column::new("ENVELOPE", |v, _| pick::text(v, "envelope")),
        Column::new("ENABLED", |v, _| if pick::is(v, "enabled") { "yes" } else { "no" }.to_owned()),
        Column::new("WHY", |v, _| pick::dash(v, "disabled_reason")),
    ],
    below: nothing,
    empty: "no endpoints",
};

fn nothing(_: &Value, _: &Look) -> Vec<String> {
    Vec::new()
}

/// What to do with endpoints.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    Add(Add),
    List(List),
    Show(Show),
    Enable(Enable),
    Disable(Disable),
    Remove(Remove),
}

/// Add or change an endpoint
///
/// A new secret signs beside the old one for a day, and alone then.
#[derive(Debug, clap::Args)]
#[command(override_usage = "loom … http-webhook endpoint add NAME --url U --secret-ref REF [OPTIONS]")]
#[command(after_help = examples!(
    "loom value-connectors http-webhook endpoint add billing \\\n    --url https://billing.example/hooks --secret-ref vault:billing",
    "loom value-connectors http-webhook endpoint add repo \\\n    --url https://repo.example/in --secret-ref env:HOOK --scheme github"
))]
pub(crate) struct Add {
    /// Name; also the route of what comes in
    #[arg(value_name = "NAME")]
    name: String,
    /// Where deliveries go
    #[arg(long, value_name = "U")]
    url: String,
    /// Reference of the signing secret
    #[arg(long, value_name = "REF")]
    secret_ref: String,
    /// Types that may be sent; all of them unless given
    #[arg(long, value_name = "A,B", value_delimiter = ',')]
    event_types: Vec<String>,
    /// standard, cloudevents or cloudevents-binary
    #[arg(long, value_name = "FORM", value_parser = ["standard", "cloudevents", "cloudevents-binary"])]
    envelope: Option<String>,
    /// How what comes in is verified: standard, github or slack
    #[arg(long, value_name = "S", value_parser = ["standard", "github", "slack"])]
    scheme: Option<String>,
}

/// List endpoints
#[derive(Debug, clap::Args)]
#[command(after_help = examples!(
    "loom value-connectors http-webhook endpoint list",
    "loom value-connectors http-webhook endpoint list --json"
))]
pub(crate) struct List {}

macro_rules! named {
    ($($(#[$doc:meta])* $name:ident $word:literal;)*) => { $(
        $(#[$doc])*
        #[derive(Debug, clap::Args)]
        #[command(after_help = concat!(
            "Examples:\n  loom value-connectors http-webhook endpoint ", $word,
            " billing\n  loom value-connectors http-webhook endpoint ", $word, " billing --json"
        ))]
        pub(crate) struct $name {
            /// Name
            #[arg(value_name = "NAME")]
            name: String,
        }
    )* };
}
named! {
    /// Show an endpoint
    Show "show";
    /// Switch an endpoint on
    Enable "enable";
    /// Switch an endpoint off
    Disable "disable";
    /// Remove an endpoint
    Remove "remove";
}

/// Runs one of them.
pub(super) async fn run(command: Command, cx: &mut Context<'_, '_>) -> Outcome {
    match command {
        Command::Add(args) => add(args, cx).await,
        Command::List(_) => {
            let page: Value = cx.hub()?.get(routes::endpoints()).run().await?;
            cx.out.list(&page, &LISTING)
        }
        Command::Show(args) => show(&args.name, cx).await,
        Command::Enable(args) => switch(&args.name, "enable", cx).await,
        Command::Disable(args) => switch(&args.name, "disable", cx).await,
        Command::Remove(args) => switch(&args.name, "remove", cx).await,
    }
}

async fn add(args: Add, cx: &mut Context<'_, '_>) -> Outcome {
    if cx.globals.dry_run {
        return planned(cx, "add", &[args.name]);
    }
    let Add { name, url, secret_ref, event_types, envelope, scheme } = args;
    let body = PutEndpoint { name, url, secret_ref, event_types, envelope, scheme };
    let endpoint: Value = cx.hub()?.post(routes::endpoints()).json(&body)?.run().await?;
    print(&endpoint, "added", cx)
}

async fn switch(name: &str, word: &str, cx: &mut Context<'_, '_>) -> Outcome {
    if cx.globals.dry_run {
        return planned(cx, word, &[name.to_owned()]);
    }
    let hub = cx.hub()?;
    let (call, done) = match word {
        "enable" => (hub.post(routes::endpoint_enable(name)), "enabled"),
        "disable" => (hub.post(routes::endpoint_disable(name)), "disabled"),
        _ => (hub.delete(routes::endpoint(name)), "removed"),
    };
    let endpoint: Value = call.run().await?;
    print(&endpoint, done, cx)
}

fn print(endpoint: &Value, done: &str, cx: &mut Context<'_, '_>) -> Outcome {
    match cx.out.is_human() {
        true => cx.out.line(&format!("{done} {}", pick::text(endpoint, "name"))),
        false => cx.out.json(endpoint),
    }
}

async fn show(name: &str, cx: &mut Context<'_, '_>) -> Outcome {
    let hub = cx.hub()?;
    let mut endpoint: Value = hub.get(routes::endpoint(name)).run().await?;
    let query = query::Deliveries { endpoint: Some(name.to_owned()), limit: Some(SHOWN), cursor: None };
    let deliveries: Value = hub.get(routes::deliveries()).query(&query)?.run().await?;
    let refusals = hub.get(routes::endpoint_refusals(name));
    let refusals: Value = refusals.query(&query::Paging { limit: Some(SHOWN), cursor: None })?.run().await?;
    if !cx.out.is_human() {
        pick::put(&mut endpoint, "deliveries", &items(&deliveries).to_vec().into());
        pick::put(&mut endpoint, "refusals", &items(&refusals).to_vec().into());
        return cx.out.json(&endpoint);
    }
    cx.out.heading(name)?;
    cx.out.fields(&[
        ("url", pick::text(&endpoint, "url")),
        ("envelope", pick::text(&endpoint, "envelope")),
        ("scheme", pick::text(&endpoint, "scheme")),
        ("types", pick::text(&endpoint, "event_types")),
        ("enabled", if pick::is(&endpoint, "enabled") { "yes" } else { "no" }.to_owned()),
        ("why", pick::text(&endpoint, "disabled_reason")),
        ("route", format!("/v1/hooks/{name}")),
    ])?;
    for one in items(&deliveries) {
        let (id, state) = (pick::text(one, "id"), pick::text(one, "state"));
        let told = [pick::text(one, "last_status"), pick::text(one, "last_error")].concat();
        cx.out.line(&format!("{id}  {state}  {} attempts  {told}", pick::text(one, "attempts")))?;
    }
    for one in items(&refusals) {
        cx.out.line(&format!("refused  {}  {}", pick::text(one, "at"), pick::text(one, "reason")))?;
    }
    Ok(())
}
