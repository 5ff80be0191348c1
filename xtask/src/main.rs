//! The workspace's own checks and measurements: `cargo xtask check` and `cargo xtask bench`.

mod bench;
mod names;
mod outside;
mod settings;
mod source;
mod tree;
mod walls;

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

const USAGE: &str = "usage: cargo xtask check            keep the walls of ARCHITECTURE.md
       cargo xtask bench [ARGS]     build and run the benchmarks; the arguments go to loom-bench";

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let done = match arguments.split_first() {
        Some((word, [])) if word == "check" => check(&root()),
        Some((word, rest)) if word == "bench" => bench::run(&root(), rest),
        Some((word, [])) if word == "help" || word == "--help" => say(USAGE),
        _ => {
            complain(USAGE);
            return ExitCode::from(2);
        }
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            complain(&format!("error: {error:#}"));
            ExitCode::FAILURE
        }
    }
}

/// Runs every check and names each fault on a line of its own.
fn check(root: &Path) -> anyhow::Result<()> {
    let files = tree::files(root)?;
    let mut faults = walls::faults(root)?;
    faults.extend(outside::faults(root)?);
    faults.extend(source::faults(&files));
    faults.extend(tree::faults(&files));
    faults.extend(names::faults(&files));
    faults.extend(settings::faults(&files));
    for fault in &faults {
        complain(fault);
    }
    match faults.len() {
        0 => say(&format!("the walls stand ({} files read)", files.len())),
        count => anyhow::bail!("{count} faults"),
    }
}

/// The top of the checkout, as cargo names it now: a build may be older than the place it is run in.
fn root() -> PathBuf {
    let here = std::env::var_os("CARGO_MANIFEST_DIR").unwrap_or_else(|| env!("CARGO_MANIFEST_DIR").into());
    Path::new(&here).ancestors().nth(1).unwrap_or_else(|| Path::new(".")).to_owned()
}

fn say(line: &str) -> anyhow::Result<()> {
    Ok(writeln!(std::io::stdout(), "{line}")?)
}

fn complain(line: &str) {
    // A closed stderr leaves nobody to tell.
    let _ = writeln!(std::io::stderr(), "{line}");
}

#[cfg(test)]
mod tests {
    /// Everything that `cargo xtask check` refuses is absent from this tree.
    #[test]
    fn the_tree_keeps_its_walls() {
        super::check(&super::root()).unwrap();
    }
}
