//! One attempt to deliver one Part: steps are on disk before their bytes leave, the outcome is on disk after.

use std::panic::AssertUnwindSafe;
use std::time::Duration;

use async_trait::async_trait;
use futures_util::FutureExt as _;
use loom_channels::{Fault, FaultClass, OutFile, Progress, SendOutcome, SendPart, SentIds};
use loom_domain::{
    AttemptId, Code, Error, Principal, Receipt, Result, Timestamp,
    connection::Proof,
    outbox::{
        PartError, PartEvent, PartKind, Step, Via,
        schedule::{LEASE_RENEW_MS, STEP_MS_MAX},
    },
};
use loom_store::ops::outbox::ClaimedPart;

use super::Holder;

/// Delivers a claimed Part and records what came of it.
pub(super) async fn part(holder: Holder, claimed: ClaimedPart) {
    let every = Duration::from_millis(u64::try_from(LEASE_RENEW_MS).unwrap_or(20_000));
    let event = attempt(&holder, &claimed, every).await;
    report(&holder, &claimed, event).await;
}

/// One attempt; its lease is renewed at the given interval. A panic in it leaves the outcome unknown.
pub(crate) async fn attempt(holder: &Holder, claimed: &ClaimedPart, renew_every: Duration) -> PartEvent {
    let send = match send_part(holder, claimed).await {
        Ok(send) => send,
        Err(error) => return local_fault(&error),
    };
    let steps = Steps { holder, attempt: claimed.attempt.id.clone(), fence: claimed.attempt.fence };
    let started = tokio::time::Instant::now();
    let limit = Duration::from_millis(u64::try_from(STEP_MS_MAX).unwrap_or(900_000));
    let outcome = tokio::select! {
        outcome = tokio::time::timeout(limit, deliver(holder, send, &steps)) => outcome.ok(),
        () = keep_lease(holder, claimed, renew_every) => None,
    };
    let outcome = outcome.unwrap_or_else(|| {
        SendOutcome::Failed(Fault::new(FaultClass::Unknown, "timeout", "the attempt ran out of time"))
    });
    let _ = loom_store::fail::point("part.after_deliver");
    holder.hub.inner.metrics.sent(&holder.connection.provider, started.elapsed(), &outcome);
    note(holder, &outcome);
    event_of(holder, claimed, outcome)
}

async fn deliver(holder: &Holder, send: SendPart, steps: &Steps<'_>) -> SendOutcome {
    let delivered = AssertUnwindSafe(holder.channel.deliver(send, steps)).catch_unwind().await;
    delivered.unwrap_or_else(|panic| {
        holder.hub.inner.metrics.task_died("send");
        let why = crate::supervise::panic_text(panic.as_ref());
        SendOutcome::Failed(Fault::new(FaultClass::Unknown, Code::Internal.as_str(), why))
    })
}

/// Renews the lease of the Part; returns when it is lost.
async fn keep_lease(holder: &Holder, claimed: &ClaimedPart, every: Duration) {
    loop {
        tokio::time::sleep(every).await;
        let renewal = holder.hub.store().renew_part(
            holder.hub.act(Principal::Hub),
            claimed.attempt.id.clone(),
            claimed.attempt.fence,
        );
        if renewal.await.is_err_and(|error| error.code == Code::LeaseLost) {
            return;
        }
    }
}

struct Steps<'a> {
    holder: &'a Holder,
    attempt: AttemptId,
    fence: u64,
}

#[async_trait]
impl Progress for Steps<'_> {
    async fn step(&self, step: Step, provider_key: Option<String>) -> Result<(), Error> {
        let act = self.holder.hub.act(Principal::Hub);
        self.holder.hub.store().step_part(act, self.attempt.clone(), self.fence, step, provider_key).await
    }
}

