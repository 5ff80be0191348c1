//! Checks that each Connection's reference leads to a credential. Nothing of a value is shown.

use loom_secrets::{CredentialRef, Kind, Redactor, Resolver};
use serde_json::Value;

use super::{Check, Result};
use crate::context::Context;
use crate::credentials;
use crate::output::{items, pick};

/// Tries the reference of each Connection.
pub(super) async fn checks(page: &Value, cx: &Context<'_, '_>, checks: &mut Vec<Check>) {
    let resolver = match credentials::resolver(&cx.env.home(), &cx.env.variables, Redactor::new()) {
        Ok(resolver) => resolver,
        Err(error) => return checks.push(Check::new("vault", Result::Fail, error.message)),
    };
    for connection in items(page).iter().filter(|one| pick::is(one, "enabled")) {
        checks.extend(check(connection, &resolver).await);
    }
}

async fn check(connection: &Value, resolver: &Resolver) -> Option<Check> {
    let [id, provider, text] = ["id", "provider", "credentialRef"].map(|path| pick::text(connection, path));
    let reference = CredentialRef::parse(&text).ok()?;
    let kind = credentials::kind(&provider).unwrap_or(Kind::Plain);
    let otherwise = match reference {
        // A keychain may ask its owner; this is no moment for it.
        CredentialRef::Keychain(_) => return None,
        // The hub has an environment of its own.
        CredentialRef::Env(_) => Result::Warn,
        CredentialRef::File(_) | CredentialRef::Vault(_) => Result::Fail,
    };
    if matches!(reference, CredentialRef::Env(_)) && pick::text(connection, "state") == "connected" {
        return Some(Check::new("credential", Result::Pass, format!("{id}: the hub uses {reference}")));
    }
    Some(match resolver.resolve(&reference, kind).await {
        Ok(_) => Check::new("credential", Result::Pass, format!("{id}: {reference} resolves")),
        Err(error) => {
            let here = if otherwise == Result::Warn { " in this shell; the hub reads its own" } else { "" };
            Check::new("credential", otherwise, format!("{id}: {}{here}", error.message))
                .run(format!("loom secret test {reference} --kind {provider}"))
        }
    })
}
