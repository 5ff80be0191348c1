//! The hub's own process: start, stop, check and show it.

use clap::Args;
use loom_domain::Error;

use crate::cli::parsers;
use crate::context::Context;
use crate::failure::Outcome;

/// Start the hub and serve until it is stopped
#[derive(Debug, Args)]
#[command(after_help = examples!("loom up", "LOOM_HOME=/srv/loom loom up"))]
pub(crate) struct Up {}

/// Stop the hub, letting work in flight finish
#[derive(Debug, Args)]
#[command(after_help = examples!("loom down", "loom down --drain 10s"))]
pub(crate) struct Down {
    /// Longest time for work in flight
    #[arg(long, value_name = "D", value_parser = parsers::seconds)]
    pub(crate) drain: Option<u64>,
}

/// Check the installation, hub up or down
#[derive(Debug, Args)]
#[command(after_help = examples!("loom doctor", "loom doctor --fix --json"))]
pub(crate) struct Doctor {
    /// Repair what can be repaired safely
    #[arg(long)]
    pub(crate) fix: bool,
}

/// Show Loom at work, offline
#[derive(Debug, Args)]
#[command(after_help = examples!("loom demo", "loom demo --keep --step"))]
pub(crate) struct Demo {
    /// Keep the demo's home
    #[arg(long)]
    pub(crate) keep: bool,
    /// Wait for a key after each step
    #[arg(long)]
    pub(crate) step: bool,
    /// Seed of everything generated
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub(crate) seed: u64,
}

/// Starts the hub.
pub(crate) async fn up(_args: Up, _cx: &mut Context<'_, '_>) -> Outcome {
    Err(Error::internal("this build holds no hub").into())
}

/// Stops the hub.
pub(crate) async fn down(_args: Down, _cx: &mut Context<'_, '_>) -> Outcome {
    Err(Error::internal("this build holds no hub").into())
}

/// Checks the installation.
pub(crate) async fn doctor(_args: Doctor, _cx: &mut Context<'_, '_>) -> Outcome {
    Err(Error::internal("this build holds no hub").into())
}

/// Runs the demo.
pub(crate) async fn demo(_args: Demo, _cx: &mut Context<'_, '_>) -> Outcome {
    Err(Error::internal("this build holds no hub").into())
}
