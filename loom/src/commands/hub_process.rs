//! The hub's own process: start, stop, check and show it.

mod demo;
mod doctor;
mod down;
mod up;

use clap::Args;

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
#[command(after_help = examples!("loom doctor", "loom doctor --json"))]
pub(crate) struct Doctor {}

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

/// Starts the hub. It runs on a runtime of its own.
pub(crate) fn up(args: Up, cx: &mut Context<'_, '_>) -> Outcome {
    up::run(args, cx)
}

/// Stops the hub.
pub(crate) async fn down(args: Down, cx: &mut Context<'_, '_>) -> Outcome {
    down::run(args, cx).await
}

/// Checks the installation.
pub(crate) async fn doctor(args: Doctor, cx: &mut Context<'_, '_>) -> Outcome {
    doctor::run(args, cx).await
}

/// Runs the demo.
pub(crate) async fn demo(args: Demo, cx: &mut Context<'_, '_>) -> Outcome {
    demo::run(args, cx).await
}
