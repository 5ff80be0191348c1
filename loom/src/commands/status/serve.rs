//! `loom status serve`.

use std::net::SocketAddr;
use std::path::PathBuf;

use serde_json::json;
use tokio::signal::unix::{SignalKind, signal};
use tokio_util::sync::CancellationToken;

use crate::compose::watch::{self, Listen};
use crate::context::Context;
use crate::failure::Outcome;

/// Serve the status to monitors and pages
///
/// The figures come from the store itself, with or without a hub. Readers present the viewer's token, whose
/// file is made at the first start; programs of your own user need none on a unix socket.
#[derive(Debug, clap::Args)]
#[command(after_help = examples!(
    "loom status serve",
    "loom status serve --allow-origin https://desk.example"
))]
pub(crate) struct Args {
    /// Address to serve on
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1:8765")]
    listen: SocketAddr,
    /// Serve on this unix socket instead
    #[arg(long, value_name = "PATH", conflicts_with = "listen")]
    unix: Option<PathBuf>,
    /// A page's origin that may read; repeatable
    #[arg(long, value_name = "SCHEME://HOST[:PORT]")]
    allow_origin: Vec<String>,
    /// A further name of this server; repeatable
    #[arg(long, value_name = "HOST[:PORT]")]
    allow_host: Vec<String>,
}

/// Serves until it is stopped.
pub(in crate::commands) async fn run(args: Args, cx: &mut Context<'_, '_>) -> Outcome {
    let mut terminate = signal(SignalKind::terminate())?;
    let mut interrupt = signal(SignalKind::interrupt())?;
    let stop = CancellationToken::new();
    let listen = Listen {
        address: args.unix.is_none().then_some(args.listen),
        socket: args.unix,
        origins: args.allow_origin,
        hosts: args.allow_host,
    };
    let watching =
        watch::bind(&cx.env.home(), cx.env.socket(), &cx.env.variables, listen, stop.clone()).await?;
    let (server, token) = (watching.server, watching.token.display().to_string());
    let socket = server.socket_path().map(|path| format!("unix:{}", path.display()));
    let address = server.local_addr().map(|address| format!("http://{address}"));
    let place = socket.or(address).unwrap_or_default();
    if cx.out.is_human() {
        cx.out.fields(&[
            ("serves", place),
            ("token file", token),
            ("read", "/status.json /metrics /events".to_owned()),
        ])?;
    } else {
        cx.out
            .json(&json!({"schema_version": "loom.status_server/v1", "url": place, "token_file": token}))?;
    }
    cx.out.flush()?;
    let serving = server.serve();
    tokio::pin!(serving);
    tokio::select! {
        () = &mut serving => return Ok(()),
        _ = terminate.recv() => {}
        _ = interrupt.recv() => {}
    }
    stop.cancel();
    serving.await;
    Ok(())
}