/// Builds what the channel sends. A damaged file stops here.
pub(super) async fn send_part(holder: &Holder, claimed: &ClaimedPart) -> Result<SendPart> {
    let (part, item) = (&claimed.part, &claimed.item);
    let file = match (&part.artifact_id, &part.sha256) {
        (Some(_), Some(sha256)) => Some(OutFile {
            path: holder.hub.blobs().verified(sha256).await?,
            name: part.name.clone().unwrap_or_else(|| "file".to_owned()),
            mime_type: part.mime_type.clone().unwrap_or_else(|| "application/octet-stream".to_owned()),
            size: part.size.unwrap_or(0),
            sha256: sha256.clone(),
        }),
        _ => None,
    };
    let text = match &part.text {
        Some(text) => Some(holder.hub.outbound_text(text)?),
        None => None,
    };
    Ok(SendPart {
        attempt_id: claimed.attempt.id.clone(),
        outbox_id: item.id.clone(),
        part_id: part.id.clone(),
        n: part.n,
        of: item.total_parts,
        conversation_id: item.conversation.conversation_id.clone(),
        conversation_type: item.conversation.conversation_type,
        target: item.target.clone(),
        is_reply: item.inbox_item_id.is_some(),
        kind: part.kind,
        text,
        format: item.format,
        file,
    })
}

fn local_fault(error: &Error) -> PartEvent {
    let part_error = |class: &str| PartError {
        class: class.to_owned(),
        code: error.code.as_str().to_owned(),
        message: error.message.clone(),
    };
    match error.code {
        Code::ArtifactDigestMismatch | Code::SecretInContent => PartEvent::Permanent(part_error("permanent")),
        _ => PartEvent::Retryable { proven: true, retry_after_ms: None, error: part_error("retryable") },
    }
}

fn note(holder: &Holder, outcome: &SendOutcome) {
    let board = &holder.hub.inner.board;
    match outcome {
        SendOutcome::Sent(_) => board.alive(&holder.connection.id, Proof::Receipt),
        SendOutcome::Failed(fault)
            if matches!(fault.class, FaultClass::Auth | FaultClass::MissingScope | FaultClass::Quota) =>
        {
            board.fault(&holder.connection.id, fault);
        }
        SendOutcome::Failed(_) => {}
    }
}

fn event_of(holder: &Holder, claimed: &ClaimedPart, outcome: SendOutcome) -> PartEvent {
    let now = holder.hub.now();
    match outcome {
        SendOutcome::Sent(ids) => PartEvent::Accepted(receipt(claimed, ids, Via::Response, now)),
        SendOutcome::Failed(fault) => failed(&fault, now),
    }
}

fn failed(fault: &Fault, now: Timestamp) -> PartEvent {
    let error = fault.to_part_error();
    let wait_ms = fault.retry_after_ms.and_then(|ms| i64::try_from(ms).ok());
    let until = wait_ms.map(|ms| now.plus_ms(ms));
    match fault.class {
        FaultClass::Retryable => PartEvent::Retryable { proven: true, retry_after_ms: wait_ms, error },
        FaultClass::RateLimited => PartEvent::RateLimited { until, error },
        FaultClass::Permanent => PartEvent::Permanent(error),
        FaultClass::Auth | FaultClass::MissingScope | FaultClass::Config => PartEvent::Auth(error),
        FaultClass::Quota => PartEvent::Quota { until, error },
        FaultClass::Unknown => PartEvent::Unknown(error),
    }
}

/// The Receipt of a delivered Part.
pub(super) fn receipt(claimed: &ClaimedPart, ids: SentIds, via: Via, now: Timestamp) -> Receipt {
    Receipt {
        kind: claimed.part.kind,
        external_message_id: ids.message_id,
        external_file_id: ids.file_id.filter(|_| claimed.part.kind == PartKind::File),
        external_thread_id: ids.thread_id,
        permalink: ids.permalink,
        artifact_id: claimed.part.artifact_id.clone(),
        provider_time: ids.provider_time,
        attempt_id: Some(claimed.attempt.id.clone()),
        via,
        recorded_at: now,
    }
}

/// Stores the outcome; a store that does not write now is asked again, for it is the only copy of a Receipt.
async fn report(holder: &Holder, claimed: &ClaimedPart, event: PartEvent) {
    let mut wait = Duration::from_millis(50);
    loop {
        let act = holder.hub.act(Principal::Hub);
        let stored = holder.hub.store().finish_part(
            act,
            claimed.attempt.id.clone(),
            claimed.attempt.fence,
            event.clone(),
        );
        match stored.await {
            Ok(_) => return,
            Err(error) if error.code == Code::HubReadOnly => {
                tokio::time::sleep(wait).await;
                wait = (wait * 2).min(Duration::from_secs(5));
            }
            Err(error) => {
                tracing::warn!("the outcome of {} was refused: {error}", claimed.attempt.id);
                return;
            }
        }
    }
}
