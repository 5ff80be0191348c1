//! From an ordered call to the call that would be made, and the run that makes it.

use std::collections::BTreeSet;
use std::sync::Arc;

use loom_domain::connector_plan::{CallOrder, PlannedCall};
use loom_domain::{Code, Error, Principal, Result};
use loom_secrets::{CredentialRef, find_secret_in_input};
use serde_json::{Value, json};

use super::{call_digest, spelled_out};
use crate::{
    ApprovalRef, Capability, Catalog, Cx, Effect, Idempotency, RunLimits, RunPlan, RunRequest, RunSettings,
    World, sha256_of_bytes,
};

/// Bytes of the content of one call.
const CONTENT_BYTES_MAX: usize = 1024 * 1024;
/// Characters of a sender identity, a key, or the name of a call.
const WORD_CHARS_MAX: usize = 200;

/// A call that is ready to be shown, stored or run.
#[derive(Clone)]
pub struct Prepared {
    /// The capability.
    pub capability: Arc<dyn Capability>,
    /// The call as it would be made.
    pub call: PlannedCall,
    /// Resource keys that its operation declares.
    pub resource_keys: Vec<String>,
    request: RunRequest,
    approval: ApprovalRef,
}

impl std::fmt::Debug for Prepared {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("Prepared").field(&self.call).finish()
    }
}

impl Prepared {
    /// The run of the call; a gated one names its gate.
    pub fn request(&self, gate_id: Option<&str>) -> RunRequest {
        let approval = gate_id.map(|gate| ApprovalRef { gate_id: gate.to_owned(), ..self.approval.clone() });
        RunRequest { approval, ..self.request.clone() }
    }
}

/// Prepares every call of a plan. The same input gives the same digests, here and in the hub.
pub async fn prepare_all(
    world: &World,
    catalog: &Catalog,
    plan_id: &str,
    orders: &[CallOrder],
) -> Result<Vec<Prepared>> {
    let (mut all, mut names) = (Vec::new(), BTreeSet::new());
    for (at, order) in orders.iter().enumerate() {
        let name = order.call_id.clone().unwrap_or_else(|| format!("call-{}", at + 1));
        let in_place = |error: Error| error.with_detail("call", at);
        if !is_name(&name) || !names.insert(name.clone()) {
            let why = "call_id: 1 to 48 of a-z, 0-9 and -, each once in a plan";
            return Err(in_place(Error::new(Code::InvalidInput, why)));
        }
        all.push(prepare(world, catalog, plan_id, &name, order).await.map_err(in_place)?);
    }
    Ok(all)
}

fn is_name(name: &str) -> bool {
    (1..=48).contains(&name.len())
        && name.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-')
}

/// Prepares one call. Nothing is sent.
pub async fn prepare(
    world: &World,
    catalog: &Catalog,
    plan_id: &str,
    call_id: &str,
    order: &CallOrder,
) -> Result<Prepared> {
    check(world, order)?;
    let capability = Arc::clone(catalog.capability(&order.connector)?);
    let request = crate::effective(world, &*capability, request_of(order)?)?;
    let plan = crate::plan(world, &*capability, request.clone())?;
    let key = order.idempotency_key.clone().unwrap_or_else(|| format!("{plan_id}.{call_id}"));
    let gated = capability.is_gated(&world.principal, &request);
    if gated && plan.write.is_none() {
        return Err(Error::internal("a gated operation does not tell what it sends"));
    }
    let content = plan.write.as_ref().map(super::PlannedWrite::content);
    if let Some(content) = &content {
        check_content(world, content)?;
    }
    let mut readiness = readiness(world, &*capability, &plan, &request).await;
    let sender = order.sender_identity.as_deref();
    let digest = match call_digest(world, &plan, gated, &request.settings, sender, &key).await {
        Ok(digest) => digest,
        Err(error) => {
            // A credential that cannot be read binds nothing; there is nothing to approve then.
            error.code.as_str().clone_into(&mut readiness);
            String::new()
        }
    };
    let call = PlannedCall {
        call_id: call_id.to_owned(),
        connector_id: capability.entry().qualified(),
        connector_version: plan.connector_version.clone(),
        operation: plan.operation.clone(),
        target_ref: target(&plan),
        sender_identity: order.sender_identity.clone(),
        effect: if gated || plan.effect == Effect::Write { "write" } else { "read" }.to_owned(),
        resources: plan.resources.clone(),
        content: content.as_deref().filter(|_| gated).map(spelled_out),
        content_digest: content.as_ref().map(sha256_of_bytes),
        call_digest: digest,
        gate: None,
        gated,
        readiness,
        risks: risks(&*capability, &plan, gated),
    };
    let operation = capability.entry().find_operation(&plan.operation);
    let resource_keys = operation.map(|operation| operation.resource_keys.clone()).unwrap_or_default();
    let approval = ApprovalRef {
        gate_id: String::new(),
        sender_identity: order.sender_identity.clone(),
        idempotency_key: key,
    };
    Ok(Prepared { capability, call, resource_keys, request, approval })
}

