//! The source map as types, once its document is of the right form.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::{Map, Value};

use super::fields::{Field, Fields};
use crate::{Boundary, Effect};

/// A source map.
#[derive(Debug, Clone, Deserialize)]
pub(super) struct SourceFile {
    pub(super) id: String,
    pub(super) version: String,
    pub(super) title: String,
    pub(super) boundary: Boundary,
    pub(super) egress: Egress,
    #[serde(default)]
    pub(super) credentials: Vec<Credential>,
    #[serde(default)]
    pub(super) resources: BTreeMap<String, String>,
    pub(super) inputs: Value,
    pub(super) operations: Vec<Operation>,
    #[serde(default)]
    pub(super) tests: Vec<Test>,
    #[serde(default)]
    pub(super) stop_conditions: Vec<String>,
}

#[derive(Debug, Clone, Deserialize)]
pub(super) struct Egress {
    pub(super) hosts: Vec<Host>,
}

#[derive(Debug, Clone, Deserialize)]
pub(super) struct Host {
    #[serde(rename = "host")]
    pub(super) name: String,
    #[serde(default = "https")]
    pub(super) port: u16,
    pub(super) methods: Vec<String>,
}

fn https() -> u16 {
    443
}

impl Host {
    /// `host:port`.
    pub(super) fn authority(&self) -> String {
        format!("{}:{}", self.name, self.port)
    }
}

#[derive(Debug, Clone, Deserialize)]
pub(super) struct Credential {
    pub(super) name: String,
    #[serde(default = "value")]
    pub(super) field: String,
    pub(super) hosts: Vec<String>,
    pub(super) place: Place,
    #[serde(default = "yes")]
    pub(super) required: bool,
}

fn value() -> String {
    "value".to_owned()
}

fn yes() -> bool {
    true
}

#[derive(Debug, Clone, Deserialize)]
pub(super) struct Place {
    pub(super) kind: PlaceKind,
    pub(super) name: Option<String>,
    pub(super) format: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum PlaceKind {
    Bearer,
    Basic,
    Header,
    Query,
}

#[derive(Debug, Clone, Deserialize)]
pub(super) struct Operation {
    pub(super) id: String,
    pub(super) about: Option<String>,
    pub(super) effect: Effect,
    pub(super) gate: Option<String>,
    pub(super) idempotency: Option<Value>,
    pub(super) request: Request,
    #[serde(default)]
    pub(super) response: Response,
    pub(super) pagination: Option<Pagination>,
    pub(super) rate: Option<Rate>,
    pub(super) projection: Option<String>,
    pub(super) fields: Fields,
}

impl Operation {
    /// The header that carries an idempotency key.
    pub(super) fn idempotency_header(&self) -> Option<&str> {
        self.idempotency.as_ref()?.get("header")?.as_str()
    }

    /// Whether pages are read.
    pub(super) fn is_paged(&self) -> bool {
        self.pagination.as_ref().is_some_and(|pagination| pagination.kind != PagingKind::None)
    }

    /// Whether it gives items, and not one record.
    pub(super) fn gives_items(&self) -> bool {
        self.is_paged()
            || self.items_path().is_some()
            || matches!(self.response.format, Format::Ndjson | Format::Csv)
    }

    /// Where the items stand.
    pub(super) fn items_path(&self) -> Option<&str> {
        let of_pages = self.pagination.as_ref().and_then(|pagination| pagination.items.as_deref());
        of_pages.or(self.response.items.as_deref())
    }

    /// The fields as one record.
    pub(super) fn find_field(&self, name: &str) -> Option<&Field> {
        self.fields.get(name)
    }
}

#[derive(Debug, Clone, Deserialize)]
pub(super) struct Request {
    pub(super) method: String,
    pub(super) url: String,
    #[serde(default)]
    pub(super) query: BTreeMap<String, String>,
    #[serde(default)]
    pub(super) headers: BTreeMap<String, String>,
    pub(super) timeout_seconds: Option<f64>,
    pub(super) json: Option<Value>,
    pub(super) graphql: Option<Graphql>,
}

#[derive(Debug, Clone, Deserialize)]
pub(super) struct Graphql {
    pub(super) query: String,
    #[serde(default)]
    pub(super) variables: Map<String, Value>,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(default)]
pub(super) struct Response {
    pub(super) format: Format,
    pub(super) max_bytes: u64,
    pub(super) expect_status: Vec<u16>,
    pub(super) items: Option<String>,
}

impl Default for Response {
    fn default() -> Self {
        Response { format: Format::Json, max_bytes: 2 * 1024 * 1024, expect_status: Vec::new(), items: None }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Format {
    Json,
    Yaml,
    Ndjson,
    Csv,
    Text,
}

#[derive(Debug, Clone, Deserialize)]
pub(super) struct Pagination {
    pub(super) kind: PagingKind,
    pub(super) param: Option<String>,
    pub(super) next: Option<String>,
    pub(super) items: Option<String>,
    pub(super) max_pages: Option<u32>,
    pub(super) start: Option<u32>,
    pub(super) size_param: Option<String>,
    #[serde(default)]
    pub(super) size: u32,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum PagingKind {
    None,
    LinkHeader,
    Cursor,
    Page,
    Offset,
    NextUrl,
}

#[derive(Debug, Clone, Copy, Deserialize)]
pub(super) struct Rate {
    pub(super) per_second: f64,
    #[serde(default = "one")]
    pub(super) burst: u32,
    #[serde(default = "few")]
    pub(super) concurrency: u32,
}

fn one() -> u32 {
    1
}

fn few() -> u32 {
    4
}

#[derive(Debug, Clone, Deserialize)]
pub(super) struct Test {
    pub(super) name: String,
    pub(super) operation: String,
    #[serde(default)]
    pub(super) input: Value,
    #[serde(default)]
    pub(super) exchanges: Vec<Exchange>,
    pub(super) expect: Expect,
}

#[derive(Debug, Clone, Deserialize)]
pub(super) struct Exchange {
    pub(super) request: ExpectedRequest,
    pub(super) response: GivenResponse,
}

#[derive(Debug, Clone, Deserialize)]
pub(super) struct ExpectedRequest {
    pub(super) method: Option<String>,
    pub(super) host: Option<String>,
    pub(super) path: String,
    #[serde(default)]
    pub(super) query: BTreeMap<String, String>,
    #[serde(default)]
    pub(super) headers: BTreeMap<String, String>,
    pub(super) json: Option<Value>,
    pub(super) credential: Option<String>,
}

#[derive(Debug, Clone, Deserialize)]
pub(super) struct GivenResponse {
    pub(super) status: u16,
    pub(super) json: Option<Value>,
    pub(super) text: Option<String>,
    pub(super) content_type: Option<String>,
    #[serde(default)]
    pub(super) headers: BTreeMap<String, String>,
}

#[derive(Debug, Clone, Deserialize)]
pub(super) struct Expect {
    pub(super) ok: bool,
    pub(super) error: Option<String>,
    pub(super) item_count: Option<u64>,
    pub(super) complete: Option<bool>,
    pub(super) requests: Option<usize>,
    pub(super) dropped_fields: Option<u64>,
    pub(super) items: Option<Vec<Value>>,
    pub(super) fields: Option<Value>,
}
