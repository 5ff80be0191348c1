//! Makes the channel of a Connection over the one door out.

use std::collections::BTreeMap;
use std::sync::Arc;

use loom_channels::{
    Channel,
    feishu::{Brand, FeishuChannel, FeishuSettings},
    slack::{SlackChannel, SlackSettings},
};
use loom_domain::{Code, Connection, Error, Result};
use loom_hub::{Config, MakeChannel, home::Home};
use loom_secrets::{Fields, Profile, Redactor};
use loom_transport::{Proxy, ProxySetting, Transport, TransportBuilder, log::FileLog};

use super::outbound::{owner_rules, settings};

/// The maker that the hub calls at every connect.
pub(super) fn maker(
    config: &Config,
    home: &Home,
    redactor: &Redactor,
    variables: &BTreeMap<String, String>,
) -> Result<MakeChannel> {
    let proxy = ProxySetting::parse(&config.transport.proxy, variables)?;
    let key = loom_secrets::installation_key(home.root())?;
    let log = Arc::new(FileLog::new(&home.join("logs")).keep_days(config.retention.log_days.max(1)));
    let (config, redactor) = (config.transport.clone(), redactor.clone());
    Ok(Arc::new(move |connection: &Connection, fields: &Fields| {
        let masks = redactor.clone();
        let mut builder = Transport::builder()
            .settings(settings(&config))
            .installation_key(key)
            .log(log.clone())
            .proxy(proxy.clone())
            .redact(move |text| masks.redact(text, Profile::Store).into_owned());
        builder = origins(builder, &config, connection);
        channel(connection, fields, builder.build()?)
    }))
}

/// The owner's own base URLs: those of the configuration and the one of this Connection.
fn origins(
    builder: TransportBuilder,
    config: &loom_hub::config::Transport,
    connection: &Connection,
) -> TransportBuilder {
    let builder = owner_rules(builder, config).allow_http(config.allow_http || connection.allow_http);
    connection.api_url.iter().fold(builder, |builder, origin| builder.local_origin(origin))
}

fn channel(connection: &Connection, fields: &Fields, transport: Transport) -> Result<Arc<dyn Channel>> {
    match connection.provider.as_str() {
        "slack" => {
            let mut slack = SlackSettings::from_fields(fields)?;
            slack.api_url.clone_from(&connection.api_url);
            slack.proxy = own_proxy(connection)?;
            Ok(Arc::new(SlackChannel::new(transport, slack)?))
        }
        "feishu" => {
            let brand = Brand::parse(connection.brand.as_deref())?;
            let mut feishu = FeishuSettings::from_fields(fields, brand)?;
            feishu.api_url.clone_from(&connection.api_url);
            feishu.proxy = own_proxy(connection)?;
            Ok(Arc::new(FeishuChannel::new(transport, feishu)?))
        }
        other => Err(Error::new(Code::ConfigError, format!("this build has no managed gateway for {other}"))),
    }
}

/// The Connection's own proxy.
fn own_proxy(connection: &Connection) -> Result<Option<ProxySetting>> {
    let proxy = connection.proxy_url.as_deref().map(Proxy::parse).transpose()?;
    Ok(proxy.map(|proxy| ProxySetting::fixed(proxy, "")))
}
