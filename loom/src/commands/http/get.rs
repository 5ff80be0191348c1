//! `loom http get`.

use loom_transport::Method;

use super::options::Options;
use crate::context::Context;
use crate::failure::Outcome;

/// Get a URL and print its body, redacted
#[derive(Debug, clap::Args)]
#[command(after_help = examples!(
    "loom http get https://api.example.com/status",
    "loom http get https://api.example.com/me --credential-ref vault:example"
))]
pub(crate) struct Args {
    #[command(flatten)]
    options: Options,
}

/// Gets it.
pub(super) async fn run(args: Args, cx: &mut Context<'_, '_>) -> Outcome {
    if cx.globals.dry_run {
        return cx.out.json(&args.options.plan(&Method::GET, 0)?);
    }
    args.options.send(Method::GET, |request| request, cx).await
}
