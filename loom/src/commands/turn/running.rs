//! Runs a Turn in this process: prints rows as they come, and ends in order when it is interrupted.

use loom_capabilities::{Catalog, Engine, JournalRow, Ran, TurnObserver, TurnOrder, TurnRoom, World};
use loom_domain::{Result, TurnId};
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::mpsc::{UnboundedSender, unbounded_channel};

use super::print;
use crate::context::Context;
use crate::failure::{Failure, INTERRUPTED, Outcome};

/// What is run.
pub(super) enum Work {
    /// A new Turn.
    Begin(Box<TurnOrder>),
    /// One that was begun.
    Resume(TurnId),
}

/// Hands rows on to whoever prints them.
struct Rows(UnboundedSender<JournalRow>);

impl TurnObserver for Rows {
    fn row(&mut self, row: &JournalRow) {
        // Whoever printed may be gone; the Turn goes on to its own end.
        drop(self.0.send(row.clone()));
    }
}

/// Runs it, and prints what comes. The first interrupt ends it in order, a second one at once.
pub(super) async fn here(
    world: World,
    catalog: &Catalog,
    room: &TurnRoom,
    work: Work,
    cx: &mut Context<'_, '_>,
) -> Outcome<Ran> {
    let cancel = world.cancel.clone();
    let (events, mut received) = unbounded_channel();
    let mut observer = Rows(events);
    let mut engine = Engine { world, catalog, agents: None, observer: &mut observer };
    let mut running = Box::pin(async move {
        match work {
            Work::Begin(order) => engine.begin(room, *order).await,
            Work::Resume(id) => engine.resume(room, &id).await,
        }
    });
    let mut interrupts = signal(SignalKind::interrupt())?;
    let mut terminations = signal(SignalKind::terminate())?;
    let ran: Result<Ran> = loop {
        tokio::select! {
            biased;
            Some(row) = received.recv() => print::row(&row, cx)?,
            ran = &mut running => break ran,
            _ = interrupts.recv() => {
                if cancel.is_cancelled() {
                    return Err(Failure::Exit(INTERRUPTED));
                }
                cancel.cancel();
            }
            _ = terminations.recv() => cancel.cancel(),
        }
    };
    while let Ok(row) = received.try_recv() {
        print::row(&row, cx)?;
    }
    Ok(ran?)
}
