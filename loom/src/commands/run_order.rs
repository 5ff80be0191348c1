//! Runs an order: the one run of every connector and capability.

mod inside;
pub(super) mod request;

use loom_capabilities::{ConnectorConfig, Payload, RunRequest, Verdict, World};
use loom_domain::{Error, Result};
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::mpsc::unbounded_channel;

use crate::cli::order::Order;
use crate::compose::world;
use crate::context::Context;
use crate::failure::{Failure, INTERRUPTED, Outcome, REFUSED, UNDECIDED};
use crate::input::cassette::Tape;
use crate::output::{Progress, Stream};

/// Runs the order of the command line.
pub(super) async fn run(cx: &mut Context<'_, '_>) -> Outcome {
    let order = cx.order.take().ok_or_else(|| Error::internal("the command line was not read"))?;
    let (request, save) = request::of(&order, cx.env)?;
    if cx.env.get("LOOM_TURN_ID").is_some() && !cx.globals.dry_run && !order.common.print_config {
        return inside::run(&order, &request, cx).await;
    }
    let world = world::online(cx.env)?;
    if order.common.print_config {
        let entry = order.capability.entry();
        let request = loom_capabilities::effective(&world, &*order.capability, request)?;
        return cx.out.typed(&ConnectorConfig::of(&entry.qualified(), &request, save));
    }
    if cx.globals.dry_run {
        let plan = loom_capabilities::plan(&world, &*order.capability, request)?;
        return cx.out.plan(&plan);
    }
    let tape = tape(&world, &order, &request)?;
    let mut world = world::with_tape(cx.env, tape.clone())?;
    world.cache = order.common.cache;
    if save {
        world.payloads = Some(world::payloads(cx.env));
    }
    let cursor = order.common.cursor.as_deref().map(request::cursor).transpose()?;
    let payload = streamed(&world, &order, request, cursor.as_deref(), cx).await?;
    if let (Some(path), Some(cursor)) = (&order.common.cursor_out, &payload.cursor) {
        request::write_cursor(path, cursor)?;
    }
    if let (None, Err(error)) = (&payload.error, tape.finish()) {
        cx.out.note(&error.message)?;
        return Err(Failure::of(error.code));
    }
    match (&payload.error, payload.verdict) {
        (Some(error), _) => Err(Failure::of(error.code)),
        (None, Verdict::Met) => Ok(()),
        (None, Verdict::Failed) => Err(Failure::Exit(REFUSED)),
        (None, Verdict::NeedsDecision) => Err(Failure::Exit(UNDECIDED)),
    }
}

/// The cassette of the run, when it is one of what the run is about.
fn tape(world: &World, order: &Order, request: &RunRequest) -> Result<Tape> {
    let cassette = &order.common.cassette;
    if !cassette.is_named() {
        return Ok(Tape::Off);
    }
    let plan = loom_capabilities::plan(world, &*order.capability, request.clone())?;
    let bare = |host: &str| host.rsplit_once(':').map_or(host, |(host, _)| host).to_owned();
    let hosts: Vec<String> = plan.hosts.iter().map(|host| bare(&host.host)).collect();
    cassette.open(&hosts, &plan.resources)
}

/// Runs, and prints what comes as it comes. A reader that went away ends the run quietly; an interrupt ends it in
/// order, and a second one at once.
async fn streamed(
    world: &World,
    order: &Order,
    request: RunRequest,
    cursor: Option<&str>,
    cx: &mut Context<'_, '_>,
) -> Outcome<Payload> {
    let (events, mut received) = unbounded_channel();
    let mut observer = Progress::new(events);
    let mut stream = Stream::new(cx.out, cx.env.stderr_is_terminal);
    let mut run = Box::pin(loom_capabilities::run(world, &*order.capability, request, cursor, &mut observer));
    let mut interrupts = signal(SignalKind::interrupt())?;
    let mut gone = None;
    let payload: Result<Payload> = loop {
        tokio::select! {
            biased;
            Some(event) = received.recv(), if gone.is_none() => {
                if let Err(failure) = stream.take(&event) {
                    world.cancel.cancel();
                    gone = Some(failure);
                }
            }
            payload = &mut run => break payload,
            _ = interrupts.recv() => {
                if world.cancel.is_cancelled() {
                    return Err(Failure::Exit(INTERRUPTED));
                }
                world.cancel.cancel();
            }
        }
    };
    if let Some(gone) = gone {
        return Err(gone);
    }
    let payload = payload?;
    while let Ok(event) = received.try_recv() {
        stream.take(&event)?;
    }
    stream.end(&payload)?;
    Ok(payload)
}
