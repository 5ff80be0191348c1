//! A run from its order to its payload.

mod collect;
mod probe;

use loom_domain::{Code, Error, Result, Timestamp};
use serde::Serialize;
use serde_json::{Value, json};

use crate::payload::{Part, Provenance, Timings};
use crate::{
    Capability, Cursor, CursorSeal, Cx, Effect, Flow, Notice, Operation, Payload, RunOutcome, RunPlan,
    RunRequest, StopReason, World, input, sha256_of,
};
use collect::Collector;

/// What is known when a run starts.
#[derive(Debug, Clone, Serialize)]
pub struct Started {
    /// Schema of the payload.
    pub schema_version: &'static str,
    /// Canonical id.
    pub connector_id: String,
    /// Version.
    pub connector_version: String,
    /// Operation.
    pub operation: String,
    /// Run.
    pub run_id: String,
    /// Start.
    pub started_at: Timestamp,
    /// Whether the operation gives items.
    #[serde(skip)]
    pub gives_items: bool,
}

/// Watches a run: what it prints or streams.
pub trait Observer: Send {
    /// The run starts.
    fn started(&mut self, _: &Started) -> Flow {
        Flow::Continue
    }
    /// An item, projected and redacted.
    fn item(&mut self, _: &Value) -> Flow {
        Flow::Continue
    }
    /// How far it is.
    fn progress(&mut self, _done: u64, _total: Option<u64>) {}
    /// A remark.
    fn notice(&mut self, _: &Notice) {}
    /// Where a run that is cut off would go on.
    fn checkpoint(&mut self, _cursor: &str) {}
}

/// An observer that looks away.
#[derive(Debug, Clone, Copy, Default)]
pub struct NoObserver;

impl Observer for NoObserver {}

/// A request that was checked, with its operation and digests.
struct Ready<'a> {
    operation: &'a Operation,
    request: RunRequest,
    input_digest: String,
    projection_digest: String,
    seal: Option<CursorSeal>,
    /// Whether nothing was asked about: `probe` without a target tells about itself.
    asks_nothing: bool,
}

/// The plan of a request; nothing is opened.
pub fn plan(world: &World, capability: &dyn Capability, request: RunRequest) -> Result<RunPlan> {
    let ready = ready(world, capability, request, None)?;
    plan_of(capability, &ready)
}

/// The request as it would run: with its operation, defaults and settings filled in.
pub fn effective(world: &World, capability: &dyn Capability, request: RunRequest) -> Result<RunRequest> {
    Ok(ready(world, capability, request, None)?.request)
}

fn plan_of(capability: &dyn Capability, ready: &Ready<'_>) -> Result<RunPlan> {
    let plan = match ready.asks_nothing {
        true => RunPlan::of(capability.entry(), &ready.request)?,
        false => capability.plan(&ready.request)?,
    };
    Ok(plan.sealed(capability.entry()))
}

/// Runs a request. An error means that nothing was begun; what fails later stands in the payload.
pub async fn run(
    world: &World,
    capability: &dyn Capability,
    request: RunRequest,
    cursor: Option<&str>,
    observer: &mut dyn Observer,
) -> Result<Payload> {
    let entry = capability.entry();
    let ready = ready(world, capability, request, cursor)?;
    let plan = plan_of(capability, &ready)?;
    let cx = Cx::new(world, entry, ready.operation, &ready.request.settings, ready.request.limits);
    let started_at = cx.now();
    let started = Started {
        schema_version: Payload::SCHEMA,
        connector_id: entry.id.clone(),
        connector_version: entry.version.clone(),
        operation: plan.operation.clone(),
        run_id: cx.run_id().to_string(),
        started_at,
        gives_items: ready.operation.item.is_some() && !ready.asks_nothing,
    };
    if !ready.asks_nothing {
        capability.readiness(&cx, Some(&plan.operation)).await.require(&plan.operation)?;
    }
    let run_id = cx.run_id().to_string();
    let permit = match ready.asks_nothing {
        true => None,
        false => crate::gate::enter(world, capability, &ready.request, &plan, &run_id).await?,
    };
    let cx = cx.permitted(permit);
    let mut collector = Collector::new(ready.operation, &cx, ready.seal.as_ref(), observer, &started);
    let outcome = match ready.asks_nothing {
        true => probe::about_itself(capability, &cx, &mut collector).await,
        false => {
            let writes = plan.effect == Effect::Write;
            guarded(capability, &cx, writes, ready.request.clone(), &mut collector).await
        }
    };
    let mut payload = finish(&cx, capability, &ready, collector, outcome, started_at);
    if let Some(permit) = cx.permit()
        && let Err(error) = crate::gate::leave(world, permit, &payload).await
    {
        // The intent stays on disk, so that this is found and settled later.
        tracing::error!(%error, "what became of a gated write was not recorded");
        payload.warnings.push("outcome_not_recorded".to_owned());
    }
    Ok(kept(world, payload))
}

