//! A source map as a capability: it runs like any other.

use std::time::Duration;

use async_trait::async_trait;
use loom_domain::{Code, Error, Result};
use loom_secrets::{Kind, Secret};
use loom_transport::{
    CredentialBinding, JqPath, Method, PageEvent, Paging, Place, Rate, RequestBuilder, Response,
};
use serde_json::Value;

use super::answer::document;
use super::entry::{entry, scope};
use super::fields::canonical;
use super::map::{Credential, Operation, Pagination, PagingKind, PlaceKind, SourceFile};
use super::request::{Filled, UrlTemplate};
use crate::jq::Projector;
use crate::plan::authority;
use crate::{
    Capability, CatalogEntry, Cursor, Cx, Effect, Flow, Notice, PlannedWrite, Readiness, RunOutcome, RunPlan,
    RunRequest, Sink, SourceRef, Status, StopReason,
};

/// Pages that are read if neither map nor order says otherwise.
const PAGES: u32 = 100;
/// Items between two notes of where to go on.
const ITEMS_PER_CHECKPOINT: u64 = 50;
const USER_AGENT: &str = concat!("loom/", env!("CARGO_PKG_VERSION"));

/// A connector that a source map declares.
#[derive(Debug)]
pub struct DeclaredConnector {
    map: SourceFile,
    entry: CatalogEntry,
    /// Whether the rates of the map count; a mock needs no mercy.
    is_paced: bool,
}

impl DeclaredConnector {
    pub(super) fn new(map: SourceFile) -> Self {
        DeclaredConnector { entry: entry(&map), map, is_paced: true }
    }

    pub(super) fn unpaced(mut self) -> Self {
        self.is_paced = false;
        self
    }

    pub(super) fn map(&self) -> &SourceFile {
        &self.map
    }

    fn operation(&self, id: &str) -> Result<&Operation> {
        let found = self.map.operations.iter().find(|operation| operation.id == id);
        found.ok_or_else(|| crate::plan::no_operation(&self.entry, id))
    }

    /// The credential of the host that an operation asks.
    pub(super) fn credential_of(&self, operation: &Operation) -> Option<&Credential> {
        let url = UrlTemplate::parse(&operation.request.url).ok()?;
        self.map.credentials.iter().find(|one| one.hosts.contains(&url.authority))
    }

    async fn binding(
        &self,
        cx: &Cx,
        operation: &Operation,
        request: &RunRequest,
    ) -> Result<Option<CredentialBinding>> {
        let Some(credential) = self.credential_of(operation) else { return Ok(None) };
        let Some(found) = cx.credential(&credential.name, Kind::Plain, Kind::Plain.main_field()).await?
        else {
            return Ok(None);
        };
        // A base URL of the owner's takes the place of every host of the map.
        let hosts = match request.settings.api_url.as_deref() {
            Some(base) => authority(base).into_iter().collect(),
            None => credential.hosts.clone(),
        };
        let (place, value) = placed(credential, found.secret);
        Ok(Some(CredentialBinding { value, field: credential.field.clone(), hosts, place }))
    }

    /// What a write sends, but for the values of credential and idempotency key.
    fn write(&self, operation: &Operation, filled: &Filled) -> PlannedWrite {
        let mut headers = filled.headers.clone();
        if let Some(credential) = self.credential_of(operation) {
            let place = credential.place.name.clone().unwrap_or_else(|| "authorization".to_owned());
            headers.push((place, format!("the credential {}", credential.name)));
        }
        PlannedWrite {
            method: operation.request.method.clone(),
            url: filled.shown_url(),
            headers,
            body: filled.body.as_ref().map(Value::to_string),
        }
    }

    fn request(
        &self,
        cx: &Cx,
        operation: &Operation,
        filled: &Filled,
        credential: Option<CredentialBinding>,
    ) -> Result<RequestBuilder> {
        let method = Method::from_bytes(operation.request.method.as_bytes()).map_err(Error::internal)?;
        let mut builder = match operation.effect {
            Effect::Read => cx.read_request(method, &filled.url)?,
            Effect::Write => cx.request(method, &filled.url)?.publish().no_retry(),
        };
        builder = builder.max_body_bytes(operation.response.max_bytes).header("user-agent", USER_AGENT);
        for (name, value) in &filled.headers {
            builder = builder.header(name, value);
        }
        for (name, value) in &filled.query {
            builder = builder.query(name, value);
        }
        if let Some(body) = &filled.body {
            builder = builder.json(body);
        }
        if let Some(seconds) = operation.request.timeout_seconds.filter(|_| cx.limits().timeout().is_none()) {
            builder = builder.timeout(Duration::try_from_secs_f64(seconds).unwrap_or_default());
        }
        if let Some(header) = operation.idempotency_header() {
            let key = cx.permit().and_then(|permit| permit.idempotency_key.clone());
            builder = builder.header(header, &key.unwrap_or_else(|| cx.run_id().to_string()));
        }
        if let Some(rate) = operation.rate.filter(|_| self.is_paced) {
            let rate = Rate { per_second: rate.per_second, burst: rate.burst, concurrency: rate.concurrency };
            builder = builder.scope(&scope(&self.map)).rate(rate);
        }
        Ok(match credential {
            Some(credential) => builder.credential(credential),
            None => builder,
        })
    }
}

