//! `loom integration update-connection`.

use loom_api::{request, routes};
use loom_domain::{Code, Error};
use serde_json::Value;

use super::connect::Fields;
use crate::cli::parsers;
use crate::commands::common::{Version, cleared};
use crate::context::Context;
use crate::failure::Outcome;

const CLEARABLE: &[(&str, &str)] = &[
    ("scope", "scopeRef"),
    ("brand", "brand"),
    ("api-url", "apiUrl"),
    ("proxy-url", "proxyUrl"),
    ("capabilities", "capabilities"),
    ("allow-http", "allowHttp"),
];

/// Change a Connection; only the given fields
#[derive(Debug, clap::Args)]
#[command(after_help = examples!(
    "loom integration update-connection con_01arz3ndektsv4rrffq69g5fav \\\n      --gateway managed",
    "loom integration update-connection con_01arz3ndektsv4rrffq69g5fav \\\n      --clear proxy-url"
))]
pub(crate) struct Args {
    /// Connection id
    #[arg(value_name = "CON", value_parser = parsers::connection)]
    connection: String,
    #[command(flatten)]
    fields: Fields,
    /// Empty a field; may be repeated
    #[arg(long, value_name = "FIELD", value_parser = ["scope", "brand", "api-url", "proxy-url", "capabilities", "allow-http"])]
    clear: Vec<String>,
    #[command(flatten)]
    version: Version,
}

/// Changes it.
pub(crate) async fn run(args: Args, cx: &mut Context<'_, '_>) -> Outcome {
    let body = request::UpdateConnection {
        account_ref: args.fields.account,
        scope_ref: args.fields.scope,
        credential_ref: args.fields.credential_ref,
        brand: args.fields.brand,
        api_url: args.fields.api_url,
        proxy_url: args.fields.proxy_url,
        capabilities: args.fields.capabilities,
        gateway_mode: args.fields.gateway,
        allow_http: args.fields.allow_http.then_some(true),
        clear: cleared(&args.clear, CLEARABLE),
        expected_version: None,
    };
    if body == request::UpdateConnection::default() {
        return Err(Error::new(Code::NothingToChange, "no field is named").into());
    }
    let body = request::UpdateConnection { expected_version: args.version.expected_version, ..body };
    let hub = cx.hub()?;
    let call = hub.patch(routes::connection(&args.connection)).dry_run(cx.globals.dry_run);
    let done: Value = call.json(&body)?.run().await?;
    cx.out.mutation(&done)
}
