//! The short calls for programs without an async runtime. The calling thread waits.

use std::future::Future;
use std::sync::{OnceLock, mpsc};

use loom_domain::{Error, Result};
use serde::Serialize;
use tokio::runtime::Runtime;

use super::{LoomError, Options, default_transport};
use crate::response::Response;

/// Gets a URL; see [`super::http_get`].
pub fn http_get(url: &str, options: Options) -> Result<Response, LoomError> {
    let (transport, url) = (default_transport()?, url.to_owned());
    wait(async move { transport.http_get(&url, options).await })
}

/// Posts a value as JSON; see [`super::http_post`].
pub fn http_post<T: Serialize + ?Sized>(
    url: &str,
    json: &T,
    options: Options,
) -> Result<Response, LoomError> {
    // Built here, so that the value need not outlive the call; mistakes are reported when it is sent.
    let request = default_transport()?.post(url).json(json).options(options);
    wait(request.send())
}

/// Runs a call on a runtime of its own, so that it works inside another runtime too.
fn wait(call: impl Future<Output = Result<Response>> + Send + 'static) -> Result<Response> {
    static RUNTIME: OnceLock<Runtime> = OnceLock::new();
    if RUNTIME.get().is_none() {
        let made = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(1)
            .thread_name("loom-transport")
            .enable_all()
            .build()
            .map_err(Error::internal)?;
        // Lost when another thread was faster. Nothing runs on it, so nothing has to be waited for.
        if let Err(lost) = RUNTIME.set(made) {
            lost.shutdown_background();
        }
    }
    let runtime = RUNTIME.get().ok_or_else(|| Error::internal("no runtime"))?;
    let (tell, told) = mpsc::sync_channel(1);
    // Owned by the caller, who waits for its one answer.
    runtime.spawn(async move {
        let _ = tell.send(Box::pin(call).await);
    });
    told.recv().map_err(|_| Error::internal("a call ended without an answer"))?
}
