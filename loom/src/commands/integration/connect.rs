//! `loom integration connect`.

use loom_api::{request, routes};
use loom_domain::connection::GatewayMode;
use loom_domain::{Capability, Error, Result};
use serde_json::Value;

use crate::context::Context;
use crate::failure::Outcome;
use crate::output::pick;

/// Register a Connection; nothing is started
///
/// A managed gateway of feishu or lark is outbound only: it sends, and messages from there do not come in yet.
#[derive(Debug, clap::Args)]
#[command(after_help = examples!(
    "loom integration connect slack --account A0123 --scope T0123 \\\n      --credential-ref keychain:loom.slack.A0123",
    "loom integration connect lark --account cli_a1b2c3d4e5f60718 \\\n      --credential-ref vault:lark --gateway managed"
))]
pub(crate) struct Args {
    /// Provider: slack, feishu, lark, parall, webhook or x-NAME
    provider: String,
    #[command(flatten)]
    fields: Fields,
}

/// The fields of a Connection.
#[derive(Debug, Clone, Default, clap::Args)]
pub(crate) struct Fields {
    /// App, bot or organisation at the provider
    #[arg(long, value_name = "REF")]
    pub(crate) account: Option<String>,
    /// Team, tenant or user at the provider
    #[arg(long, value_name = "REF")]
    pub(crate) scope: Option<String>,
    /// Reference to the credential: env:, keychain:, vault: or file:
    #[arg(long, value_name = "REF")]
    pub(crate) credential_ref: Option<String>,
    /// Brand: feishu or lark
    #[arg(long, value_name = "B")]
    pub(crate) brand: Option<String>,
    /// Base URL of the provider's API
    #[arg(long, value_name = "U")]
    pub(crate) api_url: Option<String>,
    /// Proxy for REST, WebSocket and uploads
    #[arg(long, value_name = "U")]
    pub(crate) proxy_url: Option<String>,
    /// Capabilities, comma separated
    #[arg(long, value_name = "A,B", value_delimiter = ',')]
    pub(crate) capabilities: Option<Vec<Capability>>,
    /// Gateway: external or managed
    #[arg(long, value_name = "MODE")]
    pub(crate) gateway: Option<GatewayMode>,
    /// Allow plain http beyond loopback
    #[arg(long)]
    pub(crate) allow_http: bool,
}

/// Registers it.
pub(crate) async fn run(args: Args, cx: &mut Context<'_, '_>) -> Outcome {
    let needed = |value: Option<String>, flag: &str| -> Result<String> {
        value.ok_or_else(|| Error::new(loom_domain::Code::MissingField, format!("{flag} is missing")))
    };
    let body = request::Connect {
        provider: args.provider,
        account_ref: needed(args.fields.account, "--account")?,
        scope_ref: args.fields.scope,
        credential_ref: needed(args.fields.credential_ref, "--credential-ref")?,
        brand: args.fields.brand,
        api_url: args.fields.api_url,
        proxy_url: args.fields.proxy_url,
        capabilities: args.fields.capabilities,
        gateway_mode: args.fields.gateway,
        allow_http: args.fields.allow_http,
    };
    let hub = cx.hub()?;
    let done: Value = hub.post(routes::connections()).dry_run(cx.globals.dry_run).json(&body)?.run().await?;
    let [id, mode] = ["object.id", "object.gatewayMode"].map(|path| pick::text(&done, path));
    cx.out.mutation_as(&done, &format!("registered {id} ({mode} gateway; not verified)"))
}
