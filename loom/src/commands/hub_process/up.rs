//! `loom up`.

use std::time::Duration;

use nix::sys::stat::{Mode, umask};
use tokio::signal::unix::{SignalKind, signal};

use super::Up;
use crate::commands::integration_branch::key;
use crate::compose::{self, Start};
use crate::context::Context;
use crate::failure::{Failure, INTERRUPTED, Outcome};

/// Threads of the hub's runtime; storage and files have their own.
const WORKERS: usize = 2;

/// Serves until SIGTERM, SIGINT or `loom down`; a second signal ends the drain at once.
pub(crate) fn run(_args: Up, cx: &mut Context<'_, '_>) -> Outcome {
    keep_files_private();
    adopt_orphans();
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(WORKERS)
        .thread_stack_size(2 << 20)
        .enable_all()
        .build()?;
    runtime.block_on(serve(cx))
}

async fn serve(cx: &mut Context<'_, '_>) -> Outcome {
    let mut terminate = signal(SignalKind::terminate())?;
    let mut interrupt = signal(SignalKind::interrupt())?;
    key::sweep(&cx.env.home(), cx.env.now);
    let start = Start { home: cx.env.home(), variables: cx.env.variables.clone(), talks: !cx.globals.quiet };
    let running = compose::start(start).await?;
    for place in &running.listens {
        cx.out.note(&format!("loom serves on {place}"))?;
    }
    cx.out.flush()?;
    let mut asked = running.hub.stop_requests();
    let drain = tokio::select! {
        _ = terminate.recv() => None,
        _ = interrupt.recv() => None,
        Some(limit) = asked.recv() => limit,
    };
    let drain = drain.unwrap_or_else(|| Duration::from_secs(running.hub.config().hub.drain_s));
    tokio::select! {
        () = running.stop(drain) => Ok(()),
        _ = terminate.recv() => Err(Failure::Exit(INTERRUPTED)),
        _ = interrupt.recv() => Err(Failure::Exit(INTERRUPTED)),
    }
}

/// Whatever the hub and its libraries make from here on is for its own user alone.
fn keep_files_private() {
    umask(Mode::from_bits_truncate(0o077));
}

/// A process that a runtime leaves behind becomes the hub's own child, so that it never counts as the owner's.
#[cfg(target_os = "linux")]
fn adopt_orphans() {
    if let Err(cause) = nix::sys::prctl::set_child_subreaper(true) {
        tracing::warn!("processes left behind by runtimes cannot be adopted: {cause}");
    }
}

#[cfg(not(target_os = "linux"))]
fn adopt_orphans() {}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;

    /// The database and the logs are made by libraries that ask for 0644.
    #[test]
    fn files_of_the_hub_are_private() {
        keep_files_private();
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("loom.db");
        std::fs::write(&path, "x").unwrap();
        assert_eq!(std::fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
    }
}
