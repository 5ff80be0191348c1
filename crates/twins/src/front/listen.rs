//! The listening side of a reading twin: one loopback port, HTTP/1.1, stopped by its own handle.

use std::future::Future;
use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;

use bytes::Bytes;
use http::{Method, Request, Response};
use http_body_util::{BodyExt, Limited};
use hyper::body::Incoming;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use tokio::net::{TcpListener, TcpStream};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use super::answer::{Answer, Body, Cut, Outcome};

/// A request with its body read.
#[derive(Debug)]
pub(crate) struct Call {
    pub(crate) method: Method,
    pub(crate) path: String,
    pub(crate) query: String,
    pub(crate) headers: http::HeaderMap,
    pub(crate) body: Bytes,
}

impl Call {
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name).and_then(|value| value.to_str().ok())
    }

    /// The base under which the client knows this server.
    pub(crate) fn origin(&self) -> String {
        format!("http://{}", self.header("host").unwrap_or_default())
    }

    /// Query arguments in order, decoded.
    pub(crate) fn arguments(&self) -> Vec<(String, String)> {
        url::form_urlencoded::parse(self.query.as_bytes()).into_owned().collect()
    }
}

/// What a twin does with a request.
pub(crate) trait Service: Send + Sync + 'static {
    /// Longest request body in bytes.
    const BODY_BYTES_MAX: usize = 1024 * 1024;

    /// Answers it.
    fn answer(&self, call: Call) -> impl Future<Output = Outcome> + Send;
}

/// A listener and its tasks; they end when it is dropped.
#[derive(Debug)]
pub(crate) struct Front {
    address: SocketAddr,
    cancel: CancellationToken,
    tasks: TaskTracker,
}

impl Front {
    /// Serves on 127.0.0.1; port 0 takes a free one.
    pub(crate) async fn start(port: u16, service: Arc<impl Service>) -> io::Result<Self> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, port)).await?;
        let address = listener.local_addr()?;
        let (cancel, tasks) = (CancellationToken::new(), TaskTracker::new());
        let accept = accept(listener, service, cancel.clone(), tasks.clone());
        tasks.spawn(cancel.clone().run_until_cancelled_owned(accept));
        Ok(Self { address, cancel, tasks })
    }

    pub(crate) fn address(&self) -> SocketAddr {
        self.address
    }

    /// Stops every task and waits for them.
    pub(crate) async fn shutdown(&self) {
        self.cancel.cancel();
        self.tasks.close();
        self.tasks.wait().await;
    }
}

impl Drop for Front {
    fn drop(&mut self) {
        self.cancel.cancel();
    }
}

async fn accept(
    listener: TcpListener,
    service: Arc<impl Service>,
    cancel: CancellationToken,
    tasks: TaskTracker,
) {
    loop {
        let Ok((stream, _)) = listener.accept().await else { continue };
        let connection = connection(Arc::clone(&service), stream);
        tasks.spawn(cancel.clone().run_until_cancelled_owned(connection));
    }
}

async fn connection(service: Arc<impl Service>, stream: TcpStream) {
    let _ = stream.set_nodelay(true);
    let respond = service_fn(move |request| {
        let service = Arc::clone(&service);
        async move { respond(&*service, request).await }
    });
    let http = hyper::server::conn::http1::Builder::new();
    // An error here is a connection the client or a planned failure cut.
    let _ = http.serve_connection(TokioIo::new(stream), respond).await;
}

async fn respond<S: Service>(service: &S, request: Request<Incoming>) -> Result<Response<Body>, Cut> {
    let (parts, body) = request.into_parts();
    let Ok(body) = Limited::new(body, S::BODY_BYTES_MAX).collect().await else {
        return Answer::text(413, "body too large or cut").into_response();
    };
    let call = Call {
        path: parts.uri.path().to_owned(),
        query: parts.uri.query().unwrap_or_default().to_owned(),
        method: parts.method,
        headers: parts.headers,
        body: body.to_bytes(),
    };
    if !host_is_loopback(&call) {
        return Answer::text(421, "this server answers on loopback only").into_response();
    }
    service.answer(call).await.into_response()
}

/// Refuses names that a browser could be lured to (DNS rebinding).
fn host_is_loopback(call: &Call) -> bool {
    let host = call.header("host").unwrap_or_default();
    let name = host.rsplit_once(':').map_or(host, |(name, _)| name);
    matches!(name, "127.0.0.1" | "localhost")
}
