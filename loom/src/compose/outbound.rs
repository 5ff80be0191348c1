//! The transport of a command that runs here, without a hub, under the owner's configuration.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use loom_domain::Result;
use loom_hub::{Config, config};
use loom_secrets::{Profile, Redactor};
use loom_transport::{ProjectionDir, ProxySetting, Settings, Transport, TransportBuilder, log::FileLog};

/// Base URLs of services on this machine, separated by commas.
const LOCAL_ORIGINS: &str = "LOOM_LOCAL_ORIGINS";

/// A transport over the data root of this command: its configuration, log, cache and shared rates.
pub(crate) fn builder(
    home: &Path,
    variables: &BTreeMap<String, String>,
    redactor: &Redactor,
) -> Result<TransportBuilder> {
    let config = Config::load(&home.join("loom.toml"), variables.clone().into_iter())?;
    let masks = redactor.clone();
    let log = FileLog::new(&home.join("logs")).keep_days(config.retention.log_days.max(1));
    let mut builder = Transport::builder()
        .settings(settings(&config.transport))
        .proxy(ProxySetting::parse(&config.transport.proxy, variables)?)
        .log(Arc::new(log))
        .projections(Arc::new(ProjectionDir::new(&home.join("cache"))))
        .shared_rates(home.join("run"))
        .redact(move |text| masks.redact(text, Profile::Store).into_owned());
    let named =
        variables.get(LOCAL_ORIGINS).map(String::as_str).unwrap_or_default().split(',').map(str::trim);
    for origin in named.filter(|origin| !origin.is_empty()) {
        builder = builder.local_origin(origin);
    }
    Ok(owner_rules(builder, &config.transport))
}

/// Time limits of the configuration.
pub(super) fn settings(config: &config::Transport) -> Settings {
    Settings {
        connect_timeout: Duration::from_millis(config.connect_timeout_ms),
        read_timeout: Duration::from_millis(config.read_timeout_ms),
        total_timeout: Duration::from_millis(config.total_timeout_ms),
        ..Settings::default()
    }
}

/// The owner's own base URLs, networks and authorities.
pub(super) fn owner_rules(mut builder: TransportBuilder, config: &config::Transport) -> TransportBuilder {
    for origin in &config.local_origins {
        builder = builder.local_origin(origin);
    }
    for cidr in &config.allow_private {
        builder = builder.allow_private(cidr);
    }
    if !config.ca_file.is_empty() {
        builder = builder.ca_file(PathBuf::from(&config.ca_file));
    }
    builder.allow_http(config.allow_http)
}
