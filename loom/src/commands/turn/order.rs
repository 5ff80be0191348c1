//! The order of a Turn: the file, then flags.

use clap::ValueEnum;
use loom_capabilities::{
    Catalog, DOCUMENT_BYTES_MAX, HostKind, HostModePlan, HostOrder, OnError, TurnCall, TurnOrder, TurnPlan,
    World,
};
use loom_domain::Result;

use super::super::host_mode_plan::look;
use crate::cli::parsers;
use crate::context::Context;
use crate::input::body::read_limited;
use crate::input::document;

/// Largest file with a prompt.
const PROMPT_BYTES_MAX: usize = 256 * 1024;

/// What a Turn is asked to do.
#[derive(Debug, Clone, Default, clap::Args)]
pub(super) struct OrderFlags {
    /// Connector, with its input or configuration; may be repeated
    #[arg(long, value_name = "ID[=JSON|@FILE]")]
    connector: Vec<String>,
    /// Agent that runs behind the connectors; needs the hub
    #[arg(long, value_name = "AGENT", value_parser = parsers::agent)]
    agent: Option<String>,
    /// File with what the Agent is asked, or - for stdin
    #[arg(long, value_name = "FILE")]
    prompt_file: Option<String>,
    /// Host that the Turn is planned for
    #[arg(long, value_name = "HOST", value_parser = host)]
    host: Option<String>,
    /// Key of the Turn: the same key is the same Turn
    #[arg(long, value_name = "KEY")]
    turn_key: Option<String>,
    /// What happens behind a connector that failed
    #[arg(long, value_name = "WORD", value_enum)]
    on_error: Option<OnErrorWord>,
    /// Longest time of the whole Turn, 1s to 24h
    #[arg(long, value_name = "D", value_parser = parsers::seconds)]
    deadline: Option<u64>,
    /// File with all of this, or - for stdin
    #[arg(long, value_name = "FILE")]
    config: Option<String>,
}

/// Words of `--on-error`.
#[derive(Debug, Clone, Copy, ValueEnum)]
enum OnErrorWord {
    Stop,
    Continue,
}

fn host(text: &str) -> Result<String> {
    HostKind::parse(text).map(|_| text.to_owned())
}

impl OrderFlags {
    /// The order; flags count more than the file.
    pub(super) fn order(&self, cx: &mut Context<'_, '_>) -> Result<TurnOrder> {
        let mut order = match self.config.as_deref() {
            None => TurnOrder::new(),
            Some("-") => TurnOrder::parse(&read_limited(&mut cx.env.stdin.reader, DOCUMENT_BYTES_MAX)?)?,
            Some(path) => TurnOrder::parse(&document::read_text(path, DOCUMENT_BYTES_MAX)?)?,
        };
        if !self.connector.is_empty() {
            order.connectors = self.connector.iter().map(|text| call(text)).collect::<Result<_>>()?;
        }
        order.agent = self.agent.clone().or(order.agent);
        order.prompt = match self.prompt_file.as_deref() {
            None => order.prompt,
            Some("-") => Some(read_limited(&mut cx.env.stdin.reader, PROMPT_BYTES_MAX)?),
            Some(path) => Some(document::read_text(path, PROMPT_BYTES_MAX)?),
        };
        if let Some(word) = self.on_error {
            order.on_error = match word {
                OnErrorWord::Stop => OnError::Stop,
                OnErrorWord::Continue => OnError::Continue,
            };
        }
        order.host = self.host.clone().or(order.host);
        order.turn_key = self.turn_key.clone().or(order.turn_key);
        order.deadline_seconds = self.deadline.or(order.deadline_seconds);
        Ok(order)
    }
}

/// `ID`, `ID=JSON` or `ID=@FILE`.
fn call(text: &str) -> Result<TurnCall> {
    match text.split_once('=') {
        None => Ok(TurnCall::of(text)),
        Some((id, given)) => match given.strip_prefix('@') {
            Some(path) => TurnCall::with_text(id, &document::read_text(path, DOCUMENT_BYTES_MAX)?),
            None => TurnCall::with_text(id, given),
        },
    }
}

/// The plan of an order, with the plan of its host.
pub(super) async fn planned(
    world: &World,
    catalog: &Catalog,
    order: &TurnOrder,
    cx: &Context<'_, '_>,
) -> Result<TurnPlan> {
    let mut plan = TurnPlan::make(world, catalog, order).await?;
    if let Some(name) = &order.host {
        let host = HostOrder {
            kind: HostKind::parse(name)?,
            name: name.clone(),
            command: None,
            connectors: order.connectors.iter().map(|call| call.connector.clone()).collect(),
            agent: order.agent.clone(),
            intents: Vec::new(),
            look: look(false, cx),
            shows_paths: false,
        };
        plan.host = Some(HostModePlan::make(world, catalog, host).await?);
    }
    Ok(plan)
}
