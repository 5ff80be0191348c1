//! HTTP Events API: signed deliveries to a request URL on loopback.

use bytes::Bytes;
use hmac::{Hmac, KeyInit, Mac};
use http::Request;
use http_body_util::Full;
use hyper_util::rt::TokioIo;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use sha2::Sha256;
use tokio::net::TcpStream;

use super::clock;
use super::error::TwinError;

/// The `X-Slack-Signature` of a body.
pub fn signature(secret: &str, timestamp: &str, body: &[u8]) -> String {
    // An HMAC key may have any length; the empty answer would match no signature.
    let Ok(mut mac) = Hmac::<Sha256>::new_from_slice(secret.as_bytes()) else { return String::new() };
    for part in [b"v0:", timestamp.as_bytes(), b":", body] {
        mac.update(part);
    }
    format!("v0={}", hex::encode(mac.finalize().into_bytes()))
}

/// One delivery to a request URL.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct HttpDelivery {
    /// `http://127.0.0.1:PORT/path`.
    pub url: String,
    /// The whole payload, for instance a `url_verification` or an `event_callback`.
    pub payload: Value,
    /// Seconds to subtract from the signed timestamp.
    #[serde(default)]
    pub age_secs: u64,
    /// Changes the body after signing.
    #[serde(default)]
    pub tamper: bool,
    /// `X-Slack-Retry-Num`, with the reason `http_timeout`.
    #[serde(default)]
    pub retry_num: Option<u32>,
}

/// Sends it and returns the HTTP status and the body.
pub(super) async fn deliver(secret: &str, delivery: &HttpDelivery) -> Result<Value, TwinError> {
    let url: url::Url = delivery.url.parse().map_err(|_| TwinError::unknown("URL", &delivery.url))?;
    let loopback = url.scheme() == "http" && matches!(url.host_str(), Some("127.0.0.1" | "localhost"));
    let port =
        url.port().filter(|_| loopback).ok_or_else(|| TwinError::unknown("loopback URL", &delivery.url))?;
    let request = request(secret, &url, delivery)?;
    exchange(port, request).await.map_err(|error| TwinError::Unknown(error.to_string()))
}

fn request(secret: &str, url: &url::Url, delivery: &HttpDelivery) -> Result<Request<Full<Bytes>>, TwinError> {
    let timestamp = (clock::now_micros() / 1_000_000).saturating_sub(delivery.age_secs).to_string();
    let mut body = delivery.payload.to_string();
    let signature = signature(secret, &timestamp, body.as_bytes());
    if delivery.tamper {
        body.push(' ');
    }
    let mut request = Request::post(url.path())
        .header("host", url.authority())
        .header("content-type", "application/json")
        .header("x-slack-request-timestamp", timestamp)
        .header("x-slack-signature", signature);
    if let Some(number) = delivery.retry_num {
        request = request.header("x-slack-retry-num", number).header("x-slack-retry-reason", "http_timeout");
    }
    let body = Full::new(Bytes::from(body));
    request.body(body).map_err(|error| TwinError::Unknown(error.to_string()))
}

async fn exchange(
    port: u16,
    request: Request<Full<Bytes>>,
) -> Result<Value, Box<dyn std::error::Error + Send + Sync>> {
    use http_body_util::BodyExt as _;
    let stream = TcpStream::connect(("127.0.0.1", port)).await?;
    let (mut sender, connection) = hyper::client::conn::http1::handshake(TokioIo::new(stream)).await?;
    let answer = async move {
        let answer = sender.send_request(request).await?;
        let status = answer.status().as_u16();
        let body = answer.into_body().collect().await?.to_bytes();
        Ok::<_, hyper::Error>(json!({"status": status, "body": String::from_utf8_lossy(&body)}))
    };
    let (answer, _) = tokio::join!(answer, connection);
    Ok(answer?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_signature_is_the_published_one() {
        let signed = signature("8f742231b10e8888abcd99yyyzzz85a5", "1531420618", b"token=xyz");
        assert_eq!(signed, "v0=7d1e505747e16b2e9a5cb99318cbd784d12290a7129487637e0b023164e4aafb");
    }
}
