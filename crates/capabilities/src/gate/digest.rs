//! What an approval is bound to: the exact bytes of a call, where they go, and as whom.

use std::collections::BTreeMap;

use loom_domain::Result;
use loom_secrets::Kind;
use serde_json::json;

use crate::cx::fingerprint;
use crate::{RunPlan, RunSettings, World, sha256_of, sha256_of_bytes};

/// The trust domain of calls that no Agent's domain says otherwise of.
const TRUST_DOMAIN: &str = "default";

/// The one request that a gated run sends.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PlannedWrite {
    /// Method.
    pub method: String,
    /// URL with its query.
    pub url: String,
    /// Headers that the call chooses, and where a credential goes.
    pub headers: Vec<(String, String)>,
    /// Body, as its bytes are sent.
    pub body: Option<String>,
}

impl PlannedWrite {
    /// Where it goes.
    pub fn target(&self) -> String {
        format!("{} {}", self.method, self.url)
    }

    /// Everything that is sent, as one text.
    pub fn content(&self) -> String {
        let mut text = String::new();
        for (name, value) in &self.headers {
            text.extend([name, ": ", value, "\n"]);
        }
        text.push('\n');
        text.push_str(self.body.as_deref().unwrap_or_default());
        text
    }
}

/// The digest of a call. Credentials are read for a gated one only: an approval is bound to them.
pub async fn call_digest(
    world: &World,
    plan: &RunPlan,
    gated: bool,
    settings: &RunSettings,
    sender_identity: Option<&str>,
    idempotency_key: &str,
) -> Result<String> {
    let (target, content) = match (&plan.write, plan.requests.first()) {
        (Some(write), _) => (write.target(), write.content()),
        (None, Some(request)) => (format!("{} {}", request.method, request.url), String::new()),
        (None, None) => (String::new(), String::new()),
    };
    let fingerprints = if gated { fingerprints(world, settings).await? } else { BTreeMap::new() };
    Ok(sha256_of(&json!({
        "connector_id": plan.connector_id,
        "connector_version": plan.connector_version,
        "operation": plan.operation,
        "target": target,
        "credential_fingerprint": fingerprints,
        "sender_identity": sender_identity,
        "idempotency_key": idempotency_key,
        "content_digest": sha256_of_bytes(content),
        "attachment_digests": [],
        "trust_domain": TRUST_DOMAIN,
    })))
}

/// The fingerprints of the credentials by their names.
async fn fingerprints(world: &World, settings: &RunSettings) -> Result<BTreeMap<String, String>> {
    let mut all = BTreeMap::new();
    for (name, reference) in &settings.credential_refs {
        let secret = world.credentials.resolve(reference, Kind::Plain, Kind::Plain.main_field()).await?;
        world.redactor.register(&secret);
        all.insert(name.clone(), fingerprint(&(world.key)()?, &secret));
    }
    Ok(all)
}
