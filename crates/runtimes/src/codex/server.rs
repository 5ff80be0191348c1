//! One app-server process: its start, its handshake, its end.

use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use serde_json::json;
use tokio::io::AsyncReadExt;
use tokio::process::{Child, ChildStderr};
use tokio::time::{Instant, sleep, timeout};
use tokio_util::sync::CancellationToken;
use tokio_util::task::AbortOnDropHandle;

use crate::process::{ChildRecord, Force, Liveness, Tail, environment, spawn, stop_group};
use crate::{ErrClass, HostCtx, Redact, RuntimeError, RuntimeSettings};

use super::config;
use super::connection::{self, Connection};
use super::history::text;

/// Wait for a process to end after it was told to.
pub(super) const END_WAIT: Duration = Duration::from_secs(2);
/// Wait for a process to end after SIGKILL.
const KILL_WAIT: Duration = Duration::from_secs(5);
/// Kept end of stderr in bytes.
const STDERR_BYTES: usize = 64 * 1024;
/// Shown end of stderr, in characters, when the handshake fails.
const STDERR_CHARS_SHOWN: usize = 400;
/// Time between two looks at a leftover process.
const LOOK_EVERY: Duration = Duration::from_millis(20);

/// A running app-server.
pub(super) struct AppServer {
    pub(super) connection: Arc<Connection>,
    pub(super) child_id: u32,
    pub(super) version: String,
    ended: CancellationToken,
    _tasks: [AbortOnDropHandle<()>; 4],
}

impl AppServer {
    /// Starts the process and shakes hands. A process left over from before a crash is ended first.
    pub(super) async fn start(settings: &RuntimeSettings, host: &HostCtx) -> Result<AppServer, RuntimeError> {
        let fault = |error: std::io::Error| {
            RuntimeError::new(ErrClass::Spawn, format!("the private directory: {error}"))
        };
        config::prepare(settings, host).map_err(fault)?;
        let record = host.private_dir.join("app-server.json");
        end_leftover(&record).await?;
        let home = config::home(host);
        let env = environment(host, &[("CODEX_HOME", &home)]);
        let program = settings.argv.first().cloned().unwrap_or_else(|| "codex".to_owned());
        let arguments = settings.argv.iter().skip(1).cloned();
        let argv: Vec<String> =
            [program].into_iter().chain(arguments).chain(["app-server".to_owned()]).collect();
        let child = spawn(&argv, &env, &host.private_dir)?;
        let child_id = child.id().unwrap_or_default();
        ChildRecord::of(child_id).write(&record).map_err(fault)?;
        let stderr = Arc::new(Mutex::new(Tail::new(STDERR_BYTES)));
        let mut server = AppServer::attend(child, child_id, host, Arc::clone(&stderr))?;
        match server.shake_hands(host).await {
            Ok(version) => {
                server.version = version;
                Ok(server)
            }
            Err(error) => {
                server.kill().await;
                let tail = (host.redact)(&stderr.lock().unwrap_or_else(PoisonError::into_inner).text());
                let skip = tail.chars().count().saturating_sub(STDERR_CHARS_SHOWN);
                let tail: String = tail.chars().skip(skip).collect();
                let message = format!("codex did not complete the handshake: {error} {tail}");
                Err(RuntimeError::new(ErrClass::Handshake, message.trim()))
            }
        }
    }

