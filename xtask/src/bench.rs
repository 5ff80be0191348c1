//! Builds the benchmarks and the program as users have them, and runs them.

use std::path::Path;
use std::process::Command;

use anyhow::Context as _;

/// Builds `loom-bench` and the `loom` binary that it starts, then runs it with the arguments.
pub(crate) fn run(root: &Path, arguments: &[String]) -> anyhow::Result<()> {
    cargo(root, &["build", "--release", "--bin", "loom", "--bin", "loom-bench"], &[])?;
    cargo(root, &["run", "--quiet", "--release", "--bin", "loom-bench", "--"], arguments)
}

fn cargo(root: &Path, words: &[&str], arguments: &[String]) -> anyhow::Result<()> {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let status =
        Command::new(cargo).current_dir(root).args(words).args(arguments).status().context("cargo")?;
    anyhow::ensure!(status.success(), "cargo {} ended with {status}", words.join(" "));
    Ok(())
}
