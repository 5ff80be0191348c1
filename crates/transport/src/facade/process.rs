//! The transport of the process: made once, out of the environment, unless the program set its own.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::{Arc, OnceLock};

use loom_domain::Result;
use loom_secrets::{Profile, Redactor};

use crate::cache::ProjectionDir;
use crate::log::FileLog;
use crate::proxy::ProxySetting;
use crate::transport::{Transport, TransportBuilder};

static DEFAULT: OnceLock<Transport> = OnceLock::new();

/// The transport of the process. Unless [`set_default_transport`] came first it is made of the environment:
/// `https_proxy`, `http_proxy`, `all_proxy` and `no_proxy` (lower case wins over upper), `LOOM_LOCAL_ORIGINS`
/// (base URLs, separated by commas), and the request log, kept projections and shared rates below `LOOM_HOME` when
/// that is set.
pub fn default_transport() -> Result<Transport> {
    if let Some(transport) = DEFAULT.get() {
        return Ok(transport.clone());
    }
    let variables = std::env::vars_os()
        .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)))
        .collect();
    let transport = TransportBuilder::from_environment(&variables)?.build()?;
    Ok(DEFAULT.get_or_init(|| transport).clone())
}

/// Sets the transport of the process; gives it back if there is one already.
pub fn set_default_transport(transport: Transport) -> Result<(), Transport> {
    DEFAULT.set(transport)
}

impl TransportBuilder {
    /// A transport as the environment describes it; see [`default_transport`].
    pub fn from_environment(variables: &BTreeMap<String, String>) -> Result<Self> {
        let redactor = Redactor::new();
        let mut builder = Transport::builder()
            .proxy(ProxySetting::parse("env", variables)?)
            .redact(move |text| redactor.redact(text, Profile::Store).into_owned());
        if let Some(home) = variables.get("LOOM_HOME").filter(|home| !home.is_empty()) {
            let home = Path::new(home);
            builder = builder
                .log(Arc::new(FileLog::new(&home.join("logs"))))
                .projections(Arc::new(ProjectionDir::new(&home.join("cache"))))
                .shared_rates(home.join("run"));
        }
        let origins = variables.get("LOOM_LOCAL_ORIGINS").map(String::as_str).unwrap_or_default();
        let origins = origins.split(',').map(str::trim).filter(|origin| !origin.is_empty());
        Ok(origins.fold(builder, TransportBuilder::local_origin))
    }
}
