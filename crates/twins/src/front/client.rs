//! A plain client for the tests: one HTTP connection per call, nothing interpreted.

use std::net::SocketAddr;

use bytes::Bytes;
use http::Request;
use http_body_util::{BodyExt, Full};
use hyper_util::rt::TokioIo;
use serde_json::Value;
use tokio::net::TcpStream;

/// A finished exchange.
#[derive(Debug)]
pub(crate) struct Reply {
    pub(crate) status: u16,
    pub(crate) headers: http::HeaderMap,
    pub(crate) body: Bytes,
}

impl Reply {
    pub(crate) fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap()
    }

    pub(crate) fn text(&self) -> String {
        String::from_utf8_lossy(&self.body).into_owned()
    }

    /// A header, or an empty text.
    pub(crate) fn header(&self, name: &str) -> &str {
        self.headers.get(name).map_or("", |value| value.to_str().unwrap())
    }

    /// The path and query of a link.
    pub(crate) fn link(&self, rel: &str) -> Option<String> {
        let links = self.header("link").split(", ");
        let link = links.into_iter().find(|link| link.ends_with(&format!("rel=\"{rel}\"")))?;
        Some(link.split(['<', '>']).nth(1)?.to_owned())
    }
}

/// Where to send, and with which headers.
#[derive(Debug, Clone)]
pub(crate) struct Client {
    address: SocketAddr,
    headers: Vec<(String, String)>,
}

impl Client {
    pub(crate) fn new(address: SocketAddr) -> Self {
        Self { address, headers: Vec::new() }
    }

    pub(crate) fn with(mut self, name: &str, value: &str) -> Self {
        self.headers.retain(|(known, _)| known != name);
        if !value.is_empty() {
            self.headers.push((name.to_owned(), value.to_owned()));
        }
        self
    }

    /// Sends one request; an error means that the connection was cut.
    pub(crate) async fn send(&self, method: &str, path: &str, body: &str) -> Result<Reply, hyper::Error> {
        let path = path.strip_prefix(&format!("http://{}", self.address)).unwrap_or(path);
        let mut request =
            Request::builder().method(method).uri(path).header("host", self.address.to_string());
        for (name, value) in &self.headers {
            request = request.header(name, value);
        }
        let request = request.body(Full::new(Bytes::from(body.to_owned()))).unwrap();
        let stream = TcpStream::connect(self.address).await.unwrap();
        let (mut sender, connection) = hyper::client::conn::http1::handshake(TokioIo::new(stream)).await?;
        let driver = tokio::spawn(connection);
        let (parts, body) = sender.send_request(request).await?.into_parts();
        let body = body.collect().await?.to_bytes();
        driver.abort();
        Ok(Reply { status: parts.status.as_u16(), headers: parts.headers, body })
    }

    pub(crate) async fn get(&self, path: &str) -> Reply {
        self.send("GET", path, "").await.unwrap()
    }

    pub(crate) async fn post(&self, path: &str, body: &Value) -> Reply {
        self.send("POST", path, &body.to_string()).await.unwrap()
    }
}
