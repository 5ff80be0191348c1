//! Owns every task of the hub. A task that panics or returns early is counted and started again.

use std::future::Future;
use std::panic::AssertUnwindSafe;
use std::sync::Mutex;
use std::time::Duration;

use futures_util::FutureExt as _;
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

/// Wait before a task that died is started again.
const RESTART_WAIT: Duration = Duration::from_secs(1);

/// The owner of tasks; dropping it ends them.
#[derive(Debug, Default)]
pub(crate) struct Supervisor {
    tasks: Mutex<JoinSet<()>>,
}

impl Supervisor {
    /// Runs a task until `stop`. A panic is caught, told to `died`, and the task starts again.
    pub(crate) fn keep<F, Fut>(
        &self,
        name: &'static str,
        stop: CancellationToken,
        died: impl Fn(&str) + Send + 'static,
        run: F,
    ) where
        F: Fn() -> Fut + Send + 'static,
        Fut: Future<Output = ()> + Send,
    {
        self.own(async move {
            loop {
                let outcome = AssertUnwindSafe(run()).catch_unwind().await;
                if stop.is_cancelled() {
                    return;
                }
                let why = match outcome {
                    Ok(()) => "returned".to_owned(),
                    Err(panic) => panic_text(panic.as_ref()),
                };
                tracing::error!(task = name, "a task died and is started again: {why}");
                died(&why);
                tokio::select! {
                    () = stop.cancelled() => return,
                    () = tokio::time::sleep(RESTART_WAIT) => {}
                }
            }
        });
    }

    /// Owns a task that ends by itself.
    pub(crate) fn own(&self, task: impl Future<Output = ()> + Send + 'static) {
        if let Ok(mut tasks) = self.tasks.lock() {
            while tasks.try_join_next().is_some() {}
            tasks.spawn(task);
        }
    }

    /// Waits until every task has ended, at most `limit`; ends the rest.
    pub(crate) async fn wait(&self, limit: Duration) {
        let mut tasks = match self.tasks.lock() {
            Ok(mut tasks) => std::mem::take(&mut *tasks),
            Err(_) => return,
        };
        let all = async { while tasks.join_next().await.is_some() {} };
        if tokio::time::timeout(limit, all).await.is_err() {
            tracing::warn!("some tasks did not end in time and were stopped");
        }
    }
}

/// What a panic said.
pub(crate) fn panic_text(panic: &(dyn std::any::Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().map(|s| (*s).to_owned());
    text.or_else(|| panic.downcast_ref::<String>().cloned()).unwrap_or_else(|| "panicked".to_owned())
}
