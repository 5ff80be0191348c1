//! Audit rows of what changed nothing: calls that were refused to their caller.

use loom_domain::{Code, Result};
use serde_json::json;

use crate::{Act, Audit, Store};

/// A call of the API that its caller may not make.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RefusedCall {
    /// HTTP method.
    pub method: String,
    /// Pattern of the route.
    pub route: String,
    /// Path as it was asked for, redacted.
    pub path: String,
    /// Why it was refused.
    pub code: Code,
    /// Refusals of the same kind since the last row that got none of their own.
    pub unrecorded: u64,
}

impl Store {
    /// Records a refused call. How many rows a caller may cause is decided before.
    pub async fn record_refused_call(&self, act: Act, call: RefusedCall) -> Result<()> {
        self.write(act, move |unit| {
            unit.audit(&Audit {
                action: "api.refuse",
                object: &call.path,
                versions: (None, None),
                outcome: call.code.as_str(),
                detail: json!({
                    "code": call.code, "method": call.method, "route": call.route, "unrecorded": call.unrecorded,
                }),
            })
        })
        .await
    }
}