/// Keeps the payload, if anything is kept; that it cannot be is a warning. What is larger than one document may
/// be is kept in parts, and the id that is given is the first part's.
fn kept(world: &World, mut payload: Payload) -> Payload {
    let Some(store) = &world.payloads else { return payload.seal() };
    payload.effects.state_written = true;
    match payload.keep_parts(|part| store.save(part)) {
        Ok((first, count)) => {
            payload = payload.seal();
            if count > 1 {
                payload.payload_id = first;
                payload.part.count = count;
            }
            payload
        }
        Err(error) => {
            tracing::warn!(%error, "a payload was not kept");
            payload.effects.state_written = false;
            payload.warnings.push("payload_not_saved".to_owned());
            payload.seal()
        }
    }
}

fn ready<'a>(
    world: &World,
    capability: &'a dyn Capability,
    mut request: RunRequest,
    cursor: Option<&str>,
) -> Result<Ready<'a>> {
    let entry = capability.entry();
    let first = entry.operations.first().map(|operation| operation.id.as_str()).unwrap_or_default();
    let wanted = if request.operation.is_empty() { first } else { &request.operation };
    let operation = entry.find_operation(wanted).ok_or_else(|| crate::plan::no_operation(entry, wanted))?;
    let given = request.input.as_object().is_some_and(|members| !members.is_empty());
    let settings = &request.settings;
    let asks_nothing = operation.id == "probe" && !given && settings.credential_refs.is_empty();
    request.operation.clone_from(&operation.id);
    request.input = match input::accept_input(operation, request.input) {
        // A probe of nothing needs nothing, whatever the operation asks for otherwise.
        Err(_) if asks_nothing => json!({}),
        accepted => accepted?,
    };
    if request.settings.api_url.is_none() {
        request.settings.api_url = entry.api_url_variable.and_then(|name| world.credentials.variable(name));
    }
    adopt_limits(&mut request);
    let input_digest = sha256_of(&request.input);
    let projection_digest = operation.projection_digest();
    let seal = match operation.paged {
        true => (world.key)()
            .ok()
            .map(|key| CursorSeal::new(key, &entry.qualified(), &input_digest, &projection_digest)),
        false => None,
    };
    request.cursor = match (cursor, &seal) {
        (None, _) => None,
        (Some(text), Some(seal)) => Some(seal.open(text)?),
        (Some(_), None) => {
            return Err(Error::new(Code::InvalidInput, "this operation gives no cursors")
                .with_detail("pointer", "/cursor"));
        }
    };
    Ok(Ready { operation, request, input_digest, projection_digest, seal, asks_nothing })
}

/// An operation may declare a limit as its own input; it counts for the run.
fn adopt_limits(request: &mut RunRequest) {
    let (input, limits) = (&request.input, &mut request.limits);
    let number = |key: &str| input.get(key).and_then(Value::as_u64);
    limits.timeout_seconds = input.get("timeout_seconds").and_then(Value::as_f64).or(limits.timeout_seconds);
    limits.limit = number("limit").or(limits.limit);
    limits.max_pages = number("max_pages").and_then(|pages| u32::try_from(pages).ok()).or(limits.max_pages);
}

