//! The real network: HTTP/1.1 over dialled sockets, with a pool of resting connections.

mod connection;
mod pool;

use std::sync::Arc;

use async_trait::async_trait;
use bytes::Bytes;
use futures_util::stream::{self, StreamExt, TryStreamExt};
use http::header::HOST;
use http_body_util::combinators::UnsyncBoxBody;
use http_body_util::{BodyExt, StreamBody};
use hyper::body::{Frame, Incoming};

use super::{HttpBackend, Prepared, RawResponse};
use crate::dial::Dialer;
use crate::fault::{FaultKind, NetworkFault, Phase, Written};
use connection::Connection;
use pool::Pool;

type WireBody = UnsyncBoxBody<Bytes, std::io::Error>;

/// The backend that opens sockets.
#[derive(Debug)]
pub(crate) struct RealBackend {
    dialer: Dialer,
    pool: Arc<Pool>,
}

impl RealBackend {
    pub(crate) fn new(dialer: Dialer) -> Self {
        RealBackend { dialer, pool: Arc::new(Pool::default()) }
    }

    async fn connection(&self, request: &Prepared, key: &str) -> Result<Connection, NetworkFault> {
        if let Some(resting) = self.pool.take(key, request.write) {
            return Ok(resting);
        }
        let (socket, address) = self.dialer.dial(&request.destination, request.connect_timeout).await?;
        Connection::open(socket, address).await
    }
}

#[async_trait]
impl HttpBackend for RealBackend {
    async fn execute(&self, request: Prepared) -> Result<RawResponse, NetworkFault> {
        let key = pool_key(&request);
        let read_timeout = request.read_timeout;
        loop {
            let mut connection = self.connection(&request, &key).await?;
            match connection.send(wire_request(&request)?, read_timeout).await {
                Ok(answer) => {
                    return Ok(raw(answer, connection, (Arc::clone(&self.pool), key), read_timeout));
                }
                // A resting connection that the peer had closed: nothing was written, so a new one is opened.
                Err(fault) if fault.written == Written::No && connection.reused() => {}
                Err(fault) => return Err(fault),
            }
        }
    }
}

fn pool_key(request: &Prepared) -> String {
    let to = &request.destination;
    let proxy = to.proxy.as_ref().map(|p| p.key()).unwrap_or_default();
    format!("{}:{} {} {proxy}", to.host, to.port, to.tls)
}

fn wire_request(request: &Prepared) -> Result<http::Request<WireBody>, NetworkFault> {
    let mut path = request.url.path().to_owned();
    if let Some(query) = request.url.query() {
        path.push('?');
        path.push_str(query);
    }
    let body = StreamBody::new(request.body.stream().map_ok(Frame::data));
    let mut wire = http::Request::builder().method(request.method.clone()).uri(path);
    if let Some(headers) = wire.headers_mut() {
        *headers = request.headers.clone();
        if let Ok(host) = host_header(request).parse() {
            headers.insert(HOST, host);
        }
    }
    wire.body(body.boxed_unsync()).map_err(|_| NetworkFault {
        kind: FaultKind::Body,
        phase: Phase::Send,
        written: Written::No,
        message: "the request cannot be written".to_owned(),
    })
}

fn host_header(request: &Prepared) -> String {
    let host = request.url.host_str().unwrap_or_default();
    match request.url.port() {
        Some(port) => format!("{host}:{port}"),
        None => host.to_owned(),
    }
}

fn raw(
    answer: http::Response<Incoming>,
    connection: Connection,
    home: (Arc<Pool>, String),
    read_timeout: std::time::Duration,
) -> RawResponse {
    let (head, body) = answer.into_parts();
    let address = Some(connection.address());
    let state = Some((body, connection, home));
    let body = stream::try_unfold(state, move |state| async move {
        let Some((mut body, connection, (pool, key))) = state else { return Ok(None) };
        if let Some(bytes) = connection.next_data(&mut body, read_timeout).await? {
            return Ok(Some((bytes, Some((body, connection, (pool, key))))));
        }
        pool.put(&key, connection);
        Ok(None)
    });
    RawResponse { status: head.status.as_u16(), headers: head.headers, body: body.boxed(), address }
}