fn check(world: &World, order: &CallOrder) -> Result<()> {
    let is_agent = !matches!(world.principal, Principal::Owner | Principal::Hub);
    if is_agent && (order.api_url.is_some() || !order.credential_refs.is_empty()) {
        return Err(Error::new(Code::Forbidden, "only the owner chooses credentials and base URLs"));
    }
    for (name, word) in
        [("sender_identity", &order.sender_identity), ("idempotency_key", &order.idempotency_key)]
    {
        let Some(word) = word else { continue };
        let fits =
            !word.is_empty() && word.chars().count() <= WORD_CHARS_MAX && !word.contains(char::is_control);
        // What cannot be seen as it stands would be approved unseen.
        let hidden = spelled_out(word) != *word;
        if !fits || hidden || (name == "idempotency_key" && !word.bytes().all(|b| b.is_ascii_graphic())) {
            return Err(Error::new(
                Code::InvalidInput,
                format!("{name}: 1 to {WORD_CHARS_MAX} printable characters"),
            )
            .with_detail("pointer", format!("/{name}")));
        }
        if find_secret_in_input(word).is_some() {
            return Err(secret(name));
        }
    }
    crate::config::refuse_secrets(&order.input, &mut "/input".to_owned())
}

/// Secrets are looked for in what is sent, not only in what was typed.
fn check_content(world: &World, content: &str) -> Result<()> {
    if content.len() > CONTENT_BYTES_MAX {
        return Err(Error::new(Code::TooLarge, "the content of a call is over 1 MiB"));
    }
    if find_secret_in_input(content).is_some() || world.redactor.holds_exact(content) {
        return Err(secret("content"));
    }
    Ok(())
}

fn secret(place: &str) -> Error {
    Error::new(Code::SecretInInput, format!("the {place} of the call holds a secret"))
        .with_detail("pointer", format!("/{place}"))
}

fn request_of(order: &CallOrder) -> Result<RunRequest> {
    let refs = order.credential_refs.iter();
    let refs = refs.map(|(name, text)| Ok((name.clone(), CredentialRef::parse(text)?)));
    let limits = match &order.limits {
        Value::Null => RunLimits::default(),
        given => serde_json::from_value(given.clone()).map_err(|error| {
            Error::new(Code::InvalidInput, format!("limits: {error}")).with_detail("pointer", "/limits")
        })?,
    };
    Ok(RunRequest {
        operation: order.operation.clone().unwrap_or_default(),
        input: if order.input.is_null() { json!({}) } else { order.input.clone() },
        limits,
        settings: RunSettings {
            api_url: order.api_url.clone(),
            credential_refs: refs.collect::<Result<_>>()?,
        },
        ..RunRequest::default()
    })
}

fn target(plan: &RunPlan) -> String {
    match (&plan.write, plan.requests.first()) {
        (Some(write), _) => write.target(),
        (None, Some(request)) => format!("{} {}", request.method, request.url),
        (None, None) => plan.connector_id.clone(),
    }
}

async fn readiness(
    world: &World,
    capability: &dyn Capability,
    plan: &RunPlan,
    request: &RunRequest,
) -> String {
    let entry = capability.entry();
    let Some(operation) = entry.find_operation(&plan.operation) else { return "blocked".to_owned() };
    let cx = Cx::new(world, entry, operation, &request.settings, request.limits);
    let found = capability.readiness(&cx, Some(&plan.operation)).await;
    match found.require(&plan.operation) {
        Ok(()) => "ready".to_owned(),
        Err(error) => error.detail.get("readiness").and_then(Value::as_str).unwrap_or("blocked").to_owned(),
    }
}

/// What the owner should know before saying yes.
fn risks(capability: &dyn Capability, plan: &RunPlan, gated: bool) -> Vec<String> {
    if !gated {
        return Vec::new();
    }
    let operation = capability.entry().find_operation(&plan.operation);
    let mut risks = Vec::new();
    if operation.is_none_or(|operation| operation.idempotency != Idempotency::ProviderKey) {
        risks.push("no_idempotency_key: the provider cannot tell a repeat from a new write".to_owned());
    }
    if plan.api_url.is_some() {
        risks.push("other_base_url: it goes to another service than the public one".to_owned());
    }
    risks
}