/// Ends with the run, its cancellation, or its deadline, whichever comes first.
async fn guarded(
    capability: &dyn Capability,
    cx: &Cx,
    writes: bool,
    request: RunRequest,
    collector: &mut Collector<'_>,
) -> Result<RunOutcome> {
    let deadline = async {
        match cx.deadline() {
            Some(deadline) => tokio::time::sleep_until(deadline).await,
            None => std::future::pending().await,
        }
    };
    if writes {
        // A write that was begun is awaited to its own limits: nobody could tell what became of it otherwise.
        return capability.run(cx, request, collector).await;
    }
    tokio::select! {
        biased;
        () = cx.cancel().cancelled() => Err(Error::new(Code::Cancelled, "the run was stopped")),
        () = deadline => Err(Error::new(Code::DeadlineExceeded, "the deadline of the run passed")),
        outcome = capability.run(cx, request, collector) => outcome,
    }
}

fn finish(
    cx: &Cx,
    capability: &dyn Capability,
    ready: &Ready<'_>,
    collector: Collector<'_>,
    outcome: Result<RunOutcome>,
    started_at: Timestamp,
) -> Payload {
    let entry = capability.entry();
    let collected = collector.done();
    let misfit = collected.failure.clone();
    let (outcome, error) = match (outcome, misfit) {
        (Ok(outcome), None) => (outcome, None),
        (Ok(outcome), Some(error)) => (RunOutcome { stop_reason: StopReason::Error, ..outcome }, Some(error)),
        (Err(error), _) => {
            (RunOutcome { stop_reason: stop_reason(&error), ..RunOutcome::default() }, Some(error))
        }
    };
    let stop_reason =
        collected.stopped.filter(|_| outcome.stop_reason == StopReason::End).unwrap_or(outcome.stop_reason);
    let sealed = |cursor: &Cursor| ready.seal.as_ref().and_then(|seal| seal.seal(cursor).ok());
    let cursor = outcome
        .cursor
        .as_ref()
        .and_then(sealed)
        .or(collected.checkpoint)
        .filter(|_| stop_reason != StopReason::End);
    let finished_at = cx.now();
    let mut warnings = outcome.warnings;
    warnings.extend(collected.warnings);
    let world = cx.world();
    let error = error.map(|error| redacted(world, error));
    Payload {
        schema_version: Payload::SCHEMA,
        payload_id: String::new(),
        ok: error.is_none(),
        connector_id: entry.id.clone(),
        connector_version: entry.version.clone(),
        operation: ready.operation.id.clone(),
        run_id: cx.run_id().to_string(),
        turn_id: world.trace.turn_id.clone(),
        agent_id: world.trace.agent_id.clone(),
        trust_domain: "default".to_owned(),
        content_trust: if outcome.is_own_fact { "trusted" } else { "untrusted" },
        input_digest: ready.input_digest.clone(),
        projection_digest: ready.projection_digest.clone(),
        source_refs: outcome.source_refs,
        fields: collected.fields,
        item_count: collected.items.len() as u64,
        items: collected.items,
        complete: stop_reason == StopReason::End && !collected.incomplete,
        stop_reason,
        cursor,
        part: Part { index: 0, count: 1 },
        provenance: Provenance {
            origin: entry.origin,
            principal: world.principal.to_string(),
            request_ids: cx.tally().request_ids(),
            credential: cx.used_credential(),
            api_base: cx.shown_base(),
        },
        effects: cx.tally().effects(),
        redaction: collected.redaction,
        timings: Timings {
            started_at,
            finished_at,
            duration_ms: u64::try_from(finished_at.since_ms(started_at)).unwrap_or(0),
            waited_ms: cx.tally().waited_ms(),
        },
        warnings,
        error,
        verdict: outcome.verdict,
        content_digest: String::new(),
    }
}

fn stop_reason(error: &Error) -> StopReason {
    match error.code {
        Code::Cancelled => StopReason::Cancelled,
        Code::DeadlineExceeded => StopReason::Deadline,
        Code::ProviderRateLimited => StopReason::RateLimited,
        _ => StopReason::Error,
    }
}

/// Provider text may stand in the detail of an error.
fn redacted(world: &World, error: Error) -> Error {
    let mut value = json!(error);
    world.redactor.redact_json(&mut value, loom_secrets::Profile::Output);
    serde_json::from_value(value).unwrap_or(error)
}
