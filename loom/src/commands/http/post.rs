//! `loom http post`.

use loom_domain::{Code, Error, Result};
use loom_transport::{Method, RequestBuilder};
use serde_json::Value;

use super::options::{Options, pair};
use crate::context::Context;
use crate::environment::Environment;
use crate::failure::Outcome;
use crate::input::body::read_limited;
use crate::input::{document, secrets};

/// Largest body, bytes.
const BODY_BYTES_MAX: usize = 10 * 1024 * 1024;

/// Post JSON or a form, print the redacted answer
#[derive(Debug, clap::Args)]
#[command(after_help = examples!(
    "loom http post https://api.example.com/items --json item.json",
    "loom http post https://api.example.com/search --form q=loom"
))]
pub(crate) struct Args {
    #[command(flatten)]
    options: Options,
    /// File with the JSON body, or - for standard input; also --json FILE
    #[arg(long, value_name = "FILE", conflicts_with = "form")]
    json_file: Option<String>,
    /// Field of a form
    #[arg(long, value_name = "NAME=VALUE", value_parser = pair)]
    form: Vec<(String, String)>,
}

enum Body {
    Json(Value),
    Form(Vec<(String, String)>),
}

/// Posts it.
pub(super) async fn run(args: Args, cx: &mut Context<'_, '_>) -> Outcome {
    let body = match &args.json_file {
        Some(path) => Body::Json(read(path, cx.env)?),
        None if args.form.is_empty() => {
            return Err(
                Error::new(Code::MissingField, "a body is needed: --json FILE or --form NAME=VALUE").into()
            );
        }
        None => Body::Form(args.form),
    };
    if cx.globals.dry_run {
        let bytes = match &body {
            Body::Json(value) => value.to_string().len(),
            Body::Form(fields) => fields.iter().map(|(name, value)| name.len() + value.len() + 2).sum(),
        };
        return cx.out.json(&args.options.plan(&Method::POST, bytes)?);
    }
    let complete = |request: RequestBuilder| match body {
        Body::Json(value) => request.json(&value),
        Body::Form(fields) => request.form(fields),
    };
    args.options.send(Method::POST, complete, cx).await
}

fn read(path: &str, env: &mut Environment) -> Result<Value> {
    let text = match path {
        "-" => read_limited(&mut env.stdin.reader, BODY_BYTES_MAX)?,
        path => document::read_text(path, BODY_BYTES_MAX)?,
    };
    secrets::check(&text, "the body")?;
    serde_json::from_str(&text).map_err(|error| Error::new(Code::InvalidJson, format!("the body: {error}")))
}
