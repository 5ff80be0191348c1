//! `loom host-mode-plan`.

use clap::ValueEnum;
use loom_capabilities::{Catalog, HostKind, HostModePlan, HostOrder, HostOverview, Intent, Look, fold_id};
use loom_domain::{Code, Error, Result};

use crate::cli::parsers;
use crate::compose::world;
use crate::context::Context;
use crate::failure::{Failure, Outcome};

/// Plan a Turn on a host, without starting it
#[derive(Debug, clap::Args)]
#[command(
    long_about = "Plan a Turn on a host, without starting it\n\nLooks for the program of the host and asks it for \
                  its version; starts nothing else, opens no connection and writes nothing. Without --host every \
                  host is planned for."
)]
#[command(after_help = examples!(
    "loom host-mode-plan --host opencode --connector github_public_probe",
    "loom host-mode-plan --host generic --host-name pi --host-command pi --json"
))]
pub(crate) struct Args {
    /// codex, claude-code, opencode, acp, generic or http
    #[arg(long, value_name = "HOST", visible_alias = "host-identity", value_parser = host)]
    host: Option<String>,
    /// Connector of the Turn; may be repeated
    #[arg(long, value_name = "ID")]
    connector: Vec<String>,
    /// Agent that runs behind the connectors
    #[arg(long, value_name = "AGENT", value_parser = parsers::agent)]
    agent: Option<String>,
    /// What is wanted of the Turn; may be repeated
    #[arg(long, value_name = "INTENT", value_enum)]
    intent: Vec<IntentWord>,
    /// Name of the host, kept as it is given
    #[arg(long, value_name = "NAME", requires = "host")]
    host_name: Option<String>,
    /// Program of the host, or its URL for http
    #[arg(long, value_name = "COMMAND", requires = "host")]
    host_command: Option<String>,
    /// Start no program at all
    #[arg(long)]
    no_detect: bool,
    /// Exit with 1 unless everything is ready
    #[arg(long)]
    require_ready: bool,
    /// Show where programs are
    #[arg(long)]
    show_paths: bool,
}

/// Words of `--intent`.
#[derive(Debug, Clone, Copy, ValueEnum)]
#[value(rename_all = "snake_case")]
enum IntentWord {
    WatchEachTurn,
    ContinueWithoutUi,
    IntakeFromChat,
    TimerKeepalive,
    EscalateBetweenModes,
}

impl From<IntentWord> for Intent {
    fn from(word: IntentWord) -> Self {
        match word {
            IntentWord::WatchEachTurn => Intent::WatchEachTurn,
            IntentWord::ContinueWithoutUi => Intent::ContinueWithoutUi,
            IntentWord::IntakeFromChat => Intent::IntakeFromChat,
            IntentWord::TimerKeepalive => Intent::TimerKeepalive,
            IntentWord::EscalateBetweenModes => Intent::EscalateBetweenModes,
        }
    }
}

/// A host that exists; its name is kept as it was typed.
fn host(text: &str) -> Result<String> {
    HostKind::parse(text).map(|_| text.to_owned())
}

/// Plans it.
pub(crate) async fn run(args: Args, cx: &mut Context<'_, '_>) -> Outcome {
    let world = world::offline(cx.env)?;
    for id in &args.connector {
        fold_id(id)?;
    }
    let (catalog, _) = Catalog::of_home(&cx.env.home())?;
    let Some(typed) = &args.host else {
        let mut plans = Vec::new();
        for kind in HostKind::ALL {
            plans.push(HostModePlan::make(&world, &catalog, order(&args, kind, kind.id(), cx)).await?);
        }
        let ready = plans.iter().all(HostModePlan::is_ready);
        overview(&HostOverview::of(plans), cx)?;
        return ended(&args, ready);
    };
    let order = order(&args, HostKind::parse(typed)?, typed, cx);
    let plan = HostModePlan::make(&world, &catalog, order).await?;
    print(&plan, cx)?;
    ended(&args, plan.is_ready())
}

fn ended(args: &Args, ready: bool) -> Outcome {
    match args.require_ready && !ready {
        true => Err(Failure::of(Code::NotReady)),
        false => Ok(()),
    }
}

fn order(args: &Args, kind: HostKind, typed: &str, cx: &Context<'_, '_>) -> HostOrder {
    HostOrder {
        kind,
        name: args.host_name.clone().unwrap_or_else(|| typed.to_owned()),
        command: args.host_command.clone(),
        connectors: args.connector.clone(),
        agent: args.agent.clone(),
        intents: args.intent.iter().copied().map(Intent::from).collect(),
        look: look(args.no_detect, cx),
        shows_paths: args.show_paths,
    }
}

/// Looks in the PATH of this process, unless that is not wanted.
pub(super) fn look(no_detect: bool, cx: &Context<'_, '_>) -> Look {
    if no_detect {
        return Look::No;
    }
    Look::Path(cx.env.get("PATH").unwrap_or_default().to_owned())
}

/// A word of the plan, as it stands in JSON.
fn word<T: serde::Serialize>(value: T) -> Result<String> {
    let value = serde_json::to_value(value).map_err(Error::internal)?;
    Ok(value.as_str().unwrap_or_default().to_owned())
}

fn found(plan: &HostModePlan) -> Result<String> {
    Ok(match (plan.host.found, &plan.host.version) {
        (None, _) => "not looked for".to_owned(),
        (Some(false), _) => "not found".to_owned(),
        (Some(true), None) => "found, version unknown".to_owned(),
        (Some(true), Some(version)) => format!("{version} ({})", word(plan.host.version_status)?),
    })
}

fn overview(document: &HostOverview, cx: &mut Context<'_, '_>) -> Outcome {
    if !cx.out.is_human() {
        return cx.out.typed(document);
    }
    for plan in &document.hosts {
        let (id, status) = (word(plan.host.id)?, word(plan.readiness.status)?);
        let line = format!("{id:<12} {:<24} {status:<16} {}", found(plan)?, plan.host_connector);
        cx.out.line(&line)?;
    }
    cx.out.note("plan one with `loom host-mode-plan --host HOST --connector ID`")
}

fn print(plan: &HostModePlan, cx: &mut Context<'_, '_>) -> Outcome {
    if !cx.out.is_human() {
        return cx.out.typed(plan);
    }
    cx.out.heading(&format!("{} ({})", plan.host.name, word(plan.host.id)?))?;
    let mut fields = vec![
        ("program", found(plan)?),
        ("mode", word(plan.mode)?),
        ("host connector", plan.host_connector.to_owned()),
        ("readiness", word(plan.readiness.status)?),
    ];
    if let Some(path) = &plan.host.path {
        fields.push(("path", path.clone()));
    }
    cx.out.fields(&fields)?;
    for one in &plan.connectors {
        let granted = if one.granted { "" } else { "  not granted" };
        cx.out.line(&format!("connector {}  {}{granted}", one.connector_id, word(one.readiness)?))?;
    }
    for step in &plan.steps {
        cx.out.line(&format!("{}. {}: {}", step.n, word(step.kind)?, step.command))?;
    }
    Ok(())
}
