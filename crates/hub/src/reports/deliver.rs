//! One report to one Membership: one Outbox item, however often it is asked for.

use std::time::Duration;

use bytes::Bytes;
use loom_api::{request, view};
use loom_domain::{
    Membership, MembershipId, OutboxId, Principal, Result, artifact::Direction, outbox::State,
};
use loom_report::{Form, Report, summary_text};
use serde::{Deserialize, Serialize};

use crate::hub::Hub;

/// Hex digits of the run's key in the key of the send.
const KEY_DIGITS: usize = 32;

/// A delivery as it stands.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Delivered {
    /// Membership.
    pub membership_id: MembershipId,
    /// Outbox item.
    pub outbox_id: OutboxId,
    /// Its state.
    pub state: State,
    /// Whether an earlier run has sent it.
    pub duplicate: bool,
}

/// Sends the summary and the files. An item that failed is tried again; one that was sent stays as it is.
pub(super) async fn deliver(
    hub: &Hub,
    who: Principal,
    report: &Report,
    files: &[request::File],
    membership_id: &MembershipId,
    wait: Duration,
) -> Result<Delivered> {
    let membership: Membership = hub.store().membership(membership_id.clone()).await?;
    let address = hub.store().address(membership.address_id.clone()).await?;
    let send = request::Send {
        from: Some(address.agent_id.to_string()),
        membership_id: Some(membership_id.to_string()),
        content: request::Content { text: summary_text(report), format: None, files: files.to_vec() },
        idempotency_key: Some(key(report, membership_id)),
        ..request::Send::default()
    };
    let entry = hub.send(who.clone(), send, wait).await?;
    let duplicate = entry.duplicate;
    let item = match entry.item.state {
        State::Failed | State::Expired => again(hub, who, &entry, wait).await?,
        _ => entry.item,
    };
    Ok(Delivered { membership_id: membership_id.clone(), outbox_id: item.id, state: item.state, duplicate })
}

async fn again(
    hub: &Hub,
    who: Principal,
    entry: &view::OutboxEntry,
    wait: Duration,
) -> Result<loom_domain::OutboxItem> {
    hub.store().retry_outbox(hub.act(who), entry.item.id.clone()).await?;
    let (item, _) = hub.wait_outbox(entry.item.id.clone(), wait).await?;
    Ok(item)
}

/// Renders and stores the forms, once for all who get them.
pub(super) async fn files(
    hub: &Hub,
    who: &Principal,
    report: &Report,
    forms: &[Form],
) -> Result<Vec<request::File>> {
    let mut files = Vec::new();
    for form in forms {
        files.push(file(hub, who.clone(), report, *form).await?);
    }
    Ok(files)
}

async fn file(hub: &Hub, who: Principal, report: &Report, form: Form) -> Result<request::File> {
    let bytes = Bytes::from(form.render(report)?);
    let name = format!("{}-{}", report.profile, form.file_name());
    let artifact = hub.put_artifact(hub.act(who), &name, None, Direction::Out, bytes).await?;
    Ok(request::File {
        artifact_id: Some(artifact.id.to_string()),
        name: Some(name),
        ..request::File::default()
    })
}

/// The key of a send: of the run and the Membership, so that a second run sends nothing.
fn key(report: &Report, membership: &MembershipId) -> String {
    let run: String = report.run_key.trim_start_matches("sha256:").chars().take(KEY_DIGITS).collect();
    format!("report-{run}-{membership}")
}