    /// Starts the tasks that read, write and wait.
    fn attend(
        mut child: Child,
        child_id: u32,
        host: &HostCtx,
        stderr: Arc<Mutex<Tail>>,
    ) -> Result<AppServer, RuntimeError> {
        let pipes = (child.stdin.take(), child.stdout.take(), child.stderr.take());
        let (Some(input), Some(output), Some(errors)) = pipes else {
            return Err(RuntimeError::new(ErrClass::Spawn, "codex has no pipes"));
        };
        let (connection, lines) = Connection::new(Arc::clone(&host.redact));
        let connection = Arc::new(connection);
        let ended = CancellationToken::new();
        let line_bytes_max = host.limits.line_bytes_max;
        let (reading, waiting) = (Arc::clone(&connection), Arc::clone(&connection));
        let end = ended.clone();
        let tasks = [
            tokio::spawn(connection::write(connection.eof(), lines, input)),
            tokio::spawn(async move {
                connection::read(&reading, output, line_bytes_max).await;
                // Without a reader the process is of no use; a healthy one has ended by itself.
                stop_group(child_id, Force::Sweep);
            }),
            tokio::spawn(keep_stderr(errors, stderr, Arc::clone(&host.redact))),
            tokio::spawn(async move {
                let _ = child.wait().await;
                stop_group(child_id, Force::Sweep);
                waiting.close();
                end.cancel();
            }),
        ];
        let tasks = tasks.map(AbortOnDropHandle::new);
        Ok(AppServer { connection, child_id, version: String::new(), ended, _tasks: tasks })
    }

    async fn shake_hands(&self, host: &HostCtx) -> Result<String, RuntimeError> {
        let client = json!({"name": "loom", "title": "Loom", "version": env!("CARGO_PKG_VERSION")});
        let params = json!({"clientInfo": client, "capabilities": {"experimentalApi": true}});
        let answer = self.connection.call("initialize", params, host.limits.probe_wait).await;
        let answer = answer.map_err(connection::CallError::into_error)?;
        self.connection.notify("initialized").await;
        Ok(version(text(&answer, "userAgent")))
    }

    /// Ends the input and waits; kills the group when that is not enough.
    pub(super) async fn stop(&self, politely: Duration) {
        self.connection.end_input();
        if timeout(politely, self.ended.cancelled()).await.is_err() {
            self.kill().await;
        }
    }

    /// Kills the group and waits for the end of its leader.
    pub(super) async fn kill(&self) {
        if !self.ended.is_cancelled() {
            stop_group(self.child_id, Force::Kill);
            let _ = timeout(KILL_WAIT, self.ended.cancelled()).await;
        }
        self.connection.close();
    }
}

impl Drop for AppServer {
    fn drop(&mut self) {
        if !self.ended.is_cancelled() {
            stop_group(self.child_id, Force::Sweep);
        }
    }
}

/// The version in `client/0.171.0 (…)`.
fn version(user_agent: &str) -> String {
    let rest = user_agent.split_once('/').map(|(_, rest)| rest).unwrap_or_default();
    rest.split_whitespace().next().unwrap_or_default().to_owned()
}

async fn end_leftover(path: &Path) -> Result<(), RuntimeError> {
    // A record that cannot be read names nobody to end.
    let Ok(Some(record)) = ChildRecord::read(path) else { return Ok(()) };
    record.kill();
    let give_up_at = Instant::now() + KILL_WAIT;
    while record.liveness() == Liveness::Alive {
        if Instant::now() >= give_up_at {
            return Err(RuntimeError::new(
                ErrClass::WriterLocked,
                "the codex of an earlier run does not end",
            ));
        }
        sleep(LOOK_EVERY).await;
    }
    Ok(())
}

async fn keep_stderr(mut errors: ChildStderr, tail: Arc<Mutex<Tail>>, redact: Redact) {
    let mut buffer = vec![0; 8 * 1024];
    while let Ok(count) = errors.read(&mut buffer).await {
        let bytes = buffer.get(..count).unwrap_or_default();
        if bytes.is_empty() {
            break;
        }
        tail.lock().unwrap_or_else(PoisonError::into_inner).push(bytes);
        tracing::debug!(stderr = redact(&String::from_utf8_lossy(bytes)), "codex");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rt_13_the_version_is_read_from_the_user_agent() {
        assert_eq!(version("loom/0.171.0 (Debian 12.0.0; x86_64) unknown (loom; 0.1)"), "0.171.0");
        assert_eq!(version("nonsense"), "");
    }
}
