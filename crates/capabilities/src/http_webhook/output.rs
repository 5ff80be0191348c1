use schemars::JsonSchema;
use serde_json::Value;

/// What a probe gives.
#[derive(JsonSchema)]
#[expect(dead_code, reason = "its schema is what counts")]
pub(super) struct ProbeFields {
    status: u16,
    #[schemars(length(max = 200))]
    content_type: Option<String>,
    content_length: Option<u64>,
    elapsed_ms: u64,
    /// `ipv4` or `ipv6`; null where no address was connected to.
    #[schemars(length(max = 4))]
    address_family: Option<String>,
    tls: Option<Tls>,
    #[schemars(length(max = 80))]
    body_sha256: String,
    #[schemars(length(max = 10))]
    body_kind: String,
    projected: Value,
}

/// The TLS connection.
#[derive(JsonSchema)]
#[expect(dead_code, reason = "its schema is what counts")]
pub(super) struct Tls {
    #[schemars(length(max = 10))]
    version: Option<String>,
    #[schemars(length(max = 30))]
    not_after: Option<String>,
}
