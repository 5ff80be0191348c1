//! The catalog entry of a source map.

use super::fields;
use super::map::{Operation as Declared, SourceFile};
use crate::entry::{CredentialNeed, HostRule, Idempotency, Origin};
use crate::{CatalogEntry, Effect, Operation, Schema};

/// Package of the maps that the owner installed; `local/ID` always means such a map.
pub const LOCAL_PACKAGE: &str = "local";

pub(super) fn entry(map: &SourceFile) -> CatalogEntry {
    let id = &map.id;
    let mut entry = CatalogEntry::connector(id, &map.title).boundary(map.boundary).examples(
        &format!("capability run {LOCAL_PACKAGE}/{id} --op probe"),
        &format!("capability show {LOCAL_PACKAGE}/{id}"),
    );
    entry.origin = Origin::SourceMap;
    entry.package = Some(LOCAL_PACKAGE.to_owned());
    entry.version.clone_from(&map.version);
    entry.provider.clone_from(id);
    entry.stop_conditions.clone_from(&map.stop_conditions);
    entry.hosts = map
        .egress
        .hosts
        .iter()
        .map(|host| HostRule { host: host.name.clone(), port: host.port, methods: host.methods.clone() })
        .collect();
    entry.credentials = map
        .credentials
        .iter()
        .map(|one| CredentialNeed {
            name: one.name.clone(),
            fields: vec![one.field.clone()],
            required: one.required,
        })
        .collect();
    if map.operations.iter().any(|operation| operation.effect == Effect::Write) {
        entry.write_gate = Some("exact".to_owned());
    }
    // `probe` is what a connector does unless told otherwise.
    let (probe, others): (Vec<_>, Vec<_>) = map.operations.iter().partition(|one| one.id == "probe");
    let all = probe.into_iter().chain(others);
    all.fold(entry, |entry, operation| entry.operation(of(map, operation)))
}

fn of(map: &SourceFile, declared: &Declared) -> Operation {
    let record = Schema::given(fields::schema(&declared.fields));
    let output_schema = format!("source_map.{}.{}/v1", map.id, declared.id);
    let mut operation =
        Operation::given(&declared.id, &output_schema, Schema::given(map.inputs.clone()), record.clone());
    if !declared.gives_items() {
        (operation.fields, operation.item, operation.max_items) = (Some(record), None, Some(1));
    }
    operation.about = declared.about.clone().unwrap_or_else(|| format!("{}: {}", map.title, declared.id));
    operation.effect = declared.effect;
    operation.paged = declared.is_paged();
    operation.resource_keys = map.resources.keys().cloned().collect();
    operation.rate_scope = declared.rate.map(|_| scope(map));
    operation.idempotency = match (declared.effect, declared.idempotency_header()) {
        (Effect::Read, _) => Idempotency::Safe,
        (Effect::Write, Some(_)) => Idempotency::ProviderKey,
        (Effect::Write, None) => Idempotency::None,
    };
    operation
}

/// The limiter scope of a map.
pub(super) fn scope(map: &SourceFile) -> String {
    format!("{LOCAL_PACKAGE}/{}", map.id)
}