/// Where the secret goes, in the form that stands there.
pub(super) fn placed(credential: &Credential, secret: Secret) -> (Place, Secret) {
    let name = credential.place.name.clone().unwrap_or_default();
    match (credential.place.kind, &credential.place.format) {
        (PlaceKind::Bearer, _) => (Place::Bearer, secret),
        (PlaceKind::Basic, _) => (Place::Basic, secret),
        (PlaceKind::Query, _) => (Place::Query(name), secret),
        (PlaceKind::Header, None) => (Place::Header(name), secret),
        (PlaceKind::Header, Some(format)) => {
            (Place::Header(name), Secret::new(format.replace("{value}", secret.expose())))
        }
    }
}

#[async_trait]
impl Capability for DeclaredConnector {
    fn entry(&self) -> &CatalogEntry {
        &self.entry
    }

    async fn readiness(&self, cx: &Cx, _: Option<&str>) -> Readiness {
        let lacking = self.map.operations.iter().filter_map(|operation| {
            let credential = self.credential_of(operation)?;
            let lacks = credential.required && !cx.names_credential(&credential.name);
            lacks.then_some((operation, credential))
        });
        lacking.fold(Readiness::ready(&self.entry), |readiness, (operation, credential)| {
            let hint = format!("give --credential-ref {}=REF", credential.name);
            readiness.without(&operation.id, Status::CredentialMissing, &hint)
        })
    }

    fn plan(&self, request: &RunRequest) -> Result<RunPlan> {
        let operation = self.operation(&request.operation)?;
        let filled = Filled::of(operation, &request.input, request.settings.api_url.as_deref())?;
        let mut plan = RunPlan::of(&self.entry, request)?;
        for (key, pointer) in &self.map.resources {
            match request.input.pointer(pointer) {
                Some(Value::String(text)) => plan = plan.resource(key, text),
                None | Some(Value::Null) => {}
                Some(other) => plan = plan.resource(key, other.to_string()),
            }
        }
        let plan = plan.request(&operation.request.method, filled.shown_url());
        Ok(match operation.effect {
            Effect::Read => plan,
            Effect::Write => plan.write(self.write(operation, &filled)),
        })
    }

    async fn run(&self, cx: &Cx, request: RunRequest, out: &mut dyn Sink) -> Result<RunOutcome> {
        let operation = self.operation(&request.operation)?;
        if operation.effect == Effect::Write && cx.permit().is_none() {
            return Err(crate::gate::needed(&self.entry.id));
        }
        let filled = Filled::of(operation, &request.input, request.settings.api_url.as_deref())?;
        let credential = self.binding(cx, operation, &request).await?;
        let builder = self.request(cx, operation, &filled, credential)?;
        let projector = match operation.projection.as_deref() {
            Some(program) => Some(Projector::start(program).await?),
            None => None,
        };
        let mut give = Give { operation, projector, out };
        let source =
            SourceRef::new("source_map", format!("{}/{}", self.map.id, operation.id), None, cx.now());
        let outcome = RunOutcome::of(source);
        match operation.pagination.as_ref().filter(|_| operation.is_paged()) {
            Some(pagination) => Box::pin(pages(cx, &request, builder, pagination, &mut give, outcome)).await,
            None => Box::pin(once(builder, &mut give, outcome)).await,
        }
    }
}

/// Projects what was read and hands it on.
struct Give<'a> {
    operation: &'a Operation,
    projector: Option<Projector>,
    out: &'a mut dyn Sink,
}

async fn projected(operation: &Operation, projector: Option<&Projector>, value: Value) -> Result<Vec<Value>> {
    let projected = match projector {
        Some(projector) => projector.project(value).await.map_err(crate::jq::Failure::into_error)?,
        None => vec![value],
    };
    Ok(projected.into_iter().map(|record| canonical(&operation.fields, record)).collect())
}

