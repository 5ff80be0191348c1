use async_trait::async_trait;
use loom_domain::Code;

use super::*;
use crate::{Cx, RunOutcome, RunPlan, RunRequest, Sink};

struct Named(CatalogEntry);

#[async_trait]
impl Capability for Named {
    fn entry(&self) -> &CatalogEntry {
        &self.0
    }
    fn plan(&self, request: &RunRequest) -> Result<RunPlan> {
        RunPlan::of(self.entry(), request)
    }
    async fn run(&self, _: &Cx, _: RunRequest, _: &mut dyn Sink) -> Result<RunOutcome> {
        Ok(RunOutcome::default())
    }
}

fn extension(package: &str, id: &str) -> Arc<dyn Capability> {
    let mut entry = CatalogEntry::connector(id, "Other");
    entry.origin = Origin::Extension;
    entry.package = Some(package.to_owned());
    Arc::new(Named(entry))
}

fn found(catalog: &Catalog, id: &str) -> String {
    catalog.connector(id).unwrap().entry().qualified()
}

/// CAP-010: aliases and both spellings mean the same connector.
#[test]
fn cap_010_aliases_and_hyphens_mean_the_same() {
    let catalog = Catalog::builtin();
    for id in ["github_public_probe", "github-public-probe", "github_public_channel", "github-public_channel"]
    {
        assert_eq!(found(&catalog, id), "github_public_probe");
    }
}

/// CAP-011: an unknown id names the nearest ones.
#[test]
fn cap_011_an_unknown_id_names_the_nearest() {
    let error = Catalog::builtin().connector("github_public_prob").err().unwrap();
    assert_eq!(error.code, Code::ConnectorNotFound);
    assert_eq!(error.detail["nearest"][0], "github_public_probe");
    let far = Catalog::builtin().capability("zzzzzzzz").err().unwrap();
    assert_eq!(far.code, Code::CapabilityNotFound);
    assert_eq!(far.detail["nearest"], serde_json::json!([]));
}

/// CAP-013: the built-in keeps its bare id.
#[test]
fn cap_013_builtins_win() {
    let catalog = Catalog::builtin().with([extension("mine", "github_public_probe")]);
    assert_eq!(found(&catalog, "github_public_probe"), "github_public_probe");
    assert_eq!(found(&catalog, "mine/github-public-probe"), "mine/github_public_probe");
}

/// CAP-014: an id of two packages needs the package.
#[test]
fn cap_014_an_ambiguous_id_names_both_candidates() {
    let catalog = Catalog::builtin().with([extension("b", "weather"), extension("a", "weather")]);
    let error = catalog.connector("weather").err().unwrap();
    assert_eq!(error.code, Code::ConnectorNotFound);
    assert_eq!(error.detail["nearest"], serde_json::json!(["a/weather", "b/weather"]));
    assert_eq!(found(&catalog, "b/weather"), "b/weather");
}

/// CAP-015: nothing but the grammar is an id.
#[test]
fn cap_015_hostile_ids_are_refused() {
    let long = "a".repeat(49);
    for id in ["../x", "a/b/c", "A b", &long, "a\0b", "ｇithub", "", "a", "_ab", "1ab", "a/../b", "A/weather"]
    {
        let error = Catalog::builtin().connector(id).err().unwrap();
        assert_eq!(error.code, Code::InvalidInput, "{id:?}");
    }
}

/// CAP-008: the same order on each call, built-ins first.
#[test]
fn cap_008_built_ins_come_first() {
    let catalog = Catalog::builtin().with([extension("b", "aaa")]);
    let ids: Vec<String> = catalog.entries().map(CatalogEntry::qualified).collect();
    assert_eq!(ids.last().unwrap(), "b/aaa");
    assert!(ids[..ids.len() - 1].is_sorted());
}

/// Schemas of built-ins close every object and limit every string and list.
#[test]
fn inputs_of_builtins_are_closed_and_limited() {
    for entry in Catalog::builtin().entries() {
        for operation in &entry.operations {
            let at = format!("{} {}", entry.id, operation.id);
            limited(&operation.input.value(), &at);
            assert!(operation.fields.is_some() || operation.item.is_some(), "{at} gives nothing");
            assert!(!operation.about.is_empty(), "{at} does not say what it does");
        }
        if entry.kind == Kind::ValueConnector {
            assert!(entry.find_operation("probe").is_some(), "{} has no probe", entry.id);
        }
    }
}

fn limited(schema: &serde_json::Value, at: &str) {
    let Some(members) = schema.as_object() else { return };
    match schema["type"].as_str() {
        Some("string") => {
            assert!(schema.get("maxLength").is_some() || schema.get("enum").is_some(), "{at}: {schema}");
        }
        Some("array") => assert!(schema.get("maxItems").is_some(), "{at}: {schema}"),
        Some("object") => assert_eq!(schema["additionalProperties"], false, "{at}: {schema}"),
        _ => {}
    }
    for (key, member) in
        members.iter().filter(|(key, _)| ["properties", "items", "$defs"].contains(&key.as_str()))
    {
        match key.as_str() {
            "items" => limited(member, at),
            _ => member
                .as_object()
                .unwrap()
                .iter()
                .for_each(|(name, one)| limited(one, &format!("{at}.{name}"))),
        }
    }
}
