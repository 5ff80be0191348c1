//! Makes the channel of a Connection over the one door out.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use loom_channels::{
    Channel,
    slack::{SlackChannel, SlackSettings},
};
use loom_domain::{Code, Connection, Error, Result};
use loom_hub::{Config, MakeChannel, home::Home};
use loom_secrets::{Fields, Profile, Redactor};
use loom_transport::{Proxy, ProxySetting, Settings, Transport, TransportBuilder, log::FileLog};

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

fn settings(config: &loom_hub::config::Transport) -> Settings {
    Settings {
        connect_timeout: Duration::from_millis(config.connect_timeout_ms),
        read_timeout: Duration::from_millis(config.read_timeout_ms),
        total_timeout: Duration::from_millis(config.total_timeout_ms),
        ..Settings::default()
    }
}

/// The owner's own base URLs: those of the configuration and the one of this Connection.
fn origins(
    mut builder: TransportBuilder,
    config: &loom_hub::config::Transport,
    connection: &Connection,
) -> TransportBuilder {
    for origin in config.local_origins.iter().chain(&connection.api_url) {
        builder = builder.local_origin(origin);
    }
    for cidr in &config.allow_private {
        builder = builder.allow_private(cidr);
    }
    if !config.ca_file.is_empty() {
        builder = builder.ca_file(PathBuf::from(&config.ca_file));
    }
    builder.allow_http(config.allow_http || connection.allow_http)
}

fn channel(connection: &Connection, fields: &Fields, transport: Transport) -> Result<Arc<dyn Channel>> {
    match connection.provider.as_str() {
        "slack" => {
            let mut slack = SlackSettings::from_fields(fields)?;
            slack.api_url.clone_from(&connection.api_url);
            slack.proxy = match &connection.proxy_url {
                Some(url) => Some(ProxySetting::fixed(Proxy::parse(url)?, "")),
                None => None,
            };
            Ok(Arc::new(SlackChannel::new(transport, slack)?))
        }
        other => Err(Error::new(Code::ConfigError, format!("this build has no managed gateway for {other}"))),
    }
}