impl Give<'_> {
    async fn item(&mut self, value: Value) -> Flow {
        match projected(self.operation, self.projector.as_ref(), value).await {
            Ok(records) => {
                for record in records {
                    if let stop @ Flow::Stop(_) = self.out.item(record) {
                        return stop;
                    }
                }
                Flow::Continue
            }
            Err(error) => {
                self.out.notice(Notice::new("projection_failed", error.message));
                // What cannot be projected is left out as an item that does not fit.
                self.out.item(Value::Null)
            }
        }
    }
}

async fn once(builder: RequestBuilder, give: &mut Give<'_>, mut outcome: RunOutcome) -> Result<RunOutcome> {
    let operation = give.operation;
    let response = builder.send().await?;
    expected(operation, &response)?;
    let document = document(&response, operation.response.format)?;
    if !operation.gives_items() {
        let mut records = projected(operation, give.projector.as_ref(), document).await?;
        return match (records.pop(), records.is_empty()) {
            (Some(record), true) => {
                give.out.fields(record);
                Ok(outcome)
            }
            _ => Err(unreadable("the projection of a record gives exactly one result")),
        };
    }
    let path: JqPath = operation.items_path().unwrap_or(".").parse()?;
    let items = match path.find(&document) {
        Some(Value::Array(items)) => items.clone(),
        Some(Value::Null) => Vec::new(),
        _ => return Err(unreadable("the answer has no list of items where it should stand")),
    };
    for item in items {
        if let Flow::Stop(reason) = give.item(item).await {
            outcome.stop_reason = reason;
            break;
        }
    }
    Ok(outcome)
}

fn expected(operation: &Operation, response: &Response) -> Result<()> {
    let expected = &operation.response.expect_status;
    if expected.is_empty() || expected.contains(&response.status()) {
        return Ok(());
    }
    let mut error = unreadable("the answer has a status that the source map does not expect");
    error.http_status = Some(response.status());
    Err(error)
}

fn unreadable(why: &str) -> Error {
    Error::new(Code::ProviderProtocolError, why).with_detail("phase", "receive")
}

async fn pages(
    cx: &Cx,
    request: &RunRequest,
    builder: RequestBuilder,
    pagination: &Pagination,
    give: &mut Give<'_>,
    mut outcome: RunOutcome,
) -> Result<RunOutcome> {
    let most = pagination.max_pages.unwrap_or(PAGES);
    let most = cx.limits().max_pages.map_or(most, |asked| asked.min(most));
    let mut pages = builder.pages(paging(give.operation, pagination)?).max_pages(most);
    if let Some(position) = request.cursor.as_ref().and_then(|cursor| cursor.position.as_str()) {
        pages = pages.resume(position);
    }
    let mut seen = 0_u64;
    while let Some(event) = Box::pin(pages.next()).await {
        match event? {
            PageEvent::Item(item) => {
                if let Flow::Stop(reason) = give.item(item).await {
                    outcome.stop_reason = reason;
                    outcome.cursor = Some(Cursor::at(pages.cursor()));
                    return Ok(outcome);
                }
                seen += 1;
                if seen.is_multiple_of(ITEMS_PER_CHECKPOINT) {
                    give.out.checkpoint(&Cursor::at(pages.cursor()));
                    give.out.progress(seen, None);
                }
            }
            PageEvent::End(end) => {
                outcome.stop_reason = match end.stop_reason {
                    loom_transport::StopReason::End => StopReason::End,
                    loom_transport::StopReason::Limit => StopReason::Limit,
                    loom_transport::StopReason::MaxPages => StopReason::MaxPages,
                    loom_transport::StopReason::Deadline => StopReason::Deadline,
                    loom_transport::StopReason::RateLimited => StopReason::RateLimited,
                    loom_transport::StopReason::Error => StopReason::Error,
                };
                outcome.cursor = end.cursor.map(Cursor::at);
            }
        }
    }
    Ok(outcome)
}

fn paging(operation: &Operation, pagination: &Pagination) -> Result<Paging> {
    let path = |text: Option<&str>| text.unwrap_or(".").parse::<JqPath>();
    let items = path(operation.items_path())?;
    let next = path(pagination.next.as_deref())?;
    let param = pagination.param.clone().unwrap_or_default();
    let size_param = pagination.size_param.clone();
    Ok(match pagination.kind {
        PagingKind::LinkHeader | PagingKind::None => Paging::Link,
        PagingKind::Cursor => Paging::Cursor { param, next, items },
        PagingKind::NextUrl => Paging::NextUrl { next, items },
        PagingKind::Page => Paging::Page {
            param,
            start: pagination.start.unwrap_or(1),
            size_param,
            size: pagination.size,
            items,
        },
        PagingKind::Offset => {
            Paging::Offset { param, size_param: size_param.unwrap_or_default(), size: pagination.size, items }
        }
    })
}
