//! Asks the platform what became of Parts whose outcome is not known.

use loom_channels::{SettlePart, Settlement};
use loom_domain::{
    Principal,
    connection::Proof,
    outbox::{Settled, Via},
};
use loom_store::ops::outbox::ClaimedPart;
use tokio::task::JoinSet;

use super::{Holder, deliver};

/// Starts the settlements that are due, a few at a time.
pub(super) async fn start(holder: &Holder, settling: &mut JoinSet<()>, most: usize) {
    let due = holder.hub.store().due_settlements(holder.connection.id.clone(), holder.hub.now()).await;
    match due {
        Ok(due) => due.into_iter().take(most).for_each(|claimed| {
            settling.spawn(ask(holder.clone(), claimed));
        }),
        Err(error) => tracing::warn!("settlements cannot be read: {error}"),
    }
}

async fn ask(holder: Holder, claimed: ClaimedPart) {
    let part = match deliver::send_part(&holder, &claimed).await {
        Ok(part) => part,
        Err(error) => {
            tracing::warn!("{} cannot be settled: {error}", claimed.part.id);
            return;
        }
    };
    let question = SettlePart {
        part,
        provider_key: claimed.attempt.provider_key.clone(),
        attempted_at: claimed.attempt.started_at,
    };
    let answer = match holder.channel.settle(question).await {
        Settlement::Found(ids) => {
            holder.hub.inner.board.alive(&holder.connection.id, Proof::Receipt);
            Settled::Found(deliver::receipt(&claimed, ids, Via::Settlement, holder.hub.now()))
        }
        Settlement::NotFound => Settled::AbsentRead,
        Settlement::Unanswered(fault) => {
            tracing::debug!("{} is not settled yet: {fault}", claimed.part.id);
            Settled::NoAnswer
        }
        Settlement::Unanswerable(fault) => {
            tracing::info!("{} cannot be settled by the provider: {fault}", claimed.part.id);
            Settled::Never
        }
    };
    holder.hub.inner.metrics.settled(&holder.connection.provider, &answer);
    let stored =
        holder.hub.store().settle_part(holder.hub.act(Principal::Hub), claimed.part.id.clone(), answer).await;
    if let Err(error) = stored {
        tracing::warn!("the settlement of {} was not stored: {error}", claimed.part.id);
    }
}
