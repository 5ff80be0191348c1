//! What runs of capabilities are lent: made of the environment, and only as far as it is needed.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use loom_capabilities::{
    Capability, Catalog, Cx, Effects, Meter, PayloadStore, Readiness, Retention, RunLimits, RunSettings,
    World,
};
use loom_domain::{Error, Result};
use loom_hub::{Config, Lent, home::Home};
use loom_secrets::{Redactor, Resolver};
use loom_transport::Transport;
use loom_transport::log::FileLog;

use super::outbound;
use super::send_path::OfHub;
use crate::context::hub_of;
use crate::credentials;
use crate::environment::Environment;
use crate::input::cassette::Tape;

/// A world without a door: what lists and reads of local files work with.
pub(crate) fn offline(env: &Environment) -> Result<World> {
    offline_of(&env.home(), &env.variables)
}

/// The same for a home and its variables.
pub(crate) fn offline_of(home: &Path, variables: &BTreeMap<String, String>) -> Result<World> {
    let redactor = Redactor::new();
    let (home, variables) = (home.to_owned(), variables.clone());
    let resolver = credentials::resolver(&home, &variables, redactor.clone())?;
    let mut world =
        World::new(Arc::new(|_, _| Err(Error::internal("this command does not use the network"))));
    world = world.with_credentials(resolver, move |name| variables.get(name).cloned());
    world.redactor = redactor;
    world.home = Some(home.clone());
    world.key = Arc::new(move || loom_secrets::installation_key(&home));
    Ok(world)
}

/// A world whose door opens when the first request needs it.
pub(crate) fn online(env: &Environment) -> Result<World> {
    with_tape(env, Tape::Off)
}

/// The same, with a cassette in its door.
pub(crate) fn with_tape(env: &Environment, tape: Tape) -> Result<World> {
    let mut world = offline(env)?;
    let (home, variables, redactor) = (env.home(), env.variables.clone(), world.redactor.clone());
    world.meter = Meter::over(Arc::new(FileLog::new(&home.join("logs"))));
    world.send_path = Some(Arc::new(OfHub(hub_of(env))));
    world.door =
        Arc::new(move |meter, origins| transport(&home, &variables, &redactor, meter, origins, &tape));
    Ok(world)
}

fn transport(
    home: &Path,
    variables: &BTreeMap<String, String>,
    redactor: &Redactor,
    meter: &Meter,
    origins: &[String],
    tape: &Tape,
) -> Result<Transport> {
    let builder = tape.insert(outbound::builder(home, variables, redactor)?.log(meter.log()));
    origins.iter().fold(builder, |builder, origin| builder.local_origin(origin)).build()
}

/// Base URLs of owners for which a hub keeps a transport.
const TRANSPORTS_MAX: usize = 32;

/// What the runs of a hub are lent: one transport, with its limits, for all runs of the same base URLs.
pub(super) fn lent(
    home: &Home,
    variables: &BTreeMap<String, String>,
    config: &Config,
    redactor: &Redactor,
    resolver: Arc<Resolver>,
) -> Lent {
    let root = home.root().to_owned();
    let meter = Meter::over(Arc::new(FileLog::new(&root.join("logs"))));
    let own = (root.clone(), variables.clone(), redactor.clone());
    let made: Mutex<BTreeMap<Vec<String>, Transport>> = Mutex::default();
    let mut world = World::new(Arc::new(move |meter: &Meter, origins: &[String]| {
        let mut made = made.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = made.get(origins) {
            return Ok(known.clone());
        }
        let new = transport(&own.0, &own.1, &own.2, meter, origins, &Tape::Off)?;
        if made.len() >= TRANSPORTS_MAX {
            made.pop_last();
        }
        made.insert(origins.to_vec(), new.clone());
        Ok(new)
    }));
    let environment = variables.clone();
    world = world.with_resolver(resolver, move |name| environment.get(name).cloned());
    world.meter = meter;
    world.redactor = redactor.clone();
    let kept = &config.retention;
    let retention = Retention { days: kept.connector_result_days, bytes_max: kept.connector_result_bytes };
    world.payloads = Some(PayloadStore::new(&root).retention(retention));
    world.home = Some(root.clone());
    let key_home = root.clone();
    world.key = Arc::new(move || loom_secrets::installation_key(&key_home));
    let repos = config.capabilities.pr_review.repos.clone();
    Lent { world, catalog: Arc::new(move || Ok(within(Catalog::of_home(&root)?.0, repos.as_deref()))) }
}

/// The catalog of this home for what runs, under its configuration.
pub(crate) fn catalog(env: &Environment) -> Result<Catalog> {
    limited(Catalog::of_home(&env.home())?.0, &env.home(), &env.variables)
}

/// A catalog under the configuration of a home. One that cannot be read limits nothing that could run, so it is refused.
pub(crate) fn limited(
    catalog: Catalog,
    home: &Path,
    variables: &BTreeMap<String, String>,
) -> Result<Catalog> {
    let config = Config::load(&home.join("loom.toml"), variables.clone().into_iter())?;
    Ok(within(catalog, config.capabilities.pr_review.repos.as_deref()))
}

fn within(catalog: Catalog, repos: Option<&[String]>) -> Catalog {
    match repos {
        Some(repos) => catalog.limited_to(repos),
        None => catalog,
    }
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
