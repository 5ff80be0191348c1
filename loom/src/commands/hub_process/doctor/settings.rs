//! Checks of the configuration: it parses, and every switch that weakens a default is shown.

use std::collections::BTreeMap;
use std::path::Path;

use loom_hub::Config;

use super::{Check, Result};

/// Reads the configuration; a fault is a failed check.
pub(super) fn config(
    home: &Path,
    variables: &BTreeMap<String, String>,
    checks: &mut Vec<Check>,
) -> Option<Config> {
    match Config::load(&home.join("loom.toml"), variables.clone().into_iter()) {
        Ok(config) => {
            checks.push(Check::new("config", Result::Pass, "the configuration parses"));
            Some(config)
        }
        Err(error) => {
            checks.push(
                Check::new("config", Result::Fail, error.message).run(format!("loom explain {}", error.code)),
            );
            None
        }
    }
}

/// Switches that weaken a default.
pub(super) fn switches(config: &Config, checks: &mut Vec<Check>) {
    let before = checks.len();
    let mut warn = |id: &'static str, holds: bool, text: &str| {
        if holds {
            checks.push(Check::new(id, Result::Warn, text));
        }
    };
    let is_local = config.listen.address.is_empty()
        || config
            .listen
            .address
            .parse::<std::net::SocketAddr>()
            .is_ok_and(|address| address.ip().is_loopback());
    warn("listen", !is_local, "the API listens on an address that others can reach");
    warn("listen", !config.listen.cors_origins.is_empty(), "web pages of other origins may read the API");
    warn("listen", config.listen.behind_proxy, "forwarded headers of the named proxies are believed");
    warn("egress", config.transport.allow_http, "plain http to other hosts is allowed");
    warn("egress", !config.transport.allow_private.is_empty(), "private networks may be reached");
    warn("egress", !config.transport.ca_file.is_empty(), "further certificate authorities are trusted");
    warn("probe", config.connections.probe_s == 0, "history probes are off; a deaf socket is not found");
    if checks.len() == before {
        checks.push(Check::new("switches", Result::Pass, "no switch weakens a default"));
    }
}
