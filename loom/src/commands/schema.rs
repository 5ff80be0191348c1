//! `loom schema`.

use loom_api::request::{AddSchedule, PutEndpoint};
use loom_capabilities::{Catalog, Schema, documents};
use loom_domain::{Code, Error};
use serde_json::{Value, json};

use crate::cli::nearest;
use crate::context::Context;
use crate::failure::Outcome;
use crate::output::{Column, Listing, pick};

const LISTING: Listing = Listing::new(
    &[Column::new("NAME", |v, _| pick::text(v, "name")), Column::new("ABOUT", |v, _| pick::text(v, "about"))],
    "there is no document",
);

/// Print the JSON Schema of a document
#[derive(Debug, clap::Args)]
#[command(after_help = examples!("loom schema", "loom schema loom.value_payload/v1"))]
pub(crate) struct Args {
    /// Name of the document; without one all are listed
    name: Option<String>,
}

/// Prints it.
pub(crate) fn run(args: &Args, cx: &mut Context<'_, '_>) -> Outcome {
    let all = all();
    let Some(name) = &args.name else {
        let items: Vec<Value> =
            all.iter().map(|(name, about, _)| json!({"name": name, "about": about})).collect();
        return cx.out.list(&json!({"items": items, "nextCursor": null}), &LISTING);
    };
    let bare = |full: &str| {
        full == name || full.split('/').next() == Some(name) || full.contains(&format!(".{name}/"))
    };
    match all.iter().find(|(full, ..)| bare(full)) {
        Some((_, _, schema)) if cx.out.is_human() => Ok(cx.out.document(&format!("{schema:#}\n"))?),
        Some((_, _, schema)) => cx.out.json(schema),
        None => {
            let hint = match nearest(name, all.iter().map(|(full, ..)| full.as_str())) {
                Some(near) => format!("did you mean `{near}`? `loom schema` lists all"),
                None => "loom schema".to_owned(),
            };
            Err(Error::new(Code::NotFound, format!("no document {name}")).with_hint(hint).into())
        }
    }
}

/// Documents, and what operations give.
fn all() -> Vec<(String, String, Value)> {
    let mut all: Vec<(String, String, Value)> =
        documents().iter().map(|one| (one.name.to_owned(), one.about.to_owned(), one.schema())).collect();
    let mut add = |name: &str, about: &str, schema: &Schema| {
        all.push((name.to_owned(), about.to_owned(), schema.value().into_owned()));
    };
    let of_loop = loom_hub::multi_agent_schema();
    add("loom.multi_agent/v1", "a loop of several Agents as a file", &of_loop);
    add(loom_report::SCHEMA, "a periodic report", &Schema::of::<loom_report::Report>());
    add(
        "loom.schedule/v1",
        "a schedule of reports or Turns as it is ordered",
        &Schema::input::<AddSchedule>(),
    );
    let endpoint = Schema::input::<PutEndpoint>();
    add("loom.webhook_endpoint/v1", "an endpoint of webhooks as it is ordered", &endpoint);
    for form in loom_branch::file_forms() {
        add(form.name, form.about, &form.schema);
    }
    for entry in Catalog::builtin().entries() {
        for operation in &entry.operations {
            let about = format!("what {} {} gives", entry.id, operation.id);
            if let Some(schema) = operation.item.as_ref().or(operation.fields.as_ref()) {
                all.push((operation.output_schema.clone(), about, schema.value().into_owned()));
            }
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn documents_that_people_write_or_read_have_schemas_of_one_name_each() {
        let all = all();
        let of = |name: &str| all.iter().find(|(full, ..)| full == name).map(|(.., schema)| schema).unwrap();
        let looped = of("loom.multi_agent/v1");
        assert_eq!(looped["additionalProperties"], false);
        assert!(looped["properties"]["lanes"]["items"]["properties"]["reads"].is_object(), "{looped}");
        assert!(of("loom.report/v1")["properties"]["charts"]["items"]["properties"]["series"].is_object());
        assert_eq!(of("loom.schedule/v1")["required"], json!(["name", "cron", "tz"]));
        assert_eq!(of("loom.webhook_endpoint/v1")["properties"]["envelope"]["type"], "string");
        assert!(of("loom.integration/v1")["properties"]["hub_digest"].is_object());
        assert!(of("loom.integration_membership/v1")["properties"]["quietHours"].is_object());
        let written = json!({"name": "monday", "cron": "@weekly", "tz": "UTC", "window": "last-week"});
        let written: AddSchedule = serde_json::from_value(written).unwrap();
        let known = &of("loom.schedule/v1")["properties"];
        for member in serde_json::to_value(&written).unwrap().as_object().unwrap().keys() {
            assert!(known[member].is_object(), "{member}");
        }
        for name in ["loom.multi_agent/v1", "loom.report/v1", "loom.integration/v1"] {
            assert_eq!(all.iter().filter(|(full, ..)| full == name).count(), 1, "{name}");
        }
    }
}
