//! What runs of capabilities are lent: made of the environment, and only as far as it is needed.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use loom_capabilities::{
    Capability, Cx, Effects, Meter, PayloadStore, Readiness, Retention, RunLimits, RunSettings, World,
};
use loom_domain::{Error, Result};
use loom_hub::Config;
use loom_secrets::Redactor;
use loom_transport::log::FileLog;

use super::outbound;
use crate::credentials;
use crate::environment::Environment;

/// A world without a door: what lists and reads of local files work with.
pub(crate) fn offline(env: &Environment) -> Result<World> {
    closed(&env.home(), &env.variables, Redactor::new())
}

fn closed(home: &Path, variables: &BTreeMap<String, String>, redactor: Redactor) -> Result<World> {
    let variables = variables.clone();
    let resolver = credentials::resolver(home, &variables, redactor.clone())?;
    let mut world =
        World::new(Arc::new(|_, _| Err(Error::internal("this command does not use the network"))));
    world = world.with_credentials(resolver, move |name| variables.get(name).cloned());
    world.redactor = redactor;
    let home = home.to_owned();
    world.home = Some(home.clone());
    world.key = Arc::new(move || loom_secrets::installation_key(&home));
    Ok(world)
}

/// A world whose door opens when the first request needs it.
pub(crate) fn online(env: &Environment) -> Result<World> {
    open(&env.home(), &env.variables, Redactor::new())
}

/// The same for a hub, which has its own redactor.
pub(crate) fn open(home: &Path, variables: &BTreeMap<String, String>, redactor: Redactor) -> Result<World> {
    let mut world = closed(home, variables, redactor.clone())?;
    let (home, variables) = (home.to_owned(), variables.clone());
    world.meter = Meter::over(Arc::new(FileLog::new(&home.join("logs"))));
    world.door = Arc::new(move |meter, origins| {
        let mut builder = outbound::builder(&home, &variables, &redactor)?.log(meter.log());
        for origin in origins {
            builder = builder.local_origin(origin);
        }
        builder.build()
    });
    Ok(world)
}

/// Whether a capability could run now.
pub(crate) async fn readiness(world: &World, capability: &dyn Capability) -> Readiness {
    let entry = capability.entry();
    let Some(operation) = entry.operations.first() else { return Readiness::ready(entry) };
    let cx = Cx::new(world, entry, operation, &RunSettings::default(), RunLimits::default());
    capability.readiness(&cx, None).await
}

/// Whether it could run now, and what asking did.
pub(crate) async fn readiness_with_effects(
    world: &World,
    capability: &dyn Capability,
) -> (Readiness, Effects) {
    let entry = capability.entry();
    let Some(operation) = entry.operations.first() else {
        return (Readiness::ready(entry), Effects::default());
    };
    let cx = Cx::new(world, entry, operation, &RunSettings::default(), RunLimits::default());
    (capability.readiness(&cx, None).await, cx.effects())
}

/// The payloads of this home, kept as long as its configuration says.
pub(crate) fn payloads(env: &Environment) -> PayloadStore {
    let home = env.home();
    // A configuration that cannot be read keeps nobody from reading payloads.
    let config = Config::load(&home.join("loom.toml"), env.variables.clone().into_iter()).ok();
    let retention = config.map(|config| config.retention).map_or_else(Retention::default, |kept| Retention {
        days: kept.connector_result_days,
        bytes_max: kept.connector_result_bytes,
    });
    PayloadStore::new(&home).retention(retention)
}
