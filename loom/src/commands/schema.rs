//! `loom schema`.

use loom_capabilities::{Catalog, documents};
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
