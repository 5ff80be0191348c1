//! A small hub on a unix socket that answers what a test tells it.

use std::convert::Infallible;
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;

use bytes::Bytes;
use http::{Request, Response};
use http_body_util::{BodyExt as _, Full};
use hyper::body::Incoming;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use serde_json::Value;
use tokio::net::UnixListener;
use tokio::sync::oneshot;

use crate::environment::Environment;

/// A request as it arrived.
#[derive(Debug, Clone)]
pub(crate) struct Seen {
    pub(crate) method: String,
    pub(crate) path: String,
    pub(crate) query: String,
    pub(crate) prefer: String,
    pub(crate) authorization: String,
    pub(crate) body: Bytes,
}

impl Seen {
    pub(crate) fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap()
    }
}

type Answer = dyn Fn(&Seen) -> (u16, Value) + Send + Sync;

pub(crate) struct FakeHub {
    home: tempfile::TempDir,
    seen: Arc<Mutex<Vec<Seen>>>,
    stop: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl FakeHub {
    pub(crate) fn start(answer: impl Fn(&Seen) -> (u16, Value) + Send + Sync + 'static) -> Self {
        let home = tempfile::tempdir().unwrap();
        std::fs::create_dir(home.path().join("run")).unwrap();
        let socket = home.path().join("run/loom.sock");
        let listener = std::os::unix::net::UnixListener::bind(socket).unwrap();
        listener.set_nonblocking(true).unwrap();
        let seen = Arc::<Mutex<Vec<Seen>>>::default();
        let (stop, stopped) = oneshot::channel();
        let (answer, kept): (Arc<Answer>, _) = (Arc::new(answer), Arc::clone(&seen));
        let thread = std::thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
            runtime.block_on(async move {
                let listener = UnixListener::from_std(listener).unwrap();
                tokio::select! {
                    () = serve(listener, answer, kept) => {}
                    _ = stopped => {}
                }
            });
        });
        FakeHub { home, seen, stop: Some(stop), thread: Some(thread) }
    }

    /// A hub that gives everybody the same.
    pub(crate) fn always(status: u16, value: Value) -> Self {
        FakeHub::start(move |_| (status, value.clone()))
    }

    pub(crate) fn environment(&self) -> Environment {
        let mut env = Environment::empty();
        env.variables.insert("LOOM_HOME".into(), self.home.path().to_string_lossy().into_owned());
        env
    }

    pub(crate) fn seen(&self) -> Vec<Seen> {
        self.seen.lock().unwrap().clone()
    }

    pub(crate) fn last(&self) -> Seen {
        self.seen().pop().expect("a request")
    }
}

impl Drop for FakeHub {
    fn drop(&mut self) {
        drop(self.stop.take());
        if let Some(thread) = self.thread.take() {
            drop(thread.join());
        }
    }
}

async fn serve(listener: UnixListener, answer: Arc<Answer>, seen: Arc<Mutex<Vec<Seen>>>) {
    loop {
        let (stream, _) = listener.accept().await.unwrap();
        let service = service_fn(|request: Request<Incoming>| {
            let (answer, seen) = (Arc::clone(&answer), Arc::clone(&seen));
            async move {
                let one = read(request).await;
                seen.lock().unwrap().push(one.clone());
                let (status, value) = answer(&one);
                let body = Full::new(Bytes::from(value.to_string()));
                Ok::<_, Infallible>(Response::builder().status(status).body(body).unwrap())
            }
        });
        // One connection at a time is enough: the client opens one a request.
        drop(
            hyper::server::conn::http1::Builder::new().serve_connection(TokioIo::new(stream), service).await,
        );
    }
}

async fn read(request: Request<Incoming>) -> Seen {
    let (head, body) = request.into_parts();
    let header = |name: &str| head.headers.get(name).map_or("", |value| value.to_str().unwrap()).to_owned();
    Seen {
        method: head.method.to_string(),
        path: head.uri.path().to_owned(),
        query: head.uri.query().unwrap_or_default().to_owned(),
        prefer: header("prefer"),
        authorization: header("authorization"),
        body: body.collect().await.unwrap().to_bytes(),
    }
}
