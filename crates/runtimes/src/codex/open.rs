//! Attaches to a thread or makes one.

use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};
use tokio::time::{Instant, sleep};

use crate::{AgentSpec, Binding, ErrClass, HostCtx, Opened, OpenedHow, RuntimeError, RuntimeKind};

use super::Shared;
use super::config;
use super::connection::CallError;
use super::history::text;
use super::server::AppServer;
use super::session::CodexSession;

/// How long the holder of a thread is given to end.
const WRITER_WAIT: Duration = Duration::from_secs(10);
/// Time between two tries.
const WRITER_RETRY_EVERY: Duration = Duration::from_millis(100);

/// Opens the bound thread, or a new one when there is none or it is lost.
pub(super) async fn open(
    shared: &Arc<Shared>,
    agent: &AgentSpec,
    binding: Option<&Binding>,
    host: &HostCtx,
) -> Result<Opened, RuntimeError> {
    let server = shared.server().await?;
    let bound = binding.filter(|bound| bound.kind == RuntimeKind::Codex && !bound.thread_id.is_empty());
    let (thread, how) = match bound {
        None => (start(&server, agent, host).await?, OpenedHow::Fresh),
        Some(bound) => match resume(&server, &bound.thread_id, agent, host).await {
            Ok(()) => (bound.thread_id.clone(), OpenedHow::Resumed),
            Err(error) if error.class == ErrClass::ThreadLost => {
                let how = OpenedHow::FreshAfterLoss { reason: error.message };
                (start(&server, agent, host).await?, how)
            }
            Err(error) => return Err(error),
        },
    };
    let binding =
        Binding { kind: RuntimeKind::Codex, thread_id: thread.clone(), instance: shared.instance.clone() };
    let session = CodexSession::new(Arc::clone(shared), agent.clone(), host.clone(), thread, server);
    Ok(Opened { session: Box::new(session), binding, how })
}

async fn start(server: &AppServer, agent: &AgentSpec, host: &HostCtx) -> Result<String, RuntimeError> {
    let params = config::policy(agent, host)?;
    let answer = server.connection.call("thread/start", params, host.limits.request_wait).await;
    let answer = answer.map_err(CallError::into_error)?;
    let thread = text(answer.get("thread").unwrap_or(&Value::Null), "id").to_owned();
    if thread.is_empty() {
        return Err(RuntimeError::new(ErrClass::Protocol, "codex started a thread without an id"));
    }
    Ok(thread)
}

/// Loads a thread with every policy field. Waits for a while when another process still holds it.
pub(super) async fn resume(
    server: &AppServer,
    thread: &str,
    agent: &AgentSpec,
    host: &HostCtx,
) -> Result<(), RuntimeError> {
    let mut params = config::policy(agent, host)?;
    if let Some(map) = params.as_object_mut() {
        map.extend([("threadId".to_owned(), json!(thread)), ("excludeTurns".to_owned(), json!(true))]);
    }
    let give_up_at = Instant::now() + WRITER_WAIT;
    loop {
        let answer = server.connection.call("thread/resume", params.clone(), host.limits.request_wait).await;
        match answer.map_err(CallError::into_error) {
            Ok(_) => return Ok(()),
            Err(error) if error.class == ErrClass::WriterLocked && Instant::now() < give_up_at => {
                sleep(WRITER_RETRY_EVERY).await;
            }
            Err(error) => return Err(error),
        }
    }
}
